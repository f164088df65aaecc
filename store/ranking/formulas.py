"""
The orders of listings and their formulas, with sources. `prelude.lua` and `gravity_index.lua` have the same formulas.
"""

from dataclasses import dataclass
from enum import Enum
from math import floor, log10, sqrt

from store.records import Article

DAY = 86_400  # seconds
PAGE_SIZE = 25
FRONT_PAGE_SIZE = 50
GROUPS_PER_ARTICLE = 10

HOT_EPOCH = 1_134_028_003  # unix seconds
CLASS = 2**42  # how far apart classes are in GRAVITY's index, in milliseconds
DIGITS = 3  # how many binary digits the votes of a class have in common


class Order(Enum):
    """What a listing is ordered by, highest first. Each has an index of this name."""

    SCORE = "score"
    TIME = "time"
    VOTES = "votes"
    HOT = "hot"
    BEST = "best"
    CONTROVERSIAL = "controversial"
    GRAVITY = "gravity"

    @property
    def decays(self) -> bool:
        """Whether values change with age, so that the index cannot hold them."""
        return self is Order.GRAVITY


ORDERS = tuple(order.value for order in Order)
BUILT_WITH = ("vote_score", "hot_seconds", "best_z")  # the weights that indexes are built with
WEIGHTS = (*BUILT_WITH, "gravity_votes", "gravity_age", "gravity_delay")


@dataclass(frozen=True, slots=True)
class Policy:
    """`vote_score` is how many seconds one vote is worth: 200 votes make up for a day (Redis in Action, ch. 1)."""

    good_votes: int = 200
    vote_score: float = DAY / 200
    voting_window: int = 7 * DAY  # seconds
    hot_seconds: float = 45_000  # what ten times the votes make up for
    best_z: float = 1.281551565545  # 80 % confidence, as standard deviations
    gravity_votes: float = 0.8  # exponent of the votes
    gravity_age: float = 1.8  # exponent of the age
    gravity_delay: float = 120  # minutes that are added to every age

    def kept_in_indexes(self) -> dict[str, float]:
        """The numbers that the indexes are built with, by name."""
        return {name: getattr(self, name) for name in ("good_votes", *BUILT_WITH)}

    def closes_at(self, article: Article) -> int:
        """The last instant, in unix milliseconds, at which the article can be voted on."""
        return article.posted_at + self.voting_ms

    @property
    def voting_ms(self) -> int:
        return self.voting_window * 1000

    def is_good(self, article: Article) -> bool:
        return article.votes >= self.good_votes

    def score(self, article: Article) -> float:
        """Posting time + `vote_score` x votes, in unix seconds (Redis in Action, ch. 1)."""
        return self.value(Order.SCORE, article) / 1000

    def value(self, order: Order, article: Article) -> float:
        """What the index of an order holds for an article; times and scores are in unix milliseconds."""
        match order:
            case Order.SCORE:
                return article.posted_at + self.vote_score * 1000 * article.votes
            case Order.TIME:
                return article.posted_at
            case Order.VOTES:
                return article.votes
            case Order.HOT:
                return hot(article, self.hot_seconds)
            case Order.BEST:
                return best(article.upvotes, article.downvotes, self.best_z)
            case Order.CONTROVERSIAL:
                return controversial(article.upvotes, article.downvotes)
            case Order.GRAVITY:
                mark = gravity_class(article.votes) * CLASS + article.posted_at
                return -mark if article.votes < 1 else mark

    def value_at(self, order: Order, article: Article, now: int) -> float:
        """What an order sorts by at an instant: but for GRAVITY, what its index holds."""
        return self.gravity(article, now) if order.decays else self.value(order, article)

    def gravity(self, article: Article, now: int) -> float:
        """
        Votes but for the poster's, against age (Hacker News, as published with Arc).

        Below 0 they have no exponent. What is younger than the instant counts as posted then.
        """
        base = article.votes - 1
        minutes = max(now - article.posted_at, 0) / 60_000
        decay: float = ((minutes + self.gravity_delay) / 60) ** self.gravity_age
        return (base**self.gravity_votes if base > 0 else base) / decay


def gravity_class(votes: int) -> int:
    """Which votes are alike by GRAVITY: as many but for the poster's, or as many fewer, by the first binary digits."""
    size = abs(votes - 1)
    behind = max(size.bit_length() - DIGITS, 0)
    return (behind << (DIGITS - 1)) + (size >> behind)


def hot(article: Article, seconds: float) -> float:
    """Ten times the votes make up for so many seconds (Reddit's published source); to 7 places."""
    sign = (article.votes > 0) - (article.votes < 0)
    size = sign * log10(max(abs(article.votes), 1))
    return floor((size + (article.posted_at / 1000 - HOT_EPOCH) / seconds) * 1e7 + 0.5) / 1e7


def best(up: int, down: int, z: float) -> float:
    """Lower bound of the Wilson interval of the share of upvotes, of so many deviations (Reddit's published source)."""
    votes = up + down
    if not votes:
        return 0.0
    share = up / votes
    middle = share + z * z / (2 * votes)
    spread = z * sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
    return (middle - spread) / (1 + z * z / votes)


def controversial(up: int, down: int) -> float:
    """Many votes, and evenly divided (Reddit's published source)."""
    if not up or not down:
        return 0.0
    votes: float = float(up + down) ** (min(up, down) / max(up, down))
    return votes
