"""
The mutations and the fields of their payloads. A mutation gets the request, its input and a hint: what the server has
assigned to what it makes, such as a token or a number, which its answer shows. A `Reading` is a comment that is not
visible, as its poster reads it.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable
from typing import Any

from graphql import get_named_type

from tests.soak import (
    annulments,
    appeals,
    bans,
    comments,
    flags,
    held_edits,
    home,
    inboxes,
    invitations,
    issuers,
    leaving,
    mails,
    moderation,
    profiles,
    resets,
    reverts,
    saved,
)
from tests.soak.fields import Feed
from tests.soak.inboxes import Inbox
from tests.soak.input_checks import Refused
from tests.soak.model import Model
from tests.soak.pages import Position
from tests.soak.records import Article, Comment, Reading
from tests.soak.requests import SCHEMA, Request


def mutate(request: Request, name: str, given: Any, hint: Any) -> dict[str, Any]:
    """Run the mutation with this name, and return its payload, which has refusals as `userErrors`."""
    try:
        payload = COMMANDS[name](request, given, hint)
        request.model.reached.count(f"{name} carried out")
    except Refused as refused:
        request.model.reached.count(f"refusals {refused.code}")
        request.has_read_viewer |= refused.code == "UNAUTHENTICATED"
        payload = {"replayed": False, "changed": False, "userErrors": refused.all}
    return payload


def _register(request: Request, given: Any, token: str | None) -> dict[str, Any]:
    token = token or request.model.hidden_token()
    user = request.model.register(given["username"], given["password"], token)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _log_in(request: Request, given: Any, token: str | None) -> dict[str, Any]:
    token = token or request.model.hidden_token()
    user = request.model.log_in(given["username"], given["password"], token)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _log_in_with_token(request: Request, given: Any, token: str | None) -> dict[str, Any]:
    token = token or request.model.hidden_token()
    user = issuers.log_in(request.model, given["token"], token, request.model.roles_by_claims)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _reset_password(request: Request, given: Any, token: str | None) -> dict[str, Any]:
    token = token or request.model.hidden_token()
    user = resets.reset_password(request.model, given, token)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _session_end(model: Model) -> int:
    return model.now + model.policy.session_ttl * 1000


def _log_out(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    request.model.log_out(request.token)
    request.token = None
    return {}


def _change_password(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"user": request.model.change_password(request.token, given["currentPassword"], given["newPassword"])}


def _delete_user(request: Request, given: Any, pseudonym: str | None) -> dict[str, Any]:
    user = leaving.delete_user(request.model, request.token, given, pseudonym)
    request.token = None
    return {"deletedUserId": f"user:{user.lower}"}


def _edit_profile(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    request.viewer()
    return {"user": profiles.edit(request.model, request.token, given)}


def _post(request: Request, given: Any, number_of_new: moderation.NewNumber) -> dict[str, Any]:
    article, replayed = request.model.post(request.token, given, number_of_new)
    if article and not replayed:
        inboxes.notify(request.model, article)
    payload = {"article": article, "replayed": replayed, "duplicateOf": request.model.duplicate_of(article)}
    return payload | {"heldBy": _held_by(article)}


def _held_by(text: Article | Comment | None) -> str | None:
    """The rule that holds what is posted."""
    return text.rule if text is not None and text.state == "PENDING" else None


def _edit(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    article, changes, rule = request.model.edited(request.token, given)
    held_edits.edit(request.model, article, changes, rule)
    return {"article": article, "heldBy": rule}


def _delete(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"deletedArticleId": request.model.delete(request.token, given["articleId"])}


def _vote(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    article, changed = request.model.vote(request.token, given["articleId"], given.get("value") or "UP")
    return {"article": article, "changed": changed}


def _comment(request: Request, given: Any, number_of_new: moderation.NewNumber) -> dict[str, Any]:
    comment, replayed = comments.post(request.model, request.token, given, number_of_new)
    if comment and not replayed:
        inboxes.notify(request.model, comment, (comment.parent or comment.article).poster)
    is_removed = comment is not None and comment.state == "REMOVED"
    request.model.reached.count("replays of what is removed", is_removed)
    payload: Any = Reading(comment, has_content=not is_removed) if comment and not comment.is_visible else comment
    return {"comment": payload, "replayed": replayed, "heldBy": _held_by(comment)}


def _edit_comment(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    comment, rule = comments.edited(request.model, request.token, given)
    held_edits.edit(request.model, comment, {"content": given["content"]}, rule)
    return {"comment": comment if comment.is_visible else Reading(comment), "heldBy": rule}


def _delete_comment(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"deletedCommentId": comments.delete(request.model, request.token, given["commentId"])}


def _vote_on_comment(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    value = given.get("value") or "UP"
    comment, changed = comments.vote(request.model, request.token, given["commentId"], value)
    return {"comment": comment, "changed": changed}


def _regroup(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"article": request.model.regroup(request.token, given)}


def _follow(request: Request, given: Any, hint: Any, begin: bool = True) -> dict[str, Any]:
    user, changed = request.model.follow(request.token, given["userId"], begin)
    return {"user": user, "changed": changed}


def _unfollow(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return _follow(request, given, hint, begin=False)


def _mark(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    user = request.model.actor(request.token)
    through = request.cursor(given["through"])
    if not isinstance(through, Position) or through.listing != ("feed", user.lower):
        raise Refused("INVALID", "through")
    request.model.require_not_banned(user)
    request.model.mark_seen(user, through.key)
    return {"feed": Feed(user)}


def _mark_inbox(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    user = request.model.actor(request.token)
    through = request.cursor(given["through"])
    if not isinstance(through, Position) or through.listing != ("inbox", user.lower):
        raise Refused("INVALID", "through")
    inboxes.mark_seen(request.model, user, through.key)
    return {"inbox": Inbox(user)}


def _moderation(command: Callable[..., moderation.Done]) -> Callable[[Request, Any, Any], dict[str, Any]]:
    """The mutation that does a command of moderators."""

    def mutation(request: Request, given: Any, number_of_new: moderation.NewNumber) -> dict[str, Any]:
        action, changed = command(request.model, request.token, given, number_of_new)
        request.model.reached.count("actions that change nothing", not changed)
        return {"action": action, "changed": changed}

    return mutation


def _appeal(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"action": appeals.appeal(request.model, request.token, given)}


def _answer_appeal(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"action": appeals.answer(request.model, request.token, given)}


def _flag(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    subject, changed = flags.flag(request.model, request.token, given, given["reason"])
    return {"subject": subject, "changed": changed}


def _unflag(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    subject, changed = flags.flag(request.model, request.token, given, reason=None)
    return {"subject": subject, "changed": changed}


COMMANDS: dict[str, Callable[[Request, Any, Any], dict[str, Any]]] = {
    "register": _register,
    "logIn": _log_in,
    "logInWithToken": _log_in_with_token,
    "resetPassword": _reset_password,
    "createInvitation": invitations.create_invitation,
    "logOut": _log_out,
    "changePassword": _change_password,
    "deleteUser": _delete_user,
    "editProfile": _edit_profile,
    "post": _post,
    "editArticle": _edit,
    "deleteArticle": _delete,
    "vote": _vote,
    "comment": _comment,
    "editComment": _edit_comment,
    "deleteComment": _delete_comment,
    "voteOnComment": _vote_on_comment,
    "regroupArticle": _regroup,
    "followUser": _follow,
    "unfollowUser": _unfollow,
    **home.MUTATIONS,
    **mails.MUTATIONS,
    "markFeedSeen": _mark,
    "markInboxSeen": _mark_inbox,
    "grantRole": _moderation(moderation.grant),
    "revokeRole": _moderation(moderation.revoke),
    "removeContent": _moderation(moderation.remove),
    "approveContent": _moderation(moderation.approve),
    "rejectEdit": _moderation(moderation.reject_edit),
    "lockArticle": _moderation(moderation.lock),
    "revertModeration": _moderation(reverts.revert),
    "banUser": _moderation(bans.ban),
    "annulVotes": _moderation(annulments.annul_votes),
    "appeal": _appeal,
    "answerAppeal": _answer_appeal,
    "flag": _flag,
    "unflag": _unflag,
    "save": saved.save,
    "unsave": saved.unsave,
}


def _field(name: str) -> Callable[[Request, dict[str, Any]], Any]:
    return lambda request, payload: payload.get(name)


PAYLOAD_FIELDS: dict[str, dict[str, Callable[[Request, dict[str, Any]], Any]]] = {
    payload_type: {name: _field(name) for name in SCHEMA.type_map[payload_type].fields}  # type: ignore[union-attr]
    | {
        "query": lambda request, payload: payload,
        "userErrors": lambda request, payload: payload.get("userErrors", []),
    }
    for payload_type in {get_named_type(each.type).name for each in SCHEMA.mutation_type.fields.values()}  # type: ignore[union-attr]
}
