"""
The round trips of operations to Redis, counted by a proxy and compared with those that answers report. The store caches
nothing. A user's records and sessions are in one partition of it.

The fixture `token` is a session token of the user vera. Codes such as L7 name rows of docs/behaviours.md.
"""

import random
from collections.abc import AsyncIterator

import pytest

from bench.conversations import like_hacker_news
from store import flags, roles
from store.flags import FlagReason
from store.moderation_records import Role
from store.ranking.formulas import Policy
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.proxy import Proxy, counting
from tests.store.discussions import commented
from tests.store.reading import post

PAGE = """query($first: Int) { articles(first: $first) {
  totalCount pageInfo { hasNextPage endCursor }
  edges { cursor node {
    id title votes score viewerVote isGood poster { id username karma joinedAt } groups { id name } } }
} }"""
THREAD = """query($id: ID!, $first: Int, $under: ID) { article(id: $id) { commentCount
thread(first: $first, under: $under) {
  totalCount pageInfo { hasNextPage endCursor }
  edges { cursor hiddenReplyCount node {
    id content state depth votes viewerVote isVotingOpen replyCount poster { username } parent { id } article { id } } }
} } }"""
SIBLINGS = """query($id: ID!) { article(id: $id) { comments(first: 100, order: VOTES) { totalCount nodes {
  content viewerVote poster { username } replyCount } } } }"""
VOTE = """mutation($id: ID!) { vote(input: {articleId: $id}) {
  article { votes score viewerVote } query { viewer { id } } } }"""
POST = """mutation { post(input: {title: "a title", link: "https://example.com/", groups: ["show"]}) {
  article { id votes viewerVote poster { username } groups { name } } } }"""

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.fixture
async def proxy(redis_url, tmp_path) -> AsyncIterator[Proxy]:
    async with counting(redis_url, tmp_path / "proxy.sock") as proxy:
        yield proxy


@pytest.fixture
async def store(proxy, partitions, clock) -> AsyncIterator[Store]:
    store = await Store.open(proxy.url, Policy(), partitions, clock=clock, cached_keys=0)
    yield store
    await store.close()


async def cost(ask, proxy, query, token=None, **variables):
    """
    The round trips and commands of an operation once connections are open and scripts are loaded: it is sent twice,
    and the second time counts.
    """
    await ask(query, token, **variables)
    before = proxy.round_trips
    answer = await ask(query, token, **variables)
    assert "errors" not in answer
    assert answer["extensions"]["stats"]["roundTrips"] == proxy.round_trips - before
    return answer["extensions"]["stats"]


@pytest.mark.parametrize("size", [1, 25, 100])
async def test_page_costs_three_round_trips_whatever_its_size(store, proxy, ask, alice, bob, token, size):  # L7
    for poster in (alice, bob) * 55:
        posted = await post(store, poster, groups=["show", "ask"])
        await store.articles.vote(posted.number, "vera", Vote.UP)

    stats = await cost(ask, proxy, PAGE, token, first=size)
    nobodys = await cost(ask, proxy, PAGE, first=size)

    users = min(2, size)
    reads_of_votes = users if store.site.partitions > 1 else 1  # one read for the viewer's votes in each partition
    read_of_session = 1
    reads = store.site.partitions + read_of_session + size + reads_of_votes + users
    assert stats == {"roundTrips": 3, "commands": reads}
    assert nobodys == {"roundTrips": 3, "commands": store.site.partitions + size + users}


async def test_page_with_standings_costs_three_round_trips(store, proxy, ask, alice, bob, token):
    for poster in (alice, bob) * 15:
        await post(store, poster, groups=["show"])

    query = """{ articles(order: GRAVITY) { nodes { viewerVote poster { karma } a: standing(order: GRAVITY) { rank }
      b: standing(order: SCORE, group: "show") { rank votesToNextRank terms { value } } } } }"""
    assert (await cost(ask, proxy, query, token))["roundTrips"] == 3


