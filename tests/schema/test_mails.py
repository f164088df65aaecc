"""
Addresses and mails of the viewer over the real endpoint. What is mailed is in tests/server/test_mails.py.

An address is pending until its owner confirms it, by a one-time token in a link that is mailed to it. Such a link also
stands in for the password of users who have none. The fixture `token` is a session token of the user vera.

Codes such as U5 name rows of docs/behaviours.md.
"""

import asyncio

import pytest

from resolvers.context import Context
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from store import bans, mails, one_time_tokens
from store.one_time_tokens import Purpose
from store.roles import OPERATOR
from store.store import Store

ACCOUNT = "{ account { email pendingEmail isEmailRefused mailReplies } }"
FIELDS = "account { email pendingEmail mailReplies } userErrors { code field }"
EDIT = f"mutation($input: EditAccountInput!) {{ editAccount(input: $input) {{ {FIELDS} }} }}"
CONFIRM = f"mutation($text: String!) {{ confirmEmail(input: {{token: $text}}) {{ {FIELDS} }} }}"
FORGOT = """mutation($who: String!) { requestPasswordReset(input: {usernameOrEmail: $who}) {
  userErrors { code field } } }"""
REGISTER = """mutation($email: String) { register(input: {username: "walt", password: "correct horse", email: $email}) {
  token userErrors { code field } } }"""
ASK_FOR_LINK = "mutation { requestConfirmation { userErrors { code field } } }"
LEAVE = "mutation($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId userErrors { code field } } }"
PASSWORD = "correct horse"
NOT_PROVEN = {"code": "BAD_CREDENTIALS", "field": ["input", "currentPassword"]}
NEW = "vera@example.com"


@pytest.fixture
async def store(redis_url, partitions, clock):
    store = await Store.open(redis_url, partitions=partitions, clock=clock, offers_mail=True)
    yield store
    await store.close()


async def edited(ask, token, /, **input):
    return (await ask(EDIT, token, input=input))["data"]["editAccount"]


async def confirmed(store, ask, username, token=None, email=NEW):
    """Send the token of a link that confirms an address."""
    issued = await one_time_tokens.issue(store.site, username, Purpose.CONFIRM, email)
    return (await ask(CONFIRM, token, text=issued.text))["data"]["confirmEmail"]


async def test_account_has_address_and_mails_in_one_more_round_trip(ask, token):
    answer = await ask(ACCOUNT, token)

    assert answer["data"]["account"] == {
        "email": None,
        "pendingEmail": None,
        "isEmailRefused": False,
        "mailReplies": "NEVER",
    }
    assert answer["extensions"]["stats"]["roundTrips"] == 2


async def test_new_address_needs_the_password_and_is_pending(store, ask, token):
    for wrong in ({}, {"currentPassword": None}, {"currentPassword": "another one"}):
        refused = await edited(ask, token, email=NEW, **wrong)
        assert refused == {"account": None, "userErrors": [NOT_PROVEN]}
    done = await edited(ask, token, email="vera@EXAMPLE.com", currentPassword=PASSWORD, mailReplies="DAILY")

    assert done == {"account": {"email": None, "pendingEmail": NEW, "mailReplies": "DAILY"}, "userErrors": []}
    again = await edited(ask, token, email=NEW)
    assert again["userErrors"] == []
    assert [each.what for each in await mails.due(store.site, most=9)] == ["confirm"]


async def test_null_removes_the_address_and_absence_keeps_it(store, ask, token):
    await edited(ask, token, email=NEW, currentPassword=PASSWORD)
    assert (await confirmed(store, ask, "vera", token))["account"]["email"] == NEW
    kept = await edited(ask, token, mailReplies="WEEKLY")
    assert (kept["account"]["email"], kept["account"]["mailReplies"]) == (NEW, "WEEKLY")

    assert (await edited(ask, token, email=None))["userErrors"] == [NOT_PROVEN]
    removed = await edited(ask, token, email=None, currentPassword=PASSWORD)
    assert removed == {"account": {"email": None, "pendingEmail": None, "mailReplies": "WEEKLY"}, "userErrors": []}
    assert (await edited(ask, token, email=None))["userErrors"] == []


