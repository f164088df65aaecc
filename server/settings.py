"""The settings, read once at start from environment variables that begin with UPVOTE_."""

import os
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from server.errors import CommandError
from server.managed_valkey.disk import RESERVE
from store.client.tracking_cache import DEFAULT_CACHED_KEYS
from store.keys import SLOTS
from store.ranking.formulas import DAY, WEIGHTS, Order, Policy

PREFIX = "UPVOTE_"
MAX_SHOWN = 100  # characters of a value that cannot be used
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/,\s]+")


def _power_of_two(count: int) -> int:
    if count & (count - 1):
        raise ValueError("this is a power of two")
    return count


def _origins(text: str) -> str:
    if not all(ORIGIN.fullmatch(origin) for origin in _listed(text)):
        raise ValueError("an origin is written like https://example.com")
    return text


def _addresses(text: str) -> str:
    for address in _listed(text):
        ip_address(address)
    return text


def _orders(text: str) -> str:
    names = {order.name for order in Order}
    if not _listed(text) or not names.issuperset(_listed(text)):
        raise ValueError(f"orders are {', '.join(order.name for order in Order)}")
    return text


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _route(url: str) -> str:
    from store.client import urls  # it takes its time, and a Valkey of our own has none

    urls.parse(url)
    return url


class WrongSetting(CommandError):
    """The message names the setting."""


