"""
The context of one request: its reads, its viewer, its time, and its cost.

The viewer is the logged-in user, if there is one. A server key is sent by another server, which asks for its own
visitors or reads the log of all changes.
"""

from asyncio import Future, ensure_future, shield
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import Any, ClassVar, Protocol, TypeVar

from strawberry.dataloader import DataLoader

from archive.write_back import Waker
from database.database import Database
from resolvers.dataloader import Reads
from resolvers.live import Live
from resolvers.rate_limits import RateLimit, WriteRates
from store import identities, roles
from store.articles import Posted
from store.client.client import RedisUsage, current_usage
from store.comments import Commented
from store.errors import Forbidden, Invalid, TokenRefused, Unauthenticated
from store.identities import Identified
from store.moderation import Moderated
from store.moderation_records import RoleGrant
from store.rate_limits import SlidingWindow
from store.records import Article, ContentState, Profile
from store.roles import Authority, read_authority
from store.sessions import parse_token
from store.site import Actor, Login, Session
from store.store import Store

Header = tuple[bytes, bytes]  # name and value
T = TypeVar("T")
R = TypeVar("R", Posted, Commented)
Batch = Callable[..., Awaitable[Sequence[Any]]]  # a batch resolver: resolves a field of many parents
DEFAULT_RATES = WriteRates()  # limits on how often a user or an address may write


class SessionEnded(Unauthenticated):
    """The token names no session any more, or never did. `extensions` say so in a response, or in this error."""

    extensions: ClassVar[dict[str, str]] = {"session": "ended"}


class Browser(Protocol):
    """
    Reads what a request says of the program that sends it, and makes its cookies. Each method takes the ASGI scope of
    the request.
    """

    def agent(self, scope: Any) -> str:
        """The family and the system of the program, such as `Firefox on Linux`; "" if it does not say."""
        ...

    def can_keep(self, scope: Any) -> bool:
        """Whether the response may set a cookie with a token."""
        ...

    def has_kept(self, scope: Any) -> bool:
        """Whether the token of the request comes from a cookie, which the response can remove."""
        ...

    def cookie(self, scope: Any, token: str | None) -> Header:
        """The header that sets the cookie, or removes it."""
        ...


class IssuerTokens(Protocol):
    """Accepts the tokens of issuers, services outside at which users log in, and finds their users."""

    async def user_of(self, token: str) -> Identified:
        """
        The user of a token.

        Raises:
            TokenRefused: it is not accepted, or has expired.
        """
        ...

    def mapped_fields(self, issuer: str) -> Collection[str]:
        """The fields of users, such as `display_name`, whose values an issuer gives."""
        ...


class LinkTitles(Protocol):
    """Reads the titles of the pages behind links."""

    async def title(self, link: str) -> str | None:
        """The title of a page; None if it has none, or cannot be read."""
        ...


