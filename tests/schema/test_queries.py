"""
Queries of articles, users and groups through GraphQL, and wrong arguments.

The fixture `token` is a session token of the user vera. Codes such as A1 name rows of docs/behaviours.md.
"""

from base64 import urlsafe_b64encode

import pytest

from store.ranking.formulas import Policy
from store.records import Vote
from tests.store.reading import post

PAGE = """query(
  $first: Int, $after: String, $last: Int, $before: String, $page: Int, $order: ArticleOrder, $group: String
) {
  articles(first: $first, after: $after, last: $last, before: $before, page: $page, order: $order, group: $group) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id } }
    nodes { id }
  }
}"""
WEEK = 7 * 86_400  # seconds
LONG_CURSOR = urlsafe_b64encode(b"score|0." + b"0" * 400 + b"|1773").decode().rstrip("=")


async def test_article_has_all_its_fields(store, ask, alice, bob, clock, token):  # A1
    posted = await post(store, alice, "a title", ["show", "ask"])
    await store.articles.vote(posted.number, bob, Vote.DOWN)
    answer = await ask(
        """query($id: ID!) { article(id: $id) {
          id title link content poster { id username joinedAt karma } postedAt editedAt votes upvotes downvotes score
          isGood isVotingOpen votingClosesAt viewerVote groups { id name }
          voters(first: 1) { totalCount nodes { username } pageInfo { hasNextPage hasPreviousPage } }
        } }""",
        token,
        id=posted.id,
    )

    assert answer["data"]["article"] == {
        "id": posted.id,
        "title": "a title",
        "link": "https://example.com/",
        "content": None,
        "poster": {"id": "user:alice", "username": "Alice", "joinedAt": "2016-08-04T11:52:00.000Z", "karma": -1},
        "postedAt": "2016-08-04T11:52:00.000Z",
        "editedAt": None,
        "votes": 0,
        "upvotes": 1,
        "downvotes": 1,
        "score": 1470311520.0,
        "isGood": False,
        "isVotingOpen": True,
        "votingClosesAt": "2016-08-11T11:52:00.000Z",
        "viewerVote": "NONE",
        "groups": [{"id": "group:ask", "name": "ask"}, {"id": "group:show", "name": "show"}],
        "voters": {
            "totalCount": 1,
            "nodes": [{"username": "Alice"}],
            "pageInfo": {"hasNextPage": False, "hasPreviousPage": False},
        },
    }


async def test_voters_are_those_who_voted_up(store, ask, alice, bob, token):  # V10
    posted = await post(store, alice)
    await store.articles.vote(posted.number, "vera", Vote.UP)
    seen = "query($id: ID!) { article(id: $id) { votes voters { totalCount nodes { username } } } }"

    for vote, names in (
        (Vote.DOWN, ["Alice", "vera"]),
        (Vote.UP, ["Alice", bob, "vera"]),
        (Vote.NONE, ["Alice", "vera"]),
    ):
        changed = await store.articles.vote(posted.number, bob, vote)
        found = (await ask(seen, token, id=posted.id))["data"]["article"]

        nodes = [{"username": name} for name in names]
        assert found == {"votes": changed.article.votes, "voters": {"totalCount": len(nodes), "nodes": nodes}}


async def test_counts_remain_when_voters_are_deleted(store, ask, alice, clock):  # V6
    posted = await post(store, alice)
    seen = "query($id: ID!) { article(id: $id) { votes viewerVote isVotingOpen voters { totalCount } } }"
    clock.advance(WEEK)
    token = (await store.users.register("vera", "correct horse")).token
    await ask("mutation($id: ID!) { vote(input: {articleId: $id}) { changed } }", token, id=posted.id)

    at_a_week = (await ask(seen, token, id=posted.id))["data"]["article"]
    clock.advance(0.001)
    after = (await ask(seen, token, id=posted.id))["data"]["article"]
    anonymous = (await ask(seen, id=posted.id))["data"]["article"]

    assert at_a_week == {"votes": 2, "viewerVote": "UP", "isVotingOpen": True, "voters": {"totalCount": 2}}
    assert after == anonymous == {"votes": 2, "viewerVote": None, "isVotingOpen": False, "voters": None}


