"""
What a page has before its script runs: its `<head>`, the front page as HTML, and in `<noscript>` the text of an article
or a comment.

A small query over the contract reads it, without the session of the request. Addresses are relative, so that they hold
under any prefix of a proxy and contain no `Host`; with `UPVOTE_PUBLIC_URL` the canonical one is absolute.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from server import documents
from server.markdown_html import cut, render, text_of
from server.reader.front_page import LISTS, Ranking, front_page, kept_orders, name_link, ranking_of
from store.links import web_address
from store.records import article_number, comment_number

SECONDS = 2  # that a page waits for its query
DESCRIPTION_LENGTH = 200  # characters
TEXT_LENGTH = 10_000  # characters of a text in `<noscript>`
ORDERS = "upvote-orders"  # the name of the element that tells the script which orders the store keeps
LIST_TITLES = {path: title for path, (_, title) in LISTS.items()} | {"groups": "Groups"}

ARTICLE = """query ArticleHead($id: ID!) {
  article(id: $id) { title link content postedAt poster { username } groups { name } }
}"""
COMMENT = """query CommentHead($id: ID!) {
  comment(id: $id) { content postedAt poster { username } article { id title } }
}"""
GROUP = "query GroupHead($name: String!) { group(name: $name) { name articles(first: 1) { totalCount } } }"
USER = "query UserHead($name: String!) { user(username: $name) { username } }"


@dataclass(frozen=True, slots=True)
class Head:
    """
    `html` are elements of `<head>`, `content` is what is shown until the script has its data, `noscript` is the content
    of `<noscript>`; all are escaped. Status and headers are those of the page.
    """

    html: str
    content: str = ""
    noscript: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """
    What is known about a page. `path` is its canonical one, without a slash at its start, and `feeds` the path of its
    feeds, up to the name of the file. A page without `path` is not for search engines. `content` and `noscript` are
    those of the head.
    """

    title: str = ""
    description: str = ""
    path: str | None = None
    feeds: str = ""
    order: str = ""
    published_at: str = ""
    content: str = ""
    noscript: str = ""
    status: int = 200


NOT_FOUND = Page("Not found", status=404)
UNKNOWN = Page()


async def head_of(request: Request) -> Head:
    """
    The head of the page of this path: one small query, or none for pages that list articles but the front page.

    If it is refused, or not answered within `SECONDS`, the head has the name of the site and that of a ranking only.
    The status says so to search engines, while the page comes and tries itself.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return head(request, await find(request))
    except HTTPException as error:
        return replace(head(request, known_page(request)), status=error.status_code, headers=error.headers or {})
    except TimeoutError:
        return replace(head(request, known_page(request)), status=503, headers=documents.UNAVAILABLE)


def head_of_nothing(request: Request) -> Head:
    """The head of a path that no page has."""
    return head(request, NOT_FOUND)


async def find(request: Request) -> Page:
    match request.scope["path"].strip("/").split("/"):
        case [""]:
            return await ranking_page(request)
        case ["article", number]:
            return await article(request, number)
        case ["article", number, "comment", comment_of]:
            return await comment(request, number, comment_of)
        case ["group", name]:
            return await group(request, name)
        case ["user", name] | ["user", name, "comments" | "followers" | "following"]:
            return await user(request, name)
        case [*segments] if title := LIST_TITLES.get("/".join(segments)):
            return Page(title, path="/".join(segments))
    return UNKNOWN


def known_page(request: Request) -> Page:
    """What is known about a page without a query."""
    return page_of(ranking_of(request)) if request.scope["path"] == "/" else UNKNOWN


async def ranking_page(request: Request) -> Page:
    ranking = ranking_of(request)
    return replace(page_of(ranking), content=await front_page(request, ranking)) if ranking else NOT_FOUND


def page_of(ranking: Ranking | None) -> Page:
    if ranking is None:
        return NOT_FOUND
    return Page(ranking.title, path=ranking.query, order=ranking.named_order)


async def article(request: Request, number: str) -> Page:
    if article_number(f"article:{number}") is None:
        return NOT_FOUND
    found = (await documents.query(request, ARTICLE, {"id": f"article:{number}"}))["article"]
    if found is None:
        return NOT_FOUND
    html = await rendered(found)
    return Page(
        found["title"],
        text_of(html, DESCRIPTION_LENGTH) or about(found),
        f"article/{number}",
        published_at=found["postedAt"],
        noscript=written(title_link(found), found, html),
    )


async def comment(request: Request, number: str, comment_of: str) -> Page:
    if comment_number(f"comment:{comment_of}") is None:
        return NOT_FOUND
    found = (await documents.query(request, COMMENT, {"id": f"comment:{comment_of}"}))["comment"]
    if found is None or found["article"]["id"] != f"article:{number}":
        return NOT_FOUND
    html = await rendered(found)
    title = f'<a href="article/{number}">{escape(found["article"]["title"])}</a>'
    return Page(
        f"Comment on {found['article']['title']}",
        text_of(html, DESCRIPTION_LENGTH),
        f"article/{number}/comment/{comment_of}",
        published_at=found["postedAt"],
        noscript=written(title, found, html),
    )


