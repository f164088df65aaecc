"""
What stood on top, instant by instant, under several orders at once.

Stories are named by their place in the file's order of time, as article numbers would name them: of equal values the
higher number is first.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace

from store.ranking.formulas import Order, Policy
from store.records import Article

Histories = Sequence[Sequence[int]]  # the instants of each story's votes, the first its posting time; by that time
Ranked = tuple[float, int]  # a value, and the number of the story that has it
Listings = tuple[int, list[list[Ranked]]]  # an instant, and the first places of each variant, highest first

SPARE = 25  # how many more candidates are carried before it pays to look who can be dropped


@dataclass(frozen=True, slots=True)
class Variant:
    """An order with its weights, and what to call it."""

    name: str
    order: Order
    policy: Policy

    def value(self, article: Article, now: int) -> float:
        return self.policy.value_at(self.order, article, now)


class _Candidate:
    """A story that may yet be on top under some order, with its votes of the moment."""

    __slots__ = ("article", "history", "number", "votes")

    def __init__(self, number: int, history: Sequence[int]) -> None:
        self.number = number
        self.history = history
        self.votes = 0
        self.article = article(number, history[0], 1)

    def vote(self, now: int) -> bool:
        """Count the votes that came until now, if any came."""
        if self.votes == len(self.history) or self.history[self.votes] > now:
            return False
        self.votes = bisect_right(self.history, now, self.votes)
        self.article = article(self.number, self.history[0], self.votes)
        return True


def article(number: int, posted_at: int, votes: int) -> Article:
    """What an order needs to know of a story; nobody votes down in a file of points."""
    return Article(number, "", None, None, "", posted_at, None, votes, 0, 0, ())


def replay(
    histories: Histories, variants: Sequence[Variant], places: int, instants: Iterable[int]
) -> Iterator[Listings]:
    """
    The first places of each variant at each instant.

    Where age changes nothing, votes only raise a value: who was not among the first and got no vote is not now.
    All times are unix milliseconds, and instants are in their order.
    """
    candidates: list[_Candidate] = []
    first: list[list[Ranked]] = [[] for _ in variants]
    posted = enough = 0
    for now in instants:
        while posted < len(histories) and histories[posted][0] <= now:
            candidates.append(_Candidate(posted, histories[posted]))
            posted += 1
        moved = [candidate for candidate in candidates if candidate.vote(now)]
        if len(candidates) > enough:
            candidates = _contenders(candidates, places)
            enough = len(candidates) + SPARE
        for index, variant in enumerate(variants):
            still, changed = ([], candidates) if variant.order.decays else (first[index], moved)
            ranked = {number: value for value, number in still}
            ranked.update((each.number, variant.value(each.article, now)) for each in changed)
            first[index] = sorted(((value, number) for number, value in ranked.items()), reverse=True)[:places]
        yield now, first.copy()


def _contenders(candidates: Sequence[_Candidate], places: int) -> list[_Candidate]:
    """
    Those that are not beaten for ever: by as many younger stories as there are places, each with votes enough by now.

    No order puts an older story with fewer or as many votes above a younger one, and votes are only given.
    """
    kept: list[_Candidate] = []
    younger: list[int] = []  # the most votes of those seen so far, as a heap
    for candidate in reversed(candidates):
        if len(younger) < places or len(candidate.history) > younger[0]:
            kept.append(candidate)
        if len(younger) < places:
            heappush(younger, candidate.votes)
        elif candidate.votes > younger[0]:
            heapreplace(younger, candidate.votes)
    return kept[::-1]
