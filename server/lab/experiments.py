"""One replay of a whole file, and what is measured: what each variant's listing showed, and whom colluders lift."""

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

WARM_UP = 7 * 24 * HOUR  # what the first week shows says more of the file's beginning than of the orders
FOLLOWED = 48 * HOUR  # how long a story is watched that colluders voted for
PUSHED = 200  # stories, evenly spaced


class NotReplayed(CommandError):
    """The file, or what was asked of the lab, gives nothing to show."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`instants` are in unix milliseconds, `an_hour` of them in an hour."""

    variants: Sequence[Variant]
    places: int
    colluders: int
    instants: range
    an_hour: int

    def replay(self, histories: Histories) -> Iterator[Listings]:
        """With one place more than the plan has, so that a story can be taken out."""
        return replay(histories, self.variants, self.places + 1, self.instants)


@dataclass(frozen=True, slots=True)
class Measured:
    """
    What a variant's listing did.

    Of stories that colluders vote for, without and with them: mean hours among the places, and the median of the best
    ranks, where one more than the places stands for all beyond. Both are empty where no story could be watched.
    """

    turnover: float
    median_stay: float
    longest_stay: float
    hours: Sequence[float]
    best_rank: Sequence[float]


@dataclass(frozen=True, slots=True)
class Results:
    """By the variants' names, `overlaps` by any two of them; `pushed` is how many stories colluders voted for."""

    pushed: int
    measured: dict[str, Measured]
    overlaps: dict[frozenset[str], float]


def instants(histories: Histories, step: int) -> range:
    """
    Each step, in milliseconds, from a week after the first story to the last one.

    Raises:
        NotReplayed: that is less than an hour.
    """
    if not histories:
        raise NotReplayed("the file has no story")
    first, last = histories[0][0], histories[-1][0]
    start = -(-(first + WARM_UP) // step) * step
    if last - start < HOUR:
        days = (last - first) / HOUR / 24
        raise NotReplayed(
            f"the stories span {days:.1f} days: the first 7 only fill the listings, and an hour must follow"
        )
    return range(start, last + 1, step)


def pushes(histories: Histories, plan: Plan) -> list[Push]:
    """Stories for colluders, evenly spaced among those that can be watched from first to last."""
    first, last = plan.instants[0], plan.instants[-1] - FOLLOWED
    watchable = [number for number, history in enumerate(histories) if first <= history[0] <= last]
    count = min(PUSHED, len(watchable))
    chosen = (watchable[place * len(watchable) // count] for place in range(count))
    return [Push(number, histories[number], plan.colluders) for number in chosen]


def measure(histories: Histories, plan: Plan, played: Iterable[Listings]) -> Results:
    """What a plan's replay of these histories shows."""
    tops: dict[str, list[Top]] = {variant.name: [] for variant in plan.variants}
    pushed = pushes(histories, plan)
    for now, listings in played:
        watched = [push for push in pushed if push.history[0] <= now < push.history[0] + FOLLOWED]
        counted = [(push, bisect_right(push.history, now)) for push in watched]
        for variant, ranked in zip(plan.variants, listings, strict=True):
            tops[variant.name].append(tuple(number for _, number in ranked[: plan.places]))
            for push, votes in counted:
                push.watch(variant, ranked, votes, now, plan.places)
    return Results(
        len(pushed),
        {name: _measured(name, tops[name], pushed, plan) for name in tops},
        {frozenset(pair): measures.overlap(*(tops[name] for name in pair)) for pair in combinations(tops, 2)},
    )


def _measured(name: str, tops: Sequence[Top], pushed: Sequence[Push], plan: Plan) -> Measured:
    stays = measures.stays(tops, plan.an_hour)
    ways = [[push.plain[name] for push in pushed], [push.pushed[name] for push in pushed]] if pushed else []
    return Measured(
        measures.turnover(tops, plan.an_hour),
        median(stays),
        stays[-1],
        [mean(measures.hours(ranks, plan.an_hour) for ranks in way) for way in ways],
        [median(measures.best_rank(ranks) or plan.places + 1 for ranks in way) for way in ways],
    )
