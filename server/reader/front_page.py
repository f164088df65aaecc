"""
The front page as HTML. Browsers show it until the reader's script has its data, and where no scripts run.

It has the elements, classes and texts of the reader's own front page (`reader/src/pages/FrontPage.tsx`), so nothing
moves when the script takes over. tests/reader/test_first_paint.py compares both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from server import documents
from server.reader.frames import render_page
from server.reader.lines import ARTICLE_LINE
from server.site_orders import ShownOrders, SiteOrders
from server.syndication import orders

PAGE_SIZE = 30  # articles
PAGE_NUMBER = re.compile("[1-9][0-9]{0,4}")
ORDERS = {  # the names of their links, the titles of their pages, and what they are
    "SCORE": ("Score", "Top articles", "What is new and has votes; each vote counts the same."),
    "TIME": ("New", "New articles", "The newest first."),
    "HOT": ("Hot", "Hot articles", "What is new and has votes; the first votes count most."),
    "GRAVITY": ("Gravity", "Articles by gravity", "Votes for their age; everything sinks with time."),
    "ACTIVE": ("Active", "Active articles", "What somebody has just commented on."),
    "BEST": ("Best", "Best articles", "What nearly everybody votes up, of any age."),
    "VOTES": ("Votes", "Articles with most votes", "The most votes of all time."),
    "CONTROVERSIAL": ("Controversial", "Controversial articles", "Many votes, as many down as up."),
}
LISTS = {  # by their paths
    "top/day": ("Day", "Top of the day"),
    "top/week": ("Week", "Top of the week"),
    "top/month": ("Month", "Top of the month"),
    "good": ("Good", "Good articles"),
}

ARTICLES = f"""query FrontPageArticles($order: ArticleOrder!, $page: Int!) {{
  articles(order: $order, page: $page, first: {PAGE_SIZE}) {{
    pageInfo {{ hasNextPage }}
    nodes {{ {ARTICLE_LINE} }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of a ranking. `orders` are those of the store; the number of the first page is 1."""

    orders: ShownOrders
    order: str
    page: int = 1

    @property
    def title(self) -> str:
        title = ORDERS[self.order][1]
        return title if self.page == 1 else f"{title}, page {self.page}"

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


def shown_orders(request: Request) -> ShownOrders:
    """The orders by which the store ranks articles, as pages list them."""
    choice: SiteOrders = request.app.state.orders_of_pages
    return choice.of(orders(request))


def address_without_front_order(request: Request) -> str | None:
    """The relative address of the same page of `/`, if that of the request names the order that `/` has anyway."""
    if request.query_params.getlist("order") != [shown_orders(request).front]:
        return None
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "order"]
    return f"./?{urlencode(rest)}" if rest else "./"


async def front_page(request: Request, ranking: Ranking) -> str:
    """
    The header and the content of the page. One query reads it, as everybody.

    Raises:
        HTTPException: those of `documents.query`.
    """
    found = await documents.query(request, ARTICLES, {"order": ranking.order, "page": ranking.page})
    articles = found["articles"]
    return render_page(
        request,
        "front_page.html",
        title=ranking.title,
        empty="There are no articles here yet.",
        **order_tabs(ranking),
        others=lists(ranking),
        articles=articles["nodes"],
        first=1 + (ranking.page - 1) * PAGE_SIZE,
        previous=ranking.address(ranking.order, ranking.page - 1) if ranking.page > 1 else "",
        next=ranking.address(ranking.order, ranking.page + 1) if articles["pageInfo"]["hasNextPage"] else "",
    )


OrderLink = tuple[str, str, str, bool]  # the address and the name of an order, what it is, and if the page is by it


def order_tabs(ranking: Ranking, path: str = "") -> dict[str, list[OrderLink]]:
    """The links to the orders of a path that its page shows, and to those below "More"."""

    def link(order: str) -> OrderLink:
        name, _, what = ORDERS[order]
        return f"{path}{Ranking(ranking.orders, order).query}" or "./", name, what, order == ranking.order

    return {
        "orders": [link(order) for order in ranking.orders.shown],
        "more": [link(order) for order in ranking.orders.rest],
    }


def lists(ranking: Ranking) -> Mapping[str, tuple[str, str]]:
    """The lists of the store: the top of a period needs its votes."""
    return {
        path: names for path, names in LISTS.items() if "VOTES" in ranking.orders.names or not path.startswith("top/")
    }
