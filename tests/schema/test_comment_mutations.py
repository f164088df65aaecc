"""
Comments are posted, edited, deleted and voted on through GraphQL.

The fixture `community` has users who are logged in and an article of alice; `run(mutation, username, **input)` returns
the payload. Codes such as C1 name rows of docs/behaviours.md.
"""

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolvers.context import Context
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from store import keys
from store.store import Store
from tests.conftest import Clock, client, registered
from tests.examples import examples
from tests.schema.community import COMMENT, DELETE, EDIT, PEOPLE, READ, SHOWN, VOTE
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


def set_article(store, redis, id, **fields):
    """Set fields of the hash in which the store has an article."""
    number = int(id.partition(":")[2])
    redis.hset(keys.article(store.site.partition_of_article(number), number), mapping=fields)


async def test_comment_answers_an_article(community):  # C1
    posted = await community.comment("bob", content="**first**")

    assert posted == {
        "id": posted["id"],
        "depth": 0,
        "votes": 1,
        "upvotes": 1,
        "downvotes": 0,
        "viewerVote": "UP",
        "content": "**first**",
        "state": "VISIBLE",
        "editedAt": None,
        "replyCount": 0,
        "descendantCount": 0,
        "poster": {"username": "bob"},
        "parent": None,
        "ancestors": [],
        "article": {"id": community.article, "commentCount": 1},
    }
    assert await community.read(posted["id"], "bob") == posted


async def test_comment_answers_a_comment(community):  # C1, C3
    parent = (await community.comment("bob"))["id"]
    reply = await community.comment("carol", parent)
    last = await community.comment("bob", reply["id"])

    assert (reply["depth"], reply["parent"], last["depth"]) == (1, {"id": parent}, 2)
    assert last["ancestors"] == [{"id": parent}, {"id": reply["id"]}]
    assert last["article"]["commentCount"] == 3
    above = await community.read(parent)
    assert (above["replyCount"], above["descendantCount"]) == (1, 2)


async def test_unknown_article_and_parent_are_not_found(store, community, redis):  # C1
    there = (await community.comment("bob"))["id"]
    other = (await post(store, "bob")).id
    stub = (await community.comment("bob"))["id"]
    await community.comment("carol", stub)
    await community.run(DELETE, "bob", commentId=stub)
    before = everything(redis)

    texts = {"content": "a text"}
    assert await community.refusals(COMMENT, "bob", articleId="article:1541", **texts) == [("NOT_FOUND", "articleId")]
    for parent in (there, "comment:1541", f"comment:{other.partition(':')[2]}"):
        assert await community.refusals(COMMENT, "bob", articleId=other, parentId=parent, **texts) == [
            ("NOT_FOUND", "parentId")
        ]
    assert await community.refusals(COMMENT, "bob", articleId=community.article, parentId=stub, **texts) == [
        ("NOT_FOUND", "parentId")
    ]
    assert everything(redis) == before


@pytest.mark.parametrize(("mutation", "extra"), [(EDIT, {"content": "a text"}), (DELETE, {}), (VOTE, {})])
async def test_unknown_comment_is_not_found(community, redis, mutation, extra):  # C2: V8
    deleted = (await community.comment("bob"))["id"]
    await community.run(DELETE, "bob", commentId=deleted)
    before = everything(redis)

    for id in ("comment:1541", deleted, community.article.replace("article", "comment")):
        assert await community.refusals(mutation, "bob", commentId=id, **extra) == [("NOT_FOUND", "commentId")]
    assert everything(redis) == before


@pytest.mark.parametrize("id", ["", "1541", "comment:0", "comment:-1", "article:1541", "comment:1541 "])
async def test_malformed_ids_are_refused_with_all_other_faults(community, redis, id):  # C2: V8
    before = everything(redis)

    for mutation in (DELETE, VOTE):
        assert await community.refusals(mutation, "bob", commentId=id) == [("INVALID", "commentId")]
    assert await community.refusals(EDIT, "bob", commentId=id, content=" ") == [
        ("INVALID", "commentId"),
        ("INVALID", "content"),
    ]
    faulty = {"articleId": id.replace("article", "user"), "parentId": id, "content": "", "idempotencyKey": ""}
    assert await community.refusals(COMMENT, "bob", **faulty) == [
        ("INVALID", field) for field in ("articleId", "parentId", "content", "idempotencyKey")
    ]
    assert everything(redis) == before


