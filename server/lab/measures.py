"""
Measures of the first places of a ranking at many instants, and of two such rankings: overlap, turnover, how long a
story stays, and the effect of colluding voters.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from server.lab.replays import Ranked, Variant, article

Top = Sequence[int]  # numbers of stories, from the top


def overlap(tops: Sequence[Top], others: Sequence[Top]) -> float:
    """The mean share of stories of one listing that the other has at the same instant."""
    shares = [len(set(top) & set(other)) / len(top) for top, other in zip(tops, others, strict=True)]
    return sum(shares) / len(shares)


def turnover(tops: Sequence[Top], per_hour: int) -> float:
    """The mean number of stories that were not on the page an hour before."""
    fresh = [len(set(now) - set(before)) for before, now in zip(tops, tops[per_hour:], strict=False)]
    return sum(fresh) / len(fresh)


def stays(tops: Sequence[Top], per_hour: int) -> list[float]:
    """Total hours of each story that was ever on the page, sorted."""
    instants = Counter(number for top in tops for number in top)
    return sorted(count / per_hour for count in instants.values())


def rank(ranked: Sequence[Ranked], changed: Ranked, places: int) -> int | None:
    """
    The rank that a story would have if its value and number were `changed`; None beyond the page of `places` stories.

    `ranked` has one place more than the page, because it may contain the story itself.
    """
    _, changed_number = changed
    others = [(value, number) for value, number in ranked if number != changed_number][:places]
    above = sum(each > changed for each in others)
    return above + 1 if above < places else None


@dataclass(slots=True)
class Push:
    """
    Colluders who vote for one story when it is posted. All other votes stay the same.

    `history` has the time of each vote on the story, the first at its posting (unix milliseconds). `plain` and `lifted`
    have its ranks by variant at each instant, without and with the votes of the colluders.
    """

    number: int
    history: Sequence[int]
    colluders: int
    plain: dict[str, list[int | None]] = field(default_factory=dict)
    lifted: dict[str, list[int | None]] = field(default_factory=dict)

    def observe(self, variant: Variant, ranked: Sequence[Ranked], votes: int, now: int, places: int) -> None:
        """Record the ranks at an instant at which the story has `votes` without those of the colluders."""
        for extra, ranks in ((0, self.plain), (self.colluders, self.lifted)):
            value = variant.value(article(self.number, self.history[0], votes + extra), now)
            ranks.setdefault(variant.name, []).append(rank(ranked, (value, self.number), places))


def hours(ranks: Sequence[int | None], per_hour: int) -> float:
    """How long a story was on the page."""
    return sum(rank is not None for rank in ranks) / per_hour


def best_rank(ranks: Sequence[int | None]) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)
