"""Commands on users: register, log in, change or reset a password, edit a profile, leave."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from store import invitations, keys, leaving, one_time_tokens, profiles, roles, standing_bans, validation, verdicts
from store.client import Command
from store.errors import (
    WRONG_PASSWORD,
    BadCredentials,
    BadToken,
    Invalid,
    RateLimited,
    RuleBroken,
    StoreUnavailable,
    UsernameTaken,
)
from store.kept_answers import new_call
from store.leaving import Leaver
from store.moderation_records import Role
from store.offers import Offers, Registration
from store.one_time_tokens import Purpose
from store.passwords import Passwords, refuse_common
from store.queries import Read
from store.rate_limits import Attempts, SlidingWindow
from store.reserved_names import ReservedNames
from store.roles import OPERATOR
from store.scripts.registry import Script
from store.sessions import NewSession, Sessions
from store.site import Actor, Session, Site
from store.validation import Faults

CHANGE_PASSWORD = Script("change_password")
CREATE_USER = Script("create_user")
REGISTER = Script("register")
RESET_PASSWORD = Script("reset_password")

FAILURES_WINDOW = 15 * 60  # seconds in which the following numbers of log-ins may fail
FAILURES_OF_NAME_AND_ADDRESS = 10
FAILURES_OF_ADDRESS = 50  # with any names
FAILURES_OF_NAME = 100  # from any addresses
RECENT = 5 * 60  # seconds for which a log-in at an issuer counts as the password
NO_PASSWORD = "show that it is you: by your password, by a log-in at an issuer just now, or by a link by mail"


class Again(NamedTuple):
    """
    A user who has shown once more who they are, by the name as stored. The script of the command goes on only if
    `password_hash` is still the stored one and the token is still good, which it uses up; each is "" if it was not
    given.
    """

    username: str
    password_hash: str = ""
    token_digest: str = ""


class Users:
    """
    Commands on users and their passwords. An `address` is the network address of the client, `agent` its program (for
    the list of the user's sessions).
    """

    def __init__(
        self,
        site: Site,
        sessions: Sessions,
        attempts: Attempts,
        passwords: Passwords,
        reserved_names: ReservedNames,
        offers: Offers,
    ) -> None:
        self.offers = offers
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
        invitation: str | None = None,
    ) -> NewSession:
        """
        Create a user and open a session.

        One round trip: `register.lua` creates both in a single step. One more with `windows`, in which a valid name and
        password count as an attempt, and one with an address if the site has a rule for registrations, which counts
        those that succeed. Where an invitation is needed, three more.

        Raises:
            NotOffered: the site has no passwords, or nobody may register, or only with an invitation.
            BadToken: the invitation was used, has ended, or there is none.
            Invalid: the name or the password breaks a rule, the name is reserved, or the password is one of the
                commonest; `others` has a second fault.
            UsernameTaken: the name exists, or was that of a deleted user; case does not matter.
            RateLimited: too many passwords wait to be hashed, or a window is full.
            RuleBroken: too many users were registered from the address, by the rules of the site.
        """
        self.offers.require_registration(invitation)
        used_invitation = invitation if self.offers.registration is Registration.INVITED else None
        faults = Faults()
        with faults:
            self._reserved_names.check(validation.username(username))
        with faults:
            validation.password(password)
            await refuse_common(password)
        faults.raise_any()
        if used_invitation:
            await invitations.check(self._site, used_invitation)
        counted = await self._attempts.count(windows) if windows else ()
        try:
            async with verdicts.on_registration(self._site, address):
                password_hash = await self._passwords.hashed(password)
                return await self._create(username, password_hash, agent, used_invitation)
        except (RateLimited, RuleBroken, StoreUnavailable):
            await self._attempts.take_back(counted)
            raise

    async def log_in(self, username: str, password: str, address: str | None = None, agent: str = "") -> NewSession:
        """
        Open a session. An unknown name takes as long as a wrong password and raises the same.

        Two round trips. With an address, whose failures are counted, four.

        Raises:
            NotOffered: the site has no passwords.
            BadCredentials: no user has this name and this password.
            RateLimited: too many passwords wait to be hashed, or this name or address failed too often.
        """
        self.offers.require_passwords()
        name, password_hash = await self.authenticate(username, password, address)
        return await self._sessions.open(name, password_hash, agent)

    async def change_password(self, session: Session, current: str, new: str, address: str | None = None) -> str:
        """
        Change a password, end all other sessions of its user, and return the username.

        Three round trips, the last is `change_password.lua`. With an address, whose failures are counted, five.

        Raises:
            Unauthenticated, Banned: the session has ended, or the user is banned from the site.
            Invalid: the new password breaks a rule, or is one of the commonest.
            NotOffered, BadCredentials, RateLimited: as `log_in`.
        """
        self.offers.require_passwords()
        validation.password(new, "newPassword")
        await refuse_common(new, "newPassword")
        login = await self._site.login(session)
        standing_bans.refuse_banned(login.bans, self._site.clock())
        username, old_hash = await self._authenticate_as(login.username, current, address)
        beginning = CHANGE_PASSWORD.beginning(self._site.partition_of_user(username))
        new_hash = await self._passwords.hashed(new)
        arguments = (old_hash, new_hash, session.digest, username, self._site.clock())
        (status,) = await self._site.reply((*beginning, *arguments))
        if status == "changed":  # the stored password, after it was verified
            raise BadCredentials(WRONG_PASSWORD)
        return username

    async def reset_password(self, token: str, new: str, agent: str = "") -> NewSession:
        """
        Set the password of the user of a one-time token, open a session, and end all others.

        Two round trips, the last is `reset_password.lua`, which uses the token up.

        Raises:
            NotOffered: the site has no passwords.
            Invalid: the new password breaks a rule, or is one of the commonest.
            BadToken: the token was used, has ended, or there is none.
            RateLimited: too many passwords wait to be hashed.
        """
        self.offers.require_passwords()
        validation.password(new, "newPassword")
        await refuse_common(new, "newPassword")
        stored = await one_time_tokens.read(self._site, token, Purpose.RESET)
        opened, session = self._sessions.generate(stored.username, agent)
        beginning = RESET_PASSWORD.beginning(self._site.partition_of_user(stored.username))
        given = (one_time_tokens.parsed(token).digest, await self._passwords.hashed(new), self._site.clock())
        (status,) = await self._site.redis.run(
            (*beginning, *given, session.digest, opened.login.expires_at, opened.details)
        )
        if status == "bad":  # it was used meanwhile
            raise BadToken
        return opened

    async def edit_profile(self, actor: Actor, changes: Mapping[str, str]) -> str:
        """Change the profile of the actor as given, and return the username: see `profiles.edit`."""
        return await profiles.edit(self._site, actor, changes, self._reserved_names)

    async def delete(
        self,
        actor: Actor,
        current: str | None,
        *,
        removes_texts: bool,
        address: str | None = None,
        authenticated_at: int = 0,
        token: str | None = None,
    ) -> Leaver:
        """
        Begin to delete a user: see `leaving.begin`. The actor proves to be the user as in `authenticate_again`. Five
        round trips; with an address, whose failures are counted, seven, and for an admin four more.

        Raises:
            Unauthenticated: the session has ended.
            Invalid: the user is the last admin.
            BadCredentials, BadToken, RateLimited: as `authenticate_again`.
        """
        authority = await roles.read_authority(self._site, actor)
        proofs = (current, address, authenticated_at, token)
        username, password_hash, token_digest = await self.authenticate_again(actor, authority.username, *proofs)
        async with roles.keeping_an_admin(self._site, username, Role.ADMIN, authority, field="currentPassword"):
            given = (self._site, username, password_hash)
            return await leaving.begin(*given, removes_texts=removes_texts, token_digest=token_digest)

    async def create(self, username: str, field: str | None = None) -> bool:
        """
        Create a user without a password, for the operator, also with a reserved name. Returns False if the name is
        taken, or was that of a deleted user. With `field`, the user's hash gets a field of this name. One round trip.

        Raises:
            Invalid: no user can have this name.
        """
        name = validation.username(username)
        if name.lower() == OPERATOR.username:
            raise Invalid(f"the name {name} is that of commands of the shell", "username")
        (status,) = await self._site.redis.run(creation(self._site, name, self._site.clock(), field))
        return bool(status == "created")

    def find_password(self, username: str) -> Read[bool]:
        """Whether a user has a password."""
        return Read(("HEXISTS", keys.user(self._site.partition_of_user(username), username), "password"), bool)

    async def authenticate_again(
        self,
        actor: Actor,
        username: str,
        password: str | None,
        address: str | None,
        authenticated_at: int,
        token: str | None,
    ) -> Again:
        """
        Check that an actor is the user, by the password, by the token of a link by mail, or by a log-in at an issuer
        just now, which was at `authenticated_at` (unix milliseconds).

        Raises:
            BadCredentials, RateLimited: as `log_in`; also if there is no password and the log-in is not recent.
            BadToken: the token was used, has ended, or is not that of this user.
        """
        if token is not None:
            stored = await one_time_tokens.read(self._site, token, Purpose.IDENTITY)
            if stored.username.lower() != username.lower():
                raise BadToken
            return Again(stored.username, token_digest=one_time_tokens.parsed(token).digest)
        if password is None and await self._is_recent(actor, username, authenticated_at):
            return Again(username)
        return Again(*await self._authenticate_as(username, password, address))

    async def _authenticate_as(self, username: str, password: str | None, address: str | None) -> tuple[str, str]:
        """As `authenticate`, of a user who is logged in: the name is right, and the refusal says what is not."""
        try:
            return await self.authenticate(username, password or "", address)
        except BadCredentials:
            raise BadCredentials(NO_PASSWORD if password is None else WRONG_PASSWORD) from None

    async def _is_recent(self, actor: Actor, username: str, authenticated_at: int) -> bool:
        """
        Whether a user has logged in at an issuer `RECENT` seconds ago or less: by the token of the issuer, or by the
        session of a user who can have opened it by nothing else, as there is no password. Two round trips at most.
        """
        since = self._site.clock() - RECENT * 1000
        if not isinstance(actor, Session):
            return authenticated_at >= since
        if self.offers.has_passwords and await self._site.redis.run(self.find_password(username).command):
            return False
        return any(each.is_current and each.opened_at >= since for each in await self._sessions.listed(actor))

    async def _create(self, username: str, password_hash: str, agent: str, invitation: str | None = None) -> NewSession:
        opened, session = self._sessions.generate(username, agent)
        if invitation:
            await invitations.claim(self._site, invitation, username, session.digest)
        beginning, login = REGISTER.beginning(self._site.partition_of_user(username)), opened.login
        given = (login.used_at, session.digest, login.expires_at, opened.details)
        (status,) = await self._site.redis.run((*beginning, username, password_hash, *given))
        if status == "taken":
            if invitation:
                await invitations.release(self._site, invitation, session.digest)
            raise UsernameTaken(username)
        if invitation:
            await invitations.use(self._site, invitation)
        return opened

    async def authenticate(self, username: str, password: str, address: str | None) -> tuple[str, str]:
        """
        The stored name and password hash, if the password is right; else BadCredentials. Failures of an address are
        counted: an attempt counts before it is made, and is taken back if it succeeds.
        """
        counted = await self._attempts.count(log_in_windows(username, address)) if address is not None else ()
        try:
            found = await self._verify(username, password)
        except RateLimited:
            await self._attempts.take_back(counted)
            raise
        await self._attempts.take_back(counted)
        return found

    async def _verify(self, username: str, password: str) -> tuple[str, str]:
        name, password_hash = None, None
        if validation.USERNAME.fullmatch(username):
            key = keys.user(self._site.partition_of_user(username), username)
            name, password_hash = await self._site.redis.run(("HMGET", key, "name", "password"))
        if not await self._passwords.matches(password, password_hash) or name is None:
            raise BadCredentials
        return str(name), str(password_hash)


def creation(site: Site, name: str, joined: int, field: str | None = None) -> Command:
    """
    The command that creates a user without a password, if the username is free. `joined` is in unix milliseconds. With
    `field`, the user's hash gets a field of this name.
    """
    partition = site.partition_of_user(name)
    script_keys = [keys.user(partition, name), keys.closed(partition), keys.log(partition), keys.events(partition)]
    script_keys += [leaving.departed(partition), leaving.namekey(partition)]
    return CREATE_USER.command(script_keys, name, joined, site.clock(), *([field] if field else []), new_call())


def log_in_windows(username: str, address: str) -> list[SlidingWindow]:
    """The windows that count failed log-ins, also of names that do not exist."""
    name = username.lower()
    return [
        SlidingWindow(("log-in", name, address), FAILURES_WINDOW, FAILURES_OF_NAME_AND_ADDRESS),
        SlidingWindow(("log-in from", address), FAILURES_WINDOW, FAILURES_OF_ADDRESS),
        SlidingWindow(("log-in of", name), FAILURES_WINDOW, FAILURES_OF_NAME),
    ]
