"""
The front page as HTML. Browsers show it until the reader's script has its data, and where no scripts run.

It has the elements, classes and texts of the reader's own front page (`reader/src/pages/FrontPage.tsx`), so nothing
moves when the script takes over. tests/reader/test_first_paint.py compares both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request

from server import documents
from server.syndication import orders
from store.links import web_address

PAGE_SIZE = 30  # articles
PAGE_NUMBER = re.compile("[1-9][0-9]{0,4}")
ORDERS = {  # the names of their links, and the titles of their pages; the first that a store keeps is its default
    "SCORE": ("Score", "Top articles"),
    "TIME": ("New", "New articles"),
    "HOT": ("Hot", "Hot articles"),
    "GRAVITY": ("Gravity", "Articles by gravity"),
    "ACTIVE": ("Active", "Active articles"),
    "BEST": ("Best", "Best articles"),
    "VOTES": ("Votes", "Articles with most votes"),
    "CONTROVERSIAL": ("Controversial", "Controversial articles"),
}
LISTS = {  # by their paths
    "top/day": ("Day", "Top of the day"),
    "top/week": ("Week", "Top of the week"),
    "top/month": ("Month", "Top of the month"),
    "good": ("Good", "Good articles"),
}
PAGES = {"groups": "Groups", "feed": "Feed", "post": "Post"}
UNITS = {"year": 365 * 86_400, "month": 30 * 86_400, "day": 86_400, "hour": 3_600, "minute": 60}  # seconds
NO_ARTICLES = '<p class="empty">There are no articles here yet.</p>'
UP, DOWN = "M8 3.5l6 8.5H2z", "M8 12.5l6-8.5H2z"

ARTICLES = f"""query FrontPageArticles($order: ArticleOrder!, $page: Int!) {{
  articles(order: $order, page: $page, first: {PAGE_SIZE}) {{
    pageInfo {{ hasNextPage }}
    nodes {{ id title link votes commentCount postedAt poster {{ username }} groups {{ name }} }}
  }}
}}"""

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of a ranking. `kept` are the orders of the store; the number of the first page is 1."""

    kept: Sequence[str]
    order: str
    page: int = 1

    @property
    def title(self) -> str:
        title = ORDERS[self.order][1]
        return title if self.page == 1 else f"{title}, page {self.page}"

    @property
    def is_default(self) -> bool:
        return self.order == self.kept[0]

    @property
    def named_order(self) -> str:
        """The order that its address and its feeds name; "" for the default one."""
        return "" if self.is_default else self.order

    @property
    def query(self) -> str:
        """The query of its address, which has neither the default order nor the number of the first page."""
        order = {"order": self.named_order} if self.named_order else {}
        page = {} if self.page == 1 else {"page": self.page}
        return f"?{urlencode(order | page)}" if order or page else ""


def ranking_of(request: Request) -> Ranking | None:
    """The ranking that an address names; None if there is no such order or page number."""
    kept = kept_orders(request)
    order = request.query_params.get("order", kept[0])
    page = request.query_params.get("page", "1")
    return Ranking(kept, order, int(page)) if order in kept and PAGE_NUMBER.fullmatch(page) else None


def kept_orders(request: Request) -> list[str]:
    """The orders that the store keeps, as they follow each other on the page."""
    kept = orders(request)
    return [order for order in ORDERS if order in kept]


async def front_page(request: Request, ranking: Ranking) -> str:
    """
    The header and the content of the page. One query reads it, as everybody.

    Raises:
        HTTPException: those of `documents.query`.
    """
    found = await documents.query(request, ARTICLES, {"order": ranking.order, "page": ranking.page})
    articles, now = found["articles"], datetime.now(UTC)
    first = 1 + (ranking.page - 1) * PAGE_SIZE
    lines = [line(rank, node, now) for rank, node in enumerate(articles["nodes"], first)]
    return "".join(
        [
            header(request.app.state.site_name),
            f'<main><h1 class="hidden" dir="auto">{ranking.title}</h1>',
            *lists(ranking),
            f'<ol class="articles">{"".join(lines)}</ol>' if lines else NO_ARTICLES,
            *pager(ranking, articles["pageInfo"]["hasNextPage"]),
            "<noscript><p>Votes and comments need JavaScript.</p></noscript></main>",
        ]
    )


