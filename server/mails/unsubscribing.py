"""
The route that ends mails of replies, by the signed token of a link in such a mail. POST ends them: programs for mail
send it with one click (RFC 8058). GET shows a button that sends it. No session is needed, and no cookie read.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Route

from server.documents import UNAVAILABLE, UNCACHED
from server.reader.translations import words_of
from store.errors import StoreUnavailable

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True, undefined=StrictUndefined
)
POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
HEADERS = {**UNCACHED, "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


def routes() -> list[BaseRoute]:
    return [Route("/unsubscribe/{token}", respond, methods=["GET", "POST"])]


async def respond(request: Request) -> HTMLResponse:
    if request.method != "POST":  # GET must end nothing: programs that check the links of mails follow them
        return _page(request, said="")
    try:
        is_done = await request.app.state.store.mailboxes.end_replies(request.path_params["token"])
    except StoreUnavailable:
        return _page(request, "mails-not-now", 503, headers=UNAVAILABLE)
    return _page(request, "mails-ended") if is_done else _page(request, "mails-wrong-link", 404)


def _page(request: Request, said: str, status: int = 200, headers: dict[str, str] = UNCACHED) -> HTMLResponse:
    """The page with the text whose name in `server/words` is `said`; with the button if that is ""."""
    words, site = words_of(request), request.app.state.site_name
    html = TEMPLATES.get_template("unsubscribe.html").render(t=words, site=site, said=said and words(said))
    return HTMLResponse(html, status, {**HEADERS, **headers})
