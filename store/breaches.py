"""
Which rules of a site a text or an account breaks, from what is known of them: it reads and counts nothing. Each breach
has a refusal, RuleBroken, even where the text is only held until a moderator approves it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from store import phrases
from store.errors import RuleBroken
from store.ranking.formulas import DAY
from store.rules import (
    HOLD,
    REFUSE,
    DailyRules,
    DomainRules,
    FirstTextRules,
    LeastRules,
    LinkRules,
    RepetitionRules,
    Rules,
    WordRules,
)
from store.words import words


class Account(NamedTuple):
    """
    What is known of who acts: `roles` are words such as `admin=TIME`, `joined` is in unix milliseconds, 0 if unknown,
    `archived` the number of articles that are in the SQL database only, and `texts` the ids of visible articles and
    comments, the oldest ones.
    """

    username: str
    roles: str
    joined: int
    karma: int
    archived: int
    texts: Sequence[str]


class Breach(NamedTuple):
    """
    A rule that a text breaks, and what happens to it: `hold` or `refuse`. `reason` is what a service outside has said
    about it.
    """

    action: str
    broken: RuleBroken
    reason: str | None = None


class Candidate(NamedTuple):
    """
    A text that is about to be posted or edited, an `article` or a `comment`. `texts` are what is written in the fields
    of its input; `given` are its other fields: groups, `subjectId` of an edit, `articleId` and `parentId` of a comment.
    """

    kind: str
    texts: Mapping[str, str]
    given: Mapping[str, str | Sequence[str] | None]
    is_new: bool


class Opinion(NamedTuple):
    """What a service outside says of a text: `hold` or `refuse`, and why."""

    action: str
    reason: str


def by_service(opinion: Opinion) -> Breach:
    broken = RuleBroken("check", opinion.reason or "the text is not taken here", {})
    return Breach(opinion.action, broken, opinion.reason or None)


def decisive(found: Iterable[Breach]) -> Breach | None:
    """The first breach that refuses a text, or else the first that holds it."""
    breaches = list(found)
    return next((each for each in breaches if each.action == REFUSE), breaches[0] if breaches else None)


def of_text(rules: Rules, account: Account, texts: Mapping[str, str], now: int) -> Iterator[Breach]:
    """
    The breaches that follow from the text and the account alone: words, domains and links. `texts` are by the field of
    the input; `now` is in unix milliseconds.
    """
    if rules.words:
        for action, name in _fields_with(rules.words, phrases.has_phrase, texts):
            yield Breach(action, RuleBroken("words", "the text has words that this site does not take", {}, name))
    if rules.domains:
        for action, name in _fields_with(rules.domains, phrases.has_domain, texts):
            yield Breach(action, RuleBroken("domains", "the text names a site that is not taken here", {}, name))
    if rules.links and (broken := _broken_by_link(rules.links, account, texts, now)):
        yield Breach(rules.links.action, broken)


def _fields_with(
    rule: WordRules | DomainRules, has_one: Callable[[Sequence[str], str], bool], texts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """For each list of a rule of which a text has something: what happens to the text, and the first such field."""
    for action, listed in ((REFUSE, rule.refuse), (HOLD, rule.hold)):
        if name := next((name for name, text in texts.items() if has_one(listed, text)), None):
            yield action, name


def _broken_by_link(rule: LinkRules, account: Account, texts: Mapping[str, str], now: int) -> RuleBroken | None:
    name = next((name for name, text in texts.items() if phrases.has_link(text)), None)
    return too_little("links", rule, account, now, "a link", name) if name else None


def first_text(rule: FirstTextRules) -> Breach:
    """
    The breach by a text of an account before `rule.hold` of its texts were approved, or stood without a flag for a day.
    """
    broken = RuleBroken("first_texts", "the first texts of an account wait for a moderator", {"hold": rule.hold})
    return Breach(HOLD, broken)


def daily_rule(rules: Rules, account: Account, now: int) -> DailyRules | None:
    """
    The limit of texts a day for an account at an instant (unix milliseconds); None if it has none. Of several rules
    it is the one with the lowest age that the account has not reached.
    """
    age = now - account.joined
    matching = [each for each in rules.texts_a_day if age < each.younger_than_days * DAY * 1000]
    return min(matching, key=lambda each: each.younger_than_days) if matching else None


def too_many(rule: DailyRules, free_at: int) -> Breach:
    """The breach by a text that is one too many. `free_at` is when the next one is possible (unix milliseconds)."""
    params = {"most": rule.most, "younger_than_days": rule.younger_than_days, "free_at": free_at}
    message = f"an account younger than {_days(rule.younger_than_days)} posts at most {rule.most} texts a day"
    return Breach(REFUSE, RuleBroken("texts_a_day", message, params))


def repeatable(rules: Rules, texts: Mapping[str, str]) -> tuple[RepetitionRules, Sequence[str]] | None:
    """The rule for repeated texts and the words of each field; None if there is no rule, or they are too short."""
    rule = rules.repeated_text
    said = [" ".join(words(text)) for text in texts.values() if text] if rule else []
    return (rule, said) if rule and sum(map(len, said)) >= rule.least_length else None


def repeated(rule: RepetitionRules, free_at: int) -> Breach:
    """The breach by words that were posted too often. `free_at` as in `too_many`."""
    params = {"most": rule.most, "hours": rule.hours, "free_at": free_at}
    return Breach(rule.action, RuleBroken("repeated_text", "you have posted this before", params))


def too_little(name: str, rule: LeastRules, account: Account, now: int, what: str, *fields: str) -> RuleBroken | None:
    """
    The refusal if an account is too young or has too little karma for a rule; None for others. `name` is the rule's,
    `what` is what the account may not do, such as "a vote", and `fields` is the path of the value in the input.
    """
    age_days = (now - account.joined) // (DAY * 1000)
    if age_days >= rule.least_age_days and account.karma >= rule.least_karma:
        return None
    params = {
        "least_age_days": rule.least_age_days, "least_karma": rule.least_karma, "age_days": age_days,
        "karma": account.karma,
    }  # fmt: skip
    needs = [f"an account of {_days(rule.least_age_days)}"] if rule.least_age_days else []
    needs += [f"a karma of {rule.least_karma}"] if rule.least_karma else []
    return RuleBroken(name, f"{what} takes {' and '.join(needs)}", params, *fields)


def _days(count: int) -> str:
    return f"{count} day{'s' * (count != 1)}"
