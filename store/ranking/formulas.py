"""
The orders of listings and their formulas, with sources. `formulas.lua`, `prelude.lua` and `gravity_index.lua` have the
same formulas.
"""

from dataclasses import dataclass, field
from enum import Enum
from math import floor, log10, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.records import Article, Comment

DAY = 86_400  # seconds
PAGE_SIZE = 25  # articles
FRONT_PAGE_SIZE = 50  # articles
GROUPS_PER_ARTICLE = 10  # at most

HOT_EPOCH = 1_134_028_003  # unix seconds: in 2005, from Reddit's formula
CLASS_STEP = 2**42  # milliseconds between two classes of votes in the index of GRAVITY: more than any posting time
DIGITS = 3  # leading binary digits of |votes - 1| that the articles of a class share


class Order(Enum):
    """What a listing is ordered by, highest first. Each order has an index of this name."""

    SCORE = "score"
    TIME = "time"
    VOTES = "votes"
    HOT = "hot"
    BEST = "best"
    CONTROVERSIAL = "controversial"
    GRAVITY = "gravity"
    ACTIVE = "active"

    def __init__(self, index: str) -> None:
        # whether values change with age; then the index has marks in place of values, see `Policy.value`
        self.decays = index == "gravity"


ORDERS = tuple(order.value for order in Order)
INDEX_WEIGHTS = ("vote_score", "hot_seconds", "best_z")  # the weights that values in indexes depend on
WEIGHTS = (*INDEX_WEIGHTS, "gravity_votes", "gravity_age", "gravity_delay")


@dataclass(frozen=True, slots=True)
class Policy:
    """The numbers of the ranking. `vote_score` is in seconds: 200 votes are worth a day (Redis in Action, ch. 1)."""

    good_votes: int = 200  # votes that an article needs for the front page
    vote_score: float = DAY / 200
    voting_window: int = 7 * DAY  # seconds
    duplicate_window: float = 30 * DAY  # seconds in which an article with the same link is a duplicate; 0: never
    hot_seconds: float = 45_000.0  # the age that ten times the votes make up for
    best_z: float = 1.281551565545  # 80 % confidence, as standard deviations
    gravity_votes: float = 0.8  # exponent of the votes, without the poster's
    gravity_age: float = 1.8  # exponent of the age
    gravity_delay: float = 120.0  # minutes added to every age
    voting_ms: int = field(init=False, repr=False, compare=False)  # the voting window in milliseconds
    script_arguments: tuple[str, int, int] = field(init=False, repr=False, compare=False)  # ARGV 4-6 of `prelude.lua`

    def __post_init__(self) -> None:
        weights = f"{self.vote_score!r} {self.hot_seconds!r} {self.best_z!r}"
        object.__setattr__(self, "voting_ms", self.voting_window * 1000)
        object.__setattr__(self, "script_arguments", (weights, self.good_votes, self.voting_ms))

    def kept_in_indexes(self) -> dict[str, float]:
        """The numbers that the indexes depend on, by name."""
        return {name: getattr(self, name) for name in ("good_votes", *INDEX_WEIGHTS)}

    def closes_at(self, subject: "Article | Comment") -> int:
        """The last instant at which an article or a comment can be voted on (unix milliseconds)."""
        return subject.posted_at + self.voting_ms

    def is_good(self, article: "Article") -> bool:
        return article.votes >= self.good_votes

    def score(self, article: "Article") -> float:
        """Posting time + `vote_score` x votes, in unix seconds (Redis in Action, ch. 1)."""
        return self.value(Order.SCORE, article) / 1000

    def value(self, order: Order, article: "Article") -> float:
        """
        The value of an article in the index of an order. Times, scores and activity are unix milliseconds. The index of
        GRAVITY has marks, as its values change with time: class of the votes * `CLASS_STEP` + posting time, negative
        for an article with less than one vote.
        """
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
                mark = gravity_class(article.votes) * CLASS_STEP + article.posted_at
                return -mark if article.votes < 1 else mark
            case Order.ACTIVE:
                return article.posted_at if article.active_at is None else article.active_at

    def value_at(self, order: Order, article: "Article", now: int) -> float:
        """The sort value at an instant (unix milliseconds): the value in the index, except for GRAVITY."""
        return self.gravity(article, now) if order.decays else self.value(order, article)

    def gravity(self, article: "Article", now: int) -> float:
        """
        (votes - 1) ** gravity_votes / (age in hours + 2) ** gravity_age, at an instant in unix milliseconds.

        Source: Hacker News, as published with Arc (news.arc); `gravity_delay` is the 2 hours. If votes - 1 is
        below 0, it has no exponent. An article posted after the instant has age 0.
        """
        base = article.votes - 1
        minutes = max(now - article.posted_at, 0) / 60_000
        decay: float = ((minutes + self.gravity_delay) / 60) ** self.gravity_age
        return (base**self.gravity_votes if base > 0 else base) / decay


def gravity_class(votes: int) -> int:
    """
    The class of an article in the index of GRAVITY: |votes - 1|, rounded down to its first three binary digits.

    Classes are numbered from 0 in ascending order.
    """
    size = abs(votes - 1)
    shifts = max(size.bit_length() - DIGITS, 0)
    return (shifts << (DIGITS - 1)) + (size >> shifts)


def hot(article: "Article", seconds: float) -> float:
    """
    sign(votes) * log10(|votes|) + (posting time - epoch) / seconds, rounded to 7 places.

    Ten times the votes make up for `seconds` of age. Source: Reddit's _sorts.pyx, which has 45,000 seconds.
    """
    sign = (article.votes > 0) - (article.votes < 0)
    size = sign * log10(max(abs(article.votes), 1))
    return floor((size + (article.posted_at / 1000 - HOT_EPOCH) / seconds) * 1e7 + 0.5) / 1e7


def best(up: int, down: int, z: float) -> float:
    """
    Lower bound of the Wilson score interval of the share of upvotes; `z` is the confidence in standard deviations.

    Source: Reddit's _sorts.pyx (E. B. Wilson, 1927).
    """
    votes = up + down
    if not votes:
        return 0.0
    share = up / votes
    middle = share + z * z / (2 * votes)
    spread = z * sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
    return (middle - spread) / (1 + z * z / votes)


def controversial(up: int, down: int) -> float:
    """
    All votes ** (smaller part / larger part): high for many votes that are evenly divided.

    Source: Reddit's _sorts.pyx.
    """
    if not up or not down:
        return 0.0
    votes: float = float(up + down) ** (min(up, down) / max(up, down))
    return votes