async def test_cursors_walk_the_whole_listing_both_ways(store, ask, alice, bob):  # L3, L8
    posted = [(await post(store, poster)).id for poster in (alice, bob) * 4]
    expected = sorted(posted, key=lambda id: int(id.partition(":")[2]), reverse=True)

    forward, cursor = [], None
    while True:
        answer = (await ask(PAGE, first=3, after=cursor))["data"]["articles"]
        assert answer["pageInfo"]["hasPreviousPage"] is bool(forward)
        assert answer["totalCount"] == 8
        assert [edge["node"] for edge in answer["edges"]] == answer["nodes"]
        forward += [node["id"] for node in answer["nodes"]]
        cursor = answer["pageInfo"]["endCursor"]
        if not answer["pageInfo"]["hasNextPage"]:
            break
    backward = []
    cursor = None
    while True:
        answer = (await ask(PAGE, last=3, before=cursor))["data"]["articles"]
        assert answer["pageInfo"]["hasNextPage"] is bool(backward)
        backward = [node["id"] for node in answer["nodes"]] + backward
        cursor = answer["pageInfo"]["startCursor"]
        if not answer["pageInfo"]["hasPreviousPage"]:
            break

    assert forward == backward == expected


async def test_pages_by_number_have_the_expected_articles_and_flags(store, ask, alice):  # L2
    posted = [(await post(store, alice)).id for _ in range(30)][::-1]
    shown = {page: (await ask(PAGE, page=page))["data"]["articles"] for page in (1, 2, 3)}

    assert [node["id"] for node in shown[1]["nodes"]] == posted[:25]
    assert [node["id"] for node in shown[2]["nodes"]] == posted[25:]
    assert shown[3]["nodes"] == []
    assert [shown[page]["pageInfo"]["hasNextPage"] for page in (1, 2, 3)] == [True, False, False]
    assert [shown[page]["pageInfo"]["hasPreviousPage"] for page in (1, 2, 3)] == [False, True, True]


async def test_listing_without_articles_is_empty(ask):  # L4, G6
    for group in (None, "unknown"):
        answer = await ask(PAGE, group=group)
        assert answer["data"]["articles"] == {
            "totalCount": 0,
            "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None},
            "edges": [],
            "nodes": [],
        }


@pytest.mark.parametrize("policy", [Policy(good_votes=1)])
async def test_front_page_has_fifty_good_articles(store, ask, alice):  # L6
    posted = [(await post(store, alice)).id for _ in range(51)][::-1]
    query = "query($date: Date) { frontPage(date: $date) { totalCount nodes { id } pageInfo { hasNextPage } } }"
    front = (await ask(query))["data"]["frontPage"]
    day = (await ask(query, date="2016-08-04"))["data"]["frontPage"]
    other = (await ask(query, date="2016-08-05"))["data"]["frontPage"]

    assert [node["id"] for node in front["nodes"]] == posted[:50]
    assert front == day == {"totalCount": 51, "nodes": front["nodes"], "pageInfo": {"hasNextPage": True}}
    assert other == {"totalCount": 0, "nodes": [], "pageInfo": {"hasNextPage": False}}


async def test_nodes_are_found_by_their_ids(store, ask, alice):
    posted = await post(store, alice, groups=["show"])
    ids = ["group:SHOW", posted.id, "user:ALICE", "article:5", "user:nobody", posted.id]
    answer = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", ids=ids)

    article = {"__typename": "Article", "id": posted.id}
    group, user = {"__typename": "Group", "id": "group:show"}, {"__typename": "User", "id": "user:alice"}
    assert answer["data"]["nodes"] == [group, article, user, None, None, article]
    assert answer["extensions"]["stats"]["roundTrips"] == 1
    assert (await ask('{ node(id: "user:alice") { id } }'))["data"]["node"] == {"id": "user:alice"}


