"""The page of a search, `reader/src/pages/SearchPage.tsx` as HTML. It is not for search engines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from resolvers.search import QUERY_LENGTH
from server import documents
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, neighbours, page_of
from server.reader.frames import address, render_page
from server.reader.lines import ARTICLE_LINE, COMMENT_LINE, in_one_line, marked, unmarked
from server.reader.metadata import UNKNOWN, PageMetadata
from server.reader.translations import words_of
from server.words.words import Words

KIND_TEXTS = {"": "find-everything", "ARTICLE": "find-articles", "COMMENT": "find-comments", "USER": "find-users"}
ORDER_TEXTS = {"RELEVANCE": "best-match", "NEWEST": "matches-newest", "VOTES": "most-votes"}
USUAL_ORDER = "RELEVANCE"  # no address names it
TEXTS = ["ARTICLE", "COMMENT"]  # the kinds of a search that names none; a few users stand above the list
NOBODY: Mapping[str, Any] = {"totalCount": 0, "edges": []}
MOST_MATCHES = 10_000  # that a search counts: more are not found
SEARCH = f"""query SearchHtml(
  $query: String!, $kinds: [SearchKind!], $order: SearchOrder!, $hasPeople: Boolean!, {VARIABLES}
) {{
  search(query: $query, kinds: $kinds, order: $order, {ARGUMENTS}) {{
    totalCount suggestion {PAGE_INFO}
    edges {{ ...Match }}
  }}
  people: search(query: $query, kinds: [USER], first: 3) @include(if: $hasPeople) {{ totalCount edges {{ ...Match }} }}
}}
fragment Match on SearchEdge {{
  excerpt
  node {{
    __typename
    ... on Article {{ {ARTICLE_LINE} }}
    ... on Comment {{ {COMMENT_LINE} }}
    ... on User {{ username karma joinedAt }}
  }}
}}"""


async def search(request: Request) -> PageMetadata:
    """
    The page of what the address asks for by `q`, `kind`, `order` and a cursor. One query searches, or none if `q` is
    empty or too long.

    Raises:
        HTTPException: what `documents.query` raises, but 503; 400 for a cursor of another list.
    """
    query, words = request.query_params.get("q", "").strip(), words_of(request)
    if not query:
        return unasked(request, words("search-hint"))
    if len(query) > QUERY_LENGTH:
        return replace(unasked(request, words("search-too-long", count=QUERY_LENGTH)), status=HTTPStatus.BAD_REQUEST)
    asked = asked_of(request, query)
    shown = page_of(request)
    variables = {
        "query": query,
        "kinds": [asked["kind"]] if asked["kind"] else TEXTS,
        "order": asked["order"] or USUAL_ORDER,
        "hasPeople": not asked["kind"] and not (shown.get("after") or shown.get("before")),
        **shown,
    }
    try:
        data = await documents.query(request, SEARCH, variables)
    except HTTPException as error:
        if error.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return UNKNOWN  # a page without content; its script says that there is no database, and asks again
    title = words("search-title", words=query)
    return PageMetadata(title, content=found_page(request, title, asked, data["search"], data.get("people") or NOBODY))


def unasked(request: Request, hint: str) -> PageMetadata:
    """The page without a search, as nothing was asked for or it could not be."""
    title = words_of(request)("search")
    return PageMetadata(title, content=render_page(request, "search.html", title=title, words="", hint=hint))


def asked_of(request: Request, query: str) -> dict[str, str]:
    """
    The parameters of the address that its links keep: `q`, `kind` ("" for everything) and `order` ("" for the usual
    one).
    """
    kind, order = (request.query_params.get(name, "") for name in ("kind", "order"))
    return {
        "q": query,
        "kind": kind if kind in KIND_TEXTS else "",
        "order": order if order in ORDER_TEXTS and order != USUAL_ORDER else "",
    }


def found_page(
    request: Request, title: str, asked: Mapping[str, str], found: Mapping[str, Any], people: Mapping[str, Any]
) -> str:
    """The page of what was found. `people` are a few users, who stand above the list."""
    suggestion, texts = found["suggestion"], words_of(request)
    return render_page(
        request,
        "search.html",
        title=title,
        words=asked["q"],  # that were searched for
        kinds=links(texts, asked, "kind", KIND_TEXTS, asked["kind"]),
        orders=links(texts, asked, "order", ORDER_TEXTS, asked["order"] or USUAL_ORDER),
        count=count_of(texts, found["totalCount"], has_people=people["totalCount"] > 0),
        suggestion=suggestion and (address("search", {**asked, "q": suggestion}), suggestion),
        people=matches(people["edges"]),
        all_people=address("search", {**asked, "kind": "USER"}),
        people_count=people["totalCount"],
        matches=matches(found["edges"]),
        **neighbours("search", found["pageInfo"], asked),
    )


def links(
    words: Words, asked: Mapping[str, str], parameter: str, names: Mapping[str, str], current: str
) -> list[tuple[str, str, bool]]:
    """The address and the name of each value of a parameter, and whether it is the current one."""
    return [
        (address("search", {**asked, parameter: "" if each == USUAL_ORDER else each}), words(name), each == current)
        for each, name in names.items()
    ]


def count_of(words: Words, total: int, *, has_people: bool = False) -> str:
    """The sentence that says how much was found."""
    if total == 0:
        return words("found-no-text" if has_people else "found-nothing")
    return words("found-many", count=MOST_MATCHES) if total >= MOST_MATCHES else words("found", count=total)


def matches(edges: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Any, bool]]:
    """Each match with its excerpt, and whether that is the whole title of an article."""
    return [
        (edge["node"], marked(edge["excerpt"]), unmarked(edge["excerpt"]) == in_one_line(edge["node"].get("title", "")))
        for edge in edges
    ]