class Context:
    """
    What the resolvers of one operation share: the store, the reads of this request, and the client that sent it.

    - `now`: the time of the request in unix milliseconds.
    - `live`: the source of events; without it subscriptions receive none.
    - `address`: the address of the client; without it writes are not rate-limited.
    - `database`: None if UPVOTE_DATABASE_URL is `none`.
    - `rates`: limits on writes. `read_rate_limit` returns how many points the client has left for the cost of requests.
    - `server_key`: the text that the client gave, not checked yet.
    - `browser` and `scope`: what the request says of the program that sends it, and whether that keeps cookies.
    - `identified`: the user of the request's token, if an issuer made it; `issuers` accepts tokens in inputs.
    - `titles`: reads the titles of links; None if the site does not.
    - `last_event_id`: the id of the last event that an EventSource received before it connected again.

    Equal requests with the same token may share one response as long as `is_shareable` is True. It becomes False when
    something is read in which such clients can differ: their address, a header, their points. Each property or method
    that reads one of these calls `_of_client`.
    """

    def __init__(
        self,
        store: Store,
        token: str | None = None,
        live: Live | None = None,
        address: str | None = None,
        rates: WriteRates | None = None,
        read_rate_limit: Callable[[], RateLimit] | None = None,
        database: Database | None = None,
        server_key: str | None = None,
        last_event_id: str = "",
        browser: "Browser | None" = None,
        scope: Any = None,
        identified: Identified | None = None,
        issuers: IssuerTokens | None = None,
        titles: LinkTitles | None = None,
    ) -> None:
        self.store = store
        self.database = database
        self.live = live or Live(store, database=database)
        self.titles = titles
        self._address = address
        self.rates = rates or DEFAULT_RATES
        self._last_event_id = last_event_id
        self._server_key, self._log_reader_checked_at = server_key, -inf
        self._browser, self._scope = browser, scope
        self._issuers = issuers
        self.response_headers: Sequence[Header] = ()
        self.usage = RedisUsage()
        current_usage.set(self.usage)
        self._read_rate_limit = read_rate_limit
        self.is_shareable = True
        self._expired_pins: list[str] = []
        self.refresh(token, identified)

    def refresh(self, token: str | None, identified: Identified | None) -> None:
        """Go on with another token of the same user, and discard everything that was read."""
        session = parse_token(token) if token else None
        self._use(session, identified)
        self._is_token_refused = bool(token) and session is None and identified is None

    @property
    def address(self) -> str | None:
        return self._of_client(self._address)

    @property
    def last_event_id(self) -> str:
        return self._of_client(self._last_event_id)

    def _of_client(self, value: T) -> T:
        """Return a value in which clients with the same token can differ."""
        self.is_shareable = False
        return value

    def clear(self) -> None:
        """Discard everything that was read."""
        self.now = self.store.site.clock()
        self.reads = Reads(self.store, self._login, self.database)
        self._batches: dict[Hashable, DataLoader[Any, Any]] = {}

    async def write(self, command: Awaitable[T]) -> T:
        """Run a command of the store. If it succeeds, discard everything that was read before it."""
        result = await command
        self.clear()
        return result

    async def within_limits(
        self, limits: Callable[[str, str], Sequence[SlidingWindow]], post: Callable[[], Awaitable[R]]
    ) -> R:
        """
        Post, and count it against the rate limits of the user and the address, if there is an address.

        Limits cost two round trips, and one more to take the count back if nothing new was posted.
        """
        actor, posted = self.actor(), None
        if self.address is None:
            return await post()
        username = await self.store.site.username(actor)
        counted = await self.store.attempts.count(limits(username, self.address))
        try:
            posted = await post()
            return posted
        finally:
            if posted is None or posted.replayed:
                await self.store.attempts.take_back(counted)

    def waker(self) -> Waker:
        """
        The user whose write wakes archived conversations: the viewer. A conversation, which is an article with its
        comments, is archived if only the database has it, and woken when it is brought back to Redis. How many a day is
        limited (`WriteRates.of_woken`), unless the request has no address.
        """
        return Waker(self.actor(), None if self.address is None else self.rates.of_woken)

    async def within_removal_limit(self, act: Callable[[Authority], Awaitable[Moderated]]) -> Moderated:
        """
        Remove or ban something as a moderator, and count it against the rate limit of moderators, if there is an
        address. The roles of the viewer are read before, in one round trip.

        The limit costs one round trip, and one more to take the count back if nothing was changed.
        """
        authority, result = await read_authority(self.store.site, self.actor()), None
        if self.address is None:
            return await self.write(act(authority))
        counted = await self.store.attempts.count(self.rates.of_removals(authority.username))
        try:
            result = await self.write(act(authority))
            return result
        finally:
            if result is None or not result.changed:
                await self.store.attempts.take_back(counted)

    async def user_of_token(self, token: str) -> Identified:
        """
        The user of the token of an issuer.

        Raises:
            TokenRefused: it is not accepted, has expired, or the site has no issuers.
        """
        if self._issuers is None:
            raise TokenRefused(reason="issuer")
        return await self._issuers.user_of(token)

    async def issuers_of_fields(self) -> dict[str, str]:
        """
        The fields of the viewer whose values an issuer gives, each with the name of the issuer. Two round trips if the
        site has issuers.
        """
        username = await self.viewer() if self._issuers else None
        if self._issuers is None or username is None:
            return {}
        subjects = await identities.subjects_of(self.store.site, username)
        return {field: each.issuer for each in subjects for field in self._issuers.mapped_fields(each.issuer)}

    def log_in(self, token: str) -> None:
        """Continue with a new session."""
        self._use(parse_token(token))

    def log_out(self) -> None:
        self._use(None)

    def agent(self) -> str:
        """The program that sends the request, and its system; "" if it does not say."""
        browser = self._of_client(self._browser)
        return browser.agent(self._scope) if browser and self._scope else ""

    def require_cookie(self) -> None:
        """
        Raises:
            Invalid: the response cannot set a cookie, or sets one already.
        """
        browser = self._of_client(self._browser)
        if browser is None or not self._scope or not browser.can_keep(self._scope):
            pages = "pages of UPVOTE_PUBLIC_URL and UPVOTE_COOKIE_ORIGINS"
            message = f"a cookie is for {pages} only, and not over WebSockets and streams"
            raise Invalid(message, "cookie")
        if self.response_headers:
            raise Invalid("this request has set a cookie already", "cookie")

    def keep(self, token: str) -> None:
        """Let the browser keep the token in a cookie. `require_cookie` has said that it can."""
        assert self._browser is not None
        self.response_headers = (self._browser.cookie(self._scope, token),)

    def discard_cookie(self) -> None:
        """Let the browser discard the cookie with its token, if it has sent one or this request has set one."""
        browser = self._of_client(self._browser)
        if browser and self._scope and (self.response_headers or browser.has_kept(self._scope)):
            self.response_headers = (browser.cookie(self._scope, token=None),)

    async def viewer(self) -> str | None:
        """The username of the logged-in user; None if nobody is logged in."""
        login = await self._renewed(await self.reads.login())
        return login.username if login else None

    def known_viewer(self) -> str | None:
        """
        The username of the logged-in user if this request has read or written it, and the session need not be extended.
        No round trip.
        """
        login = self.reads.known_login
        if login is None or login.expires_at < self.now:
            return None
        is_aging = self.session is not None and self.store.sessions.is_aging(login, self.now)
        return None if is_aging else login.username

    async def viewer_roles(self) -> tuple[RoleGrant, ...]:
        """The roles of the viewer, for what is shown to them; commands read them anew."""
        viewer = await self.viewer()
        (profile,) = await self.reads.profiles([viewer]) if viewer else [None]
        return profile.roles if profile else ()

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        """
        Articles as the viewer may read them. Only its poster and the moderators of its groups may read one that is not
        visible: for others it is None. One round trip; one more if one is not visible and somebody is logged in.
        """
        found = await self.reads.articles_of_any_state(numbers)
        hidden = [each for each in found if each and each.state is not ContentState.VISIBLE]
        if not hidden:
            return found
        viewer = await self.viewer()
        (profile,) = await self.reads.profiles([viewer]) if viewer else (None,)
        unreadable = {each.number for each in hidden if not profile or not _may_read(profile, each)}
        return [None if each and each.number in unreadable else each for each in found]

    async def login(self) -> Login | None:
        """
        The session of the logged-in user, with the time when it ends; None if nobody is logged in. It is read as it is
        stored: after a write `Reads.login` may only know the user.
        """
        return await self._renewed(await self.reads.stored_login())

    async def _renewed(self, login: Login | None) -> Login | None:
        """The session unless it has ended. One that is aging is extended first, by one round trip."""
        if login is None or login.expires_at < self.now:
            return None
        if self.session is not None and self.store.sessions.is_aging(login, self.now):
            login = await self.store.sessions.renew(self.session, login)
            self.reads.set_login(login)
        return login

    def actor(self) -> Actor:
        """
        Who writes: a session, which the write checks, or the user of an issuer's token. Commands of moderators read the
        roles of an actor, unless they get them with it as an `Authority`.
        """
        if self.identified is not None:
            return self.identified.username
        if self.session is None:
            raise Unauthenticated
        return self.session

    def own_session(self) -> Session:
        """
        The session of the request, for what is about sessions.

        Raises:
            Forbidden: the token is one of an issuer, which only the issuer ends.
        """
        if self.identified is not None:
            raise Forbidden("this is no session of this site: its issuer ends it")
        if self.session is None:
            raise Unauthenticated
        return self.session

    async def require_log_reader(self, max_age: float = 0) -> None:
        """
        Check that the request may read the log of all changes: it needs a server key, or an admin as its viewer. One
        round trip, two for an admin who sends an invalid key. No round trip if the check succeeded at most `max_age`
        seconds ago.

        Raises:
            Forbidden: the request has no valid server key, and its viewer is not an admin.
        """
        key = self._of_client(self._server_key)
        if monotonic() <= self._log_reader_checked_at + max_age:
            return
        is_key_valid = key and await self.store.server_keys.names([key]) != [None]
        if not is_key_valid and not await self._is_of_admin():
            raise Forbidden("only server keys and admins may read this")
        self._log_reader_checked_at = monotonic()

    async def _is_of_admin(self) -> bool:
        try:
            return roles.is_admin((await read_authority(self.store.site, self.actor())).grants)
        except Unauthenticated:
            self.note_refused_session()
            return False

    def note_refused_session(self) -> None:
        """Note that the store has refused the session of the request: the response says that it has ended."""
        is_known = self.session is not None or self.identified is not None
        self._is_token_refused = self._is_token_refused or is_known

    def unauthenticated(self) -> Unauthenticated:
        """The error of a subscription, whose responses have no `extensions` to report an ended session."""
        return SessionEnded() if self._has_session_ended() else Unauthenticated()

    def resolve(self, batch: Batch, parent: Any, arguments: dict[str, Any]) -> Awaitable[Any]:
        """
        Resolve a field of one parent. The batch resolver is called once for all parents of a tick of the event loop.

        It returns a value or an exception for each parent. The value is shielded from cancellation: Strawberry's
        DataLoader cancels a batch that it has not dispatched yet, and then adds later parents to the cancelled batch.
        """
        key = batch, _hashable(arguments)
        if key not in self._batches:
            self._batches[key] = DataLoader(partial(self._run, key, arguments), cache=False)
        value = ensure_future(self._batches[key].load(parent))
        value.add_done_callback(_mark_retrieved)
        return shield(value)

    async def _run(self, key: tuple[Batch, Hashable], arguments: dict[str, Any], parents: list[Any]) -> Sequence[Any]:
        """Call a batch. Its loader, which refers to this context, is not needed any more."""
        self._batches.pop(key, None)
        return await key[0](parents, self, **arguments)

    def note_expired_pin(self, listing: str) -> None:
        """
        Note that the pin of a listing has expired, so that a page shows the listing as it is now. A pin is the copy of
        a listing from the instant of its first page. `extensions` tells the client.
        """
        self._expired_pins.append(listing)

    async def rate_limit(self) -> RateLimit | None:
        """What is left of this client's points; None without rate limits."""
        read = self._of_client(self._read_rate_limit)
        return read() if read else None

    def extensions(self) -> dict[str, Any]:
        """Entries of `extensions` in the response."""
        notes: dict[str, Any] = {}
        if self._expired_pins:
            notes["expiredPins"] = sorted(set(self._expired_pins))
        if self._has_session_ended():
            notes |= SessionEnded.extensions
        return notes

    def _has_session_ended(self) -> bool:
        """
        Whether the request's token is known to name no session.

        A text that is not a token is known at once. Else the session has to be read, which happens with the first read
        of the store, or a write has to be refused.
        """
        return self._is_token_refused or self.reads.has_ended(self.now)

    def _use(self, session: Session | None, identified: Identified | None = None) -> None:
        """Go on as the user of a session or of an issuer's token, or as nobody. Discards everything that was read."""
        self._is_token_refused = False
        self.session, self.identified = session, identified
        self._login = self.store.sessions.read(session) if session else None
        if identified is not None:
            self._login = self.store.identities.read(identified)
        self.clear()


def _may_read(profile: Profile, article: Article) -> bool:
    """Whether a user may read an article that is not visible."""
    return article.poster == profile.username or roles.moderates(profile.roles, article.groups)


def _hashable(value: Any) -> Hashable:
    """
    A key that is equal for the same arguments, which may be lists and input objects.

    Some values are equal and yet not the same, such as 1 and true, or the decimals 1.0 and 1.00.
    """
    match value:
        case list() | tuple():
            return tuple(map(_hashable, value))
        case dict():
            return frozenset((name, _hashable(each)) for name, each in value.items())
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value), tuple(_hashable(getattr(value, field.name)) for field in fields(value))
        case Hashable():
            return type(value), value, repr(value)
        case _:
            return id(value)


def _mark_retrieved(value: "Future[Any]") -> None:
    """asyncio logs exceptions that are never retrieved, which is normal here if the request was cancelled."""
    if not value.cancelled():
        value.exception()
