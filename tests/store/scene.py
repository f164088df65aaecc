"""
A store that has keys of every kind: `opened` fills it with articles, votes, comments, follows and a session;
`fill_other_kinds` and `fill_kinds_of_operations` add rarer kinds. `use` and `meanwhile` let simulated users continue to
use it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

from redis import Redis

from store import (
    appeals,
    article_moderation,
    bans,
    blocked,
    conversations,
    effects,
    flags,
    hidden,
    home,
    home_pins,
    keys,
    links,
    listings,
    log,
    memory,
    moving,
    removals,
    roles,
    saved,
    threads,
)
from store.annulments import annul, annul_some, restoring
from store.articles import Draft
from store.errors import Refusal
from store.flags import FlagReason
from store.identities import Claims, Subject
from store.invitations import create as invite
from store.key_sets import FetchedKeys, KeySets
from store.leases import Lease
from store.leaving import begin as begin_to_leave
from store.maintenance import reindex, scan
from store.maintenance.import_comments import StoryComment, import_comments
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.write_lock import WriteLock
from store.moderation_records import Role
from store.one_time_tokens import Purpose, issue
from store.pending_logins import begin as begin_to_enter
from store.ranking import snapshots
from store.ranking.formulas import Order
from store.rate_limits import SlidingWindow, TokenBuckets
from store.recent_comments import FLOORS, RELISTING
from store.records import Article, Comment, ContentState, Position, Vote
from store.rules import FlagRules, Rules
from store.sessions import parse_token
from store.store import Store
from tests.conftest import Clock, registered
from tests.store.held import holding, set_comment_state
from tests.store.reading import page, post

WEEK = 7 * 86_400  # seconds
PEOPLE = ("Alice", "bob", "carol", "dave")  # Alice, whose name has a capital, is `alice` in keys
GROUPS = ("ask", "show", "video")
STATES = (ContentState.VISIBLE, ContentState.PENDING, ContentState.REMOVED)
LONG = 130  # comments on one article: of more than 128, the key `latest` has the times


@dataclass
class Scene:
    """
    Alice has a `closed` article, whose votes are over, and a good `open` one in two groups, with up and down votes.

    The `open` one has comments: a deleted one (`stub`), which Carol answered (`comment`), and Alice's `answer` to her.
    An imported `story` has an imported comment of Carol, which answers a deleted one. These are numbers of articles and
    comments; `session` is the key of a session of Alice. The group `lua` is listed.
    """

    redis: "Redis"
    store: Store
    clock: Clock
    closed: Article
    open: Article
    story: int
    session: str
    stub: int
    comment: int
    answer: int

    @property
    def partition(self) -> int:
        """The share of the store that has all that Alice owns."""
        return self.store.site.partition_of_user("alice")

    # keys of the article `open`, of Alice, who posted it, and of `comment`

    @property
    def hash(self) -> str:
        return keys.article(self.partition, self.open.number)

    @property
    def voted(self) -> str:
        return keys.voted(self.partition, self.open.number)

    @property
    def downvoted(self) -> str:
        return keys.downvoted(self.partition, self.open.number)

    @property
    def member(self) -> str:
        return keys.member(self.open.number)

    @property
    def timeline(self) -> str:
        return keys.timeline(self.partition, "alice")

    @property
    def links(self) -> str:
        """The index of the link of `open`."""
        return links.LINKS(self.partition, links.digest(self.open.link or ""))

    @property
    def account(self) -> str:
        return keys.user(self.partition, "alice")

    @property
    def comment_hash(self) -> str:
        return keys.comment(self.partition, self.comment)

    def inbox(self, username: str) -> str:
        return keys.inbox(self.store.site.partition_of_user(username), username)

    @property
    def ghost(self) -> int:
        """An unused article number of Alice's slot, which is that of all her articles: so it is in her partition."""
        return self.closed.number + 500 * keys.SLOTS


