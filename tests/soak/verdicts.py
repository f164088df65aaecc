"""
What the rules of a site say of articles and comments (texts), votes and flags: whether they are refused, or held until
a moderator has looked at them. Part of the model: a server in plain Python, with which the soak test compares the real
one. `reached` counts the cases that have occurred.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tests.soak.input_checks import Refused
from tests.soak.records import Article, Comment, User, standing
from tests.soak.rules import HOLD, REFUSE, Breach, Rules, decisive

if TYPE_CHECKING:
    from tests.soak.model import Model

HOUR, DAY = 3_600_000, 86_400_000  # milliseconds
MOST_LOOKED_AT = 100  # only so many articles of a user, and comments, are looked at, the oldest: see `Verdicts._stood`


class Window(NamedTuple):
    """The time that a rule looks back, in milliseconds, the most texts that fit in it, and the breach by one more."""

    length: int
    most: int
    breach: Breach


class Verdicts:
    """
    Applies the rules. `_posted` has when texts were posted that a rule counts, by the rule, the user, and what it
    counts: the texts of a day, or those with the same words.
    """

    def __init__(self, model: "Model", rules: Rules | None) -> None:
        self._model, self._rules = model, rules
        self._posted: defaultdict[Hashable, list[int]] = defaultdict(list)

    def of_new(self, poster: User, given: Mapping[str, str | None]) -> str | None:
        """The rule that holds a new text; None if none does. Raises `Refused` if one refuses the text."""
        texts = {name: text for name, text in given.items() if text}
        if not self._concern(poster):
            return None
        windows = self._windows(poster, texts)
        breaches = [breach for key, window in windows.items() if (breach := self._breach_of(key, window))]
        held_by = self._decide(poster, texts, breaches)
        for key in windows:
            self._posted[key].append(self._model.now)
        return held_by

    def of_edit(self, editor: User, given: Mapping[str, str | None]) -> str | None:
        """The rule that holds an edit. It does not count as a text of the day, and may repeat a text."""
        texts = {name: text for name, text in given.items() if text}
        return self._decide(editor, texts, by_count=[]) if texts and self._concern(editor) else None

    def require_vote(self, voter: User, value: str) -> None:
        """Refuse a vote of a user who is too new or has too little karma. A vote can always be withdrawn."""
        if value != "NONE":
            self._require_least("votes", voter)
        if value == "DOWN":
            self._require_least("downvotes", voter)

    def require_flag(self, flagger: User) -> None:
        self._require_least("flagging", flagger)

    def _concern(self, user: User) -> bool:
        """Whether rules hold for a user: who has a role is exempt."""
        return self._rules is not None and not user.roles

    def _require_least(self, name: str, user: User) -> None:
        """Refuse a user who lacks the least age or karma that the rule with this name asks for."""
        if not self._rules or not self._concern(user) or name not in self._rules.least:
            return
        if numbers := self._rules.least[name].numbers(self._age(user) // DAY, self._model.karma(user)):
            self._refuse(Breach(REFUSE, name, numbers=numbers))

    def _decide(self, poster: User, texts: Mapping[str, str], by_count: list[Breach]) -> str | None:
        """The rule that holds a text; None if none does. `by_count` has the breaches of rules that count texts."""
        assert self._rules
        age_days, karma = self._age(poster) // DAY, self._model.karma(poster)
        found = [*self._rules.breaches(texts, age_days, karma), *by_count]
        if self._rules.first_texts and self._stood(poster) < self._rules.first_texts:
            found.append(Breach(HOLD, "first_texts"))
        breach = decisive(found)
        if breach and breach.action == REFUSE:
            self._refuse(breach)
        self._model.reached.count(f"texts that {breach.rule} holds" if breach else "texts that pass the rules")
        return breach.rule if breach else None

    def _refuse(self, breach: Breach) -> None:
        self._model.reached.count(f"refusals of the rule {breach.rule}")
        path = [breach.field] if breach.field else []
        raise Refused("RULE", *path, rule=breach.rule, params=list(breach.numbers.items()))

    def _windows(self, poster: User, texts: Mapping[str, str]) -> dict[Hashable, Window]:
        """The windows of the rules that count a text, by the keys of `_posted`."""
        rules, windows = self._rules, dict[Hashable, Window]()
        assert rules
        if daily := rules.daily(self._age(poster) / DAY):
            numbers = {"most": daily.most, "younger_than_days": daily.younger_than_days}
            windows["a day", poster, daily] = Window(DAY, daily.most, Breach(REFUSE, "texts_a_day", numbers=numbers))
        said, repeated = rules.repeatable(texts), rules.repeated_text
        if said and repeated:
            numbers = {"most": repeated.most, "hours": repeated.hours}
            breach = Breach(repeated.action, "repeated_text", numbers=numbers)
            windows["repeated", poster, said] = Window(repeated.hours * HOUR, repeated.most, breach)
        return windows

    def _breach_of(self, key: Hashable, window: Window) -> Breach | None:
        """The breach by one text more, with the instant from which one is possible; None if there is room."""
        recent = self._posted[key][-window.most :]
        if len(recent) < window.most or self._model.now > recent[0] + window.length:
            return None
        return window.breach._replace(numbers=dict(window.breach.numbers) | {"free_at": recent[0] + window.length + 1})

    def _stood(self, user: User) -> int:
        """How many texts of a user were approved, or have stood without a flag for a day."""
        articles = [each for each in self._model.visible() if each.poster is user]
        comments = [each for each in self._model.comments.values() if each.poster is user and each.is_shown]
        oldest = (*_oldest(articles), *_oldest(comments))
        return sum(_is_approved(each) or self._has_stood(each) for each in oldest)

    def _has_stood(self, text: Article | Comment) -> bool:
        return text.posted_at <= self._model.now - DAY and not standing(text.flags)

    def _age(self, user: User) -> int:
        return self._model.now - user.joined_at


def _oldest(texts: list[Article] | list[Comment]) -> list[Article | Comment]:
    return sorted(texts, key=lambda each: (each.posted_at, each.number))[:MOST_LOOKED_AT]


def _is_approved(text: Article | Comment) -> bool:
    return any(each.kind == "APPROVE" and each.reverted_by is None for each in text.actions)
