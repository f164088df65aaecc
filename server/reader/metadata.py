"""What is known about a page before its head is written."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """
    What its head tells about a page.

    `path` is the canonical one, without a slash at its start; a page without it is not for search engines. `feeds` is
    the folder of its feeds, such as `group/show/`, and `order` the order of articles that they name: with `feeds`
    none for "", and else that of the front page. `content` is that of the head. `posting` gives an article as JSON for
    search engines, in at most so many bytes. `is_translated` is false for what is there in the site's language only.
    """

    title: str = ""
    description: str = ""
    path: str | None = None
    feeds: str = ""
    order: str = ""
    published_at: str = ""
    content: str = ""
    status: int = 200
    is_scripted: bool = True
    is_translated: bool = True
    posting: Callable[[int], Markup] | None = None


NOT_FOUND = PageMetadata(status=404)  # `head` gives it its title
UNKNOWN = PageMetadata()  # of a page that only its script knows
