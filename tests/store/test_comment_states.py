"""
Comments that are hidden and shown again, alone or with their article. A comment is VISIBLE, PENDING (held until a
moderator approves it), REMOVED by a moderator, or DELETED: a stub that is left because it has replies.

`twins(seed=N)` makes two articles with the same comments, of which only on one comments are hidden.

`findings` gives what `upvote verify` finds wrong in the store.

Codes such as M3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from resolvers.dataloader import Reads
from store import article_moderation, comment_moderation, effects, inboxes, keys, queries, removals, roles, threads
from store.articles import Draft
from store.errors import AlreadyReverted, Forbidden, Invalid, NotAModerator, NotFound, Refusal
from store.listings import Window
from store.moderation_records import ModerationKind, Role
from store.records import Comment, ContentState, Vote
from store.roles import OPERATOR
from store.store import Store
from store.threads import CommentOrder, ThreadWindow
from tests.conftest import registered
from tests.store import discussions
from tests.store.discussions import comments, descendants, expected, thread, walked
from tests.store.held import set_comment_state
from tests.store.inbox_model import PEOPLE
from tests.store.reading import article as stored_article
from tests.store.reading import everything, findings, post, profile, read

pytestmark = pytest.mark.many_partitions
VISIBLE, PENDING, REMOVED, DELETED = ContentState
HIDDEN = (PENDING, REMOVED)
ORDERS = list(CommentOrder)


@pytest.fixture
async def people(store) -> None:
    for name in PEOPLE:
        await registered(store, name)


@dataclass
class Twin:
    """One of two articles with the same comments. An index is the place of a comment among all that were posted."""

    store: Store
    article: int
    numbers: list[int] = field(default_factory=list)

    def index(self, number: int | None) -> int | None:
        return None if number is None else self.numbers.index(number)

    def number(self, index: int | None) -> int | None:
        return None if index is None else self.numbers[index]


@dataclass
class Twins:
    """Two articles on which the same is done, but only on one of them, `moderated`, comments are hidden meanwhile."""

    both: tuple[Twin, Twin]
    chance: random.Random
    posters: list[str] = field(default_factory=list)
    states: dict[int, ContentState] = field(default_factory=dict)  # of comments that exist, by index

    @property
    def moderated(self) -> Twin:
        return self.both[0]

    def visible(self) -> list[int]:
        return [index for index, state in self.states.items() if state is VISIBLE]

    async def post(self, parent: int | None, text: str = "") -> None:
        poster = self.chance.choice(PEOPLE)
        text = text or f"@{self.chance.choice(PEOPLE)} {self.chance.random()}"
        for twin in self.both:
            posted = (await twin.store.comments.post(twin.article, twin.number(parent), poster, text)).comment
            assert posted
            twin.numbers.append(posted.number)
        self.states[len(self.posters)] = VISIBLE
        self.posters.append(poster)

    async def delete(self, index: int) -> None:
        for twin in self.both:
            await twin.store.comments.delete(twin.numbers[index], self.posters[index])
        self.states[index] = DELETED

    async def set_state(self, index: int, state: ContentState) -> None:
        twin = self.moderated
        assert await set_comment_state(twin.store, twin.numbers[index], state)
        self.states[index] = state

    async def change(self) -> None:
        """Anything that may be done with what is visible, or hide or show a comment, or delete a hidden one."""
        self.moderated.store.site.clock.advance(self.chance.choice((0, 0.001, 0.5)))
        visible, action = self.visible(), self.chance.random()
        some = self.chance.choice(visible) if visible else None
        hidden = [index for index, state in self.states.items() if state in HIDDEN]
        if some is None or action < 0.4:
            await self.post(self.chance.choice([None, some, *visible[-3:]]))
        elif action < 0.6:
            voter, vote = f"voter-{self.chance.randrange(9)}", self.chance.choice(list(Vote))
            for twin in self.both:
                await twin.store.comments.vote(twin.numbers[some], voter, vote)
        elif action < 0.66:
            for twin in self.both:
                await twin.store.comments.edit(twin.numbers[some], self.posters[some], f"@{PEOPLE[0]} again")
        elif action < 0.72:
            await self.delete(self.chance.choice([some, *hidden[:1]]))
        elif action < 0.9 or not hidden:
            await self.set_state(some, self.chance.choice(HIDDEN))
        else:
            index = self.chance.choice(hidden)
            await self.set_state(
                index, self.chance.choice([each for each in ContentState if each not in (DELETED, self.states[index])])
            )

    async def show_all(self) -> None:
        hidden = [index for index, state in self.states.items() if state in HIDDEN]
        for index in self.chance.sample(hidden, len(hidden)):
            await self.set_state(index, VISIBLE)


@pytest.fixture
async def twins(store, people):
    """`await twins(seed=N)` makes two articles of the same partition, on which nobody has commented."""
    return lambda seed: _twins(store, seed)


async def _twins(store: Store, seed: int) -> Twins:
    articles = [(await post(store, "bob", groups=["show"])).number for _ in range(2)]
    return Twins(tuple(Twin(store, each) for each in articles), random.Random(seed))  # type: ignore[arg-type]


async def all_that_is_shown(twin: Twin) -> dict[str, object]:
    """
    All that is shown of the comments of an article: threads in all orders, comments, lists and inboxes of users, each
    by a name. The index of a comment stands in place of its number, so that two articles can be compared.
    """
    store, found = twin.store, dict[str, object]()
    stored = await comments(store, twin.article)
    for order in ORDERS:
        places = await walked(store, twin.article, order, size=7)
        found[order.value] = [(twin.index(each.number), each.depth, each.hidden) for each in places]
        found[f"{order.value} upwards"] = [
            twin.index(each.number) for each in await walked(store, twin.article, order, size=5, upwards=True)
        ]
        found[f"{order.value} cursors"] = [
            [(level.depth, level.position.value, twin.index(level.position.number)) for level in each.position.levels]
            for each in places
        ]
        shallow = await thread(store, twin.article, order, ThreadWindow(500), max_depth=1)
        found[f"{order.value} shallow"] = [(twin.index(each.number), each.hidden) for each in shallow.places]
    for each in stored:
        under = await thread(store, twin.article, CommentOrder.BEST, under=each.number)
        (above,) = await read(store, threads.ancestors(store.site, each.number))
        found[f"comment {twin.index(each.number)}"] = (
            each._replace(number=0, article=0, parent=twin.index(each.parent)),
            [twin.index(place.number) for place in under.places],
            [twin.index(number) for number in above],
        )
    partition = store.site.partition_of_article(twin.article)
    fields = await store.site.redis.run(("HMGET", keys.article(partition, twin.article), "comments", "active"))
    places_of = [
        await store.site.redis.run(("ZSCORE", index, keys.member(twin.article)))
        for index in (keys.index(partition, "active"), keys.group(partition, "show", "active"))
    ]
    found["article"] = (fields[0] or "0", fields[1], places_of)
    for name in PEOPLE:
        partition = store.site.partition_of_user(name)
        listed = await store.site.redis.run(("ZRANGE", keys.comments(partition, name), 0, -1, "WITHSCORES"))
        found[f"list of {name}"] = [
            (twin.index(int(member)), value) for member, value in listed if int(member) in twin.numbers
        ]
        (page,) = await read(store, inboxes.page(store.site, name, Window(1000)))
        found[f"inbox of {name}"] = [
            (twin.index(each.number), each.kind, each.at, each.is_seen)
            for each in page.notifications
            if each.number in twin.numbers
        ]
    return found


async def karma(store: Store) -> list[int]:
    """The karma of each of the people."""
    return [(await profile(store, name)).karma for name in PEOPLE]


@pytest.mark.parametrize("seed", range(4))
async def test_shown_again_comments_are_where_they_would_have_been(twins, store, seed, redis):  # M3
    pair = await twins(seed=seed)
    for _ in range(120):
        await pair.change()
    assert any(state in HIDDEN for state in pair.states.values())
    assert await findings(store) == []
    await pair.show_all()

    shown, reference = [await all_that_is_shown(twin) for twin in pair.both]
    assert shown == reference
    assert not list(redis.scan_iter("unlisted:*")) and not list(redis.scan_iter("heldcomments:*"))
    assert await findings(store) == []
    assert await effects.pending(store.site) == []


def in_thread(found: list[Comment]) -> list[Comment]:
    """The comments that a thread has: visible ones, and those with visible ones below them."""
    return [each for each in found if each.state is VISIBLE or descendants(found, each.number)]


@pytest.mark.parametrize("seed", range(4))
async def test_hidden_comments_are_shown_nowhere(twins, store, seed, redis):  # M2
    pair = await twins(seed=seed + 10)
    twin = pair.moderated
    for turn in range(90):
        await pair.change()
        if turn % 3:
            continue
        stored = await comments(store, twin.article)
        shown, order = in_thread(stored), ORDERS[turn % len(ORDERS)]
        places = [
            (place.number, place.depth, place.hidden) for place in await walked(store, twin.article, order, size=6)
        ]
        assert places == expected(shown, order)
        back = [place.number for place in await walked(store, twin.article, order, size=4, upwards=True)]
        assert back == [number for number, *_ in places]
        visible = [each for each in stored if each.state is VISIBLE]
        replies = Counter(each.parent for each in visible)
        assert all(each.reply_count == replies[each.number] for each in stored)
        read_by_all = await Reads(store, login=None).comments([each.number for each in stored])
        assert [each.number for each in read_by_all if each] == [each.number for each in shown]
        assert all(
            (each.content is None) == (each.poster is None) == (each.state is not VISIBLE)
            for each in read_by_all
            if each
        )
        article = await stored_article(store, twin.article)
        assert article.comment_count == len(visible)
        assert article.active_at == max((each.posted_at for each in visible), default=None)
        for name in PEOPLE:
            (page,) = await read(store, inboxes.page(store.site, name, Window(1000)))
            own = {each.number for each in page.notifications} & {*twin.numbers}
            assert own <= {each.number for each in visible}
            listed = await store.site.redis.run(
                ("ZRANGE", keys.comments(store.site.partition_of_user(name), name), 0, -1)
            )
            of_name = {each.number for each in visible if each.poster == name}
            assert {int(member) for member in listed} & {*twin.numbers} == of_name
    assert await findings(store) == []


async def test_removed_comments_give_no_karma_and_pending_ones_do(twins, store):  # M2
    pair = await twins(seed=1)
    await pair.post(None)
    poster, number = pair.posters[0], pair.moderated.numbers[0]
    for voter in ("voter-1", "voter-2"):
        await store.comments.vote(number, voter, Vote.UP)
    seen = []
    for state in (PENDING, REMOVED, PENDING, REMOVED, VISIBLE):
        await set_comment_state(store, number, state)
        seen.append((await profile(store, poster)).karma)

    assert seen == [2, 0, 2, 0, 2]
    assert await findings(store) == []


async def test_deletion_of_a_removed_comment_changes_no_count(twins, store):
    pair = await twins(seed=2)
    for parent in (None, 0, 1):
        await pair.post(parent)
    await store.comments.vote(pair.moderated.numbers[1], "voter", Vote.UP)
    await pair.set_state(1, REMOVED)
    before = await karma(store), (await stored_article(store, pair.moderated.article)).comment_count
    await store.comments.delete(pair.moderated.numbers[1], pair.posters[1])

    stub = (await comments(store, pair.moderated.article))[1]
    assert (stub.state, stub.poster, stub.content) == (DELETED, None, None)
    assert (await karma(store), (await stored_article(store, pair.moderated.article)).comment_count) == before
    assert await findings(store) == []


async def test_removed_comment_takes_no_edits_votes_and_replies(twins, store, redis):  # M2, M4
    pair = await twins(seed=3)
    await pair.post(None)
    number, poster = pair.moderated.numbers[0], pair.posters[0]
    await pair.set_state(0, REMOVED)
    before = everything(redis)

    for call in (
        store.comments.edit(number, poster, "another text"),
        store.comments.vote(number, "voter", Vote.UP),
        store.comments.post(pair.moderated.article, parent=number, poster="alice", content="a text"),
    ):
        with pytest.raises(Forbidden):
            await call
    assert everything(redis) == before


async def test_mention_by_an_edit_of_a_pending_comment_waits(twins, store):
    pair = await twins(seed=3)
    await pair.post(None, "a text")
    number, poster = pair.moderated.numbers[0], pair.posters[0]
    name = next(each for each in PEOPLE if each not in (poster, "bob"))  # bob, who posted the article, is told already
    await pair.set_state(0, PENDING)
    await store.comments.edit(number, poster, f"@{name}")
    (held,) = await read(store, inboxes.page(store.site, name, Window(5)))
    await pair.set_state(0, VISIBLE)
    (shown,) = await read(store, inboxes.page(store.site, name, Window(5)))

    assert (held.total, [each.number for each in shown.notifications]) == (0, [number])
    assert await findings(store) == []


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_long_chain_above_a_hidden_comment_leaves_the_thread_in_steps(
    twins, store, monkeypatch, redis, is_interrupted
):
    """Hidden comments stay in the thread only while something visible is below them."""
    monkeypatch.setattr("store.comments.STUBS_AT_ONCE", 5)
    monkeypatch.setattr(removals, "REMOVED_AT_ONCE", 4)
    pair = await twins(seed=4)
    for parent in (None, *range(20)):
        await pair.post(parent)
    for index in range(1, 20):
        await pair.set_state(index, REMOVED)
    twin, partition = pair.moderated, store.site.partition_of_article(pair.moderated.article)
    if is_interrupted:
        monkeypatch.setattr(removals, "update_places", discussions.died)
    sizes = []
    for state in (PENDING, VISIBLE):
        await pair.set_state(20, state)
        if is_interrupted:
            assert redis.exists(removals.REMOVING(partition))
        await removals.remove_all(store.site, partition)
        sizes.append(len(await walked(store, twin.article, CommentOrder.BEST, size=50)))

    assert sizes == [1, 21]
    assert not redis.exists(removals.REMOVING(partition))
    assert await findings(store) == []


async def test_comments_of_a_hidden_article_leave_lists_and_come_back(twins, store, monkeypatch, redis):  # M2, M3
    monkeypatch.setattr(removals, "LISTED_AT_ONCE", 7)
    pair = await twins(seed=5)
    for _ in range(80):
        await pair.change()
    twin, earned = pair.moderated, await karma(store)
    before = await all_that_is_shown(twin)
    await article_moderation.remove(store.site, OPERATOR, twin.article, group=None, reason="a reason")
    hidden, while_hidden = await all_that_is_shown(twin), await karma(store)
    read_by_all = await Reads(store, login=None).comments(twin.numbers)
    assert await findings(store) == []
    await set_comment_state(store, twin.numbers[(some := pair.visible()[0])], REMOVED)
    await set_comment_state(store, twin.numbers[some], VISIBLE)
    assert await findings(store) == []
    await article_moderation.approve(store.site, OPERATOR, twin.article)

    assert set(read_by_all) == {None}
    assert {repr(value) for name, value in hidden.items() if name.startswith(("list of", "inbox of"))} == {"[]"}
    assert while_hidden == earned == await karma(store)
    assert await all_that_is_shown(twin) == before
    assert await findings(store) == []
    assert await effects.pending(store.site) == []


async def moderator(store: Store, username: str, group: str | None = None, role: Role = Role.MODERATOR) -> str:
    name = await registered(store, username)
    await roles.grant(store.site, OPERATOR, name, role, group=group, reason="a reason")
    return name


async def test_moderators_of_any_group_of_the_article_remove_and_approve(twins, store, redis):  # M2, M9
    pair = await twins(seed=6)
    await pair.post(None)
    number, shower, asker = pair.moderated.numbers[0], await moderator(store, "shower", "show"), "asker"
    await moderator(store, asker, "ask")
    before = everything(redis)
    for who in (asker, pair.posters[0]):
        with pytest.raises(NotAModerator):
            await comment_moderation.remove(store.site, who, number, group=None, reason="a reason")
    with pytest.raises(Invalid):
        await comment_moderation.remove(store.site, OPERATOR, number, group="ask", reason="a reason")
    with pytest.raises(NotFound):
        await comment_moderation.remove(store.site, shower, number + keys.SLOTS, group=None, reason="a reason")
    assert everything(redis) == before

    removed = await comment_moderation.remove(store.site, shower, number, group=None, reason="a reason", note="a note")
    again = await comment_moderation.remove(store.site, OPERATOR, number, group=None, reason="another reason")
    approved = await comment_moderation.approve(store.site, shower, number)
    reverted = await comment_moderation.revert(store.site, shower, approved.action, "a reason")
    with pytest.raises(AlreadyReverted):
        await comment_moderation.revert(store.site, shower, approved.action, "a reason")
    (fields,) = await read(store, queries.hash_of(store.site, queries.COMMENTS, number))
    assert (removed.changed, removed.action.kind, removed.action.subject_id) == (
        True, ModerationKind.REMOVE, f"comment:{number}"
    )  # fmt: skip
    assert (again.changed, again.action) == (False, removed.action)
    assert (approved.changed, reverted.action.reverts) == (True, approved.action.number)
    assert fields["state"] == "removed"
    await comment_moderation.revert(store.site, OPERATOR, removed.action, "a reason")
    (fields,) = await read(store, queries.hash_of(store.site, queries.COMMENTS, number))
    assert "state" not in fields
    assert await findings(store) == []


async def test_moderators_do_not_act_on_their_own_or_on_each_other(twins, store):
    pair = await twins(seed=7)
    first, second = await moderator(store, "first", "show"), await moderator(store, "second", "show")
    posted = (await store.comments.post(pair.moderated.article, parent=None, poster=first, content="a text")).comment
    for who in (first, second):
        with pytest.raises(NotAModerator):
            await comment_moderation.remove(store.site, who, posted.number, group=None, reason="a reason")

    site_wide = await moderator(store, "wide")
    assert (
        await comment_moderation.remove(store.site, site_wide, posted.number, group=None, reason="a reason")
    ).changed


async def test_reverted_removal_of_a_pending_comment_leaves_it_pending(twins, store):
    pair = await twins(seed=8)
    await pair.post(None)
    number = pair.moderated.numbers[0]
    await pair.set_state(0, PENDING)
    removed = await comment_moderation.remove(store.site, OPERATOR, number, group=None, reason="a reason")
    await comment_moderation.revert(store.site, OPERATOR, removed.action, "a reason")

    (fields,) = await read(store, queries.hash_of(store.site, queries.COMMENTS, number))
    assert fields["state"] == "pending"


async def test_refused_action_changes_nothing(twins, store, redis):
    pair = await twins(seed=9)
    await pair.post(None)
    before = everything(redis)
    for call in (
        comment_moderation.remove(store.site, OPERATOR, pair.moderated.numbers[0], group=None, reason="  "),
        comment_moderation.approve(store.site, "alice", pair.moderated.numbers[0]),
    ):
        with pytest.raises(Refusal):
            await call
    assert everything(redis) == before


async def test_mentions_of_an_article_leave_inboxes_with_it_and_come_back(store, people, redis):  # M2, M3
    draft = Draft("a title", content="@alice and @dave, see this")
    number = (await store.articles.post("bob", draft)).article.number
    seen = []
    for act in (
        None,
        article_moderation.remove(store.site, OPERATOR, number, group=None, reason="a reason"),
        article_moderation.approve(store.site, OPERATOR, number),
    ):
        if act:
            await act
        pages = [(await read(store, inboxes.page(store.site, name, Window(5))))[0] for name in ("alice", "dave")]
        seen.append([(page.total, [each.number for each in page.notifications]) for page in pages])
        assert await findings(store) == []

    assert seen == [[(1, [number])] * 2, [(0, [])] * 2, [(1, [number])] * 2]
    assert await effects.pending(store.site) == []
