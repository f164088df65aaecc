"""Commands for scripts that begin with `prelude.lua`: they get all keys of a partition, the actor and the policy."""

from functools import lru_cache
from typing import Any

from store import keys
from store.client import Argument, Command
from store.ranking.formulas import ORDERS, Policy
from store.scripts.registry import Script
from store.sessions import Actor
from store.site import Site


async def run(site: Site, script: Script, p: int, actor: Actor, *arguments: Argument) -> Any:
    """
    Run a script in partition `p` and return its reply. One round trip.

    A session has to be stored in the same partition: see `Sessions.resolve`. The script checks that it has not ended.
    """
    return await site.redis.run(command(site, script, p, actor, *arguments))


def command(site: Site, script: Script, p: int, actor: Actor, *arguments: Argument) -> Command:
    name_and_digest = (actor, "") if isinstance(actor, str) else ("", actor.digest)
    return script.command(keys.home(p, ORDERS), *name_and_digest, site.clock(), *weights(site.policy), *arguments)


@lru_cache
def weights(policy: Policy) -> tuple[Argument, ...]:
    """ARGV 4 to 6 of `prelude.lua`; the voting window in milliseconds."""
    of_orders = f"{policy.vote_score!r} {policy.hot_seconds!r} {policy.best_z!r}"
    return (of_orders, policy.good_votes, policy.voting_window * 1000)
