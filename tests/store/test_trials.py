"""
Trials of rules: what the rules of a site would have held or refused of texts and votes of the past.
"""

import pytest

from store import rules
from store.trials import PastText, PastVote, Trial

DAY = 86_400_000  # milliseconds
HOUR = 3_600_000


@pytest.fixture
def tried(tmp_path):
    """`tried(text, past)` runs a trial of a file with this text."""

    def tried(text, past, joined=None, exempt=()):
        """
        What the rules of a file with this text catch: for each rule the counts by action, and the ids of the examples.
        `joined` has by username when accounts were registered; users in `exempt` have a role.
        """
        file = tmp_path / "rules.toml"
        file.write_text(text)
        trial = Trial(rules.read(file), joined or {}, exempt)
        for each in past:
            (trial.add_vote if isinstance(each, PastVote) else trial.add_text)(each)
        return {name: (dict(each.counts), [shown.id for shown in each.examples]) for name, each in trial.caught.items()}

    return tried


def text(number, at=100 * DAY, poster="Alice", content="some words", is_visible=True):
    """A comment of the past, posted at a time (unix milliseconds)."""
    return PastText(at, f"comment:{number}", poster, {"content": content}, is_visible)


def vote(voter, at, poster="Alice", value=1):
    """A vote of the past on an article."""
    return PastVote(at, "article:1", poster, voter, value)


def test_trial_counts_what_words_and_domains_catch_and_has_the_first_five(tried):
    past = [text(n, content="spam") for n in range(7)] + [text(7, content="see a.example")]

    found = tried('[words]\nhold = ["spam"]\n[domains]\nrefuse = ["a.example"]', past)

    assert found == {
        "words": ({"hold": 7}, [f"comment:{n}" for n in range(5)]), "domains": ({"refuse": 1}, ["comment:7"]),
    }  # fmt: skip


def test_first_texts_count_when_they_have_stood_for_a_day(tried):
    past = [text(1, 0), text(2, HOUR), text(3, 2 * HOUR, is_visible=False), text(4, DAY), text(5, DAY + HOUR)]

    assert tried("[first_texts]\nhold = 2", past) == {
        "first_texts": ({"hold": 4}, ["comment:1", "comment:2", "comment:3", "comment:4"])
    }


def test_texts_of_a_day_are_counted_by_the_age_that_the_account_had(tried):
    past = [text(n, 5 * DAY + n * HOUR) for n in range(4)] + [text(9, 8 * DAY)]
    rule = "[[texts_a_day]]\nyounger_than_days = 2\nmost = 3"

    assert tried(rule, past, joined={"alice": 4 * DAY}) == {"texts_a_day": ({"refuse": 1}, ["comment:3"])}
    assert tried(rule, past, joined={"alice": 2 * DAY}) == {}


def test_repeated_text_is_caught_in_its_hours_only(tried):
    words = "the very same words again"
    past = [text(1, 0, content=words), text(2, HOUR, content=words.upper()), text(3, HOUR, poster="bob", content=words)]
    past.append(text(4, 2 * HOUR + 1, content=words))

    assert tried("[repeated_text]\nhours = 2", past) == {"repeated_text": ({"refuse": 1}, ["comment:2"])}


def test_votes_and_links_take_the_karma_that_the_account_had(tried):
    rule = "[downvotes]\nleast_karma = 1\n[votes]\nleast_age_days = 1\n[links]\nleast_karma = 1"
    link = "see https://a.example"
    past = [
        vote("Alice", DAY, poster="bob", value=-1), text(1, DAY, content=link), vote("carol", DAY),
        vote("Alice", 2 * DAY, poster="bob", value=-1), text(2, 2 * DAY, content=link),
    ]  # fmt: skip

    assert tried(rule, past, joined={"alice": 0, "carol": DAY}) == {
        "downvotes": ({"refuse": 1}, ["article:1"]), "links": ({"hold": 1}, ["comment:1"]),
        "votes": ({"refuse": 1}, ["article:1"]),
    }  # fmt: skip


def test_who_has_a_role_is_exempt(tried):
    rules_text = '[words]\nhold = ["some"]\n[votes]\nleast_karma = 1'

    assert tried(rules_text, [text(1), vote("ALICE", 0)], exempt={"alice"}) == {}


@pytest.mark.parametrize(("least", "is_caught"), [(5, False), (6, True)])
def test_imported_votes_are_part_of_the_karma_that_the_account_had(tried, least, is_caught):
    past = [text(1, 0)._replace(imported_votes=5), vote("Alice", HOUR, poster="Bob", value=-1)]

    assert ("downvotes" in tried(f"[downvotes]\nleast_karma = {least}", past)) == is_caught
