"""
The formulas that articles are ordered by, as they were published, for the model with which the soak test compares a
server. Instants are unix milliseconds.
"""

from dataclasses import dataclass
from math import floor, log10, sqrt

from tests.soak.rules import Rules

HOT_EPOCH = 1_134_028_003  # unix seconds

Terms = list[tuple[str, float]]  # names and values


@dataclass(frozen=True)
class Policy:
    """The settings of a server that the model depends on."""

    good_votes: int = 3  # from which an article is good, and on the front page
    vote_score: float = 1.0  # seconds that a vote is worth in the order SCORE
    voting_window: int = 20  # seconds
    session_ttl: int = 86_400  # seconds
    hot_seconds: float = 45_000  # worth as much in the order HOT as ten times the votes
    best_z: float = 1.281551565545  # the quantile of the normal distribution for the interval of 80 % in the order BEST
    gravity_votes: float = 0.8  # the exponent of votes in the order GRAVITY
    gravity_age: float = 1.8  # the exponent of age there
    gravity_delay: float = 120  # minutes that are added to the age there
    voters: str = "everybody"  # who reads the list of voters: everybody, moderators or nobody
    rules: Rules | None = None
    comment_days: int | None = None  # after which an article takes no comments


def value(policy: Policy, order: str, posted_at: int, up: int, down: int, now: int) -> float:
    """
    The value by which an order sorts, of all orders but ACTIVE, which depends on comments. SCORE and TIME are in
    milliseconds, as in cursors.
    """
    match order:
        case "SCORE":
            return posted_at + policy.vote_score * 1000 * (up - down)
        case "TIME":
            return posted_at
        case "VOTES":
            return up - down
        case "HOT":
            return hot(policy, posted_at, up - down)
        case "BEST":
            return best(policy, up, down)
        case "CONTROVERSIAL":
            return float(up + down) ** (min(up, down) / max(up, down)) if up and down else 0.0
        case _:
            return gravity(policy, posted_at, up - down, now)


def hot(policy: Policy, posted_at: int, votes: int) -> float:
    """Reddit's hot, to 7 places."""
    sign = (votes > 0) - (votes < 0)
    size = sign * log10(max(abs(votes), 1))
    return floor((size + (posted_at / 1000 - HOT_EPOCH) / policy.hot_seconds) * 1e7 + 0.5) / 1e7


def best(policy: Policy, up: int, down: int) -> float:
    """The lower bound of the Wilson interval of the share of upvotes."""
    cast, z = up + down, policy.best_z
    if not cast:
        return 0.0
    share = up / cast
    spread = z * sqrt(share * (1 - share) / cast + z * z / (4 * cast * cast))
    return (share + z * z / (2 * cast) - spread) / (1 + z * z / cast)


def gravity(policy: Policy, posted_at: int, votes: int, now: int) -> float:
    """Hacker News, as published with Arc: votes without the poster's own, by age."""
    minutes = max(now - posted_at, 0) / 60_000
    decay = ((minutes + policy.gravity_delay) / 60) ** policy.gravity_age
    base = votes - 1
    return (base**policy.gravity_votes if base > 0 else base) / decay


def terms(policy: Policy, order: str, posted_at: int, up: int, down: int, shown: float) -> Terms:
    """The terms that add up to the value of an order, as it is `shown`: the field `standing` of an article has them."""
    votes, seconds = up - down, posted_at / 1000
    match order:
        case "SCORE":
            return [("posting time", seconds), ("votes", policy.vote_score * votes)]
        case "TIME":
            return [("posting time", seconds)]
        case "VOTES":
            return [("upvotes", up), ("downvotes", -down)]
        case "HOT":
            first = ("votes", log10(max(abs(votes), 1)) * (1 if votes > 0 else -1))
            rest = "posting time"
        case "BEST":
            first, rest = ("share of upvotes", up / max(up + down, 1)), "uncertainty"
        case "CONTROVERSIAL":
            first, rest = ("all votes", up + down), "imbalance"
        case "ACTIVE":
            first, rest = ("posting time", seconds), "newest comment"
        case _:
            first, rest = ("votes", gravity(policy, posted_at, votes, posted_at)), "age"
    return [first, (rest, shown - first[1])]
