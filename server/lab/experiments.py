"""
Replays a file of stories once, and measures what each variant (an order of ranking with its weights) shows, and how far
colluding voters lift a story. The history of a story has the times of its votes, sorted; the first is its posting.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, median

from server.errors import CommandError
from server.lab import measures
from server.lab.arrivals import HOUR
from server.lab.measures import Push, Top
from server.lab.replays import Histories, Listings, Variant, replay

WARM_UP = 7 * 24 * HOUR  # milliseconds at the start that are not measured: pages are still filling
OBSERVED = 48 * HOUR  # milliseconds for which a story with colluders is observed
PUSHED = 200  # stories that get the votes of colluders, evenly spaced


class NotReplayed(CommandError):
    """The file or the options leave nothing to show."""


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """
    What a replay measures: the first `places` of each variant, at `instants` (unix milliseconds), of which `per_hour`
    are in an hour, and the effect of so many `colluders` on one story.
    """

    variants: Sequence[Variant]
    places: int
    colluders: int
    instants: range
    per_hour: int

    def replay(self, histories: Histories) -> Iterator[Listings]:
        """Listings with one place more than the plan has: the rank of a pushed story is found among the others only."""
        return replay(histories, self.variants, self.places + 1, self.instants)


@dataclass(frozen=True, slots=True)
class Measures:
    """
    The measures of a variant: `turnover` is the mean number of stories that were not on the page an hour before;
    `median_stay` and `longest_stay` are how many hours stories were on the page.

    `hours` and `best_rank` are of the stories with colluders. Each has two values, without the votes of the colluders
    and with them: the mean hours on the page, and the median of the best ranks. A story that was never on the page has
    the rank after the last place. Both are empty if no story could be observed.
    """

    turnover: float
    median_stay: float
    longest_stay: float
    hours: Sequence[float]
    best_rank: Sequence[float]


@dataclass(frozen=True, slots=True)
class Results:
    """`measured` is by variant, `overlaps` by pairs of variants; `pushed` is the number of stories with colluders."""

    pushed: int
    measured: dict[str, Measures]
    overlaps: dict[frozenset[str], float]


def instants(histories: Histories, step: int) -> range:
    """
    The instants of a replay, one each `step` milliseconds, from a week after the first story to the last one.

    Raises:
        NotReplayed: they span less than an hour.
    """
    if not histories:
        raise NotReplayed("the file has no story")
    first, last = _posted_at(histories[0]), _posted_at(histories[-1])
    start = -(-(first + WARM_UP) // step) * step  # rounded up to a whole step
    if last - start < HOUR:
        days = (last - first) / HOUR / 24
        raise NotReplayed(
            f"the stories span {days:.1f} days: the first 7 only fill the pages, and at least one hour must follow"
        )
    return range(start, last + 1, step)


def pushes(histories: Histories, plan: ExperimentPlan) -> list[Push]:
    """Stories for colluders, evenly spaced among those that can be observed completely."""
    first, last = plan.instants[0], plan.instants[-1] - OBSERVED
    observable = [number for number, history in enumerate(histories) if first <= _posted_at(history) <= last]
    count = min(PUSHED, len(observable))
    chosen = (observable[place * len(observable) // count] for place in range(count))
    return [Push(number, histories[number], plan.colluders) for number in chosen]


def measure(histories: Histories, plan: ExperimentPlan, played: Iterable[Listings]) -> Results:
    """Measure `played`, the replay of a plan."""
    tops: dict[str, list[Top]] = {variant.name: [] for variant in plan.variants}
    pushed = pushes(histories, plan)
    for now, listings in played:
        observed = [push for push in pushed if push.history[0] <= now < push.history[0] + OBSERVED]
        counted = [(push, bisect_right(push.history, now)) for push in observed]
        for variant, ranked in zip(plan.variants, listings, strict=True):
            tops[variant.name].append(tuple(story for _value, story in ranked[: plan.places]))
            for push, votes in counted:
                push.observe(variant, ranked, votes, now, plan.places)
    return Results(
        pushed=len(pushed),
        measured={name: _measured(name, tops[name], pushed, plan) for name in tops},
        overlaps={frozenset(pair): measures.overlap(*(tops[name] for name in pair)) for pair in combinations(tops, 2)},
    )


def _posted_at(history: Sequence[int]) -> int:
    return history[0]


def _measured(name: str, tops: Sequence[Top], pushed: Sequence[Push], plan: ExperimentPlan) -> Measures:
    stays = measures.stays(tops, plan.per_hour)
    without = [push.plain[name] for push in pushed]  # the ranks of each story at each instant
    lifted = [push.lifted[name] for push in pushed]  # the same with the votes of colluders
    series = [without, lifted] if pushed else []
    return Measures(
        turnover=measures.turnover(tops, plan.per_hour),
        median_stay=median(stays),
        longest_stay=max(stays),
        hours=[mean(measures.hours(ranks, plan.per_hour) for ranks in each) for each in series],
        best_rank=[median(measures.best_rank(ranks) or plan.places + 1 for ranks in each) for each in series],
    )
