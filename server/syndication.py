"""
Feeds as RSS 2.0 and Atom 1.0: the articles of the site, of a group and of a user, and the comments of the site and of a
group.

The specifications are https://www.rssboard.org/rss-specification and RFC 4287. Feeds have what a client without a
session can read, and no counts: so the `ETag` of a feed changes only if what it lists does.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from html import escape
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from server import documents, markdown_html
from server.words.words import Words
from store.links import web_address
from store.records import DELETED

LENGTH = 30  # articles, or comments, of a feed
NEWEST_FIRST = "TIME"  # the order
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # the date of an empty feed
RSS_TYPE, ATOM_TYPE = "application/rss+xml", "application/atom+xml"
ATOM, DUBLIN_CORE = "http://www.w3.org/2005/Atom", "http://purl.org/dc/elements/1.1/"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML 1.0 forbids

ENTRY = """
fragment Entry on Article {
  id title link content postedAt editedAt poster { username } groups { name }
}"""
SITE = f"""query SiteFeed($order: ArticleOrder!) {{
  articles(order: $order, first: {LENGTH}) {{ nodes {{ ...Entry }} }}
}}{ENTRY}"""
GROUP = f"""query GroupFeed($name: String!, $order: ArticleOrder!) {{
  group(name: $name) {{ name title about isListed articles(order: $order, first: {LENGTH}) {{ nodes {{ ...Entry }} }} }}
}}{ENTRY}"""
USER = f"""query UserFeed($name: String!) {{
  user(username: $name) {{ username articles(first: {LENGTH}) {{ nodes {{ ...Entry }} }} }}
}}{ENTRY}"""

COMMENTS = """
fragment Comments on CommentConnection {
  nodes { id content postedAt editedAt poster { username } article { id title groups { name } } }
}"""
SITE_COMMENTS = f"query SiteComments {{ comments(first: {LENGTH}) {{ ...Comments }} }}{COMMENTS}"
GROUP_COMMENTS = f"""query GroupComments($name: String!) {{
  group(name: $name) {{ name title about isListed articles(order: TIME, first: 1) {{ nodes {{ id }} }} }}
  comments(group: $name, first: {LENGTH}) {{ ...Comments }}
}}{COMMENTS}"""

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An article or a comment in a feed: its id, the path of its page, and as `html` the start of its text."""

    id: str
    page: str
    title: str
    link: str | None
    html: str
    posted_at: datetime
    updated_at: datetime
    poster: str | None  # None for a deleted user
    groups: list[str]


class ShownAs(NamedTuple):
    """The values of a `FeedEntry` that articles and comments have in different fields. `groups` are nodes."""

    page: str
    title: str
    link: str | None
    groups: list[Node]


@dataclass(frozen=True, slots=True)
class WebFeed:
    """`site` is the public URL, `page` the URL of the page that lists the same, and `url` the URL of the feed."""

    site: str
    title: str
    page: str
    url: str
    entries: list[FeedEntry]
    words: Words

    @property
    def updated_at(self) -> datetime:
        return max((entry.updated_at for entry in self.entries), default=EPOCH)

    def page_of(self, entry: FeedEntry) -> str:
        return f"{self.site}/{entry.page}"

    def html_of(self, entry: FeedEntry) -> str:
        """
        The text. An article with a link has a link to its comments, too: few feed readers show where these are.
        """
        comments = (
            f'<p><a href="{self.page_of(entry)}">{escape(self.words("footer-comments"))}</a></p>\n'
            if entry.link
            else ""
        )
        return entry.html + comments

    def tag(self, entry: FeedEntry) -> str:
        """A URI (RFC 4151) that stays when the scheme, the port or the path of the site changes."""
        host = (urlsplit(self.site).hostname or "").replace(":", "-")
        return f"tag:{host},{entry.posted_at:%Y-%m-%d}:{entry.id}"


@dataclass(frozen=True, slots=True)
class FeedSource:
    """
    What a feed shows: the name of its group or user, "" for one of the site; the path of the page that lists the same;
    and the nodes in their order, articles or, with `shows_comments`, comments.
    """

    name: str
    page: str
    order: str
    nodes: list[Node]
    shows_comments: bool = False


def routes() -> list[BaseRoute]:
    found: list[BaseRoute] = []
    for name, (write, media_type) in FORMATS.items():
        for path, find in SOURCES.items():
            found.append(Route(f"{path}/{name}.xml", partial(respond, find, write, media_type)))
    return found


