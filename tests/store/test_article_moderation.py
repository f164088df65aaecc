"""
Articles that moderators remove, approve, lock and take out of groups. An article is VISIBLE, PENDING (held until a
moderator approves it) or REMOVED. OPERATOR is who runs the commands of the server, and may do all of this.

`verified` gives what `upvote verify` finds wrong in the store, `findings` the same without late expiries.

Codes such as M2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest

from store import article_moderation, inboxes, keys, listings, moderation, roles
from store.errors import (
    AlreadyReverted,
    Forbidden,
    Invalid,
    Locked,
    NotAModerator,
    NotFound,
    Unauthenticated,
)
from store.flags import QUEUE
from store.listings import Window
from store.maintenance import reindex
from store.moderation_records import ModerationKind, Role
from store.ranking.formulas import Order
from store.records import ContentState, Vote
from store.roles import OPERATOR
from store.sessions import parse_token
from tests.conftest import registered
from tests.store import histories
from tests.store.held import set_article_state
from tests.store.reading import (
    article,
    contents,
    everything,
    findings,
    numbers,
    page,
    post,
    profile,
    read,
    verified,
    voters,
)

pytestmark = pytest.mark.many_partitions
LINK = "https://example.com/"
LISTS = ("held", "actions", "deleted")  # the sorted sets that have articles which are not visible


async def moderator(store, username, group=None, role=Role.MODERATOR):
    name = await registered(store, username)
    await roles.grant(store.site, OPERATOR, name, role, group=group, reason="a reason")
    return name


def remove(store, number, by=OPERATOR, group=None):
    return article_moderation.remove(store.site, by, number, group=group, reason="a reason")


def approve(store, number, by=OPERATOR):
    return article_moderation.approve(store.site, by, number)


def lock(store, number, by=OPERATOR, group=None):
    return article_moderation.lock(store.site, by, number, group, "a reason")


def revert(store, action, by=OPERATOR):
    """Undo an action of a moderator."""
    return article_moderation.revert(store.site, by, action, "a reason")


def places(redis, number):
    """The sorted sets that have an article as a member."""
    member = keys.member(number)
    found = [key for key in redis.scan_iter() if redis.type(key) == "zset" and redis.zscore(key, member) is not None]
    return {key for key in found if not key.startswith(LISTS)}


def shared(redis):
    """The contents of a store without the keys which tell that moderators have acted."""
    left_out = ("action", "logged", "sequence", "held", "inbox")
    return {key: value for key, value in contents(redis).items() if not key.startswith(left_out)}


async def karma(store, username):
    return (await profile(store, username)).karma


async def test_removed_article_leaves_all_indexes_in_one_step(store, alice, bob, redis):  # M2
    number = (await post(store, alice, groups=["show", "ask"])).number
    for voter in ("bob", "carol", "dave"):
        await store.articles.vote(number, voter, Vote.UP)
    assert len(places(redis, number)) > 8 * 3  # each order, of the site and of two groups

    done = await remove(store, number)

    partition = store.site.partition_of_article(number)
    assert (done.changed, done.action.kind, done.action.subject_id) == (
        True,
        ModerationKind.REMOVE,
        f"article:{number}",
    )
    assert places(redis, number) == set()
    assert redis.zrange(keys.groups(partition), 0, -1) == redis.zrange(keys.newest_posts(partition), 0, -1) == []
    assert redis.zrange(keys.held(partition, alice), 0, -1) == [keys.member(number)]
    kept = await article(store, number)
    assert (kept.state, kept.votes, kept.is_cacheable) == (ContentState.REMOVED, 4, False)
    assert "bob" in await voters(store, number)
    assert await karma(store, alice) == 0
    assert await verified(store) == []


async def test_approved_article_is_back_at_its_exact_places(store, alice, bob, redis, clock):  # M3
    for poster in (alice, bob, alice):
        number = (await post(store, poster, groups=["show"])).number
        await store.articles.vote(number, "carol", Vote.UP)
        clock.advance(1)
    before = shared(redis)

    for number in await numbers(store, listings.whole(store.site, Order.TIME)):
        await remove(store, number)
    assert (await page(store, listings.whole(store.site, Order.TIME))).total == 0
    for action in await numbers(store, moderation.log(store.site, "all")):
        await revert(store, await action_of(store, action))

    assert shared(redis) == before
    assert redis.zcard(keys.held(store.site.partition_of_user(alice), alice)) == 0


async def action_of(store, number):
    """The record of an action of a moderator."""
    fields = await store.site.redis.run(("HGETALL", keys.action(store.site.partition_of_article(number), number)))
    return moderation.moderation_records.moderation_action(number, fields)


async def test_pending_article_keeps_its_karma_and_may_be_edited(store, alice, redis):
    number = (await post(store, alice)).number
    await store.articles.vote(number, "bob", Vote.UP)
    partition = store.site.partition_of_article(number)
    await set_article_state(store, number, ContentState.PENDING)
    assert await karma(store, alice) == 1

    await store.articles.edit(number, alice, {"link": "https://other.example/", "title": "Other"})
    assert places(redis, number) == {QUEUE(partition, "pending", "all")}
    await approve(store, number)
    assert await numbers(store, listings.by_link(store.site, "https://other.example/")) == [number]
    assert await verified(store) == []


async def test_removal_of_a_pending_article_that_is_reverted_leaves_it_pending(store, alice):
    number = (await post(store, alice)).number
    await set_article_state(store, number, ContentState.PENDING)
    done = (await remove(store, number)).action
    assert (await article(store, number)).state is ContentState.REMOVED
    await revert(store, done)

    assert (await article(store, number)).state is ContentState.PENDING
    assert await verified(store) == []


async def test_what_would_change_nothing_is_answered_with_the_standing_action(store, alice, redis):
    number = (await post(store, alice)).number
    for command in (remove, approve, lock):
        first = await command(store, number)
        before = everything(redis)
        again = await command(store, number)

        assert (first.changed, again.changed, again.action) == (True, False, first.action)
        assert everything(redis) == before


async def test_state_is_what_the_actions_say_that_were_not_reverted(store, alice):
    number = (await post(store, alice)).number
    removed, approved = (await remove(store, number)).action, (await approve(store, number)).action
    states = []
    for action in (approved, removed):
        done = await revert(store, action)
        states.append((await article(store, number)).state)
        assert (done.action.kind, done.action.reverts) == (ModerationKind.REVERT, action.number)
        with pytest.raises(AlreadyReverted):
            await revert(store, action)

    assert states == [ContentState.REMOVED, ContentState.VISIBLE]


async def test_locked_article_takes_no_votes_comments_and_groups_until_the_lock_is_reverted(
    store, alice, bob, redis
):  # M4
    number = (await post(store, alice, groups=["show"])).number
    comment = (await store.comments.post(number, parent=None, poster=bob, content="a text")).comment.number
    action = (await lock(store, number)).action
    before = everything(redis)

    for refused in (
        store.articles.vote(number, bob, Vote.UP),
        store.articles.regroup(number, alice, add=["ask"], remove=[]),
        store.comments.post(number, parent=None, poster=alice, content="a text"),
        store.comments.vote(comment, alice, Vote.UP),
    ):
        with pytest.raises(Locked):
            await refused
    assert everything(redis) == before
    await revert(store, action)
    await store.articles.vote(number, bob, Vote.UP)
    await store.comments.vote(comment, alice, Vote.UP)
    assert not (await article(store, number)).is_locked


async def test_removed_article_is_not_changed_by_its_poster_and_others(store, alice, bob, redis):
    number = (await post(store, alice, groups=["show"])).number
    await remove(store, number)
    before = everything(redis)

    for refused in (
        store.articles.vote(number, bob, Vote.UP),
        store.articles.edit(number, alice, {"title": "Other"}),
        store.articles.regroup(number, alice, add=["ask"], remove=[]),
        store.comments.post(number, parent=None, poster=alice, content="a text"),
    ):
        with pytest.raises(Forbidden):
            await refused
    assert everything(redis) == before


@pytest.mark.parametrize("is_removed", [True, False])
async def test_deletion_of_a_removed_article_takes_its_karma_only_once(store, alice, bob, redis, is_removed):
    number = (await post(store, alice, groups=["show"])).number
    await store.articles.vote(number, bob, Vote.UP)
    await remove(store, number)
    if not is_removed:
        await approve(store, number)

    await store.articles.delete(number, alice)

    assert await karma(store, alice) == 0
    assert redis.zcard(keys.held(store.site.partition_of_user(alice), alice)) == 0
    assert await verified(store) == []
    with pytest.raises(NotFound):
        await approve(store, number)


async def test_article_taken_out_of_a_group_cannot_be_added_back_by_its_poster(store, alice, redis):
    number = (await post(store, alice, groups=["ask", "show"])).number
    before = shared(redis)
    mod = await moderator(store, "mod", "show")

    done = await remove(store, number, mod, "Show")
    assert (await article(store, number)).groups == ("ask",)
    assert await numbers(store, listings.group(store.site, "show", Order.SCORE)) == []
    assert (done.action.group, done.changed) == ("show", True)
    assert not (await remove(store, number, mod, "show")).changed
    with pytest.raises(Forbidden, match="took article"):
        await store.articles.regroup(number, alice, add=["show"], remove=[])
    await store.articles.regroup(number, alice, add=["other"], remove=[])
    await store.articles.regroup(number, alice, add=[], remove=["other"])

    await revert(store, done.action, mod)
    after = {key: value for key, value in shared(redis).items() if key in before}
    assert after == before
    assert await verified(store) == []


async def test_only_moderators_of_the_place_act(store, alice, bob, redis):
    """The whole article is for those who moderate the site, or all of its groups."""
    in_both, in_one, in_none = [await post(store, alice, groups=groups) for groups in (["ask", "show"], ["show"], [])]
    show, both = await moderator(store, "mod_of_show", "show"), await moderator(store, "mod_of_both", "show")
    await roles.grant(store.site, OPERATOR, both, Role.MODERATOR, group="ask", reason="a reason")
    before = everything(redis)

    for number, by in ((in_both, show), (in_none, show), (in_none, both), (in_one, bob)):
        for command in (remove, approve, lock):
            with pytest.raises(NotAModerator):
                await command(store, number.number, by)
    with pytest.raises(NotAModerator):
        await remove(store, in_both.number, show, "ask")
    with pytest.raises(NotAModerator, match="who moderate the site, or all of its groups, and"):
        await lock(store, in_both.number, show, "show")
    for command in (remove, lock):
        with pytest.raises(Invalid, match="is not in the group"):
            await command(store, in_one.number, both, "ask")
    assert everything(redis) == before

    site = await moderator(store, "mod_of_site")
    for number, by in ((in_one, show), (in_both, both), (in_none, site)):
        assert (await remove(store, number.number, by)).changed


async def test_moderators_act_neither_on_their_own_articles_nor_on_those_of_equal_or_higher_roles(store, redis):
    mod, admin = await moderator(store, "mod", "show"), await moderator(store, "admin", role=Role.ADMIN)
    site, other = await moderator(store, "site_mod"), await moderator(store, "other_mod", "show")
    for poster, refused in ((mod, (mod, other)), (other, (mod, other)), (site, (mod, site)), (admin, (mod, site))):
        number = (await post(store, poster, groups=["show"])).number
        for by in refused:
            with pytest.raises(NotAModerator):
                await remove(store, number, by)
        assert (await remove(store, number, admin)).changed


async def test_action_after_a_revocation_or_an_ended_session_is_refused(store, alice, redis):  # M1
    mod = await moderator(store, "mod")
    session = parse_token((await store.sessions.open(mod)).token)
    number = (await post(store, alice)).number
    action = (await remove(store, number, session)).action

    await roles.revoke(store.site, OPERATOR, mod, Role.MODERATOR, group=None, reason="a reason")
    for refused in (approve(store, number, session), lock(store, number, session), revert(store, action, session)):
        with pytest.raises(NotAModerator):
            await refused
    await store.sessions.close(session)
    with pytest.raises(Unauthenticated):
        await approve(store, number, session)
    assert (await article(store, number)).state is ContentState.REMOVED


async def test_approved_article_is_ranked_by_new_weights_of_its_group(store, alice, bob, clock):  # M3
    posted = []
    for poster in (alice, bob):
        posted.append((await post(store, poster, groups=["show"])).number)
        clock.advance(1_000)
    await store.articles.vote(posted[0], "carol", Vote.UP)
    await remove(store, posted[0])

    await reindex.set_weights(store.site, "show", {"vote_score": 10_000.0}, progress=lambda count: None)
    await approve(store, posted[0])

    assert await numbers(store, listings.group(store.site, "show", Order.SCORE)) == posted
    assert await findings(store) == []


async def test_approved_article_is_in_indexes_that_were_added_meanwhile(store, alice, redis):  # M3
    number = (await post(store, alice, groups=["show"])).number
    await reindex.reindex(store.site, [Order.TIME], progress=lambda count: None)
    await remove(store, number)
    await reindex.reindex(store.site, list(Order), progress=lambda count: None)
    assert places(redis, number) == set()

    await approve(store, number)
    assert await numbers(store, listings.whole(store.site, Order.VOTES)) == [number]
    assert await verified(store) == []


async def test_poster_is_notified_of_a_removal_and_of_an_approval_after_it(store, alice):  # M9
    number = (await post(store, alice)).number
    await approve(store, number)
    removed = (await remove(store, number)).action.number
    approved = (await approve(store, number)).action.number
    await approve(store, number)

    (inbox,) = await read(store, inboxes.page(store.site, alice, Window(9)))
    assert [(each.kind.value, each.number) for each in inbox.notifications] == [
        ("moderation", approved),
        ("moderation", removed),
    ]
    assert await verified(store) == []


async def test_article_that_many_remove_and_approve_at_once_is_wholly_hidden_or_shown(store, alice, redis):
    number = (await post(store, alice, groups=["show"])).number
    commands = [command(store, number) for command in (remove, approve) * 5]
    await asyncio.gather(*commands)

    is_visible = (await article(store, number)).state is ContentState.VISIBLE
    assert bool(places(redis, number)) == is_visible
    assert await verified(store) == []


@pytest.mark.parametrize("seed", range(3))
async def test_listings_are_those_of_the_visible_articles(store, redis, seed, clock):  # M2, M3
    """At any time the store is as one in which the others were never posted; in the end as one without moderators."""
    every = await histories.history(store, seed, 40, with_comments=True)
    chance = random.Random(seed)
    hidden = set()
    for turn in range(60):
        number = chance.choice(every).number
        if chance.random() < 0.6:
            await (approve if number in hidden else remove)(store, number)
            hidden ^= {number}
        else:
            await accepted(store.articles.vote(number, f"late-{turn}", chance.choice([Vote.UP, Vote.DOWN])))
        clock.advance(1)
        if turn % 20 == 19:
            await check(store, every, hidden)
    for number in hidden:
        await approve(store, number)
    await check(store, every, set())


async def accepted(write):
    """Await a write, which may be refused: the article is hidden, or its voting closed."""
    try:
        await write
    except Exception as refusal:
        assert type(refusal).__name__ in ("Forbidden", "VotingClosed")


async def check(store, every, hidden):
    """Compare all listings with the articles of `every` whose numbers are not in `hidden`, sorted in Python."""
    assert await findings(store) == []
    visible = [await article(store, each.number) for each in every if each.number not in hidden]
    now = store.site.clock()
    for order in Order:
        for group in (None, "show", "ask"):
            listed = [each for each in visible if group is None or group in each.groups]
            expected = histories.sorted_by_hand(store, order, listed, now, group)
            found = await page(store, histories.listing_of(store, order, group), Window(1_000))
            assert [each.number for each in found.positions] == [each.number for each in expected], (order, group)
            assert found.total == len(expected)
    assert {each.state for each in visible} <= {ContentState.VISIBLE}
