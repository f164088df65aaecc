"""
Commands on comments: post, vote, edit, delete. `article` is the number of an article of alice, and `commented` posts a
comment. A deleted comment with replies stays as a stub, without text and poster.

Codes such as C1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove. `C2: V1` is the row
V1 about votes on articles, as it holds for comments by C2.
"""

import asyncio
import random
from collections import Counter
from dataclasses import replace

import pytest

from store import comments as commands
from store import effects, keys, queries, threads
from store.errors import (
    CommentingClosed,
    Forbidden,
    IdempotencyMismatch,
    Invalid,
    Locked,
    NotFound,
    Unauthenticated,
    VotingClosed,
)
from store.log import START
from store.log import read as read_log
from store.records import ContentState, Vote
from store.sessions import parse_token
from tests.store import discussions
from tests.store.discussions import PEOPLE, comment, commented, comments, descendants, numbers_by
from tests.store.reading import downvoters, everything, post, profile, read, upvoters

pytestmark = pytest.mark.many_partitions
WEEK = 7 * 86_400  # seconds


async def count_of(store, article: int) -> int:
    """The number of comments that the hash of an article has."""
    partition = store.site.partition_of_article(article)
    return int(await store.site.redis.run(("HGET", keys.article(partition, article), "comments")) or 0)


async def counts(store, numbers) -> dict[int, int]:
    """How many descendants each comment has, by number."""
    (found,) = await read(
        store, threads.descendant_counts(store.site, store.site.partition_of_article(numbers[0]), numbers)
    )
    return found


async def vote_of(store, number: int, voter: str) -> Vote:
    (found,) = await read(store, *queries.votes(store.site, [number], voter))
    return found[number]


async def test_comment_answers_an_article_or_a_comment(store, article, clock):  # C1, C3
    first = await commented(store, article, "bob", text="**first**")
    clock.advance(1)
    reply = await commented(store, article, "carol", first)

    assert (first.article, first.parent, first.depth, first.content) == (article, None, 0, "**first**")
    assert (first.upvotes, first.downvotes, first.votes, first.state) == (1, 0, 1, ContentState.VISIBLE)
    assert (reply.parent, reply.depth, reply.posted_at) == (first.number, 1, clock.now)
    assert (await comment(store, first.number)).reply_count == 1
    assert await count_of(store, article) == 2
    assert await vote_of(store, first.number, "bob") is Vote.UP
    assert [await numbers_by(store, name) for name in ("bob", "carol")] == [[first.number], [reply.number]]


async def test_numbers_of_comments_are_shared_with_articles_and_name_the_partition(store, article):
    numbers = [article, (await commented(store, article, "bob")).number, (await post(store, "alice")).number]
    numbers.append((await commented(store, article, "carol")).number)

    assert numbers == sorted(set(numbers))
    assert {number % keys.SLOTS for number in numbers} == {keys.slot("alice")}


async def test_parent_of_another_article_is_refused(store, article, redis):  # C1
    other = (await post(store, "bob")).number
    parent = await commented(store, other, "carol")
    before = everything(redis)

    for number in (parent.number, 1, article):
        with pytest.raises(NotFound) as refusal:
            await store.comments.post(article, parent=number, poster="bob", content="a text")
        assert refusal.value.field == ("parentId",)
    assert everything(redis) == before


async def test_comment_on_no_article_is_refused(store, article, redis):
    before = everything(redis)

    with pytest.raises(NotFound) as refusal:
        await store.comments.post(article + keys.SLOTS, parent=None, poster="bob", content="a text")

    assert refusal.value.field == ("articleId",)
    assert everything(redis) == before


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b", "a" * 10_001, "a\0", "\ud800"])
async def test_invalid_text_is_refused(store, article, redis, text):  # C10
    posted = await commented(store, article, "bob")
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.comments.post(article, parent=None, poster="bob", content=text)
    with pytest.raises(Invalid):
        await store.comments.edit(posted.number, "bob", text)

    assert refusal.value.field == ("content",)
    assert everything(redis) == before


async def test_longest_text_is_accepted(store, article):  # C10
    assert (await commented(store, article, "bob", text="a" * 10_000)).content == "a" * 10_000


