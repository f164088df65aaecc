"""
What a moderator does to all texts (articles and comments) or votes of a user, which the server carries out in steps
after its answer: a ban removes texts, and annuls votes, which then do not count; a revert undoes that. The soak test
chooses such a mutation at random, reads in the log of moderation what it did, waits for its end, and reads what the
user then sees of the votes.
"""

import asyncio
import time
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.soak.banned_texts import MOST_TEXTS_AT_ONCE, texts_of
from tests.soak.history import Ref
from tests.soak.input_checks import number_of
from tests.soak.model import Model
from tests.soak.moderators import is_in_steps
from tests.soak.records import Action, Article, Comment, User
from tests.soak.requests import instant
from tests.soak.server import Connection
from tests.soak.variables import GROUPS, KnownValues

SHARE, SHARE_SOON = 0.02, 0.2  # of the steps of a history: usually, and while `holding_open_votes` gives any
MOST_TEXTS = 300  # of a user: so many entries of the log are looked at
PATIENCE, PAUSE = 60.0, 0.05  # seconds that votes may take to be annulled or restored, and between two looks
REVERTED = 0.5  # share of what reverts something, where something can be reverted
REVERTED_SOON = 0.8  # the same where votes would count again as those of their voters
STATE = "query($id: ID!) { node(id: $id) { ... on ModerationAction { annulment { state } } } }"
LOG = """query($after: String) { moderationLog(first: 100, after: $after) {
  nodes { id subjectId ban { id } reverts { ban { id } } } pageInfo { endCursor } } }"""
VOTES = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Votable { votes upvotes downvotes viewerVote } } }"
MOST_VOTES = 50  # of a user, that are read


@dataclass(frozen=True)
class Change:
    """A mutation, its input, and the user whom it is about."""

    mutation: str
    given: dict[str, Any]
    user: User


def is_due(random: Random, model: Model) -> bool:
    """Whether such a change is next: rarely, but soon while `holding_open_votes` gives any."""
    return random.random() < (SHARE_SOON if holding_open_votes(model) else SHARE)


def change(random: Random, model: Model, known: KnownValues) -> Change | None:
    """A ban that removes texts or annuls votes, an annulment of votes, or the revert of such an action."""
    if (open_ones := holding_open_votes(model)) and random.random() < REVERTED_SOON:
        return _revert(random, known, random.choice(open_ones))
    standing = [each for each in model.actions.values() if is_in_steps(each) and each.is_revertible]
    if standing and random.random() < REVERTED:
        return _revert(random, known, random.choice(standing[-3:]))
    users = [each for each in (*model.users.values(), *model.departed.values()) if not each.is_admin]
    if not users:
        return None
    if random.random() < 0.6:
        user = _voter(random, model) or random.choice(users)
        return Change("annulVotes", _annulment(random, model, known, user), user)
    users = [each for each in users if len(texts_of(model, each)) <= MOST_TEXTS_AT_ONCE]
    if not users:
        return None
    user = random.choice(users)
    return Change("banUser", _ban(random, model, known, user), user)


def holding_open_votes(model: Model) -> list[Action]:
    """
    The actions that can be reverted and annul votes on texts that still take votes: few, as voting closes soon. While
    it is open, the voters are known, so that a vote that is restored also shows whose it is.
    """
    annulled = (each.annulled.values() for each in _subjects(model) if model.has_voters(each))
    actions = dict.fromkeys(action for votes in annulled for vote in votes for action in vote.actions)  # each once
    return [each for each in actions if each.is_revertible]


def voted_on(model: Model, known: KnownValues, user: User) -> list[Ref]:
    """The ids of what a user has voted on last."""
    subjects = _subjects(model)
    voted = [(each.cast_at[user], index) for index, each in enumerate(subjects) if user in each.cast_at]
    return [known.id_of(subjects[index]) for _, index in sorted(voted)[-MOST_VOTES:]]


async def texts_of_ban(connection: Connection, model: Model, id: str, *, is_revert: bool) -> dict[str, int]:
    """The numbers of the actions that a ban or its revert, by its id, has made about texts: by the ids of the texts."""
    found: dict[str, int] = {}
    after = None
    for _ in range(MOST_TEXTS // 100):
        page = (await connection.ask(LOG, {"after": after}, token=None))["data"]["moderationLog"]
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
        annulment = (await connection.ask(STATE, {"id": id}, token=None))["data"]["node"]["annulment"]
        if annulment is None or annulment["state"] in ("DONE", "RESTORED"):
            return True
        await asyncio.sleep(PAUSE)
    return False


def _revert(random: Random, known: KnownValues, action: Action) -> Change:
    given = {"actionId": known.actions[action.number], "reason": "a mistake"}
    if random.random() < (0.4 if action.kind == "BAN" else 0.05):
        given["keepVotesAnnulled"] = True
    assert isinstance(action.subject, User)
    return Change("revertModeration", given, action.subject)


def _voter(random: Random, model: Model) -> User | None:
    """Mostly somebody who has voted lately, on what still takes votes if there is any."""
    voters = [  # whether the subject still takes votes, when the user has voted, and the user
        (each.poster is not user and model.has_voters(each), at, user.name, user)
        for each in _subjects(model)
        for user, at in each.cast_at.items()
        if not user.is_admin
    ]
    newest = sorted(voters)[-8:]
    still_open = [each for each in newest if each[0]]
    return random.choice(still_open or newest)[-1] if newest and random.random() < 0.8 else None


def _ban(random: Random, model: Model, known: KnownValues, user: User) -> dict[str, Any]:
    until = model.now + 1_000 * random.choice((1, 4, 10))
    given = {"userId": known.user_id(user), "reason": "spam", "until": instant(until)}
    with_texts, with_votes = random.choice(((True, False), (True, False), (False, True), (True, True)))
    if with_texts:
        given |= {"removeTexts": True, "group": random.choice((None, *GROUPS))}
    if with_votes:
        given["annulVotes"] = True
        if random.random() < 0.95:  # else the server may refuse it: a ban from a group annuls no votes
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


def _subjects(model: Model) -> list[Article | Comment]:
    return [*model.articles.values(), *model.comments.values()]
