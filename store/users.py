"""People: registering and logging in."""

from store import keys, rules
from store.connection import REGISTER
from store.errors import BadCredentials, UsernameTaken
from store.passwords import Passwords
from store.sessions import Grant, Sessions, new_token, session_of
from store.site import Site


class Users:
    def __init__(self, site: Site, sessions: Sessions) -> None:
        self._site = site
        self._sessions = sessions
        self._passwords = Passwords(site.clock)

    def close(self) -> None:
        self._passwords.close()

    async def register(self, username: str, password: str) -> Grant:
        """
        Create a user and log them in.

        One round trip: `register.lua` takes the name and opens the session in a single step.

        Raises:
            Invalid: the name or the password breaks a rule.
            UsernameTaken: someone has this name, in any case of letters.
            RateLimited: too many passwords wait to be hashed.
        """
        rules.username(username)
        known = await self._passwords.hashed(rules.password(password))
        token, login = new_token(username), self._sessions.login(username)
        session = session_of(token)
        assert session is not None
        p, lifetime = self._site.home_of_user(username), self._site.session_lifetime * 1000
        script_keys = [keys.user(p, username), keys.session(p, session.digest)]
        command = REGISTER.command(script_keys, username, known, self._site.clock(), lifetime, login.expires_at)
        (status,) = await self._site.connection.run(command)
        if status == "taken":
            raise UsernameTaken(username)
        return Grant(token, login)

    async def log_in(self, username: str, password: str) -> Grant:
        """
        Open a session. Two round trips; an unknown name is answered like a wrong password, in like time.

        Raises:
            BadCredentials: no user has this name and this password.
            RateLimited: too many passwords wait to be hashed.
        """
        name, known = None, None
        if rules.USERNAME.fullmatch(username):
            key = keys.user(self._site.home_of_user(username), username)
            name, known = await self._site.connection.run(("HMGET", key, "name", "password"))
        if not await self._passwords.matches(password, known) or name is None:
            raise BadCredentials
        return await self._sessions.open(name)
