"""
The page of a group in one of its orders, or with the most votes of a period, and the list of groups. They have the
elements and texts of `reader/src/pages/GroupPage.tsx` and `GroupsPage.tsx`, so that nothing moves when the script of
the page takes over.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from starlette.requests import Request

from server import documents
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, canonical_of, neighbours, page_of
from server.reader.frames import address, render_page
from server.reader.front_page import ARTICLES_PER_PAGE, Ranking, order_tabs, ranking_of
from server.reader.lines import ARTICLE_LINE
from server.reader.metadata import NOT_FOUND, PageMetadata
from server.reader.rendering import anchor, segment
from server.reader.texts import render_texts
from server.reader.top_lists import PERIOD_HOURS, has_period, since_of
from server.reader.translations import words_of
from server.words.words import Words

MOST_GROUPS = 100  # of a page of the list
EXISTENCE = "title about isListed all: articles(first: 1) { totalCount }"  # what `exists` needs
GROUP = f"""query GroupHtml($name: String!, $order: ArticleOrder!, $since: DateTime, $page: Int!) {{
  group(name: $name) {{
    name followerCount
    articles(order: $order, since: $since, page: $page, first: {ARTICLES_PER_PAGE}) {{
      totalCount pageInfo {{ hasNextPage }} nodes {{ {ARTICLE_LINE} }}
    }}
    {EXISTENCE}
  }}
}}"""
GROUPS = f"""query GroupsHtml({VARIABLES}) {{
  groups({ARGUMENTS}) {{
    {PAGE_INFO}
    nodes {{ name followerCount articles(first: 1) {{ totalCount }} }}
  }}
}}"""


async def group(request: Request, name: str) -> PageMetadata:
    """
    The page of a group. One query reads it. A group that does not exist is "Not found"; so is an address that names an
    order, a page or a period that does not.

    Raises:
        HTTPException: what `documents.query` raises.
    """
    ranking, period = ranking_of(request), request.query_params.get("top")
    if ranking is None or not (period is None or has_period(ranking.orders.names, period)):
        return NOT_FOUND
    since = since_of(period, request.query_params.get("since")) if period else None
    order = "VOTES" if period else ranking.order
    variables = {"name": name, "order": order, "since": since, "page": ranking.page}
    found = (await documents.query(request, GROUP, variables))["group"]
    if not exists(found):
        return no_group(request, found)
    path, words = f"group/{segment(found['name'])}", words_of(request)
    title = found["title"] or found["name"]
    page_title = ranking.title_of_page(words, title)
    [about] = await render_texts([found["about"] or ""])
    content = render_page(
        request,
        "group.html",
        group=found,
        title=page_title,
        about=about,
        feeds_path=path,
        order=ranking.order,
        period=period,
        **order_tabs(words, ranking.orders, None if period else ranking.order, path),
        periods=periods(words, path, ranking, period),
        empty=words(f"list-{period}-empty") if period else words("no-articles"),
        first=1 + (ranking.page - 1) * ARTICLES_PER_PAGE,
        **pages(path, ranking, period, since, found["articles"]["pageInfo"]),
    )
    description = about.plain or words("articles-in", title=title)
    canonical = None if ranking.is_beyond(found["articles"]) else f"{path}{'' if period else ranking.query}"
    return PageMetadata(page_title, description, canonical, feeds=f"{path}/", order=ranking.order, content=content)


def exists(group: Mapping[str, Any] | None) -> bool:
    """
    Whether there is such a group: an admin has made it, it has an article, or something is written about it. Otherwise
    it has neither a page nor feeds. `group` is None if no group can have the name.
    """
    return group is not None and bool(
        group["all"]["totalCount"] or group["isListed"] or group["title"] or group["about"]
    )


class PeriodLink(NamedTuple):
    """A link to the list of a period; `is_current` says whether it is the one that is shown."""

    address: str
    name: str
    title: str
    is_current: bool


def no_group(request: Request, group: Mapping[str, Any] | None) -> PageMetadata:
    """
    The page "Not found" for a group that does not exist. It has a link to post there if posting makes the group.
    `group` is None if no group can have the name.
    """
    words, more = words_of(request), Markup()
    if group is None:
        more = escape(words("no-group-of-name"))
    elif request.app.state.store.groups.is_made_by_posting(name := group["name"]):
        more = words.html("begin-group", name=name, link=anchor(address("post", {"group": name})))
    return replace(NOT_FOUND, content=render_page(request, "not_found.html", more=more))


def periods(words: Words, path: str, ranking: Ranking, current: str | None) -> list[PeriodLink]:
    """The links to the periods of which there is a list."""
    return [
        PeriodLink(address(path, {"top": each}), words(f"list-{each}"), words(f"list-{each}-title"), each == current)
        for each in PERIOD_HOURS
        if has_period(ranking.orders.names, each)
    ]


def pages(
    path: str, ranking: Ranking, period: str | None, since: str | None, info: Mapping[str, Any]
) -> dict[str, str]:
    """The addresses of the pages before and after the one that is shown; "" where there is none."""

    def page(number: int) -> str:
        if period:
            return address(path, {"top": period, "since": since, "page": None if number == 1 else number})
        return f"{path}{Ranking(ranking.orders, ranking.order, number).query}"

    return {
        "previous": page(ranking.page - 1) if ranking.page > 1 else "",
        "next": page(ranking.page + 1) if info["hasNextPage"] else "",
    }


async def groups(request: Request) -> PageMetadata:
    """
    The groups by name. One query reads them.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    found = (await documents.query(request, GROUPS, page_of(request, MOST_GROUPS)))["groups"]
    links = neighbours("groups", found["pageInfo"])
    content = render_page(request, "groups.html", groups=found["nodes"], **links)
    return PageMetadata(words_of(request)("groups-title"), path=canonical_of(request, "groups"), content=content)
