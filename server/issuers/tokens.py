"""
Tokens of issuers, as JSON Web Tokens (RFC 7519): what they say, and whether that is what the file of issuers asks for.

A token chooses nothing: its issuer must be in the file, its algorithm must be one that the issuer's table names, and
its key must be one of the issuer for this algorithm. Addresses of keys in its header are not read.
"""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from server.issuers.file import Issuer, claim
from store.errors import TokenRefused
from store.identities import SUBJECT_LENGTH

MAX_TOKEN = 8_192  # characters
PART = re.compile(r"[A-Za-z0-9_-]+")
MAX_SECONDS = 10**12  # of an instant


@dataclass(frozen=True, slots=True)
class Token:
    """
    A token of an issuer, whose signature is not checked yet. Instants are in unix seconds; `issued_at` is None if the
    token does not say. `signed` are the bytes that `signature` is over.
    """

    issuer: Issuer
    algorithm: str
    key_id: str | None
    claims: Mapping[str, Any]
    subject: str
    expires_at: float
    issued_at: float | None
    signed: bytes
    signature: bytes

    def has_expired(self, now: float) -> bool:
        return now >= self.expires_at + self.issuer.leeway


def is_issuer_token(text: str) -> bool:
    """Whether a token is that of an issuer and not of a session, which has no dots."""
    return "." in text


def parse(text: str, issuers: Mapping[str, Issuer], now: float, audience: frozenset[str] | None = None) -> Token:
    """
    Read a token. `issuers` are those of the file, by the claim `iss` of their tokens. `now` is in unix seconds.

    With `audience` it must be a token that the issuer has given to this site for a log-in: the claim `aud` has one of
    these texts, whatever the issuer's table says of the audience and the type of tokens.

    Raises:
        TokenRefused: it is not as the issuer's table asks for. That it has expired is not checked here.
    """
    header, claims, signed, signature = _parts(text)
    issuer = issuers.get(_text(claims, "iss"))
    _require(issuer is not None, "issuer")
    assert issuer is not None
    algorithm, key_id = header.get("alg"), header.get("kid")
    _require(isinstance(algorithm, str) and algorithm in issuer.algorithms, "algorithm")
    _require(key_id is None or isinstance(key_id, str), "key")
    name = "aud" if audience else issuer.audience_claim
    _require(not (audience or issuer.audience).isdisjoint(_texts(claims.get(name))), "audience")
    if audience is None:
        _check_type(issuer, header, claims)
    expires_at, issued_at = _instants(claims, now + issuer.leeway)
    subject = claim(claims, issuer.claims.id)
    subject = str(subject) if type(subject) is int else subject
    _require(isinstance(subject, str) and 0 < len(subject) <= SUBJECT_LENGTH and subject.isprintable(), "subject")
    assert isinstance(algorithm, str)
    return Token(issuer, algorithm, key_id, claims, subject, expires_at, issued_at, signed, signature)


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    """The header, the claims, what is signed, and the signature."""
    _require(len(text) <= MAX_TOKEN, "size")
    parts = text.split(".")
    _require(len(parts) == 3 and all(map(PART.fullmatch, parts)), "form")
    header_part, claims_part, signature_part = parts
    header = _object(header_part)
    _require("crit" not in header, "crit")
    return header, _object(claims_part), f"{header_part}.{claims_part}".encode(), _decoded(signature_part)


def _object(part: str) -> dict[str, Any]:
    try:
        found = json.loads(_decoded(part), parse_constant=_refuse_constant)  # such as NaN
    except (ValueError, RecursionError):
        raise TokenRefused(reason="form") from None
    _require(isinstance(found, dict), "form")
    return found  # type: ignore[no-any-return]  # checked


def _decoded(part: str) -> bytes:
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError:
        raise TokenRefused(reason="form") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _check_type(issuer: Issuer, header: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    """
    Check that a token is of the wanted type. Access and ID tokens are told apart by the claim `token_use` or `typ`, or
    else by `typ` of the header.
    """
    if issuer.token_use is not None:
        _require(claims.get("token_use") == issuer.token_use, "token_use")
    if issuer.typ is not None:
        typ = claims.get("typ", header.get("typ"))
        named = typ.lower().removeprefix("application/") if isinstance(typ, str) else None
        _require(named == issuer.typ.lower(), "typ")


def _instants(claims: Mapping[str, Any], latest: float) -> tuple[float, float | None]:
    """
    When a token ends and was issued. It may not be issued or valid, and its user not have logged in, later than
    `latest` (all in unix seconds).
    """
    expires_at = instant(claims, "exp")
    _require(expires_at is not None, "exp")
    for name in ("iat", "nbf", "auth_time"):
        at = instant(claims, name)
        _require(at is None or at <= latest, name)
    assert expires_at is not None
    return expires_at, instant(claims, "iat")


def instant(claims: Mapping[str, Any], name: str) -> float | None:
    """An instant that a token says; None if it does not."""
    value = claims.get(name)
    if value is None:
        return None
    _require(type(value) in (int, float) and 0 <= value <= MAX_SECONDS, name)
    return float(value)


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _require(holds: bool, reason: str) -> None:
    """Refuse the token unless a condition holds. The reason, which its sender gets, is a claim or a part of a token."""
    if not holds:
        raise TokenRefused(reason)