def header(site: str) -> str:
    """Without the search and the account, which need the script."""
    icon = svg("M8 2l7 12H1z")
    links = [f'<a href="{path}">{name}</a>' for path, name in PAGES.items()]
    return (
        f'<header><a href="./" class="site">{icon}{escape(site)}</a>'
        f'<nav aria-label="Site"><a href="./" aria-current="page">Articles</a>{"".join(links)}</nav>'
        '<search></search><div class="account"></div></header>'
    )


def lists(ranking: Ranking) -> Iterator[str]:
    yield '<nav class="lists" aria-label="Lists"><ul class="tabs">'
    for order in ranking.kept:
        current = ' aria-current="page"' if order == ranking.order else ""
        yield f'<li><a href="{address(replace(ranking, order=order, page=1))}"{current}>{ORDERS[order][0]}</a></li>'
    yield '</ul><ul class="tabs">'
    for path, (name, title) in LISTS.items():
        if path.startswith("top/") and "VOTES" not in ranking.kept:
            continue
        yield f'<li><a href="{path}" title="{title}">{name}</a></li>'
    yield "</ul></nav>"


def line(rank: int, article: Node, now: datetime) -> str:
    """An article with its rank, its votes and where it comes from."""
    page = f"article/{article['id'].partition(':')[2]}"
    comments = counted(article["commentCount"], "comment")
    groups = "".join(name_link("group", group["name"]) for group in article["groups"])
    return (
        f'<li><article class="line" data-rank="{rank}" aria-label="{escape(article["title"])}">'
        f'<span class="rank">{rank}</span><h2 dir="auto">{title_link(article, page)}</h2>'
        f'<div class="details">{votes(article["votes"])}{name_link("user", article["poster"]["username"])}'
        f'<time datetime="{article["postedAt"]}">{ago(datetime.fromisoformat(article["postedAt"]), now)}</time>'
        f'<a href="{page}">{comments}</a>{groups}</div></article></li>'
    )


def title_link(article: Node, page: str) -> str:
    title = escape(article["title"])
    link = web_address(article["link"])
    if link is None:
        return f'<a href="{page}">{title}</a>'
    return (
        f'<a href="{escape(link.href)}" rel="nofollow ugc noopener">{title}</a> '
        f'<span class="host" dir="ltr">{escape(link.hostname.removeprefix("www."))}</span>'
    )


def votes(count: int) -> str:
    """The votes between buttons that are disabled until the script is there."""
    up, down = (
        f'<button type="button" class="{name}" aria-label="Vote {name}" disabled>{svg(path)}</button>'
        for name, path in (("up", UP), ("down", DOWN))
    )
    return f'<div class="votes">{up}<span class="count" title="{counted(count, "vote")}">{count}</span>{down}</div>'


def name_link(kind: str, name: str) -> str:
    return f'<a href="{kind}/{quote(name, safe="")}" class="{kind}"><bdi>{escape(name)}</bdi></a>'


def pager(ranking: Ranking, has_next: bool) -> Iterator[str]:
    if ranking.page == 1 and not has_next:
        return
    yield '<nav class="pager" aria-label="Pages">'
    if ranking.page > 1:
        yield f'<a href="{address(replace(ranking, page=ranking.page - 1))}" rel="prev">← Previous</a>'
    if has_next:
        yield f'<a href="{address(replace(ranking, page=ranking.page + 1))}" rel="next">Next →</a>'
    yield "</nav>"


def address(ranking: Ranking) -> str:
    """Relative to the base of the page."""
    return escape(ranking.query) or "./"


def ago(instant: datetime, now: datetime) -> str:
    """The age in words, such as "3 hours ago", and "just now" within the first minute."""
    seconds = int((now - instant).total_seconds())
    for unit, length in UNITS.items():
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def counted(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def svg(path: str) -> str:
    return f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{path}" /></svg>'