async def test_ended_session_is_refused(store, article, clock, redis):  # C10
    session = parse_token((await store.sessions.open("bob")).token)
    posted = (await store.comments.post(article, parent=None, poster=session, content="a text")).comment
    clock.advance(2 * store.site.session_lifetime)
    before = everything(redis)

    for call in (
        store.comments.post(article, parent=None, poster=session, content="another"),
        store.comments.edit(posted.number, session, "another"),
        store.comments.vote(posted.number, session, Vote.UP),
        store.comments.delete(posted.number, session),
    ):
        with pytest.raises(Unauthenticated):
            await call
    assert everything(redis) == before


LOCKED_AND_HIDDEN = [("locked", "1", Locked), ("state", "removed", Forbidden), ("state", "pending", Forbidden)]


@pytest.mark.parametrize(("field", "value", "refusal"), LOCKED_AND_HIDDEN)
async def test_locked_or_hidden_article_takes_no_comments(store, article, redis, field, value, refusal):
    parent = await commented(store, article, "bob")
    redis.hset(keys.article(store.site.partition_of_article(article), article), field, value)
    before = everything(redis)

    for number in (None, parent.number):
        with pytest.raises(refusal):
            await store.comments.post(article, parent=number, poster="carol", content="a text")
    assert everything(redis) == before


async def test_old_article_takes_no_comments(store, article, clock, redis):  # C13
    """Until the last millisecond it does; a replay, and all else about the comments that it has, goes on after it."""
    limited = commands.Comments(replace(store.site, commenting_ms=2 * 86_400_000))
    parent = await commented(store, article, "bob")
    clock.advance(2 * 86_400)
    last = await limited.post(article, parent=None, poster="carol", content="in time", idempotency_key="a key")
    clock.advance(0.001)
    before = everything(redis)

    for number in (None, parent.number):
        with pytest.raises(CommentingClosed, match=f"article:{article} takes no comments any more"):
            await limited.post(article, parent=number, poster="carol", content="too late")
    assert everything(redis) == before
    assert (
        await limited.post(article, parent=None, poster="carol", content="in time", idempotency_key="a key")
    ).comment == last.comment
    await limited.vote(parent.number, "carol", Vote.UP)
    await limited.edit(parent.number, "bob", "edited")
    await limited.delete(parent.number, "bob")
    assert (await store.comments.post(article, parent=None, poster="carol", content="without the setting")).comment


@pytest.mark.parametrize(("field", "value", "refusal"), LOCKED_AND_HIDDEN)
async def test_locked_or_hidden_article_takes_no_votes(store, article, redis, field, value, refusal):
    posted = await commented(store, article, "bob")
    redis.hset(keys.article(store.site.partition_of_article(article), article), field, value)
    before = everything(redis)

    for call in (store.comments.vote(posted.number, "carol", Vote.UP), store.articles.vote(article, "carol", Vote.UP)):
        with pytest.raises(refusal):
            await call
    assert everything(redis) == before


async def test_hidden_comment_takes_no_replies_and_no_votes(store, article, redis):
    posted = await commented(store, article, "bob")
    redis.hset(keys.comment(store.site.partition_of_article(article), posted.number), "state", "removed")
    before = everything(redis)

    with pytest.raises(Forbidden) as reply:
        await store.comments.post(article, parent=posted.number, poster="carol", content="a text")
    with pytest.raises(Forbidden) as vote:
        await store.comments.vote(posted.number, "carol", Vote.UP)
    assert (reply.value.field, vote.value.field) == (("parentId",), ("commentId",))
    assert everything(redis) == before


async def test_same_key_and_input_return_the_first_comment(store, article, redis):  # C9
    first = await store.comments.post(article, parent=None, poster="bob", content="a text", idempotency_key="a key")
    again = await store.comments.post(article, parent=None, poster="bob", content="a text", idempotency_key="a key")
    with pytest.raises(IdempotencyMismatch):
        await store.comments.post(
            article, parent=first.comment.number, poster="bob", content="a text", idempotency_key="a key"
        )

    assert (first.replayed, again.replayed) == (False, True)
    assert again.comment == first.comment
    assert len(await comments(store, article)) == 1


