"""The settings, read once at start from environment variables with the prefix UPVOTE_."""

import os
from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from server import setting_checks
from server.errors import CommandError
from server.managed_valkey.disk import RESERVE
from server.public_url import check_public_url
from server.setting_checks import NO_DATABASE, listed
from server.site_orders import FRONT, MOST_SHOWN, SiteOrders
from server.trusted import AllowedOrigins, TrustedProxies, is_same_site
from store.client.tracking_cache import DEFAULT_CACHED_KEYS
from store.keys import SLOTS
from store.offers import Offers, Registration, VoterReaders
from store.ranking.formulas import DAY, WEIGHTS, Order, Policy
from store.site import MAX_MENTIONS, WOKEN_COMMENTS

PREFIX = "UPVOTE_"
MAX_POINTS = 10**9  # that a client saves up, and gains per second: GraphQL's integers have 32 bits
YEAR = 365 * DAY  # seconds
SECRET_SETTINGS = tuple(  # whose values no message shows: they may contain passwords
    f"{PREFIX}{name}" for name in ("REDIS_URL", "DATABASE_URL", "CHECK_URL", "CHECK_SECRET", "SMTP_URL")
)
DATABASE_FILE = "upvote.db"  # in the data directory
DELETIONS_FILE = "deletions.jsonl"  # users who were deleted, in the data directory: a restore deletes them again
SITE_FOLDER = "site"  # in the data directory
MAX_DAYS = 36_500  # a hundred years
MAX_SHOWN = 100  # characters of an invalid value


class WrongSetting(CommandError):
    """A setting is unknown or has an invalid value. The message names it."""


