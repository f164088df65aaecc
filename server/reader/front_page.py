"""
The front page as HTML. Browsers show it until the reader's script has its data, and where no scripts run.

It has the elements, classes and texts of the reader's own front page (`reader/src/pages/FrontPage.tsx`), so nothing
moves when the script takes over. tests/reader/test_first_paint.py compares both.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from server import documents
from server.reader.frames import render_page
from server.reader.lines import ARTICLE_LINE
from server.syndication import orders

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

ARTICLES = f"""query FrontPageArticles($order: ArticleOrder!, $page: Int!) {{
  articles(order: $order, page: $page, first: {PAGE_SIZE}) {{
    pageInfo {{ hasNextPage }}
    nodes {{ {ARTICLE_LINE} }}
  }}
}}"""


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

    def address(self, order: str, page: int = 1) -> str:
        """The address of another order or page, relative to the base of the page."""
        return Ranking(self.kept, order, page).query or "./"


def ranking_of(request: Request) -> Ranking | None:
    """The ranking that an address names; None if there is no such order or page number."""
    kept = kept_orders(request)
    order = request.query_params.get("order", kept[0])
    page = request.query_params.get("page", "1")
    return Ranking(kept, order, int(page)) if order in kept and PAGE_NUMBER.fullmatch(page) else None


def kept_orders(request: Request) -> list[str]:
    """The orders by which the store ranks articles, in the order of their links on the page."""
    kept = orders(request)
    return [order for order in ORDERS if order in kept]


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
        ranking=ranking,
        orders=order_links(ranking),
        others=lists(ranking),
        articles=articles["nodes"],
        first=1 + (ranking.page - 1) * PAGE_SIZE,
        previous=ranking.address(ranking.order, ranking.page - 1) if ranking.page > 1 else "",
        next=ranking.address(ranking.order, ranking.page + 1) if articles["pageInfo"]["hasNextPage"] else "",
    )


def order_links(ranking: Ranking) -> list[tuple[str, str, bool]]:
    """The address and the name of each order of the store, and whether it is the one that is shown."""
    return [(ranking.address(order), ORDERS[order][0], order == ranking.order) for order in ranking.kept]


def lists(ranking: Ranking) -> Mapping[str, tuple[str, str]]:
    """The lists of the store: the top of a period needs its votes."""
    return {path: names for path, names in LISTS.items() if "VOTES" in ranking.kept or not path.startswith("top/")}
