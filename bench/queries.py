"""The GraphQL documents of the comparison, and for each query the requests that the load generator sends in turn."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, pairwise

import orjson

from bench.filling import GROUPS, discuss, gather_crowd
from resolvers import pagination
from store import keys
from store.records import Position
from store.store import Store

VARIED = 300  # different pages
DRAWN = 6_000  # requests for them, where their order is drawn
UNEQUAL = 100  # requests, at least, that `unequal` makes
DISCUSSED = 20  # first articles of the site, which have comments
FIRST_PLACES = 1_000  # first places of a listing, from which cursors and votes are drawn
FIELDS = "id title link votes score postedAt viewerVote poster { id username } groups { id name }"
LISTED = f"edges {{ cursor node {{ {FIELDS} }} }} pageInfo {{ hasNextPage endCursor }}"
NEWEST = "articles(first: 5) { nodes { id title votes } }"

PAGE = f"query Page($after: String) {{ articles(first: 25, after: $after) {{ {LISTED} }} }}"
FALLBACK = f"""query Fallback($after: String) {{
  articles(first: 25, after: $after) {{ {LISTED} }} __type(name: "Article") {{ name }} }}"""
GROUP = f"""query Group($group: String!, $after: String) {{
  articles(group: $group, first: 25, after: $after) {{ {LISTED} }} }}"""
ARTICLE = (
    f"query Article($id: ID!) {{ article(id: $id) {{ {FIELDS} voters(first: 25) {{ nodes {{ id username }} }} }} }}"
)
NESTED = f"""query Nested {{ articles(first: 25) {{ nodes {{ id title votes poster {{ id username {NEWEST} }} }}
  pageInfo {{ hasNextPage endCursor }} }} }}"""
FEED = f"query Feed {{ feed {{ articles(first: 25) {{ {LISTED} }} }} }}"
VOTE = """mutation Vote($input: VoteInput!) { vote(input: $input) {
  changed article { id votes viewerVote } userErrors { message } } }"""
VOTE_ON_COMMENT = """mutation VoteOnComment($input: VoteOnCommentInput!) { voteOnComment(input: $input) {
  changed comment { id votes viewerVote } userErrors { message } } }"""

Request = tuple[str, str]  # the body of a POST, and the token of its viewer


@dataclass(frozen=True, slots=True)
class Ground:
    """
    The data from which requests are made: tokens of the viewers; the first places of the site and of each group by
    score, by the name of the listing (`score`, `group:NAME:score`); numbers of comments on the first articles; and
    tokens of many further viewers.
    """

    tokens: list[str]
    places: dict[str, list[Position]]
    comments: list[int]
    crowd: list[str]


@dataclass(frozen=True, slots=True)
class Query:
    """
    A query that is measured. If it `writes`, each server is measured while no other runs, because all receive the
    events of changes.
    """

    name: str
    requests: Callable[[Ground], list[Request]]
    writes: bool = False


async def ground(store: Store, tokens: list[str]) -> Ground:
    names = ["score", *(f"group:{name}:score" for name in GROUPS)]
    places = {name: await first_places(store, name) for name in names}
    comments = await discuss(store, [place.number for place in places["score"][:DISCUSSED]])
    return Ground(tokens, places, comments, await gather_crowd(store))


async def first_places(store: Store, listing: str) -> list[Position]:
    """The first places of a listing, of all shares of the data. `listing` is `score` or `group:NAME:score`."""
    found: list[Position] = []
    for partition in range(store.site.partitions):
        group = listing.split(":")[1] if ":" in listing else None
        key = keys.group(partition, group, "score") if group else keys.index(partition, "score")
        reply = await store.site.redis.run(("ZRANGE", key, 0, FIRST_PLACES - 1, "REV", "WITHSCORES"))
        found += [Position(float(value), member) for member, value in reply]
    return sorted(found, reverse=True)[:FIRST_PLACES]


def request(document: str, token: str, **variables: object) -> Request:
    return orjson.dumps({"query": document, "variables": variables}).decode(), token


def unequal(requests: list[Request]) -> list[Request]:
    """Requests with a different value of an unused variable each, so that each is executed."""
    repeated = zip(range(max(UNEQUAL, len(requests))), cycle(requests))
    return [(_marked(body, number), token) for number, (body, token) in repeated]


def _marked(body: str, number: int) -> str:
    payload = orjson.loads(body)
    payload["variables"]["unused"] = number
    return orjson.dumps(payload).decode()


def page(ground: Ground) -> list[Request]:
    return [request(PAGE, ground.tokens[0])]


def fallback(ground: Ground) -> list[Request]:
    """The page with a field of introspection, which is not compiled."""
    return [request(FALLBACK, ground.tokens[0])]


def group(ground: Ground) -> list[Request]:
    return [request(GROUP, ground.tokens[0], group=GROUPS[0])]


def article(ground: Ground) -> list[Request]:
    return [request(ARTICLE, ground.tokens[0], id=f"article:{ground.places['score'][0].number}")]


def nested(ground: Ground) -> list[Request]:
    return [request(NESTED, ground.tokens[0])]


def feed(ground: Ground) -> list[Request]:
    return [request(FEED, ground.tokens[0])]


def varied(ground: Ground) -> list[Request]:
    """Pages of the site and of groups, from anywhere in their first places, by many viewers: all in turn."""
    chance = random.Random(2)
    return [varied_page(ground, chance) for _ in range(VARIED)]


def varied_uniform(ground: Ground) -> list[Request]:
    """The pages of `varied`, drawn at random, all equally often."""
    return random.Random(4).choices(varied(ground), k=DRAWN)


def varied_skewed(ground: Ground) -> list[Request]:
    """The pages of `varied`, drawn at random: page number n 1 / n times as often as the first (Zipf)."""
    return random.Random(5).choices(varied(ground), [1 / (place + 1) for place in range(VARIED)], k=DRAWN)


def varied_crowd(ground: Ground) -> list[Request]:
    """Pages as those of `varied`, by 5 000 viewers: hardly one is asked for twice."""
    chance = random.Random(6)
    return [varied_page(ground, chance, ground.crowd) for _ in range(DRAWN)]


def varied_page(ground: Ground, chance: random.Random, tokens: list[str] | None = None) -> Request:
    token = chance.choice(tokens or ground.tokens)
    listing = chance.choice(["score", f"group:{chance.choice(GROUPS)}:score"])
    after = pagination.encode_cursor(listing, chance.choice(unique(ground.places[listing])))
    if listing == "score":
        return request(PAGE, token, after=after)
    return request(GROUP, token, after=after, group=listing.split(":")[1])


def unique(places: list[Position]) -> list[Position]:
    """Places with a unique value: the other servers of the comparison page by value and would skip equal ones."""
    return [place for place, below in pairwise(places) if place.value != below.value] or places


def vote(ground: Ground) -> list[Request]:
    """Upvotes and votes taken back, by all viewers on the first articles; nearly all of them change something."""
    numbers = [place.number for place in ground.places["score"]]
    return votes(VOTE, "articleId", ground.tokens, [f"article:{number}" for number in numbers])


def vote_on_comment(ground: Ground) -> list[Request]:
    """Votes on comments."""
    return votes(VOTE_ON_COMMENT, "commentId", ground.tokens, [f"comment:{number}" for number in ground.comments])


def votes(document: str, field: str, tokens: list[str], ids: list[str]) -> list[Request]:
    """Upvotes by random viewers on random ones of `ids`; then the same votes are taken back, in the same order."""
    chance = random.Random(3)
    pairs = [(chance.choice(tokens), chance.choice(ids)) for _ in range(VARIED)]
    return [
        request(document, token, input={field: id, "value": value}) for value in ("UP", "NONE") for token, id in pairs
    ]


QUERIES = {
    query.name: query
    for query in (
        Query("page", page),
        Query("varied", varied),
        Query("varied-uniform", varied_uniform),
        Query("varied-skewed", varied_skewed),
        Query("varied-crowd", varied_crowd),
        Query("group", group),
        Query("fallback", fallback),
        Query("article", article),
        Query("nested", nested),
        Query("feed", feed),
        Query("vote", vote, writes=True),
        Query("vote-on-comment", vote_on_comment, writes=True),
    )
}
