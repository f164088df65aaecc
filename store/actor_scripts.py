"""Scripts that somebody runs: with all keys of a partition, who acts, and the numbers of the ranking."""

from functools import lru_cache
from typing import Any

from store import keys
from store.client.commands import Argument, Command
from store.ranking.formulas import ORDERS, Policy
from store.scripts.registry import Script
from store.sessions import Actor, Session, Sessions
from store.site import Site


async def run(site: Site, sessions: Sessions, script: Script, p: int, actor: Actor, *arguments: Argument) -> Any:
    """
    Run a script of `prelude.lua` for somebody, and give its reply.

    One round trip; one more before it where a session is at home in another partition.

    Raises:
        Unauthenticated: such a session has ended. Others are checked by the script.
    """
    if isinstance(actor, Session) and actor.slot % site.partitions != p:
        actor = await sessions.username(actor)
    return await site.redis.run(command(site, script, p, actor, *arguments))


def command(site: Site, script: Script, p: int, actor: Actor, *arguments: Argument) -> Command:
    who = (actor, "") if isinstance(actor, str) else ("", actor.digest)
    return script.command(keys.home(p, ORDERS), *who, site.clock(), *numbers(site.policy), *arguments)


@lru_cache
def numbers(policy: Policy) -> tuple[Argument, ...]:
    """The numbers of the ranking, as the scripts take them."""
    weights = f"{policy.vote_score!r} {policy.hot_seconds!r} {policy.best_z!r}"
    return (weights, policy.good_votes, policy.voting_window * 1000)
