"""What is told of listings: how alike they are, how fast they turn, how long a story stays, what colluders get."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from server.lab.replays import Ranked, Variant, article

Top = Sequence[int]  # numbers of stories, the first place first


def overlap(tops: Sequence[Top], others: Sequence[Top]) -> float:
    """The mean share of the places of one listing whose stories are in the other at the same instant."""
    shares = [len(set(top) & set(other)) / len(top) for top, other in zip(tops, others, strict=True)]
    return sum(shares) / len(shares)


def turnover(tops: Sequence[Top], an_hour: int) -> float:
    """The mean number of stories that were not there an hour ago; an hour has so many instants."""
    fresh = [len(set(now) - set(before)) for before, now in zip(tops, tops[an_hour:], strict=False)]
    return sum(fresh) / len(fresh)


def stays(tops: Sequence[Top], an_hour: int) -> list[float]:
    """How many hours each story that was ever there was there in all, the shortest first."""
    instants = Counter(number for top in tops for number in top)
    return sorted(count / an_hour for count in instants.values())


def rank(ranked: Sequence[Ranked], mine: Ranked, places: int) -> int | None:
    """
    The place that a story would have with another value, among the others; None where that is beyond the places.

    `ranked` has one place more, the highest first: the story's own may be among them.
    """
    others = [each for each in ranked if each[1] != mine[1]][:places]
    above = sum(each > mine for each in others)
    return above + 1 if above < places else None


@dataclass(slots=True)
class Push:
    """
    Colluders who vote for one story the moment it is posted, in a world that is otherwise as it was.

    `plain` and `pushed` are its ranks at each instant by variant, without and with their votes.
    """

    number: int
    history: Sequence[int]
    colluders: int
    plain: dict[str, list[int | None]] = field(default_factory=dict)
    pushed: dict[str, list[int | None]] = field(default_factory=dict)

    def watch(self, variant: Variant, ranked: Sequence[Ranked], votes: int, now: int, places: int) -> None:
        """Note the ranks at an instant, at which the story has so many votes of its own."""
        for extra, ranks in ((0, self.plain), (self.colluders, self.pushed)):
            value = variant.value(article(self.number, self.history[0], votes + extra), now)
            ranks.setdefault(variant.name, []).append(rank(ranked, (value, self.number), places))


def hours(ranks: Sequence[int | None], an_hour: int) -> float:
    """How long a story was among the places."""
    return sum(rank is not None for rank in ranks) / an_hour


def best_rank(ranks: Sequence[int | None]) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)
