"""What all modules of the store share: Redis client, partitions, policy, clock."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256

from store import keys
from store.client import Command
from store.client.client import RedisClient
from store.client.replication import MARK_LIFETIME
from store.ranking.config import Rankings
from store.ranking.formulas import Policy

MAX_PROBED = 16  # partitions that `write_error` tries


@dataclass(frozen=True, slots=True)
class Site:
    """`clock` returns unix milliseconds; `session_lifetime` is in seconds."""

    redis: RedisClient
    partitions: int
    policy: Policy
    clock: Callable[[], int]
    session_lifetime: int
    rankings: Rankings = field(default_factory=Rankings)
    pin_expiries: deque[int] = field(default_factory=deque)  # of pins that this process made, in unix milliseconds

    def policy_of(self, group: str | None) -> Policy:
        """The policy of the site, with the weights of a group if it has its own."""
        own = self.rankings.weights.get(group) if group else None
        return replace(self.policy, **own) if own else self.policy  # type: ignore[arg-type]  # all weights are floats

    def home_of_article(self, number: int) -> int:
        """The partition of an article. Its number carries the slot of its poster."""
        return number % keys.SLOTS % self.partitions

    def home_of_user(self, username: str) -> int:
        return keys.slot(username) % self.partitions

    async def write_error(self) -> str | None:
        """
        Why Redis refuses writes; None if it takes them. One round trip, which changes nothing.

        `SET ... XX` on a missing key writes nothing, but a server that takes no writes answers with an error.
        """
        writes: list[Command] = [
            ("SET", keys.mark(p), 1, "PX", MARK_LIFETIME, "XX") for p in range(min(self.partitions, MAX_PROBED))
        ]
        return await self.redis.write_error(writes)

    def partition_and_digest(self, subject: str) -> tuple[int, str]:
        """A partition and the SHA-256 of a text from a client, so that the text itself never becomes part of a key."""
        digest = sha256(subject.encode("utf-8", "replace")).hexdigest()
        return int(digest[:8], 16) % self.partitions, digest
