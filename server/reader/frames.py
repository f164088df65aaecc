"""What is around the content of each page that the server draws: its values for `templates/page.html`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from server.reader.rendering import render_template
from server.reader.translations import named_language, words_of
from server.site_orders import ShownOrders, SiteOrders
from server.syndication import orders

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
        front=shown_orders(request).front,
        language=named_language(request),
        searched=request.query_params.get("q", "") if path == "search" else "",
        now=datetime.now(UTC),
        **values,
    )


def shown_orders(request: Request) -> ShownOrders:
    """The orders by which the store ranks articles, as pages list them."""
    choice: SiteOrders = request.app.state.orders_of_pages
    return choice.of(orders(request))


def address(path: str, parameters: Mapping[str, Any]) -> str:
    """A path with its query; parameters without a value are left out. As `withQuery` of `reader/src/addresses.ts`."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path
