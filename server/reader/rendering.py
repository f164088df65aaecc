"""
Renders the templates of the pages. They escape all values but those that the filter `safe` marks as HTML.

The lines of a template are joined without their indentation, as those of JSX are: the script's own pages have no white
space between elements, and neither do these. `{{ " " }}` is a space.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from store.links import web_address

TEMPLATES = Path(__file__).with_name("templates")
UNITS = {"year": 365 * 86_400, "month": 30 * 86_400, "day": 86_400, "hour": 3_600, "minute": 60}  # seconds


def render_template(name: str, **values: Any) -> str:
    """
    The HTML of a template, which is compiled when it is first used.

    Escaping takes most of the time: about a microsecond a value.

    Raises:
        UndefinedError: the template uses a value that is missing.
    """
    return ENVIRONMENT.get_template(name).render(values)


@cache
def macro(template: str, name: str) -> Callable[..., Markup]:
    """A macro of a template. It escapes its arguments, and what it returns is HTML."""
    found: Callable[..., Markup] = getattr(ENVIRONMENT.get_template(template).module, name)
    return found


def json_in_html(value: Any) -> Markup:
    """JSON for the content of a script element: no text in it ends the element."""
    text = orjson.dumps(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def joined_lines(name: str) -> str:
    lines = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    return "".join(line.strip() for line in lines)


def age(posted_at: str, now: datetime) -> str:
    return ago(datetime.fromisoformat(posted_at), now)


def ago(instant: datetime, now: datetime) -> str:
    """The age in words, such as "3 hours ago", and "just now" within the first minute."""
    seconds = int((now - instant).total_seconds())
    for unit, length in UNITS.items():
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def counted(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count:,} {one}s"


def separated(count: int) -> str:
    return f"{count:,}"


def page(article: str) -> str:
    """The path of the page of an article, by its id."""
    return article.replace(":", "/")


@lru_cache(1_000)
def segment(name: str) -> str:
    """A name as a segment of a path."""
    return quote(name, safe="")


def without_www(host: str) -> str:
    return host.removeprefix("www.")


ENVIRONMENT = Environment(
    loader=FunctionLoader(joined_lines), autoescape=True, undefined=StrictUndefined, auto_reload=False
)
ENVIRONMENT.filters |= {
    each.__name__: each for each in (age, counted, json_in_html, page, segment, separated, web_address, without_www)
}