async def test_double_click_comments_once(store, article, clock):  # C9
    first = await store.comments.post(article, parent=None, poster="bob", content="a text")
    again = await store.comments.post(article, parent=None, poster="bob", content="a text")
    clock.advance(11)
    later = await store.comments.post(article, parent=None, poster="bob", content="a text")

    assert (again.replayed, again.comment) == (True, first.comment)
    assert not later.replayed and later.comment.number != first.comment.number


async def test_key_of_a_deleted_comment_returns_none(store, article):  # C9
    posted = await store.comments.post(article, parent=None, poster="bob", content="a text", idempotency_key="a key")
    parent = posted.comment
    await commented(store, article, "carol", parent)
    await store.comments.delete(parent.number, "bob")

    again = await store.comments.post(article, parent=None, poster="bob", content="a text", idempotency_key="a key")
    assert (again.comment, again.replayed) == (None, True)


async def test_vote_sets_the_voters_value(store, article, redis):  # C2: V1, V3, V4
    number = (await commented(store, article, "bob")).number
    history = [Vote.UP, Vote.UP, Vote.DOWN, Vote.DOWN, Vote.NONE, Vote.NONE, Vote.DOWN, Vote.UP, Vote.NONE, Vote.DOWN]
    voted = [await store.comments.vote(number, "carol", vote) for vote in history]

    assert [each.changed for each in voted] == [True, False, True, False, True, False, True, True, True, True]
    assert [each.comment.votes for each in voted] == [2, 2, 0, 0, 1, 1, 0, 2, 1, 0]
    assert (upvoters(redis, store, number), downvoters(redis, store, number)) == ({"bob"}, {"carol"})
    assert (await profile(store, "bob")).karma == -1  # C7


async def test_posters_own_vote_stays(store, article, redis):  # C1, C2: A5
    number = (await commented(store, article, "bob")).number
    before = everything(redis)

    assert not (await store.comments.vote(number, "bob", Vote.UP)).changed
    for vote in (Vote.DOWN, Vote.NONE):
        with pytest.raises(Forbidden):
            await store.comments.vote(number, "bob", vote)
    assert everything(redis) == before


async def test_voting_closes_a_week_after_the_comment(store, article, clock, redis):  # C2: V5, V6, V7
    clock.advance(WEEK)
    posted = await commented(store, article, "bob")
    clock.advance(WEEK)
    assert (await store.comments.vote(posted.number, "carol", Vote.UP)).comment.votes == 2
    clock.advance(0.001)
    before = everything(redis)

    with pytest.raises(VotingClosed) as refusal:
        await store.comments.vote(posted.number, "dave", Vote.UP)

    assert refusal.value.closed_at == posted.posted_at + WEEK * 1000
    assert everything(redis) == before
    assert 0 < redis.pttl(keys.voted(store.site.partition_of_article(article), posted.number)) <= WEEK * 1000 + 60_000


async def test_vote_after_the_voters_have_expired_is_refused(store, article, redis):  # C2: V7
    """The server of the store deletes them by its own clock."""
    posted = await commented(store, article, "bob")
    redis.delete(keys.voted(store.site.partition_of_article(article), posted.number))
    before = everything(redis)

    for vote in Vote:
        with pytest.raises(VotingClosed):
            await store.comments.vote(posted.number, "carol", vote)
    assert everything(redis) == before


async def test_vote_on_an_unknown_comment_is_refused(store, article, redis):  # C2: V8
    comment = await commented(store, article, "bob")
    before = everything(redis)

    with pytest.raises(NotFound):
        await store.comments.vote(article, "carol", Vote.UP)
    with pytest.raises(NotFound):
        await store.articles.vote(comment.number, "carol", Vote.UP)
    assert everything(redis) == before


async def test_200_voters_at_once_count_200(store, article):  # C2: V9
    number = (await commented(store, article, "bob")).number
    await asyncio.gather(
        *(store.comments.vote(number, f"voter-{each}", Vote.UP) for each in range(199) for _ in range(2))
    )

    assert (await comment(store, number)).votes == 200
    assert (await profile(store, "bob")).karma == 199  # C7


