"""
What the claims of an issuer's token (the fields of its JSON) say of its user. The file of issuers has, for each issuer,
the path of the claim with each thing that it says, such as `realm_access.roles`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from server.issuers.file import Issuer, claim
from server.issuers.tokens import Token, instant
from store import validation
from store.errors import Invalid
from store.identities import Claims, Identified, Subject
from store.moderation_records import Role

# fields of users, and what the file calls the paths of their claims
FIELDS = {"display_name": "display_name", "about": "about", "avatar_url": "avatar"}
MOST_GROUPS = 100  # that the claims of a token may name


def claims_of(token: Token, *, has_all_claims: bool = True) -> Claims:
    """
    What a token says. With `has_all_claims`, a missing claim says that the user has no such field, or no roles. Without
    it, as for an ID token, a missing claim says nothing.
    """
    issuer, claims = token.issuer, token.claims
    says_roles = has_all_claims or any(
        claim(claims, path) is not None for path in (issuer.claims.roles, issuer.claims.moderates)
    )
    said = {field: claim(claims, getattr(issuer.claims, path)) for field, path in mapped(issuer).items()}
    return Claims(
        subject=Subject(issuer.name, token.subject),
        name=_text(claim(claims, issuer.claims.name)),
        issued_at=None if token.issued_at is None else round(token.issued_at * 1000),
        profile={field: _text(value) for field, value in said.items() if has_all_claims or value is not None},
        roles=roles_of(issuer, claims) if issuer.maps_roles and says_roles else None,
    )


def mapped(issuer: Issuer) -> dict[str, str]:
    """The fields of a user that an issuer says, and what the file calls their paths."""
    return {field: path for field, path in FIELDS.items() if getattr(issuer.claims, path) is not None}


def identified(token: Token, username: str, now: int) -> Identified:
    """
    The user of a token that is accepted `now` (unix milliseconds). The result expires when the token does. If that time
    is over already, it expires at the end of the issuer's leeway.
    """
    ends = round(token.expires_at * 1000)
    if ends <= now:
        ends += token.issuer.leeway * 1000
    at = instant(token.claims, "auth_time")
    return Identified(username, token.issuer.name, expires_at=ends, authenticated_at=round(at * 1000) if at else 0)


def roles_of(issuer: Issuer, claims: Mapping[str, Any]) -> frozenset[str]:
    """The roles that claims give, as words: `moderator` or `admin` of the site, `moderator:NAME` of a group."""
    held = set(_texts(claim(claims, issuer.claims.roles)))
    words = set()
    if held & set(issuer.roles.moderator):
        words.add(Role.MODERATOR.value)
    if issuer.admin and held & set(issuer.roles.admin):
        words.add(Role.ADMIN.value)
    for name in list(_texts(claim(claims, issuer.claims.moderates)))[:MOST_GROUPS]:
        try:
            words.add(f"{Role.MODERATOR.value}:{validation.group(name.removeprefix('/'), 'group')}")
        except Invalid:
            continue
    return frozenset(words)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> Iterable[str]:
    listed = value.split() if isinstance(value, str) else value
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
