"""
Users of an issuer, an identity provider whose signed tokens (JWT) the server accepts, as docs/issuers.md describes
them: the first token of a subject makes a user, and a newer one brings profile and roles up to its claims. A token is
exchanged for a session, or sent itself: see `bearers`. The key of the issuer is made here.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from joserfc.jwk import OKPKey
from joserfc.jws import JWSRegistry

from tests.server.issuers import issuing
from tests.soak import moderation
from tests.soak.history import Ref
from tests.soak.input_checks import Refused
from tests.soak.model import Model
from tests.soak.moderation import Texts
from tests.soak.records import User
from tests.soak.variables import GROUPS

NAME, AUDIENCE, ALGORITHM = "soak", "upvote", "EdDSA"
KEY, OTHER_KEY = (OKPKey.generate_key("Ed25519", {"kid": "soak-1"}) for _ in range(2))
# the issuer as the file of the server describes it
TABLE = issuing.TABLE | {
    "name": NAME,
    "algorithms": [ALGORITHM],
    "claims": {"name": "name", "display_name": "nick", "roles": "roles", "moderates": "moderates"},
    "roles": {"moderator": ["staff"]},
}
TOKENS = issuing.Tokens({"iss": issuing.ISSUER, "aud": AUDIENCE}, KEY, ALGORITHM)
SUBJECTS = 3  # of tokens, beside those whose users have left
# values of the claims for the username and the display name
NAMES = ("Zoe", "zoe@example.com", "Ann.Lee", "BOB", "admin")
NICKS = ("Zoë", "Ann", None, "", "x" * 51)
LONGEST_NICK = 50
HOUR, LEEWAY = 3_600, 60  # seconds
EXPIRED, GONE = "expired", "gone"  # faults of tokens; `fault` has the others
RECENT = 300_000  # milliseconds for which a log-in stands in for a password
OPERATORS_REASON = f"by the claims of {NAME}"  # of the actions that give and take roles

RoleInGroup = tuple[str, str | None]  # a role, and its group; None for the whole site


@dataclass(eq=False)
class Identity:
    """The user of a subject."""

    user: User
    issued_at: int = 0  # unix milliseconds: that of the newest token that has changed profile and roles
    claimed: list[RoleInGroup] = field(default_factory=list)  # roles that claims have given


def written(folder: Path) -> Path:
    """Write the file with which a server accepts the tokens, and return its path."""
    return issuing.written(folder, TABLE, keys=issuing.key_set(KEY))


def token(random: Random, model: Model, subject: str | None = None) -> str:
    """
    A random token: mostly one of now, sometimes one that is not accepted. `subject` is the issuer's id of its user; by
    default it is any.
    """
    gone = sum(each.user.has_left for each in model.identities.values())
    chosen, now = subject or str(random.randint(1, SUBJECTS + gone)), model.now / 1000
    issued_at = random.choice((now, now, now, now, now - 5, now - 60, None))
    claims: dict[str, Any] = {"name": random.choice(NAMES), "nick": random.choice(NICKS), "iat": issued_at}
    claims |= {"exp": (issued_at or now) + HOUR, "roles": random.choice((["staff"], ["guest"], None, None))}
    claims["moderates"] = random.choice((None, None, list(random.sample(GROUPS, 2))))
    if random.random() < 0.08:
        claims |= random.choice(({"aud": "other"}, {"exp": now - LEEWAY}, {"exp": now - 5 * HOUR}))
    return TOKENS.token(chosen, key=OTHER_KEY if random.random() < 0.02 else None, **claims)


def log_in(model: Model, text: str, session: str, numbers: Sequence[int]) -> User:
    """Exchange a token for a session. `numbers` are as in `accept`."""
    if fault(model, text):
        raise Refused("BAD_TOKEN", "token")
    user = accept(model, text, numbers)
    model.sessions[session] = user
    model.exchanged[session] = model.now
    return user


def accept(model: Model, text: str, numbers: Sequence[int]) -> User:
    """
    The user of a token without a fault. `numbers` are those of the actions that grant and revoke the roles, in their
    order.
    """
    claims = claims_of(text)
    issued_at, identity = round(claims.get("iat", 0) * 1000), model.identities.get(claims["sub"])
    is_new = identity is None
    if identity is None:
        identity = model.identities[claims["sub"]] = Identity(_new_user(model, claims["name"]))
    unused = iter(numbers)
    if is_new or issued_at > identity.issued_at:
        identity.issued_at = issued_at or identity.issued_at
        _bring_up_to(model, identity, claims, unused)
    assert next(unused, None) is None, "the token has changed more roles"
    model.reached.count("tokens that are older", not is_new and issued_at < identity.issued_at)
    model.reached.count("tokens of the banned", model.ban_of(identity.user, group=None) is not None)
    return identity.user


def subject_of(model: Model, user: User) -> str | None:
    return next((subject for subject, each in model.identities.items() if each.user is user), None)


def is_recent(model: Model, session: str | None, user: User) -> bool:
    """Whether a session stands in for the password of a user who has none."""
    return not user.password and model.now - model.exchanged.get(session or "", -RECENT) <= RECENT


def fault(model: Model, text: str) -> str | None:
    """Why a token is not accepted; None if it is."""
    content, _, signature = text.rpartition(".")
    claims = claims_of(text)
    identity = model.identities.get(claims["sub"])
    if claims["aud"] != AUDIENCE:
        found = "audience"
    elif not JWSRegistry.algorithms[ALGORITHM].verify(content.encode(), _decoded(signature), KEY):
        found = "key"
    elif model.now >= (claims["exp"] + LEEWAY) * 1000:
        found = EXPIRED
    elif identity is not None and identity.user.has_left:
        model.reached.count("tokens of users who have left")
        return GONE
    else:
        return None
    model.reached.count("tokens that are not accepted")
    return found


def ends_at(text: str, now: int) -> int:
    """When a socket of a token ends, in unix milliseconds: with the token or, if that is over, with the leeway."""
    ends = round(claims_of(text)["exp"] * 1000)
    return ends if ends > now else ends + LEEWAY * 1000


def role_ref(operation: int, index: int) -> Ref:
    """The reference to an action that gives or takes a role, because of the token that an operation has sent."""
    return Ref(operation, ("claims", index))


def is_token(text: str) -> bool:
    """Whether a text is the token of an issuer, and not that of a session."""
    return "." in text


def claims_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_decoded(text.split(".")[1]))
    return found


def user_of(model: Model, text: str) -> User | None:
    """The user of a token; None for one who was not seen yet, or has left."""
    identity = model.identities.get(claims_of(text)["sub"])
    return None if identity is None or identity.user.has_left else identity.user


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _new_user(model: Model, claimed: str) -> User:
    name = next(name for name in _free_names(claimed) if not _is_taken(model, name.lower()))
    model.reached.count("users of an issuer")
    model.reached.count("users of an issuer with another name", name.lower() != claimed.lower())
    user = model.users[name.lower()] = User(name, password="", joined_at=model.now)
    model.version += 1
    return user


def _free_names(claimed: str) -> Iterator[str]:
    name = re.sub("[^A-Za-z0-9_-]+", "-", claimed.partition("@")[0])
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def _is_taken(model: Model, name: str) -> bool:
    return name in model.users or name in model.names_of_before or name == "admin"


def _bring_up_to(model: Model, identity: Identity, claims: Mapping[str, Any], numbers: Iterator[int]) -> None:
    """
    Let profile and roles be as claims say. Roles that moderators gave stay. Each role that changes takes the next
    number of an action.
    """
    user, nick = identity.user, (claims.get("nick") or "").strip()
    user.profile = user.profile | {"displayName": nick if 1 <= len(nick) <= LONGEST_NICK else None}
    wanted, given = sorted(_roles(claims), key=_word), []
    for role in wanted:
        has = role in user.roles
        if not has:
            _set_role(model, user, "GRANT_ROLE", role, numbers)
        if not has or role in identity.claimed:
            given.append(role)
    for role in identity.claimed:
        if role not in wanted and role in user.roles:
            _set_role(model, user, "REVOKE_ROLE", role, numbers)
    identity.claimed = given
    model.version += 1


def _roles(claims: Mapping[str, Any]) -> set[RoleInGroup]:
    of_site: set[RoleInGroup] = {("MODERATOR", None)} if "staff" in claims.get("roles", ()) else set()
    return of_site | {("MODERATOR", name) for name in claims.get("moderates", ())}


def _word(role: RoleInGroup) -> str:
    """A role and its group as text, such as "MODERATOR:ask"."""
    return ":".join(filter(None, role))


def _set_role(model: Model, user: User, kind: str, changed: RoleInGroup, numbers: Iterator[int]) -> None:
    (role, group), number = changed, next(numbers, None)
    assert number is not None, f"the server did not record {kind} {_word(changed)}"
    texts = Texts(group, OPERATORS_REASON, note=None)
    moderation.record(model, lambda moderator: number, kind, user, model.operator, texts, role=role)
    moderation.write_role(user, role, group)
    model.reached.count(f"{kind} by claims")
