"""What is around the content of each page that the server draws: its values for `templates/page.html`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from server.reader.rendering import render_template
from server.reader.translations import words_of

LINKS = {"./": "nav-all", "groups": "nav-groups", "feed": "nav-feed", "post": "nav-post"}  # of the header


def render_page(request: Request, template: str, **values: Any) -> str:
    """A template that extends `page.html`: what is shown until the script has its data, and where none runs."""
    path, words = request.scope["path"].strip("/") or "./", words_of(request)
    return render_template(
        words,
        template,
        site=request.app.state.site_name,
        files=request.app.state.files,
        links={href: words(name) for href, name in LINKS.items()},
        path=path,
        now=datetime.now(UTC),
        **values,
    )


def address(path: str, parameters: Mapping[str, Any]) -> str:
    """A path with its query; parameters without a value are left out. As `withQuery` of `reader/src/addresses.ts`."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path
