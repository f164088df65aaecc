"""What the modules of the pages return for `heads.py`: what the `<head>` of a page says, and the page's content."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """
    What is known about a page of the site.

    - `path` is the canonical one, without a slash at its start; a page without it is not for search engines.
    - `feeds` is the folder of its own feeds, such as `group/show/`; "" if it has none beside those of the site.
    - `order` is the order of articles that the addresses of its own feeds name, or those of the site's feeds if it has
      none of its own. If it is "", its own feeds name no order, and the site's feeds that of the front page.
    - `content` is what is shown until the script has its data, as HTML.
    - `posting` gives an article as JSON for search engines, in at most the bytes that it is given.
    - `is_translated` is false for what is there in the site's language only.
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
