"""What the command line may say to the lab."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from datetime import date
from pathlib import Path

from server.lab.command import Options
from store.ranking import DAY, ORDERS, Order, Policy

USUAL = Policy()
STEPS = (5, 10, 15, 20, 30, 60)  # minutes: shares of an hour
MOST_PLACES = 100
LEAST_WEIGHT = 0.01
MOST_EXPONENT = 10
MOST_HALF_LIFE = 168  # hours: a week


def add_to(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, help="stories, as import reads them")
    add("--orders", type=_orders, default="score,hot,gravity,votes,time", help=f"of {', '.join(ORDERS)} (%(default)s)")
    add(
        "--vote-score",
        type=_weights(DAY),
        default=f"{USUAL.vote_score:g},100",
        help="seconds that score adds a vote (%(default)s)",
    )
    add(
        "--gravity-age",
        type=_weights(MOST_EXPONENT),
        default=f"{USUAL.gravity_age:g}",
        help="exponents of age in gravity (%(default)s)",
    )
    add("--top", type=_whole(1, MOST_PLACES), default=25, help="how many places a listing shows (%(default)s)")
    add(
        "--colluders",
        type=_whole(1, 10_000),
        default=50,
        help="how many vote as soon as a story is posted (%(default)s)",
    )
    add(
        "--half-life",
        type=_weight(MOST_HALF_LIFE),
        default=4.0,
        help="hours in which half of the votes to come arrive (%(default)s)",
    )
    add("--seed", type=_whole(0, 2**32), default=1, help="of when votes arrive (%(default)s)")
    add("--step", type=int, choices=STEPS, default=60, help="minutes from one look to the next (%(default)s)")
    add("--picture", type=Path, help="a PNG to write: the ranks of a day's ten best stories")
    add("--day", type=_day, help="the picture's day, in UTC, as 2016-08-04 (that with most votes)")


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
