"""
Addresses of users, and how often they are mailed what arrives in their inboxes. Addresses are kept here and in backups
only: not in the database, the store's log, events, or lines of the server's log.

An address is pending until its user confirms it; the one that was confirmed before stays until then. Several users may
have confirmed the same one. Which mails wait is in `mails`.
"""

import hmac
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from hashlib import sha1, sha256

from store import keys, one_time_tokens, validation
from store.errors import WRONG_PASSWORD, BadCredentials, BadToken, Invalid, Unauthenticated
from store.kinds import Backup, Check, Kind, Text
from store.one_time_tokens import Purpose
from store.queries import Read
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot
from store.users import Users

CONFIRM_EMAIL = Script("confirm_email")
EDIT_MAILBOX = Script("edit_mailbox")

KEY_BYTES = 16  # of the key that signs the links in mails of replies
ADDRESS_DIGEST = Text("DIGEST", "[0-9a-f]{40}")

mailbox = Kind(
    "mailbox",
    "hash",
    parts=(keys.USERNAME,),
    holds="the addresses of a user: email (confirmed), pending, unusable (the one that a mail server has refused); "
    "replies (how often what arrives in the inbox is mailed: at_once, daily or weekly), key (of links that end this), "
    "edit (a random text of the last edit)",
    written_by="register, editAccount, confirmEmail, mails",
    backup=Backup.COPIED,
    record="mailbox",
    check=Check.MAILBOX,
)
addressed = Kind(
    "addressed",
    "set",
    parts=(ADDRESS_DIGEST,),
    holds="names, in lower case, of users who have confirmed an address, by its SHA-1",
    lifetime="while there are any",
    written_by="editAccount, confirmEmail",
    backup=Backup.DERIVED,
    rebuilt_from="the addresses of users",
    check=Check.MAILBOX,
)


class MailFrequency(Enum):
    """How often what arrives in an inbox is mailed."""

    NEVER = "never"
    AT_ONCE = "at_once"
    DAILY = "daily"
    WEEKLY = "weekly"


@dataclass(frozen=True, slots=True)
class UserMailbox:
    """`unusable` is an address that a mail server has refused for good. `key` is "" if there never was an address."""

    email: str | None = None
    pending: str | None = None
    replies: MailFrequency = MailFrequency.NEVER
    unusable: str | None = None
    key: str = ""

    @property
    def usable(self) -> str | None:
        """The confirmed address, unless it was refused."""
        return None if self.email == self.unusable else self.email

    @property
    def is_refused(self) -> bool:
        """Whether one of the addresses was refused."""
        return self.unusable is not None and self.unusable in (self.email, self.pending)


class Kept(Enum):
    """What an edit says of an address that stays as it is."""

    ADDRESS = "keep"


KEPT = Kept.ADDRESS
Email = str | None | Kept  # in an edit; None removes the address