class Settings(BaseModel):
    """docs/settings.md has a table of these descriptions; a test compares them."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65_535, description="Port to listen on; 0 chooses a free one.")
    public_url: Annotated[str, AfterValidator(check_public_url)] | None = Field(
        None,
        description="Address under which clients reach the server, such as `https://example.com` or with a path, for "
        "[feeds, sitemaps and canonical links](syndication.md); by default scheme and host of the request.",
    )
    site_name: Annotated[str, AfterValidator(setting_checks.one_line)] = Field(
        "Upvote", min_length=1, max_length=100, description="Name of the community, in titles of pages and feeds."
    )
    reader: Literal["on", "off"] = Field(
        "on", description="`off` leaves out the site's [pages](reader.md); `/` then leads browsers to the explorer."
    )
    redis_url: Annotated[str, AfterValidator(setting_checks.redis_url)] | None = Field(
        None, description="URL of a running Redis or Valkey, instead of the managed Valkey."
    )
    database_url: Annotated[str, AfterValidator(setting_checks.database_url)] | None = Field(
        None,
        description="SQL database that mirrors the store: `sqlite:///PATH`, `postgresql://USER:PASSWORD@HOST/NAME`, or "
        "`none`. By default `upvote.db` in the data directory, and `none` with `UPVOTE_REDIS_URL`.",
    )
    confirming_replicas: int = Field(
        0,
        ge=0,
        description="Number of replicas that must confirm a write before it is answered. Not with the managed Valkey.",
    )
    data_dir: Path = Field(Path("data"), description="Data directory of the managed Valkey.")
    site_dir: Path | None = Field(
        None,
        description="Folder of what is the [site's own](site.md): theme, logo, pages; by default `site` in the data "
        "directory.",
    )
    site_language: Annotated[str, AfterValidator(setting_checks.language)] = Field(
        "en",
        description="Language of the pages where an address names none by `?lang=`: `de`, `en`, or one for which the "
        "folder of the site has [a file](translating.md).",
    )
    durability: Literal["everysec", "always"] = Field(
        "everysec",
        description="When the managed Valkey syncs writes: `everysec` within a second, `always` before answers.",
    )
    disk_reserve: int = Field(
        RESERVE, ge=0, description="Free disk space in bytes below which the managed Valkey refuses writes."
    )
    partitions: Annotated[int, AfterValidator(setting_checks.power_of_two)] | None = Field(
        None, ge=1, le=SLOTS, description="Number of partitions of a new store, a power of two; 1 by default."
    )
    voting_window: int = Field(
        7 * DAY, ge=1, description="Seconds after posting during which an article or a comment can be voted on."
    )
    duplicate_window: int = Field(
        30 * DAY,
        ge=0,
        description="Seconds in which a later post of the same link has an article as `duplicateOf`; 0 turns it off.",
    )
    good_votes: int = Field(
        200,
        ge=1,
        description="Number of votes from which an article is good: `frontPage` and the page `/good` list it.",
    )
    vote_score: float = Field(
        DAY / 200, gt=0, allow_inf_nan=False, description="Seconds that a vote adds to the score of an article."
    )
    hot_seconds: float = Field(
        45_000, gt=0, allow_inf_nan=False, description="Seconds of age that ten times the votes make up for in `HOT`."
    )
    best_z: float = Field(
        1.281551565545, gt=0, le=10, description="Confidence of `BEST` in standard deviations; the default is 80 %."
    )
    gravity_votes: float = Field(0.8, gt=0, le=10, description="Exponent of the votes in `GRAVITY`.")
    gravity_age: float = Field(1.8, gt=0, le=10, description="Exponent of the age in `GRAVITY`.")
    gravity_delay: float = Field(120, gt=0, le=1e6, description="Minutes that `GRAVITY` adds to each age.")
    orders: Annotated[str, AfterValidator(setting_checks.orders)] | None = Field(
        None, description="Orders of a new store, and of `reindex`, separated by commas; all by default."
    )
    front_order: Annotated[str, AfterValidator(setting_checks.front_order)] | None = Field(
        None,
        description="Order of the [front page](reader.md#orders-of-the-pages), of groups and of home where an address "
        "names none; `HOT` by default, or the first one of a store that lacks it.",
    )
    site_orders: Annotated[str, AfterValidator(setting_checks.shown_orders)] | None = Field(
        None,
        description="Orders that [pages show](reader.md#orders-of-the-pages), separated by commas, at most four with "
        'that of the front page; all others are below "More". By default `HOT,TIME,ACTIVE,BEST`.',
    )
    reserved_names: Annotated[str, AfterValidator(setting_checks.usernames)] | None = Field(
        None,
        description="Usernames that nobody may register, and names of groups that only admins make, separated by "
        "commas, beside `admin`, `moderator`, `root`, `support`, the name of the site, and "
        "[others](errors.md#usernames).",
    )
    groups: Literal["open", "listed"] = Field(
        "open",
        description="`open`: a group is there as soon as an article is posted to it. `listed`: articles are added only "
        "to [groups that an admin has made](groups.md#listed-groups).",
    )
    rules: Path | None = Field(
        None,
        description="TOML file of the [rules](rules.md) by which texts and votes are held, hidden or refused without a "
        "moderator; by default there are none.",
    )
    issuers: Path | None = Field(
        None,
        description="TOML file of the [issuers](issuers.md) whose tokens are accepted, and by which users log in; by "
        "default there are none.",
    )
    login_url: Annotated[str, AfterValidator(setting_checks.http_url)] | None = Field(
        None,
        description="Address of the site's own page to log in, which calls `logInWithToken`: the reader "
        "[leads there](issuers.md#the-front-door).",
    )
    check_url: Annotated[str, AfterValidator(setting_checks.http_url)] | None = Field(
        None,
        description="Address of a [service that checks texts](rules.md#a-service-that-checks-texts): it gets each new "
        "or edited text, and may hold or refuse it. Needs `UPVOTE_CHECK_SECRET`.",
    )
    check_secret: Annotated[str, AfterValidator(setting_checks.webhook_secret)] | None = Field(
        None,
        description="Secret with which requests to `UPVOTE_CHECK_URL` are signed: `whsec_` and 24 to 64 bytes in "
        "base64.",
    )
    webhooks: Literal["on", "off"] = Field(
        "on",
        description="`off`: this server sends no [webhooks](webhooks.md), and leaves their changes in the log. For a "
        "copy of a site that must not reach the receivers of the original.",
    )
    admin: Annotated[str, AfterValidator(setting_checks.username)] | None = Field(
        None,
        description="Username of the [first administrator](accounts.md#the-first-administrator): a start makes the "
        "account if nobody has the name, and prints a link that is good once. Nobody else is ever made an admin by it.",
    )
    registration: Literal["open", "invited", "closed"] = Field(
        "open",
        description="[Who may register](accounts.md#who-may-register): everybody, those with an invitation, or nobody.",
    )
    passwords: Literal["on", "off"] = Field(
        "on",
        description="`off`: the site has no passwords of its own. `register`, `logIn`, `changePassword` and resets are "
        "`NOT_OFFERED`.",
    )
    voters: Literal["everybody", "moderators", "nobody"] = Field(
        "everybody",
        description="Who reads [the list of those who voted an article up](queries.md#voters): everybody, the "
        "moderators of the site and of the groups of the article, or nobody. Who voted down is never shown.",
    )
    fetch_titles: Literal["on", "off"] = Field(
        "off",
        description="`on`: [`linkTitle`](queries.md#titles-of-links) reads the page behind a link, to suggest its "
        "title to who posts it. Only pages on the public internet are read.",
    )
    avatar_hosts: Annotated[str, AfterValidator(setting_checks.hosts)] | None = Field(
        None,
        description="Hosts, separated by commas, whose pictures of users the site's pages show, such as "
        "`pictures.example.com`; by default pages draw them.",
    )
    mail_from: Annotated[str, AfterValidator(setting_checks.mail_sender)] | None = Field(
        None, description="Sender of [mails](mail.md), such as `Upvote <noreply@example.com>`."
    )
    smtp_url: Annotated[str, AfterValidator(setting_checks.smtp_url)] | None = Field(
        None,
        description="Server that takes [mails](mail.md): `smtp://USER:PASSWORD@HOST:PORT`, with STARTTLS where it is "
        "offered, or `smtps://` for TLS from the start. Needs `UPVOTE_PUBLIC_URL` and `UPVOTE_MAIL_FROM`; by default "
        "no mail is sent.",
    )
    mails_a_day: int = Field(10_000, ge=1, le=100_000, description="Maximum number of mails of the site in a day.")
    session_ttl: int = Field(
        30 * DAY,
        ge=1,
        description="Seconds after which an unused session expires. However often it is used, it lasts a year at most.",
    )
    mentions: int = Field(
        MAX_MENTIONS,
        ge=0,
        le=100,
        description="Maximum number of users whom one article or comment notifies by mentioning them.",
    )
    comment_days: int | None = Field(
        None,
        ge=1,
        le=MAX_DAYS,
        description="Days after which an article takes no [comments](comments.md#refusals) any more; by default it "
        "always does.",
    )
    workers: int = Field(1, ge=1, description="Number of worker processes.")
    cache: int = Field(
        DEFAULT_CACHED_KEYS,
        ge=0,
        description="Number of articles, comments and users that a process caches.",
    )
    cache_mb: int = Field(128, ge=48, description="Size limit in megabytes of all caches of a process together.")
    max_connections: int = Field(1_000, ge=1, description="Maximum number of connections per process.")
    max_address_connections: int = Field(
        200,
        ge=1,
        description="Maximum number of connections per address; no limit for trusted proxies or with rate limits off.",
    )
    max_answer: int = Field(10_000_000, ge=100_000, description="Maximum size of a response in bytes.")
    max_unread: int = Field(
        25_000_000, ge=100_000, description="Maximum size in bytes of the responses that a connection has not read yet."
    )
    max_address_unread: int = Field(
        50_000_000,
        ge=100_000,
        description="The same for all connections of an address; no limit for trusted proxies or without rate limits.",
    )
    trusted_proxies: Annotated[str, AfterValidator(setting_checks.addresses)] | None = Field(
        None,
        description="Addresses and networks of proxies whose `X-Forwarded-For`, `-Host` and `-Proto` are "
        "trusted, such as `10.0.0.0/8`, separated by commas.",
    )
    ipv6_prefix: int = Field(
        64,
        ge=16,
        le=128,
        description="Leading bits of an IPv6 address that limits by address count: by default all addresses of "
        "a /64, which is one customer's, are one.",
    )
    rate_limits: Literal["on", "off"] = Field("on", description="`off` disables all rate limits.")
    rate_points: int = Field(
        10_000,
        ge=1,
        le=MAX_POINTS,
        description="Cost points that a user can save up; requests with a session take from these.",
    )
    rate_points_back: float = Field(
        1_000, ge=1e-6, le=MAX_POINTS, description="Cost points that a user gains per second."
    )
    rate_address_points: int | None = Field(
        None,
        ge=1,
        le=MAX_POINTS,
        description="Cost points that an address can save up, for requests without a session; by default twice those "
        "of a user.",
    )
    rate_address_points_back: float | None = Field(
        None,
        ge=1e-6,
        le=MAX_POINTS,
        description="Cost points that an address gains per second; by default twice those of a user.",
    )
    rate_key_points: int = Field(
        100_000,
        ge=1,
        le=MAX_POINTS,
        description="Cost points that a [server key](errors.md#server-keys), which a server of the site sends, can "
        "save up, for requests with this key and without a session.",
    )
    rate_key_points_back: float = Field(
        10_000, ge=1e-6, le=MAX_POINTS, description="Cost points that a server key gains per second."
    )
    rate_posts: int = Field(10, ge=1, description="Maximum number of posts per user in 10 minutes.")
    rate_posts_a_day: int = Field(100, ge=1, description="Maximum number of posts per user in a day.")
    rate_comments: int = Field(30, ge=1, description="Maximum number of comments per user in 10 minutes.")
    rate_comments_a_day: int = Field(500, ge=1, description="Maximum number of comments per user in a day.")
    rate_flags_a_day: int = Field(20, ge=1, description="Maximum number of flags per user in a day.")
    rate_mails: int = Field(
        3,
        ge=1,
        description="Maximum number of [mails](mail.md#limits) in an hour: to an address, to a user, and those that an "
        "address asks for.",
    )
    rate_mails_a_day: int = Field(10, ge=1, description="The same in a day.")
    rate_registrations: int = Field(50, ge=1, description="Maximum number of registrations per address in an hour.")
    rate_removals: int = Field(200, ge=1, description="Maximum number of removals and bans per moderator in an hour.")
    rate_ranking_places: int = Field(
        2_000,
        ge=100,
        description="Maximum number of ranking places that an address subscribes to, at least 50 for each ranking.",
    )
    introspection: Literal["on", "off"] = Field(
        "on",
        description="`off` hides the schema: no introspection, no `/schema.graphql`, and no names that errors suggest.",
    )
    allowed_origins: Annotated[str, AfterValidator(setting_checks.origins)] | None = Field(
        None,
        description="Allowed CORS origins, separated by commas, as browsers send them; the port may be `*`, as in "
        "`http://localhost:*`.",
    )
    cookie_origins: Annotated[str, AfterValidator(setting_checks.exact_origins)] | None = Field(
        None,
        description="Further origins of the same site, separated by commas, whose pages may use the "
        "[cookie](sessions.md#the-cookie) of a session; they are allowed CORS origins, too.",
    )
    cache_seconds: int = Field(
        0,
        ge=0,
        le=YEAR,
        description="Seconds for which shared caches, such as a CDN, may serve the response to a GET without a "
        "session; with 0 they ask each time.",
    )
    compress: Literal["on", "off"] | None = Field(
        None,
        description="`on` compresses responses over 1 kB with gzip for clients that accept it; by default `off` with "
        "trusted proxies, which can do that, and else `on`.",
    )
    trusted_documents: Path | None = Field(
        None, description="File of trusted documents, in the format of graphql-codegen or Relay's compiler."
    )
    only_trusted: Literal["on", "off"] = Field("off", description="`on` refuses all documents that are not trusted.")
    hot_articles: int = Field(
        1_000_000,
        ge=0,
        description="Number of articles that stay in Redis. The oldest beyond it are then in the [database]"
        "(database.md#the-archive) only; not while voting is open, and not without a database.",
    )
    hot_articles_per_user: int = Field(1_000, ge=0, description="The same for the articles of each user.")
    hot_days: int | None = Field(
        None,
        ge=2,
        le=MAX_DAYS,
        description="Days after which an article that has to leave Redis does so with its [comments]"
        "(database.md#the-archive), if nothing was written there meanwhile, and at least as long as votes are open; by "
        "default articles with comments stay.",
    )
    woken_comments: int = Field(
        WOKEN_COMMENTS,
        ge=0,
        description="Maximum number of comments that are back in Redis with their articles, which had left it and "
        "[came back](database.md#the-archive) for a comment, an edit or a deletion of a user.",
    )
    log_seconds: int = Field(
        3_600, ge=0, description="Seconds for which entries of the [log](log.md) are kept at least."
    )
    log_entries: int = Field(
        200_000,
        ge=1,
        description="Maximum number of entries in the log of a partition, also if a consumer has not taken them.",
    )
    log_level: Literal["info", "warning", "error"] = Field(
        "info", description="Minimum level of log lines; `info` includes one line per operation."
    )
    log_format: Literal["json", "console"] | None = Field(
        None, description="`json` or `console`; by default `console` on a terminal and `json` elsewhere."
    )

    @field_validator("site_orders")
    @classmethod
    def _few_with_that_of_the_front_page(cls, text: str | None, info: ValidationInfo) -> str | None:
        """In this check and the next ones, `info.data` has the settings that are declared earlier and are valid."""
        front = info.data.get("front_order") or FRONT
        if text is not None and len({front, *listed(text)}) > MOST_SHOWN:
            raise ValueError(f"at most {MOST_SHOWN} are shown, with {front}, which is that of the front page")
        return text

    @field_validator("check_secret")
    @classmethod
    def _needed_with_url(cls, secret: str | None, info: ValidationInfo) -> str | None:
        if secret is None and info.data.get("check_url"):
            raise ValueError("it is missing, as UPVOTE_CHECK_URL is set")
        return secret

    @field_validator("smtp_url")
    @classmethod
    def _needs_sender_and_address(cls, url: str | None, info: ValidationInfo) -> str | None:
        for needed in ("public_url", "mail_from"):
            if url is not None and info.data.get(needed) is None:
                raise ValueError(f"mails need UPVOTE_{needed.upper()}, which is missing or wrong")
        return url

    @field_validator("cookie_origins")
    @classmethod
    def _of_the_same_site(cls, text: str | None, info: ValidationInfo) -> str | None:
        url = info.data.get("public_url")
        for origin in listed(text or ""):
            if url and not is_same_site(origin, url):
                raise ValueError(
                    f"{origin} is not of the same site as UPVOTE_PUBLIC_URL: browsers send no cookie from there"
                )
        return text

    @property
    def policy(self) -> Policy:
        return Policy(
            good_votes=self.good_votes,
            voting_window=self.voting_window,
            duplicate_window=self.duplicate_window,
            **self.weights,
        )

    @property
    def weights(self) -> dict[str, float]:
        """The constants of the ranking formulas, by the names of their settings."""
        return {name: getattr(self, name) for name in WEIGHTS}

    @property
    def kept_orders(self) -> list[Order]:
        """The orders that a new store, or `reindex`, builds indexes for."""
        names = listed(self.orders or "")
        return [order for order in Order if order.name in names] if names else list(Order)

    @property
    def orders_of_pages(self) -> SiteOrders:
        """What the operator has chosen of the orders that pages show."""
        return SiteOrders(self.front_order or "", tuple(listed(self.site_orders or "")))

    @property
    def names_of_the_site(self) -> list[str]:
        """Names that nobody may register, beside those that are reserved on every site."""
        return [*listed(self.reserved_names or ""), self.site_name]

    @property
    def offers(self) -> Offers:
        """Which features this site offers, of those that not all sites have, such as registration and passwords."""
        return Offers(
            registration=Registration(self.registration),
            has_passwords=self.passwords == "on",
            avatar_hosts=tuple(listed(self.avatar_hosts or "")),
            voters=VoterReaders(self.voters),
        )

    @property
    def site_folder(self) -> Path:
        return self.site_dir or self.data_dir / SITE_FOLDER

    @property
    def database(self) -> str | None:
        """The URL of the database; None if there is none."""
        if self.database_url is not None:
            return None if self.database_url == NO_DATABASE else self.database_url
        return None if self.redis_url else f"sqlite:///{(self.data_dir / DATABASE_FILE).absolute()}"

    @property
    def compresses(self) -> bool:
        return self.compress == "on" if self.compress else not self.trusted_proxies

    @property
    def origins(self) -> AllowedOrigins:
        """The origins whose pages may read responses."""
        return AllowedOrigins([*listed(self.allowed_origins or ""), *self.origins_with_cookies])

    @property
    def origins_with_cookies(self) -> list[str]:
        """The allowed origins whose requests may use the cookie of a session, beside the site's own."""
        return listed(self.cookie_origins or "")

    @property
    def proxies(self) -> Container[str]:
        return TrustedProxies(listed(self.trusted_proxies)) if self.trusted_proxies else ()

    def environment(self) -> dict[str, str]:
        """Environment variables from which a worker process reads the same settings."""
        return {PREFIX + name.upper(): str(value) for name, value in self if value is not None}


def read_settings(**given: Any) -> Settings:
    """
    Read the settings from the environment. Values of the command line take precedence.

    Raises:
        WrongSetting: a value is invalid, or there is no such setting.
    """
    known = {PREFIX + name.upper(): name for name in Settings.model_fields}
    found = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    if unknown := sorted(found.keys() - known):
        raise WrongSetting(f"{unknown[0]}: there is no such setting")
    try:
        from_environment = {known[name]: value for name, value in found.items()}
        return Settings(**from_environment | {name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        fault = error.errors()[0]
        name = PREFIX + str(fault["loc"][0]).upper()
        shown = "" if name in SECRET_SETTINGS else f"={str(fault['input'])[:MAX_SHOWN]}"  # it may contain a password
        raise WrongSetting(f"{name}{shown}: {reason(fault)}") from error


def reason(fault: ErrorDetails) -> str:
    """What is wrong with a value, without the prefix that pydantic adds to the message of a ValueError."""
    return str(fault["ctx"]["error"]) if fault["type"] == "value_error" else fault["msg"]
