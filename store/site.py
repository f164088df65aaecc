"""What every part of the store shares: connection, division of the data, numbers of the ranking, clock."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256

from store import keys
from store.client.client import RedisClient
from store.client.commands import MARK_LIFETIME, Command
from store.ranking.config import Rankings
from store.ranking.formulas import Policy

MOST_TRIED = 16  # partitions, to see whether writes are refused


@dataclass(frozen=True, slots=True)
class Site:
    """`clock` gives unix milliseconds; `session_lifetime` is in seconds."""

    redis: RedisClient
    partitions: int
    policy: Policy
    clock: Callable[[], int]
    session_lifetime: int
    rankings: Rankings = field(default_factory=Rankings)
    pin_expiries: deque[int] = field(default_factory=deque)  # of pins that this process made, in unix milliseconds

    def policy_of(self, group: str | None) -> Policy:
        """The site's, with what a group has of its own."""
        own = self.rankings.weights.get(group) if group else None
        return replace(self.policy, **own) if own else self.policy  # type: ignore[arg-type]  # all weights are floats

    def home_of_article(self, number: int) -> int:
        """The partition that an article's number names: it carries the slot of the poster."""
        return number % keys.SLOTS % self.partitions

    def home_of_user(self, username: str) -> int:
        return keys.slot(username) % self.partitions

    async def write_error(self) -> str | None:
        """
        Why writes are refused, if they are. One round trip, which changes nothing.

        A mark that is not there is not set, but a server that takes no writes refuses the attempt.
        """
        writes: list[Command] = [
            ("SET", keys.mark(p), 1, "PX", MARK_LIFETIME, "XX") for p in range(min(self.partitions, MOST_TRIED))
        ]
        return await self.redis.refusal(writes)

    def partition_and_digest(self, subject: str) -> tuple[int, str]:
        """The partition and the SHA-256 of what a client said: no such text becomes part of a key."""
        digest = sha256(subject.encode("utf-8", "replace")).hexdigest()
        return int(digest[:8], 16) % self.partitions, digest