async def respond(find: "Find", write: "Write", media_type: str, request: Request) -> Response:
    """
    A feed, with a tag of its content. It costs what the same query of a client costs.

    Raises:
        HTTPException: 404 if there is no such group or user, 400 if there is no such order; and what `documents.query`
            raises.
    """
    source = await find(request, known_order(request))
    feed = await feed_of(request, source)
    body = ET.tostring(write(feed), encoding="utf-8", xml_declaration=True)
    response = documents.cacheable(request, body, media_type)
    response.headers.update(request.app.state.public_url.headers)
    return dated(request, response, feed) if source.order == NEWEST_FIRST else response


def dated(request: Request, response: Response, feed: WebFeed) -> Response:
    """
    The response with `Last-Modified`. A client that sends this date, and no tag, gets 304.

    A feed has no date within two seconds of a change, because the next change may be in the same second.
    """
    if not EPOCH < feed.updated_at < datetime.now(UTC) - timedelta(seconds=2):
        return response
    response.headers["Last-Modified"] = date = format_datetime(feed.updated_at, usegmt=True)
    if request.headers.get("If-Modified-Since") != date or "If-None-Match" in request.headers:
        return response
    kept = {name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")}
    return Response(status_code=304, headers=kept)


def known_order(request: Request) -> str:
    order = request.query_params.get("order") or default_order(request)
    if order not in orders(request):
        raise HTTPException(400, f"there is no such order; the orders are {', '.join(orders(request))}")
    return order


def default_order(request: Request) -> str:
    """The newest articles first, if the store has this order."""
    known = orders(request)
    return NEWEST_FIRST if NEWEST_FIRST in known else known[0]


def orders(request: Request) -> list[str]:
    return [order.name for order in request.app.state.store.site.rankings.orders]


async def site_articles(request: Request, order: str) -> FeedSource:
    found = await documents.query(request, SITE, {"order": order})
    return FeedSource(name="", page="", order=order, nodes=found["articles"]["nodes"])


async def group_articles(request: Request, order: str) -> FeedSource:
    """
    The articles of a group.

    Raises:
        HTTPException: 404 for a name that no group can have, and for a group that no admin has made, and that has
            neither an article nor a title nor a text about it.
    """
    found = await documents.query(request, GROUP, {"order": order, "name": request.path_params["name"]})
    name = known_group(found["group"])
    return FeedSource(name, page=f"group/{name}", order=order, nodes=found["group"]["articles"]["nodes"])


def known_group(group: Node | None) -> str:
    if group is None or not (group["articles"]["nodes"] or group["isListed"] or group["title"] or group["about"]):
        raise HTTPException(404, "there is no such group")
    return str(group["name"])


async def site_comments(request: Request, order: str) -> FeedSource:
    """The newest comments, whatever the order."""
    found = await documents.query(request, SITE_COMMENTS, {})
    return FeedSource(
        name="", page="comments", order=NEWEST_FIRST, nodes=found["comments"]["nodes"], shows_comments=True
    )


async def group_comments(request: Request, order: str) -> FeedSource:
    found = await documents.query(request, GROUP_COMMENTS, {"name": request.path_params["name"]})
    name = known_group(found["group"])
    return FeedSource(
        name, page=f"comments?group={name}", order=NEWEST_FIRST, nodes=found["comments"]["nodes"], shows_comments=True
    )


async def user_articles(request: Request, order: str) -> FeedSource:
    """The user's articles, newest first whatever the order."""
    found = await documents.query(request, USER, {"name": request.path_params["name"]})
    if found["user"] is None:
        raise HTTPException(404, "there is no such user")
    name = found["user"]["username"]
    return FeedSource(name, page=f"user/{name}", order=NEWEST_FIRST, nodes=found["user"]["articles"]["nodes"])


async def feed_of(request: Request, source: FeedSource) -> WebFeed:
    """The feed with its title, its addresses and its entries."""
    # addresses and titles name the order only if it is not the usual one
    order = "" if source.order in (NEWEST_FIRST, default_order(request)) else source.order
    site: str = request.app.state.public_url.of(request.scope)
    query = f"?order={order}" if order else ""
    words: Words = request.app.state.languages.named(code=None)  # the site's: readers of feeds choose none
    kind = words("feed-comments") if source.shows_comments else order and words(f"order-{order.lower()}")
    title = " · ".join(part for part in (source.name, kind, request.app.state.site_name) if part)
    url = f"{site}{feed_path(request, source)}{query}"
    return WebFeed(site, title, f"{site}/{source.page}{query}", url, await entries(source), words)


def feed_path(request: Request, source: FeedSource) -> str:
    """The path of a feed, with the name of the group or user as the site writes it, whatever case the request has."""
    path: str = request.scope["path"]
    name = request.path_params.get("name")
    return path if name is None else path.replace(f"/{name}/", f"/{source.name}/", 1)


async def entries(source: FeedSource) -> list[FeedEntry]:
    texts = [markdown_html.excerpt(node["content"] or "") for node in source.nodes]
    make = comment_entry if source.shows_comments else article_entry
    return [make(node, html) for node, html in zip(source.nodes, await markdown_html.render(texts), strict=True)]


def article_entry(node: Node, html: str) -> FeedEntry:
    link = web_address(node["link"])
    shown = ShownAs(page_of(node), node["title"], link.href if link else None, node["groups"])
    return feed_entry(node, html, shown)


def comment_entry(node: Node, html: str) -> FeedEntry:
    article = node["article"]
    shown = ShownAs(f"{page_of(article)}/{page_of(node)}", article["title"], link=None, groups=article["groups"])
    return feed_entry(node, html, shown)


def page_of(node: Node) -> str:
    """`article/1541` of `article:1541`."""
    return str(node["id"]).replace(":", "/")


def feed_entry(node: Node, html: str, shown: ShownAs) -> FeedEntry:
    poster = node["poster"] and node["poster"]["username"]
    return FeedEntry(
        id=node["id"],
        page=shown.page,
        title=shown.title,
        link=shown.link,
        html=html,
        posted_at=datetime.fromisoformat(node["postedAt"]),
        updated_at=datetime.fromisoformat(node["editedAt"] or node["postedAt"]),
        poster=None if poster == DELETED else poster,
        groups=[group["name"] for group in shown.groups],
    )


def rss(feed: WebFeed) -> ET.Element:
    root = ET.Element("rss", {"version": "2.0", "xmlns:atom": ATOM, "xmlns:dc": DUBLIN_CORE})
    channel = ET.SubElement(root, "channel")
    add(channel, "title", feed.title)
    add(channel, "link", feed.page)
    add(channel, "description", feed.title)
    add(channel, "atom:link", rel="self", type=RSS_TYPE, href=feed.url)
    add(channel, "lastBuildDate", format_datetime(feed.updated_at, usegmt=True))
    for each in feed.entries:
        item, page = ET.SubElement(channel, "item"), feed.page_of(each)
        add(item, "title", each.title)
        add(item, "link", each.link or page)
        add(item, "comments", page)
        add(item, "guid", feed.tag(each), isPermaLink="false")
        add(item, "pubDate", format_datetime(each.posted_at, usegmt=True))
        if each.poster:
            add(item, "dc:creator", each.poster)
        for group in each.groups:
            add(item, "category", group)
        if html := feed.html_of(each):
            add(item, "description", html)
    return root


def atom(feed: WebFeed) -> ET.Element:
    root = ET.Element("feed", {"xmlns": ATOM})
    add(root, "id", feed.url)
    add(root, "title", feed.title)
    add(root, "updated", feed.updated_at.isoformat())
    add(root, "link", rel="self", type=ATOM_TYPE, href=feed.url)
    add(root, "link", rel="alternate", type="text/html", href=feed.page)
    for each in feed.entries:
        item, page = ET.SubElement(root, "entry"), feed.page_of(each)
        add(item, "id", feed.tag(each))
        add(item, "title", each.title)
        add(item, "published", each.posted_at.isoformat())
        add(item, "updated", each.updated_at.isoformat())
        add(item, "link", rel="alternate", href=each.link or page)
        add(item, "link", rel="replies", type="text/html", href=page)
        if each.poster:
            author = ET.SubElement(item, "author")
            add(author, "name", each.poster)
            add(author, "uri", f"{feed.site}/user/{each.poster}")
        for group in each.groups:
            add(item, "category", term=group)
        if html := feed.html_of(each):
            add(item, "content", html, type="html")
    return root


def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> None:
    """Add an element, without the characters that XML forbids."""
    allowed = {name: FORBIDDEN.sub("", value) for name, value in attributes.items()}
    ET.SubElement(parent, tag, allowed).text = FORBIDDEN.sub("", text)


Find = Callable[[Request, str], Awaitable[FeedSource]]  # reads what a feed shows, in an order
Write = Callable[[WebFeed], ET.Element]  # makes the XML of a feed
SOURCES: dict[str, Find] = {  # by the path of the feed's folder
    "": site_articles,
    "/group/{name}": group_articles,
    "/user/{name}": user_articles,
    "/comments": site_comments,
    "/group/{name}/comments": group_comments,
}
FORMATS: dict[str, tuple[Write, str]] = {"rss": (rss, RSS_TYPE), "atom": (atom, ATOM_TYPE)}
