"""
Renders the templates of the pages. They escape all values but those that the filter `safe` marks as HTML.

The lines of a template are joined without their indentation, as those of JSX are: the script's own pages have no white
space between elements, and neither do these. `{{ " " }}` is a space.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from server.reader.moderation_texts import reason_words
from server.words.words import Words
from store.links import web_address
from store.records import DELETED

TEMPLATES = Path(__file__).with_name("templates")
UNITS = {  # of ages: the names of their texts, and their seconds
    "years-ago": 365 * 86_400,
    "months-ago": 30 * 86_400,
    "days-ago": 86_400,
    "hours-ago": 3_600,
    "minutes-ago": 60,
}
CONSTANT = re.compile(r"""\{\{ t\("([a-z0-9-]+)"\) \}\}""")  # in a template, a text without variables
STRONG = Markup("<strong>"), Markup("</strong>")  # the start and the end of an element, for `Words.html`
MOST_LANGUAGES = 32  # whose compiled templates are kept


def render_template(words: Words, name: str, /, **values: Any) -> str:
    """
    The HTML of a template in a language, which is compiled when it is first used.

    Escaping takes most of the time: about a microsecond a value.

    Raises:
        UndefinedError: the template uses a value that is missing.
    """
    return environment(words).get_template(name).render(values)


@lru_cache(MOST_LANGUAGES)
def macro(words: Words, template: str, name: str) -> Callable[..., Markup]:
    """A macro of a template. It escapes its arguments, and what it returns is HTML."""
    found: Callable[..., Markup] = getattr(environment(words).get_template(template).module, name)
    return found


def author(comment: Mapping[str, Any]) -> str | None:
    """
    The name that a comment of a thread is shown with; None where that is hidden or deleted. Comments that deleted users
    have left have no poster.
    """
    poster: Mapping[str, str] | None = comment["poster"]
    if poster:
        return poster["username"]
    return DELETED if comment["state"] == "VISIBLE" else None


@lru_cache(MOST_LANGUAGES)
def environment(words: Words) -> Environment:
    """
    The templates in a language. Texts without variables become part of the compiled templates, so they cost nothing.
    In a template `t` gives a text by its name as plain text, and `html` one with elements, such as links.
    """
    loader = FunctionLoader(partial(source_of, words))
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.globals |= {"t": words, "html": words.html, "anchor": anchor, "strong": STRONG, "deleted": DELETED}
    made.filters |= {
        "author": author,
        "age": partial(age, words),
        "reason_words": partial(reason_words, words),
        "counted": partial(counted, words),
        "separated": partial(separated, words),
    }
    made.filters |= {each.__name__: each for each in (page_path, segment, web_address, without_www)}
    return made


def json_in_html(value: Any) -> Markup:
    """JSON for the content of a script element: no text in it ends the element."""
    text = orjson.dumps(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def source_of(words: Words, name: str) -> str:
    """The source of a template, without its indentation and line breaks, and with the texts without variables."""
    lines = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    return CONSTANT.sub(lambda found: constant(words(found[1])), "".join(line.strip() for line in lines))


def constant(text: str) -> str:
    """A text as part of a template: none of it is an instruction."""
    return str(escape(text)).replace("{", "&#123;")


def anchor(href: str) -> tuple[Markup, Markup]:
    """The start and the end of a link."""
    return Markup('<a href="{}">').format(href), Markup("</a>")


def age(words: Words, posted_at: str, now: datetime) -> str:
    """As `ago`, of an instant as the schema writes it."""
    return ago(words, datetime.fromisoformat(posted_at), now)


def ago(words: Words, instant: datetime, now: datetime) -> str:
    """The age in words, such as "3 hours ago", and "just now" within the first minute."""
    seconds = int((now - instant).total_seconds())
    for unit, length in UNITS.items():
        if seconds >= length:
            return words.counted(unit, seconds // length)
    return words("just-now")


def counted(words: Words, count: int, name: str) -> str:
    """A text with a count, such as the one with the name `votes`."""
    return words.counted(name, count)


def separated(words: Words, count: int) -> str:
    """A number with the separators of thousands of the language."""
    return words.counted("number", count)


def page_path(id: str) -> str:
    """The path of the page of an article, by its id; that of a comment below the page of its article."""
    return id.replace(":", "/")


@lru_cache(1_000)
def segment(name: str) -> str:
    """A name as a segment of a path."""
    return quote(name, safe="")


def without_www(host: str) -> str:
    return host.removeprefix("www.")
