"""Commands on users: register, log in, change a password."""

from collections.abc import Sequence

from store import bans, keys, leaving, roles, validation, verdicts
from store.errors import BadCredentials, RateLimited, RuleBroken, StoreUnavailable, UsernameTaken
from store.leaving import Leaver
from store.moderation_records import Role
from store.passwords import Passwords, refuse_common
from store.rate_limits import Attempts, SlidingWindow
from store.reserved_names import ReservedNames
from store.scripts.registry import Script
from store.sessions import NewSession, Sessions
from store.site import Actor, Session, Site
from store.validation import Faults

CHANGE_PASSWORD = Script("change_password")
REGISTER = Script("register")

FAILURES_WINDOW = 15 * 60
FAILURES_OF_NAME_AND_ADDRESS = 10
FAILURES_OF_ADDRESS = 50
FAILURES_OF_NAME = 100


class Users:
    def __init__(
        self,
        site: Site,
        sessions: Sessions,
        attempts: Attempts,
        passwords: Passwords,
        reserved_names: ReservedNames,
    ) -> None:
        self._site = site
        self._reserved_names = reserved_names
        self._sessions = sessions
        self._passwords = passwords
        self._attempts = attempts

    def close(self) -> None:
        self._passwords.close()

    async def register(
        self,
        username: str,
        password: str,
        windows: Sequence[SlidingWindow] = (),
        address: str | None = None,
        agent: str = "",
    ) -> NewSession:
        """
        Create a user and open a session.

        One round trip: `register.lua` creates both in a single step. One more with `windows`, in which a valid name and
        password count as an attempt, and one with an address if the site has a rule for registrations, which counts
        those that succeed.

        Raises:
            Invalid: the name or the password breaks a rule, the name is reserved, or the password is one of the
                commonest; `others` has a second fault.
            UsernameTaken: the name exists, or was that of a deleted user; case does not matter.
            RateLimited: too many passwords wait to be hashed, or a window is full.
            RuleBroken: too many users were registered from the address, by the rules of the site.
        """
        faults = Faults()
        with faults:
            self._reserved_names.check(validation.username(username))
        with faults:
            validation.password(password)
            await refuse_common(password)
        faults.raise_any()
        counted = await self._attempts.count(windows) if windows else ()
        try:
            async with verdicts.on_registration(self._site, address):
                return await self._create(username, await self._passwords.hashed(password), agent)
        except (RateLimited, RuleBroken, StoreUnavailable):
            await self._attempts.take_back(counted)
            raise

    async def log_in(self, username: str, password: str, address: str | None = None, agent: str = "") -> NewSession:
        """
        Open a session. An unknown name takes as long as a wrong password and raises the same.

        Two round trips. With an address, whose failures are counted, four.

        Raises:
            BadCredentials: no user has this name and this password.
            RateLimited: too many passwords wait to be hashed, or this name or address failed too often.
        """
        name, known = await self._authenticate(username, password, address)
        return await self._sessions.open(name, known, agent)

    async def change_password(self, session: Session, current: str, new: str, address: str | None = None) -> str:
        """
        Change a password, end all other sessions of its user, and return the username.

        Three round trips, the last is `change_password.lua`. With an address, whose failures are counted, five.

        Raises:
            Unauthenticated, Banned: the session has ended, or the user is banned from the site.
            Invalid: the new password breaks a rule, or is one of the commonest.
            BadCredentials, RateLimited: as `log_in`.
        """
        validation.password(new, "newPassword")
        await refuse_common(new, "newPassword")
        login = await self._site.login(session)
        bans.refuse_banned(login.bans, self._site.clock())
        username, known = await self._authenticate(login.username, current, address)
        beginning = CHANGE_PASSWORD.beginning(self._site.home_of_user(username))
        hashed = await self._passwords.hashed(new)
        arguments = (known, hashed, session.digest, username, self._site.clock())
        (status,) = await self._site.reply((*beginning, *arguments))
        if status == "changed":  # the stored password, after it was verified
            raise BadCredentials
        return username

    async def delete(
        self, actor: Actor, current: str | None, *, removes_texts: bool, address: str | None = None
    ) -> Leaver:
        """
        Begin to delete a user: see `leaving.begin`. Five round trips; with an address, whose failures are counted,
        seven, and for an admin four more.

        Raises:
            Unauthenticated: the session has ended.
            Invalid: the user is the last admin.
            BadCredentials, RateLimited: as `log_in`.
        """
        authority = await roles.read_authority(self._site, actor)
        username, known = await self._authenticate(authority.username, current or "", address)
        async with roles.keeping_an_admin(self._site, username, Role.ADMIN, authority, "currentPassword"):
            return await leaving.begin(self._site, username, known, removes_texts=removes_texts)

    async def _create(self, username: str, password_hash: str, agent: str) -> NewSession:
        opened, session = self._sessions.generate(username, agent)
        beginning, login = REGISTER.beginning(self._site.home_of_user(username)), opened.login
        times = (login.used_at, session.digest, login.expires_at, opened.details)
        (status,) = await self._site.redis.run((*beginning, username, password_hash, *times))
        if status == "taken":
            raise UsernameTaken(username)
        return opened

    async def _authenticate(self, username: str, password: str, address: str | None) -> tuple[str, str]:
        """The stored name and password hash, if the password is right. Failures of an address are counted."""
        counted = await self._attempts.count(log_in_windows(username, address)) if address is not None else ()
        try:
            found = await self._verify(username, password)
        except RateLimited:
            await self._attempts.take_back(counted)
            raise
        await self._attempts.take_back(counted)
        return found

    async def _verify(self, username: str, password: str) -> tuple[str, str]:
        name, known = None, None
        if validation.USERNAME.fullmatch(username):
            key = keys.user(self._site.home_of_user(username), username)
            name, known = await self._site.redis.run(("HMGET", key, "name", "password"))
        if not await self._passwords.matches(password, known) or name is None:
            raise BadCredentials
        return str(name), str(known)


def log_in_windows(username: str, address: str) -> list[SlidingWindow]:
    """The windows that count failed log-ins, also of names that do not exist."""
    name = username.lower()
    return [
        SlidingWindow(("log-in", name, address), FAILURES_WINDOW, FAILURES_OF_NAME_AND_ADDRESS),
        SlidingWindow(("log-in from", address), FAILURES_WINDOW, FAILURES_OF_ADDRESS),
        SlidingWindow(("log-in of", name), FAILURES_WINDOW, FAILURES_OF_NAME),
    ]