async def group(request: Request, name: str) -> Page:
    """A group that has no article is not found, as in feeds, and neither is a ranking of it that does not exist."""
    ranking = ranking_of(request)
    if ranking is None or not has_period(request):
        return NOT_FOUND
    found = (await documents.query(request, GROUP, {"name": name}))["group"]
    if found is None or not found["articles"]["totalCount"]:
        return NOT_FOUND
    path = f"group/{found['name']}"
    query = "" if "top" in request.query_params else ranking.query
    return Page(found["name"], f"Articles in {found['name']}", f"{path}{query}", f"{path}/", ranking.named_order)


def has_period(request: Request) -> bool:
    """Whether there is a list of the top of the period that the query names, if it names one."""
    period = request.query_params.get("top")
    return period is None or f"top/{period}" in LISTS


async def user(request: Request, name: str) -> Page:
    found = (await documents.query(request, USER, {"name": name}))["user"]
    if found is None:
        return NOT_FOUND
    segments = request.scope["path"].strip("/").split("/")
    path = f"user/{found['username']}"
    return Page(
        found["username"], f"Articles and comments of {found['username']}", "/".join([path, *segments[2:]]), f"{path}/"
    )


async def rendered(text: Mapping[str, Any]) -> str:
    [html] = await render([cut(text["content"] or "", TEXT_LENGTH)])
    return html


def about(article: Mapping[str, Any]) -> str:
    link = web_address(article["link"])
    return f"{link.hostname if link else ''}, posted by {article['poster']['username']}".lstrip(", ")


def title_link(article: Mapping[str, Any]) -> str:
    """The title of an article as HTML, with its link if it has one."""
    title, link = escape(article["title"]), web_address(article["link"])
    return f'<a rel="nofollow ugc noopener noreferrer" href="{escape(link.href)}">{title}</a>' if link else title


def written(title: str, text: Mapping[str, Any], html: str) -> str:
    """A title, and the text of an article or a comment, with who wrote it and the groups of an article."""
    by = name_link("user", text["poster"]["username"]) + " " if text["poster"] else ""
    groups = "".join(f" {name_link('group', each['name'])}" for each in text.get("groups", ()))
    date = f'<time datetime="{text["postedAt"]}">{text["postedAt"][:10]}</time>'
    body = f'<div class="markdown" dir="auto">{html}</div>' if html else ""
    return f'<h1 dir="auto">{title}</h1><p>{by}{date}{groups}</p>{body}'


def head(request: Request, page: Page) -> Head:
    site: str = request.app.state.site_name
    title = f"{page.title} · {site}" if page.title else site
    orders = " ".join(kept_orders(request))
    lines = [f"<title>{escape(title)}</title>", meta("name", "application-name", site), meta("name", ORDERS, orders)]
    if page.description:
        lines.append(meta("name", "description", page.description))
    if page.path is None:
        lines.append(meta("name", "robots", "noindex"))
    else:
        lines += [*addresses(request, page.path), *open_graph(page, site)]
    return Head("\n    ".join([*lines, *feeds(page, site)]), page.content, page.noscript, page.status)


def addresses(request: Request, path: str) -> Iterable[str]:
    """The canonical address, absolute only if a setting gives it: a prefix that a proxy removes is not known here."""
    public = request.app.state.public_url.setting
    yield f'<link rel="canonical" href="{escape(f"{public}/{path}" if public else path or "./")}">'
    if public:
        yield meta("property", "og:url", f"{public}/{path}")


def open_graph(page: Page, site: str) -> Iterable[str]:
    yield meta("property", "og:site_name", site)
    yield meta("property", "og:title", page.title or site)
    yield meta("property", "og:type", "article" if page.published_at else "website")
    if page.description:
        yield meta("property", "og:description", page.description)
    if page.published_at:
        yield meta("property", "article:published_time", page.published_at)


def feeds(page: Page, site: str) -> Iterable[str]:
    """Links to the feeds of what the page is about, in its order, and to those of the site."""
    titles = {"": site} if not page.feeds else {page.feeds: f"{page.title} · {site}", "": site}
    for path, title in titles.items():
        query = f"?order={page.order}" if page.order and path == page.feeds else ""
        for name, media_type in (("atom", "application/atom+xml"), ("rss", "application/rss+xml")):
            href = f"{path}{name}.xml{query}"
            yield f'<link rel="alternate" type="{media_type}" title="{escape(title)}" href="{escape(href)}">'


def meta(kind: str, name: str, content: str) -> str:
    return f'<meta {kind}="{name}" content="{escape(content)}">'
