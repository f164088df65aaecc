"""The model by which `upvote lab` gives times to the votes of a story, of which only the number is known."""

from server.lab.arrivals import HOUR, arrivals
from store.maintenance.import_stories import Story

WEEK = 604_800  # seconds
POSTED = 1_470_311_520_000  # unix milliseconds


def story(votes: int, name: str = "12224879") -> Story:
    return Story(name, "a title", link="", poster="ne0phyte", time=POSTED, votes=votes)


def test_first_vote_is_at_the_posting_time_and_each_vote_once():
    assert list(arrivals(story(1), half_life=4, window=WEEK, seed=1)) == [POSTED]

    votes = arrivals(story(500), half_life=4, window=WEEK, seed=1)
    assert len(votes) == 500
    assert votes[0] == POSTED
    assert list(votes) == sorted(votes)


def test_half_of_the_remaining_votes_arrive_in_each_half_life():
    votes = arrivals(story(100_001), half_life=4, window=WEEK, seed=1)

    shares = [sum(at < POSTED + 4 * hours * HOUR for at in votes) / 100_000 for hours in (1, 2, 3)]
    assert [round(share, 2) for share in shares] == [0.5, 0.75, 0.88]


def test_votes_with_a_long_half_life_arrive_within_the_voting_window():
    votes = arrivals(story(20_000), half_life=168, window=WEEK, seed=1)

    assert POSTED + 167 * HOUR < votes[-1] < POSTED + 168 * HOUR
    assert round(sum(at < POSTED + 84 * HOUR for at in votes) / 20_000, 2) == 0.59  # (1 - 1/√2) / (1 - 1/2)


def test_votes_depend_on_the_seed_and_the_story_only():
    votes = arrivals(story(50), half_life=4, window=WEEK, seed=1)

    assert arrivals(story(50), half_life=4, window=WEEK, seed=1) == votes
    assert arrivals(story(50), half_life=4, window=WEEK, seed=2) != votes
    assert arrivals(story(50, "10975351"), half_life=4, window=WEEK, seed=1) != votes
