"""
Users who log in at an issuer, an identity provider. Its tokens have claims: the subject, an id that the issuer has for
the user, a name, and maybe a profile and roles. These tests are about how such users are made, what later claims
change, and that nobody else ever becomes one of them.

Codes such as U1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import re
from itertools import islice

import pytest

from archive import leaving as departures
from store import bans, identities, keys, leaving, roles, standing_bans
from store.errors import Invalid, NotFound, TokenRefused
from store.identities import Claims, Subject, free_names, usable_name
from store.moderation_records import Role
from store.queries import PROFILES, hash_of
from tests.conftest import registered
from tests.store.reading import everything

pytestmark = pytest.mark.many_partitions

ADA = Subject("shop", "1")


def claims(name="Ada", subject=ADA, at=1, **more):
    """Claims of a token that was issued at a time (unix milliseconds)."""
    return Claims(subject, name, at, **more)


async def profile(store, name):
    read = hash_of(store.site, PROFILES, name)
    return PROFILES.decode(name, read.result(await store.site.redis.run(read.command)))


async def held(store, name):
    """The words of the roles of a user, without the times."""
    words = await store.site.redis.run(("HGET", keys.user(store.site.partition_of_user(name), name), "roles"))
    return sorted(word.partition("=")[0] for word in (words or "").split())


async def actions(store):
    """All entries of the log, each as its fields."""
    entries = await store.site.redis.pipeline(
        [("XRANGE", keys.log(partition), "-", "+") for partition in range(store.site.partitions)]
    )
    return [dict(zip(flat[::2], flat[1::2], strict=True)) for part in entries for _, flat in part]


async def test_user_is_the_same_for_ever_by_issuer_and_subject(store):  # U1
    names = [
        await store.identities.user_of(claims("Ada")),
        await store.identities.user_of(claims("Grace")),
        await store.identities.user_of(claims("ada", Subject("shop", "2"))),
        await store.identities.user_of(claims("Ada", Subject("other", "1"))),
        await store.identities.user_of(claims("ADA@example.com", Subject("shop", "3"))),
    ]

    assert names == ["Ada", "Ada", "ada-2", "Ada-3", "ADA-4"]
    assert (await profile(store, "Ada")).karma == 0


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("ada", "ada"),
        ("Ada.Lovelace@example.com", "Ada-Lovelace"),
        ("José Núñez", "Jose-Nunez"),
        ("  ~ada!! ", "ada"),
        ("a" * 30, "a" * 20),
        ("ada-lovelace-of-lond.on", "ada-lovelace-of-lond"),
        ("a", "user"),
        ("", "user"),
        ("@example.com", "user"),
        ("Лев", "user"),
        ("李", "user"),
    ],
)
def test_name_is_what_stands_before_the_at_sign_in_ascii(claimed, name):  # U1
    assert usable_name(claimed) == name


def test_further_names_have_numbers_and_at_most_20_characters():
    assert list(islice(free_names("b" * 20), 3)) == ["b" * 20, "b" * 18 + "-2", "b" * 18 + "-3"]


async def test_reserved_and_taken_names_are_passed_over(store):  # U1
    await registered(store, "Ada")
    for number in range(2, 30):
        await registered(store, f"ada-{number}")

    assert await store.identities.user_of(claims()) == "Ada-30"
    assert await store.identities.user_of(claims("admin", Subject("shop", "2"))) == "admin-2"


async def test_fifty_at_once_make_one_user(store, redis):  # U1
    names = await asyncio.gather(*(store.identities.user_of(claims()) for _ in range(50)))

    assert set(names) == {"Ada"}
    assert len([key for key in redis.scan_iter("user:*")]) == 1
    assert [entry["kind"] for entry in await actions(store)] == ["registered"]


async def test_fifty_subjects_with_one_name_get_fifty_names(store):
    subjects = [Subject("shop", str(number)) for number in range(50)]

    names = await asyncio.gather(*(store.identities.user_of(claims(subject=each)) for each in subjects))

    assert len({name.lower() for name in names}) == 50
    again = await asyncio.gather(*(store.identities.user_of(claims(subject=each)) for each in subjects))
    assert again == names


@pytest.mark.parametrize("done", [0, 1, 2, 3])
async def test_each_step_of_the_first_sight_can_be_repeated(store, monkeypatch, done):  # U1
    """A process that dies after so many steps leaves the rest to the next one that gets a token of the subject."""
    real, steps = type(store.site.redis).run, []

    async def dying(redis, command):
        if command[0] == "EVALSHA" and command[1] in {
            identities.SWAP_IDENTITY.digest,
            identities.UPDATE_IDENTIFIED.digest,
        }:
            if len(steps) >= done:
                raise InterruptedError
            steps.append(command)
        return await real(redis, command)

    with monkeypatch.context() as patch:
        patch.setattr(type(store.site.redis), "run", dying)
        if done < 3:
            with pytest.raises(InterruptedError):
                await store.identities.user_of(claims())

    assert await store.identities.user_of(claims("another")) == ("Ada" if done and done < 3 else "another")
    assert await store.identities.user_of(claims("another")) == ("Ada" if done and done < 3 else "another")


async def test_somebody_who_takes_the_reserved_name_first_keeps_it(store, monkeypatch):
    real = store.identities._update

    async def late(digest, given, name, **more):
        if name == "Ada":
            await registered(store, "Ada")
        return await real(digest, given, name, **more)

    monkeypatch.setattr(type(store.identities), "_update", staticmethod(late))

    assert await store.identities.user_of(claims()) == "Ada-2"


async def test_claims_give_and_take_only_roles_that_claims_gave(store):  # U1
    name = await store.identities.user_of(claims(roles=frozenset({"moderator:show", "moderator"})))
    assert await held(store, name) == ["moderator", "moderator:show"]
    await roles.grant(store.site, roles.OPERATOR, name, Role.MODERATOR, group="video", reason="by hand")
    await roles.grant(store.site, roles.OPERATOR, name, Role.ADMIN, group=None, reason="by hand")

    await store.identities.user_of(claims(at=2, roles=frozenset({"moderator:video", "moderator:ask"})))
    assert await held(store, name) == ["admin", "moderator:ask", "moderator:video"]

    await store.identities.user_of(claims(at=3, roles=frozenset()))
    assert await held(store, name) == ["admin", "moderator:video"]
    listed = await roles.granted(store.site)
    assert [(who, [grant.role for grant in grants if not grant.group]) for who, grants in listed] == [
        (name, [Role.ADMIN])
    ]
    logged = [entry for entry in await actions(store) if entry["kind"] == "moderated"]
    assert {entry["reason"] for entry in logged} == {"by the claims of shop", "by hand"}
    assert {entry["actor"] for entry in logged} == {"operator"}


async def test_newer_token_changes_the_profile_and_usable_texts_only(store):  # U1
    said = {"display_name": "Ada Lovelace", "about": "", "avatar_url": "https://example.com/a.png"}
    name = await store.identities.user_of(claims(profile=said))
    found = await profile(store, name)
    assert (found.display_name, found.about, found.avatar_url) == ("Ada Lovelace", None, "https://example.com/a.png")
    await store.users.edit_profile(name, {"about": "mine"})

    await store.identities.user_of(claims(at=2, profile={"display_name": "Countess", "avatar_url": "javascript:1"}))
    found = await profile(store, name)
    assert (found.display_name, found.about, found.avatar_url) == ("Countess", "mine", None)

    for at, unusable in enumerate(("a" * 51, "Admin", "\u202eabc"), 3):
        await store.identities.user_of(claims(at=at, profile={"display_name": unusable}))
        assert (await profile(store, name)).display_name is None
    logged = [entry for entry in await actions(store) if entry["kind"] == "profile_edited"]
    assert [entry["display_name"] for entry in logged] == ["Ada Lovelace", "Ada Lovelace", "Countess", ""]


async def test_older_tokens_and_those_without_a_time_change_nothing(store, redis):  # U1
    name = await store.identities.user_of(claims(at=10, roles=frozenset({"moderator"})))
    before = everything(redis)

    for at in (10, 9, None):
        await store.identities.user_of(claims(at=at, roles=frozenset({"admin"})))

    assert everything(redis) == before
    assert await held(store, name) == ["moderator"]


async def test_issuer_that_gives_no_roles_takes_none(store):
    name = await store.identities.user_of(claims(roles=frozenset({"moderator"})))

    await store.identities.user_of(claims(at=2))

    assert await held(store, name) == ["moderator"]


async def test_bans_hold_whatever_the_claims_say(store):  # U1
    name = await store.identities.user_of(claims())
    await bans.ban(store.site, roles.OPERATOR, name, group=None, until=None, reason="noise")

    await store.identities.user_of(claims(at=2, roles=frozenset({"moderator"})))

    assert standing_bans.of_site((await profile(store, name)).bans, store.site.clock())
    assert await store.identities.may_stay([identities.Identified(name, "shop", 2**50)]) == [False]


async def test_linked_subject_is_the_existing_user(store, redis):  # U1
    await registered(store, "Grace")

    assert await store.identities.link("grace", ADA) == "Grace"

    assert await store.identities.user_of(claims("Ada")) == "Grace"
    assert await identities.subjects_of(store.site, "grace") == [ADA]
    assert await store.identities.link("Grace", ADA) == "Grace"
    await store.identities.user_of(claims("Ada", Subject("shop", "2")))
    before = everything(redis)
    for name, subject, refusal in (
        ("Grace", Subject("shop", "2"), Invalid),
        ("Ada", ADA, Invalid),
        ("nobody", Subject("shop", "3"), NotFound),
    ):
        with pytest.raises(refusal):
            await store.identities.link(name, subject)
    assert everything(redis) == before


async def test_tokens_of_a_deleted_user_are_refused_for_ever(store, redis):  # U6
    name = await store.identities.user_of(claims())
    begun = await leaving.begin(store.site, name, password_hash="", removes_texts=False)
    with pytest.raises(TokenRefused, match="gone"):
        await store.identities.user_of(claims(at=2))

    await departures.settle(store, database=None, leaver=begun)

    with pytest.raises(TokenRefused, match="gone"):
        await store.identities.user_of(claims(at=3))
    with pytest.raises(Invalid):
        await store.identities.link((await registered(store, "Grace")), ADA)
    assert "shop" not in str(everything(redis)) and "Ada" not in str(
        {key: value for key, value in everything(redis).items() if not key.startswith("log:")}
    )


async def test_restored_backup_refuses_subjects_of_users_who_left_since(store, tmp_path):  # U6
    object.__setattr__(store.site, "deletions", tmp_path / "deletions.jsonl")
    name = await store.identities.user_of(claims())
    begun = await leaving.begin(store.site, name, password_hash="", removes_texts=False)
    await departures.settle(store, database=None, leaver=begun)
    noted = departures.noted_in(tmp_path / "deletions.jsonl")
    digest = await store.identities.digest(ADA)
    assert [list(each.subjects) for each in noted] == [[digest]]
    partition = identities.slot_of_digest(digest) % store.site.partitions
    await store.site.redis.run(("DEL", identities.identity(partition, digest)))  # as in a backup from before

    await departures.delete_again(store, noted)

    with pytest.raises(TokenRefused, match="gone"):
        await store.identities.user_of(claims(at=3))


async def test_key_of_names_is_one_also_where_no_script_is_loaded(store):
    """It makes digests of deleted users' names, so that these are not given again."""
    await store.site.redis.run(("SCRIPT", "FLUSH"))

    made, again = await leaving.name_key(store.site), await leaving.name_key(store.site)

    assert re.fullmatch("[0-9a-f]{32,}", made)
    assert again == made
