"""
Pages of lists that an address names by a cursor (`?after=` or `?before=`), as `reader/src/cursors.ts` has them: the
parts of their queries, and the links to the pages around them.
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from server.reader.frames import address

CURSOR_PAGE = 25  # items of a page
ARGUMENTS = "first: $first, after: $after, last: $last, before: $before"
VARIABLES = "$first: Int, $after: String, $last: Int, $before: String"
PAGE_INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"


def page_of(request: Request, size: int = CURSOR_PAGE) -> dict[str, Any]:
    """The variables of the page that the address names by `after` or `before`; of the first one if it has neither."""
    before, after = (request.query_params.get(name) or None for name in ("before", "after"))
    return {"last": size, "before": before} if before else {"first": size, "after": after}


def canonical_of(request: Request, path: str) -> str | None:
    """The canonical path of a list. Its later pages have none: their addresses and content change as the list does."""
    return None if {"after", "before"} & request.query_params.keys() else path


def neighbours(path: str, info: Mapping[str, Any], parameters: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The addresses of the pages before and after one, "" where there is none; both keep the parameters."""
    kept = parameters or {}
    return {
        "previous": address(path, {**kept, "before": info["startCursor"]}) if info["hasPreviousPage"] else "",
        "next": address(path, {**kept, "after": info["endCursor"]}) if info["hasNextPage"] else "",
    }
