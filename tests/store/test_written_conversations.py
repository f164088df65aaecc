"""
What is written about a comment marks its conversation as changed, which otherwise might leave Redis without it (D5).

A conversation is an article with its comments. Archiving copies it to the database, and removes it from Redis unless it
was marked meanwhile. A `Scene` is a store that has keys of every kind.

D5 is a row of `docs/behaviours.md`, which these tests prove.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from redis import Redis

from store import comment_moderation, flags, keys, kinds, roles
from store.annulments import annul, annul_some, restore_some
from store.flags import FlagReason
from store.store import Store
from tests.conftest import Clock
from tests.store import scene as scenes
from tests.store.held import holding
from tests.store.reading import contents
from tests.store.scene import Scene, pass_time

WHILE_OPEN = {"voted", "downvoted"}  # written while voting is open: until then the conversation stays
EXPIRING = {"pinned"}  # kept for 20 minutes: comments as they were when a reader began to page through them
Operation = Callable[[Scene], Awaitable[object]]


async def hold_edit(scene: Scene) -> None:
    with holding(scene.store):
        await scene.store.comments.edit(scene.comment, "carol", "this waits")


async def annul_vote(scene: Scene) -> None:
    """Annul a vote on the comment whose value, -1, comes from the database, as Redis has forgotten its voters."""
    site, now = scene.store.site, scene.clock.now
    annulled = await annul(site, roles.OPERATOR, "dave", since=None, until=None, reason="a ring")
    assert annulled.action
    scene.clock.advance(1)
    await annul_some(
        site, scene.partition, annulled.action.number, "dave", complete_at=now, votes=[(scene.comment, -1)]
    )


async def restore_vote(scene: Scene) -> None:
    site = scene.store.site
    action = int(scene.redis.hget(keys.annulled(scene.partition, scene.comment), "dave").split()[1])
    await restore_some(site, scene.partition, action, "dave", [scene.comment])


OPERATIONS: dict[str, Operation] = {
    "flag": lambda scene: flags.flag(scene.store.site, "bob", "comment", scene.comment, FlagReason.SPAM),
    "hold an edit": hold_edit,
    "approve": lambda scene: comment_moderation.approve(scene.store.site, roles.OPERATOR, scene.comment),
    "edit": lambda scene: scene.store.comments.edit(scene.comment, "carol", "another text"),
    "annul a vote": annul_vote,
    "restore a vote": restore_vote,
    "answer": lambda scene: scene.store.comments.post(
        scene.open.number, parent=scene.comment, poster="bob", content="an answer"
    ),
    "remove": lambda scene: comment_moderation.remove(
        scene.store.site, roles.OPERATOR, scene.comment, group=None, reason="spam"
    ),
    "restore": lambda scene: comment_moderation.approve(scene.store.site, roles.OPERATOR, scene.comment),
    "delete an answer": lambda scene: scene.store.comments.delete(scene.answer, "Alice"),
    "delete": lambda scene: scene.store.comments.delete(scene.comment, "carol"),
}


def of_comments(scene: Scene) -> dict[str, Any]:
    """The values of the keys whose first part is the number of a comment."""
    stored, partitions = contents(scene.redis), scene.store.site.partitions
    parsed = [kinds.parse(text, partitions) for text in stored if text != keys.store()]
    return {
        key.text: stored[key.text]
        for key in parsed
        if key and key.kind.parts and key.kind.parts[0] is keys.NUMBER
        if keys.comment(key.partition, key.suffix.split(":")[0]) in stored
    }


def kinds_of(texts: Iterable[str]) -> set[str]:
    """The kinds of keys: the words that they begin with."""
    return {text.partition(":")[0] for text in texts}


def what_archiving_compares(scene: Scene) -> tuple[Any, int]:
    """The article and its number of comments: archiving sees by them that a conversation was marked."""
    return scene.redis.hgetall(scene.hash), scene.redis.zcard(keys.tree(scene.partition, scene.open.number))


async def test_each_kind_of_key_of_a_comment_marks_its_conversation(store: Store, redis: "Redis", clock: Clock) -> None:
    """A new kind that begins with the number of a comment has to be among what these operations write."""
    scene = await scenes.opened(store, redis, clock)
    await scenes.fill_other_kinds(scene)
    known, written = kinds_of(of_comments(scene)), set[str]()
    pass_time(redis, clock, scenes.WEEK + 120)
    for name, operation in OPERATIONS.items():
        clock.advance(1)
        before, compared = of_comments(scene), what_archiving_compares(scene)
        await operation(scene)
        after = of_comments(scene)
        changed = {text for text in before.keys() | after.keys() if before.get(text) != after.get(text)}
        assert changed, f"{name} has changed nothing"
        assert what_archiving_compares(scene) != compared, f"{name} does not mark the conversation: {sorted(changed)}"
        written |= kinds_of(changed)
    await scenes.fill_kinds_of_operations(scene)

    assert known | kinds_of(of_comments(scene)) <= written | WHILE_OPEN | EXPIRING
