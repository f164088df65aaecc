"""
Tokens of issuers, which are identity providers, in place of sessions: whose they are, and which are refused.

The fixture `http` is a client of an application that accepts the tokens of one issuer; `serve` opens one for another
file of issuers. Codes such as U1 name rows of docs/behaviours.md.
"""

import asyncio
import hmac
import json
import sys

import pytest

from store.sessions import TOKEN_LENGTH
from tests.server import in_process
from tests.server.issuers import issuing
from tests.server.issuers.issuing import EC, ED, ISSUER, NOW, OTHER_RSA, RSA, Tokens
from tests.store.reading import everything

VIEWER = "{ viewer { username } }"
POST = """mutation { post(input: {title: "A title", content: "text"}) {
  article { poster { username } } userErrors { code } } }"""
TOKENS = Tokens()


async def sent(http, token, query=VIEWER):
    return await http.post("/graphql", json={"query": query}, headers={"authorization": f"Bearer {token}"})


async def viewer_of(http, token):
    response = await sent(http, token)
    assert response.status_code == 200, response.text
    found = response.json()["data"]["viewer"]
    return found and found["username"]


async def reason_of(http, token, query=VIEWER):
    response = await sent(http, token, query)
    (error,) = response.json()["errors"]
    assert (response.status_code, error["extensions"]["code"]) == (401, "UNAUTHENTICATED")
    return error["extensions"]["reason"]


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (EC, "ES256"), (ED, "EdDSA")])
async def test_token_stands_for_its_user_who_is_created_by_the_first_one(http, key, algorithm):  # U1
    tokens = Tokens(key=key, algorithm=algorithm)

    assert await viewer_of(http, tokens.token("1", name="Alice")) == "Alice"
    assert await viewer_of(http, tokens.token("1", name="Bob", iat=NOW + 9)) == "Alice"
    assert await viewer_of(http, tokens.token("2", name="alice")) == "alice-2"
    posted = (await sent(http, tokens.token("1"), POST)).json()["data"]["post"]
    assert posted == {"article": {"poster": {"username": "Alice"}}, "userErrors": []}


@pytest.mark.parametrize("registration", ["invited", "closed"])
async def test_users_of_issuers_come_where_nobody_registers(serve, tmp_path, registration):  # U1
    register = 'mutation { register(input: {username: "bob", password: "correct horse"}) { userErrors { code } } }'
    async with serve(issuing.written(tmp_path), registration=registration) as http:
        refused = (await http.post("/graphql", json={"query": register})).json()["data"]["register"]
        ada = await viewer_of(http, TOKENS.token(name="Ada"))

    assert refused == {"userErrors": [{"code": "NOT_OFFERED"}]}
    assert ada == "Ada"


