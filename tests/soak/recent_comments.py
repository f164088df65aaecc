"""
The comments of the site and of groups, newest first, as docs/comments.md describes them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` are the arguments of a field.
"""

from typing import Any

from tests.soak.input_checks import group_or_none
from tests.soak.pages import ListingEntry, Page, cut, descending
from tests.soak.requests import Request
from tests.soak.searches import Between, doubt_flag


def page(request: Request, parent: Any, group: str | None = None, **given: Any) -> Page:
    """
    A page of comments. The server gives its nodes as they are now. The total, and the flag (`hasNextPage` or
    `hasPreviousPage`) on the side from which the reader comes, may be those of a moment ago.
    """
    model, paging = request.model, request.paging(given)
    paging.check()
    name = group_or_none(group)
    listing = ("recent", name)
    shown = [each for each in model.comments.values() if each.is_shown and (not name or name in each.article.groups)]
    entries = descending([ListingEntry((each.posted_at, each.number), each) for each in shown])
    found = cut("Comment", listing, entries, paging, paging.position(listing))
    # wide bounds: the total may lack comments that were just added, and still count those that were just removed, or
    # whose article was just deleted (`orphans`)
    found.total = Between(0, len(model.comments) + len(model.orphans))
    doubt_flag(found, paging)
    model.reached.count(f"pages of recent comments of {'a group' if name else 'the site'}", bool(shown))
    return found