async def test_token_confirms_once_and_shows_the_account_to_its_user_only(store, ask, token):
    bob = (await store.users.register("bob", PASSWORD)).token
    await edited(ask, token, email=NEW, currentPassword=PASSWORD)
    wrong = await one_time_tokens.issue(store.site, "vera", Purpose.RESET, NEW)
    for text in ("", "x" * 46, wrong.text):
        refused = (await ask(CONFIRM, token, text=text))["data"]["confirmEmail"]
        assert refused["userErrors"][0]["code"] == "BAD_TOKEN" and refused["account"] is None
    assert (await confirmed(store, ask, "vera", token, "other@example.com"))["userErrors"][0]["code"] == "BAD_TOKEN"

    issued = await one_time_tokens.issue(store.site, "vera", Purpose.CONFIRM, NEW)
    reset = await one_time_tokens.issue(store.site, "vera", Purpose.RESET)
    assert (await ask(CONFIRM, bob, text=issued.text))["data"]["confirmEmail"] == {"account": None, "userErrors": []}
    assert (await ask(ACCOUNT, token))["data"]["account"]["email"] == NEW
    assert (await ask(CONFIRM, token, text=issued.text))["data"]["confirmEmail"]["account"] is None
    with pytest.raises(one_time_tokens.BadToken):
        await one_time_tokens.read(store.site, reset.text, Purpose.RESET)


async def test_asking_for_a_reset_is_the_same_whoever_is_asked_for(store, ask, token):  # U5
    await edited(ask, token, email=NEW, currentPassword=PASSWORD)
    await confirmed(store, ask, "vera", token)
    await ask(FORGOT, who="another")  # which loads the script
    answers = [await ask(FORGOT, who=who) for who in ("vera", "nobody", NEW, "nobody@example.com", "", "a b", "é")]

    assert {str(each) for each in answers} == {str(answers[0])}
    assert answers[0]["data"]["requestPasswordReset"] == {"userErrors": []}
    long = (await ask(FORGOT, who="a" * 255))["data"]["requestPasswordReset"]
    assert long["userErrors"] == [{"code": "INVALID", "field": ["input", "usernameOrEmail"]}]


@pytest.fixture
async def ada(store):
    """
    The token of a session of a user without a password, whose address is confirmed. Its log-in is an hour ago: one of
    just now would stand in for the password.
    """
    await store.users.create("ada")
    token = (await store.sessions.open("ada")).token
    await store.mailboxes.set_first("ada", NEW)
    issued = await one_time_tokens.issue(store.site, "ada", Purpose.CONFIRM, NEW)
    await store.mailboxes.confirm(issued.text)
    store.site.clock.advance(3600)
    return token


async def asked_for_link(ask, token):
    return (await ask(ASK_FOR_LINK, token))["data"]["requestConfirmation"]["userErrors"]


async def test_link_stands_in_for_the_password_of_who_has_none(store, ask, ada, token):
    other = "other@example.com"
    assert (await edited(ask, ada, email=other))["userErrors"] == [NOT_PROVEN]
    assert await asked_for_link(ask, ada) == await asked_for_link(ask, ada) == []
    assert [(each.subject, each.what) for each in await mails.due(store.site, most=9)] == [("ada", "identity")]
    mine = await one_time_tokens.issue(store.site, "ada", Purpose.IDENTITY)
    wrong = await one_time_tokens.issue(store.site, "ada", Purpose.RESET)
    hers = await one_time_tokens.issue(store.site, "vera", Purpose.IDENTITY)

    for text in ("", "x" * 46, wrong.text, hers.text):
        for document in (EDIT, LEAVE):
            input = {"token": text} | ({"email": other} if document == EDIT else {})
            (refused,) = (await ask(document, ada, input=input))["data"].values()
            assert refused["userErrors"] == [{"code": "BAD_TOKEN", "field": ["input", "token"]}]
    assert (await store.mailboxes.get("ada")).pending is None
    assert (await edited(ask, ada, email=other, token=mine.text))["account"]["pendingEmail"] == other
    (used,) = (await ask(LEAVE, ada, input={"token": mine.text}))["data"].values()
    assert used["userErrors"][0]["code"] == "BAD_TOKEN"
    again = await one_time_tokens.issue(store.site, "ada", Purpose.IDENTITY)
    store.site.clock.advance(3601)
    (late,) = (await ask(LEAVE, ada, input={"token": again.text}))["data"].values()
    assert late["userErrors"][0]["code"] == "BAD_TOKEN"
    good = await one_time_tokens.issue(store.site, "ada", Purpose.IDENTITY)
    (left,) = (await ask(LEAVE, ada, input={"token": good.text}))["data"].values()
    assert left["userErrors"] == [] and left["deletedUserId"].startswith("user:~")


