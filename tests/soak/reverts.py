"""
Reverts of actions of moderators. What a revert does to each kind of action is in the module of the kind.

Part of the model: a server in plain Python, with which the soak test compares the real one. `given` is the input of a
mutation.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.soak import annulments, bans
from tests.soak.input_checks import Refused, check, is_id
from tests.soak.model import Model
from tests.soak.moderation import (
    Done,
    NewNumber,
    Texts,
    checked_texts,
    require_role,
    require_token,
    revert_content,
    revert_role,
)
from tests.soak.records import Action, User

# takes the model, the moderator, the action, what the moderator writes, and the number of the new action: the revert
Reverter = Callable[[Model, User, Action, Texts, NewNumber], Action]

REVERTERS: Mapping[str, Reverter] = {  # by kind of action; bans, which take one argument more, are not among them
    "REMOVE": revert_content,
    "APPROVE": revert_content,
    "LOCK": revert_content,
    "GRANT_ROLE": revert_role,
    "REVOKE_ROLE": revert_role,
    "ANNUL_VOTES": annulments.revert,
}


def revert(model: Model, token: str | None, given: Mapping[str, Any], number: NewNumber) -> Done:
    """Revert an action. Returns the revert, which is an action itself, and that it has changed something."""
    id = given["actionId"]
    check(is_id("action", id), "actionId")
    require_token(token)
    texts = checked_texts(given)
    actor, action = model.actor(token), model.actions.get(int(id.partition(":")[2]))
    require_role(model, actor)
    if action is None:
        raise Refused("NOT_FOUND", "actionId")
    check(action.kind not in ("REVERT", "PURGE", "REJECT_EDIT"), "actionId")
    keeps_votes = bool(given.get("keepVotesAnnulled"))
    check(action.kind != "ANNUL_VOTES" or not keeps_votes, "keepVotesAnnulled")
    try:
        if action.kind == "BAN":
            return bans.revert(model, actor, action, texts, number, keeps_votes=keeps_votes), True
        return REVERTERS[action.kind](model, actor, action, texts, number), True
    except Refused as refused:
        if refused.path in (["input", "userId"], ["input", "group"]):  # the input of a revert has neither
            refused.path = ["input", "actionId"]
        raise