class Settings(BaseModel):
    """Each setting's description stands in the README too; a test compares them."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    host: str = Field("127.0.0.1", description="the address to listen at")
    port: int = Field(8000, ge=0, le=65_535, description="the port to listen at; 0 takes a free one")
    redis_url: Annotated[str, AfterValidator(_route)] | None = Field(
        None, description="a Redis or Valkey that runs already, in place of our own"
    )
    confirming_replicas: int = Field(
        0, ge=0, description="how many replicas have a write before it is answered; not with a Valkey of our own"
    )
    data_dir: Path = Field(Path("data"), description="where our own Valkey keeps its data")
    durability: Literal["everysec", "always"] = Field(
        "everysec",
        description="when a write is on the disk of our own Valkey: within a second, or `always` before it is answered",
    )
    disk_reserve: int = Field(
        RESERVE, ge=0, description="with how many bytes of room left on the disk our own Valkey refuses writes"
    )
    partitions: Annotated[int, AfterValidator(_power_of_two)] | None = Field(
        None, ge=1, le=SLOTS, description="how many shares a new store has: a power of two; 1 unless given"
    )
    voting_window: int = Field(7 * DAY, ge=1, description="how long an article can be voted on, in seconds")
    good_votes: int = Field(200, ge=1, description="how many votes make an article good")
    vote_score: float = Field(DAY / 200, gt=0, allow_inf_nan=False, description="how many seconds a vote is worth")
    hot_seconds: float = Field(
        45_000, gt=0, allow_inf_nan=False, description="how many seconds ten times the votes make up for in `HOT`"
    )
    best_z: float = Field(
        1.281551565545, gt=0, le=10, description="how sure `BEST` is, in standard deviations: 80 % unless given"
    )
    gravity_votes: float = Field(0.8, gt=0, le=10, description="exponent of the votes in `GRAVITY`")
    gravity_age: float = Field(1.8, gt=0, le=10, description="exponent of the age in `GRAVITY`")
    gravity_delay: float = Field(120, gt=0, le=1e6, description="how many minutes `GRAVITY` adds to every age")
    orders: Annotated[str, AfterValidator(_orders)] | None = Field(
        None, description="which orders a new store keeps, and `reindex`: names, separated by commas; all unless given"
    )
    session_ttl: int = Field(DAY, ge=1, description="how long an unused session lasts, in seconds")
    workers: int = Field(1, ge=1, description="how many processes answer")
    cache: int = Field(
        DEFAULT_CACHED_KEYS,
        ge=0,
        description="how many articles and users a process keeps in memory, as long as they are true",
    )
    cache_mb: int = Field(
        128, ge=48, description="how many megabytes all caches of a process hold at most, those articles and users too"
    )
    max_connections: int = Field(1_000, ge=1, description="how many connections a process has at once")
    max_address_connections: int = Field(
        100, ge=1, description="how many of them an address has, unless it is a trusted proxy or rate limits are off"
    )
    max_answer: int = Field(10_000_000, ge=100_000, description="how many bytes an answer has at most")
    max_unread: int = Field(
        25_000_000, ge=100_000, description="how many bytes of answers wait until a connection reads them"
    )
    max_address_unread: int = Field(
        50_000_000,
        ge=100_000,
        description="how many wait for all connections of an address, but of trusted proxies, or with rate limits off",
    )
    trusted_proxies: Annotated[str, AfterValidator(_addresses)] | None = Field(
        None, description="whose `X-Forwarded-For` is believed: addresses of proxies, separated by commas"
    )
    rate_limits: Literal["on", "off"] = Field("on", description="`off` switches all rate limits off")
    rate_points: int = Field(1_000, ge=1, description="how many points of cost an address, or a user, has in store")
    rate_points_back: float = Field(50, gt=0, allow_inf_nan=False, description="how many points come back in a second")
    rate_posts: int = Field(10, ge=1, description="how many articles a user may post in 10 minutes")
    rate_posts_a_day: int = Field(100, ge=1, description="how many articles a user may post in a day")
    rate_registrations: int = Field(50, ge=1, description="how many users may register from an address in an hour")
    rate_ranking_places: int = Field(
        2_000,
        ge=100,
        description="how many places the different rankings have that an address watches at once, 50 each at least",
    )
    introspection: Literal["on", "off"] = Field("on", description="`off` answers no questions about the schema itself")
    allowed_origins: Annotated[str, AfterValidator(_origins)] | None = Field(
        None, description="whose pages may ask here besides our own: origins, separated by commas"
    )
    trusted_documents: Path | None = Field(
        None, description="a file of trusted documents, as graphql-codegen or Relay's compiler writes it"
    )
    only_trusted: Literal["on", "off"] = Field("off", description="`on` refuses all documents that are not trusted")
    log_level: Literal["info", "warning", "error"] = Field(
        "info", description="the least level that is logged; `info` has a line for each operation"
    )
    log_format: Literal["json", "console"] | None = Field(
        None, description="`json` or `console`; unless given, console at a terminal and JSON elsewhere"
    )

    @property
    def policy(self) -> Policy:
        return Policy(self.good_votes, voting_window=self.voting_window, **self.weights)

    @property
    def weights(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in WEIGHTS}

    @property
    def kept_orders(self) -> list[Order]:
        names = _listed(self.orders or "")
        return [order for order in Order if order.name in names] if names else list(Order)

    @property
    def origins(self) -> list[str]:
        return _listed(self.allowed_origins or "")

    @property
    def proxies(self) -> frozenset[str]:
        return frozenset(_listed(self.trusted_proxies or ""))

    def environment(self) -> dict[str, str]:
        """What a process of ours reads these settings from."""
        return {PREFIX + name.upper(): str(value) for name, value in self if value is not None}


def read_settings(**given: Any) -> Settings:
    """
    The settings that the environment gives, or the command line in place of it.

    Raises:
        WrongSetting: a value cannot be used, or there is no such setting.
    """
    known = {PREFIX + name.upper(): name for name in Settings.model_fields}
    found = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    if unknown := sorted(found.keys() - known):
        raise WrongSetting(f"{unknown[0]}: there is no such setting")
    try:
        of_environment = {known[name]: value for name, value in found.items()}
        return Settings(**of_environment | {name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        fault = error.errors()[0]
        name = PREFIX + str(fault["loc"][0]).upper()
        shown = "" if name == f"{PREFIX}REDIS_URL" else f"={str(fault['input'])[:MAX_SHOWN]}"  # it may have a password
        raise WrongSetting(f"{name}{shown}: {fault['msg']}") from error
