"""The file of the rules of a site."""

import re

import pytest

from store import rules
from store.rules import FlagRules, Rules, WrongRules


@pytest.fixture
def file(tmp_path):
    return tmp_path / "rules.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Rules()),
        ("[flags]\nhide_at = 3", Rules(FlagRules(3, 20, 7, 20, 5, 10))),
        (
            "[flags]\nhide_at = 1\nvotes_per_flag = 2\nleast_age_days = 0\nleast_karma = 0\nleast_voters = 10\n"
            "last_flags = 0",
            Rules(FlagRules(1, 2, 0, 0, 10, 0)),
        ),
    ],
)
def test_rules_are_read(file, text, expected):
    file.write_text(text)

    assert rules.read(file) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[flag]", "there is no table [flag]; the tables are [flags]"),
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
