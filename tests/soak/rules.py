"""
Rules that hold or refuse texts, votes and flags, as docs/rules.md describes them. The soak test sends random requests
to a server with such rules and to a model of it. Users who have a role are exempt.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from tests.soak.words import words

HOLD, REFUSE = "hold", "refuse"
WORDS = {REFUSE: "pills for sale", HOLD: "casino"}
DOMAINS = {REFUSE: "refused.example", HOLD: "held.example"}
LINK_MARKS = ("://", "www.", "](//")
ALWAYS = {"words": WORDS, "domains": DOMAINS}  # tables that all files of rules have


class Breach(NamedTuple):
    """
    A rule that is broken, what happens to the text, the field of the input that breaks it, and the numbers that the
    refusal shows.
    """

    action: str  # HOLD or REFUSE
    rule: str
    field: str | None = None
    numbers: Mapping[str, int] = {}  # nobody changes it


@dataclass(frozen=True)
class Least:
    """The least age and karma of an account that does something."""

    age_days: int = 0
    karma: int = 0

    def numbers(self, age_days: int, karma: int) -> dict[str, int] | None:
        """What the refusal of an account of this age and karma says; None if it has enough."""
        if age_days >= self.age_days and karma >= self.karma:
            return None
        least = {"least_age_days": self.age_days, "least_karma": self.karma}
        return least | {"age_days": age_days, "karma": karma}

    @property
    def keys(self) -> dict[str, Any]:
        return {"least_age_days": self.age_days, "least_karma": self.karma}


@dataclass(frozen=True)
class Daily:
    """How many texts a day an account may post while it is young."""

    younger_than_days: int
    most: int


@dataclass(frozen=True)
class Repetition:
    """How often the same words may be posted in some hours."""

    most: int
    hours: int
    least_length: int  # of the words, in characters: shorter ones may be repeated
    action: str


@dataclass(frozen=True)
class FlagRule:
    """When flags hide a text."""

    hide_at: int  # the flags that are needed
    votes_per_flag: int  # besides, one flag is needed for so many votes of the text
    least_karma: int  # of a user whose flag counts


@dataclass(frozen=True)
class Rules:
    """
    The rules of a server, beside those for words and domains, which all have. A field that is empty, 0 or None stands
    for no rule.
    """

    flags: FlagRule
    least: Mapping[str, Least] = field(default_factory=dict, hash=False)  # by votes, downvotes, flagging and links
    link_action: str = HOLD
    first_texts: int = 0
    texts_a_day: tuple[Daily, ...] = ()
    repeated_text: Repetition | None = None

    def text(self) -> str:
        """The rules as the TOML file that the server reads."""
        tables: list[tuple[str, dict[str, Any]]] = [
            *((f"[{name}]", {action: [text] for action, text in listed.items()}) for name, listed in ALWAYS.items()),
            ("[flags]", vars(self.flags) | {"least_age_days": 0, "least_voters": 0, "last_flags": 0}),
            *((f"[{name}]", least.keys) for name, least in self.least.items() if name != "links"),
            *(("[[texts_a_day]]", vars(each)) for each in self.texts_a_day),
        ]
        if "links" in self.least:
            tables.append(("[links]", self.least["links"].keys | {"action": self.link_action}))
        if self.first_texts:
            tables.append(("[first_texts]", {"hold": self.first_texts}))
        if self.repeated_text:
            tables.append(("[repeated_text]", vars(self.repeated_text)))
        return "".join(f"{head}\n{''.join(map(_line, keys.items()))}\n" for head, keys in tables)

    def breaches(self, texts: Mapping[str, str], age_days: int, karma: int) -> Iterator[Breach]:
        """The rules that are broken by the fields of a text, and by links of an account of this age and karma."""
        for rule, pattern, listed in (("words", r"\b{}\b", WORDS), ("domains", r"//([a-z]+\.)?{}(/|$)", DOMAINS)):
            for action, text in listed.items():
                wanted = re.compile(pattern.format(re.escape(text)), re.IGNORECASE)
                if name := next((name for name, text in texts.items() if wanted.search(text)), None):
                    yield Breach(action, rule, name)
        linked = next((name for name, text in texts.items() if has_link(text)), None)
        if linked and "links" in self.least and (numbers := self.least["links"].numbers(age_days, karma)):
            yield Breach(self.link_action, "links", linked, numbers)

    def daily(self, age_days: float) -> Daily | None:
        """The rule of the lowest age that an account has not reached; None if it has reached all."""
        unreached = [each for each in self.texts_a_day if age_days < each.younger_than_days]
        return min(unreached, key=lambda each: each.younger_than_days, default=None)

    def repeatable(self, texts: Mapping[str, str]) -> tuple[str, ...] | None:
        """The words of each field, if they are enough for the rule about repeated texts; else None."""
        said = tuple(" ".join(words(text)) for text in texts.values())
        is_long = self.repeated_text and sum(map(len, said)) >= self.repeated_text.least_length
        return said if is_long else None


def _line(key: tuple[str, Any]) -> str:
    return f"{key[0]} = {json.dumps(key[1])}\n"


def decisive(breaches: list[Breach]) -> Breach | None:
    """The first breach that refuses a text, or else the first that holds it."""
    return next((each for each in breaches if each.action == REFUSE), breaches[0] if breaches else None)


def has_link(text: str) -> bool:
    return any(mark in text.lower() for mark in LINK_MARKS)


def chosen(random: Random, *, has_archived: bool) -> Rules:
    """
    Some of the rules. First texts are not held where articles leave Redis: an archived text counts as one that was
    approved, and the model does not know when an article is archived.
    """
    flags = FlagRule(
        hide_at=random.choice((1, 2, 2)), votes_per_flag=random.choice((1, 2, 3)), least_karma=random.choice((0, 0, 1))
    )
    given: dict[str, Any] = {"flags": flags, "link_action": random.choice((HOLD, REFUSE))}
    least = {"downvotes": Least(karma=1), "votes": Least(age_days=1), "flagging": Least(karma=1)}
    least |= {"links": Least(age_days=random.choice((0, 1)), karma=1)}
    given["least"] = {name: each for name, each in least.items() if random.random() < (0.3 if name == "votes" else 0.6)}
    if not has_archived and random.random() < 0.7:
        given["first_texts"] = random.choice((1, 2))
    if random.random() < 0.6:
        given["texts_a_day"] = (
            Daily(younger_than_days=1, most=random.choice((8, 20))),
            Daily(younger_than_days=3, most=random.choice((12, 30))),
        )
    if random.random() < 0.7:
        given["repeated_text"] = Repetition(
            most=random.choice((1, 2)),
            hours=random.choice((1, 24)),
            least_length=12,
            action=random.choice((HOLD, REFUSE)),
        )
    return Rules(**given)


# for tests that the soak finds faults in the code of rules
EVERY = Rules(
    FlagRule(hide_at=1, votes_per_flag=2, least_karma=0),
    {"downvotes": Least(karma=1), "links": Least(karma=1)},
    texts_a_day=(Daily(younger_than_days=1, most=8), Daily(younger_than_days=3, most=12)),
    repeated_text=Repetition(most=1, hours=24, least_length=12, action=REFUSE),
)
