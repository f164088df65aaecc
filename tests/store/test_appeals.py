"""
Appeals of users against actions of moderators that are about them or their texts, and the answers. An appeal waits in a
queue until a moderator answers it, or reverts the action. An actor is a username or a session of the user; OPERATOR is
who runs the commands of the server.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified`
gives what `upvote verify` finds wrong in the store.

Codes such as M6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import (
    annulments,
    appeals,
    article_moderation,
    bans,
    comment_moderation,
    flags,
    inboxes,
    keys,
    redactions,
    reverts,
    roles,
)
from store.appeals import Appeal
from store.errors import (
    AlreadyReverted,
    Banned,
    Forbidden,
    Invalid,
    NotAModerator,
    NotFound,
    Unauthenticated,
)
from store.listings import Window
from store.moderation_records import Role
from store.roles import OPERATOR
from store.sessions import parse_token
from tests.conftest import registered
from tests.store.reading import everything, numbers, post, read, verified

pytestmark = pytest.mark.many_partitions


@pytest.fixture
async def banned(store, alice):
    """A ban of Alice from the site."""
    return (await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="spam")).action


async def appeal_against(store, action):
    """The appeal against an action; None if there is none."""
    (found,) = await read(store, appeals.of_action(store.site, action.number))
    return found


async def test_banned_user_appeals_once(store, alice, banned, clock, redis):  # M6
    session = parse_token((await store.sessions.open(alice)).token)
    assert await appeal_against(store, banned) is None
    assert await appeals.submit(store.site, session, banned.number, " I did not ") == banned
    at, before = clock.now, everything(redis)
    clock.advance(1)

    assert await appeals.submit(store.site, session, banned.number, "I did not") == banned
    with pytest.raises(Invalid, match="before"):
        await appeals.submit(store.site, session, banned.number, "Really")
    assert everything(redis) == before
    assert await appeal_against(store, banned) == Appeal(
        number=banned.number, username="Alice", at=at, text="I did not"
    )
    assert await verified(store) == []


async def test_others_do_not_appeal(store, bob, banned, redis):
    await roles.grant(store.site, OPERATOR, bob, Role.ADMIN, group=None, reason="the first")
    before = everything(redis)

    with pytest.raises(Forbidden):
        await appeals.submit(store.site, bob, banned.number, "She did not")
    with pytest.raises(NotFound):
        await appeals.submit(store.site, bob, banned.number + 1024 * 7, "She did not")  # a number without an action
    assert everything(redis) == before


@pytest.mark.parametrize("text", [" ", "x" * 5_001, "\x00"])
async def test_text_that_breaks_a_rule_is_refused(store, alice, banned, redis, text):
    before = everything(redis)

    with pytest.raises(Invalid) as refused:
        await appeals.submit(store.site, alice, banned.number, text)
    assert refused.value.field == ("text",)
    assert everything(redis) == before


async def test_ended_session_does_not_appeal(store, alice, banned):
    session = parse_token((await store.sessions.open(alice)).token)
    await store.sessions.close(session)

    with pytest.raises(Unauthenticated):
        await appeals.submit(store.site, session, banned.number, "I did not")


async def test_nobody_appeals_against_what_is_reverted_or_a_revert(store, alice, banned):
    reverted = await bans.revert(store.site, OPERATOR, banned, "a mistake")

    with pytest.raises(AlreadyReverted):
        await appeals.submit(store.site, alice, banned.number, "I did not")
    with pytest.raises(Invalid):
        await appeals.submit(store.site, alice, reverted.action.number, "I did")


async def test_group_moderator_whose_role_is_revoked_appeals(store):
    dora = await registered(store, "dora")
    await roles.grant(store.site, OPERATOR, dora, Role.MODERATOR, group="lua", reason="helps")
    revoked = await roles.revoke(store.site, OPERATOR, dora, Role.MODERATOR, group="lua", reason="enough")

    assert (await appeals.submit(store.site, dora, revoked.action.number, "Why?")).kind.value == "revoke_role"


async def moderator(store, name, *groups):
    """A moderator of some groups, or of the site if no group is given."""
    await registered(store, name)
    for group in groups or (None,):
        await roles.grant(store.site, OPERATOR, name, Role.MODERATOR, group=group, reason="a good eye")
    return name


async def waiting(store, *groups):
    """The numbers of the actions whose appeals wait, in all of the site or in some groups."""
    return await numbers(store, appeals.listing(store.site, groups or None))


async def notified(store, username):
    """The actions in an inbox, each with its time, newest first."""
    (page,) = await read(store, inboxes.page(store.site, username, Window(10)))
    return [(each.number, each.at) for each in page.notifications if each.type == "action"]


async def removed_texts(store, *groups):
    """The actions that remove an article of Alice in some groups, and a comment of Bob on it."""
    article = await post(store, "Alice", groups=groups)
    comment = (await store.comments.post(article.number, parent=None, poster="bob", content="a text")).comment
    first = await comment_moderation.remove(store.site, OPERATOR, comment.number, group=None, reason="rude")
    second = await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")
    return second.action, first.action


async def test_appeal_waits_where_moderators_could_revert_the_action(store, redis, alice, bob, clock):
    one, comment = await removed_texts(store, "go")
    two, second_comment = await removed_texts(store, "go", "lua")
    of_group = (await bans.ban(store.site, OPERATOR, alice, group="lua", until=None, reason="noise")).action
    granted = (await roles.grant(store.site, OPERATOR, alice, Role.MODERATOR, group="go", reason="helps")).action
    for action in (one, two, of_group, granted):
        await appeals.submit(store.site, alice, action.number, "I did not")
    for action in (comment, second_comment):
        await appeals.submit(store.site, bob, action.number, "I did not")

    def numbers_of(*actions):
        return {action.number for action in actions}

    everywhere = numbers_of(one, two, of_group, granted, comment, second_comment)
    assert set(await waiting(store)) == everywhere
    assert set(await waiting(store, "go")) == numbers_of(one, comment, second_comment)
    assert set(await waiting(store, "lua")) == numbers_of(of_group, second_comment)
    assert set(await waiting(store, "lua", "go")) == everywhere - numbers_of(two, granted)
    assert await waiting(store, "rust") == []
    assert await verified(store) == []


async def test_moderator_answers_once_and_the_author_is_notified_again(store, redis, alice, banned, clock):
    mona = await moderator(store, "mona")
    await appeals.submit(store.site, alice, banned.number, "I did not")
    assert await notified(store, alice) == [(banned.number, banned.at)]
    appealed_at = clock.now
    clock.advance(1)
    answered = await appeals.answer(store.site, mona, banned.number, " You did ")
    clock.advance(1)
    before = everything(redis)

    assert await appeals.answer(store.site, mona, banned.number, "You did") == answered == banned
    with pytest.raises(Invalid, match="before"):
        await appeals.answer(store.site, mona, banned.number, "Really")
    with pytest.raises(Invalid, match="before"):
        await appeals.answer(store.site, OPERATOR, banned.number, "You did")
    assert everything(redis) == before
    expected = Appeal(
        number=banned.number,
        username="Alice",
        at=appealed_at,
        text="I did not",
        answer="You did",
        answered_by="mona",
        answered_at=appealed_at + 1_000,
    )
    assert await appeal_against(store, banned) == expected
    assert await waiting(store) == []
    assert await notified(store, alice) == [(banned.number, appealed_at + 1_000)]
    assert await verified(store) == []


async def test_answer_about_a_comment_reaches_its_poster_in_another_partition(store, alice, clock):
    names = [await registered(store, f"poster-{n}") for n in range(6)]  # some are in other partitions
    article = await post(store, alice, groups=["go"])
    gus = await moderator(store, "gus", "go")
    comments = [
        (await store.comments.post(article.number, parent=None, poster=name, content=f"by {name}")).comment
        for name in names
    ]
    for name, comment in zip(names, comments, strict=True):
        action = (await comment_moderation.remove(store.site, gus, comment.number, group="go", reason="rude")).action
        await appeals.submit(store.site, name, action.number, "It was not")
        clock.advance(1)
        await appeals.answer(store.site, gus, action.number, "It was")
        assert await notified(store, name) == [(action.number, clock.now)]
    assert await waiting(store) == []
    assert await verified(store) == []


async def test_only_who_could_revert_the_action_answers(store, redis, alice, bob):  # M1
    of_site = await moderator(store, "sam")
    of_go, of_both = await moderator(store, "gus", "go"), await moderator(store, "lea", "go", "lua")
    article, comment = await removed_texts(store, "go", "lua")
    site_wide = (await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="spam")).action
    of_group = (await bans.ban(store.site, OPERATOR, bob, group="go", until=None, reason="noise")).action
    granted = (await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group="rust", reason="helps")).action
    votes = (await annulments.annul(store.site, OPERATOR, alice, since=None, until=None, reason="a ring")).action
    of_alice, of_bob = (site_wide, article, votes), (comment, of_group, granted)
    for author, action in (*((alice, each) for each in of_alice), *((bob, each) for each in of_bob)):
        await appeals.submit(store.site, author, action.number, "No")
    ada = await registered(store, "ada")
    await roles.grant(store.site, OPERATOR, ada, Role.ADMIN, group=None, reason="the first")
    vera, before = await registered(store, "vera"), everything(redis)

    async def refused(who, action):
        with pytest.raises(Banned if who == alice else NotAModerator):
            await appeals.answer(store.site, who, action.number, "Yes")

    for who in (alice, vera):
        for action in (*of_alice, *of_bob):
            await refused(who, action)
    for who, action in (
        (of_go, site_wide), (of_both, site_wide), (of_go, votes), (of_go, article), (of_site, granted), (bob, granted),
    ):  # fmt: skip
        await refused(who, action)
    assert everything(redis) == before
    for who, action in (
        (of_site, site_wide), (of_site, votes), (of_both, article), (of_go, comment), (of_go, of_group), (ada, granted),
    ):  # fmt: skip
        assert (await appeals.answer(store.site, who, action.number, "Yes")).number == action.number
    assert await waiting(store) == []
    assert await verified(store) == []


async def test_nobody_answers_their_own_appeal(store, redis):
    """Not even an admin, who may act on their own texts."""
    ada = await registered(store, "ada")
    await roles.grant(store.site, OPERATOR, ada, Role.ADMIN, group=None, reason="the first")
    article = await post(store, ada)
    action = (await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="a test")).action
    await appeals.submit(store.site, ada, action.number, "No")
    before = everything(redis)

    with pytest.raises(NotAModerator, match="own appeal"):
        await appeals.answer(store.site, ada, action.number, "Yes")
    assert everything(redis) == before


async def test_answer_that_is_not_possible_is_refused(store, redis, alice, banned):
    mona = await moderator(store, "mona")
    before = everything(redis)

    for refusal, number, text in (
        (NotFound, banned.number, "There is no appeal"),
        (NotFound, banned.number + 1024 * 7, "There is no action"),
        (Invalid, banned.number, " "),
        (Invalid, banned.number, "x" * 5_001),
    ):
        with pytest.raises(refusal):
            await appeals.answer(store.site, mona, number, text)
    assert everything(redis) == before
    session = parse_token((await store.sessions.open(mona)).token)
    await appeals.submit(store.site, alice, banned.number, "No")
    await bans.ban(store.site, OPERATOR, mona, group=None, until=None, reason="rogue")
    with pytest.raises(Unauthenticated):
        await appeals.answer(store.site, session, banned.number, "Yes")
    with pytest.raises(Banned):
        await appeals.answer(store.site, mona, banned.number, "Yes")
    assert await waiting(store) == [banned.number]


async def test_revert_answers_the_appeal(store, redis, alice, banned, clock):
    mona = await moderator(store, "mona")
    await appeals.submit(store.site, alice, banned.number, "I did not")
    at = clock.now
    clock.advance(1)
    await reverts.revert(store.site, mona, banned.number, "a mistake")

    assert await waiting(store) == []
    expected = Appeal(
        number=banned.number,
        username="Alice",
        at=at,
        text="I did not",
        answer=None,
        answered_by="mona",
        answered_at=at + 1_000,
    )
    assert await appeal_against(store, banned) == expected
    with pytest.raises(AlreadyReverted):
        await appeals.answer(store.site, mona, banned.number, "Sorry")
    assert len(await notified(store, alice)) == 2
    assert await verified(store) == []


async def test_revert_of_what_is_answered_keeps_the_answer(store, alice, banned):
    await appeals.submit(store.site, alice, banned.number, "I did not")
    await appeals.answer(store.site, OPERATOR, banned.number, "You did")
    await reverts.revert(store.site, OPERATOR, banned.number, "You did not")

    assert (await appeal_against(store, banned)).answer == "You did"


async def test_appeal_leaves_the_queue_when_its_text_is_deleted(store, redis, alice, bob, clock):
    article, comment = await removed_texts(store, "go")
    _, second = await removed_texts(store, "go")
    await appeals.submit(store.site, alice, article.number, "No")
    for action in (comment, second):
        await appeals.submit(store.site, bob, action.number, "No")
    await store.comments.delete(int(second.subject_id.partition(":")[2]), bob)
    assert set(await waiting(store)) == set(await waiting(store, "go")) == {article.number, comment.number}

    await store.articles.delete(int(article.subject_id.partition(":")[2]), alice)
    assert await waiting(store) == await waiting(store, "go") == []  # its comments are deleted with it
    for action in (article, comment, second):
        with pytest.raises(NotFound):
            await appeals.answer(store.site, OPERATOR, action.number, "Yes")
    assert (await appeal_against(store, article)).text == "No"
    assert redis.keys("queue:*") == []
    assert await verified(store) == []


async def test_verify_repairs_queues_of_appeals(store, redis, alice, bob, clock):
    removed, _ = await removed_texts(store, "go")
    banned = (await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="spam")).action
    for action in (banned, removed):
        await appeals.submit(store.site, alice, action.number, "No")
    partition, member = store.site.partition_of_user(alice), keys.member(removed.number)
    lost, wrong = (flags.QUEUE(partition, "appeals", scope) for scope in ("group:go", "all"))
    strange = flags.QUEUE(partition, "appeals", "group:rust")
    redis.delete(lost)
    redis.zadd(wrong, {member: 7, "odd": 8, keys.member(1024 * 9): 9})
    redis.zadd(strange, {member: 7})
    found = await verified(store, repair=True)

    assert {(each.where, each.found, each.expected, each.repaired) for each in found} == {
        (f"{lost} {member}", "nothing", str(clock.now), True),
        (f"{wrong} {member}", "7", str(clock.now), True),
        (f"{wrong} odd", "8", "nothing", True),
        (f"{wrong} {keys.member(1024 * 9)}", "9", "nothing", True),
        (f"{strange} {member}", "7", "nothing", True),
    }
    assert await verified(store) == []
    assert set(await waiting(store)) == {banned.number, removed.number}
    assert await waiting(store, "go") == [removed.number]


async def test_redaction_leaves_the_appeal(store, alice, banned):
    await appeals.submit(store.site, alice, banned.number, "I did not")
    await redactions.redact(store.site, OPERATOR, banned.number)

    assert (await appeal_against(store, banned)).text == "I did not"
    assert await verified(store) == []