async def opened(store: Store, redis: "Redis", clock: Clock) -> Scene:
    """Fill an empty store."""
    for username in PEOPLE:
        await registered(store, username)
    closed = await post(store, "Alice", groups=["show"])
    await store.articles.vote(closed.number, "bob", Vote.DOWN)
    pass_time(redis, clock, WEEK + 120)
    draft = Draft("still open", "https://example.com/", groups=("ask", "show"))
    posted = (await store.articles.post("Alice", draft, idempotency_key="a key")).article
    assert posted is not None
    for voter, vote in (("bob", Vote.UP), ("carol", Vote.DOWN), ("dave", Vote.UP)):
        await store.articles.vote(posted.number, voter, vote)
    await import_batch(
        store, [Story("1", "a story", link="https://example.com/", poster="Alice", time=clock.now - 5, votes=9)]
    )
    replies = [
        StoryComment("2", parent="1", poster="", time=clock.now - 4, content=""),
        StoryComment("3", parent="2", poster="carol", time=clock.now - 3, content="why", votes=3),
    ]
    await import_comments(
        store, [(store.site.partition_of_user("alice"), each) for each in replies], {"carol": "carol"}
    )
    await store.follows.follow("bob", "alice")
    await store.users.edit_profile("Alice", {"display_name": "Alice A.", "about": "*Writes*.\nReads."})
    await store.follows.follow_group("bob", "show")
    await store.groups.add("lua", {"title": "Lua and its kin", "about": "Small *languages*."})
    session = parse_token((await store.sessions.open("Alice")).token)
    assert session is not None
    partition = store.site.partition_of_user("alice")
    story = int(redis.hget(keys.imported(partition), "1"))
    discussion = await _discuss(store, posted.number)
    return Scene(redis, store, clock, closed, posted, story, keys.session(partition, session.digest), *discussion)


async def _discuss(store: Store, article: int) -> tuple[int, int, int]:
    """Comment on an article, and return the numbers of a comment that is deleted, of its reply, and of the answer."""
    first = (await store.comments.post(article, parent=None, poster="bob", content="a first text")).comment
    assert first is not None
    posted = await store.comments.post(
        article, parent=first.number, poster="carol", content="@dave and @nobody", idempotency_key="a key"
    )
    second = posted.comment
    assert second is not None
    third = (await store.comments.post(article, parent=second.number, poster="Alice", content="an answer")).comment
    assert third is not None
    await store.comments.vote(second.number, "dave", Vote.DOWN)
    await store.comments.vote(second.number, "bob", Vote.UP)
    await store.comments.delete(first.number, "bob")
    return first.number, second.number, third.number


async def choose_home(scene: Scene) -> None:
    """Add keys of homes: a hidden article, a blocked user, a pin, and a group with a weight of its own."""
    site = scene.store.site
    await hidden.hide(site, "bob", scene.open.number)
    await blocked.block(site, "bob", "dave")
    await blocked.block(site, "bob", "carol")
    await blocked.unblock(site, "bob", "carol")
    pass_time(scene.redis, scene.clock, 1)
    await post(scene.store, "carol", groups=["weighted"])
    await reindex.set_weights(site, "weighted", {"vote_score": 300.0}, progress=lambda count: None)
    listing = home.listing_of(home.Choices("bob"), Order.SCORE, listings.whole(site, Order.SCORE))
    await home_pins.pin(site, listing, site.clock(), [Position(1.0, keys.member(scene.open.number))])


async def fill_other_kinds(scene: Scene) -> None:
    """Add keys of the kinds that `opened` does not write."""
    moved = await _fill_lists(scene)
    await _fill_records_of_the_process(scene)
    await _moderate(scene)
    await _hold_texts(scene, moved)
    await _fill_accounts(scene)


