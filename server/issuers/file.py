"""
The issuers of a site, services at which its users log in, in one TOML file, which is read once at the start: whose
tokens are accepted, by which keys, and what their claims (the fields of a token) say of users.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from ada_url import check_url
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from store.identities import ISSUER

MAX_LEEWAY = 300  # seconds
SECRET_LENGTHS = range(32, 1025)  # bytes of a shared secret: RFC 7518 asks for as many as SHA-256 has
MAX_SHOWN = 60  # characters of a name in the file that a message shows

Algorithm: TypeAlias = Literal["RS256", "ES256", "EdDSA", "HS256"]
ClaimPath: TypeAlias = tuple[str, ...]  # the names of the objects that lead to a claim, and its own


class WrongIssuers(ValueError):
    """The file cannot be read as issuers. The message names the file, the path in it and the reason."""


def _path(value: object) -> object:
    """The path of a claim: a text with dots, or a list of the names on the way, which may have dots."""
    parts = value.split(".") if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError('it is the path of a claim, such as "realm_access.roles" or ["https://example.com/roles"]')
    return tuple(parts)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _url(url: str) -> str:
    if not check_url(url) or not url.startswith(("http://", "https://")):
        raise ValueError("it is not a URL with http or https")
    return url


URL: TypeAlias = Annotated[str, AfterValidator(_url)]


class _Table(BaseModel):
    """A table of the file. Names that its class does not declare are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class ClaimPaths(_Table):
    """Where the claims are that say something of a user. Without a path, the issuer does not say it."""

    id: ClaimPath = ("sub",)
    name: ClaimPath | None = None
    display_name: ClaimPath | None = None
    about: ClaimPath | None = None
    avatar: ClaimPath | None = None
    roles: ClaimPath | None = None
    moderates: ClaimPath | None = None  # names of groups

    _paths = field_validator("*", mode="before")(_path)


class GivenRoles(_Table):
    """The values of the claim `roles` that make somebody a moderator or an admin of the site."""

    moderator: tuple[str, ...] = ()
    admin: tuple[str, ...] = ()

    _listed = field_validator("*", mode="before")(lambda value: tuple(value) if isinstance(value, list) else value)


