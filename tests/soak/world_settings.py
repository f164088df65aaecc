"""
The settings of the server of a world, which depend on its seed. A world of the soak test is a server that gets random
requests, and a model of it with the same settings.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.soak import rules
from tests.soak.databases import Databases
from tests.soak.formulas import Policy
from tests.soak.inboxes import MOST_MENTIONS
from tests.soak.server import Server


@dataclass(frozen=True)
class Settings:
    """The settings of the server of a world."""

    partitions: int
    cache: int | None  # articles, comments and users that a process caches; None for the default
    policy: Policy  # the settings that the model knows, too
    database: str = "sqlite"  # or "postgresql"
    imported: int = 0  # old articles that are imported; only where there are some, articles leave Redis

    def of_server(self) -> dict[str, Any]:
        settings = {
            "workers": 2,
            "partitions": self.partitions,
            "voting_window": self.policy.voting_window,
            "good_votes": self.policy.good_votes,
            "vote_score": self.policy.vote_score,
            "hot_seconds": self.policy.hot_seconds,
            "mentions": MOST_MENTIONS,
            "voters": self.policy.voters,
        }
        optional = {"cache": self.cache, "comment_days": self.policy.comment_days}
        return settings | {name: value for name, value in optional.items() if value is not None}

    def server(self, databases: Databases, root: Path) -> Server:
        text = self.policy.rules.text() if self.policy.rules else ""
        return Server(self.of_server(), databases, self.database, root, text)


def settings_of(seed: int) -> Settings:
    """
    Eight consecutive seeds have all combinations of partitions, caches and databases. In three of four, articles leave
    Redis for the database.
    """
    random = Random(seed)
    score, window = random.choice((1.0, 1.0, 100.0, 432.0)), random.choice((8, 20, 60))
    has_rules = bool((seed + seed // 2 + seed // 4 + seed // 16) % 2)  # which hold and refuse texts
    voters = ("everybody", "moderators", "everybody", "nobody")[seed // 2 % 4]
    comment_days = (None, None, 1)[seed % 3]
    imported = (0, 40, 150, 260)[(seed + seed // 4) % 4]
    chosen = rules.chosen(random, has_archived=imported > 0) if has_rules else None
    policy = Policy(vote_score=score, voting_window=window, voters=voters, rules=chosen, comment_days=comment_days)
    database = ("sqlite", "postgresql")[(seed + seed // 2 + seed // 4) % 2]
    partitions, cache = (1, 16)[seed % 2], (None, 5)[seed // 2 % 2]
    return Settings(partitions, cache, policy, database, imported)
