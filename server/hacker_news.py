"""
A read-only API in the shape of Hacker News' (https://github.com/HackerNews/API), so that its clients can read a site.
An item is an article ("story") or a comment; its kids are the comments that answer it.

Every answer is read through the contract, the public GraphQL schema. Only `updates` also looks into the log of changes
of the store. docs/hacker-news.md says where the answers differ from the original's.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial
from html import escape
from typing import Any, NamedTuple, TypeAlias

import orjson
from starlette.applications import Starlette
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server import documents, markdown_html
from store import log
from store.errors import StoreUnavailable
from store.numbering import HIGHEST_NUMBER
from store.ranking.formulas import Order
from store.records import DELETED as DELETED_USERNAME
from store.records import article_number, comment_number

Item: TypeAlias = dict[str, Any]

PATH = "/hn/v0/"
JSON = "application/json; charset=utf-8"
NUMBER = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)
LIMIT = re.compile(r"[0-9]{1,6}", re.ASCII)
VISIBLE = "VISIBLE"
PAGE = 100  # articles of a page, at most
MAX_KIDS = 500  # comments of a page of a thread, at most
MAX_SUBMITTED = 100  # articles, and comments, of a user
MAX_CHANGED = 100  # items of the log in `updates`
LOG_ENTRIES = 300  # the newest, that are read to find these items


class StoryList(NamedTuple):
    """
    A list of at most `most` stories, of one group or of all (None). They are in the first of `orders` for which the
    store has an index.
    """

    most: int
    group: str | None
    orders: tuple[Order, ...]


BY_RANK = (Order.GRAVITY, Order.HOT, Order.SCORE)
STORIES = {
    "topstories": StoryList(most=500, group=None, orders=BY_RANK),
    "newstories": StoryList(most=500, group=None, orders=(Order.TIME,)),
    "beststories": StoryList(most=500, group=None, orders=(Order.BEST, Order.VOTES, Order.SCORE)),
    "askstories": StoryList(most=200, group="ask", orders=BY_RANK),
    "showstories": StoryList(most=200, group="show", orders=BY_RANK),
}

# An item is an article or a comment, never both: their numbers are of the same sequence. `KIDS` then asks for as many
# comments as `totalCount` says, as the points of a query rise with `first`.
ITEM = """query HackerNewsItem($article: ID!, $comment: ID!) {
  article(id: $article) {
    id title link content postedAt votes commentCount state poster { username }
    kids: comments(first: 1) { totalCount nodes { id } }
  }
  comment(id: $comment) {
    id content postedAt state poster { username } parent { id } article { id }
    kids: replies(first: 1) { totalCount nodes { id } }
  }
}"""

KIDS = """query HackerNewsKids($article: ID!, $under: ID, $first: Int!) {
  article(id: $article) { thread(under: $under, first: $first, maxDepth: 0) { nodes { id } } }
}"""

USER = """query HackerNewsUser($name: String!) {
  user(username: $name) {
    username karma joinedAt about articles(first: 1) { totalCount } comments(first: 1) { totalCount }
  }
}"""

SUBMITTED = """query HackerNewsSubmitted($name: String!, $articles: Int!, $comments: Int!) {
  user(username: $name) {
    articles(first: $articles) { nodes { id } } comments(first: $comments) { nodes { id } }
  }
}"""

LARGEST = """query HackerNewsMaxItem($newest: ArticleOrder!) {
  articles(order: $newest, first: 1) { nodes { id } }
  comments(first: 1) { nodes { id } }
}"""

UPDATES = """query HackerNewsUpdates($newest: ArticleOrder!) {
  articles(order: $newest, first: 20) { nodes { id poster { username } } }
  comments(first: 60) { nodes { id poster { username } } }
}"""

# A comment may have no poster, but an article has one: so the two fields cannot have the same name in a response.
ITEMS = """query HackerNewsItems($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Article { poster { username } } ... on Comment { by: poster { username } } }
}"""


def application(state: State, middleware: Sequence[Middleware]) -> Starlette:
    """The API, which pages of any origin may read: it has no answers that depend on credentials."""
    any_origin = Middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["GET", "HEAD"],
        allow_headers=["*"],
        expose_headers=["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
    )
    lists = [Route(f"{PATH}{name}.json", partial(stories, name)) for name in STORIES]
    routes = [
        *lists,
        Route(f"{PATH}jobstories.json", jobs),
        Route(f"{PATH}item/{{id}}.json", item),
        Route(f"{PATH}user/{{name}}.json", user),
        Route(f"{PATH}maxitem.json", largest_item),
        Route(f"{PATH}updates.json", updates),
    ]
    app = Starlette(routes=routes, middleware=[any_origin, *middleware])
    app.router.redirect_slashes = False  # the address of a redirect would have no prefix of a proxy
    app.state = state
    return app


async def item(request: Request) -> Response:
    """One execution of a query for an item with at most one kid, two for others."""
    id = request.path_params["id"]
    if not NUMBER.fullmatch(id) or int(id) > HIGHEST_NUMBER:
        return answer(request, value=None)
    found = await documents.query(request, ITEM, {"article": f"article:{id}", "comment": f"comment:{id}"})
    article, comment = found["article"], found["comment"]
    if article:
        kids = await _kids(request, article, article["id"])
        return answer(request, await _story(article, kids))
    if comment:
        kids = await _kids(request, comment, comment["article"]["id"], comment["id"])
        return answer(request, await _comment(comment, kids))
    return answer(request, value=None)


async def user(request: Request) -> Response:
    name = request.path_params["name"]
    found = (await documents.query(request, USER, {"name": name}))["user"]
    if found is None:
        return answer(request, value=None)
    articles, comments = found["articles"]["totalCount"], found["comments"]["totalCount"]
    sizes = {"articles": _size(articles, MAX_SUBMITTED), "comments": _size(comments, MAX_SUBMITTED)}
    own = (await documents.query(request, SUBMITTED, {"name": name, **sizes}))["user"] if articles + comments else None
    submitted = [_number(node) for kind in ("articles", "comments") for node in own[kind]["nodes"]] if own else []
    profile: Item = {"id": found["username"], "created": _seconds(found["joinedAt"]), "karma": found["karma"]}
    if found["about"]:
        (profile["about"],) = await markdown_html.render([found["about"]])
    return answer(request, profile | {"submitted": sorted(submitted, reverse=True)})


async def stories(name: str, request: Request) -> Response:
    """The numbers of a list, at most as many as `limitToFirst` says."""
    listed = STORIES[name]
    limit = request.query_params.get("limitToFirst", "")
    count = min(listed.most, int(limit)) if LIMIT.fullmatch(limit) else listed.most
    if not count:
        return answer(request, [])
    pages = -(-count // PAGE)  # rounded up
    variables = {"order": _kept(request, *listed.orders), "group": listed.group, "first": min(count, PAGE)}
    found = await documents.query(request, _listing(pages), variables)
    ids = dict.fromkeys(_number(node) for page in found.values() for node in page["nodes"])
    return answer(request, list(ids)[:count])


async def jobs(request: Request) -> Response:
    return answer(request, [])


async def largest_item(request: Request) -> Response:
    """
    The higher number of the newest story and the newest comment. If the store has no index by TIME, the story is the
    first one of another order.
    """
    found = await documents.query(request, LARGEST, {"newest": _kept(request, Order.TIME)})
    return answer(request, max(map(_number, _nodes(found)), default=0))


async def updates(request: Request) -> Response:
    """
    The newest stories and comments, what else has changed according to the log, and who posted all of them. If the
    store has no index by TIME, the stories are the first ones of another order.
    """
    found = await documents.query(request, UPDATES, {"newest": _kept(request, Order.TIME)})
    nodes = [*_nodes(found), *await _existing(request, await _changed(request))]
    posters = [node.get("poster") or node.get("by") for node in nodes]
    profiles = dict.fromkeys(poster["username"] for poster in posters if poster)
    profiles.pop(DELETED_USERNAME, None)
    return answer(request, {"items": sorted(set(map(_number, nodes)), reverse=True), "profiles": list(profiles)})


def answer(request: Request, value: Any) -> Response:
    """The value as JSON, with line breaks for `print=pretty`."""
    pretty = orjson.OPT_INDENT_2 if request.query_params.get("print") == "pretty" else 0
    return documents.cacheable(request, orjson.dumps(value, option=orjson.OPT_SORT_KEYS | pretty), JSON)


async def _story(article: Item, kids: list[int]) -> Item:
    """An article as a story. Titles are HTML as in the original: `<`, `>` and `&` are escaped."""
    story = await _posted("story", article, kids)
    story["descendants"] = article["commentCount"]
    story |= {"title": escape(article["title"], quote=False), "score": article["votes"]}
    story |= {"url": article["link"]} if article["link"] else {}
    return story


async def _comment(comment: Item, kids: list[int]) -> Item:
    return {**await _posted("comment", comment, kids), "parent": _number(comment["parent"] or comment["article"])}


async def _posted(kind: str, found: Item, kids: list[int]) -> Item:
    """The fields that stories and comments have in common. Those that do not apply are left out, as in the original."""
    posted: Item = {"id": _number(found), "type": kind, "time": _seconds(found["postedAt"])}
    if found["poster"] and found["poster"]["username"] != DELETED_USERNAME:
        posted["by"] = found["poster"]["username"]
    if found["state"] != VISIBLE:
        posted["deleted" if found["state"] == "DELETED" else "dead"] = True
    elif found["content"]:
        (posted["text"],) = await markdown_html.render([markdown_html.excerpt(found["content"])])
    if kids:
        posted["kids"] = kids
    return posted


async def _kids(request: Request, found: Item, article: str, under: str | None = None) -> list[int]:
    """The numbers of the direct answers, best first."""
    count, nodes = found["kids"]["totalCount"], found["kids"]["nodes"]
    if count > 1:
        variables = {"article": article, "under": under, "first": _size(count, MAX_KIDS)}
        above = (await documents.query(request, KIDS, variables))["article"]
        nodes = above["thread"]["nodes"] if above else []  # it may be deleted by now
    return [_number(node) for node in nodes]


async def _changed(request: Request) -> list[str]:
    """
    The ids of the articles and comments in the newest entries of the log, but for private ones, such as flags. Some of
    them may be deleted by now.
    """
    try:
        entries = await log.newest_entries(request.app.state.store.site, LOG_ENTRIES)
    except StoreUnavailable as error:
        raise HTTPException(503, headers=documents.UNAVAILABLE) from error
    subjects = dict.fromkeys(entry.subject for entry in entries if entry.kind not in log.PRIVATE)
    return [id for id in subjects if article_number(id) or comment_number(id)][:MAX_CHANGED]


async def _existing(request: Request, ids: list[str]) -> list[Item]:
    """The articles and comments of some ids that exist. They are read in one query, or in none without ids."""
    nodes = (await documents.query(request, ITEMS, {"ids": ids}))["nodes"] if ids else []
    return [node for node in nodes if node]


@cache
def _listing(pages: int) -> str:
    """A document that reads some pages of a listing at the same instant."""
    parts = [
        f"page{page}: articles(order: $order, group: $group, first: $first, page: {page}) {{ nodes {{ id }} }}"
        for page in range(1, pages + 1)
    ]
    return f"query HackerNewsStories($order: ArticleOrder!, $group: String, $first: Int!) {{ {' '.join(parts)} }}"


def _kept(request: Request, *orders: Order) -> str:
    """The first of some orders that the store has an index for, or else any such order."""
    kept: Sequence[Order] = request.app.state.store.site.rankings.orders
    return next((order for order in orders if order in kept), kept[0]).name


def _nodes(connections: Item) -> list[Item]:
    return [node for connection in connections.values() for node in connection["nodes"]]


def _size(count: int, most: int) -> int:
    """The argument `first` for so many nodes: at least 1, as the contract has no empty pages."""
    return max(1, min(count, most))


def _number(node: Item) -> int:
    return int(node["id"].partition(":")[2])


def _seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
