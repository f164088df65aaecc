"""
The TOML file of the rules of a site, by which texts and votes are held or refused, or hidden when users flag them:
what is read from it, and errors of wrong ones.
"""

import re

import pytest

from store import rules
from store.rules import (
    DailyRules,
    DomainRules,
    FirstTextRules,
    FlagRules,
    LeastRules,
    LinkRules,
    RegistrationRules,
    RepetitionRules,
    Rules,
    WordRules,
    WrongRules,
)

ALL_TABLES = (
    "[flags], [words], [domains], [first_texts], [links], [texts_a_day], [repeated_text], [votes], [downvotes], "
    "[flagging], [registrations]"
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "rules.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Rules()),
        (
            "[flags]\nhide_at = 3",
            Rules(
                FlagRules(hide_at=3, votes_per_flag=20, least_age_days=7, least_karma=20, least_voters=5, last_flags=10)
            ),
        ),
        (
            "[flags]\nhide_at = 1\nvotes_per_flag = 2\nleast_age_days = 0\nleast_karma = 0\nleast_voters = 10\n"
            "last_flags = 0",
            Rules(
                FlagRules(hide_at=1, votes_per_flag=2, least_age_days=0, least_karma=0, least_voters=10, last_flags=0)
            ),
        ),
        (
            '[words]\nhold = ["a b"]\n[domains]\nrefuse = ["a.example"]\n[first_texts]\nhold = 2\n[links]\n'
            "[[texts_a_day]]\nyounger_than_days = 1\nmost = 2\n[[texts_a_day]]\nyounger_than_days = 7\nmost = 9\n"
            '[repeated_text]\naction = "hold"\n[votes]\n[downvotes]\nleast_karma = 3\n[flagging]\n'
            "least_age_days = 4\n[registrations]\na_day = 5",
            Rules(
                words=WordRules(hold=("a b",)),
                domains=DomainRules(refuse=("a.example",)),
                first_texts=FirstTextRules(2),
                links=LinkRules(least_age_days=0, least_karma=0, action="hold"),
                texts_a_day=(DailyRules(younger_than_days=1, most=2), DailyRules(younger_than_days=7, most=9)),
                repeated_text=RepetitionRules(most=1, hours=24, least_length=20, action="hold"),
                votes=LeastRules(least_age_days=0, least_karma=0),
                downvotes=LeastRules(least_age_days=0, least_karma=3),
                flagging=LeastRules(least_age_days=4, least_karma=0),
                registrations=RegistrationRules(5),
            ),
        ),
    ],
)
def test_rules_are_read(file, text, expected):
    file.write_text(text)

    assert rules.read(file) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[flag]", f"there is no table [flag]; the tables are {ALL_TABLES}"),
        ("flags = 3", "flags is not a table: write [flags]"),
        ("[[flags]]\nhide_at = 3", "flags is not a table: write [flags]"),
        ("[flags]", "[flags] lacks the key hide_at"),
        (
            "[flags]\nhide_at = 3\nhide = 1",
            "[flags] has no key hide; the keys are hide_at, votes_per_flag, least_age_days, least_karma, least_voters, "
            "last_flags",
        ),
        ('[flags]\nhide_at = "3"', "[flags] hide_at must be a whole number"),
        ("[flags]\nhide_at = true", "[flags] hide_at must be a whole number"),
        ("[flags]\nhide_at = 3.0", "[flags] hide_at must be a whole number"),
        ("[flags]\nhide_at = 0", "[flags] hide_at is 0, but must be from 1 to 1000"),
        ("[flags]\nhide_at = 3\nleast_voters = 11", "[flags] least_voters is 11, but must be from 0 to 10"),
        ("[flags]\nhide_at = 3\nvotes_per_flag = 0", "[flags] votes_per_flag is 0, but must be from 1 to 1000000000"),
        ('[words]\nhold = "a"', "[words] hold must be a list of texts"),
        ("[words]\nhold = [1]", "[words] hold must be a list of texts"),
        ('[words]\nrefuse = ["a", "-"]', "[words] refuse: '-' has no letter, digit or symbol"),
        (f"[words]\nrefuse = {['a'] * 10_001}", "[words] refuse has 10001 texts, but at most 10000 are allowed"),
        (
            '[domains]\nhold = ["https://a.example"]',
            "[domains] hold: 'https://a.example' is no domain, which looks like example.com",
        ),
        ("[first_texts]", "[first_texts] lacks the key hold"),
        ("[first_texts]\nhold = 51", "[first_texts] hold is 51, but must be from 1 to 50"),
        ('[links]\naction = "remove"', '[links] action must be "hold" or "refuse"'),
        ("[repeated_text]\naction = []", '[repeated_text] action must be "hold" or "refuse"'),
        ("[repeated_text]\nhours = 0", "[repeated_text] hours is 0, but must be from 1 to 720"),
        ("[texts_a_day]\nmost = 1", "texts_a_day is not a list of tables: write [[texts_a_day]]"),
        ("texts_a_day = [1]", "texts_a_day is not a list of tables: write [[texts_a_day]]"),
        ("[[texts_a_day]]\nmost = 1", "[[texts_a_day]] 1 lacks the key younger_than_days"),
        (
            "[[texts_a_day]]\nyounger_than_days = 1\nmost = 2\n[[texts_a_day]]\nyounger_than_days = 7\nmost = 0",
            "[[texts_a_day]] 2 most is 0, but must be from 1 to 1000000000",
        ),
        ("[votes]\nleast_karma = -1", "[votes] least_karma is -1, but must be from 0 to 1000000000"),
        ("[registrations]\na_day = 0", "[registrations] a_day is 0, but must be from 1 to 1000000000"),
        ("[flags]\nhide_at =", "Invalid value (at end of document)"),
        ("[flags]\nhide_at = 3\nhide_at = 4", "Cannot overwrite a value (at end of document)"),
    ],
)
def test_wrong_rules_are_refused_with_file_table_and_key(file, text, reason):
    file.write_text(text)

    with pytest.raises(WrongRules, match=f"^{re.escape(f'{file}: {reason}')}$"):
        rules.read(file)


def test_file_that_is_no_text_is_refused(file):
    file.write_bytes(b"\xff\xfe")

    with pytest.raises(WrongRules, match=r"rules\.toml: .*utf-8"):
        rules.read(file)
