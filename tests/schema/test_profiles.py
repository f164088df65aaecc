"""
Profiles, and passwords that are reset, over the real endpoint.

The fixture `token` is a session token of the user vera. Codes such as U5 name rows of docs/behaviours.md.
"""

from store.one_time_tokens import Purpose, issue
from store.sessions import new_token

PROFILE = {
    "displayName": "Vera V.",
    "about": "Writes *Lua*.\nReads.",
    "avatarUrl": "https://pictures.example/v.png",
}
EDIT = """mutation($input: EditProfileInput!) { editProfile(input: $input) {
  user { username displayName about avatarUrl } userErrors { code field } } }"""
USER = '{ user(username: "vera") { displayName about avatarUrl } }'
WHOSE = "query($reset: String!) { passwordResetUser(token: $reset) { username } }"
RESET = """mutation($reset: String!, $new: String!) { resetPassword(input: {token: $reset, newPassword: $new}) {
  user { username } token expiresAt userErrors { code field } query { viewer { username } } } }"""
VIEWER = "{ viewer { username } }"
REFUSED = {"user": None, "token": None, "expiresAt": None, "query": {"viewer": None}}


async def test_profile_is_edited_and_read_by_everybody(ask, token):
    assert (await ask(USER))["data"]["user"] == dict.fromkeys(PROFILE)
    answer = (await ask(EDIT, token, input=PROFILE))["data"]["editProfile"]
    assert answer == {"user": {"username": "vera", **PROFILE}, "userErrors": []}

    answer = await ask(USER)
    assert answer["data"]["user"] == PROFILE
    assert answer["extensions"]["stats"]["roundTrips"] <= 1
    cleared = (await ask(EDIT, token, input={"displayName": None, "about": ""}))["data"]["editProfile"]["user"]
    assert cleared == {"username": "vera", **PROFILE, "displayName": None, "about": None}


async def test_refused_profile_names_all_faults_and_changes_nothing(ask, token):
    await ask(EDIT, token, input=PROFILE)
    faulty = {"displayName": "Moderator", "about": "x" * 1_001, "avatarUrl": "javascript:alert(1)"}

    refused = (await ask(EDIT, token, input=faulty))["data"]["editProfile"]
    assert refused["user"] is None
    assert refused["userErrors"] == [{"code": "INVALID", "field": ["input", field]} for field in faulty]
    anonymous = (await ask(EDIT, input=PROFILE))["data"]["editProfile"]["userErrors"]
    assert anonymous == [{"code": "UNAUTHENTICATED", "field": None}]
    assert (await ask(USER))["data"]["user"] == PROFILE


async def test_password_is_reset_by_a_token(store, ask, token):  # U5
    good = (await issue(store.site, "vera", Purpose.RESET)).text

    answer = await reset(ask, good, "battery staple")
    assert (answer["user"], answer["userErrors"]) == ({"username": "vera"}, [])
    assert answer["query"] == {"viewer": {"username": "vera"}}
    assert (await ask(VIEWER, answer["token"]))["data"]["viewer"] == {"username": "vera"}
    assert (await ask(VIEWER, token))["data"]["viewer"] is None


async def test_bad_token_and_bad_password_have_different_codes(store, ask, token):  # U5
    good = (await issue(store.site, "vera", Purpose.RESET)).text
    assert (await ask(WHOSE, reset=good))["data"]["passwordResetUser"] == {"username": "vera"}
    short = await reset(ask, good, "short")
    assert short == REFUSED | {"userErrors": [{"code": "INVALID", "field": ["input", "newPassword"]}]}

    await reset(ask, good, "battery staple")
    for bad in (good, new_token("vera"), token, "", "#" * 46):
        assert (await ask(WHOSE, reset=bad))["data"]["passwordResetUser"] is None
        refused = await reset(ask, bad, "third password")
        assert refused == REFUSED | {"userErrors": [{"code": "BAD_TOKEN", "field": ["input", "token"]}]}


async def reset(ask, token, password):
    """The answer to a reset by somebody who is not logged in."""
    return (await ask(RESET, reset=token, new=password))["data"]["resetPassword"]
