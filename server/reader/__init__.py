"""
The reader: the site's pages at `/`, built from `reader/` into `static/`. All are one HTML file, whose script reads the
address and asks the GraphQL endpoint.
"""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from server.branding.files import PAGES as SITE_PAGES
from server.reader.front_page import address_without_front_order
from server.reader.heads import Head, head_of, head_of_unknown_path
from server.reader.rendering import render_template
from server.reader.translations import with_language, words_of
from server.words.languages import Languages

STATIC = Path(__file__).with_name("static")
FILES = STATIC / "reader"
MOST_WORDS = 32  # files with the texts of a language that are kept compressed
TYPES = {".css": "text/css", ".ftl": "text/plain", ".js": "text/javascript", ".txt": "text/plain"}
PATHS = [
    *(f"/top/{period}" for period in ("day", "week", "month")),
    "/good",
    "/groups",
    "/group/{name}",
    "/user/{name}",
    "/user/{name}/comments",
    "/user/{name}/followers",
    "/user/{name}/following",
    "/article/{number:int}",
    "/article/{number:int}/comment/{comment:int}",
    "/article/{number:int}/edit",
    "/home",
    "/followed",
    "/feed",
    "/inbox",
    "/held",
    "/saved",
    "/hidden",
    "/blocked",
    "/comments",
    "/log",
    "/moderation/roles",
    "/search",
    "/moderation",
    "/moderation/{id}",
    "/log-in",
    "/register",
    "/reset",
    "/forgot",
    "/confirm",
    "/post",
    "/settings",
    *(f"/{name}" for name in SITE_PAGES),
]
LANGUAGE = '<html lang="en">'  # in the built page, replaced by that of the request
BASE = '<base href="/" />'  # in the built page, replaced by one that leads from the request's path to `/`
# in the built page, replaced by the head of the page that is asked for
TITLE = """<meta name="application-name" content="Upvote" />
    <title>Upvote</title>"""
# what loads the script, removed from a page that needs none
SCRIPT = re.compile(r'\s*<(?:script type="module"|link rel="modulepreload")[^>]*>(?:</script>)?')
ROOT = '<div id="root"></div>'  # gets the content of the page
NO_SCRIPT = "<noscript>This page needs JavaScript.</noscript>"  # replaced by `without_scripts`

POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:{pictures}",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types dompurify",
]
REVALIDATED = {"Cache-Control": "no-cache"}
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def routes(is_on: bool, endpoint: str = "/graphql") -> list[BaseRoute]:
    """Without the reader, `/` leads browsers to the explorer, and other paths are not found."""
    home = Route("/", partial(front_page if is_on else explorer_or_endpoint, endpoint))
    pages = [Route(path, page) for path in PATHS]
    return [home, *pages, Route("/reader/{name}", file)] if is_on else [home]


async def front_page(endpoint: str, request: Request) -> Response:
    """The page for all but programs that ask for JSON: crawlers and link previews may accept anything."""
    if accepts_html(request) or "application/json" not in request.headers.get("Accept", ""):
        address = address_without_front_order(request)
        return await page(request) if address is None else RedirectResponse(address, 307, {"Vary": "Accept"})
    return JSONResponse({"graphql": endpoint}, headers={"Vary": "Accept"})


def explorer_or_endpoint(endpoint: str, request: Request) -> Response:
    headers = {"Vary": "Accept"}
    if accepts_html(request):
        return RedirectResponse("explorer", 303, headers)
    return JSONResponse({"graphql": endpoint}, headers=headers)


async def page(request: Request, is_known: bool = True) -> Response:
    """
    The page for a path, with the head of what it shows, and its status; "Not found" for a path that is not known. Its
    addresses are relative to its base, so it works under any prefix of a proxy.
    """
    head = await head_of(request) if is_known else head_of_unknown_path(request)
    words = words_of(request)
    html = _template().replace(LANGUAGE, f'<html lang="{words.language}" dir="{words.direction}">')
    html = html.replace(BASE, f'<base href="{_way_up(request.scope)}" />')
    html = html.replace(TITLE, head.html).replace(NO_SCRIPT, without_scripts(request, head))
    html = html if head.is_scripted else SCRIPT.sub("", html)
    html = html.replace(ROOT, f'<div id="root">{head.content}</div>')
    pictures = request.app.state.store.users.offers.avatar_hosts
    headers = {**security(pictures), **REVALIDATED, "Vary": "Accept", **head.headers}
    return HTMLResponse(html, head.status, headers=headers)


def not_found(otherwise: ASGIApp) -> ASGIApp:
    """
    An application for paths that no route has: the page with status 404 for browsers. A slash at the end is removed by
    a relative redirect: an absolute one would need the address outside of all proxies.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        application = otherwise
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and accepts_html(Request(scope)):
            application = without_slash(scope) or await page(Request(scope), is_known=False)
        await application(scope, receive, send)

    return answer


def without_slash(scope: Scope) -> Response | None:
    """A redirect to the same address without a slash at the end of its path; None if it has none."""
    *_, last, end = ["", *_sent_path(scope).split("/")]  # if `end` is "", the path ends with a slash
    query = scope["query_string"].decode("latin-1")
    return RedirectResponse(f"../{last}{'?' if query else ''}{query}", 307) if last and not end else None


def file(request: Request) -> Response:
    name = request.path_params["name"]
    found = _files().get(name) or _words(name, request.app.state.languages)
    if found is None:
        raise HTTPException(404)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(
            found.zipped, headers={**found.headers, "Content-Encoding": "gzip"}, media_type=found.media_type
        )
    return Response(found.body, headers=found.headers, media_type=found.media_type)


def accepts_html(request: Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


@cache
def security(pictures: tuple[str, ...] = ()) -> Mapping[str, str]:
    """The headers by which browsers load only what is the site's own, and pictures of users from these hosts."""
    policy = "; ".join(POLICY).format(pictures="".join(f" {host}" for host in pictures))
    return {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}


@dataclass(frozen=True, slots=True)
class File:
    """A built file, compressed once."""

    body: bytes
    zipped: bytes
    media_type: str
    headers: Mapping[str, str]


@cache
def _files() -> dict[str, File]:
    return {path.name: _read(path) for path in FILES.iterdir()}


@lru_cache(MOST_WORDS)
def _words(name: str, languages: Languages) -> File | None:
    """A file with the texts of a language."""
    body = languages.source(name)
    return None if body is None else _zipped(body, Path(name).suffix)


def _read(path: Path) -> File:
    return _zipped(path.read_bytes(), path.suffix)


def _zipped(body: bytes, suffix: str) -> File:
    named_by_content = suffix != ".txt"  # other names have a digest of the content, so it never changes
    headers = {**security(), **(FOR_EVER if named_by_content else REVALIDATED), "Vary": "Accept-Encoding"}
    return File(body, gzip.compress(body, mtime=0), TYPES[suffix], headers)


def without_scripts(request: Request, head: Head) -> str:
    if head.content:  # it has a note of its own
        return ""
    html = render_template(words_of(request), "without_scripts.html", site=request.app.state.site_name)
    return with_language(request, html)


@cache
def _template() -> str:
    return (STATIC / "index.html").read_text()


def _way_up(scope: Scope) -> str:
    """The relative address of `/`."""
    return "../" * (_sent_path(scope).count("/") - 1) or "./"


def _sent_path(scope: Scope) -> str:
    """The path as the client has sent it."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path.partition(b"?")[0].decode("latin-1")
