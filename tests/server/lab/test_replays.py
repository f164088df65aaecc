"""Replays of stories and their votes, for `upvote lab`, compared with sorting all stories at each instant."""

from bisect import bisect_right
from random import Random

import pytest

from server.lab.replays import Histories, Variant, article, replay
from store.ranking.formulas import Order, Policy

VARIANTS = [Variant(order.value, order, Policy()) for order in Order]
MINUTE = 60_000  # milliseconds
DAYS = 20 * 1440  # minutes


@pytest.mark.parametrize("most", [2, 5, 500])
@pytest.mark.slow
def test_first_places_are_those_of_a_sort_of_all_stories(most):
    """20 days with many equal times and votes. Stories that the replay drops too early would be missing here."""
    histories = _histories(Random(most), 1_000, most)
    instants = range(0, DAYS * MINUTE, 311 * MINUTE)

    shown = dict(replay(histories, VARIANTS, places=5, instants=instants))

    assert list(shown) == list(instants)
    for now, listings in shown.items():
        assert listings == [_sorted(histories, variant, now)[:5] for variant in VARIANTS]


def test_votes_count_from_the_instant_of_the_vote():
    histories = [[0, 5_000], [1_000]]
    variants = [Variant("votes", Order.VOTES, Policy()), Variant("score", Order.SCORE, Policy(vote_score=0.5))]

    shown = list(replay(histories, variants, places=2, instants=[0, 1_000, 4_999, 5_000]))

    assert shown == [
        (0, [[(1, 0)], [(500, 0)]]),
        (1_000, [[(1, 1), (1, 0)], [(1_500, 1), (500, 0)]]),
        (4_999, [[(1, 1), (1, 0)], [(1_500, 1), (500, 0)]]),
        (5_000, [[(2, 0), (1, 1)], [(1_500, 1), (1_000, 0)]]),
    ]


def _histories(random: Random, count: int, most: int) -> Histories:
    """The times of the votes of each story, in milliseconds: less than `most` beside the first, often few."""
    posted = sorted(random.randrange(0, DAYS, 20) * MINUTE for _ in range(count))
    votes = [int(random.paretovariate(0.8)) % most for _ in range(count)]
    return [
        [at, *sorted(at + int(random.expovariate(1 / 400) * MINUTE) for _ in range(more))]
        for at, more in zip(posted, votes, strict=True)
    ]


def _sorted(histories: Histories, variant: Variant, now: int) -> list[tuple[float, int]]:
    """The value and the number of each story that is posted at an instant, the highest value first."""
    counted = [(number, history[0], bisect_right(history, now)) for number, history in enumerate(histories)]
    articles = [article(*each) for each in counted if each[2]]
    return sorted(((variant.value(each, now), each.number) for each in articles), reverse=True)
