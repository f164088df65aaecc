"""
Experiments of `upvote lab`, which compares orders of articles: here over one story an hour for 14 days, each with its
poster's vote alone, and listings of three places, so that all results can be computed by hand. Where a result has two
values, as `hours` and `best_rank` of stories that colluders vote for, they are without and with the votes of these.
"""

from itertools import pairwise

import pytest

from server.lab.arrivals import HOUR
from server.lab.experiments import OBSERVED, PUSHED, WARM_UP, ExperimentPlan, NotReplayed, instants, measure, pushes
from server.lab.replays import Variant
from store.ranking.formulas import Order, Policy

FIRST = 1_470_312_000_000  # a full hour
HISTORIES = [[FIRST + number * HOUR] for number in range(14 * 24)]
VARIANTS = [
    Variant("score", Order.SCORE, Policy(vote_score=3_600)),  # a vote is worth an hour
    Variant("time", Order.TIME, Policy()),
    Variant("votes", Order.VOTES, Policy()),
]


@pytest.fixture
def plan() -> ExperimentPlan:
    return ExperimentPlan(VARIANTS, places=3, colluders=5, instants=instants(HISTORIES, HOUR), per_hour=1)


def test_looks_begin_after_a_week_and_end_with_the_last_story():
    looks = instants([[FIRST + 1], [FIRST + 8 * 24 * HOUR]], HOUR // 2)

    assert looks[0] == FIRST + WARM_UP + HOUR // 2
    assert looks[-1] == FIRST + 8 * 24 * HOUR
    assert len(looks) == 48


@pytest.mark.parametrize(
    ("histories", "message"),
    [
        ([], "the file has no story"),
        ([[FIRST]], "the stories span 0.0 days"),
        ([[FIRST], [FIRST + WARM_UP + HOUR - 1]], "the stories span 7.0 days"),
    ],
)
def test_too_short_a_file_is_refused(histories, message):
    with pytest.raises(NotReplayed, match=message):
        instants(histories, HOUR)


def test_an_hour_after_the_first_week_is_enough():
    assert len(instants([[FIRST], [FIRST + WARM_UP + HOUR]], HOUR)) == 2


def test_stories_for_colluders_can_be_watched_whole_and_are_evenly_spaced(plan):
    assert [push.number for push in pushes(HISTORIES, plan)] == list(range(7 * 24, 12 * 24))

    ten_an_hour = [[FIRST + number * HOUR // 10] for number in range(14 * 240)]
    numbers = [push.number for push in pushes(ten_an_hour, plan)]
    assert numbers[0] == 7 * 240
    assert len(numbers) == PUSHED == 200
    assert {later - earlier for earlier, later in pairwise(numbers)} == {5, 6}
    assert ten_an_hour[numbers[-1]][0] + OBSERVED <= plan.instants[-1]


def test_each_hour_brings_a_story_that_stays_for_three(plan):
    results = measure(HISTORIES, plan, plan.replay(HISTORIES))

    assert results.pushed == 120
    for name in ("score", "time", "votes"):
        measured = results.measured[name]
        assert (measured.turnover, measured.median_stay, measured.longest_stay) == (1, 3, 3)
    assert set(results.overlaps.values()) == {1}


def test_five_colluders_give_what_their_votes_are_worth(plan):
    """By score, five hours: stories pass it 5, 6 and 7 hours later, as the later one is first of equal ones."""
    measured = measure(HISTORIES, plan, plan.replay(HISTORIES)).measured

    assert measured["score"].hours == [3, 7]
    assert measured["time"].hours == [3, 3]
    assert measured["votes"].hours == [3, 48]
    assert measured["score"].best_rank == [1, 1]


def test_rank_beyond_the_places_is_one_more_than_they_are():
    """Three stories of 100 votes stand above all: five colluders bring nobody among them, a hundred do."""
    histories = [[FIRST] * 100] * 3 + HISTORIES
    looks = instants(histories, HOUR)

    few, many = (
        measure(histories, plan, plan.replay(histories)).measured["votes"]
        for plan in (
            ExperimentPlan(VARIANTS[2:], places=3, colluders=colluders, instants=looks, per_hour=1)
            for colluders in (5, 100)
        )
    )

    assert (few.hours, few.best_rank) == ([0, 0], [4, 4])
    assert (many.hours, many.best_rank) == ([0, 48], [4, 1])
    assert few.turnover == 0
    assert few.median_stay == len(looks)


def test_listings_are_compared_at_the_same_instants():
    """Each fourth story has 10 votes at once: by votes these fill the listing, by time it is the newest three."""
    histories = [history * 10 if number % 4 == 0 else history for number, history in enumerate(HISTORIES)]
    plan = ExperimentPlan(VARIANTS[1:], places=3, colluders=5, instants=instants(histories, HOUR), per_hour=1)

    overlaps = measure(histories, plan, plan.replay(histories)).overlaps

    # The newest three include a story with 10 votes, except in the fourth hour after one.
    shared = [1 / 3 if (now - FIRST) // HOUR % 4 != 3 else 0 for now in plan.instants]
    assert overlaps[frozenset(("time", "votes"))] == pytest.approx(sum(shared) / len(shared))
