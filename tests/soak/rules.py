"""The rules of the worlds that have some, in the model, as docs/rules.md describes them. Who has a role is exempt."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

HOLD, REFUSE = "hold", "refuse"
WORDS = {REFUSE: "pills for sale", HOLD: "casino"}
DOMAINS = {REFUSE: "refused.example", HOLD: "held.example"}
LEAST_KARMA = 1  # of those who vote down
LEAST_FLAGGER_KARMA = 0  # of those whose flags count
FLAGS_THAT_HIDE = 2
VOTES_PER_FLAG = 2
FILE = f"""
[words]
refuse = ["{WORDS[REFUSE]}"]
hold = ["{WORDS[HOLD]}"]

[domains]
refuse = ["{DOMAINS[REFUSE]}"]
hold = ["{DOMAINS[HOLD]}"]

[downvotes]
least_karma = {LEAST_KARMA}

[flags]
hide_at = {FLAGS_THAT_HIDE}
votes_per_flag = {VOTES_PER_FLAG}
least_age_days = 0
least_karma = {LEAST_FLAGGER_KARMA}
least_voters = 0
last_flags = 0
"""


class Breach(NamedTuple):
    """A rule that a text breaks, what happens to it, and the field of the input in which that is."""

    action: str
    rule: str
    field: str


def breach(texts: Mapping[str, str | None]) -> Breach | None:
    """The first breach of the texts of some fields that refuses them, or else the first that holds them."""
    found = list(_breaches({name: text for name, text in texts.items() if text}))
    return next((each for each in found if each.action == REFUSE), found[0] if found else None)


def _breaches(texts: Mapping[str, str]) -> Iterator[Breach]:
    for rule, pattern, listed in (("words", r"\b{}\b", WORDS), ("domains", r"//([a-z]+\.)?{}(/|$)", DOMAINS)):
        for action, text in listed.items():
            wanted = re.compile(pattern.format(re.escape(text)), re.IGNORECASE)
            if name := next((name for name, text in texts.items() if wanted.search(text)), None):
                yield Breach(action, rule, name)