class Mailboxes:
    """Commands on the addresses of users."""

    def __init__(self, site: Site, users: Users) -> None:
        self._site, self._users = site, users

    async def get(self, username: str) -> UserMailbox:
        """The addresses of a user, and which mails they get. One round trip."""
        read = find(self._site, username)
        return read.result(await self._site.redis.run(read.command))

    async def edit(
        self,
        actor: Actor,
        email: Email = KEPT,
        replies: MailFrequency | None = None,
        password: str | None = None,
        address: str | None = None,
        authenticated_at: int = 0,
        token: str | None = None,
    ) -> str:
        """
        Change the address of a user, and how often replies are mailed. Returns the username. A change of the address
        needs the password, or what `Users.authenticate_again` takes in its place.

        A new address is pending until it is confirmed; None removes both. Mails to the new address and to the one
        before are queued. The address that is pending already needs no password: its mail is sent again. One round
        trip; two more with an address, and those of a log-in if it changes. `address` is the client's IP address.

        Raises:
            Invalid: it is no address, or this site sends no mail.
            Unauthenticated: the session has ended, or there is none.
            Banned: the user is banned from the site, and the address would change.
            BadCredentials, BadToken, RateLimited: as `Users.authenticate_again`.
        """
        if email is KEPT:
            return await self._edit(actor, "keep", email="", replies=replies)
        if email is not None:
            email = self.checked(email)
        username = await self._site.username(actor)
        known = await self.get(username)
        if email is not None and email in (known.email, known.pending):
            return await self._edit(actor, "repeat", email, replies)
        if email is None and known.email is None and known.pending is None:
            return await self._edit(actor, "keep", email="", replies=replies)
        again = await self._users.authenticate_again(actor, username, password, address, authenticated_at, token)
        verified = (again.password_hash, again.token_digest)
        return await self._edit(actor, "set" if email else "remove", email or "", replies, *verified)

    async def confirm(self, token: str) -> str:
        """
        Confirm the pending address of a user by the token of the mail to it, and return the username. Open tokens to
        reset the password end. One round trip.

        Raises:
            BadToken: it was used, has ended, or is of another address than the pending one.
        """
        known = one_time_tokens.parsed(token)
        beginning = CONFIRM_EMAIL.beginning(known.slot % self._site.partitions)
        given = (known.digest, Purpose.CONFIRM.value, secrets.token_hex(8), self._site.clock())
        status, *name = await self._site.redis.run((*beginning, *given))
        if status == "bad":
            raise BadToken
        return str(name[0])

    def checked(self, email: str) -> str:
        """
        An address as it is stored.

        Raises:
            Invalid: it is no address, or this site sends no mail.
        """
        if not self._site.offers_mail:
            raise Invalid("this site sends no mail, and takes no addresses", "email")
        return validation.email(email)

    async def set_first(self, username: str, email: str) -> None:
        """Set the address of a new user, which `checked` has returned. One round trip."""
        await self._edit(username, "set", email)

    async def end_replies(self, token: str) -> bool:
        """
        End the mails of replies to a user, by the token of a link in such a mail. False if the text is no such token.
        Two round trips.
        """
        name = token.partition(".")[0]
        if not validation.USERNAME.fullmatch(name) or not is_unsubscribing(token, (await self.get(name)).key):
            return False
        with suppress(Unauthenticated):  # the user leaves
            await self._edit(name, "keep", email="", replies=MailFrequency.NEVER)
        return True

    async def with_address(self, digest: str) -> list[str]:
        """The names, in lower case and in order, of those who have confirmed an address. One round trip."""
        commands = [("SMEMBERS", addressed(partition, digest)) for partition in range(self._site.partitions)]
        found: Sequence[Sequence[str]] = await self._site.redis.pipeline(commands)
        return sorted(name for part in found for name in part)

    async def _edit(
        self,
        actor: Actor,
        change: str,
        email: str,
        replies: MailFrequency | None = None,
        password_hash: str = "",
        token_digest: str = "",
    ) -> str:
        """
        Run the script. `change` says what becomes of the address: keep, set, repeat (one that the user has: if it is
        the pending one, its mail is sent again), or remove.
        """
        partition = actor_slot(actor) % self._site.partitions
        new = (secrets.token_hex(KEY_BYTES), secrets.token_hex(4))  # values of `key`, if it has none, and of `edit`
        given = (change, email, password_hash, replies.value if replies else "", *new, token_digest)
        status, *name = await self._site.run(EDIT_MAILBOX, partition, actor, *given)
        match status:
            case "unauthenticated":
                raise Unauthenticated
            case "changed":
                raise BadCredentials(WRONG_PASSWORD)
            case "bad":
                raise BadToken
        return str(name[0])


def find(site: Site, username: str) -> Read[UserMailbox]:
    return Read(("HGETALL", mailbox(site.partition_of_user(username), username)), parse)


def parse(fields: dict[str, str]) -> UserMailbox:
    return UserMailbox(
        fields.get("email"),
        fields.get("pending"),
        MailFrequency(fields.get("replies", MailFrequency.NEVER.value)),
        fields.get("unusable"),
        fields.get("key", ""),
    )


def digest(email: str) -> str:
    """The digest of an address in lower case, by which its users are found."""
    return sha1(email.lower().encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def unsubscribing_token(username: str, key: str) -> str:
    """The signed text in a link that ends the mails of replies to a user, without a session."""
    name = username.lower()
    return f"{name}.{hmac.new(key.encode(), f'unsubscribe {name}'.encode(), sha256).hexdigest()}"


def is_unsubscribing(token: str, key: str) -> bool:
    """Whether a text is a token that `unsubscribing_token` makes with this key."""
    name = token.partition(".")[0]
    return key != "" and hmac.compare_digest(token.encode(), unsubscribing_token(name, key).encode())
