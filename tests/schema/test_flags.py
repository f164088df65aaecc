"""
Users flag texts for moderators: `flag` and `unflag`, `moderationQueue` and `moderationQueueChanged`. The queue also has
what is pending: what a rule held when it was posted. Moderators are those of a place, the whole site or a group.

The fixture `token` is a session token of vera, who has no role.

Codes such as M5 name rows of docs/behaviours.md.
"""

import pytest

from resolvers.context import Context
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from store import flags, removals, roles
from store.flags import FlagReason
from store.moderation_records import Role
from store.records import ContentState
from store.roles import OPERATOR
from tests.conftest import registered
from tests.schema.moderators import QUEUE_CHANGED, REVERT, signed_in
from tests.schema.subscribers import subscribed
from tests.store.held import holding, set_article_state
from tests.store.reading import everything, post, read, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

FLAG = """mutation($id: ID!, $reason: FlagReason! = SPAM, $note: String) {
  flag(input: {subjectId: $id, reason: $reason, note: $note}) {
    changed subject { __typename id } userErrors { __typename code field } query { viewer { username } } } }"""
UNFLAG = """mutation($id: ID!) { unflag(input: {subjectId: $id}) {
  changed subject { id votes } userErrors { code field } } }"""
QUEUE = """query($kind: QueueKind, $group: String, $first: Int, $after: String, $last: Int, $before: String) {
  moderationQueue(kind: $kind, group: $group, first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor since node { __typename id ... on Article { title } ... on Comment { content } }
      flags { by { username } reason note at } flagReasons } } }"""
ON_SUBJECT = """query($id: ID!) {
  node(id: $id) { ... on Votable { flags { by { username } reason note at } flagReasons } } }"""
APPROVE = """mutation($id: ID!) {
  approveContent(input: {subjectId: $id}) { changed action { id } userErrors { code } } }"""
REMOVE = """mutation($id: ID!) {
  removeContent(input: {subjectId: $id, reason: "spam"}) { changed action { id } userErrors { code } } }"""