async def test_edit_changes_the_content(store, article, clock):
    posted = await commented(store, article, "bob")
    clock.advance(60)
    edited = (await store.comments.edit(posted.number, "bob", "another text")).comment

    assert edited == posted._replace(content="another text", edited_at=clock.now)
    assert await comment(store, posted.number) == edited


async def test_others_cannot_edit_or_delete(store, article, redis):
    number = (await commented(store, article, "bob")).number
    before = everything(redis)

    for call in (store.comments.edit(number, "carol", "a text"), store.comments.delete(number, "carol")):
        with pytest.raises(Forbidden):
            await call
    for call in (store.comments.edit(article, "alice", "a text"), store.comments.delete(article, "alice")):
        with pytest.raises(NotFound):
            await call
    assert everything(redis) == before


async def test_comment_without_replies_is_deleted(store, article, redis):
    before = everything(redis).keys()
    posted = await commented(store, article, "bob")
    await store.comments.vote(posted.number, "carol", Vote.DOWN)
    await store.comments.delete(posted.number, "bob")

    remaining = everything(redis).keys() - before
    assert {key.split(":")[0] for key in remaining} <= {"commented", "moves", "effects", "applied", "deleted"}
    assert redis.hget(keys.logged(store.site.partition_of_article(article)), posted.number) is None
    assert (await profile(store, "bob")).karma == 0
    assert await count_of(store, article) == 0
    with pytest.raises(NotFound):
        await store.comments.delete(posted.number, "bob")


async def test_comment_with_replies_leaves_a_stub_until_the_last_goes(store, article):  # C6
    first = await commented(store, article, "bob", text="a secret")
    second = await commented(store, article, "carol", first)
    third = await commented(store, article, "dave", second)
    for each, who in ((first, "bob"), (second, "carol")):
        await store.comments.vote(each.number, "erin", Vote.UP)
        await store.comments.delete(each.number, who)

    stub = await comment(store, first.number)
    assert (stub.state, stub.poster, stub.content) == (ContentState.DELETED, None, None)
    assert await count_of(store, article) == 1
    assert await counts(store, [first.number, second.number]) == {first.number: 1, second.number: 1}
    assert (await comment(store, first.number)).reply_count == 0
    assert await numbers_by(store, "bob") == []
    assert (await profile(store, "bob")).karma == 0
    for call in (
        store.comments.vote(first.number, "dave", Vote.UP),
        store.comments.post(article, parent=first.number, poster="dave", content="a reply"),
    ):
        with pytest.raises(NotFound):
            await call

    await store.comments.delete(third.number, "dave")
    assert await numbers_by(store, "bob") == []
    assert await count_of(store, article) == 0


async def test_deleted_text_is_neither_in_the_hash_nor_in_the_log(store, article, redis):  # C6
    first = await commented(store, article, "bob", text="some secret words")
    await store.comments.edit(first.number, "bob", "other secret words")
    await commented(store, article, "carol", first)
    await store.comments.delete(first.number, "bob")

    partition = store.site.partition_of_article(article)
    assert "secret" not in repr(redis.hgetall(keys.comment(partition, first.number)))
    assert "secret" not in repr(await read_log(store.site, partition, START, count=100))


@pytest.mark.parametrize("seed", range(4))
async def test_counts_are_right_after_every_write(store, article, seed):  # C3
    chance, made = random.Random(seed), []
    for _ in range(60):
        await discussions.discuss(store, article, chance, turns=1, made=made)
        await check_counts(store, article)


async def check_counts(store, article: int) -> None:
    """Compare all counts and depths of the comments of an article with the comments."""
    found = await comments(store, article)
    by_number = {each.number: each for each in found}
    visible = [each for each in found if each.state is ContentState.VISIBLE]
    assert await count_of(store, article) == len(visible)
    replies = Counter(each.parent for each in visible)
    assert [each.reply_count for each in found] == [replies[each.number] for each in found]
    assert [each.depth for each in found] == [by_number[each.parent].depth + 1 if each.parent else 0 for each in found]
    if found:
        numbers = [each.number for each in found]
        assert await counts(store, numbers) == {number: descendants(found, number) for number in numbers}
    assert all(each.state is ContentState.VISIBLE or descendants(found, each.number) for each in found)


