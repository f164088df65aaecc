"""
The file of issuers, identity providers whose tokens a site accepts: what it may say, and how a fault in it is named.

Codes such as U1 name rows of docs/behaviours.md.
"""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from server.app import create
from server.http.connections import ConnectionLimiter
from server.issuers import file, tokens
from server.issuers.file import WrongIssuers
from server.issuers.people import claims_of
from server.settings import Settings, WrongSetting
from server.supervisor import STARTUP_FAILURE
from store.identities import Subject
from tests.server.commands import ROOT, environment, run
from tests.server.issuers import issuing
from tests.server.issuers.issuing import EC, NOW, RSA, SECRET, SHARED, TABLE, Tokens

PAGE = Path(__file__).parents[3] / "docs" / "issuers.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
OF_PROVIDERS = [each for each in EXAMPLES[1:] if "client_id =" not in each]
TOO_SHORT = {"algorithms": ["HS256"], "jwks_file": None, "secrets": {"one": "x" * 31}}
PUBLIC_KEY = {"algorithms": ["HS256"], "jwks_file": None, "secrets": {"one": RSA.as_pem(private=False).decode()}}


def changed(**changes):
    return {name: value for name, value in {**TABLE, **changes}.items() if value is not None}


FAULTS = [  # a table of an issuer, the keys of the file outside of it, and the message
    (changed(nmae="x"), {}, "issuers[0].nmae: there is no such key"),
    (changed(name=None), {}, "issuers[0].name: it is missing"),
    (changed(name="My shop"), {}, "issuers[0].name: a name is 1 to 32 of a-z, 0-9 and -"),
    (changed(audience=None), {}, "issuers[0].audience: it is missing"),
    (changed(audience=[]), {}, "issuers[0].audience: it is a text or a list of texts, and not empty"),
    (changed(audience_claim="sub"), {}, "issuers[0].audience_claim: Input should be 'aud', 'azp' or 'client_id'"),
    (changed(algorithms=["none"]), {}, "issuers[0].algorithms: Input should be 'RS256', 'ES256', 'EdDSA' or 'HS256'"),
    (changed(algorithms=["RS256", "HS256"]), {}, "issuers[0]: secrets are for algorithms"),
    (changed(leeway=301), {}, "issuers[0].leeway: Input should be less than or equal to 300"),
    (changed(leeway="60"), {}, "issuers[0].leeway: Input should be a valid integer"),
    (changed(jwks_file=None), {}, "issuers[0]: one of discovery, jwks_file, jwks_url, secrets says where its keys are"),
    (changed(discovery="https://id.example/"), {}, "issuers[0]: one of discovery, jwks_file, jwks_url, secrets says"),
    (changed(jwks_file=None, jwks_url="keys"), {}, "issuers[0].jwks_url: it is not a URL with http or https"),
    (changed(jwks_file=None, jwks_url="http://id.example/"), {}, "issuers[0]: jwks_url has http, which is for"),
    (changed(**TOO_SHORT), {}, "issuers[0].secrets: the secret 'one' must have 32 to 1024 bytes"),
    (changed(**PUBLIC_KEY), {}, "the secrets of the issuer site: Asymmetric public keys must not be used"),
    (changed(claims={"name": ["a", ""]}), {}, "issuers[0].claims.name: it is the path of a claim, such as"),
    (changed(claims={"nick": "a"}), {}, "issuers[0].claims.nick: there is no such key"),
    (changed(roles={"moderator": ["a"]}), {}, "issuers[0]: roles need the path claims.roles"),
    (changed(roles={"admin": ["a"]}), {}, "issuers[0]: roles.admin needs admin = true"),
    (changed(), {"keys_hours": 80}, "keys_hours_away is 72, and less than keys_hours"),
    (changed(), {"key_hours": 8}, "key_hours: there is no such key"),
    (changed(jwks_file="none.json"), {}, "none.json: No such file or directory"),
    (changed(client_id="x"), {}, "issuers[0]: client_id needs discovery"),
    (changed(scopes=["profile"]), {}, 'issuers[0]: scopes need "openid": without it, an issuer gives no ID token'),
]