async def test_flags_of_the_viewer_cost_a_command_each_on_a_page(store, proxy, ask, alice, token):
    for _ in range(30):
        posted = await post(store, alice)
        await flags.flag(store.site, "vera", "article", posted.number, FlagReason.SPAM)

    without, own = [
        await cost(ask, proxy, f"{{ articles {{ nodes {{ title {each} }} }} }}", token)
        for each in ("poster { username } viewerVote", "viewerVote viewerFlag { reason }")
    ]
    anonymous = await cost(ask, proxy, "{ articles { nodes { viewerFlag { reason } } } }")
    assert own == without | {"commands": without["commands"] + 25}
    assert anonymous["roundTrips"] == 2


async def test_flags_for_moderators_cost_one_round_trip_for_a_page(store, proxy, ask, alice, token):
    query = "{ articles { nodes { title viewerVote flagReasons flags { by { username } } } } }"
    for _ in range(30):
        posted = await post(store, alice)
        await flags.flag(store.site, "vera", "article", posted.number, FlagReason.SPAM)

    nobody, member = await cost(ask, proxy, query), await cost(ask, proxy, query, token)
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group=None, reason="helps")
    moderator = await cost(ask, proxy, query, token)
    assert [each["roundTrips"] for each in (nobody, member, moderator)] == [2, 3, 4]


async def test_page_of_a_thread_costs_three_round_trips_with_its_article(store, proxy, ask, alice, bob, token):  # C11
    """The article, the places, and the comments with the votes of the viewer, whatever the size of the thread."""
    article, chance, made = await post(store, alice), random.Random(1), []
    for size in (110, 600):
        for parent in like_hacker_news(size, chance)[len(made) :]:
            made.append(await commented(store, article.number, bob, None if parent is None else made[parent]))
        whole, siblings = [
            await cost(ask, proxy, query, token, id=article.id, first=100) for query in (THREAD, SIBLINGS)
        ]
        branch = await cost(ask, proxy, THREAD, token, id=article.id, first=100, under=made[0].id)
        assert [each["roundTrips"] for each in (whole, siblings, branch)] == [3, 3, 3]


async def test_threads_of_several_articles_are_read_together(store, proxy, ask, alice, bob, token):
    for _ in range(3):
        await commented(store, (await post(store, alice)).number, bob)

    query = "{ articles { nodes { thread { nodes { viewerVote descendantCount ancestors { id } } } } } }"
    assert (await cost(ask, proxy, query, token))["roundTrips"] == 5


async def test_vote_and_its_article_cost_one_round_trip(store, proxy, ask, alice, token):  # V9
    posted = await post(store, alice)
    stats = await cost(ask, proxy, VOTE, token, id=posted.id)

    are_together = store.site.partition_of_user("alice") == store.site.partition_of_user("vera")
    assert stats == ({"roundTrips": 1, "commands": 1} if are_together else {"roundTrips": 2, "commands": 2})


async def test_post_and_its_article_cost_one_round_trip(proxy, ask, token, clock):  # A3, A7
    replay = await cost(ask, proxy, POST, token)  # which reads the vote of its viewer
    clock.advance(11)  # later than a double click, whose second answer is a replay
    posted = await ask(POST, token)

    assert posted["extensions"]["stats"] == {"roundTrips": 1, "commands": 1}
    assert replay == {"roundTrips": 2, "commands": 2}


async def test_each_record_is_read_once(store, proxy, ask, alice, token):
    posted = await post(store, alice)
    twice = """query($id: ID!) {
      a: article(id: $id) { title viewerVote }
      b: node(id: $id) { ... on Article { votes viewerVote } }
      c: nodes(ids: [$id, $id]) { id } }"""

    stats = await cost(ask, proxy, twice, token, id=posted.id)
    assert stats == {"roundTrips": 2, "commands": 3}  # of the session, the article, and the viewer's vote


async def test_count_of_a_feed_costs_one_round_trip_more_than_its_page(store, proxy, ask, alice, token):
    """The posters of the feed are read with the page."""
    await post(store, alice)
    await store.follows.follow("vera", alice)
    page, counted = "{ feed { articles { nodes { title } } } }", "{ feed { articles { totalCount nodes { title } } } }"

    alone = await cost(ask, proxy, page, token)
    assert (await cost(ask, proxy, counted, token))["roundTrips"] == alone["roundTrips"] + 1
