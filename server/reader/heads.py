"""
What a page has before its script runs: its `<head>`, and its content as HTML.

A small query of the public GraphQL schema reads it, without the session of the request. Addresses are relative, so that
they hold under any prefix of a proxy and contain no `Host`; with `UPVOTE_PUBLIC_URL` the canonical one is absolute.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from server import documents
from server.branding.files import PAGES as SITE_PAGES
from server.markdown_html import text_of
from server.reader.articles import article_page
from server.reader.comment_list import comments
from server.reader.comment_page import comment_page, read_comment
from server.reader.frames import render_page, shown_orders
from server.reader.front_page import LISTS, Ranking, front_page, ranking_of, read_front_page
from server.reader.groups import group, groups
from server.reader.metadata import NOT_FOUND, UNKNOWN, PageMetadata
from server.reader.moderation_log import moderation_log
from server.reader.removed_texts import removed_page
from server.reader.rendering import page_path, render_template
from server.reader.searches import search
from server.reader.top_lists import good, top
from server.reader.translations import alternates, canonical, languages_of, with_language, words_of
from server.reader.users import user
from server.words.words import Words
from store.offers import Offers, Registration
from store.records import article_number, comment_number

QUERY_TIMEOUT = 2  # seconds that a page waits for its query
DESCRIPTION_LENGTH = 200  # characters
MAX_PAGE = 200_000  # bytes of a page
FRAME_BYTES = 2_000  # of these, for what is in a page beside its head and its content
POSTING = '<script type="application/ld+json">{}</script>'
# the names of the titles of lists, by their paths
LIST_TITLES = {path: f"{name}-title" for path, name in LISTS.items()} | {
    "groups": "groups-title",
    "comments": "comments-title",
}
LOG_TITLE = "moderation-log"


@dataclass(frozen=True, slots=True)
class Head:
    """
    `html` are elements of `<head>`. `content` is what is shown until the script has its data, "" on pages that need the
    script. Both are HTML in which all values are escaped. The page has this status and these headers, and a script if
    `is_scripted`.
    """

    html: str
    content: str = ""
    status: int = 200
    is_scripted: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)


async def head_of(request: Request) -> Head:
    """
    The head and the content of the page of this path. One query, one or two more for an article or a comment that is
    not there; none for unknown paths.

    If the query is refused, or not answered within `QUERY_TIMEOUT`, the head has only the title of the site, or of a
    ranking, and the status of the failure. The page is sent all the same, and its script asks again. The address of a
    comment below a wrong article is permanently redirected to the one below its own.
    """
    try:
        async with asyncio.timeout(QUERY_TIMEOUT):
            return head(request, await page_metadata(request))
    except HTTPException as error:
        return replace(
            head(request, metadata_without_query(request)), status=error.status_code, headers=error.headers or {}
        )
    except TimeoutError:
        return replace(head(request, metadata_without_query(request)), status=503, headers=documents.UNAVAILABLE)


def head_of_unknown_path(request: Request) -> Head:
    """The head of a path that no page has."""
    return head(request, NOT_FOUND)


async def page_metadata(request: Request) -> PageMetadata:
    """What is known about the page of this path, and its content: each kind of page has a module."""
    match request.scope["path"].strip("/").split("/"):
        case [""]:
            return await front_page_metadata(request)
        case ["article", number]:
            return await article(request, number)
        case ["article", number, "comment", comment_digits]:
            return await comment(request, number, comment_digits)
        case ["group", name]:
            return await group(request, name)
        case ["user", name]:
            return await user(request, name)
        case ["user", name, part]:
            return await user(request, name, part)
        case ["top", period]:
            return await top(request, period)
        case ["good"]:
            return await good(request)
        case ["groups"]:
            return await groups(request)
        case ["comments"]:
            return await comments(request)
        case ["search"]:
            return await search(request)
        case ["log"]:  # without a path, so not for search engines: what it says stays with the site
            return PageMetadata(words_of(request)(LOG_TITLE), content=await moderation_log(request))
        case [name] if name in SITE_PAGES:
            return site_page(request, name)
    return UNKNOWN


def site_page(request: Request, name: str) -> PageMetadata:
    """A page of the operator's, whole as HTML: it needs no script. Its text is in the site's language, as written."""
    text = request.app.state.files.pages.get(name)
    if text is None:
        return NOT_FOUND
    title = text.title or words_of(request)(f"page-{name}")
    written_in = languages_of(request).site
    offers: Offers = request.app.state.store.users.offers
    content = render_page(
        request,
        "site_page.html",
        text=text,
        title=title,
        written_in=written_in,
        can_register=offers.has_passwords and offers.registration is not Registration.CLOSED,
    )
    description = text_of(text.html, DESCRIPTION_LENGTH)
    return PageMetadata(title, description, path=name, content=content, is_scripted=False, is_translated=False)


def metadata_without_query(request: Request) -> PageMetadata:
    """What is known about a page without a query."""
    words = words_of(request)
    match request.scope["path"]:
        case "/":
            return ranking_metadata(words, ranking_of(request))
        case "/log":
            return PageMetadata(words(LOG_TITLE))
        case path if title := LIST_TITLES.get(path.strip("/")):
            return PageMetadata(words(title), path=path.strip("/"))
    return UNKNOWN


async def front_page_metadata(request: Request) -> PageMetadata:
    ranking = ranking_of(request)
    if ranking is None:
        return NOT_FOUND
    articles = await read_front_page(request, ranking)
    metadata, content = ranking_metadata(words_of(request), ranking), front_page(request, ranking, articles)
    path = None if ranking.is_beyond(articles) else metadata.path
    return replace(metadata, description=request.app.state.files.welcome, path=path, content=content)


def ranking_metadata(words: Words, ranking: Ranking | None) -> PageMetadata:
    if ranking is None:
        return NOT_FOUND
    title = ranking.title(words) if ranking.query else ""  # `/` has the name of the site
    return PageMetadata(title, path=ranking.query, order=ranking.order)


async def article(request: Request, number: str) -> PageMetadata:
    if article_number(f"article:{number}") is None:
        return NOT_FOUND
    found = await article_page(request, number)
    if found is None:
        return await gone(request, f"article:{number}")
    return PageMetadata(
        found.title,
        description=found.plain,
        path=found.path,
        published_at=found.posted_at,
        content=found.html,
        posting=found.posting,
    )


async def comment(request: Request, number: str, comment_digits: str) -> PageMetadata:
    if comment_number(f"comment:{comment_digits}") is None:
        return NOT_FOUND
    found = await read_comment(request, comment_digits)
    if found is None:
        return await gone(request, f"comment:{comment_digits}", f"article:{number}")
    if found["article"]["id"] != f"article:{number}":
        raise HTTPException(308, headers={"Location": other_article(request, found)})
    drawn = await comment_page(request, found)
    path = None if found["state"] == "REMOVED" else drawn.path  # then only what answers it is there
    return PageMetadata(
        drawn.title, description=drawn.plain, path=path, published_at=drawn.posted_at, content=drawn.html
    )


def other_article(request: Request, comment: Mapping[str, Any]) -> str:
    """The address, relative to that of a comment below a wrong article, of the comment below its own."""
    path = f"../../{page_path(comment['article']['id']).partition('/')[2]}/{page_path(comment['id'])}"
    return f"{path}?{request.url.query}" if request.url.query else path


async def gone(request: Request, *subject_ids: str) -> PageMetadata:
    """
    The page in place of the first of some articles and comments that moderators have removed: status 410 tells search
    engines, and the page says why. Not found if they have removed none.
    """
    content = await removed_page(request, *subject_ids)
    return PageMetadata(words_of(request)("removed"), content=content, status=410) if content else NOT_FOUND


def head(request: Request, metadata: PageMetadata) -> Head:
    """The head of a page, and its content with links that keep the language."""
    site, words = request.app.state.site_name, words_of(request)
    title = words("not-found") if metadata.status == 404 else metadata.title
    path, paths_by_language = metadata.path, list[tuple[str, str]]()
    if path is not None and metadata.is_translated:
        path, paths_by_language = canonical(request, path), [*alternates(request, path)]
    html = render_template(
        words,
        "head.html",
        page=metadata,
        site=site,
        title=f"{title} · {site}" if title else site,
        words=words,
        path=path,
        alternates=paths_by_language,
        languages=request.app.state.languages,
        orders=shown_orders(request),
        front_doors=" ".join(request.app.state.front_doors),  # names of services at which users log in
        login_url=request.app.state.login_url,
        offers=request.app.state.store.users.offers,
        sends_mail=request.app.state.store.site.offers_mail,
        groups=request.app.state.store.groups,
        files=request.app.state.files,
        public_url=request.app.state.public_url.setting,
    )
    shown = render_page(request, "not_found.html", more="") if metadata is NOT_FOUND else metadata.content
    content = with_language(request, shown)
    if metadata.posting:
        room = MAX_PAGE - FRAME_BYTES - len(html.encode()) - len(content.encode())
        html += POSTING.format(metadata.posting(room))
    return Head(html, content, metadata.status, metadata.is_scripted)
