"""
Pages in other languages than the site's. Their addresses name the language, such as `?lang=de`, and so do their links.
"""

import re
from collections.abc import Sequence

from starlette.requests import Request

from server.words.languages import Languages
from server.words.words import Words

# A link to another page of the site: none to another host, to `/...`, to `#...`, to the explorer or to a feed.
PAGE_LINK = re.compile(r'(<a href=")(?![a-z][a-z0-9+.-]*:|/|#|explorer"|[^"?]*\.xml["?])([^"#]*)')


def words_of(request: Request) -> Words:
    """The texts of the language that the address names by `lang`, else of the site's."""
    return languages_of(request).named(request.query_params.get("lang"))


def languages_of(request: Request) -> Languages:
    found: Languages = request.app.state.languages
    return found


def named_language(request: Request) -> str:
    """The language of a page that its address names; "" for the site's."""
    language = words_of(request).language
    return "" if language == languages_of(request).site else language


def with_language(request: Request, html: str) -> str:
    """The HTML of a page whose links lead to pages in the same language."""
    language = named_language(request)
    if not html or not language:
        return html
    return PAGE_LINK.sub(lambda link: f"{link[1]}{in_language(link[2], language, '&amp;')}", html)


def in_language(path: str, language: str, separator: str = "&") -> str:
    return f"{path}{separator if '?' in path else '?'}lang={language}" if language else path


def canonical(request: Request, path: str) -> str:
    """The canonical path of a page in the language of the request. It does not name the language of the site."""
    return in_language(path, named_language(request))


def alternates(request: Request, path: str) -> Sequence[tuple[str, str]]:
    """Each language of a page and the path of the page in it; none where there is only one."""
    languages = languages_of(request)
    if len(languages.words) == 1:
        return []
    codes = {code: "" if code == languages.site else code for code in languages.words} | {"x-default": ""}
    return [(code, in_language(path, language)) for code, language in codes.items()]
