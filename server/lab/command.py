"""The command `lab`: replay a file, print what is measured, and draw a day if that is wanted."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from server.cli import import_stories
from server.cli.import_stories import Tally
from server.lab import tables
from server.lab.arguments import Options
from server.lab.arrivals import HOUR, arrivals
from server.lab.experiments import FOLLOWED, NotReplayed, Plan, instants, measure
from server.lab.replays import Histories, Variant, replay
from store.maintenance.import_stories import Story
from store.ranking.formulas import Order, Policy

DAY = 24 * HOUR
BEST = 10  # stories of a day that are drawn
DRAWN_STEP = HOUR // 12


def run(file: Path, options: Options) -> int:
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
    with import_stories.bars() as progress:
        found = import_stories.read(file, tally, progress)
        histories = [arrivals(story, options.half_life, window, options.seed) for story in found]
        looks = instants(histories, options.step * HOUR // 60)
        plan = Plan(variants, options.top, options.colluders, looks, 60 // options.step)
        day = _day(found, options.day)
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


def _day(found: Sequence[Story], wanted: date | None) -> int:
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
