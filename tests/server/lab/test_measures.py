"""What the lab measures of rankings: overlap, turnover, stays, ranks, and the effect of colluding voters."""

import pytest

from server.lab.measures import Push, best_rank, hours, overlap, rank, stays, turnover
from server.lab.replays import Variant
from store.ranking.formulas import Order, Policy

# values and numbers of stories: three places, and one that moves up if another is removed
RANKED = [
    (9.0, 3),
    (7.0, 5),
    (7.0, 2),
    (4.0, 8),
]


def test_overlap_is_the_mean_share_of_stories_in_both():
    assert overlap([[1, 2], [3, 4]], [[2, 1], [4, 5]]) == 0.75  # all, then half
    assert overlap([[1, 2, 3, 4]], [[5, 6, 7, 8]]) == 0


def test_turnover_counts_stories_that_were_not_there_an_hour_before():
    tops = [[1, 2, 3], [2, 1, 3], [4, 2, 1], [5, 6, 4]]

    assert turnover(tops, per_hour=1) == 1  # none, 4, then 5 and 6
    assert turnover(tops, per_hour=2) == 2  # 4; then 5, 6 and 4


def test_stays_count_every_hour_that_a_story_was_there():
    assert stays([[1, 2], [3, 2], [1, 2]], per_hour=1) == [1, 2, 3]
    assert stays([[1, 2], [3, 2], [1, 2]], per_hour=2) == [0.5, 1, 1.5]


@pytest.mark.parametrize(
    ("mine", "place"),
    [
        ((10.0, 1), 1),
        ((8.0, 1), 2),
        ((7.0, 4), 3),  # of equal values the higher number is first
        ((7.0, 6), 2),
        ((5.0, 1), None),  # all of the places are above
        ((1.0, 2), None),  # its own place falls to the next
        ((5.0, 2), 3),
        ((7.5, 3), 1),
    ],
)
def test_rank_is_among_the_others(mine, place):
    assert rank(RANKED, mine, places=3) == place


def test_rank_where_there_are_few_others():
    assert rank([(9.0, 3)], (1.0, 3), places=3) == 1
    assert rank([(9.0, 3)], (1.0, 4), places=3) == 2
    assert rank([], (1.0, 4), places=3) == 1


def test_push_is_ranked_with_its_own_votes_and_with_those_of_colluders():
    by_votes = Variant("votes", Order.VOTES, Policy())
    push = Push(2, history=[0, 0, 0], colluders=50)

    push.observe(by_votes, [(60.0, 1), (40.0, 0), (3.0, 2)], votes=3, now=1_000, places=2)
    push.observe(by_votes, [(60.0, 1), (9.0, 3), (4.0, 0)], votes=3, now=2_000, places=2)

    assert push.plain == {"votes": [None, None]}
    assert push.lifted == {"votes": [2, 2]}


def test_hours_and_best_rank_of_a_story():
    assert hours([None, 3, 1, None, 2], per_hour=2) == 1.5
    assert best_rank([None, 3, 1, None, 2]) == 1
    assert best_rank([None]) is None