@pytest.mark.parametrize("content", ["", " \n\t", "\u200b", "a" * 10_001, "a\0", "a\u009b"])
async def test_invalid_content_is_refused(community, redis, content):  # C10
    posted = (await community.comment("bob"))["id"]
    before = everything(redis)

    given = {"articleId": community.article, "content": content}
    assert await community.refusals(COMMENT, "bob", **given) == [("INVALID", "content")]
    assert await community.refusals(EDIT, "bob", commentId=posted, content=content) == [("INVALID", "content")]
    assert everything(redis) == before


async def test_content_of_10_000_characters_is_as_written(community):  # C10
    text = " \n" + "\U0001f600" * 9_997 + "\n"

    assert (await community.comment("bob", content=text))["content"] == text


@pytest.mark.parametrize("token", [None, "A" * 46, "nonsense"])
async def test_nobody_who_is_not_logged_in_changes_comments(community, redis, token):  # C10
    posted = (await community.comment("bob"))["id"]
    community.tokens["nobody"] = token
    before = everything(redis)

    for mutation, values in (
        (COMMENT, {"articleId": community.article, "content": "a text"}),
        (EDIT, {"commentId": posted, "content": "a text"}),
        (DELETE, {"commentId": posted}),
        (VOTE, {"commentId": posted}),
    ):
        assert await community.refusals(mutation, "nobody", **values) == [("UNAUTHENTICATED", None)]
    assert everything(redis) == before


async def test_only_the_poster_edits_and_deletes(community, redis):
    posted = (await community.comment("bob"))["id"]
    before = everything(redis)

    for who in ("alice", "carol"):
        edit = await community.refusals(EDIT, who, commentId=posted, content="mine")
        assert edit == await community.refusals(DELETE, who, commentId=posted) == [("FORBIDDEN", "commentId")]
    assert everything(redis) == before


async def test_edit_returns_the_changed_comment(community, clock):
    posted = await community.comment("bob")
    clock.advance(1)
    edited = await community.run(EDIT, "bob", commentId=posted["id"], content="another")

    assert edited["comment"] == posted | {"content": "another", "editedAt": "2016-08-04T11:52:01.000Z"}
    assert await community.read(posted["id"], "bob") == edited["comment"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"locked": "1"}, "LOCKED"), ({"state": "removed"}, "FORBIDDEN"), ({"state": "pending"}, "FORBIDDEN")],
)
async def test_locked_or_hidden_article_takes_no_comments_and_no_votes(store, ask, community, redis, fields, code):
    posted = (await community.comment("bob"))["id"]
    set_article(store, redis, community.article, **fields)
    before = everything(redis)

    for above in ({}, {"parentId": posted}):
        given = {"articleId": community.article, "content": "a text", **above}
        assert await community.refusals(COMMENT, "carol", **given) == [(code, "articleId")]
    assert await community.refusals(VOTE, "carol", commentId=posted) == [(code, "commentId")]
    assert everything(redis) == before
    open_to_votes = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Votable { isVotingOpen } } }"
    found = (await ask(open_to_votes, ids=[community.article, posted]))["data"]["nodes"]
    assert found == ([None] * 2 if "state" in fields else [{"isVotingOpen": False}] * 2)


async def test_comments_of_a_locked_article_are_edited_and_deleted(store, community, redis):
    posted = (await community.comment("bob"))["id"]
    set_article(store, redis, community.article, locked="1")

    assert (await community.run(EDIT, "bob", commentId=posted, content="another"))["comment"]["content"] == "another"
    assert (await community.run(DELETE, "bob", commentId=posted))["deletedCommentId"] == posted


async def test_deleted_comment_with_replies_leaves_a_stub(community):  # C6
    first = await community.comment("bob", content="some secret")
    second = await community.comment("carol", first["id"])
    third = await community.comment("dave", second["id"])
    deleted = await community.run(DELETE, "bob", commentId=first["id"])

    assert deleted == {"deletedCommentId": first["id"], "userErrors": []}
    stub = await community.read(first["id"])
    assert (stub["state"], stub["content"], stub["poster"], stub["viewerVote"]) == ("DELETED", None, None, None)
    assert (stub["replyCount"], stub["descendantCount"], stub["article"]["commentCount"]) == (1, 2, 2)

    await community.run(DELETE, "carol", commentId=second["id"])
    assert (await community.read(second["id"]))["state"] == "DELETED"
    await community.run(DELETE, "dave", commentId=third["id"])
    assert [await community.read(each["id"]) for each in (first, second, third)] == [None] * 3
    assert (await community.comment("bob"))["article"]["commentCount"] == 1