async def _fill_lists(scene: Scene) -> Comment:
    """Chosen orders, weights of a group, choices of homes, pins, a long thread. Return a comment that is voted on."""
    store, site = scene.store, scene.store.site
    await store.follows.follow("bob", "alice")
    await store.follows.follow_group("bob", "show")
    await choose_home(scene)
    await reindex.reindex(site, tuple(Order), progress=lambda count: None)
    await reindex.set_weights(site, "video", {"gravity_age": 1.5}, progress=lambda count: None)
    listing = listings.whole(site, Order.SCORE)
    posted = await store.comments.post(
        scene.open.number, parent=None, poster="carol", content="a text that is voted on"
    )
    moved = posted.comment
    assert moved is not None
    await threads.pin(site, scene.open.number, threads.CommentOrder.VOTES)
    await store.comments.vote(moved.number, "bob", Vote.UP)
    long = [
        store.comments.post(scene.story, parent=None, poster="carol", content=f"text {n}, @bob") for n in range(LONG)
    ]
    removed = (await asyncio.gather(*long))[0].comment
    assert removed is not None
    await set_comment_state(store, removed.number, ContentState.REMOVED)
    await snapshots.pin(site, snapshots.pinned_listing(site, listing, site.clock()), await page(store, listing))
    for number in (scene.open.number, scene.answer):
        await saved.save(site, "dave", number)
    return moved


async def _fill_records_of_the_process(scene: Scene) -> None:
    """Rate limits, keys of servers, a consumer of the log, and how full the memory is."""
    site = scene.store.site
    await scene.store.attempts.count([SlidingWindow(("something", "alice"), seconds=60, limit=3)])
    await scene.store.server_keys.create("shop")
    await TokenBuckets(site, capacity=100, refill=1).take({"alice": 90})  # it is full in 90 s, and gone then
    await log.advance(site, "reader", scene.partition, log.START)
    await memory.note(site, memory.MemoryUse(used=1, limit=2), is_high=True)


async def _moderate(scene: Scene) -> None:
    """
    Roles; flags, of which one counts toward hiding; a ban and an appeal; an article that was flagged and removed, with
    an appeal that is answered; an annulled vote.
    """
    site = scene.store.site
    await roles.grant(site, roles.OPERATOR, "bob", Role.ADMIN, group=None, reason="the first of them")
    await roles.grant(site, "bob", "dave", Role.MODERATOR, group="show", reason="a good memory")
    await flags.flag(site, "bob", "article", scene.open.number, FlagReason.SPAM, "it sells shoes")
    await flags.flag(site, "bob", "comment", scene.answer, FlagReason.OTHER)
    all_count = FlagRules(
        hide_at=1_000, votes_per_flag=1, least_age_days=0, least_karma=0, least_voters=0, last_flags=0
    )
    hiding = replace(site, rules=Rules(all_count))
    await flags.flag(hiding, "dave", "article", scene.open.number, FlagReason.SPAM)
    banned = await bans.ban(site, "bob", "Alice", group="quiet", until=None, reason="noise")
    assert banned.action
    await appeals.submit(site, "Alice", banned.action.number, "I whispered")
    removed = await post(scene.store, "carol", groups=["show"])
    await flags.flag(site, "dave", "article", removed.number, FlagReason.SPAM)
    removal = await article_moderation.remove(
        site, roles.OPERATOR, removed.number, group=None, reason="an advertisement"
    )
    assert removal.action
    await appeals.submit(site, "carol", removal.action.number, "It is news")
    await appeals.answer(site, "bob", removal.action.number, "It has a price")
    annulled = await annul(site, roles.OPERATOR, "carol", since=None, until=None, reason="a ring")
    assert annulled.action
    article_and_stored_vote = (scene.open.number, 0)  # 0: Redis has the vote, as voting is open
    votes = [article_and_stored_vote]
    await annul_some(site, scene.partition, annulled.action.number, "carol", complete_at=0, votes=votes)


async def _hold_texts(scene: Scene, moved: Comment) -> None:
    """A comment, an edit of an article and one of the comment `moved`, which wait for a moderator."""
    articles, comments = scene.store.articles, scene.store.comments
    with holding(scene.store):
        await comments.post(scene.open.number, parent=None, poster="carol", content="@bob, this is held")
        changes = {"link": "https://new.example/", "content": "@bob"}
        await articles.edit(scene.open.number, scene.open.poster, changes)
        await comments.edit(moved.number, "carol", "@dave, so is this edit")


