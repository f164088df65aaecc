"""
Whose flags count toward hiding a thing, an article or a comment, by the rules of a site. A flag does not
count during a ban of its user, if the account is too young or has too little karma, or if too few others have upvoted
the user. It also counts only if moderators have upheld more of the user's last flags than they have overruled.

By whom a user was upvoted, and what has become of their last flags, is kept with the user as votes and decisions come,
by `upvoters.lua` and `flag_outcomes.lua`: voters are known for a week only, and things that were flagged are edited and
deleted. So one hash has all that is asked for, and an upvote costs one command more, or two while the user has few
upvoters.
"""

from collections.abc import Sequence
from typing import NamedTuple

from store import keys, standing_bans
from store.client import Command
from store.ranking.formulas import DAY
from store.records import UPHELD
from store.rules import FlagRules
from store.site import Actor, Site

FIELDS = ("joined", "karma", "comment_karma", "upvoters", "flag_outcomes", "bans")


class Weight(NamedTuple):
    """
    Arguments of `flag.lua` about a flag. `hide_at` flags that count hide the thing; 0 if this one does not count.
    Besides, one flag is needed for each `votes_per_flag` votes of the thing. `poster_roles` are the words of the roles
    of a comment's poster.
    """

    hide_at: int = 0
    votes_per_flag: int = 1
    poster_roles: str = ""


NO_WEIGHT = Weight()


async def weigh(site: Site, actor: Actor, kind: str, number: int) -> Weight:
    """
    Whether a flag of an actor counts. No round trip if the site has no such rule; else one, for sessions two. For a
    comment one more if it counts.

    Raises:
        Unauthenticated: the session has ended.
    """
    rule = site.rules.flags
    if rule is None:
        return NO_WEIGHT
    name = await site.username(actor)
    commands: list[Command] = [("HMGET", keys.user(site.partition_of_user(name), name), *FIELDS)]
    if kind == "comment":
        commands.append(("HGET", keys.comment(site.partition_of_article(number), number), "poster"))
    found, *posters = await site.redis.pipeline(commands)
    if not counts(rule, found, site.clock()):
        return NO_WEIGHT
    poster = posters[0] if posters else None
    key = keys.user(site.partition_of_user(poster), poster) if poster else None
    roles = await site.redis.run(("HGET", key, "roles")) if key else None
    return Weight(rule.hide_at, rule.votes_per_flag, roles or "")


def counts(rule: FlagRules, found: Sequence[str | None], now: int) -> bool:
    """Whether the flag of a user counts with these values of `FIELDS`, at an instant (unix milliseconds)."""
    joined, karma, comment_karma, upvoters, outcomes, words = (value or "" for value in found)
    return (
        bool(joined)
        and now - int(joined) >= rule.least_age_days * DAY * 1000
        and int(karma or 0) + int(comment_karma or 0) >= rule.least_karma
        and len(upvoters.split()) >= rule.least_voters
        and _is_trusted(rule, outcomes.split())
        and not any(standing_bans.standing(words, now))
    )


def _is_trusted(rule: FlagRules, outcomes: Sequence[str]) -> bool:
    if rule.last_flags == 0:
        return True
    last = outcomes[-rule.last_flags :]
    upheld = sum(each.endswith(UPHELD) for each in last)
    return upheld > len(last) - upheld