async def test_same_key_and_input_return_the_first_comment(community, clock):  # C9
    given = {"articleId": community.article, "content": "a text", "idempotencyKey": "a key"}
    first = await community.run(COMMENT, "bob", **given)
    clock.advance(86_000)
    again = await community.run(COMMENT, "bob", **given)

    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["comment"] == first["comment"]
    for other in ({"content": "another"}, {"parentId": first["comment"]["id"]}):
        assert await community.refusals(COMMENT, "bob", **given | other) == [("IDEMPOTENCY_MISMATCH", "idempotencyKey")]
    assert (await community.run(COMMENT, "carol", **given))["replayed"] is False


async def test_double_click_comments_once(community, clock):  # C9
    given = {"articleId": community.article, "content": "a text"}
    first, double = await asyncio.gather(*(community.run(COMMENT, "bob", **given) for _ in range(2)))
    clock.advance(10.001)
    later = await community.run(COMMENT, "bob", **given)

    assert {first["replayed"], double["replayed"]} == {False, True}
    assert first["comment"]["id"] == double["comment"]["id"] != later["comment"]["id"]
    assert not later["replayed"]


async def test_key_of_a_deleted_comment_is_replayed_without_it(community):  # C9
    given = {"articleId": community.article, "content": "a text", "idempotencyKey": "a key"}
    posted = (await community.run(COMMENT, "bob", **given))["comment"]
    await community.run(DELETE, "bob", commentId=posted["id"])

    assert await community.run(COMMENT, "bob", **given) == {"replayed": True, "comment": None, "userErrors": []}


async def test_mutations_of_a_request_see_the_changes_of_earlier_ones(ask, community):
    parent = (await community.comment("bob"))["id"]
    answer = await ask(
        """mutation($article: ID!, $parent: ID!) {
          comment(input: {articleId: $article, parentId: $parent, content: "a reply"}) {
            comment { article { commentCount } parent { replyCount } }
            query { article(id: $article) { commentCount } } }
          editComment(input: {commentId: $parent, content: "another"}) { comment { content replyCount } }
          voteOnComment(input: {commentId: $parent}) {
            comment { votes article { commentCount } } query { comment(id: $parent) { content votes } } }
          deleteComment(input: {commentId: $parent}) {
            query { comment(id: $parent) { content state } article(id: $article) { commentCount } } } }""",
        community.tokens["bob"],
        article=community.article,
        parent=parent,
    )

    assert answer["data"] == {
        "comment": {
            "comment": {"article": {"commentCount": 2}, "parent": {"replyCount": 1}},
            "query": {"article": {"commentCount": 2}},
        },
        "editComment": {"comment": {"content": "another", "replyCount": 1}},
        "voteOnComment": {
            "comment": {"votes": 1, "article": {"commentCount": 2}},
            "query": {"comment": {"content": "another", "votes": 1}},
        },
        "deleteComment": {"query": {"comment": {"content": None, "state": "DELETED"}, "article": {"commentCount": 1}}},
    }


async def test_mutations_take_one_round_trip_if_the_session_is_in_the_partition_of_the_article(ask, community):
    """The articles and sessions of alice are in one partition."""
    short = "mutation($input: CommentInput!) { comment(input: $input) { replayed } }"
    answer = await ask(short, community.tokens["alice"], input={"articleId": community.article, "content": "a text"})

    assert answer["extensions"]["stats"]["roundTrips"] == 1


