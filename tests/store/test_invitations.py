"""
Invitations to register, each for one user, and what a site offers: registration for all, for who is invited, or for
nobody, and passwords or none.
"""

import asyncio
from dataclasses import replace

import pytest

from store import invitations
from store.errors import BadToken, Invalid, NotOffered, UsernameTaken
from store.invitations import INVITATION_LIFETIME
from store.offers import Offers, Registration
from store.one_time_tokens import Purpose, issue
from store.sessions import NewSession, new_token, parse_token
from tests.store.reading import everything

pytestmark = pytest.mark.many_partitions

PASSWORD = "correct horse"


@pytest.fixture
def offer(store):
    """`offer(registration=...)` changes what the site offers."""

    def offer(**changes):
        store.users.offers = replace(store.users.offers, **changes)

    return offer


@pytest.fixture
async def invitation(store, offer):
    """The text of an invitation to a site on which only invited users register."""
    offer(registration=Registration.INVITED)
    return (await invitations.create(store.site)).text


async def register(store, name, invitation=None):
    return await store.users.register(name, PASSWORD, invitation=invitation)


async def test_who_is_invited_registers_once(store, invitation, redis):
    assert (await register(store, "Carol", invitation)).login.username == "Carol"

    with pytest.raises(BadToken) as refusal:
        await register(store, "dave", invitation)
    assert refusal.value.field == ("invitation",)
    assert not list(redis.scan_iter("invitation:*"))


async def test_of_many_registrations_at_once_one_succeeds(store, invitation, redis):
    tries = [register(store, f"user-{n}", invitation) for n in range(8)]
    results = await asyncio.gather(*tries, return_exceptions=True)

    assert len([each for each in results if isinstance(each, NewSession)]) == 1
    assert len(list(redis.scan_iter("user:*"))) == 1


async def test_taken_or_invalid_name_does_not_use_the_invitation_up(store, invitation):
    await store.users.create("taken")
    for name, refusal in (("taken", UsernameTaken), ("x", Invalid), ("admin", Invalid), ("TAKEN", UsernameTaken)):
        with pytest.raises(refusal):
            await register(store, name, invitation)

    assert (await register(store, "carol", invitation)).login.username == "carol"


async def test_interrupted_registration_goes_on_with_the_same_name_only(store, invitation):
    await invitations.claim(store.site, invitation, "Carol", "aa" * 32)  # the last is the id of a call

    with pytest.raises(BadToken):
        await register(store, "dave", invitation)
    assert await register(store, "carol", invitation)
    with pytest.raises(BadToken):
        await register(store, "dave", invitation)


async def test_invitation_of_a_registration_that_was_made_is_used(store, invitation):
    """As after a kill between the registration and the end of its invitation."""
    await invitations.claim(store.site, invitation, "carol", "aa" * 32)
    await store.users.create("carol")

    for name, refusal in (("carol", UsernameTaken), ("dave", BadToken)):
        with pytest.raises(refusal):
            await register(store, name, invitation)


async def test_invitation_ends_after_a_week(store, invitation, clock, redis):
    clock.advance(INVITATION_LIFETIME)
    await invitations.claim(store.site, invitation, "carol", "aa" * 32)
    clock.advance(0.001)

    with pytest.raises(BadToken):
        await invitations.claim(store.site, invitation, "carol", "aa" * 32)
    (key,) = redis.scan_iter("invitation:*")
    assert 7 * 86_400 - 60 < redis.ttl(key) <= 7 * 86_400


async def test_bad_invitations_are_refused_before_a_password_is_hashed(store, invitation, redis, monkeypatch):
    before = everything(redis)
    monkeypatch.setattr(store.users, "_passwords", None)
    session = new_token("carol")

    for bad in (session, "x", "#" * 46):
        with pytest.raises(BadToken):
            await register(store, "carol", bad)
    assert everything(redis) == before


@pytest.mark.parametrize("invitation", [None, ""])
async def test_registration_without_an_invitation_is_not_offered(store, offer, redis, invitation):
    offer(registration=Registration.INVITED)
    before = everything(redis)

    with pytest.raises(NotOffered) as refusal:
        await register(store, "carol", invitation)
    assert refusal.value.field == ("invitation",)
    assert everything(redis) == before


async def test_closed_site_registers_nobody_and_logs_in(store, offer):
    await register(store, "carol")
    text = (await invitations.create(store.site)).text
    offer(registration=Registration.CLOSED)

    with pytest.raises(NotOffered):
        await register(store, "dave", text)
    assert await store.users.log_in("carol", PASSWORD)


async def test_open_site_leaves_invitations_alone(store):
    text = (await invitations.create(store.site)).text

    await register(store, "carol", text)
    await register(store, "dave", text)
    await invitations.check(store.site, text)


async def test_site_without_passwords_offers_nothing_of_them(store, offer, redis):
    session = parse_token((await register(store, "carol")).token)
    token = (await issue(store.site, "carol", Purpose.RESET)).text
    offer(has_passwords=False)
    before = everything(redis)

    for command in (
        register(store, "dave"),
        store.users.log_in("carol", PASSWORD),
        store.users.change_password(session, PASSWORD, "battery staple"),
        store.users.reset_password(token, "battery staple"),
    ):
        with pytest.raises(NotOffered):
            await command
    assert everything(redis) == before


def test_by_default_everybody_may_register():
    assert Offers() == Offers(registration=Registration.OPEN, has_passwords=True, avatar_hosts=())
