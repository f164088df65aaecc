"""
The explorer: GraphiQL, an editor of GraphQL queries in the browser, at `/explorer`. `build/` makes its files in
`static/`. It talks to this server and to no other host.
"""

import gzip
import html
from functools import cache, partial
from pathlib import Path
from string import Template

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

STATIC = Path(__file__).with_name("static")
TYPES = {".css": "text/css", ".js": "text/javascript", ".ttf": "font/ttf", ".txt": "text/plain"}

# The editor writes styles into the page, so styles alone may be inline. A worker obeys the policy of its own file.
POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "connect-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
]
SECURITY = {
    "Content-Security-Policy": "; ".join(POLICY),
    "Referrer-Policy": "no-referrer",
}
REVALIDATED = {"Cache-Control": "no-cache"}
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def routes(endpoint: str = "/graphql") -> list[BaseRoute]:
    return [Route("/explorer", partial(page, endpoint)), Route("/explorer/{name}", file)]


def page(endpoint: str, request: Request) -> Response:
    """The page. Its addresses are relative, so that it works under any prefix of a proxy."""
    template = Template((STATIC / "explorer.html").read_text())
    relative = html.escape(endpoint.removeprefix("/"))
    return HTMLResponse(template.substitute(endpoint=relative), headers=SECURITY | REVALIDATED)


def file(request: Request) -> Response:
    path = STATIC / request.path_params["name"]
    if path.suffix not in TYPES or not path.is_file():
        raise HTTPException(404)

    named_by_content = path.suffix != ".txt"  # other names have a digest of the content, so it never changes
    headers = SECURITY | (FOR_EVER if named_by_content else REVALIDATED) | {"Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(_zipped(path), headers=headers | {"Content-Encoding": "gzip"}, media_type=TYPES[path.suffix])
    return Response(path.read_bytes(), headers=headers, media_type=TYPES[path.suffix])


@cache
def _zipped(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())