@pytest.mark.parametrize(("table", "top", "message"), FAULTS, ids=[message[:50] for *_, message in FAULTS])
def test_fault_stops_the_start_and_is_named(tmp_path, table, top, message):
    path = issuing.written(tmp_path, table, **top)

    with pytest.raises(WrongSetting) as stopped:
        create(Settings(issuers=path), ConnectionLimiter())

    assert str(stopped.value).startswith(f"UPVOTE_ISSUERS={tmp_path}") or "the secrets of the issuer" in message
    assert message in str(stopped.value)
    assert "x" * 31 not in str(stopped.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[issuers]]\nname = shop\n", "Invalid value (at line 2, column 8)"),
        ("[issuers]\n", "issuers: it is not a list of tables: write [[issuers]]"),
        ("", "issuers: it is missing"),
        ("issuers = []\n", "issuers: "),
    ],
)
def test_text_that_is_no_file_of_issuers_is_refused(tmp_path, text, message):
    path = tmp_path / "issuers.toml"
    path.write_text(text)

    with pytest.raises(WrongIssuers, match=re.escape(f"{path}: {message}")):
        file.read(path)


def test_issuers_differ_in_name_and_issuer(tmp_path):
    for same in ("name", "issuer"):
        other = changed(name="other", issuer="https://other.example/") | {same: TABLE[same]}
        with pytest.raises(WrongIssuers, match=f"two issuers have the {same}"):
            file.read(issuing.written(tmp_path, TABLE, other))


def test_file_that_is_not_there_stops_the_start(tmp_path):
    with pytest.raises(WrongSetting, match=r"UPVOTE_ISSUERS=.*none\.toml: No such file or directory"):
        create(Settings(issuers=tmp_path / "none.toml"), ConnectionLimiter())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("keys", "reason"),
    [("{}", "keys.json: it has no list of keys"), (None, "no.toml: No such file or directory")],
)
def test_server_with_a_faulty_file_ends_before_it_prints_its_address(tmp_path, workers, keys, reason):
    path = issuing.written(tmp_path, keys=keys) if keys else tmp_path / "no.toml"

    done = run("serve", data_dir=tmp_path / "data", port=0, issuers=path, workers=workers)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("upvote: UPVOTE_ISSUERS=") and done.stderr.endswith(f"{reason}\n")