async def test_fifty_first_requests_at_once_make_one_user(http, redis):  # U1
    tokens = [TOKENS.token("1", name="Alice", jti=str(number)) for number in range(50)]

    assert set(await asyncio.gather(*(viewer_of(http, token) for token in tokens))) == {"Alice"}
    assert [key for key in redis.keys("user:*")] == ["user:{0}:alice"]


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "https://other.example/"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"iss": [ISSUER]}, "issuer"),
        ({"aud": "other"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": ["other", 3]}, "audience"),
        ({"exp": None}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": 1e300}, "exp"),
        ({"iat": NOW + 61}, "iat"),
        ({"nbf": NOW + 61}, "nbf"),
        ({"auth_time": NOW + 61}, "auth_time"),
        ({"auth_time": "today"}, "auth_time"),
        ({"sub": None}, "subject"),
        ({"sub": ""}, "subject"),
        ({"sub": "a" * 256}, "subject"),
        ({"sub": "line\nbreak"}, "subject"),
        ({"sub": {"id": 1}}, "subject"),
    ],
    ids=str,
)
async def test_claims_that_are_not_as_the_file_says_are_refused(http, redis, claims, reason):  # U2
    before = everything(redis)

    for query in (VIEWER, POST, "{ __typename }"):
        assert await reason_of(http, TOKENS.token(**claims), query) == reason
    assert everything(redis) == before


PLAIN = {"iss": ISSUER, "aud": "upvote", "sub": "1", "exp": NOW + 60}


def confused(algorithm, secret):
    """A token of the attack "algorithm confusion": the public key of the issuer is used as a shared secret."""
    content = ".".join(issuing.part(json.dumps(each).encode()) for each in ({"alg": algorithm, "kid": "rsa-1"}, PLAIN))
    return f"{content}.{issuing.part(hmac.digest(secret, content.encode(), 'sha256'))}"


# by the name of an attack: what makes the token, and the reason of the refusal; "e30" is {} in base64, "W10" is []
ATTACKS = {
    "none": (lambda: unsigned("none"), "algorithm"),
    "None": (lambda: unsigned("None"), "algorithm"),
    "the public key as a secret": (lambda: confused("HS256", RSA.as_pem(private=False)), "algorithm"),
    "its set as a secret": (lambda: confused("HS256", issuing.key_set(RSA).encode()), "algorithm"),
    "an algorithm of the key's type": (
        lambda: issuing.signed({"alg": "PS256", "kid": "rsa-1"}, {"iss": ISSUER}, RSA),
        "algorithm",
    ),
    "an algorithm of another key": (
        lambda: issuing.signed({"alg": "ES256", "kid": "rsa-1"}, PLAIN, RSA, algorithm="RS256"),
        "key",
    ),
    "another key of the algorithm": (lambda: TOKENS.token(key=OTHER_RSA, header={"kid": "rsa-1"}), "key"),
    "the id of a key of another type": (lambda: TOKENS.token(header={"kid": "ec-1"}), "key"),
    "an unknown key": (lambda: TOKENS.token(header={"kid": "rsa-9"}), "key"),
    "a path": (lambda: TOKENS.token(header={"kid": "../../../../etc/passwd"}), "key"),
    "a path to the keys": (lambda: TOKENS.token(key=OTHER_RSA, header={"kid": "keys.json"}), "key"),
    "a number": (lambda: TOKENS.token(header={"kid": 1}), "key"),
    "crit": (lambda: TOKENS.token(header={"crit": ["exp"]}), "crit"),
    "crit of what is known": (lambda: TOKENS.token(header={"crit": ["b64"], "b64": True}), "crit"),
    "crit that is empty": (lambda: TOKENS.token(header={"crit": []}), "crit"),
    "size": (lambda: TOKENS.token(padding="a" * 8_000), "size"),
    "cut": (lambda: TOKENS.token()[:-4], "key"),
    "two parts": (lambda: TOKENS.token().rpartition(".")[0], "form"),
    "five parts": (lambda: "a.b.c.d.e", "form"),
    "no signature": (lambda: TOKENS.token().rpartition(".")[0] + ".", "form"),
    "no JSON": (lambda: "e30.e3.e30", "form"),
    "a list": (lambda: "W10.W10.W10", "form"),
    "NaN": (lambda: f"{issuing.part(b'{}')}.{issuing.part(b'{1: NaN}')}.e30", "form"),
    "deep": (lambda: f"{issuing.part(b'[' * 3_000)}.e30.e30", "form"),
}


def unsigned(algorithm):
    parts = ({"alg": algorithm}, PLAIN)
    return ".".join(issuing.part(json.dumps(each).encode()) for each in parts) + ".e30"


@pytest.mark.parametrize("attack", ATTACKS)
async def test_forged_token_is_refused(http, redis, attack):  # U2
    await viewer_of(http, TOKENS.token())
    make, reason = ATTACKS[attack]
    before = everything(redis)

    assert await reason_of(http, make()) == reason
    assert everything(redis) == before


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c"])
async def test_keys_that_a_token_names_are_not_read(http, name):  # U2
    """Neither is a URL in the header fetched, nor a key in it used."""
    fetched = []

    async def answer(reader, writer):
        fetched.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys.json"
    values = {"jku": url, "x5u": url, "jwk": OTHER_RSA.as_dict(private=False), "x5c": ["MIIB"]}
    async with server:
        assert await reason_of(http, TOKENS.token(key=OTHER_RSA, header={name: values[name]})) == "key"
        assert await reason_of(http, TOKENS.token(key=OTHER_RSA, header={name: values[name], "kid": "rsa-1"})) == "key"

    assert await viewer_of(http, TOKENS.token(header={name: values[name]}, name="Alice")) == "Alice"
    assert fetched == []


async def test_without_an_id_the_only_key_of_the_algorithm_is_tried(serve, tmp_path):
    async with serve(issuing.written(tmp_path)) as http:
        assert await viewer_of(http, TOKENS.token(header={"kid": None}, name="Alice")) == "Alice"
    file = issuing.written(tmp_path, keys=issuing.key_set(RSA, OTHER_RSA))
    async with serve(file) as http:
        assert await reason_of(http, TOKENS.token(header={"kid": None})) == "key"


async def test_expired_token_counts_as_none_also_from_memory(http, clock):  # U2
    token = TOKENS.token(name="Alice", exp=NOW + 100)
    assert await viewer_of(http, token) == "Alice"
    clock.advance(159)
    assert await viewer_of(http, token) == "Alice"  # within the leeway of a minute

    clock.advance(1)

    for _ in range(2):
        response = await sent(http, token)
        assert response.status_code == 200
        assert response.json() == {"data": {"viewer": None}, "extensions": {"session": "ended"}}
    refused = (await sent(http, token, POST)).json()["data"]["post"]
    assert refused == {"article": None, "userErrors": [{"code": "UNAUTHENTICATED"}]}
    forged = TOKENS.token(key=OTHER_RSA, header={"kid": "rsa-1"}, exp=NOW)
    assert await reason_of(http, forged) == "key"  # it has not only expired


async def test_other_texts_are_ended_sessions_and_no_tokens_of_issuers(http):
    for text in ("x", "a" * TOKEN_LENGTH):
        response = await sent(http, text)
        assert response.json() == {"data": {"viewer": None}, "extensions": {"session": "ended"}}


async def test_without_issuers_their_tokens_are_ended_sessions(redis_url):
    async with in_process.serving(redis_url) as http:
        response = await sent(http, TOKENS.token())

    assert response.json() == {"data": {"viewer": None}, "extensions": {"session": "ended"}}


async def test_second_check_is_a_look_into_memory(http, monkeypatch):
    accepted, token = http.app.state.tokens, TOKENS.token(name="Alice")
    await viewer_of(http, token)
    checked = []
    monkeypatch.setattr(accepted, "_check", lambda *given: checked.append(given))

    assert await viewer_of(http, token) == "Alice"
    assert checked == []
    assert token not in str(list(accepted._remembered.entries))
    assert calls_of(lambda: accepted.remembered(token)) <= 12  # these take 1.6 µs; the aim is 5 µs at most


def calls_of(function):
    """How many functions a call takes, of Python and of C."""
    called = []
    sys.setprofile(lambda frame, event, argument: called.append(event) if event in ("call", "c_call") else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return len(called)


async def test_tokens_are_forgotten_with_their_key(serve, tmp_path):  # U3
    async with serve(issuing.written(tmp_path)) as http:
        rsa, ec = TOKENS.token(name="Alice"), Tokens(key=EC, algorithm="ES256").token()
        assert [await viewer_of(http, token) for token in (rsa, ec)] == ["Alice", "Alice"]

        (tmp_path / "keys.json").write_text(issuing.key_set(EC, OTHER_RSA))
        await until(lambda: http.app.state.tokens.remembered(rsa) is None)

        assert await reason_of(http, rsa) == "key"
        assert await viewer_of(http, ec) == "Alice"
        assert await viewer_of(http, TOKENS.token(key=OTHER_RSA)) == "Alice"
        (tmp_path / "keys.json").write_text("no set")
        await asyncio.sleep(1.5)
        assert await viewer_of(http, Tokens(key=EC, algorithm="ES256").token(jti="new")) == "Alice"


async def until(holds):
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - nothing says when a file was read
            await asyncio.sleep(0.02)
