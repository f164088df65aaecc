"""
What all modules of the store share: Redis client, partitions, policy, clock, and how scripts run for who acts.

A partition is a share of the data, all on one server. A slot is one of 1,024 smaller shares, in which a user falls by
the name, and an article by its poster: modulo the number of partitions it is the partition of both.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from random import getrandbits
from typing import Any, NamedTuple

from store import keys
from store.breaches import Account, Candidate, Opinion
from store.client import Argument, Command
from store.client.client import RedisClient
from store.client.connection import EncodedCall
from store.client.replication import MARK_LIFETIME
from store.errors import StoreUnavailable, Unauthenticated, banned_by
from store.kept_answers import CALL_BITS, CALL_FORMAT
from store.ranking.config import Rankings
from store.ranking.formulas import Policy
from store.rules import NO_RULES, Rules
from store.scripts.registry import Script
from store.standing_bans import refuse_banned

# asks a service outside about a text of an account that is about to be posted
Check = Callable[[Account, Candidate], Awaitable[Opinion | None]]

MAX_MENTIONS = 10  # of a text that notify
WOKEN_COMMENTS = 200_000  # comments of archived articles that may be back in Redis: some 200 MB
MAX_PROBED = 16  # partitions that `write_error` tries


class Session(NamedTuple):
    """
    The parts of the token of a session: its SHA-256, and the slot of its user, from which the partition follows. The
    session may not exist.
    """

    digest: str
    slot: int


class Login(NamedTuple):
    """
    The user of a session, and when it ends (unix milliseconds). `bans` are the words of the user's field of this name:
    `site=UNTIL` or `group:NAME=UNTIL` (unix milliseconds, 0 for good), of which some may have ended. `used_at` is when
    it was used last, up to an hour too early; 0 in the form of earlier versions, which did not store it.
    """

    username: str
    expires_at: int
    bans: str = ""
    used_at: int = 0


Actor = str | Session  # the user who acts: a verified username, or a session that the script checks


def actor_slot(actor: Actor) -> int:
    """The slot of the actor, which tells the actor's partition."""
    return actor.slot if isinstance(actor, Session) else keys.slot(actor)


def digest_and_name(actor: Actor) -> tuple[str, str]:
    """The digest of the actor's session and the actor's name, as scripts take them: the one that is not known is ""."""
    return (actor.digest, "") if isinstance(actor, Session) else ("", actor)


def parse_login(stored: str | None) -> Login | None:
    """
    What the key of a session holds: USERNAME END USED BANS; None if there is no such key. There may be no BANS, and
    earlier versions stored no USED.
    """
    if stored is None:
        return None
    username, expires_at, *rest = stored.split(" ", 2)
    if not rest:
        return Login(username, int(expires_at))
    used_at, _, bans = rest[0].partition(" ")
    if "=" in used_at:  # the first ban
        return Login(username, int(expires_at), bans=rest[0])
    return Login(username, int(expires_at), bans, int(used_at))


