"""
Replays the votes of stories, and yields the top places of several variants of ranking (an order with its weights) at
each instant.

The number of a story is its index by posting time. As with articles, the higher number is first among equal values.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace

from store.ranking.formulas import Order, Policy
from store.records import Article

# Of each story, by posting time, the times of its votes. The first vote is the poster's, at the posting time.
Histories = Sequence[Sequence[int]]
Ranked = tuple[float, int]  # the value and the number of a story
Listings = tuple[int, list[list[Ranked]]]  # an instant, and at this instant the top places of each variant

SPARE = 25  # after so many new candidates, those that cannot reach the top any more are dropped


@dataclass(frozen=True, slots=True)
class Variant:
    """A named order with its weights."""

    name: str
    order: Order
    policy: Policy

    def value(self, article: Article, now: int) -> float:
        return self.policy.value_at(self.order, article, now)


class _Candidate:
    """A story that may still reach the top, with its current votes."""

    __slots__ = ("article", "history", "number", "votes")

    def __init__(self, number: int, history: Sequence[int]) -> None:
        self.number = number
        self.history = history
        self.votes = 0
        self.article = article(number, posted_at=history[0], votes=1)

    def vote(self, now: int) -> bool:
        """Count the votes until now. Returns whether there are new ones."""
        if self.votes == len(self.history) or self.history[self.votes] > now:
            return False
        self.votes = bisect_right(self.history, now, self.votes)
        self.article = article(self.number, self.history[0], self.votes)
        return True


def article(number: int, posted_at: int, votes: int) -> Article:
    """An article for the formulas of the orders. The data of the lab has no downvotes."""
    return Article(
        number,
        title="",
        link=None,
        content=None,
        poster="",
        posted_at=posted_at,
        edited_at=None,
        upvotes=votes,
        downvotes=0,
        imported_votes=0,
        groups=(),
    )


def replay(
    histories: Histories, variants: Sequence[Variant], places: int, instants: Iterable[int]
) -> Iterator[Listings]:
    """
    The top places of each variant at each instant.

    If values do not decay, votes only raise them, so only the previous top places and stories with new votes compete.
    All times are unix milliseconds; `instants` are sorted.
    """
    candidates: list[_Candidate] = []
    top: list[list[Ranked]] = [[] for _ in variants]
    posted = most_candidates = 0
    for now in instants:
        while posted < len(histories) and histories[posted][0] <= now:
            candidates.append(_Candidate(posted, histories[posted]))
            posted += 1
        voted = [candidate for candidate in candidates if candidate.vote(now)]
        if len(candidates) > most_candidates:
            candidates = _contenders(candidates, places)
            most_candidates = len(candidates) + SPARE
        for index, variant in enumerate(variants):
            unchanged, changed = ([], candidates) if variant.order.decays else (top[index], voted)
            ranked = {number: value for value, number in unchanged}
            ranked.update((each.number, variant.value(each.article, now)) for each in changed)
            top[index] = sorted(((value, number) for number, value in ranked.items()), reverse=True)[:places]
        yield now, top.copy()


def _contenders(candidates: Sequence[_Candidate], places: int) -> list[_Candidate]:
    """
    The candidates that can still reach the top.

    No order ranks an older story above a younger one that has at least as many votes, and no vote is taken back. Let
    there be P places: a story is out once P younger ones have at least as many votes as it will have at the end.
    """
    contenders: list[_Candidate] = []
    younger: list[int] = []  # the highest votes of younger stories, as a heap
    for candidate in reversed(candidates):
        if len(younger) < places or len(candidate.history) > younger[0]:
            contenders.append(candidate)
        if len(younger) < places:
            heappush(younger, candidate.votes)
        elif candidate.votes > younger[0]:
            heapreplace(younger, candidate.votes)
    return contenders[::-1]