async def _fill_accounts(scene: Scene) -> None:
    """One-time tokens, users and keys of an issuer, addresses, and a user who is being deleted."""
    store, site = scene.store, scene.store.site
    await issue(site, "Alice", Purpose.RESET, "by the operator")
    await invite(site)
    roles_of_frank = frozenset({"moderator:video"})
    await store.identities.user_of(Claims(Subject("site", "1"), "frank", issued_at=1, roles=roles_of_frank))
    await begin_to_enter(site, issuer="site", next="/")
    fetched = FetchedKeys("https://id.example/keys", '{"keys": []}', fetched_at=1, fresh_until=2, endpoints="{}")
    await KeySets(site).write("site", fetched)
    await store.mailboxes.set_first("bob", "bob@example.com")
    token = await issue(site, "bob", Purpose.CONFIRM, "bob@example.com")
    await store.mailboxes.confirm(token.text)
    await store.mailboxes.set_first("bob", "new@example.com")
    await begin_to_leave(site, await registered(store, "erin"), password_hash="", removes_texts=False)


async def fill_kinds_of_operations(scene: Scene) -> None:
    """
    Add keys of the kinds that exist only during an operation, such as a move, or only in a store of several partitions,
    or in one with an archive, whose old articles are in the SQL database only.
    """

    def interrupt(count: int) -> None:
        if count:
            raise InterruptedError

    site = scene.store.site
    with suppress(InterruptedError):
        await reindex.set_weights(site, "show", {"vote_score": 1.0}, interrupt)
    await site.redis.run(("SET", keys.mark(scene.partition), 1, "PX", 60_000))
    await site.redis.run(("ZADD", removals.REMOVING(scene.partition), 1, scene.ghost))
    await site.redis.run(("ZADD", RELISTING(scene.partition), 1, f"{scene.ghost} all"))
    await site.redis.run(("HSET", FLOORS(scene.partition), "all", 1))
    await site.redis.run(("ZADD", log.OUTDATED(scene.partition), 1, "1-0"))
    for kind in (bans.cleaning, bans.lifted, restoring, keys.recounted, conversations.left, conversations.woken):
        await site.redis.run(("ZADD", kind(scene.partition), 1, scene.ghost))
    for expiring in (bans.lifted, restoring):
        await site.redis.run(("PEXPIRE", expiring(scene.partition), 3_600_000))
    await Lease(site, "task", 60_000).extend()
    await WriteLock(site).acquire()
    for key in (effects.NOTED(scene.partition), effects.APPLIED(scene.partition)):
        await site.redis.run(("HSET", key, scene.partition, "1-0"))
    await site.redis.run(("HSET", keys.archived(scene.partition), "serial", 1))
    await site.redis.run(("SADD", moving.MOVING(scene.partition), scene.open.number))


def pass_time(redis: "Redis", clock: Clock, seconds: int) -> None:
    """Advance the store's clock, and bring all expiries nearer by the same time."""
    clock.advance(seconds)
    for key in redis.scan_iter():
        if (remaining := redis.pttl(key)) >= 0:
            redis.pexpire(key, remaining - seconds * 1000)


async def meanwhile(scene: Scene, action: Callable[[], Awaitable[object]], times: int = 1) -> None:
    """Repeat an operation at least `times` times while 20 users use the store."""
    done = 0
    people = asyncio.gather(
        *(use(scene, random.Random(seed), times=60, is_wanted=lambda: done < times) for seed in range(20))
    )
    try:
        while not people.done():
            await action()
            done += 1
        await people
    finally:
        people.cancel()


async def use(scene: Scene, chance: random.Random, times: int, is_wanted: Callable[[], bool] = lambda: False) -> None:
    """Run `times` random commands, then more, slowly, while `is_wanted`."""
    for number in count():
        if number >= times:
            if not is_wanted():
                return
            await asyncio.sleep(0.05)
        scene.clock.advance(0.001)
        with suppress(Refusal):
            await random_action(scene.store, chance, number)


