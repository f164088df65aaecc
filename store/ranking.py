"""How articles are ordered, and the numbers that it depends on."""

from dataclasses import dataclass
from enum import Enum

from store.records import Article

DAY = 86_400  # seconds
PAGE_SIZE = 25
FRONT_PAGE_SIZE = 50
GROUPS_PER_ARTICLE = 10


class Order(Enum):
    """What a listing is ordered by, highest first. Each has an index of this name."""

    SCORE = "score"
    TIME = "time"
    VOTES = "votes"


ORDERS = tuple(order.value for order in Order)


@dataclass(frozen=True, slots=True)
class Policy:
    """`vote_score` is how many seconds one vote is worth: 200 votes make up for a day (Redis in Action, ch. 1)."""

    good_votes: int = 200
    vote_score: float = DAY / 200
    voting_window: int = 7 * DAY  # seconds

    def closes_at(self, article: Article) -> int:
        """The last instant, in unix milliseconds, at which the article can be voted on."""
        return article.posted_at + self.voting_window * 1000

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
