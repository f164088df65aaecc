"""
What the site offers, and invitations, over the real endpoint.

The fixture `token` is a session token of the user vera.
"""

from dataclasses import replace

import pytest

from store import roles
from store.moderation_records import Role
from store.offers import Registration

SITE = "{ site { registration hasPasswords avatarHosts } }"
INVITE = "mutation { createInvitation { invitation expiresAt userErrors { code } } }"
REGISTER = """mutation($name: String!, $invitation: String) {
  register(input: {username: $name, password: "correct horse", invitation: $invitation}) {
    user { username } userErrors { code field } } }"""
RESET = 'mutation { resetPassword(input: {token: "x", newPassword: "correct horse"}) { userErrors { code } } }'
ASK = 'mutation { requestPasswordReset(input: {usernameOrEmail: "vera"}) { userErrors { code } } }'
LOG_IN = 'mutation { logIn(input: {username: "vera", password: "correct horse"}) { userErrors { code } } }'


@pytest.fixture
def invited(store):
    """Let only those register who are invited."""
    store.users.offers = replace(store.users.offers, registration=Registration.INVITED)


async def test_site_says_what_it_offers(store, ask):
    assert (await ask(SITE))["data"]["site"] == {"registration": "OPEN", "hasPasswords": True, "avatarHosts": []}
    store.users.offers = replace(
        store.users.offers, registration=Registration.CLOSED, has_passwords=False, avatar_hosts=("a.example",)
    )
    answer = await ask(SITE)
    assert answer["data"]["site"] == {"registration": "CLOSED", "hasPasswords": False, "avatarHosts": ["a.example"]}
    assert answer["extensions"]["stats"]["roundTrips"] == 0


async def test_admin_invites_somebody_who_registers_once(store, ask, token, invited):
    await roles.grant(store.site, roles.OPERATOR, "vera", Role.ADMIN, group=None, reason="the first")
    created = (await ask(INVITE, token))["data"]["createInvitation"]
    in_a_week = "2016-08-11T11:52:00.000Z"  # by the fixture `clock`
    assert created["expiresAt"] == in_a_week and created["userErrors"] == []

    first, second = [
        (await ask(REGISTER, name=name, invitation=created["invitation"]))["data"]["register"]
        for name in ("carol", "dave")
    ]
    assert first == {"user": {"username": "carol"}, "userErrors": []}
    assert second == {"user": None, "userErrors": [{"code": "BAD_TOKEN", "field": ["input", "invitation"]}]}
    without = (await ask(REGISTER, name="dave"))["data"]["register"]["userErrors"]
    assert without == [{"code": "NOT_OFFERED", "field": ["input", "invitation"]}]


async def test_only_admins_invite(store, ask, token, invited, redis):
    await roles.grant(store.site, roles.OPERATOR, "vera", Role.MODERATOR, group=None, reason="helps")

    # the code is the same where only admins may act
    assert (await ask(INVITE, token))["data"]["createInvitation"]["userErrors"] == [{"code": "NOT_A_MODERATOR"}]
    assert (await ask(INVITE))["data"]["createInvitation"]["userErrors"] == [{"code": "UNAUTHENTICATED"}]
    assert not list(redis.scan_iter("invitation:*"))


async def test_nobody_is_invited_to_a_closed_site(store, ask, token):
    await roles.grant(store.site, roles.OPERATOR, "vera", Role.ADMIN, group=None, reason="the first")
    store.users.offers = replace(store.users.offers, registration=Registration.CLOSED)

    assert (await ask(INVITE, token))["data"]["createInvitation"]["userErrors"] == [{"code": "NOT_OFFERED"}]


async def test_site_without_passwords_says_so(store, ask):
    store.users.offers = replace(store.users.offers, has_passwords=False)

    for document, field in ((LOG_IN, "logIn"), (RESET, "resetPassword"), (ASK, "requestPasswordReset")):
        assert (await ask(document))["data"][field]["userErrors"] == [{"code": "NOT_OFFERED"}]
