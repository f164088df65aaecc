"""Scripts that somebody runs: with all keys of a partition, who acts, and the numbers of the ranking."""

from typing import Any

from store import keys
from store.commands import Script
from store.link import Argument, Command
from store.ranking import ORDERS
from store.sessions import Actor, Session, Sessions
from store.site import Site


async def run(site: Site, sessions: Sessions, script: Script, p: int, actor: Actor, *arguments: Argument) -> Any:
    """
    Run a script of `home.lua` for somebody, and give its reply.

    One round trip; one more before it where a session is at home in another partition.

    Raises:
        Unauthenticated: such a session has ended. Others are checked by the script.
    """
    if isinstance(actor, Session) and actor.slot % site.partitions != p:
        actor = await sessions.username(actor)
    return await site.connection.run(command(site, script, p, actor, *arguments))


def command(site: Site, script: Script, p: int, actor: Actor, *arguments: Argument) -> Command:
    policy = site.policy
    who = (actor, "") if isinstance(actor, str) else ("", actor.digest)
    numbers = (policy.vote_score * 1000, policy.good_votes, policy.voting_window * 1000)
    return script.command(keys.home(p, ORDERS), *who, site.clock(), *numbers, *arguments)
