"""
The front page as HTML. Browsers show it until the reader's script has its data, and where no scripts run.

It has the elements, classes and texts of the reader's own front page (`reader/src/pages/FrontPage.tsx`), so nothing
moves when the script takes over. tests/reader/test_first_paint.py compares both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from server import documents
from server.reader.frames import render_page, shown_orders
from server.reader.lines import ARTICLE_LINE
from server.reader.translations import words_of
from server.site_orders import ShownOrders
from server.words.words import Words

ARTICLES_PER_PAGE = 30
PAGE_NUMBER = re.compile("[1-9][0-9]{0,4}")
# lists beside the orders: the names of their texts, by their paths
LISTS = {"top/day": "list-day", "top/week": "list-week", "top/month": "list-month", "good": "list-good"}

ARTICLES = f"""query FrontPageArticles($order: ArticleOrder!, $page: Int!) {{
  articles(order: $order, page: $page, first: {ARTICLES_PER_PAGE}) {{
    pageInfo {{ hasNextPage }}
    nodes {{ {ARTICLE_LINE} }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """
    A page of the articles in one order. `orders` are those that the store keeps, as pages list them; the number of the
    first page is 1.
    """

    orders: ShownOrders
    order: str
    page: int = 1

    def title(self, words: Words) -> str:
        return self.title_of_page(words, words(f"order-{self.order.lower()}-title"))

    def title_of_page(self, words: Words, title: str) -> str:
        return title if self.page == 1 else words("title-of-page", title=title, page=str(self.page))

    def is_beyond(self, articles: Mapping[str, Any]) -> bool:
        """Whether it is after the last page: then it has no articles, and is not for search engines."""
        return self.page > 1 and not articles["nodes"]

    @property
    def query(self) -> str:
        """The query of its address, which has neither the order of the front page nor the number of the first page."""
        order = {} if self.order == self.orders.front else {"order": self.order}
        page = {} if self.page == 1 else {"page": self.page}
        return f"?{urlencode(order | page)}" if order or page else ""

    def address(self, order: str, page: int = 1) -> str:
        """The address of another order or page, relative to the base of the page."""
        return Ranking(self.orders, order, page).query or "./"


def ranking_of(request: Request) -> Ranking | None:
    """The ranking that an address names; None if there is no such order or page number."""
    shown = shown_orders(request)
    order = request.query_params.get("order", shown.front)
    page = request.query_params.get("page", "1")
    return Ranking(shown, order, int(page)) if order in shown.names and PAGE_NUMBER.fullmatch(page) else None


def address_without_front_order(request: Request) -> str | None:
    """
    The relative address of the same page of `/` without its order. None unless the request names exactly the order that
    `/` has anyway.
    """
    if request.query_params.getlist("order") != [shown_orders(request).front]:
        return None
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "order"]
    return f"./?{urlencode(rest)}" if rest else "./"


async def read_front_page(request: Request, ranking: Ranking) -> Mapping[str, Any]:
    """
    The articles of the page. One query reads them, without the session of the request.

    Raises:
        HTTPException: what `documents.query` raises.
    """
    found = await documents.query(request, ARTICLES, {"order": ranking.order, "page": ranking.page})
    articles: Mapping[str, Any] = found["articles"]
    return articles


def front_page(request: Request, ranking: Ranking, articles: Mapping[str, Any]) -> str:
    """The header and the content of the page."""
    words = words_of(request)
    return render_page(
        request,
        "front_page.html",
        title=ranking.title(words),
        empty=words("no-articles"),
        **order_tabs(words, ranking.orders, ranking.order),
        others=lists(words, ranking.orders),
        articles=articles["nodes"],
        first=1 + (ranking.page - 1) * ARTICLES_PER_PAGE,
        is_explained=True,
        previous=ranking.address(ranking.order, ranking.page - 1) if ranking.page > 1 else "",
        next=ranking.address(ranking.order, ranking.page + 1) if articles["pageInfo"]["hasNextPage"] else "",
    )


class OrderLink(NamedTuple):
    """A link to an order, a sentence on `what` it ranks by, and whether the page is in this order."""

    address: str
    name: str
    what: str
    is_current: bool


class ListLink(NamedTuple):
    """The name of a list, and its title, which the link shows when it is pointed at."""

    name: str
    title: str


def order_tabs(words: Words, orders: ShownOrders, current: str | None, path: str = "") -> dict[str, list[OrderLink]]:
    """
    The links to the orders of a path that its page shows, and to those below "More". `current` is the order that the
    page is in, None for a list that is in none of them.
    """

    def link(order: str) -> OrderLink:
        name, what = (words(f"order-{order.lower()}{part}") for part in ("", "-what"))
        address = f"{path}{Ranking(orders, order).query}" or "./"
        return OrderLink(address, name, what, order == current)

    return {
        "orders": [link(order) for order in orders.shown],
        "more": [link(order) for order in orders.rest],
    }


def lists(words: Words, orders: ShownOrders) -> Mapping[str, ListLink]:
    """The name and the title of each list of the store, by its path: the top of a period needs its votes."""
    return {
        path: ListLink(words(name), words(f"{name}-title"))
        for path, name in LISTS.items()
        if "VOTES" in orders.names or not path.startswith("top/")
    }