async def test_groups_are_listed_by_name(store, ask, alice, bob):
    await post(store, alice, groups=["show", "ask"])
    await post(store, bob, groups=["show", "video"])
    query = """query($first: Int, $after: String, $last: Int, $before: String) {
      groups(first: $first, after: $after, last: $last, before: $before) {
        totalCount pageInfo { hasNextPage hasPreviousPage endCursor } nodes { name } } }"""
    first = (await ask(query, first=2))["data"]["groups"]
    rest = (await ask(query, after=first["pageInfo"]["endCursor"]))["data"]["groups"]
    back = (await ask(query, last=1, before=first["pageInfo"]["endCursor"]))["data"]["groups"]

    assert [node["name"] for node in first["nodes"] + rest["nodes"] + back["nodes"]] == ["ask", "show", "video", "ask"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]) == (3, True, False)
    assert (rest["pageInfo"]["hasPreviousPage"], back["pageInfo"]["hasNextPage"]) == (True, True)


async def test_articles_of_a_user_are_listed_newest_first(store, ask, alice, bob):  # F3
    posted = [(await post(store, poster)).id for poster in (alice, bob, alice)]
    answer = await ask('{ user(username: "ALICE") { articles { totalCount nodes { id } } } }')

    assert answer["data"]["user"]["articles"] == {"totalCount": 2, "nodes": [{"id": posted[2]}, {"id": posted[0]}]}


async def test_viewer_is_the_user_of_the_token(ask, token):
    assert (await ask("{ viewer { username } }", token))["data"]["viewer"] == {"username": "vera"}
    assert (await ask("{ viewer { username } }"))["data"]["viewer"] is None
    assert (await ask("{ viewer { username } }", "A" * 46))["data"]["viewer"] is None


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{ articles(first: 0) { totalCount } }", "first is 1 to 100, not 0"),
        ("{ articles(first: 101) { totalCount } }", "first is 1 to 100, not 101"),
        ("{ articles(last: -1) { totalCount } }", "last is 1 to 100, not -1"),
        ("{ articles(first: 1, last: 1) { totalCount } }", "first and last exclude each other"),
        ('{ articles(last: 1, after: "x") { totalCount } }', "after goes with first; last goes with before"),
        ('{ articles(before: "x") { totalCount } }', "before goes with last"),
        ("{ articles(page: 0) { totalCount } }", "page counts from 1, not 0"),
        ('{ articles(page: 1, after: "x") { totalCount } }', "page excludes after, before and last"),
        ('{ articles(after: "") { totalCount } }', "this cursor belongs to another listing"),
        ('{ articles(after: "\\u00e4") { totalCount } }', "this is not a valid cursor"),
        ('{ articles(after: "c2NvcmU") { totalCount } }', "this is not a valid cursor"),  # score
        ('{ articles(after: "c2NvcmV8bmFufDE") { totalCount } }', "this is not a valid cursor"),  # score|nan|1
        (f'{{ articles(after: "{LONG_CURSOR}") {{ totalCount }} }}', "this is not a valid cursor"),
        (
            '{ articles(order: TIME, after: "c2NvcmV8MS4wfDE") { totalCount } }',  # score|1.0|1
            "this cursor belongs to another listing",
        ),
        ('{ article(id: "1541") { id } }', "an article's id looks like article:1541, not 1541"),
        ('{ article(id: "article:99999999999999999") { id } }', "an article's id looks like article:1541"),
        ('{ article(id: "article:\u0661") { id } }', "an article's id looks like article:1541"),
        ('{ node(id: "story:1") { id } }', "this is not a valid id: story:1"),
        ('{ nodes(ids: ["group:a b"]) { id } }', "this is not a valid id: group:a b"),
        ('{ frontPage(date: "2016-13-01") { totalCount } }', None),
        ('{ frontPage(date: "2016") { totalCount } }', None),
        ('{ frontPage(date: "2016-W31-4") { totalCount } }', None),
        ('{ articles(order: VOTES, since: "2016-W31-4T12:00:00Z") { totalCount } }', None),
        ('{ articles(order: VOTES, since: "2016-08-04T12:00Z") { totalCount } }', None),
        ('{ articles(order: VOTES, since: "2016-08-04T12:00:00") { totalCount } }', None),
        ('{ articles(order: VOTES, since: "2016-08-04t12:00:00z") { totalCount } }', None),
        ('{ articles(order: VOTES, since: "2016-08-04T25:00:00Z") { totalCount } }', None),
        ("{ articles(first: 5000000000) { totalCount } }", None),
        ('{ articles(first: "1") { totalCount } }', None),
    ],
)
async def test_bad_input_has_a_message_and_a_path(ask, query, message):  # L2
    answer = await ask(query)

    (error,) = answer["errors"]
    assert message is None or error["message"].startswith(message)
    assert ("path" in error) == (message is not None)  # what GraphQL itself refuses has no path
    assert error["extensions"]["code"] in ("BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED")
    assert "Traceback" not in str(answer) and "redis" not in str(answer).lower()


