"""
Lists of the whole site beside its orders: the most votes of a period, and good articles, which have as many votes as
the setting `UPVOTE_GOOD_VOTES` says. They have the elements and texts of `reader/src/pages/TopPage.tsx` and
`GoodPage.tsx`, so that nothing moves when the page's script takes over.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from babel import Locale
from babel.dates import format_date
from starlette.requests import Request

from server import documents
from server.reader.cursors import canonical_of
from server.reader.frames import address, render_page, shown_orders
from server.reader.front_page import ARTICLES_PER_PAGE, LISTS, lists, order_tabs
from server.reader.lines import ARTICLE_LINE
from server.reader.metadata import NOT_FOUND, PageMetadata
from server.reader.translations import words_of
from server.words.words import Words

PERIOD_HOURS = {"day": 24, "week": 7 * 24, "month": 30 * 24}
TOP = f"""query TopHtml($since: DateTime!, $after: String) {{
  articles(order: VOTES, since: $since, first: {ARTICLES_PER_PAGE}, after: $after) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ {ARTICLE_LINE} }}
  }}
}}"""
GOOD = f"""query GoodHtml($date: Date, $after: String) {{
  frontPage(date: $date, after: $after) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ {ARTICLE_LINE} }}
  }}
}}"""


async def top(request: Request, period: str) -> PageMetadata:
    """
    The page of a period. Its address may name the start of the period (`since`), the cursor of the article before the
    page (`after`) and the rank of its first article (`from`). One query reads it.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    if not has_period(shown_orders(request).names, period):
        return NOT_FOUND
    path, given = f"top/{period}", request.query_params
    since, after, place = since_of(period, given.get("since")), given.get("after"), _place(given.get("from"))
    articles = (await documents.query(request, TOP, {"since": since, "after": after}))["articles"]
    info, title = articles["pageInfo"], words_of(request)(f"{LISTS[path]}-title")
    following = {"since": since, "after": info["endCursor"], "from": place + ARTICLES_PER_PAGE}
    content = _list_page(
        request,
        "site_list.html",
        title=title,
        empty=words_of(request)(f"{LISTS[path]}-empty"),
        articles=articles["nodes"],
        first=place,
        previous="" if after is None else path,
        next=address(path, following) if info["hasNextPage"] else "",
    )
    return PageMetadata(title, path=canonical_of(request, path), content=content)


async def good(request: Request) -> PageMetadata:
    """
    The articles with enough votes, newest first: all, or only of the day that the address names. One query reads them.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    day, after = request.query_params.get("date"), request.query_params.get("after")
    if day is not None and not _is_day(day):
        return NOT_FOUND
    articles = (await documents.query(request, GOOD, {"date": day, "after": after}))["frontPage"]
    info, words = articles["pageInfo"], words_of(request)
    title = words("list-good-of-day", day=_full_day(words, day)) if day else words("list-good-title")
    content = _list_page(
        request,
        "good.html",
        title=title,
        day=day or "",
        today=datetime.now(UTC).date().isoformat(),
        empty=words("list-good-empty"),
        first=0,  # no ranks
        articles=articles["nodes"],
        previous="" if after is None else address("good", {"date": day}),
        next=address("good", {"date": day, "after": info["endCursor"]}) if info["hasNextPage"] else "",
    )
    return PageMetadata(title, path=canonical_of(request, address("good", {"date": day})), content=content)


def has_period(kept: Sequence[str], period: str) -> bool:
    """Whether there is a list with the most votes of a period, such as `week`: the store must keep the order."""
    return "VOTES" in kept and period in PERIOD_HOURS


def since_of(period: str, given: str | None) -> str:
    """The start of a period, by the hour, as `reader/src/periods.ts` has it; `given` is that of an earlier page."""
    try:
        start = datetime.fromisoformat(given or "").astimezone(UTC)
    except (ValueError, OverflowError):
        start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=PERIOD_HOURS[period])
    return start.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _list_page(request: Request, template: str, **values: object) -> str:
    orders, words = shown_orders(request), words_of(request)
    tabs = order_tabs(words, orders, current=None)
    return render_page(request, template, others=lists(words, orders), is_explained=False, **tabs, **values)


def _place(text: str | None) -> int:
    """The rank of the first article of a page."""
    return max(1, int(text)) if text and text.isdecimal() and len(text) < 10 else 1


def _full_day(words: Words, day: str) -> str:
    """A day such as 2016-08-04 in the words of a language, as `fullDay` of `reader/src/times.ts` writes it."""
    return format_date(date.fromisoformat(day), "long", Locale.parse(words.language, sep="-"))


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
