"""What all modules of the store share: Redis client, partitions, policy, clock, and the commands of scripts."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256

from store import keys
from store.client import Argument, Command
from store.client.client import RedisClient
from store.client.replication import MARK_LIFETIME
from store.ranking.config import Rankings
from store.ranking.formulas import ORDERS, Policy
from store.scripts.registry import Script

MAX_MENTIONS = 10  # of a text that notify
MAX_PROBED = 16  # partitions that `write_error` tries


def unix_milliseconds() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Site:
    """
    `clock` returns unix milliseconds; `session_lifetime` is in seconds. `max_mentions` is how many mentions of an
    article or a comment notify.
    """

    redis: RedisClient
    partitions: int
    policy: Policy
    clock: Callable[[], int]
    session_lifetime: int
    rankings: Rankings = field(default_factory=Rankings)
    max_mentions: int = MAX_MENTIONS
    pin_expiries: deque[int] = field(default_factory=deque)  # of pins that this process made, in unix milliseconds
    thread_pin_expiries: deque[int] = field(default_factory=deque)  # the same, of pins of threads

    def policy_of(self, group: str | None) -> Policy:
        """The policy of the site, with the weights of a group if it has its own."""
        own = self.rankings.weights.get(group) if group else None
        return replace(self.policy, **own) if own else self.policy  # type: ignore[arg-type]  # all weights are floats

    def home_of_article(self, number: int) -> int:
        """The partition of an article. Its number carries the slot of its poster."""
        return number % keys.SLOTS % self.partitions

    def home_of_user(self, username: str) -> int:
        return keys.slot(username) % self.partitions

    def command(
        self, script: Script, p: int, *arguments: Argument, username: str = "", session_digest: str = ""
    ) -> Command:
        """
        The command of a script that begins with `prelude.lua`: it gets all keys of a partition and the policy.

        It acts for a user whose name is verified, or for a session, which the script checks; else for nobody.
        """
        script_keys = (keys.comment_keys if script.with_comments else keys.partition_keys)(p, ORDERS)
        return script.command(script_keys, username, session_digest, self.clock(), *weights(self.policy), *arguments)

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


@lru_cache
def weights(policy: Policy) -> tuple[Argument, ...]:
    """ARGV 4 to 6 of `prelude.lua`; the voting window in milliseconds."""
    of_orders = f"{policy.vote_score!r} {policy.hot_seconds!r} {policy.best_z!r}"
    return (of_orders, policy.good_votes, policy.voting_ms)
