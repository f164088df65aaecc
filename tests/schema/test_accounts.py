"""
The account of the viewer over the real endpoint: their sessions, and how they end. The viewer is vera, whose first
session is that of the fixture `token`.
"""

from store.offers import Offers
from store.sessions import new_token, parse_token

SESSIONS = "{ account { sessions { id openedAt usedAt agent isCurrent } } }"
END = """mutation($id: ID) { endSession(input: {sessionId: $id}) {
  account { sessions { isCurrent } } userErrors { code field } query { viewer { username } } } }"""
END_OTHERS = "mutation { endSession(input: {}) { account { sessions { isCurrent } } userErrors { code } } }"


async def listed(ask, token):
    return (await ask(SESSIONS, token))["data"]["account"]["sessions"]


async def test_account_lists_the_sessions_of_the_viewer_in_two_round_trips(store, ask, token, clock):
    opened = store.sessions.new_login("vera").used_at
    clock.advance(60)
    await store.users.log_in("vera", "correct horse", agent="Firefox on Linux")
    await listed(ask, token)
    answer = await ask(SESSIONS, token)

    other, own = answer["data"]["account"]["sessions"]
    assert (other["agent"], other["isCurrent"], own["agent"], own["isCurrent"]) == (
        "Firefox on Linux",
        False,
        None,
        True,
    )
    assert own["openedAt"] == own["usedAt"] == "2016-08-04T11:52:00.000Z" < other["openedAt"]
    assert opened == clock.now - 60_000
    assert own["id"].startswith("session:") and parse_token(token).digest not in own["id"]
    assert answer["extensions"]["stats"]["roundTrips"] == 2


async def test_account_says_whether_there_is_a_password(store, ask, token):
    has_password = "{ account { hasPassword email } }"
    await store.users.create("ada")
    ada = (await store.sessions.open("ada")).token
    answer = await ask(has_password, token)

    assert answer["data"]["account"] == {"hasPassword": True, "email": None}
    assert answer["extensions"]["stats"]["roundTrips"] == 2
    assert (await ask(has_password, ada))["data"]["account"]["hasPassword"] is False
    store.users.offers = Offers(has_passwords=False)
    assert (await ask(has_password, token))["data"]["account"]["hasPassword"] is False


async def test_account_is_null_without_a_session(store, ask, token):
    ended = new_token("vera")

    assert (await ask(SESSIONS))["data"] == (await ask(SESSIONS, ended))["data"] == {"account": None}
    for credential in (None, ended):
        answer = await ask(END, credential, id="session:00")
        assert answer["data"]["endSession"]["userErrors"] == [{"code": "UNAUTHENTICATED", "field": None}]
        assert answer["extensions"].get("session") == (credential and "ended")


async def test_session_is_ended_by_its_id_and_all_others_without_one(store, ask, token):
    others = [(await store.users.log_in("vera", "correct horse")).token for _ in range(3)]
    (id,) = [each["id"] for each in await listed(ask, others[0]) if each["isCurrent"]]

    answer = await ask(END, token, id=id)
    assert answer["data"]["endSession"] == {
        "account": {"sessions": [{"isCurrent": each} for each in _current_among(answer)]},
        "userErrors": [],
        "query": {"viewer": {"username": "vera"}},
    }
    assert len(_current_among(answer)) == 3
    assert (await ask(SESSIONS, others[0]))["extensions"]["session"] == "ended"

    rest = (await ask(END_OTHERS, token))["data"]["endSession"]
    assert rest == {"account": {"sessions": [{"isCurrent": True}]}, "userErrors": []}
    assert [(await ask(SESSIONS, each))["data"]["account"] for each in others] == [None] * 3


def _current_among(answer):
    return [each["isCurrent"] for each in answer["data"]["endSession"]["account"]["sessions"]]


async def test_viewer_who_ends_the_own_session_is_nobody_from_then_on(ask, token):
    (own,) = await listed(ask, token)

    answer = await ask(END, token, id=own["id"])

    assert answer["data"]["endSession"] == {"account": None, "userErrors": [], "query": {"viewer": None}}
    assert "session" not in answer["extensions"]
    assert (await ask(SESSIONS, token))["extensions"]["session"] == "ended"


async def test_unknown_id_ends_nothing(store, ask, token):
    await store.users.log_in("vera", "correct horse")
    (bobs,) = await listed(ask, (await store.users.register("bob", "correct horse")).token)

    for id, code in (
        (bobs["id"], "NOT_FOUND"),
        ("session:x", "NOT_FOUND"),
        ("article:1", "INVALID"),
        ("session:", "INVALID"),
    ):
        answer = await ask(END, token, id=id)
        assert answer["data"]["endSession"]["userErrors"] == [{"code": code, "field": ["input", "sessionId"]}]
    assert len(await listed(ask, token)) == 2
