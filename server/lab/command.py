"""The command `lab`: replays a file of stories and prints how orders and weights differ, with a picture of one day."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from server.cli import import_stories
from server.cli.import_stories import Tally
from server.cli.progress import bars
from server.lab import tables
from server.lab.arrivals import HOUR, arrivals
from server.lab.experiments import FOLLOWED, NotReplayed, Plan, instants, measure
from server.lab.replays import Histories, Variant, replay
from store.maintenance.import_stories import Story
from store.ranking.formulas import DAY as DAY_SECONDS
from store.ranking.formulas import ORDERS, Order, Policy

DAY = 24 * HOUR
BEST = 10  # stories of a day that are drawn
DRAWN_STEP = HOUR // 12
DEFAULTS = Policy()
STEPS = (5, 10, 15, 20, 30, 60)  # minutes: shares of an hour
LEAST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True)
class Options:
    """`half_life` is in hours, `step` in minutes, a share of an hour."""

    orders: Sequence[Order]
    vote_scores: Sequence[float]
    gravity_ages: Sequence[float]
    top: int
    colluders: int
    half_life: float
    seed: int
    step: int
    picture: Path | None
    day: date | None


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    orders = f"of {', '.join(ORDERS)} (%(default)s)"
    scores, ages = f"{DEFAULTS.vote_score:g},100", f"{DEFAULTS.gravity_age:g}"
    many, one = "X,...", "N"
    add("file", type=Path, help="stories, as import reads them")
    add("--orders", metavar=many, type=_orders, default="score,hot,gravity,votes,time", help=orders)
    add(
        "--vote-score",
        metavar=many,
        type=_weights(DAY_SECONDS),
        default=scores,
        help="seconds per vote, for score (%(default)s)",
    )
    add("--gravity-age", metavar=many, type=_weights(10), default=ages, help="exponents of gravity's age (%(default)s)")
    add("--top", metavar=one, type=_whole(1, 100), default=25, help="places of a listing (%(default)s)")
    add("--colluders", metavar=one, type=_whole(1, 10_000), default=50, help="votes for a new story (%(default)s)")
    add("--half-life", metavar=one, type=_weight(168), default=4.0, help="hours for half of the votes (%(default)g)")
    add("--seed", metavar=one, type=_whole(0, 2**32), default=1, help="of when votes come (%(default)s)")
    add("--step", type=int, choices=STEPS, default=60, help="minutes from one look to the next (%(default)s)")
    add("--picture", metavar="FILE", type=Path, help="a PNG to write: the ranks of a day's ten best stories")
    add("--day", metavar="DAY", type=_date_argument, help="day of the picture in UTC, as 2016-08-04 (most votes)")


def run(arguments: Namespace) -> int:
    return compare(arguments.file, _options(arguments))


def compare(file: Path, options: Options) -> int:
    """
    Print what orders and weights would have shown of a file's stories, and draw a picture of a day if one is wanted.

    Raises:
        OSError, NotStories: the file cannot be read, or the picture not be written.
        NotReplayed: there is nothing to measure or to draw, or matplotlib is missing.
    """
    variants = _variants(options)
    _check_picture(options)
    tally = Tally()
    window = Policy().voting_window
    with bars() as progress:
        found = import_stories.read(file, tally, progress)
        histories = [arrivals(story, options.half_life, window, options.seed) for story in found]
        looks = instants(histories, options.step * HOUR // 60)
        plan = Plan(variants, options.top, options.colluders, looks, 60 // options.step)
        day = _first_instant(found, options.day)
        results = measure(histories, plan, progress.track(plan.replay(histories), len(looks), description="replay"))
    print(
        f"{len(found)} stories of {_date(found[0].time)} to {_date(found[-1].time)}, bad lines {tally.bad}; "
        f"a look every {options.step} min from {_date(looks[0])} on\n"
        f"votes come by a model: half of those to come within {options.half_life:g} h, and so on; seed {options.seed}\n"
        f"colluders: without -> with them, for {results.pushed} stories when posted, each followed for "
        f"{FOLLOWED // HOUR} h\n"
    )
    print(tables.tables(results, plan))
    if {Order.BEST, Order.CONTROVERSIAL} & set(options.orders):
        print("\nthe file has no downvotes: best is as votes, and controversial as time")
    if options.picture:
        _draw(options.picture, day, found, histories, plan)
    return 0


def _variants(options: Options) -> list[Variant]:
    weighed = {
        Order.SCORE: {weight: Policy(vote_score=weight) for weight in options.vote_scores},
        Order.GRAVITY: {weight: Policy(gravity_age=weight) for weight in options.gravity_ages},
    }
    variants = []
    for order in options.orders:
        if order in weighed:
            variants += [Variant(f"{order.value} {weight:g}", order, each) for weight, each in weighed[order].items()]
        else:
            variants.append(Variant(order.value, order, Policy()))
    if len(variants) > tables.MOST_VARIANTS:
        raise NotReplayed(f"tables have room for {tables.MOST_VARIANTS} orders and weights, these are {len(variants)}")
    return variants


def _check_picture(options: Options) -> None:
    """Refuse before the replay what would fail after it."""
    if options.picture is None:
        if options.day:
            raise NotReplayed("a day is for a picture, and none is wanted")
        return
    try:
        import server.lab.pictures  # noqa: F401
    except ImportError as error:
        raise NotReplayed("a picture needs matplotlib: .venv/bin/pip install -e '.[lab]'") from error
    if not options.picture.parent.is_dir():
        raise NotReplayed(f"there is no folder {options.picture.parent} for the picture")


def _first_instant(found: Sequence[Story], wanted: date | None) -> int:
    """When the day wanted starts, or that with the most votes in all, in unix milliseconds."""
    votes: Counter[int] = Counter()
    for story in found:
        votes[story.time // DAY * DAY] += story.votes
    if wanted is None:
        return max(votes, key=votes.__getitem__)
    day = int(datetime(wanted.year, wanted.month, wanted.day, tzinfo=UTC).timestamp()) * 1000
    if day not in votes:
        raise NotReplayed(f"no story is of {wanted}: they are of {_date(min(votes))} to {_date(max(votes))}")
    return day


def _draw(picture: Path, start: int, found: Sequence[Story], histories: Histories, plan: Plan) -> None:
    from server.lab import pictures

    posted = [number for number, story in enumerate(found) if start <= story.time < start + DAY]
    best = sorted(posted, key=lambda number: found[number].votes, reverse=True)[:BEST]
    looks = range(start, start + DAY + 1, DRAWN_STEP)
    shown = [listings for _, listings in replay(histories, plan.variants, plan.places, looks)]
    tops = {
        variant.name: [[number for _, number in listings[index]] for listings in shown]
        for index, variant in enumerate(plan.variants)
    }
    titles = {number: f"{found[number].votes}  {found[number].title}" for number in best}
    pictures.draw(pictures.Day(_date(start), titles, looks, tops, plan.places), picture)


def _date(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


def _options(arguments: Namespace) -> Options:
    return Options(
        arguments.orders,
        arguments.vote_score,
        arguments.gravity_age,
        arguments.top,
        arguments.colluders,
        arguments.half_life,
        arguments.seed,
        arguments.step,
        arguments.picture,
        arguments.day,
    )


def _orders(text: str) -> list[Order]:
    names = text.split(",")
    if unknown := [name for name in names if name not in ORDERS]:
        raise ArgumentTypeError(f"{unknown[0]!r} is no order: {', '.join(ORDERS)}")
    return [Order(name) for name in dict.fromkeys(names)]


def _weights(most: float) -> Callable[[str], list[float]]:
    weight = _weight(most)
    return lambda text: list(dict.fromkeys(weight(each) for each in text.split(",")))


def _weight(most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            weight = 0
        if not LEAST_WEIGHT <= weight <= most or float(f"{weight:g}") != weight:
            raise ArgumentTypeError(f"{text!r} is no number from {LEAST_WEIGHT} to {most:g} of at most 6 digits")
        return weight

    return number


def _whole(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= most):
            raise ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return number


def _date_argument(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no day like 2016-08-04") from error
