"""
What a moderator does to all texts or votes of a user, which the server carries out in steps after its answer: the
random choice of such a mutation, what the log of moderation tells about it, and the wait for its end.
"""

import asyncio
import time
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.soak.banned_texts import MOST, texts_of
from tests.soak.input_checks import number_of
from tests.soak.model import Model
from tests.soak.moderators import is_in_steps
from tests.soak.records import Action, Article, Comment, User
from tests.soak.requests import instant
from tests.soak.server import Connection
from tests.soak.variables import GROUPS, KnownValues

MOST_TEXTS = 300  # of a user
PATIENCE, PAUSE = 60.0, 0.05  # seconds
REVERTED = 0.5  # share of what reverts something, where something can be reverted
STATE = "query($id: ID!) { node(id: $id) { ... on ModerationAction { annulment { state } } } }"
LOG = """query($after: String) { moderationLog(first: 100, after: $after) {
  nodes { id subjectId ban { id } reverts { ban { id } } } pageInfo { endCursor } } }"""


@dataclass(frozen=True)
class Stepwise:
    """A mutation and its input."""

    mutation: str
    given: dict[str, Any]


def stepwise(random: Random, model: Model, known: KnownValues) -> Stepwise | None:
    """A ban that removes texts or annuls votes, an annulment of votes, or the revert of such an action."""
    standing = [each for each in model.actions.values() if is_in_steps(each) and each.reverted_by is None]
    if standing and random.random() < REVERTED:
        return _revert(random, known, random.choice(standing[-3:]))
    users = [each for each in (*model.users.values(), *model.departed.values()) if not each.is_admin]
    if not users:
        return None
    if random.random() < 0.6:
        return Stepwise("annulVotes", _annulment(random, model, known, _voter(random, model) or random.choice(users)))
    users = [each for each in users if len(texts_of(model, each)) <= MOST]
    return Stepwise("banUser", _ban(random, model, known, random.choice(users))) if users else None


async def texts_of_ban(connection: Connection, model: Model, id: str, *, is_revert: bool) -> dict[str, int]:
    """The numbers of the actions that a ban or its revert, by its id, has made about texts: by the ids of the texts."""
    found: dict[str, int] = {}
    after = None
    for _ in range(MOST_TEXTS // 100):
        page = (await connection.ask(LOG, {"after": after}, None))["data"]["moderationLog"]
        for node in page["nodes"]:
            made_by = (node["reverts"] or {}).get("ban") if is_revert else node["ban"]
            number = number_of(node["id"], "action")
            if made_by == {"id": id} and number not in model.numbers:
                found[node["subjectId"]] = number
        after = page["pageInfo"]["endCursor"]
    return found


async def votes_settled(connection: Connection, id: str) -> bool:
    """Wait until the votes of an action are annulled or restored. False if that does not end."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        annulment = (await connection.ask(STATE, {"id": id}, None))["data"]["node"]["annulment"]
        if annulment is None or annulment["state"] in ("DONE", "RESTORED"):
            return True
        await asyncio.sleep(PAUSE)
    return False


def _revert(random: Random, known: KnownValues, action: Action) -> Stepwise:
    given = {"actionId": known.actions[action.number], "reason": "a mistake"}
    if random.random() < (0.4 if action.kind == "BAN" else 0.05):
        given["keepVotesAnnulled"] = True
    return Stepwise("revertModeration", given)


def _voter(random: Random, model: Model) -> User | None:
    """Mostly somebody who has voted lately."""
    subjects: list[Article | Comment] = [*model.articles.values(), *model.comments.values()]
    voters = [(at, user.name, user) for each in subjects for user, at in each.cast_at.items() if not user.is_admin]
    newest = sorted(voters)[-8:]
    return random.choice(newest)[-1] if newest and random.random() < 0.8 else None


def _ban(random: Random, model: Model, known: KnownValues, user: User) -> dict[str, Any]:
    until = model.now + 1_000 * random.choice((1, 4, 10))
    given = {"userId": known.user_id(user), "reason": "spam", "until": instant(until)}
    with_texts, with_votes = random.choice(((True, False), (True, False), (False, True), (True, True)))
    if with_texts:
        given |= {"removeTexts": True, "group": random.choice((None, *GROUPS))}
    if with_votes:
        given["annulVotes"] = True
        if random.random() < 0.95:
            given["group"] = None
    return given


def _annulment(random: Random, model: Model, known: KnownValues, user: User) -> dict[str, Any]:
    """Mostly of all votes, and mostly of somebody who has cast some."""
    given: dict[str, Any] = {"userId": known.user_id(user), "reason": "a ring"}
    for name in ("from", "to"):
        if random.random() < 0.3:
            given[name] = instant(model.now - random.choice((0, 0, 1_000, 5_000, 20_000, 100_000)))
    if random.random() < 0.03:
        given |= {"from": instant(model.now + 1_000), "reason": random.choice(("", "a ring"))}
    return given