async def any_discussed(store: Store, chance: random.Random) -> int:
    """An article with comments, which may be deleted; 1 if there is none. It reads the names of all keys."""
    found = scan.known_keys(store.site, lambda count: None)
    numbers = [int(key.suffix) async for some in found for key in some if key.name == "tree"]
    return chance.choice(sorted(numbers)) if numbers else 1  # sorted: the same seed chooses the same one


async def random_action(store: Store, chance: random.Random, number: int) -> None:
    """Run a random command, which may be refused. `number` counts the commands, so that their texts differ."""
    partition, who = chance.randrange(store.site.partitions), chance.choice(PEOPLE)
    numbers = await store.site.redis.run(("ZRANGE", keys.index(partition, "time"), 0, -1))
    listed = int(chance.choice(numbers)) if numbers else 1
    groups = chance.sample(GROUPS, chance.randrange(3))
    imported_at = store.site.clock() - chance.randrange(2 * WEEK) * 1000
    story = Story(f"{number}", "a story", link="", poster=who, time=imported_at, votes=5)
    replied = StoryComment(f"c{number}", parent="1", poster=who, time=story.time, content="an imported text", votes=2)
    discussed = await any_discussed(store, chance) if chance.random() < 0.1 else listed
    tree = keys.tree(store.site.partition_of_article(discussed), discussed)
    members = await store.site.redis.run(("ZRANGE", tree, 0, -1))
    comment = int(chance.choice(members).split()[1]) if members else listed  # each member is `PATH NUMBER`
    parent = chance.choice((None, comment))
    held = await store.site.redis.run(("ZRANGE", keys.held(store.site.partition_of_user(who), who), 0, 0))
    moderator, reason = roles.OPERATOR, "a reason"
    actions: list[Callable[[], Awaitable[object]]] = [
        lambda: store.articles.post(who, Draft("a title", "https://example.com/", groups=tuple(groups)), str(number)),
        lambda: store.articles.vote(listed, who, chance.choice(list(Vote))),
        lambda: store.articles.vote(listed, f"voter-{chance.randrange(9)}", chance.choice(list(Vote))),
        lambda: store.articles.edit(listed, who, {"content": f"edited, @{PEOPLE[number % 4]}"}),
        lambda: store.articles.edit(listed, who, {"link": f"https://example.com/{chance.randrange(3)}"}),
        lambda: store.articles.regroup(listed, who, add=groups, remove=chance.sample(GROUPS, 2)),
        lambda: store.articles.delete(listed, who),
        lambda: store.follows.follow(who, chance.choice(PEOPLE)),
        lambda: store.follows.unfollow(who, chance.choice(PEOPLE)),
        lambda: store.follows.follow_group(who, chance.choice(GROUPS)),
        lambda: store.follows.unfollow_group(who, chance.choice(GROUPS)),
        lambda: import_batch(store, [story]),
        lambda: import_comments(store, [(store.site.partition_of_user("alice"), replied)], {who.lower(): who}),
        lambda: store.sessions.open(who),
        lambda: store.comments.post(listed, parent=None, poster=who, content="a text"),
        lambda: store.comments.post(discussed, parent, who, f"a text, @{PEOPLE[number % 4]} {number}", str(number)),
        lambda: store.comments.vote(comment, who, chance.choice(list(Vote))),
        lambda: store.comments.edit(comment, who, f"another text, @{PEOPLE[number % 4]}"),
        lambda: store.comments.delete(comment, who),
        lambda: article_moderation.remove(store.site, moderator, listed, group=None, reason=reason),
        lambda: article_moderation.remove(store.site, moderator, listed, group=chance.choice(GROUPS), reason=reason),
        lambda: article_moderation.approve(store.site, moderator, int(held[0]) if held else listed),
        lambda: set_comment_state(store, comment, chance.choice(STATES)),
        lambda: saved.save(store.site, who, chance.choice((listed, comment))),
        lambda: saved.unsave(store.site, who, chance.choice((listed, comment))),
    ]
    if number % 10 == 0:
        await store.users.edit_profile(who, {"about": f"edited {number}"})
    await chance.choice(actions)()
