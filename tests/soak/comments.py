"""
The commands on comments, as docs/comments.md describes them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.soak.input_checks import Refused, check, check_all, is_id, number_of
from tests.soak.model import DAY, REPEAT, Model
from tests.soak.records import Article, Comment, Move, User

DEEP = 5  # from so many comments above it on, one counts as deep in a thread
MOST_MOVES = 4  # moves of a comment by votes that are kept apart; older ones are merged
LONGEST = 10_000  # characters


def post(
    model: Model, token: str | None, given: Mapping[str, Any], number_of_new: Callable[[User], int]
) -> tuple[Comment | None, bool]:
    """
    Post a comment. Returns it, None if it was deleted since, and whether this was a replay. `number_of_new` gives the
    number that the server has given to the comment.
    """
    if token is None:
        raise Refused("UNAUTHENTICATED")
    parent_id, content, key = given.get("parentId"), given["content"], given.get("idempotencyKey")
    check_all(
        (is_id("article", given["articleId"]), "articleId"),
        (parent_id is None or is_id("comment", parent_id), "parentId"),
        (is_content(content), "content"),
        (key is None or 1 <= len(key) <= 200, "idempotencyKey"),
    )
    poster, number = model.writer(token), number_of(given["articleId"])
    comment_input = (number, parent_id and number_of(parent_id, "comment"), content)
    used = (model.partition_of(number), key)  # keys are kept with the article
    if key is not None and used in poster.commented:
        at, earlier_input, earlier = poster.commented[used]
        if model.now - at <= DAY:
            return _replayed(model, earlier_input, earlier, comment_input)
    if key is None and comment_input in poster.recent_comments:
        at, first = poster.recent_comments[comment_input]
        if model.now - at <= REPEAT and is_there(model, first):
            model.reached.count("double clicks on comments")
            return first, True
    article, parent = _answered(model, poster, number, parent_id and number_of(parent_id, "comment"))
    rule = model.verdicts.of_new(poster, {"content": content})
    comment = _new(model, number_of_new, article, parent, poster, content)
    model.hold(comment, rule)
    if key is not None:
        poster.commented[used] = (model.now, comment_input, comment)
    else:
        poster.recent_comments[comment_input] = (model.now, comment)
    return comment, False


def edited(model: Model, token: str | None, given: Mapping[str, Any]) -> tuple[Comment, str | None]:
    """The comment that an edit is about, and the rule that holds the edit; None if none does."""
    if token is None:
        raise Refused("UNAUTHENTICATED")
    check_all((is_id("comment", given["commentId"]), "commentId"), (is_content(given["content"]), "content"))
    comment, editor = _own(model, token, given["commentId"])
    if "REMOVED" in (comment.state, comment.article.state):
        model.reached.count("edits of what is removed")
        raise Refused("FORBIDDEN", "commentId")
    rule = model.verdicts.of_edit(editor, {"content": given["content"]})
    model.reached.count("edits of what is pending", comment.state == "PENDING")
    return comment, rule


def delete(model: Model, token: str | None, id: str) -> str:
    comment, _ = _own(model, token, id)
    drop(model, comment)
    return f"comment:{comment.number}"


def drop(model: Model, comment: Comment) -> None:
    """Delete a comment. One with replies becomes a stub. A stub goes with its last reply."""
    comment.poster = comment.content = comment.edited_at = comment.held_edit = None
    comment.state = "DELETED"
    model.reached.count("notifications whose cause is deleted", bool(comment.notified))
    comment.notified.clear()
    comment.flags.clear()
    model.reached.count("annulled votes on what is deleted", bool(comment.annulled))
    comment.annulled.clear()
    gone: Comment | None = comment
    while gone and gone.is_stub and not any(each.parent is gone for each in model.comments.values()):
        del model.comments[gone.number]
        model.reached.count("stubs that vanish", gone is not comment)
        gone = gone.parent
    model.reached.count("stubs", comment.number in model.comments)
    model.version += 1


def vote(model: Model, token: str | None, id: str, value: str) -> tuple[Comment, bool]:
    """Set a vote on a comment. Returns the comment, and whether the vote has changed."""
    if token is not None and is_id("comment", id):
        model.verdicts.require_vote(model.writer(token), value)
    comment, voter = _found(model, token, id)
    if model.has_voters(comment):
        model.require_not_banned(voter, comment.article.groups)
    model.reached.count("votes on comments that have left", comment.article.number in model.archived)
    up, down = len(comment.up), len(comment.down)
    changed = model.cast(comment, voter, value, "commentId")
    if changed:
        note_move(model, comment, up, down)
    return comment, changed


def note_move(model: Model, comment: Comment, up: int, down: int) -> None:
    """Note that a vote may have moved a comment in its thread. It had these upvotes and downvotes before."""
    partition = model.partition(comment.article)
    model.moves[partition] += 1
    comment.moves.append(Move(model.moves[partition], up_low=up, up_high=up, down_low=down, down_high=down))
    if len(comment.moves) > MOST_MOVES:
        comment.moves[:2] = [_merged(*comment.moves[:2])]


def is_content(text: str) -> bool:
    return len(text) <= LONGEST and bool(text.strip())


def is_there(model: Model, comment: Comment) -> bool:
    return comment.number in model.comments and not comment.is_stub


def _new(
    model: Model,
    number_of_new: Callable[[User], int],
    article: Article,
    parent: Comment | None,
    poster: User,
    content: str,
) -> Comment:
    number = model.new_number(number_of_new(poster))
    comment = model.comments[number] = Comment(number, article, parent, poster, content, model.now, up={poster})
    model.version += 1
    model.reached.count("replies deep in a thread", len(comment.ancestors) >= DEEP)
    return comment


def _replayed(model: Model, earlier_input: Any, comment: Comment, comment_input: Any) -> tuple[Comment | None, bool]:
    if earlier_input != comment_input:
        model.reached.count("idempotency mismatches of comments")
        raise Refused("IDEMPOTENCY_MISMATCH", "idempotencyKey")
    model.reached.count("replays of comments" if is_there(model, comment) else "replays of deleted comments")
    return comment if is_there(model, comment) else None, True


def _answered(model: Model, poster: User, number: int, parent_number: int | None) -> tuple[Article, Comment | None]:
    """The article and the comment that a new comment answers."""
    if number not in model.articles:
        raise Refused("NOT_FOUND", "articleId")
    article, parent = model.articles[number], model.comments.get(parent_number or 0)
    model.require_not_banned(poster, article.groups)
    if parent_number and (parent is None or parent.is_stub or parent.article is not article):
        raise Refused("NOT_FOUND", "parentId")
    if not article.is_visible or (parent and not parent.is_visible):
        model.reached.count("answers to what is removed")
        raise Refused("FORBIDDEN", "parentId" if article.is_visible else "articleId")
    if article.is_locked:
        model.reached.count("comments on locked articles")
        raise Refused("LOCKED", "articleId")
    if model.is_old(article):
        model.reached.count("comments on old articles")
        raise Refused("LOCKED", "articleId")
    return article, parent


def _found(model: Model, token: str | None, id: str) -> tuple[Comment, User]:
    if token is None:
        raise Refused("UNAUTHENTICATED")
    check(is_id("comment", id), "commentId")
    actor, comment = model.writer(token), model.comments.get(number_of(id, "comment"))
    if comment is None or comment.is_stub:
        raise Refused("NOT_FOUND", "commentId")
    return comment, actor


def _own(model: Model, token: str | None, id: str) -> tuple[Comment, User]:
    comment, actor = _found(model, token, id)
    if comment.poster is not actor:
        raise Refused("FORBIDDEN", "commentId")
    return comment, actor


def _merged(first: Move, second: Move) -> Move:
    return Move(
        number=second.number,
        up_low=min(first.up_low, second.up_low),
        up_high=max(first.up_high, second.up_high),
        down_low=min(first.down_low, second.down_low),
        down_high=max(first.down_high, second.down_high),
    )