OWN = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on Votable {
  viewerFlag { by { username } reason note at } } } }"""
AT = "2016-08-04T11:52:00.000Z"


@pytest.fixture
async def site_moderator(store):
    """The token of a moderator of the whole site, sam."""
    return await signed_in(store, "sam", Role.MODERATOR)


async def flags_on(store, article):
    """The flags that count, because no moderator has decided about them."""
    (found,) = await read(store, flags.standing(store.site, article.number))
    return found


async def queued(ask, token, **given):
    """The ids in a queue; None if the viewer may not read it."""
    queue = (await ask(QUEUE, token, **given))["data"]["moderationQueue"]
    assert queue is None or queue["totalCount"] >= len(queue["nodes"])
    return queue and [node["id"] for node in queue["nodes"]]


async def test_viewer_flags_and_withdraws(store, ask, token, alice, site_moderator):  # M5
    article = await post(store, alice)
    done = [(await ask(FLAG, token, id=article.id, note="shoes"))["data"]["flag"] for _ in range(2)]

    assert done[0] == {
        "changed": True, "subject": {"__typename": "Article", "id": article.id}, "userErrors": [],
        "query": {"viewer": {"username": "vera"}},
    }  # fmt: skip
    assert done[1] == done[0] | {"changed": False}
    assert await queued(ask, site_moderator) == [article.id]
    assert (await ask(UNFLAG, token, id=article.id))["data"]["unflag"] == {
        "changed": True, "subject": {"id": article.id, "votes": 1}, "userErrors": [],
    }  # fmt: skip
    assert await queued(ask, site_moderator) == []


async def test_queue_has_flags_with_reasons(store, ask, token, alice, bob, site_moderator, clock):
    article = await post(store, alice, groups=["go"])
    comment = (await store.comments.post(article.number, parent=None, poster=bob, content="a text")).comment
    await ask(FLAG, token, id=article.id, reason="ILLEGAL", note="stolen")
    clock.advance(1)
    await ask(FLAG, token, id=comment.id)
    found = (await ask(QUEUE, site_moderator))["data"]["moderationQueue"]
    ours = await signed_in(store, "gus", Role.MODERATOR, "go")
    shown = (await ask(QUEUE, ours, group="Go"))["data"]["moderationQueue"]

    assert [(edge["node"], edge["since"], edge["flags"]) for edge in found["edges"]] == [
        (
            {"__typename": "Comment", "id": comment.id, "content": "a text"},
            "2016-08-04T11:52:01.000Z",
            [{"by": {"username": "vera"}, "reason": "SPAM", "note": None, "at": "2016-08-04T11:52:01.000Z"}],
        ),
        (
            {"__typename": "Article", "id": article.id, "title": "a title"},
            AT,
            [{"by": {"username": "vera"}, "reason": "ILLEGAL", "note": "stolen", "at": AT}],
        ),
    ]
    assert found["totalCount"] == shown["totalCount"] == 2
    assert shown["nodes"] == found["nodes"]
    assert [edge["flags"] for edge in shown["edges"]] == [[], []]
    reasons = [edge["flagReasons"] for edge in shown["edges"]]
    assert reasons == [edge["flagReasons"] for edge in found["edges"]] == [["SPAM"], ["ILLEGAL"]]


async def test_queue_is_for_moderators_of_the_place(store, ask, token, alice, bob, site_moderator):  # M1
    posted = [await post(store, alice, groups=groups) for groups in (["go"], ["lua"], ["go", "lua"], [])]
    for article in posted:
        await ask(FLAG, token, id=article.id)
    of_go, of_lua, of_both, of_none = (article.id for article in posted)
    one = await signed_in(store, "gus", Role.MODERATOR, "go")
    two = await signed_in(store, "lea", Role.MODERATOR, "go", "lua", "rust")
    admin = await signed_in(store, "ada", Role.ADMIN)

    assert set(await queued(ask, one)) == set(await queued(ask, one, group="go")) == {of_go, of_both}
    assert set(await queued(ask, two)) == {of_go, of_lua, of_both}
    for site_wide in (site_moderator, admin):
        assert set(await queued(ask, site_wide)) == {of_go, of_lua, of_both, of_none}
        assert set(await queued(ask, site_wide, group="lua")) == {of_lua, of_both}
    assert (await ask(QUEUE, two))["data"]["moderationQueue"]["totalCount"] == 3
    assert await queued(ask, one, kind="PENDING") == []
    assert await queued(ask, one, group="lua") is None
    for stranger in (token, None):
        for group in (None, "go"):
            assert await queued(ask, stranger, group=group) is None
    await roles.revoke(store.site, OPERATOR, "gus", Role.MODERATOR, group="go", reason="on leave")
    assert await queued(ask, one) is await queued(ask, one, group="go") is None


async def test_moderator_of_a_group_sees_the_flags_that_were_set_there(store, ask, token, alice, bob):
    article = await post(store, alice, groups=["go"])
    await ask(FLAG, token, id=article.id, reason="ABUSE")
    await store.articles.regroup(article.number, alice, add=["lua"], remove=["go"])
    await flags.flag(store.site, bob, "article", article.number, FlagReason.SPAM)
    one, other = [await signed_in(store, group, Role.MODERATOR, group) for group in ("go", "lua")]

    for moderator, reason in ((one, "ABUSE"), (other, "SPAM")):
        (edge,) = (await ask(QUEUE, moderator))["data"]["moderationQueue"]["edges"]
        assert edge["flagReasons"] == [reason]


async def test_flags_on_a_subject_are_shown_to_moderators(store, ask, token, alice, site_moderator):
    article = await post(store, alice, groups=["go"])
    comment = (await store.comments.post(article.number, parent=None, poster=alice, content="a text")).comment
    of_go, of_lua = [await signed_in(store, group, Role.MODERATOR, group) for group in ("go", "lua")]
    for subject in (article.id, comment.id):
        await ask(FLAG, token, id=subject, reason="ABUSE", note="rude")
        shown = {"by": {"username": "vera"}, "reason": "ABUSE", "note": "rude", "at": AT}

        async def seen_by(viewer, subject=subject):
            return (await ask(ON_SUBJECT, viewer, id=subject))["data"]["node"]

        assert await seen_by(site_moderator) == {"flags": [shown], "flagReasons": ["ABUSE"]}
        assert await seen_by(of_go) == {"flags": None, "flagReasons": ["ABUSE"]}
        assert await seen_by(of_lua) == {"flags": None, "flagReasons": []}
        for stranger in (token, None):
            assert await seen_by(stranger) == {"flags": None, "flagReasons": None}
        await ask(APPROVE, site_moderator, id=subject)
        assert await seen_by(site_moderator) == {"flags": [], "flagReasons": []}


async def test_viewer_sees_their_own_flag_and_nobody_elses(store, ask, token, alice, bob, site_moderator, clock):
    article = await post(store, alice, groups=["go"])
    comment = (await store.comments.post(article.number, parent=None, poster=alice, content="a text")).comment
    ids = [article.id, comment.id]
    of_bob = await signed_in(store, "Robert")

    async def seen_by(viewer):
        answer = await ask(OWN, viewer, ids=ids)
        assert answer["extensions"]["stats"]["roundTrips"] <= (2 if store.site.partitions == 1 else 3)
        return [node["viewerFlag"] for node in answer["data"]["nodes"]]

    await ask(FLAG, site_moderator, id=article.id)
    await ask(FLAG, of_bob, id=article.id, reason="ABUSE", note="rude")
    clock.advance(1)
    await ask(FLAG, of_bob, id=article.id, reason="OTHER")  # replaces it, at its time
    own = {"by": {"username": "Robert"}, "reason": "OTHER", "note": None, "at": AT}

    assert [await seen_by(each) for each in (of_bob, token, None)] == [[own, None], [None, None], [None, None]]
    assert (await seen_by(site_moderator))[0]["by"] == {"username": "sam"}
    await ask(FLAG, of_bob, id=comment.id)
    await ask(UNFLAG, of_bob, id=article.id)
    late = {"by": {"username": "Robert"}, "reason": "SPAM", "note": None, "at": "2016-08-04T11:52:01.000Z"}
    assert await seen_by(of_bob) == [None, late]
    await ask(APPROVE, site_moderator, id=comment.id)
    assert await seen_by(of_bob) == [None, None]


@pytest.mark.parametrize("groups", [(), ("go", "lua"), ("go",)])
async def test_queue_is_paged_both_ways(store, ask, token, alice, clock, groups):
    moderator = await signed_in(store, "mod", Role.MODERATOR, *groups)
    expected = []
    for n in range(7):
        poster = await registered(store, f"poster-{n}")
        article = await post(store, poster, groups=["go", "lua"] if n % 2 else ["go"])
        await ask(FLAG, token, id=article.id)
        clock.advance(1)
        expected.insert(0, article.id)
    forward, backward, after, before = [], [], None, None
    for _ in range(4):
        page = (await ask(QUEUE, moderator, first=2, after=after))["data"]["moderationQueue"]
        forward += [node["id"] for node in page["nodes"]]
        assert page["totalCount"] == 7
        assert page["pageInfo"]["hasPreviousPage"] is (after is not None)
        after = page["pageInfo"]["endCursor"]
    assert not page["pageInfo"]["hasNextPage"]
    for _ in range(4):
        page = (await ask(QUEUE, moderator, last=2, before=before))["data"]["moderationQueue"]
        backward = [node["id"] for node in page["nodes"]] + backward
        before = page["pageInfo"]["startCursor"]

    assert forward == backward == expected
    wrong = await ask(QUEUE, moderator, first=2, after=page["pageInfo"]["startCursor"], kind="PENDING")
    assert wrong["errors"][0]["message"] == "this cursor belongs to another listing"


async def test_refused_flags_change_nothing(store, ask, token, redis, alice, bob):
    own, article = await post(store, "vera"), await post(store, alice)
    comment = (await store.comments.post(article.number, parent=None, poster="vera", content="a text")).comment
    before = everything(redis)

    for id, code in (
        (own.id, "FORBIDDEN"),
        (comment.id, "FORBIDDEN"),
        ("article:1024", "NOT_FOUND"),
        ("comment:1024", "NOT_FOUND"),
        ("user:alice", "INVALID"),
        ("article:x", "INVALID"),
    ):
        refused = [(await ask(FLAG, token, id=id))["data"]["flag"], (await ask(UNFLAG, token, id=id))["data"]["unflag"]]
        for each in refused:
            assert [(error["code"], error["field"]) for error in each["userErrors"]] == [(code, ["input", "subjectId"])]
            assert (each["changed"], each["subject"]) == (False, None)
    (long,) = (await ask(FLAG, token, id=article.id, note="x" * 5_001))["data"]["flag"]["userErrors"]
    (nobody,) = (await ask(FLAG, id=article.id))["data"]["flag"]["userErrors"]
    assert (long["code"], long["field"], nobody["code"]) == ("INVALID", ["input", "note"], "UNAUTHENTICATED")
    assert everything(redis) == before


async def test_flags_of_a_day_are_limited(store, token, alice):
    posted = [await post(store, alice) for _ in range(3)]

    async def flagged(article):
        context = Context(store, token, address="192.0.2.1", rates=WriteRates(flags_a_day=2))
        return (await SCHEMA.execute(FLAG, {"id": article.id}, context)).data["flag"]

    first = [await flagged(posted[0]) for _ in range(3)]
    assert [each["changed"] for each in first] == [True, False, False]  # what changes nothing is not counted
    assert (await flagged(posted[1]))["changed"]
    refused = await flagged(posted[2])
    assert [(each["__typename"], each["code"]) for each in refused["userErrors"]] == [("RateLimited", "RATE_LIMITED")]
    assert await flags_on(store, posted[2]) == []


async def test_strangers_learn_nothing_of_flags(store, ask, token, alice, bob, live):
    article = await post(store, alice, groups=["go"])
    comment = (await store.comments.post(article.number, parent=None, poster=bob, content="a text")).comment
    key = await store.server_keys.create("shop")
    changes = "{ changes(limit: 1000) { changes { kind subjectId actorId fields { name value } } } }"
    public = """query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Article { state isLocked votes
      voters { totalCount } } ... on Comment { state votes } }
    user(username: "vera") { username karma } moderationLog { totalCount } }"""
    ids = [article.id, comment.id]
    before = [await ask(public, stats=False, ids=ids), await ask(changes, server_key=key, stats=False)]
    for id in ids:
        await ask(FLAG, token, id=id, note="it sells shoes")
    await ask(UNFLAG, token, id=comment.id)

    assert [await ask(public, stats=False, ids=ids), await ask(changes, server_key=key, stats=False)] == before
    named = await ask(changes.replace("limit: 1000", 'kinds: ["flagged", "unflagged"]'), server_key=key)
    assert named["data"]["changes"]["changes"] == []


async def test_counts_of_the_queue_are_sent_as_they_change(store, ask, token, alice, listen, site_moderator):
    article, other = await post(store, alice, groups=["go"]), await post(store, alice)
    of_go = await signed_in(store, "gus", Role.MODERATOR, "go")
    whole = await listen(QUEUE_CHANGED, site_moderator)
    own = await listen(QUEUE_CHANGED, of_go)
    group = await listen(QUEUE_CHANGED, site_moderator, group="go")
    await ask(FLAG, token, id=article.id)
    assert [await each.value() for each in (whole, own, group)] == [1, 1, 1]
    await ask(FLAG, token, id=other.id)
    assert await whole.value() == 2
    await ask(FLAG, token, id=article.id, reason="ABUSE")  # changes no count
    await ask(UNFLAG, token, id=article.id)
    assert [await each.value() for each in (whole, own, group)] == [1, 0, 0]
    await store.articles.delete(other.number, alice)
    assert await whole.value() == 0


async def test_counts_follow_a_flagged_comment_whose_article_is_removed(
    store, ask, token, alice, listen, site_moderator
):
    article = await post(store, alice)
    comment = (await store.comments.post(article.number, parent=None, poster=alice, content="a text")).comment
    subscriber = await listen(QUEUE_CHANGED, site_moderator)
    await ask(FLAG, token, id=comment.id)
    assert await subscriber.value() == 1

    for state, expected in ((ContentState.REMOVED, 0), (ContentState.VISIBLE, 1)):
        await set_article_state(store, article.number, state)
        await removals.remove_all(store.site, store.site.partition_of_article(article.number))
        assert await subscriber.value() == expected


async def test_counts_of_groups_follow_a_regrouped_article(store, alice, listen, site_moderator):
    """The held comment counts in the queues of the groups of its article."""
    article = await post(store, alice, groups=["go"])
    with holding(store):
        await store.comments.post(article.number, parent=None, poster=alice, content="a text that is held")
    before, after = [await listen(QUEUE_CHANGED, site_moderator, group=group) for group in ("go", "lua")]
    await store.articles.regroup(article.number, alice, add=["lua"], remove=["go"])

    assert [await before.value(), await after.value()] == [0, 1]


async def test_subscription_is_for_moderators_and_ends_with_the_role(store, ask, token, alice, listen, live):  # M1
    article = await post(store, alice, groups=["go"])
    of_go = await signed_in(store, "gus", Role.MODERATOR, "go")
    subscriber = await listen(QUEUE_CHANGED, of_go, group="go")
    await ask(FLAG, token, id=article.id)
    assert await subscriber.value() == 1
    await roles.revoke(store.site, OPERATOR, "gus", Role.MODERATOR, group="go", reason="on leave")

    assert await subscriber.refusal() == ("NOT_A_MODERATOR", "you are no moderator of the group go")


@pytest.mark.parametrize("group", [None, "go"])
async def test_strangers_do_not_subscribe(store, url, token, group):
    for stranger, code in ((token, "NOT_A_MODERATOR"), (None, "UNAUTHENTICATED")):
        async with subscribed(url, QUEUE_CHANGED, stranger, group=group) as subscriber:
            assert (await subscriber.refusal())[0] == code


async def test_pending_articles_wait_for_moderators_of_their_groups(store, ask, token, alice, listen, site_moderator):
    article, other = await post(store, alice, groups=["go"]), await post(store, alice, groups=["lua"])
    of_go = await signed_in(store, "gus", Role.MODERATOR, "go")
    subscriber = await listen(QUEUE_CHANGED, of_go)
    await ask(FLAG, token, id=article.id)
    assert await subscriber.value() == 1
    for each in (article, other):
        await set_article_state(store, each.number, ContentState.PENDING)

    (edge,) = (await ask(QUEUE, of_go, kind="PENDING"))["data"]["moderationQueue"]["edges"]
    found = (edge["node"]["id"], edge["since"], edge["flags"], edge["flagReasons"])
    assert found == (article.id, AT, [], ["SPAM"])
    assert await queued(ask, of_go) == []
    assert set(await queued(ask, site_moderator, kind="PENDING")) == {article.id, other.id}
    assert await queued(ask, token, kind="PENDING") is None
    await store.articles.delete(article.number, alice)
    assert await subscriber.value() == 0


async def test_approval_of_a_comment_clears_its_flags_and_a_revert_brings_them_back(
    store, ask, token, bob, alice
):  # M5
    article = await post(store, alice)
    comment = (await store.comments.post(article.number, parent=None, poster=bob, content="a text")).comment
    admin = await signed_in(store, "root-of-all", Role.ADMIN)
    await ask(FLAG, token, id=comment.id)
    approved = await ask(APPROVE, admin, id=comment.id)
    again = (await ask(FLAG, token, id=comment.id))["data"]["flag"]

    assert approved["data"]["approveContent"]["changed"] and not again["changed"]
    assert await queued(ask, admin) == []
    action = approved["data"]["approveContent"]["action"]["id"]
    assert (await ask(REVERT, admin, id=action))["data"]["revertModeration"]["changed"]
    assert await queued(ask, admin) == [comment.id]
    removed = (await ask(REMOVE, admin, id=comment.id))["data"]["removeContent"]
    assert await queued(ask, admin) == []
    await ask(REVERT, admin, id=removed["action"]["id"])
    assert await queued(ask, admin) == [comment.id]
    assert await verified(store) == []


async def test_pending_comments_wait_for_moderators_of_the_groups_of_their_article(  # M2
    store, ask, token, redis, alice, bob, listen, site_moderator, clock
):
    article = await post(store, alice, groups=["go"])
    clock.advance(1)
    comment, other = [
        (await store.comments.post(article.number, parent=None, poster=bob, content=text)).comment
        for text in ("one", "two")
    ]
    of_go, of_lua = [await signed_in(store, name, Role.MODERATOR, name) for name in ("go", "lua")]
    subscriber = await listen(QUEUE_CHANGED, of_go)
    clock.advance(1)
    await store.comments.set_state(comment.number, ContentState.PENDING)
    assert await subscriber.value() == 1

    (edge,) = (await ask(QUEUE, of_go, kind="PENDING"))["data"]["moderationQueue"]["edges"]
    assert edge["node"] == {"__typename": "Comment", "id": comment.id, "content": "one"}
    assert (edge["since"], edge["flags"], edge["flagReasons"]) == ("2016-08-04T11:52:01.000Z", [], [])
    for moderator, group in ((site_moderator, None), (site_moderator, "go"), (of_go, "go")):
        assert await queued(ask, moderator, kind="PENDING", group=group) == [comment.id]
    assert await queued(ask, of_lua, kind="PENDING") == await queued(ask, of_go) == []
    assert await queued(ask, token, kind="PENDING") is None
    assert await verified(store) == []

    redis.delete(*redis.keys("queue:*"))
    assert len(await verified(store, repair=True)) == 2  # the comment in both queues
    assert await queued(ask, of_go, kind="PENDING") == [comment.id]

    await store.articles.regroup(article.number, alice, add=["lua"], remove=["go"])
    assert await queued(ask, of_lua, kind="PENDING") == [comment.id]
    assert await queued(ask, of_go, kind="PENDING") == []
    assert await verified(store) == []
    approved = (await ask(APPROVE, of_lua, id=comment.id))["data"]["approveContent"]
    assert approved["changed"] and await queued(ask, of_lua, kind="PENDING") == []
    await ask(REVERT, of_lua, id=approved["action"]["id"])
    assert await queued(ask, of_lua, kind="PENDING") == [comment.id]
    await store.comments.delete(comment.number, bob)
    assert await queued(ask, of_lua, kind="PENDING") == []
    await store.comments.set_state(other.number, ContentState.PENDING)
    assert await queued(ask, of_lua, kind="PENDING") == [other.id]
    await store.articles.delete(article.number, alice)
    assert await queued(ask, of_lua, kind="PENDING") == await queued(ask, site_moderator, kind="PENDING") == []
    assert await verified(store) == []