async def test_counts_are_right_after_60_writes_at_once(store, article):  # C3
    made: list = []
    await discussions.discuss(store, article, random.Random(1), turns=30, made=made)
    await asyncio.gather(
        *(discussions.discuss(store, article, random.Random(seed), turns=4, made=made) for seed in range(60))
    )

    await check_counts(store, article)
    await check_karma(store, article)


async def check_karma(store, article: int) -> None:
    """Karma and own lists are those of the visible comments, in all partitions."""  # C7
    visible = [each for each in await comments(store, article) if each.state is ContentState.VISIBLE]
    assert await effects.pending(store.site) == []
    for name in PEOPLE:
        theirs = [each for each in visible if each.poster == name]
        assert (await profile(store, name)).karma == sum(each.votes - 1 for each in theirs)
        assert await numbers_by(store, name) == [each.number for each in reversed(theirs)]


async def test_karma_that_a_dead_process_left_arrives_once(store, article, monkeypatch):  # C7
    async def die(*arguments):
        """The process ends before it applies what a comment means for its poster in another partition."""

    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply", die)
        patched.setattr(effects, "apply_missing", die)
        made: list = []
        await discussions.discuss(store, article, random.Random(3), turns=80, made=made)
    await effects.complete(store.site)
    await effects.complete(store.site)

    await check_karma(store, article)


@pytest.mark.parametrize("shape", ["comb", "chain", "last"])
async def test_branch_paths_of_deep_comments_stay_short(store, article, shape):
    """Also in conversations that always go on below the second reply. The path sorts a comment among the others."""
    made = [await commented(store, article, "bob")]
    for _ in range(60):
        parent = made[-1]
        if shape != "chain":
            made.append(await commented(store, article, "bob", parent))
        if shape == "last":
            made.append(await commented(store, article, "carol", parent))
        made.append(await commented(store, article, "carol", parent))
    partition = store.site.partition_of_article(article)
    members = await store.site.redis.run(("ZRANGE", keys.tree(partition, article), 0, -1))

    assert max(len(member.split()[0]) for member in members) <= 16
    await check_counts(store, article)


async def test_changes_are_entries_of_the_log(store, article, clock):
    partition = store.site.partition_of_article(article)
    last = (await read_log(store.site, partition, START, count=100))[-1].id
    parent = await commented(store, article, "bob", text="a text")
    posted = await store.comments.post(article, parent=parent.number, poster="alice", content="@Carol and @alice")
    reply = posted.comment
    await store.comments.vote(parent.number, "carol", Vote.DOWN)
    await store.comments.edit(reply.number, "alice", "@dave and @carol")
    await store.comments.delete(parent.number, "bob")

    entries = [
        entry
        for entry in await read_log(store.site, partition, after=last, count=100)
        if entry.subject.startswith("comment")
    ]
    # the entry `commented` of the parent was removed with its text
    assert [(entry.kind, entry.actor, entry.subject) for entry in entries] == [
        ("commented", "alice", reply.id),
        ("comment_voted", "carol", parent.id),
        ("comment_edited", "alice", reply.id),
        ("comment_deleted", "bob", parent.id),
    ]
    discussed = str(article)
    notified = f"reply:bob:{keys.slot('bob')}:{clock.now} mention:carol:{keys.slot('carol')}:{clock.now}"
    assert entries[0].values == {
        "article": discussed, "parent": str(parent.number), "depth": "1", "content": "@Carol and @alice",
        "time": str(clock.now), "up": "1", "down": "0", "notified": notified,
    }  # fmt: skip
    assert entries[1].values == {
        "article": discussed, "value": "-1", "up": "1", "down": "1", "poster": "bob", "karma": "-1"
    }  # fmt: skip
    assert entries[2].values["notified"] == f"mention:dave:{keys.slot('dave')}:{clock.now}"
    assert entries[3].values == {
        "article": discussed, "parent": "", "depth": "0", "time": str(parent.posted_at), "up": "1", "down": "1",
        "poster": "bob", "karma": "1", "stub": "1", "removed": "", "entries": entries[3].values["entries"],
        "notified": f"reply:alice:{keys.slot('alice')}:{clock.now}",
    }  # fmt: skip
