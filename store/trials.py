"""
What rules would have caught: replays the texts and votes of a site, in their order, with the ages and karma that
accounts had then. It reads and changes nothing.

It takes texts as they are now, and what was posted as posted, also where the rules would have held or refused it. What
is not known: flags, approvals, addresses, votes that were changed, and who had a role then: those who have one now are
exempt.
"""

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from store import breaches
from store.breaches import Account, Breach
from store.errors import RuleBroken
from store.ranking.formulas import DAY
from store.rules import REFUSE, Rules

UNKNOWN = ("flags", "flagging", "registrations")  # rules that cannot be tried: what they look at was not kept
EXAMPLES = 5  # of each rule
HOUR_MS, DAY_MS = 3_600_000, DAY * 1000


class PastText(NamedTuple):
    """An article or a comment, by its id. `at` is in unix milliseconds; `is_visible` says whether it is shown now."""

    at: int
    id: str
    poster: str
    texts: Mapping[str, str]
    is_visible: bool
    imported_votes: int = 0  # whose voters are not known


class PastVote(NamedTuple):
    """A vote of 1 or -1 on something that another user posted. `at` is in unix milliseconds."""

    at: int
    id: str
    poster: str
    voter: str
    value: int


class Example(NamedTuple):
    """What a rule has caught, an article or a comment or what was voted on, and of whom."""

    at: int
    id: str
    username: str
    text: str


@dataclass(slots=True)
class Caught:
    """What a rule has caught: how much it holds and refuses, and the first of it."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[Example] = field(default_factory=list)


class Trial:
    """The rules on trial. What happened is given in its order; `caught` has each rule that has caught something."""

    def __init__(self, rules: Rules, joined: Mapping[str, int], exempt: Collection[str]) -> None:
        """`joined` has when each user joined (unix milliseconds), by name in lower case; `exempt` are such names."""
        self.caught: dict[str, Caught] = defaultdict(Caught)
        self._rules, self._joined, self._exempt = rules, joined, exempt
        self._karma: Counter[str] = Counter()
        self._stood: dict[str, list[int]] = defaultdict(list)  # posting times of the first visible texts of each user
        self._posted: dict[tuple[str, ...], deque[int]] = defaultdict(deque)  # posting times in windows of the rules

    def add_vote(self, vote: PastVote) -> None:
        name = vote.voter.lower()
        if name not in self._exempt:
            self._note(self._broken_by_vote(name, vote), Example(vote.at, vote.id, vote.voter, f"{vote.value:+}"))
        self._karma[vote.poster.lower()] += vote.value

    def add_text(self, text: PastText) -> None:
        name = text.poster.lower()
        if name not in self._exempt:
            shown = next((each for each in text.texts.values() if each), "")
            self._note(self._broken_by_text(name, text), Example(text.at, text.id, text.poster, shown))
        self._karma[name] += text.imported_votes
        if text.is_visible and (rule := self._rules.first_texts) and len(self._stood[name]) < rule.hold:
            self._stood[name].append(text.at)

    def _broken_by_vote(self, name: str, vote: PastVote) -> list[Breach]:
        account, broken = self._account(name), list[RuleBroken | None]()
        if rule := self._rules.votes:
            broken.append(breaches.too_little("votes", rule, account, vote.at, "a vote"))
        if vote.value < 0 and (rule := self._rules.downvotes):
            broken.append(breaches.too_little("downvotes", rule, account, vote.at, "a downvote"))
        return [Breach(REFUSE, each) for each in broken if each]

    def _broken_by_text(self, name: str, text: PastText) -> list[Breach]:
        account = self._account(name)
        found = list(breaches.of_text(self._rules, account, text.texts, text.at))
        if daily := breaches.daily_rule(self._rules, account, text.at):
            free_at = self._count(("", name), text.at, DAY_MS, daily.most)  # no user has the name ""
            found += [breaches.too_many(daily, free_at)] if free_at else []
        if said := breaches.repeatable(self._rules, text.texts):
            rule, said_words = said
            free_at = self._count((name, *said_words), text.at, rule.hours * HOUR_MS, rule.most)
            found += [breaches.repeated(rule, free_at)] if free_at else []
        first = self._rules.first_texts
        stood = bisect_right(self._stood[name], text.at - DAY_MS)  # for a day: approvals are not known
        if first and stood < first.hold:
            found.append(breaches.first_text(first))
        return found

    def _count(self, window: tuple[str, ...], at: int, length_ms: int, most: int) -> int:
        """Count in a window unless it is full; return when there is room again, 0 if it was counted."""
        times = self._posted[window]
        while times and at > times[0] + length_ms:
            times.popleft()
        if len(times) >= most:
            return times[0] + length_ms + 1
        times.append(at)
        return 0

    def _account(self, name: str) -> Account:
        joined, karma = self._joined.get(name, 0), self._karma[name]
        return Account(name, roles="", joined=joined, karma=karma, archived=0, texts=())

    def _note(self, found: list[Breach], example: Example) -> None:
        """Note all rules that were broken, as each would have caught it without the others."""
        for action, broken, _ in found:
            caught = self.caught[broken.rule]
            caught.counts[action] += 1
            if len(caught.examples) < EXAMPLES:
                caught.examples.append(example)
