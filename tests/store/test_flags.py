"""
Flags, by which users report articles and comments, and the queues of what waits for moderators: FLAGGED, and PENDING of
what is hidden until a moderator approves it. A decision of a moderator clears the flags, and its revert brings them
back.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as M5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import article_moderation, comment_moderation, flaggers, flags, keys
from store.client import Command
from store.errors import Banned, Forbidden, Invalid, NotFound
from store.flags import FLAGS, QUEUE, FlagReason, Queue
from store.listings import Window
from store.records import ContentState
from store.roles import OPERATOR
from store.scripts.registry import FILES, Script
from tests.conftest import registered
from tests.store.held import set_article_state
from tests.store.reading import everything, numbers, page, post, read, verified

pytestmark = pytest.mark.many_partitions


@pytest.fixture
async def carol(store) -> str:
    return await registered(store, "carol")


async def commented(store, article, poster):
    return (await store.comments.post(article.number, parent=None, poster=poster, content="a text")).comment


async def flagged(store, *groups, window=None):
    """The numbers of what is flagged, in all of the site or in some groups."""
    return await numbers(store, flags.listing(store.site, Queue.FLAGGED, groups or None), window)


async def standing(store, number):
    """The flags that were not cleared: username, reason, note, and groups of the article at that time."""
    (found,) = await read(store, flags.standing(store.site, number))
    return [(flag.username, flag.reason.name, flag.note, flag.groups) for flag in found]


async def test_flag_counts_once_a_person_and_thing(store, redis, alice, bob, carol, clock):  # M5
    article = await post(store, alice, groups=["go", "lua"])
    first = await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM, " buy shoes ")
    before = everything(redis)
    again = await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM, "buy shoes")

    assert (first.changed, first.subject, again.changed) == (True, article, False)
    assert everything(redis) == before
    clock.advance(0.01)
    assert (await flags.flag(store.site, bob, "article", article.number, FlagReason.ABUSE)).changed
    await flags.flag(store.site, carol, "article", article.number, FlagReason.ILLEGAL)
    assert await standing(store, article.number) == [
        ("bob", "ABUSE", None, ("go", "lua")),
        ("carol", "ILLEGAL", None, ("go", "lua")),
    ]
    for groups in ((), ("go",), ("lua",), ("go", "lua")):
        found = (await page(store, flags.listing(store.site, Queue.FLAGGED, groups or None))).positions
        assert [(each.number, each.value) for each in found] == [(article.number, clock.now - 10)]
    assert await flagged(store, "rust") == []
    assert await verified(store) == []


async def test_withdrawn_flag_leaves_nothing(store, redis, alice, bob, carol, clock):
    article = await post(store, alice, groups=["go"])
    comment = await commented(store, article, alice)
    before = redis.keys("flags:*") + redis.keys("queue:*")
    await flags.flag(store.site, bob, "comment", comment.number, FlagReason.SPAM)
    clock.advance(0.01)
    await flags.flag(store.site, carol, "comment", comment.number, FlagReason.SPAM)
    withdrawn = await flags.unflag(store.site, bob, "comment", comment.number)

    assert (withdrawn.changed, withdrawn.subject.id) == (True, comment.id)
    (position,) = (await page(store, flags.listing(store.site, Queue.FLAGGED, ["go"]))).positions
    assert position.value == clock.now
    assert (await flags.unflag(store.site, carol, "comment", comment.number)).changed
    assert not (await flags.unflag(store.site, carol, "comment", comment.number)).changed
    assert redis.keys("flags:*") + redis.keys("queue:*") == before == []
    assert await verified(store) == []


async def test_flag_keeps_the_groups_that_the_article_had(store, alice, bob, carol):
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    await store.articles.regroup(article.number, alice, add=["lua"], remove=["go"])
    await flags.flag(store.site, carol, "article", article.number, FlagReason.SPAM)

    assert [groups for *_, groups in await standing(store, article.number)] == [("go",), ("lua",)]
    assert await flagged(store, "go") == await flagged(store, "lua") == [article.number]
    await flags.unflag(store.site, bob, "article", article.number)
    assert await flagged(store, "go") == []
    assert await flagged(store, "lua") == [article.number]


async def test_what_may_not_be_flagged_is_refused(store, redis, alice, bob):
    article = await post(store, alice)
    comment, hidden = await commented(store, article, bob), await post(store, alice)
    redis.hset(keys.article(store.site.partition_of_user(alice), hidden.number), "state", "removed")
    before = everything(redis)

    for refusal, who, kind, number in (
        (Forbidden, "alice", "article", article.number),
        (Forbidden, bob, "comment", comment.number),
        (Forbidden, bob, "article", hidden.number),
        (NotFound, bob, "article", 1024),
        (NotFound, bob, "comment", article.number),
    ):
        with pytest.raises(refusal) as refused:
            await flags.flag(store.site, who, kind, number, FlagReason.SPAM)
        assert refused.value.field == ("subjectId",)
    with pytest.raises(Invalid, match="note"):
        await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM, "x" * 10_001)
    assert everything(redis) == before


async def test_comment_of_a_hidden_article_is_not_flagged(store, redis, alice, bob):
    article = await post(store, alice)
    comment = await commented(store, article, alice)
    redis.hset(keys.article(store.site.partition_of_user(alice), article.number), "state", "pending")

    with pytest.raises(Forbidden):
        await flags.flag(store.site, bob, "comment", comment.number, FlagReason.SPAM)


async def test_banned_user_does_not_flag(store, redis, alice, bob):  # M6
    article, elsewhere = await post(store, alice, groups=["go", "lua"]), await post(store, alice)
    before = everything(redis)

    def flagging(number: int, bans: str) -> Command:
        note, most_stubs = "", 1
        return store.site.command(
            flags.FLAG, store.site.partition_of_user(alice), store.site.partitions, number, "article", "spam", note,
            *flaggers.NO_WEIGHT, most_stubs,
            username=bob, bans=bans,
        )  # fmt: skip

    for words in ("site=0", "group:lua=0"):
        with pytest.raises(Banned):
            await store.site.reply(flagging(article.number, words))
    assert everything(redis) == before
    assert (await store.site.reply(flagging(elsewhere.number, "group:lua=0")))[0] == "changed"


async def test_deleted_things_leave_the_queues(store, redis, alice, bob, carol):
    article, other = [await post(store, alice, groups=["go"]) for _ in range(2)]
    answered, answer = await commented(store, article, alice), await commented(store, other, alice)
    await store.comments.post(other.number, parent=answer.number, poster=carol, content="a reply")
    for thing in (article, answered, answer):
        await flags.flag(store.site, bob, thing.id.split(":")[0], thing.number, FlagReason.SPAM)
    await store.comments.delete(answer.number, alice)
    assert sorted(await flagged(store, "go")) == sorted([article.number, answered.number])
    await store.articles.delete(article.number, alice)

    assert await flagged(store) == await flagged(store, "go") == []
    assert redis.keys("flags:*") + redis.keys("queue:*") == []
    assert not [entry for partition in range(store.site.partitions) for _, entry in redis.xrange(keys.log(partition))
                if entry["kind"] == "flagged"]  # fmt: skip
    assert await verified(store) == []


async def test_pages_of_a_union_are_those_of_all_its_groups(store, alice, bob, clock):
    posted = []
    for n, groups in enumerate((["go"], ["go", "lua"], ["lua"], ["rust"], ["c"], ["c", "go"], ["lua"])):
        poster = alice if n % 2 else await registered(store, f"poster-{n}")
        posted.append(await post(store, poster, groups=groups))
        clock.advance(n % 3)
        await flags.flag(store.site, bob, "article", posted[-1].number, FlagReason.SPAM)
    wanted = sorted((posted[n] for n in (0, 1, 2, 4, 5, 6)), key=lambda each: each.number)  # all but that of rust
    listing = flags.listing(store.site, Queue.FLAGGED, ["go", "lua", "c"])
    whole = await page(store, listing)

    assert sorted(each.number for each in whole.positions) == [each.number for each in wanted]
    assert list(whole.positions) == sorted(whole.positions, reverse=True)
    assert whole.total == 6
    for count in (1, 2, 4):
        for start in range(6):
            beyond = whole.positions[start]
            below = await page(store, listing, Window(count, beyond=beyond))
            above = await page(store, listing, Window(count, upwards=True, beyond=beyond))
            assert below.positions == whole.positions[start + 1 : start + 1 + count]
            assert above.positions == whole.positions[max(0, start - count) : start]
            assert (below.above, above.below) == (start + 1, 6 - start)
        last = await page(store, listing, Window(count, upwards=True))
        assert last.positions == whole.positions[-count:]
        assert (await page(store, listing, Window(count, skip=2))).positions == whole.positions[2 : 2 + count]


async def run(store, redis, number, lua):
    """
    Run a line of Lua with the functions of flag_clearing.lua, as a command of a moderator does. In it, `ARGV[8]` is the
    number of an article or a comment; a text such as "4096" is the number of the action that clears the flags.
    """
    script = Script("flag")
    functions = script.body[: script.body.index("local flagger = actor()")]
    text = functions + FILES["flag_clearing"].read_text() + lua
    partition = store.site.partition_of_article(number)
    beginning = ("EVAL", text, *script.beginning(partition)[2:])
    command = store.site.command(script, partition, store.site.partitions, number)
    await store.site.redis.run((*beginning, *command[len(script.beginning(partition)) :]))


async def test_user_whose_flag_was_cleared_does_not_flag_again(store, redis, alice, bob, carol):  # M5
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    await run(store, redis, article.number, 'clear_flags(ARGV[8], "4096")')

    assert await flagged(store) == await flagged(store, "go") == await standing(store, article.number) == []
    before = everything(redis)
    assert not (await flags.flag(store.site, bob, "article", article.number, FlagReason.ABUSE)).changed
    assert not (await flags.unflag(store.site, bob, "article", article.number)).changed
    assert everything(redis) == before
    assert await verified(store) == []
    assert (await flags.flag(store.site, carol, "article", article.number, FlagReason.SPAM)).changed
    assert await flagged(store, "go") == [article.number]
    assert [name for name, *_ in await standing(store, article.number)] == ["carol"]


async def test_reverted_approval_brings_flags_back(store, redis, alice, bob, carol):  # M3
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    queued = redis.dump(QUEUE(store.site.partition_of_user(alice), "flagged", "group:go"))
    await run(store, redis, article.number, 'clear_flags(ARGV[8], "4096")')
    await run(store, redis, article.number, 'restore_flags(ARGV[8], "5120", true)')
    assert await flagged(store) == []
    await run(store, redis, article.number, 'restore_flags(ARGV[8], "4096", true)')

    assert [name for name, *_ in await standing(store, article.number)] == ["bob"]
    assert redis.dump(QUEUE(store.site.partition_of_user(alice), "flagged", "group:go")) == queued
    assert await verified(store) == []


async def test_flagged_article_leaves_the_queue_while_it_is_removed(store, redis, alice, bob):  # M3
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    partition = store.site.partition_of_user(alice)
    redis.hset(keys.article(partition, article.number), "state", "removed")
    await run(store, redis, article.number, "queue_flagged(ARGV[8], false)")
    assert await flagged(store) == await flagged(store, "go") == []
    redis.hdel(keys.article(partition, article.number), "state")
    await run(store, redis, article.number, "queue_flagged(ARGV[8], true)")

    assert await flagged(store) == await flagged(store, "go") == [article.number]


async def test_edit_forgets_cleared_flags_so_that_the_same_user_flags_again(store, redis, alice, bob):
    article = await post(store, alice)
    comment = await commented(store, article, alice)
    for kind, number in (("article", article.number), ("comment", comment.number)):
        await flags.flag(store.site, bob, kind, number, FlagReason.SPAM)
        await run(store, redis, number, 'clear_flags(ARGV[8], "4096")')
    await store.articles.edit(article.number, alice, {"content": "another text"})
    await store.comments.edit(comment.number, alice, "another text")

    for kind, number in (("article", article.number), ("comment", comment.number)):
        assert (await flags.flag(store.site, bob, kind, number, FlagReason.SPAM)).changed
    assert sorted(await flagged(store)) == sorted([article.number, comment.number])


async def test_edit_leaves_flags_that_stand(store, alice, bob):
    article = await post(store, alice)
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    await store.articles.edit(article.number, alice, {"content": "another text"})

    assert await flagged(store) == [article.number]


async def test_damaged_flags_and_queues_are_found_and_repaired(store, redis, alice, bob, carol):
    article = await post(store, alice, groups=["go"])
    for who in (bob, carol):
        await flags.flag(store.site, who, "article", article.number, FlagReason.SPAM)
    partition, member = store.site.partition_of_user(alice), keys.member(article.number)
    everywhere, of_group = QUEUE(partition, "flagged", "all"), QUEUE(partition, "flagged", "group:go")
    since, hash = redis.zscore(everywhere, member), FLAGS(partition, article.number)
    gone = article.number + 5 * keys.SLOTS
    text = redis.hget(hash, "bob")
    redis.hset(hash, "carol", "odd")
    redis.zrem(of_group, member)
    redis.zadd(everywhere, {member: 5, keys.member(gone): 7, "odd": 8})
    redis.hset(FLAGS(partition, gone), "bob", text)

    found = {(each.where, each.found, each.expected) for each in await verified(store, repair=True)}
    assert found == {
        (f"{hash} carol", "odd", "nothing"),
        (f"{of_group} {member}", "nothing", f"{since:.0f}"),
        (f"{everywhere} {member}", "5", f"{since:.0f}"),
        (f"{everywhere} {keys.member(gone)}", "7", "nothing"),
        (f"{everywhere} odd", "8", "nothing"),
        (FLAGS(partition, gone), "flags", "nothing"),
    }
    assert await verified(store) == []
    assert await flagged(store) == await flagged(store, "go") == [article.number]


async def test_approval_clears_flags_and_its_revert_brings_them_back(store, alice, bob, carol):  # M3, M5
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    first = await article_moderation.approve(store.site, OPERATOR, article.number)
    same = await article_moderation.approve(store.site, OPERATOR, article.number)
    assert (first.changed, same.changed, await flagged(store)) == (True, False, [])

    await flags.flag(store.site, carol, "article", article.number, FlagReason.SPAM)
    assert await flagged(store, "go") == [article.number]
    second = await article_moderation.approve(store.site, OPERATOR, article.number)
    assert (second.changed, await flagged(store)) == (True, [])
    await article_moderation.revert(store.site, OPERATOR, first.action, "too quick")
    assert await flagged(store) == []
    await article_moderation.revert(store.site, OPERATOR, second.action, "too quick")
    assert await flagged(store) == await flagged(store, "go") == [article.number]
    assert [name for name, *_ in await standing(store, article.number)] == ["bob", "carol"]
    assert await verified(store) == []


async def test_removal_takes_a_thing_out_of_the_queue_and_its_revert_brings_it_back(store, alice, bob):  # M3
    article = await post(store, alice, groups=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    removed = await article_moderation.remove(
        store.site, OPERATOR, article.number, group=None, reason="an advertisement"
    )
    assert await flagged(store) == await flagged(store, "go") == []
    assert await verified(store) == []
    await article_moderation.revert(store.site, OPERATOR, removed.action, "it was none")

    assert await flagged(store) == await flagged(store, "go") == [article.number]
    assert await verified(store) == []


async def test_flagged_comment_waits_only_while_its_article_is_visible(store, alice, bob):  # M2, M3
    article = await post(store, alice, groups=["go"])
    comment = await commented(store, article, alice)
    await flags.flag(store.site, bob, "comment", comment.number, FlagReason.SPAM)
    removed = await article_moderation.remove(
        store.site, OPERATOR, article.number, group=None, reason="an advertisement"
    )
    assert await flagged(store) == await flagged(store, "go") == []
    assert await verified(store) == []

    hidden = await comment_moderation.remove(store.site, OPERATOR, comment.number, group=None, reason="abuse")
    await comment_moderation.revert(store.site, OPERATOR, hidden.action, "it was none")
    assert await flagged(store) == []
    await article_moderation.revert(store.site, OPERATOR, removed.action, "it was none")

    assert await flagged(store) == await flagged(store, "go") == [comment.number]
    assert await verified(store) == []


async def pending(store, *groups):
    """The numbers of what is pending, in all of the site or in some groups."""
    return await numbers(store, flags.listing(store.site, Queue.PENDING, groups or None))


async def test_pending_article_waits_since_it_was_posted(store, redis, alice, bob, clock):
    article = await post(store, alice, groups=["go", "lua"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    clock.advance(0.01)
    await set_article_state(store, article.number, ContentState.PENDING)

    found = (await page(store, flags.listing(store.site, Queue.PENDING, ["go", "lua"]))).positions
    assert [(each.number, each.value) for each in found] == [(article.number, article.posted_at)]
    assert await flagged(store) == []
    assert await verified(store) == []
    removed = await article_moderation.remove(
        store.site, OPERATOR, article.number, group=None, reason="an advertisement"
    )
    assert await pending(store) == await pending(store, "go") == []
    await article_moderation.revert(store.site, OPERATOR, removed.action, "it was none")
    assert await pending(store) == await pending(store, "lua") == [article.number]
    taken = await article_moderation.remove(store.site, OPERATOR, article.number, group="go", reason="not about Go")
    assert (await pending(store), await pending(store, "go")) == ([article.number], [])
    assert taken.changed and await verified(store) == []
    await article_moderation.approve(store.site, OPERATOR, article.number)
    assert await pending(store) == await pending(store, "lua") == await flagged(store) == []
    assert await verified(store) == []


async def test_deleted_pending_article_waits_no_more(store, redis, alice):
    article = await post(store, alice, groups=["go"])
    await set_article_state(store, article.number, ContentState.PENDING)
    await store.articles.delete(article.number, alice)

    assert redis.keys("queue:*") == []


async def test_damaged_queue_of_pending_articles_is_repaired(store, redis, alice):
    article, other = [await post(store, alice, groups=["go"]) for _ in range(2)]
    await set_article_state(store, article.number, ContentState.PENDING)
    partition = store.site.partition_of_user(alice)
    queue, of_group = QUEUE(partition, "pending", "all"), QUEUE(partition, "pending", "group:go")
    redis.zrem(of_group, keys.member(article.number))
    redis.zadd(queue, {keys.member(other.number): 5})
    redis.zadd(QUEUE(partition, "pending", "group:lua"), {keys.member(article.number): 5})

    assert len(await verified(store, repair=True)) == 3
    assert await verified(store) == []
    assert await pending(store) == await pending(store, "go") == [article.number]
    assert await pending(store, "lua") == []


async def test_flagged_comment_is_approved_and_removed(store, alice, bob, carol):  # M3, M5
    article = await post(store, alice, groups=["go"])
    comment = await commented(store, article, alice)
    await flags.flag(store.site, bob, "comment", comment.number, FlagReason.SPAM)
    removed = await comment_moderation.remove(
        store.site, OPERATOR, comment.number, group=None, reason="an advertisement"
    )
    assert await flagged(store) == await flagged(store, "go") == []
    await comment_moderation.revert(store.site, OPERATOR, removed.action, "it was none")
    assert await flagged(store) == await flagged(store, "go") == [comment.number]

    approved = await comment_moderation.approve(store.site, OPERATOR, comment.number)
    assert not (await comment_moderation.approve(store.site, OPERATOR, comment.number)).changed
    assert not (await flags.flag(store.site, bob, "comment", comment.number, FlagReason.ABUSE)).changed
    assert await flagged(store) == []
    await flags.flag(store.site, carol, "comment", comment.number, FlagReason.SPAM)
    assert (await comment_moderation.approve(store.site, OPERATOR, comment.number)).changed
    assert (await flagged(store), await verified(store)) == ([], [])
    await comment_moderation.revert(store.site, OPERATOR, approved.action, "too quick")
    assert await flagged(store) == []