async def test_malformed_id_among_others_has_its_own_error(store, ask, alice):
    posted = await post(store, alice)
    ids = [posted.id, "foo", "user:nobody", "user:a b", "article:0", "user:alice", "foo", "feed:alice"]
    for _ in range(3):  # by graphql-core, then by a plan
        answer = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=ids)

        alice_id = {"id": "user:alice"}
        assert answer["data"]["nodes"] == [{"id": posted.id}, None, None, None, None, alice_id, None, None]
        assert [(error["path"], error["message"], error["extensions"]["code"]) for error in answer["errors"]] == [
            (["nodes", place], f"this is not a valid id: {ids[place]}", "BAD_USER_INPUT") for place in (1, 3, 4, 6)
        ]


async def test_malformed_names_are_unknown(store, ask, alice):
    await post(store, alice, groups=["show"])
    query = """query($user: String!, $group: String!) {
      user(username: $user) { id } group(name: $group) { id }
      articles(group: $group) { totalCount edges { cursor } }
      hot: articles(order: GRAVITY, group: $group, page: 2) { nodes { id } }
      pinned: articles(group: $group, pinned: true) { nodes { id } }
      all: articles { nodes { standing(group: $group) { rank } } } }"""
    unknown = {
        "user": None,
        "articles": {"totalCount": 0, "edges": []},
        "hot": {"nodes": []},
        "pinned": {"nodes": []},
        "all": {"nodes": [{"standing": None}]},
    }
    for user, group, node in [
        ("nobody", "unknown", {"id": "group:unknown"}),
        ("a b!", "a b!", None),
        ("", "", None),
        ("*", "-", None),
        ("x" * 10_000, "show:time", None),
    ]:
        answer = await ask(query, user=user, group=group)
        assert "errors" not in answer
        assert answer["data"] == unknown | {"group": node}


async def test_more_than_a_hundred_ids_are_refused(ask):
    answer = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=["article:1"] * 101)

    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert answer["errors"][0]["message"] == "at most 100 ids at once, not 101"


async def test_cursor_of_one_user_is_refused_for_another(store, ask, alice, bob):  # L3
    for poster in (alice, bob):
        await post(store, poster)
    query = """query($name: String!, $after: String) {
      user(username: $name) { articles(after: $after) { edges { cursor } } } }"""
    cursor = (await ask(query, name="alice"))["data"]["user"]["articles"]["edges"][0]["cursor"]

    answer = await ask(query, name="bob", after=cursor)
    assert answer["errors"][0]["message"] == "this cursor belongs to another listing"
