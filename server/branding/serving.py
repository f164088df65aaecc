"""
Serves the files by which operators make a site their own, such as logo, theme and `security.txt`. Also serves the web
app manifest and the OpenSearch description, which are made of them.
"""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from server.branding.files import Asset, SiteFiles
from server.words.words import Words

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
REVALIDATED = {"Cache-Control": "no-cache"}
# A drawing that somebody opens by itself runs nothing and loads nothing.
SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    "X-Content-Type-Options": "nosniff",
}
OPEN_SEARCH = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>{short}</ShortName>
  <Description>{description}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image type="{type}">{url}/{icon}</Image>
  <Url type="text/html" template="{url}/search?q={{searchTerms}}"/>
</OpenSearchDescription>
"""
SHORT_NAME = 16  # characters, at most, of OpenSearch


def routes() -> list[BaseRoute]:
    return [
        Route("/site/manifest.webmanifest", manifest),
        Route("/site/{name}", file),
        Route("/favicon.ico", favicon),
        Route("/opensearch.xml", open_search),
        *security_routes(),
    ]


def security_routes() -> list[BaseRoute]:
    """The route of `security.txt`, which a server without pages has, too."""
    return [Route("/.well-known/security.txt", security)]


def file(request: Request) -> Response:
    """
    A file. Browsers keep it for good under its path with a digest of its content. Under its plain name, such as
    `card.png`, they ask for it each time.
    """
    path = f"site/{request.path_params['name']}"
    for asset in _files(request).assets:
        if path in (asset.path, f"site/{asset.name}"):
            return _sent(asset, FOR_EVER if path == asset.path else REVALIDATED)
    raise HTTPException(404)


def favicon(request: Request) -> Response:
    return _sent(_files(request).icon, REVALIDATED)


def manifest(request: Request) -> Response:
    files, name = _files(request), request.app.state.site_name
    size = f"{files.icon.size.width}x{files.icon.size.height}" if files.icon.size else "any"
    icon = {"src": f"../{files.icon.path}", "type": files.icon.media_type, "sizes": size}
    content = {"name": name, "short_name": name, "start_url": "../", "scope": "../", "display": "browser"}
    return JSONResponse(content | {"icons": [icon]}, headers=REVALIDATED, media_type="application/manifest+json")


def open_search(request: Request) -> Response:
    """
    The OpenSearch description, by which browsers offer the site's search beside their own. Its addresses are absolute,
    and its words are in the language of the site.
    """
    words: Words = request.app.state.languages.named(code=None)
    files, name, address = _files(request), request.app.state.site_name, request.app.state.public_url
    xml = OPEN_SEARCH.format(
        short=escape(name[:SHORT_NAME]),
        description=escape(words("search-title", words=name)),
        url=address.of(request.scope),
        icon=files.icon.path,
        type=files.icon.media_type,
    )
    headers = REVALIDATED | address.headers
    return Response(xml, media_type="application/opensearchdescription+xml", headers=headers)


def security(request: Request) -> Response:
    body = _files(request).security
    if body is None:
        raise HTTPException(404)
    return Response(body, media_type="text/plain; charset=utf-8", headers=REVALIDATED)


def _sent(asset: Asset, caching: Mapping[str, str]) -> Response:
    return Response(asset.body, media_type=asset.media_type, headers={**SAFE, **caching})


def _files(request: Request) -> SiteFiles:
    found: SiteFiles = request.app.state.files
    return found
