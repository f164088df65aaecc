"""
Hiding by flags: an article or a comment that several users have flagged is hidden, PENDING, until a moderator decides.
Only flags of trusted users count: the rule `FlagRules` asks for age, karma, upvoters, and last flags that moderators
have upheld. A thing is an article or a comment of alice.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as M5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest

from store import (
    article_moderation,
    bans,
    comment_moderation,
    effects,
    flaggers,
    flags,
    keys,
    listings,
    removals,
    reverts,
)
from store.errors import Forbidden, Unauthenticated
from store.flags import FlagReason, Queue
from store.ranking.formulas import Order
from store.records import ContentState, Vote
from store.roles import OPERATOR
from store.rules import FlagRules, Rules
from store.sessions import parse_token
from store.site import Session
from store.store import Store
from tests.conftest import registered
from tests.store.reading import article, everything, numbers, post, profile, read, verified

pytestmark = pytest.mark.many_partitions

RULE = FlagRules(hide_at=3, least_karma=0)
WEEK = 7 * 86_400_000  # milliseconds


@pytest.fixture
async def opened(redis_url, partitions, policy, clock):
    """`await opened(rule)` opens the store with a rule for flags, or without any."""
    stores = []

    async def opened(rule):
        stores.append(await Store.open(redis_url, policy, partitions, clock=clock, rules=Rules(rule)))
        return stores[-1]

    yield opened
    for each in stores:
        await each.close()


@pytest.fixture
async def store(opened):
    return await opened(RULE)


def account(store, username):
    return keys.user(store.site.partition_of_user(username), username)


async def trusted(store, redis, *usernames, **fields):
    """
    Register users whose flags count, unless `fields` of their accounts say otherwise: they are a week old, upvoted by
    five users, and of the things that they flagged last, known by number, two were removed (`+`), one approved (`-`).
    """
    given = {"joined": store.site.clock() - WEEK, "upvoters": "a1 a2 a3 a4 a5"}
    for username in usernames:
        await registered(store, username)
        redis.hset(account(store, username), mapping=given | {"flag_outcomes": "1024+ 2048- 3072+"} | fields)
    return usernames


async def flag(store, username, thing, reason=FlagReason.SPAM):
    return await flags.flag(store.site, username, thing.id.split(":")[0], thing.number, reason)


async def flag_all(store, usernames, thing):
    return [await flag(store, username, thing) for username in usernames]


async def unflag(store, username, thing):
    return await flags.unflag(store.site, username, thing.id.split(":")[0], thing.number)


async def commented(store, article, poster):
    return (await store.comments.post(article.number, parent=None, poster=poster, content="a text")).comment


def state(store, redis, thing):
    """The stored state, such as "pending"; None if the thing is visible."""
    kind = keys.article if thing.id.startswith("article") else keys.comment
    return redis.hget(kind(store.site.partition_of_article(thing.number), thing.number), "state")


def moderation(thing):
    return article_moderation if thing.id.startswith("article") else comment_moderation


def outcomes(store, redis, username):
    """What became of the last things that a user has flagged: the number of each, with + if it was removed, else -."""
    return redis.hget(account(store, username), "flag_outcomes")


async def queued(store, queue, *groups):
    """The numbers of what waits in a queue, in all of the site or in some groups."""
    return await numbers(store, flags.listing(store.site, queue, groups or None))


async def listed(store):
    """The numbers of all articles by two orders."""
    return [await numbers(store, listings.whole(store.site, order)) for order in (Order.TIME, Order.HOT)]


@pytest.fixture(params=["article", "comment"])
async def thing(request, store, alice, bob):
    """An article or a comment of alice, in the group `go`."""
    if request.param == "article":
        return await post(store, alice, groups=["go"])
    return await commented(store, await post(store, bob, groups=["go"]), alice)


@pytest.fixture
async def three(store, redis):
    """Three users whose flags count: as many as hide a thing."""
    return await trusted(store, redis, "carol", "dave", "erin")


async def test_thing_is_pending_at_the_threshold(store, redis, thing, three):  # M5
    shown = await flag_all(store, three[:2], thing)
    assert [each.subject.id for each in shown] == [thing.id] * 2
    assert (state(store, redis, thing), await queued(store, Queue.FLAGGED)) == (None, [thing.number])
    hidden = await flag(store, three[2], thing)

    assert (hidden.username, hidden.subject, hidden.changed) == ("erin", None, True)
    assert state(store, redis, thing) == "pending"
    assert await queued(store, Queue.FLAGGED) == await queued(store, Queue.FLAGGED, "go") == []
    assert [each.username for each in (await read(store, flags.standing(store.site, thing.number)))[0]] == list(three)
    assert await verified(store) == []


async def test_entry_of_the_log_about_hiding_has_no_actor(store, redis, thing, three):
    await flag_all(store, three, thing)

    partition = store.site.partition_of_article(thing.number)
    changes = [entry for _, entry in redis.xrange(keys.log(partition)) if entry["kind"].endswith("state_changed")]
    assert [(each["actor"], each["subject"], each["state"]) for each in changes] == [("", thing.id, "pending")]


async def test_hidden_article_is_where_pending_ones_are(store, redis, alice, three, clock):  # M2
    hidden = await post(store, alice, groups=["go"])
    comment = await commented(store, hidden, alice)
    clock.advance(1)
    await flag_all(store, three, hidden)

    assert (await article(store, hidden.number)).state is ContentState.PENDING
    assert await queued(store, Queue.PENDING) == await queued(store, Queue.PENDING, "go") == [hidden.number]
    partition = store.site.partition_of_user(alice)
    assert await listed(store) == [[], []]
    assert redis.zscore(keys.comments(partition, "alice"), keys.member(comment.number)) is None
    assert redis.zscore(keys.held(partition, "alice"), keys.member(hidden.number)) == hidden.posted_at
    assert not redis.exists(removals.REMOVING(partition))
    assert await verified(store) == []


async def test_after_an_approval_the_same_users_do_not_hide_a_thing_again(store, redis, thing, three):  # M3, M5
    before = await listed(store)
    await flag_all(store, three, thing)
    approved = await moderation(thing).approve(store.site, OPERATOR, thing.number)
    assert (approved.changed, state(store, redis, thing)) == (True, None)
    again = await flag_all(store, three, thing)

    assert [each.changed for each in again] == [False] * 3
    assert (state(store, redis, thing), await queued(store, Queue.PENDING)) == (None, [])
    assert await listed(store) == before
    assert await verified(store) == []


async def test_approved_thing_is_not_hidden_until_it_is_edited(store, redis, alice, thing, three, clock):
    await moderation(thing).approve(store.site, OPERATOR, thing.number)
    await flag_all(store, three, thing)
    assert state(store, redis, thing) is None
    assert await queued(store, Queue.FLAGGED) == [thing.number]
    clock.advance(1)
    if thing.id.startswith("article"):
        await store.articles.edit(thing.number, alice, {"content": "another text"})
    else:
        await store.comments.edit(thing.number, alice, "another text")
    assert state(store, redis, thing) is None
    assert (await flag(store, three[0], thing, FlagReason.ABUSE)).subject is None

    assert state(store, redis, thing) == "pending"


async def test_reverted_approval_hides_a_thing_again(store, redis, thing, three):  # M3
    await flag_all(store, three, thing)
    approved = await moderation(thing).approve(store.site, OPERATOR, thing.number)
    await moderation(thing).revert(store.site, OPERATOR, approved.action, "too quick")

    assert state(store, redis, thing) == "pending"
    assert [each.counts for each in (await read(store, flags.standing(store.site, thing.number)))[0]] == [True] * 3
    assert await verified(store) == []


async def test_revert_of_an_approval_does_not_show_what_was_hidden_since(store, redis, alice, thing, three, clock):
    approved = await moderation(thing).approve(store.site, OPERATOR, thing.number)
    clock.advance(1)
    if thing.id.startswith("article"):
        await store.articles.edit(thing.number, alice, {"content": "another text"})
    else:
        await store.comments.edit(thing.number, alice, "another text")
    await flag_all(store, three, thing)
    assert state(store, redis, thing) == "pending"
    await moderation(thing).revert(store.site, OPERATOR, approved.action, "too quick")

    assert state(store, redis, thing) == "pending"


@pytest.mark.parametrize(
    "lacking",
    [
        {"joined": 1_470_311_520_000 - WEEK + 1},  # the clock shows 1_470_311_520_000
        {"upvoters": "a1 a2 a3 a4"},
        {"upvoters": ""},
        {"flag_outcomes": "1024+ 2048-"},
        {"flag_outcomes": ""},
        {"bans": "group:lua=0"},
        {"bans": "site=1470311520001"},
    ],
    ids=lambda fields: "".join(fields),
)
async def test_flag_of_an_untrusted_user_does_not_count_toward_hiding(store, redis, thing, three, lacking):
    """`lacking` are fields of the account of a fourth user, one of which keeps the flag from counting."""
    await trusted(store, redis, "frank", **lacking)
    await flag_all(store, three[:2], thing)
    if "site=" not in lacking.get("bans", ""):
        assert (await flag(store, "frank", thing)).changed

    assert state(store, redis, thing) is None
    found = (await read(store, flags.standing(store.site, thing.number)))[0]
    assert [each.username for each in found if each.counts] == ["carol", "dave"]
    assert await queued(store, Queue.FLAGGED) == [thing.number]


@pytest.mark.parametrize("group", [None, "lua"])
async def test_flags_of_who_is_banned_since_do_not_count(store, redis, thing, three, clock, group):  # M5
    await trusted(store, redis, "Frank")
    await flag_all(store, ("carol", "Frank"), thing)
    until = clock.now + 1000
    ban = (await bans.ban(store.site, OPERATOR, "carol", group=group, until=until, reason="a ring")).action
    await bans.ban(store.site, OPERATOR, "frank", group=group, until=until, reason="a ring")

    assert [each.subject.id for each in await flag_all(store, ("dave", "erin"), thing)] == [thing.id] * 2
    assert state(store, redis, thing) is None
    await reverts.revert(store.site, OPERATOR, ban.number, "a mistake")  # carol's counts again
    assert (await flag(store, "dave", thing, FlagReason.ABUSE)).subject is None
    assert state(store, redis, thing) == "pending"


async def test_flags_count_again_when_a_ban_is_over(store, redis, thing, three, clock):
    await flag_all(store, three[:2], thing)
    await bans.ban(store.site, OPERATOR, "carol", group=None, until=clock.now + 1000, reason="a ring")
    await flag(store, "erin", thing)
    assert state(store, redis, thing) is None
    clock.advance(1)

    assert (await flag(store, "erin", thing, FlagReason.ABUSE)).subject is None
    assert state(store, redis, thing) == "pending"


# a + for each flag that moderators upheld, a - for each that they overruled, behind the number of the thing
@pytest.mark.parametrize("outcomes", ["1024+", "1024- 2048- 3072+ 4096+ 5120+"])
def test_flag_counts_if_more_were_upheld_than_overruled(outcomes, clock):
    """`found` has the values of `flaggers.FIELDS`, from the time of registration and two sums of karma to the bans."""
    found, rule = (str(clock.now - WEEK), "15", "5", "a1 a2 a3 a4 a5", outcomes, "group:lua=1"), FlagRules(hide_at=3)

    assert flaggers.counts(rule, found, clock.now)
    assert not flaggers.counts(rule, (None, *found[1:]), clock.now)
    assert not flaggers.counts(rule, (found[0], "14", *found[2:]), clock.now)


def test_rule_may_ask_for_less(clock):
    found = (str(clock.now), "0", None, None, None, None)

    assert not flaggers.counts(FlagRules(hide_at=1), found, clock.now)
    assert flaggers.counts(
        FlagRules(hide_at=1, votes_per_flag=1, least_age_days=0, least_karma=0, least_voters=0, last_flags=0),
        found,
        clock.now,
    )


async def test_thing_with_many_votes_needs_more_flags(store, redis, thing, three):
    """It takes a flag for each 20 votes: see `votes_per_flag`."""
    kind = keys.article if thing.id.startswith("article") else keys.comment
    hash = kind(store.site.partition_of_article(thing.number), thing.number)
    redis.hset(hash, mapping={"up": 71, "down": 10})  # 61 votes: four flags
    more = await trusted(store, redis, "frank")
    assert (await flag_all(store, three, thing))[-1].subject
    redis.hset(hash, mapping={"up": 91})  # 81 votes: five

    assert (await flag(store, more[0], thing)).subject
    redis.hset(hash, mapping={"up": 90})  # 80 votes: four
    assert (await flag(store, more[0], thing, FlagReason.ABUSE)).subject is None


@pytest.mark.parametrize("roles", ["admin=1", "moderator=1", "moderator:lua=1"])
async def test_text_of_a_moderator_is_not_hidden(store, redis, thing, three, roles):
    redis.hset(account(store, "alice"), "roles", roles)
    await flag_all(store, three, thing)

    assert state(store, redis, thing) is None
    assert await queued(store, Queue.FLAGGED) == [thing.number]


async def test_withdrawn_flag_does_not_count(store, redis, thing, three):
    await flag_all(store, three[:2], thing)
    await unflag(store, three[0], thing)
    await flag(store, three[2], thing)
    assert state(store, redis, thing) is None

    await flag(store, three[0], thing)
    assert state(store, redis, thing) == "pending"


async def test_site_without_the_rule_hides_nothing(opened, redis, store, thing, three):
    await flag_all(await opened(None), three, thing)

    assert state(store, redis, thing) is None


async def test_flags_at_once_hide_a_thing_once(store, redis, alice, bob, clock):  # M5
    """Each flag is set at any time around the third, in any order."""
    many = await trusted(store, redis, *(f"flagger-{n}" for n in range(12)))
    for kind in ("article", "comment"):
        thing = await post(store, alice, groups=["go"])
        if kind == "comment":
            thing = await commented(store, thing, alice)
        order = random.sample(many, len(many))
        answers = await asyncio.gather(*(flag(store, each, thing) for each in order), return_exceptions=True)
        partition = store.site.partition_of_article(thing.number)
        entries = [entry for _, entry in redis.xrange(keys.log(partition)) if entry.get("subject") == thing.id]

        assert [each.changed for each in answers if not isinstance(each, Exception)] == [True] * 3
        assert {type(each).__name__ for each in answers if isinstance(each, Exception)} == {"Forbidden"}
        assert sum(each.subject is None for each in answers if not isinstance(each, Exception)) == 1
        assert [entry["kind"] for entry in entries].count("flagged") == 3
        assert redis.hlen(flags.FLAGS(partition, thing.number)) == 3
        assert state(store, redis, thing) == "pending"
    assert await verified(store) == []


@pytest.mark.parametrize("partitions", [1, 16], indirect=True, ids=["1 partition", "16 partitions"])
async def test_session_of_any_partition_flags(store, redis, thing, three):
    for username in three:
        session = parse_token((await store.sessions.open(username)).token)
        await flag(store, session, thing)
    assert state(store, redis, thing) == "pending"

    with pytest.raises(Unauthenticated):
        await flag(store, Session("0" * 64, slot=5), thing)


async def test_upvoters_are_known_by_name_up_to_ten(store, redis, alice):
    posted, names = await post(store, alice), [f"voter-{n}" for n in range(14)]
    answer = await commented(store, await post(store, await registered(store, "zoe")), alice)
    for n, name in enumerate(names):
        await registered(store, name)
        commands, thing = (store.articles, posted) if n % 2 else (store.comments, answer)
        await commands.vote(thing.number, name, Vote.DOWN if n in (2, 3) else Vote.UP)
        await commands.vote(thing.number, name, Vote.NONE if n in (2, 3) else Vote.UP)
    await store.articles.vote(posted.number, names[0], Vote.UP)

    known = redis.hget(account(store, alice), "upvoters").split()
    assert known == [name for n, name in enumerate(names) if n not in (2, 3)][:10]
    assert (await profile(store, alice)).karma == 13
    assert redis.hget(account(store, "zoe"), "upvoters") is None


async def test_removal_upholds_flags_and_its_revert_takes_that_back(store, redis, thing, three):
    await flag_all(store, three[:2], thing)
    await unflag(store, three[0], thing)
    removed = await moderation(thing).remove(store.site, OPERATOR, thing.number, group=None, reason="an advertisement")
    await effects.complete(store.site)
    assert outcomes(store, redis, "dave") == f"1024+ 2048- 3072+ {thing.number}+"
    assert outcomes(store, redis, "carol") == "1024+ 2048- 3072+"
    await moderation(thing).revert(store.site, OPERATOR, removed.action, "it was none")
    await effects.complete(store.site)

    assert outcomes(store, redis, "dave") == "1024+ 2048- 3072+"
    assert await verified(store) == []


async def test_approval_overrules_flags_and_its_revert_takes_that_back(store, redis, thing, three):
    await flag_all(store, three, thing)
    approved = await moderation(thing).approve(store.site, OPERATOR, thing.number)
    await effects.complete(store.site)
    assert {outcomes(store, redis, name) for name in three} == {f"1024+ 2048- 3072+ {thing.number}-"}
    await moderation(thing).revert(store.site, OPERATOR, approved.action, "too quick")
    await effects.complete(store.site)
    assert {outcomes(store, redis, name) for name in three} == {"1024+ 2048- 3072+"}
    await moderation(thing).remove(store.site, OPERATOR, thing.number, group=None, reason="an advertisement")
    approved = await moderation(thing).approve(store.site, OPERATOR, thing.number)
    await effects.complete(store.site)
    assert {outcomes(store, redis, name) for name in three} == {f"1024+ 2048- 3072+ {thing.number}-"}
    await moderation(thing).revert(store.site, OPERATOR, approved.action, "too quick")
    await effects.complete(store.site)

    assert {outcomes(store, redis, name) for name in three} == {f"1024+ 2048- 3072+ {thing.number}+"}
    assert await verified(store) == []


async def test_last_ten_outcomes_are_kept(store, redis, alice, three):
    redis.hdel(account(store, "carol"), "flag_outcomes")
    posted = [await post(store, alice) for _ in range(12)]
    for n, each in enumerate(posted):
        await flag(store, "carol", each)
        if n % 3:
            await article_moderation.remove(store.site, OPERATOR, each.number, group=None, reason="an advertisement")
        else:
            await article_moderation.approve(store.site, OPERATOR, each.number)
    await effects.complete(store.site)

    assert outcomes(store, redis, "carol") == " ".join(
        f"{each.number}{'+' if n % 3 else '-'}" for n, each in enumerate(posted) if n > 1
    )


async def test_deletion_and_edit_leave_outcomes(store, redis, alice, three, clock):
    removed, approved = [await post(store, alice) for _ in range(2)]
    for each in (removed, approved):
        await flag(store, "carol", each)
    await article_moderation.remove(store.site, OPERATOR, removed.number, group=None, reason="an advertisement")
    await article_moderation.approve(store.site, OPERATOR, approved.number)
    await store.articles.delete(removed.number, alice)
    await store.articles.edit(approved.number, alice, {"content": "another text"})
    await effects.complete(store.site)

    assert outcomes(store, redis, "carol") == f"1024+ 2048- 3072+ {removed.number}+ {approved.number}-"


async def test_users_who_are_gone_get_no_outcomes(store, redis, alice, three):
    posted = await post(store, alice)
    await flag(store, "carol", posted)
    redis.delete(account(store, "carol"))
    await article_moderation.approve(store.site, OPERATOR, posted.number)
    await effects.complete(store.site)

    assert not redis.exists(account(store, "carol"))


async def test_damaged_fields_of_users_are_repaired(store, redis, three):
    carol = account(store, "carol")
    redis.hset(carol, mapping={"upvoters": "bob odd! dave", "flag_outcomes": "odd"})
    found = {each.where: (each.found, each.expected) for each in await verified(store, repair=True)}

    assert found[f"{carol} upvoters"] == ("bob odd! dave", "bob dave")
    assert found[f"{carol} flag_outcomes"] == ("odd", "nothing")
    assert redis.hget(carol, "upvoters") == "bob dave"
    assert redis.hget(carol, "flag_outcomes") is None


async def test_refused_flag_changes_nothing(store, redis, thing, three):
    await flag_all(store, three, thing)
    await trusted(store, redis, "frank")
    before = everything(redis)
    for who in ("frank", "carol"):
        with pytest.raises(Forbidden, match="not visible"):
            await flag(store, who, thing)

    assert everything(redis) == before


async def test_flags_of_users_who_were_upvoted_by_several_others_hide(opened, redis, clock):
    """Here commands give users what the rule asks for: karma, upvoters, age, and a flag that was upheld."""
    store = await opened(FlagRules(hide_at=2, least_karma=4, least_voters=2, last_flags=3))
    users = [await registered(store, name) for name in ("alice", "bob", "carol", "dave", "erin")]
    for poster in users[1:]:
        posted = await post(store, poster)
        answer = await commented(store, posted, poster)
        for voter in [each for each in users if each != poster][:2]:
            await store.articles.vote(posted.number, voter, Vote.UP)
            await store.comments.vote(answer.number, voter, Vote.UP)
    bad, other = [await post(store, "alice") for _ in range(2)]
    for thing in (bad, other):
        await flag_all(store, ["bob", "carol"], thing)
    await article_moderation.remove(store.site, OPERATOR, bad.number, group=None, reason="an advertisement")
    await effects.complete(store.site)
    clock.advance(WEEK / 1000 - 1)
    await flag_all(store, ["bob", "carol"], fresh := await post(store, "alice"))
    assert state(store, redis, fresh) is state(store, redis, other) is None
    clock.advance(1)
    await flag_all(store, ["bob", "dave"], later := await post(store, "alice"))
    assert state(store, redis, later) is None

    assert (await flag(store, "carol", later)).subject is None