def unix_milliseconds() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Site:
    """
    An open store, as the functions of all modules take it. `clock` returns unix milliseconds; `session_lifetime` is in
    seconds. `max_mentions` is how many mentions of an article or a comment notify.
    """

    redis: RedisClient
    partitions: int
    policy: Policy
    clock: Callable[[], int]
    session_lifetime: int
    rankings: Rankings = field(default_factory=Rankings)
    max_mentions: int = MAX_MENTIONS
    rules: Rules = NO_RULES
    check: Check | None = None  # asks a service outside about each new text; None if it says nothing
    deletions: Path | None = None  # the file that has the deletions of users
    offers_mail: bool = False  # whether there is a server that takes mails
    woken_comments: int = WOKEN_COMMENTS  # how many comments of archived articles may be back in Redis
    commenting_ms: int | None = None  # milliseconds after which an article takes no comments any more; None: never
    pin_expiries: deque[int] = field(default_factory=deque)  # of pinned listings of this process, unix milliseconds
    thread_pin_expiries: deque[int] = field(default_factory=deque)  # the same, of pinned threads
    # by the key of a rate limit: instants of attempts, counted here if the store has no memory left (unix milliseconds)
    own_attempts: dict[str, list[int]] = field(default_factory=dict)
    # by partition: the last seen number that rises when an article leaves Redis or comes back (`archive/moments.py`)
    serials: dict[int, str | None] = field(default_factory=dict)

    def policy_of(self, group: str | None) -> Policy:
        """The policy of the site, with the weights of a group if it has its own."""
        own = self.rankings.weights.get(group) if group else None
        return replace(self.policy, **own) if own else self.policy  # type: ignore[arg-type]  # all weights are floats

    def takes_comments(self, posted_at: int) -> bool:
        """Whether an article that was posted at an instant (unix milliseconds) is not too old for comments."""
        return self.commenting_ms is None or self.clock() <= posted_at + self.commenting_ms

    def partition_of_article(self, number: int) -> int:
        """The partition of an article, a comment or an action of a moderator. Its number carries the slot."""
        return number % keys.SLOTS % self.partitions

    def partition_of_user(self, username: str) -> int:
        return keys.slot(username) % self.partitions

    def partition_of_group(self, name: str) -> int:
        """The partition of what is written about a group. Its articles are in the partitions of their posters."""
        return keys.slot(name) % self.partitions

    def session_key(self, session: Session) -> str:
        return keys.session(session.slot % self.partitions, session.digest)

    async def run(self, script: Script, partition: int, actor: Actor, *arguments: Argument) -> Any:
        """
        Run a script that requires `prelude.lua` in a partition for an actor, and return its reply.

        One round trip: the script checks that the session has not ended. One more before it if the session is stored in
        another partition, where the script cannot see it.

        Raises:
            Unauthenticated: a session of another partition has ended, or a user of that one is being deleted. For
                others the script replies so.
            Banned: the script has refused what a banned user may not do.
        """
        if not isinstance(actor, Session):
            bans = "" if self.partition_of_user(actor) == partition else await self._bans(actor)
            command = self.command(script, partition, *arguments, username=actor, bans=bans)
        elif actor.slot % self.partitions == partition:
            command = self.command(script, partition, *arguments, session_digest=actor.digest)
        else:
            login = await self.login(actor)
            command = self.command(script, partition, *arguments, username=login.username, bans=login.bans)
        try:
            (reply,) = await self.redis.pipeline([command])
        except StoreUnavailable as error:
            raise (banned_by(error) or error) from error.__cause__
        return reply

    async def reply(self, command: Command) -> Any:
        """
        The reply of a script that may refuse a banned user. One round trip.

        Raises:
            Banned: the script has refused what a banned user may not do.
        """
        try:
            (reply,) = await self.redis.pipeline([command])
        except StoreUnavailable as error:
            raise (banned_by(error) or error) from error.__cause__
        return reply

    async def refuse_banned(self, actor: Actor, groups: Collection[str]) -> None:
        """
        Refuse who is banned from one of some groups, as scripts do. One round trip.

        Raises:
            Banned: the actor is banned from one, or from the site.
            Unauthenticated: the session has ended, or the user is being deleted.
        """
        words = (await self.login(actor)).bans if isinstance(actor, Session) else await self._bans(actor)
        refuse_banned(words, self.clock(), groups)

    async def _bans(self, username: str) -> str:
        key = keys.user(self.partition_of_user(username), username)
        words, leaver = await self.redis.run(("HMGET", key, "bans", "left"))
        if leaver:  # the user is being deleted
            raise Unauthenticated
        return words or ""

    async def username(self, actor: Actor) -> str:
        """
        The username of an actor. One round trip for a session.

        Raises:
            Unauthenticated: the session has ended, or there is none.
        """
        return (await self.login(actor)).username if isinstance(actor, Session) else actor

    async def login(self, session: Session) -> Login:
        """
        A session as it is stored. One round trip.

        Raises:
            Unauthenticated: the session has ended, or there is none.
        """
        login = parse_login(await self.redis.run(("GET", self.session_key(session))))
        if login is None or login.expires_at < self.clock():
            raise Unauthenticated
        return login

    def command(
        self,
        script: Script,
        partition: int,
        *arguments: Argument,
        username: str = "",
        session_digest: str = "",
        bans: str = "",
    ) -> Command:
        """
        The command of a script that requires `prelude.lua`: it gets the keys that it names, and the policy.

        It acts for a user whose name is verified, with the words of the user's bans, or for a session, which the script
        checks; else for nobody.
        """
        # ARGV 1-6 of `prelude.lua`: the second is the bans of a user, or the digest of a session
        common = (username, bans if username else session_digest, self.clock(), *self.policy.script_arguments)
        beginning = script.beginning(partition)
        # the call is `new_call`, without a call on the hot path
        new_call = (CALL_FORMAT % getrandbits(CALL_BITS),) if script.keeps_answers else ()
        command = EncodedCall((*beginning, *common, *arguments, *new_call))
        command.beginning = beginning
        return command

    async def write_error(self) -> str | None:
        """
        Why the store refuses writes; None if it takes them. One round trip, which changes nothing.

        `SET ... XX` on a missing key writes nothing, but a server that takes no writes answers with an error. Scripts
        refuse writes to a store that is being moved, or was.
        """
        probed = range(min(self.partitions, MAX_PROBED))
        writes: list[Command] = [("SET", keys.mark(each), 1, "PX", MARK_LIFETIME, "XX") for each in probed]
        closed: list[Command] = [("EXISTS", keys.closed(each)) for each in probed]
        return await self.redis.write_error(writes, closed)

    def partition_and_digest(self, subject: str) -> tuple[int, str]:
        """A partition and the SHA-256 of a text from a client, so that the text itself never becomes part of a key."""
        digest = sha256(subject.encode("utf-8", "replace")).hexdigest()
        return int(digest[:8], 16) % self.partitions, digest
