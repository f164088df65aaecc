"""What the command line may say to the lab."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from store.ranking.formulas import DAY, ORDERS, Order, Policy

USUAL = Policy()
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


def add_to(parser: ArgumentParser) -> None:
    add = parser.add_argument
    orders = f"of {', '.join(ORDERS)} (%(default)s)"
    scores, ages = f"{USUAL.vote_score:g},100", f"{USUAL.gravity_age:g}"
    many, one = "X,...", "N"
    add("file", type=Path, help="stories, as import reads them")
    add("--orders", metavar=many, type=_orders, default="score,hot,gravity,votes,time", help=orders)
    add("--vote-score", metavar=many, type=_weights(DAY), default=scores, help="seconds a vote, in score (%(default)s)")
    add("--gravity-age", metavar=many, type=_weights(10), default=ages, help="exponents of gravity's age (%(default)s)")
    add("--top", metavar=one, type=_whole(1, 100), default=25, help="places of a listing (%(default)s)")
    add("--colluders", metavar=one, type=_whole(1, 10_000), default=50, help="votes for a new story (%(default)s)")
    add("--half-life", metavar=one, type=_weight(168), default=4.0, help="hours for half of the votes (%(default)g)")
    add("--seed", metavar=one, type=_whole(0, 2**32), default=1, help="of when votes come (%(default)s)")
    add("--step", type=int, choices=STEPS, default=60, help="minutes from one look to the next (%(default)s)")
    add("--picture", metavar="FILE", type=Path, help="a PNG to write: the ranks of a day's ten best stories")
    add("--day", metavar="DAY", type=_day, help="the picture's, in UTC, as 2016-08-04 (the one with most votes)")


def options(chosen: Namespace) -> Options:
    return Options(
        chosen.orders,
        chosen.vote_score,
        chosen.gravity_age,
        chosen.top,
        chosen.colluders,
        chosen.half_life,
        chosen.seed,
        chosen.step,
        chosen.picture,
        chosen.day,
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


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no day like 2016-08-04") from error
