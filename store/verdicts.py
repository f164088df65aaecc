"""
What the rules of a site say of what a user is about to do: of a text that is posted or edited, a vote, a flag or a
registration. Users who have a role are exempt. `breaches` finds which rules are broken; here is what that means.

A text is refused if any rule refuses it. Else, if a rule holds it, it is PENDING from the step in which it is posted.
How old an account is and what karma it has is read before; what has a limit is counted before, so that several
processes never exceed it together, and taken back if nothing is posted.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from store import breaches, standing_bans
from store.breaches import Account, Breach, Candidate
from store.errors import RuleBroken, Unauthenticated
from store.held_edits import Hold
from store.ranking.formulas import DAY
from store.rate_limits import Attempts, Counted, SlidingWindow
from store.records import Vote
from store.rules import HOLD, REFUSE, LeastRules
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot, digest_and_name

RULE_ACCOUNT = Script("rule_account")
STOOD_TEXTS = Script("stood_texts")

HOUR = 3600  # seconds
MOST_LOOKED_AT = 100  # articles, and as many comments, of which first texts are counted
STANDS_FOR = DAY  # seconds until a text without a flag counts as one that nobody objects to


@dataclass(slots=True)
class Verdict:
    """
    What the rules say of a text: the first rule that refuses or holds it. Whoever asks for it sets `is_posted`, or else
    what was counted is taken back.
    """

    breach: Breach | None = None
    counted: list[Counted] = field(default_factory=list)
    is_posted: bool = False

    @property
    def held_by(self) -> str | None:
        """The rule that holds the text."""
        return self.breach.broken.rule if self.breach and self.breach.action == HOLD else None

    @property
    def words(self) -> str:
        """
        What the script that posts is told: `refuse`, `hold` with the words of a `Hold`, or "" for neither. The script
        decides, because it replays a text that was posted before, whatever the rules say.
        """
        if self.breach is None:
            return ""
        action, broken, reason = self.breach
        return f"{HOLD} {Hold(broken.rule, reason).words}" if action == HOLD else action

    @property
    def is_refused(self) -> bool:
        return self.breach is not None and self.breach.action == REFUSE

    def refuse(self) -> NoReturn:
        """Raise the refusal, after the script has confirmed it."""
        assert self.breach
        raise self.breach.broken


async def check_vote(site: Site, actor: Actor, vote: Vote) -> None:
    """
    Check that the rules of the site allow a vote. No round trip if the site has no rule for votes, else one. A vote can
    always be withdrawn.

    Raises:
        RuleBroken: the account is too young or has too little karma.
        Unauthenticated, Banned: the session has ended, or the user is banned from the site.
    """
    rules = site.rules
    if vote is not Vote.NONE and rules.votes:
        await _check_least(site, actor, "votes", rules.votes, what="a vote")
    if vote is Vote.DOWN and rules.downvotes:
        await _check_least(site, actor, "downvotes", rules.downvotes, what="a downvote")


async def check_flag(site: Site, actor: Actor) -> None:
    """As `check_vote`, of a flag."""
    if site.rules.flagging:
        await _check_least(site, actor, "flagging", site.rules.flagging, what="a flag")


@asynccontextmanager
async def on_text(site: Site, actor: Actor, text: Candidate) -> AsyncIterator[Verdict]:
    """
    The verdict of the rules, and of the service that checks texts, on a new text.

    No round trip without rules for texts and such a service, else one; one more where limits are counted, two if the
    first texts of an account are held, and one to take back what was counted if nothing is posted.

    Raises:
        Unauthenticated, Banned: the session has ended, or the user is banned from the site.
    """
    verdict = Verdict()
    try:
        await _judge(site, actor, text, verdict)
        yield verdict
    finally:
        if verdict.counted and not verdict.is_posted:
            await Attempts(site).take_back(verdict.counted)


async def on_edit(site: Site, actor: Actor, text: Candidate) -> Verdict:
    """
    The verdict on what an edit sets. Otherwise as `on_text`, but an edit does not count as one of the texts of a day,
    and may repeat a text.
    """
    verdict = Verdict()
    await _judge(site, actor, text, verdict)
    return verdict


@asynccontextmanager
async def on_registration(site: Site, address: str | None) -> AsyncIterator[None]:
    """
    Count a registration from an address, before it is made. One that fails does not count. No round trip without such a
    rule or an address, else one, and one to take it back.

    Raises:
        RuleBroken: too many accounts were registered from there in a day.
    """
    rule = site.rules.registrations
    if rule is None or address is None:
        yield
        return
    attempts = Attempts(site)
    counted, full = await attempts.try_to_count([SlidingWindow(("registrations", address), DAY, rule.a_day)])
    if full:
        params = {"a_day": rule.a_day, "free_at": max(full.values())}
        message = f"at most {rule.a_day} accounts may be registered from one address in a day"
        raise RuleBroken("registrations", message, params)
    try:
        yield
    except BaseException:
        await attempts.take_back(counted)
        raise


async def _judge(site: Site, actor: Actor, text: Candidate, verdict: Verdict) -> None:
    """Set the breach of a verdict. What is counted gets into it at once, so that it is taken back in any case."""
    rules = site.rules
    texts = {name: each for name, each in text.texts.items() if each}
    if not texts or not (rules.have_texts or site.check):
        return
    account = await _account(site, actor, MOST_LOOKED_AT if rules.first_texts else 0)
    if account.roles:
        return
    found = list(breaches.of_text(rules, account, texts, site.clock()))
    if text.is_new:
        found += await _count(site, account, texts, verdict)
    if (first := rules.first_texts) and await _stood(site, account, first.hold) < first.hold:
        found.append(breaches.first_text(first))
    verdict.breach = breaches.decisive(found)
    if site.check and not verdict.is_refused and (opinion := await site.check(account, text)):
        verdict.breach = breaches.decisive([*found, breaches.by_service(opinion)])


async def _count(site: Site, account: Account, texts: Mapping[str, str], verdict: Verdict) -> list[Breach]:
    """Count a new text in the windows of the rules, and return what the full ones say."""
    windows, name = {}, account.username.lower()
    if daily := breaches.daily_rule(site.rules, account, site.clock()):
        windows[SlidingWindow(("texts a day", name), DAY, daily.most)] = partial(breaches.too_many, daily)
    if said := breaches.repeatable(site.rules, texts):
        rule, said_words = said
        window = SlidingWindow(("repeated text", name, *said_words), rule.hours * HOUR, rule.most)
        windows[window] = partial(breaches.repeated, rule)
    if not windows:
        return []
    counted, full = await Attempts(site).try_to_count(list(windows))
    verdict.counted = list(counted)
    return [windows[window](free_at) for window, free_at in full.items()]


async def _stood(site: Site, account: Account, wanted: int) -> int:
    """
    How many texts of an account were approved by moderators, or have stood without a flag for a day, as all have that
    only the database has. At most one round trip. It counts no further than `wanted`, nor beyond `MOST_LOOKED_AT`
    articles and comments.
    """
    if account.archived >= wanted or account.archived + len(account.texts) < wanted:
        return account.archived
    by_partition: dict[int, list[str]] = defaultdict(list)
    for id in account.texts:
        by_partition[site.partition_of_article(int(id.partition(":")[2]))].append(id)
    before = site.clock() - STANDS_FOR * 1000
    counts: list[int] = await site.redis.pipeline(
        [(*STOOD_TEXTS.beginning(partition), before, *ids) for partition, ids in by_partition.items()],
    )
    return account.archived + sum(counts)


async def _check_least(site: Site, actor: Actor, name: str, rule: LeastRules, what: str) -> None:
    """Check the rule with a name for `what` an actor is about to do. One round trip."""
    account = await _account(site, actor)
    broken = None if account.roles else breaches.too_little(name, rule, account, site.clock(), what)
    if broken:
        raise broken


async def _account(site: Site, actor: Actor, texts: int = 0) -> Account:
    """
    The account of an actor, with at most `texts` of its oldest articles, and as many comments. One round trip.

    Raises:
        Unauthenticated, Banned: the session has ended, or the user is banned from the site.
    """
    partition = actor_slot(actor) % site.partitions
    digest, username = digest_and_name(actor)
    name, *found = await site.redis.run((*RULE_ACCOUNT.beginning(partition), digest, username, site.clock(), texts))
    if not name:
        raise Unauthenticated
    roles, words_of_bans, joined, karma, comment_karma, archived, ids = found
    standing_bans.refuse_banned(words_of_bans, site.clock())
    karmas = int(karma or 0) + int(comment_karma or 0)
    return Account(name, roles, int(joined or 0), karmas, int(archived or 0), ids)