def test_worker_that_finds_a_fault_says_so_and_ends_as_one_that_does_not_start(tmp_path):
    """Its supervisor ends then, if it was the first start, and does not start it for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listener, (tmp_path / "errors").open("w") as errors:
        code = (
            "import socket, sys; from multiprocessing import Pipe; from server.supervisor import run_worker;"
            "ends = Pipe(); run_worker(1, socket.socket(fileno=int(sys.argv[1])), ends[0])"
        )
        given = environment(issuers=tmp_path / "no.toml", redis_url="redis://127.0.0.1:1")
        number = listener.fileno()
        done = subprocess.run(
            [sys.executable, "-c", code, str(number)], env=given, cwd=ROOT, stderr=errors, pass_fds=[number], timeout=60
        )

    assert done.returncode == STARTUP_FAILURE
    assert "no.toml: No such file or directory" in (tmp_path / "errors").read_text()


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: re.search(r'name = "(\w+)"', text)[1])
def test_examples_of_the_page_are_files_of_issuers(tmp_path, text):
    path = tmp_path / "issuers.toml"
    path.write_text(text)

    assert len(file.read(path).issuers) == 1


URL = "https://PROJECT.supabase.co/auth/v1"
SHAPES = {  # of tokens as these providers make them: claims, header, what is claimed of its user
    "auth0": (
        {
            "https://votes.example.com/name": "ada",
            "https://votes.example.com/roles": ["moderator"],
            "iss": "https://example.eu.auth0.com/",
            "sub": "google-oauth2|110352",
            "aud": ["https://votes.example.com", "https://example.eu.auth0.com/userinfo"],
            "azp": "jhQ8",
            "scope": "openid profile",
        },
        {"typ": "JWT"},
        ("google-oauth2|110352", "ada", {"moderator"}),
    ),
    "clerk": (
        {
            "azp": "https://www.example.com",
            "iss": "https://clerk.example.com",
            "sid": "sess_2",
            "sts": "active",
            "sub": "user_2b",
            "username": "ada",
            "fva": [7, -1],
            "v": 2,
        },
        {"cat": "cl_B7d4PD111AAA", "typ": "JWT"},
        ("user_2b", "ada", None),
    ),
    "firebase": (
        {
            "name": "Ada Lovelace",
            "iss": "https://securetoken.google.com/PROJECT",
            "aud": "PROJECT",
            "auth_time": NOW - 60,
            "user_id": "fVWq",
            "sub": "fVWq",
            "email": "ada@example.com",
            "firebase": {"identities": {"email": ["ada@example.com"]}, "sign_in_provider": "password"},
        },
        {"typ": "JWT"},
        ("fVWq", "Ada Lovelace", None),
    ),
    "supabase": (
        {
            "aal": "aal1",
            "aud": "authenticated",
            "iss": URL,
            "role": "authenticated",
            "sub": "4be3fd0c-8fd1",
            "is_anonymous": False,
            "user_metadata": {"user_name": "ada"},
            "app_metadata": {"provider": "github"},
        },
        {"typ": "JWT"},
        ("4be3fd0c-8fd1", "ada", None),
    ),
    "keycloak": (
        {
            "jti": "trrtcc:1",
            "iss": "https://sso.example.com/realms/main",
            "aud": ["upvote", "account"],
            "sub": "f7a0-1",
            "typ": "Bearer",
            "azp": "forum",
            "realm_access": {"roles": ["offline_access", "forum-moderator"]},
            "resource_access": {"account": {"roles": ["manage-account"]}},
            "preferred_username": "ada",
        },
        {"typ": "JWT"},
        ("f7a0-1", "ada", {"moderator"}),
    ),
    "cognito": (
        {
            "sub": "aaaa-1",
            "cognito:groups": ["moderators"],
            "iss": "https://cognito-idp.eu-central-1.amazonaws.com/POOL",
            "client_id": "CLIENT",
            "token_use": "access",
            "scope": "aws.cognito.signin.user.admin",
            "auth_time": NOW - 60,
            "username": "ada",
        },
        {},
        ("aaaa-1", "ada", {"moderator"}),
    ),
}
KEYS = {"RS256": RSA, "ES256": EC, "HS256": SHARED}


@pytest.mark.parametrize("text", OF_PROVIDERS, ids=lambda text: re.search(r'name = "(\w+)"', text)[1])
def test_tokens_of_known_providers_are_read_by_the_examples_of_the_page(tmp_path, text):  # U1
    path = tmp_path / "issuers.toml"
    path.write_text(text.replace("the JWT secret of the project, which has 32 bytes or more", SECRET))
    (issuer,) = file.read(path).issuers
    (algorithm,) = issuer.algorithms
    claims, header, (subject, name, roles) = SHAPES[issuer.name]
    made = Tokens(claims, KEYS[algorithm], algorithm).token(header=header, sub=claims["sub"])

    token = tokens.parse(made, {issuer.issuer: issuer}, NOW)

    found = claims_of(token)
    assert (found.subject, found.name) == (Subject(issuer.name, subject), name)
    assert found.roles == (None if roles is None else frozenset(roles))
    assert found.issued_at == NOW * 1000


@pytest.mark.parametrize("provider", ["keycloak", "cognito"])
def test_id_tokens_are_no_access_tokens(tmp_path, provider):  # U2
    (text,) = (each for each in OF_PROVIDERS if f'"{provider}"' in each)
    path = tmp_path / "issuers.toml"
    path.write_text(text)
    (issuer,) = file.read(path).issuers
    claims = SHAPES[provider][0] | ({"typ": "ID"} if provider == "keycloak" else {"token_use": "id"})

    with pytest.raises(tokens.TokenRefused) as refused:
        tokens.parse(Tokens(claims).token("1"), {issuer.issuer: issuer}, NOW)

    assert refused.value.reason == ("typ" if provider == "keycloak" else "token_use")