async def test_counts_are_right_after_60_writes_at_once(ask, community):  # C3
    chance, made = random.Random(17), []
    for name in PEOPLE:
        made.append((await community.comment(name))["id"])
        made.append((await community.comment(name, made[-1]))["id"])

    async def write(number):
        who, some = PEOPLE[number % 4], chance.choice(made)
        if number % 3:
            text = {"articleId": community.article, "content": f"text {number}", "parentId": some}
            comment = (await community.run(COMMENT, who, **text))["comment"]
            made.extend([comment["id"]] if comment else [])
        else:
            await community.run(DELETE if number % 2 else VOTE, who, commentId=some)

    await asyncio.gather(*(write(number) for number in range(60)))
    ids = {"ids": list(dict.fromkeys(made))}
    nodes = (await ask("query($ids: [ID!]!) { nodes(ids: $ids) { ...Shown } }" + SHOWN, **ids))["data"]["nodes"]
    found = {each["id"]: each for each in nodes if each}
    assert len(found) > 30

    visible = [each for each in found.values() if each["state"] == "VISIBLE"]
    for each in found.values():
        above = [{"id": parent["id"]} for parent in each["ancestors"]]
        parent = found[each["parent"]["id"]] if each["parent"] else None
        assert each["depth"] == len(above)
        assert above == ([*parent["ancestors"], {"id": parent["id"]}] if parent else [])
        assert each["replyCount"] == sum(reply["parent"] == {"id": each["id"]} for reply in visible)
        assert each["descendantCount"] == sum({"id": each["id"]} in reply["ancestors"] for reply in visible)
        assert each["article"]["commentCount"] == len(visible)
        assert each["state"] == "VISIBLE" or each["descendantCount"]


async def test_other_processes_see_changes_at_once(store, community, redis_url, partitions, policy, clock):
    posted = await community.comment("bob")
    other = await Store.open(redis_url, policy, partitions, clock=clock)

    async def read():
        context = Context(other, community.tokens["bob"])
        answer = await SCHEMA.execute(READ, {"id": posted["id"]}, context_value=context)
        return answer.data["comment"]

    assert await read() == posted
    await community.run(VOTE, "carol", commentId=posted["id"])
    await community.run(EDIT, "bob", commentId=posted["id"], content="another")
    await community.comment("carol", posted["id"])
    assert await read() == await community.read(posted["id"], "bob")
    await community.run(DELETE, "bob", commentId=posted["id"])
    stub = await read()
    assert (stub["state"], stub["article"]["commentCount"]) == ("DELETED", 1)
    await other.close()


async def test_comments_of_a_user_are_limited_and_refused_ones_do_not_count(store, community, clock):
    rates = WriteRates(comments=2, comments_a_day=3)

    async def comment(who, content, address="1.1.1.1"):
        context = Context(store, community.tokens[who], address=address, rates=rates)
        query = """mutation($id: ID!, $content: String!) { comment(input: {articleId: $id, content: $content}) {
          replayed userErrors { code ... on RateLimited { retryAt } } } }"""
        given = {"id": community.article, "content": content}
        return (await SCHEMA.execute(query, given, context_value=context)).data["comment"]["userErrors"]

    # the second "one" is a replay
    assert [await comment("bob", text) for text in ("one", "", "one", "two")] == [[], [{"code": "INVALID"}], [], []]
    assert await comment("bob", "three", "2.2.2.2") == [{"code": "RATE_LIMITED", "retryAt": "2016-08-04T12:02:00.001Z"}]
    assert await comment("carol", "three") == []
    clock.advance(601)
    assert await comment("bob", "four") == []
    assert await comment("bob", "five") == [{"code": "RATE_LIMITED", "retryAt": "2016-08-05T11:52:00.001Z"}]


async def test_comments_from_an_address_are_limited_to_those_of_ten_users(store, community):
    rates, codes = WriteRates(comments=1), []
    for number in range(12):
        name = await registered(store, f"user-{number}")
        token = (await store.sessions.open(name)).token
        query = f"""mutation {{ comment(input: {{articleId: "{community.article}", content: "{name}"}}) {{
          userErrors {{ code }} }} }}"""
        context = Context(store, token, address="1.1.1.1", rates=rates)
        codes += [(await SCHEMA.execute(query, context_value=context)).data["comment"]["userErrors"]]

    assert codes == [[]] * 10 + [[{"code": "RATE_LIMITED"}]] * 2


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=40))
def test_content_is_returned_as_written(running_valkey, content):
    async def check():
        with client(running_valkey) as redis:
            redis.flushall()
        store = await Store.open(running_valkey, clock=Clock())
        await registered(store, "bob")
        context = Context(store, (await store.sessions.open("bob")).token)
        query = """mutation($id: ID!, $content: String!) { comment(input: {articleId: $id, content: $content}) {
          comment { content } userErrors { code } } }"""
        # a dot, because a text without visible characters is refused
        given = {"id": (await post(store, "bob")).id, "content": f".{content}"}
        answer = (await SCHEMA.execute(query, given, context_value=context)).data["comment"]
        await store.close()
        assert answer == {"comment": {"content": f".{content}"}, "userErrors": []}

    asyncio.run(check())
