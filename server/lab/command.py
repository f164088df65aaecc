"""
The command `lab`: replays a file of stories, compares orders of ranking and their weights, and can draw the ranks of
one day. With `--rings` it measures the search for rings, accounts that vote for each other more than chance explains.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from server.cli import import_stories
from server.cli.import_stories import ImportCounts
from server.cli.progress import progress_bars
from server.cli.rings import require_numpy
from server.lab import tables
from server.lab.arrivals import HOUR, arrivals
from server.lab.experiments import OBSERVED, ExperimentPlan, NotReplayed, instants, measure
from server.lab.replays import Histories, Variant, replay
from store.maintenance.import_stories import Story
from store.ranking.formulas import DAY as DAY_SECONDS
from store.ranking.formulas import ORDERS, Order, Policy

DAY = 24 * HOUR  # milliseconds
DRAWN_STORIES = 10  # the best of a day
DRAWN_STEP = HOUR // 12  # milliseconds between the instants of a picture
DEFAULTS = Policy()
STEPS = (5, 10, 15, 20, 30, 60)  # minutes that divide an hour
MIN_WEIGHT = 0.01  # the least value of an option for weights


@dataclass(frozen=True, slots=True)
class LabOptions:
    """`top` is the number of places on a page, `half_life` is in hours, `step` in minutes."""

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
    orders = f"names from {', '.join(ORDERS)} (%(default)s)"
    scores, ages = f"{DEFAULTS.vote_score:g},100", f"{DEFAULTS.gravity_age:g}"
    many, one = "X,...", "N"  # how the help writes values: a list, a number
    add("file", type=Path, help="stories, in a format that `import` reads")
    add("--orders", metavar=many, type=_orders, default="score,hot,gravity,votes,time", help=orders)
    add(
        "--vote-score",
        metavar=many,
        type=_weights(maximum=DAY_SECONDS),
        default=scores,
        help="seconds per vote, for score (%(default)s)",
    )
    add(
        "--gravity-age",
        metavar=many,
        type=_weights(maximum=10),
        default=ages,
        help="exponents of the age in gravity (%(default)s)",
    )
    add("--top", metavar=one, type=_whole(1, 100), default=25, help="number of places on a page (%(default)s)")
    add("--colluders", metavar=one, type=_whole(1, 10_000), default=50, help="number of colluding voters (%(default)s)")
    add(
        "--half-life",
        metavar=one,
        type=_weight(maximum=168),
        default=4.0,
        help="hours in which half of the votes come (%(default)g)",
    )
    add("--seed", metavar=one, type=_whole(0, 2**32), default=1, help="random seed of the vote times (%(default)s)")
    add("--step", type=int, choices=STEPS, default=60, help="minutes between samples (%(default)s)")
    add("--picture", metavar="FILE", type=Path, help="PNG file to write: ranks of a day's ten best stories")
    add("--rings", action="store_true", help="instead, plant rings of accounts among friends, and search for them")
    add("--day", metavar="DAY", type=_date_argument, help="day of the picture in UTC, as 2016-08-04 (most votes)")


def run(arguments: Namespace) -> int:
    return (
        find_rings(arguments.file, arguments.seed) if arguments.rings else compare(arguments.file, _options(arguments))
    )


def compare(file: Path, options: LabOptions) -> int:
    """
    Print what each order and weight would have shown, and draw a picture of a day if one is wanted.

    Raises:
        OSError, NotStories: the file cannot be read, or the picture cannot be written.
        NotReplayed: there is nothing to measure or to draw, or matplotlib is missing.
    """
    variants = _variants(options)
    _check_picture(options)
    counts = ImportCounts()
    window = Policy().voting_window
    with progress_bars() as progress:
        stories = import_stories.read([file], counts, progress).stories
        histories = [arrivals(story, options.half_life, window, options.seed) for story in stories]
        samples = instants(histories, options.step * HOUR // 60)
        plan = ExperimentPlan(
            variants, places=options.top, colluders=options.colluders, instants=samples, per_hour=60 // options.step
        )
        day = _start_of_day(stories, options.day)
        results = measure(histories, plan, progress.track(plan.replay(histories), len(samples), description="replay"))
    print(
        f"{len(stories)} stories of {_date(stories[0].time)} to {_date(stories[-1].time)}, bad lines {counts.bad}; "
        f"sampled every {options.step} min from {_date(samples[0])} on\n"
        f"vote times are modelled: half of the remaining votes come every {options.half_life:g} h; "
        f"seed {options.seed}\n"
        f"colluders: without -> with their votes, for {results.pushed} new stories, each observed for "
        f"{OBSERVED // HOUR} h\n"
    )
    print(tables.tables(results, plan))
    if {Order.BEST, Order.CONTROVERSIAL} & set(options.orders):
        print("\nthe file has no downvotes: best ranks as votes, controversial as time")
    if options.picture:
        _draw(options.picture, day, stories, histories, plan)
    return 0


def find_rings(file: Path, seed: int) -> int:
    """
    Plant rings on sites with the stories of a file, and print which of them the search finds.

    Raises:
        OSError, NotStories: the file cannot be read.
        CommandError: numpy is missing.
        NotReplayed: the file has no story.
    """
    require_numpy()
    from server.lab.planted_rings import ALL_PLANTED, measure  # needs numpy

    with progress_bars() as progress:
        stories = import_stories.read([file], ImportCounts(), progress).stories
        if not stories:
            raise NotReplayed("the file has no story")
        sites = progress.track(ALL_PLANTED, description="search")
        measured = [measure(stories, planted, seed) for planted in sites]
    votes = [each.votes for each in measured]
    print(f"{len(stories)} stories; sites with {min(votes)} to {max(votes)} votes, modelled; seed {seed}\n")
    print(tables.of_rings(measured))
    return 0


def _variants(options: LabOptions) -> list[Variant]:
    """Each order, with each of the weights that the options give for it."""
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
        raise NotReplayed(f"at most {tables.MOST_VARIANTS} orders and weights fit into the tables, not {len(variants)}")
    return variants


def _check_picture(options: LabOptions) -> None:
    """Fail before the replay if the picture cannot be drawn."""
    if options.picture is None:
        if options.day:
            raise NotReplayed("--day needs --picture")
        return
    try:
        import server.lab.pictures  # noqa: F401
    except ImportError as error:
        raise NotReplayed("a picture needs matplotlib: .venv/bin/pip install -e '.[lab]'") from error
    if not options.picture.parent.is_dir():
        raise NotReplayed(f"the folder {options.picture.parent} of the picture does not exist")


def _start_of_day(stories: Sequence[Story], wanted: date | None) -> int:
    """When the wanted day starts, or else the day whose stories have the most votes, in unix milliseconds."""
    votes: Counter[int] = Counter()
    for story in stories:
        votes[story.time // DAY * DAY] += story.votes
    if wanted is None:
        return max(votes, key=votes.__getitem__)
    day = int(datetime(wanted.year, wanted.month, wanted.day, tzinfo=UTC).timestamp()) * 1000
    if day not in votes:
        raise NotReplayed(f"no story is of {wanted}; the stories are of {_date(min(votes))} to {_date(max(votes))}")
    return day


def _draw(picture: Path, start: int, stories: Sequence[Story], histories: Histories, plan: ExperimentPlan) -> None:
    """Draw the ranks of the best stories of a day, which begins at `start` (unix milliseconds)."""
    from server.lab import pictures

    posted = [number for number, story in enumerate(stories) if start <= story.time < start + DAY]
    best = sorted(posted, key=lambda number: stories[number].votes, reverse=True)[:DRAWN_STORIES]
    drawn = range(start, start + DAY + 1, DRAWN_STEP)
    shown = [listings for _, listings in replay(histories, plan.variants, plan.places, drawn)]  # one for each instant
    tops = {
        variant.name: [[number for _, number in listings[index]] for listings in shown]
        for index, variant in enumerate(plan.variants)
    }
    titles = {number: f"{stories[number].votes}  {stories[number].title}" for number in best}
    day = pictures.Day(name=_date(start), titles=titles, instants=drawn, tops=tops, places=plan.places)
    pictures.draw(day, picture)


def _date(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


def _options(arguments: Namespace) -> LabOptions:
    return LabOptions(
        orders=arguments.orders,
        vote_scores=arguments.vote_score,
        gravity_ages=arguments.gravity_age,
        top=arguments.top,
        colluders=arguments.colluders,
        half_life=arguments.half_life,
        seed=arguments.seed,
        step=arguments.step,
        picture=arguments.picture,
        day=arguments.day,
    )


def _orders(text: str) -> list[Order]:
    names = text.split(",")
    if unknown := [name for name in names if name not in ORDERS]:
        raise ArgumentTypeError(f"{unknown[0]!r} is not an order; the orders are {', '.join(ORDERS)}")
    return [Order(name) for name in dict.fromkeys(names)]


def _weights(maximum: float) -> Callable[[str], list[float]]:
    weight = _weight(maximum)
    return lambda text: list(dict.fromkeys(weight(each) for each in text.split(",")))


def _weight(maximum: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            weight = 0
        if not MIN_WEIGHT <= weight <= maximum or float(f"{weight:g}") != weight:
            raise ArgumentTypeError(f"{text!r} is not a number from {MIN_WEIGHT} to {maximum:g} of at most 6 digits")
        return weight

    return number


def _whole(minimum: int, maximum: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and minimum <= int(text) <= maximum):
            raise ArgumentTypeError(f"{text!r} is not a whole number from {minimum} to {maximum}")
        return int(text)

    return number


def _date_argument(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a day like 2016-08-04") from error
