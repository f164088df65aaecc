"""People: registering and logging in."""

from collections.abc import Sequence

from store import keys, validation
from store.common_passwords import refuse_common
from store.errors import BadCredentials, RateLimited, StoreUnavailable, UsernameTaken
from store.passwords import Passwords
from store.rate_limits import Attempts, SlidingWindow
from store.scripts.registry import CHANGE_PASSWORD, REGISTER
from store.sessions import NewSession, Session, Sessions
from store.site import Site

FAILURES_WINDOW = 15 * 60
FAILURES_OF_NAME_AND_ADDRESS = 10
FAILURES_OF_ADDRESS = 50
FAILURES_OF_NAME = 100


class Users:
    def __init__(self, site: Site, sessions: Sessions, attempts: Attempts, passwords: Passwords) -> None:
        self._site = site
        self._sessions = sessions
        self._passwords = passwords
        self._attempts = attempts

    def close(self) -> None:
        self._passwords.close()

    async def register(self, username: str, password: str, windows: Sequence[SlidingWindow] = ()) -> NewSession:
        """
        Create a user and log them in. Counted in the windows, once name and password are such as may be.

        One round trip: `register.lua` takes the name and opens the session in a single step. Being counted is one more.

        Raises:
            Invalid: the name or the password breaks a rule, or the password is one of the commonest.
            UsernameTaken: someone has this name, in any case of letters.
            RateLimited: too many passwords wait to be hashed, or a window is full.
        """
        validation.username(username)
        validation.password(password)
        await refuse_common(password)
        back = await self._attempts.count(windows) if windows else ()
        try:
            return await self._registered(username, await self._passwords.hashed(password))
        except (RateLimited, StoreUnavailable):
            await self._attempts.take_back(back)
            raise

    async def log_in(self, username: str, password: str, address: str | None = None) -> NewSession:
        """
        Open a session. An unknown name is answered like a wrong password, in like time.

        Two round trips; with an address, whose failures are counted, four.

        Raises:
            BadCredentials: no user has this name and this password.
            RateLimited: too many passwords wait to be hashed, or this name or address failed too often.
        """
        name, known = await self._proven(username, password, address)
        return await self._sessions.open(name, known)

    async def change_password(self, session: Session, current: str, new: str, address: str | None = None) -> str:
        """
        Change a password, end all other sessions of its user, and give the username.

        Three round trips, the last is `change_password.lua`. With an address, whose failures are counted, five.

        Raises:
            Unauthenticated, Invalid, BadCredentials, RateLimited: as when logging in.
        """
        validation.password(new, "newPassword")
        await refuse_common(new, "newPassword")
        username, known = await self._proven(await self._sessions.username(session), current, address)
        p = self._site.home_of_user(username)
        script_keys = [keys.user(p, username), keys.sessions(p, username), keys.session(p, ""), keys.closed(p)]
        hashed = await self._passwords.hashed(new)
        (status,) = await self._site.redis.run(CHANGE_PASSWORD.command(script_keys, known, hashed, session.digest))
        if status == "changed":
            raise BadCredentials
        return username

    async def _registered(self, username: str, password_hash: str) -> NewSession:
        grant, session = self._sessions.granted(username)
        p, lifetime = self._site.home_of_user(username), self._site.session_lifetime * 1000
        session_keys = (keys.session(p, session.digest), keys.sessions(p, username))
        script_keys = [keys.user(p, username), *session_keys, keys.closed(p)]
        times = (self._site.clock(), lifetime, grant.login.expires_at)
        command = REGISTER.command(script_keys, username, password_hash, *times, session.digest)
        (status,) = await self._site.redis.run(command)
        if status == "taken":
            raise UsernameTaken(username)
        return grant

    async def _proven(self, username: str, password: str, address: str | None) -> tuple[str, str]:
        """The name as its owner writes it, and the hash of the password; failures are counted."""
        back = await self._attempts.count(log_ins(username, address)) if address is not None else ()
        try:
            proven = await self._matched(username, password)
        except RateLimited:
            await self._attempts.take_back(back)
            raise
        await self._attempts.take_back(back)
        return proven

    async def _matched(self, username: str, password: str) -> tuple[str, str]:
        name, known = None, None
        if validation.USERNAME.fullmatch(username):
            key = keys.user(self._site.home_of_user(username), username)
            name, known = await self._site.redis.run(("HMGET", key, "name", "password"))
        if not await self._passwords.matches(password, known) or name is None:
            raise BadCredentials
        return str(name), str(known)


def log_ins(username: str, address: str) -> list[SlidingWindow]:
    """What is counted of somebody who may be guessing, whether the name is anybody's or not."""
    name = username.lower()
    return [
        SlidingWindow(("log-in", name, address), FAILURES_WINDOW, FAILURES_OF_NAME_AND_ADDRESS),
        SlidingWindow(("log-in from", address), FAILURES_WINDOW, FAILURES_OF_ADDRESS),
        SlidingWindow(("log-in of", name), FAILURES_WINDOW, FAILURES_OF_NAME),
    ]