async def test_one_of_many_uses_of_a_link_at_once_succeeds(store, ask, ada):
    issued = await one_time_tokens.issue(store.site, "ada", Purpose.IDENTITY)
    given = [{"email": f"ada{number}@example.com", "token": issued.text} for number in range(10)]

    answers = await asyncio.gather(*(edited(ask, ada, **each) for each in given))

    assert sorted(str([each["code"] for each in answer["userErrors"]]) for answer in answers) == (
        ["['BAD_TOKEN']"] * 9 + ["[]"]
    )


async def test_link_is_for_who_has_no_password_and_an_address(store, ask, ada, token):
    assert await asked_for_link(ask, None) == [{"code": "UNAUTHENTICATED", "field": None}]
    assert await asked_for_link(ask, token) == [{"code": "INVALID", "field": None}]  # with a password
    await store.users.create("eve")
    eve = (await store.sessions.open("eve")).token
    await store.mailboxes.set_first("eve", NEW)  # it is not confirmed
    assert await asked_for_link(ask, eve) == [{"code": "INVALID", "field": None}]
    await mails.note_unusable(store.site, "ada", NEW)
    assert await asked_for_link(ask, ada) == [{"code": "INVALID", "field": None}]
    await bans.ban(store.site, OPERATOR, "ada", group=None, until=None, reason="spam")
    assert await asked_for_link(ask, (await store.sessions.open("ada")).token) == [{"code": "BANNED", "field": None}]
    assert "identity" not in [each.what for each in await mails.due(store.site, most=9)]


async def test_address_of_a_new_user_is_pending_too(store, ask):
    answer = (await ask(REGISTER, email="walt@example"))["data"]["register"]
    assert answer == {"token": None, "userErrors": [{"code": "INVALID", "field": ["input", "email"]}]}
    token = (await ask(REGISTER, email="walt@example.com"))["data"]["register"]["token"]

    account = (await ask(ACCOUNT, token))["data"]["account"]
    assert (account["email"], account["pendingEmail"]) == (None, "walt@example.com")
    (waiting,) = await mails.due(store.site, most=9)
    assert (waiting.subject, waiting.what, waiting.fields) == ("walt", "confirm", {})


async def test_mails_asked_for_are_limited_by_address_and_user(store, ask, token):
    rates = WriteRates(mails=2, mails_a_day=3)

    async def asked(document, address, token=None, **variables):
        context = Context(store, token, address=address, rates=rates)
        return (await SCHEMA.execute(document, variables, context)).data

    codes = []
    for who in ("vera", "nobody", "vera", "nobody"):
        (answer,) = (await asked(FORGOT, "192.0.2.1", who=who)).values()
        codes.append([each["code"] for each in answer["userErrors"]])
    assert codes == [[], [], ["RATE_LIMITED"], ["RATE_LIMITED"]]
    for number in range(3):
        input = {"email": f"vera{number}@example.com", "currentPassword": PASSWORD}
        (answer,) = (await asked(EDIT, f"192.0.2.{2 + number}", token, input=input)).values()
    assert [each["code"] for each in answer["userErrors"]] == ["RATE_LIMITED"]
    assert (await store.mailboxes.get("vera")).pending == "vera1@example.com"


class TestWithoutMail:
    @pytest.fixture
    async def store(self, redis_url, partitions, clock):
        store = await Store.open(redis_url, partitions=partitions, clock=clock)
        yield store
        await store.close()

    async def test_addresses_are_invalid_and_resets_not_offered(self, store, ask, token):
        invalid = [{"code": "INVALID", "field": ["input", "email"]}]

        assert (await edited(ask, token, email=NEW, currentPassword=PASSWORD))["userErrors"] == invalid
        assert (await ask(REGISTER, email=NEW))["data"]["register"]["userErrors"] == invalid
        forgot = (await ask(FORGOT, who="vera"))["data"]["requestPasswordReset"]
        assert forgot["userErrors"] == [{"code": "NOT_OFFERED", "field": None}]
        assert await mails.due(store.site, most=9) == []
        assert (await edited(ask, token, mailReplies="DAILY"))["account"]["mailReplies"] == "DAILY"


async def test_refusal_says_that_the_password_is_missing_or_wrong(ask, token):  # U5
    """Who is logged in has no wrong name."""
    for given, message in (
        ({}, "show that it is you: by your password, by a log-in at an issuer just now, or by a link by mail"),
        ({"currentPassword": "another one"}, "this is not your password"),
    ):
        answer = await ask(
            "mutation($input: EditAccountInput!) { editAccount(input: $input) { userErrors { message field } } }",
            token,
            input={"email": NEW, **given},
        )
        refusal = {"message": message, "field": ["input", "currentPassword"]}
        assert answer["data"]["editAccount"]["userErrors"] == [refusal]