class Issuer(_Table):
    """
    An issuer, as its table in the file says: docs/issuers.md describes each field. The store keeps the identities of
    its users by `name`; `issuer` is the claim `iss` of its tokens.

    One of four fields gives the keys that its tokens are signed by: `discovery`, `jwks_url` and `jwks_file` say where
    they are, and `secrets` has them by their ids.
    """

    name: str
    issuer: str = Field(min_length=1, max_length=500)
    audience: frozenset[str]
    audience_claim: Literal["aud", "azp", "client_id"] = "aud"
    algorithms: frozenset[Algorithm]
    token_use: str | None = None  # what this claim of a token must be; None allows any
    typ: str | None = None  # the same of the claim `typ`, or else of the header's `typ`
    leeway: int = Field(60, ge=0, le=MAX_LEEWAY)  # seconds by which its clock may differ from that of this server
    discovery: URL | None = None
    jwks_url: URL | None = None
    jwks_file: Path | None = None
    secrets: Mapping[str, str] | None = Field(None, repr=False)
    private: bool = False  # its URLs may have http, and lead into a private network
    claims: ClaimPaths = ClaimPaths()
    roles: GivenRoles = GivenRoles()
    admin: bool = False  # it may make admins
    client_id: str | None = None  # of this site at the issuer: with it, browsers can log in there
    client_secret: str | None = Field(None, repr=False)
    scopes: tuple[str, ...] = ("openid", "profile")

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        if not ISSUER.fullmatch(name):
            raise ValueError("a name is 1 to 32 of a-z, 0-9 and -")
        return name

    @field_validator("audience", "algorithms", mode="before")
    @classmethod
    def _not_empty(cls, value: object) -> object:
        listed = _as_list(value)
        if not isinstance(listed, list) or not listed or not all(isinstance(each, str) and each for each in listed):
            raise ValueError("it is a text or a list of texts, and not empty")
        return frozenset(listed)

    @field_validator("scopes", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("jwks_file", mode="before")
    @classmethod
    def _file(cls, value: object) -> object:
        return Path(value) if isinstance(value, str) and value else value

    @field_validator("secrets")
    @classmethod
    def _long_secrets(cls, secrets: Mapping[str, str] | None) -> Mapping[str, str] | None:
        for id, secret in (secrets or {}).items():
            if len(secret.encode()) not in SECRET_LENGTHS:
                shortest, longest = SECRET_LENGTHS[0], SECRET_LENGTHS[-1]
                raise ValueError(f"the secret {id[:MAX_SHOWN]!r} must have {shortest} to {longest} bytes")
        if secrets == {}:
            raise ValueError("it has no secrets")
        return secrets

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        sources = {"discovery", "jwks_url", "jwks_file", "secrets"}
        given = [name for name in sorted(sources) if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"one of {', '.join(sorted(sources))} says where its keys are, and not {len(given)}")
        signs_with_secrets = "HS256" in self.algorithms
        if signs_with_secrets != (self.secrets is not None) or (signs_with_secrets and len(self.algorithms) > 1):
            raise ValueError('secrets are for algorithms = ["HS256"], and HS256 is for nothing else')
        for name in ("discovery", "jwks_url"):
            if not self.private and (getattr(self, name) or "").startswith("http:"):
                raise ValueError(f"{name} has http, which is for addresses in private networks only: private = true")
        if self.roles.admin and not self.admin:
            raise ValueError("roles.admin needs admin = true")
        if (self.roles.admin or self.roles.moderator) and self.claims.roles is None:
            raise ValueError("roles need the path claims.roles")
        if self.client_id is not None and self.discovery is None:
            raise ValueError("client_id needs discovery, which says where users log in")
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("client_secret needs client_id")
        if "openid" not in self.scopes:
            raise ValueError('scopes need "openid": without it, an issuer gives no ID token')
        return self

    @property
    def maps_roles(self) -> bool:
        """Whether its tokens say who is a moderator or an admin."""
        return self.claims.roles is not None or self.claims.moderates is not None

    @property
    def is_remote(self) -> bool:
        """Whether its keys are fetched from a provider."""
        return self.discovery is not None or self.jwks_url is not None


class Issuers(_Table):
    """
    What a file of issuers says. The keys by which an issuer signs tokens are fetched again after `keys_hours` at most;
    while it does not answer, the old ones are used for up to `keys_hours_away`.
    """

    issuers: tuple[Issuer, ...] = Field(min_length=1, max_length=50)
    keys_hours: int = Field(24, ge=1, le=24 * 30)
    keys_hours_away: int = Field(72, ge=1, le=24 * 30)

    @field_validator("issuers", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, list):
            raise ValueError("it is not a list of tables: write [[issuers]]")
        return tuple(value)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for field in ("name", "issuer"):
            values = [getattr(each, field) for each in self.issuers]
            if repeated := [value for value in values if values.count(value) > 1]:
                raise ValueError(f"two issuers have the {field} {repeated[0]}")
        if self.keys_hours_away < self.keys_hours:
            raise ValueError(f"keys_hours_away is {self.keys_hours_away}, and less than keys_hours")
        return self

    def named(self, name: str) -> Issuer | None:
        return next((each for each in self.issuers if each.name == name), None)


def read(path: Path) -> Issuers:
    """
    The issuers in a TOML file. A relative path of a `jwks_file` in it begins at the folder of this file.

    Raises:
        OSError: the file cannot be read.
        WrongIssuers: it is no TOML, or a key is unknown, missing or has a value that it cannot have.
    """
    try:
        found = Issuers.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        raise WrongIssuers(f"{path}: {_fault(error.errors()[0])}") from None  # the values may be secrets
    except ValueError as fault:
        raise WrongIssuers(f"{path}: {fault}") from None
    folder = path.absolute().parent
    placed = [
        each.model_copy(update={"jwks_file": folder / each.jwks_file}) if each.jwks_file else each
        for each in found.issuers
    ]
    return found.model_copy(update={"issuers": tuple(placed)})


def _fault(fault: ErrorDetails) -> str:
    where = _where(fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{where}: there is no such key"
    if fault["type"] == "missing":
        return f"{where}: it is missing"
    reason = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else fault["msg"]
    return f"{where}: {reason}" if where else reason


def _where(loc: Sequence[int | str]) -> str:
    """The path of a field in the file, such as `issuers[0].claims.name`, without the indexes of inner lists."""
    parts: list[str] = []
    for part in loc:
        if isinstance(part, int) and len(parts) == 1:
            parts[-1] += f"[{part}]"
        elif isinstance(part, str):
            parts.append(part[:MAX_SHOWN])
    return ".".join(parts)


def claim(claims: Mapping[str, Any], path: ClaimPath | None) -> Any:
    """The value of a claim; None if there is none."""
    value: Any = claims if path else None
    for part in path or ():
        value = value.get(part) if isinstance(value, dict) else None
    return value
