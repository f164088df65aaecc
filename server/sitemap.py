"""
`/sitemap.xml` and `/robots.txt`, for search engines.

The sitemap (https://www.sitemaps.org/protocol.html) is an index of files: one of pages and groups, and one for each
`FILE_LENGTH` articles, newest first. A file is read when it is asked for, in queries of a client's size, and cached.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from caches import POOL, Cache
from server import documents
from server.syndication import default_order
from store.events import Event

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = "application/xml"
PAGE = 100  # articles or groups in a query, the most that a client gets
FILE_LENGTH = 1_000  # articles of a file: ten queries, each of some 100 points of the client's rate limit
MAX_FILES = 50  # of articles: older ones are not listed
MAX_GROUPS = 1_000  # that are listed
CACHE_SECONDS = 600  # for which a file of articles is used
URL_BYTES = 250  # of a cached URL, with its date
PAGES = ["", "top/day", "top/week", "top/month", "good", "groups"]  # paths; "" is the front page

TOTAL = "query SitemapTotal { articles(first: 1) { totalCount } }"
ARTICLES = f"""query SitemapArticles($order: ArticleOrder!, $page: Int, $after: String) {{
  articles(order: $order, first: {PAGE}, page: $page, after: $after) {{
    nodes {{ id postedAt editedAt }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
GROUPS = f"""query SitemapGroups($after: String) {{
  groups(first: {PAGE}, after: $after) {{ nodes {{ name }} pageInfo {{ hasNextPage endCursor }} }}
}}"""


class Location(NamedTuple):
    """The path of a page, and when it changed last, if that is known."""

    path: str
    changed_at: str = ""


# The cached files. A key is (how many changes of states there were before, the number of the file); a value is (until
# when the file is used, by `monotonic`; the pages of its articles).
Files = Cache[tuple[int, int], tuple[float, list[Location]]]


class Sitemaps:
    """The cached files of articles. None is used any more after an article has become visible or ceased to be."""

    def __init__(self) -> None:
        self.files: Files = POOL.cache("sitemaps", microseconds=5_000)
        self.states_changed = 0

    def outdate(self, event: Event) -> None:
        """Called for each change of the state of an article."""
        self.states_changed += 1


def routes() -> list[BaseRoute]:
    return [
        Route("/robots.txt", robots),
        Route("/sitemap.xml", index),
        Route("/sitemap-pages.xml", pages),
        Route("/sitemap-articles-{number:int}.xml", articles),
    ]


async def robots(request: Request) -> Response:
    url = request.app.state.public_url.of(request.scope)
    folder = urlsplit(url).path
    lines = ["User-agent: *", f"Disallow: {folder}/graphql", f"Disallow: {folder}/metrics", "Allow: /", ""]
    return respond(request, "\n".join([*lines, f"Sitemap: {url}/sitemap.xml", ""]).encode(), "text/plain")


async def index(request: Request) -> Response:
    """The files. One round trip."""
    total = (await documents.query(request, TOTAL))["articles"]["totalCount"]
    count = min(-(-total // FILE_LENGTH), MAX_FILES)  # rounded up
    files = [Location("sitemap-pages.xml"), *(Location(f"sitemap-articles-{n}.xml") for n in range(1, count + 1))]
    return respond(request, xml(request, "sitemapindex", "sitemap", files), XML)


async def pages(request: Request) -> Response:
    """The pages that list articles, and up to `MAX_GROUPS` groups. A round trip for each `PAGE` of them."""
    found, after, has_next = [Location(path) for path in PAGES], None, True
    while has_next and len(found) < len(PAGES) + MAX_GROUPS:
        groups = (await documents.query(request, GROUPS, {"after": after}))["groups"]
        found += [Location(f"group/{group['name']}") for group in groups["nodes"]]
        after, has_next = groups["pageInfo"]["endCursor"], groups["pageInfo"]["hasNextPage"]
    return respond(request, xml(request, "urlset", "url", found), XML)


async def articles(request: Request) -> Response:
    """
    A file of articles. Up to ten times the two round trips of a page, or none if it is cached.

    Raises:
        HTTPException: 404 if there is no such file; and what `documents.query` raises.
    """
    number = request.path_params["number"]
    if not 1 <= number <= MAX_FILES:
        raise HTTPException(404)
    sitemaps: Sitemaps = request.app.state.sitemaps
    key = sitemaps.states_changed, number
    until, found = sitemaps.files.get(key) or (0.0, [])
    if monotonic() >= until:
        found = await read_articles(request, number)
        sitemaps.files.put(key, (monotonic() + CACHE_SECONDS, found), URL_BYTES * len(found))
    if not found:
        raise HTTPException(404)
    return respond(request, xml(request, "urlset", "url", found), XML)


async def read_articles(request: Request, number: int) -> list[Location]:
    """The articles of a file: its first page by number, the next ones by cursors, which cost less far down."""
    found: list[Location] = []
    place: dict[str, object] = {"page": (number - 1) * FILE_LENGTH // PAGE + 1}
    for _ in range(FILE_LENGTH // PAGE):
        variables = {"order": default_order(request), **place}
        listed = (await documents.query(request, ARTICLES, variables))["articles"]
        found += [location(node) for node in listed["nodes"]]
        if not listed["pageInfo"]["hasNextPage"]:
            break
        place = {"after": listed["pageInfo"]["endCursor"]}
    return found


def location(article: Mapping[str, str]) -> Location:
    return Location(f"article/{article['id'].partition(':')[2]}", article["editedAt"] or article["postedAt"])


def xml(request: Request, root: str, tag: str, locations: Sequence[Location]) -> bytes:
    url = request.app.state.public_url.of(request.scope)
    parent = ET.Element(root, {"xmlns": NAMESPACE})
    for path, changed_at in locations:
        element = ET.SubElement(parent, tag)
        ET.SubElement(element, "loc").text = f"{url}/{path}"
        if changed_at:
            ET.SubElement(element, "lastmod").text = changed_at
    body: bytes = ET.tostring(parent, encoding="utf-8", xml_declaration=True)
    return body


def respond(request: Request, body: bytes, media_type: str) -> Response:
    response = documents.cacheable(request, body, media_type)
    response.headers.update(request.app.state.public_url.headers)
    return response
