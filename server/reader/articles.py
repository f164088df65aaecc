"""
The page of an article with the first of its comments, as HTML and as data for search engines
(https://schema.org/DiscussionForumPosting). It has the elements, classes and texts of
`reader/src/pages/ArticlePage.tsx`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup
from starlette.requests import Request

from server import documents
from server.reader.frames import address, render_page
from server.reader.rendering import json_in_html, page, segment
from server.reader.texts import RenderedText, render_texts
from server.reader.threads import Comment, ShownThread, thread_of
from server.reader.translations import words_of
from server.words.words import Words
from store.links import web_address
from store.records import DELETED

PAGE_SIZE = 100  # comments
MAX_PAGE, HEAD_BYTES = 200_000, 12_000  # bytes of a page, and of its head without the data for search engines
ORDERS = ("BEST", "VOTES", "NEWEST", "OLDEST", "CONTROVERSIAL")  # of comments; the first is the default
ROW = "id depth state content removal { reason } postedAt editedAt votes poster { username }"
THREAD = f"pageInfo {{ hasNextPage }} edges {{ cursor hiddenReplyCount node {{ {ROW} }} }}"
ARTICLE = f"""query ArticlePageHtml($id: ID!, $order: CommentOrder!, $after: String) {{
  article(id: $id) {{
    id title link content isLocked isCommentingOpen lock {{ reason }} votes commentCount postedAt editedAt
    poster {{ username }} groups {{ name }}
    thread(order: $order, first: {PAGE_SIZE}, after: $after) {{ {THREAD} }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """`posting` is the data for search engines, `path` the canonical one."""

    title: str
    plain: str
    path: str
    posted_at: str
    html: str
    posting: Mapping[str, Any]


async def article_page(request: Request, number: str) -> ArticlePage | None:
    """
    The page of an article, in the order and from the comment that the address names. One query reads it, as everybody.

    Raises:
        HTTPException: those of `documents.query`; 400 for a cursor of something else.
    """
    words = words_of(request)
    order, after = comment_order(request), request.query_params.get("after") or None
    variables = {"id": f"article:{number}", "order": order, "after": after}
    article = (await documents.query(request, ARTICLE, variables))["article"]
    if article is None:
        return None
    edges = article["thread"]["edges"]
    text, *texts = await render_texts([each["content"] or "" for each in (article, *(edge["node"] for edge in edges))])
    thread = thread_of(words, article, edges, texts, datetime.now(UTC), size=len(text.html.encode()))
    path, named = page(article["id"]), None if order == "BEST" else order
    html = render_page(
        request,
        "article.html",
        article=article,
        text=text,
        **page_of_comments(words, path, order, after, thread),
        log_in=address("log-in", {"next": f"/{address(path, {'order': named})}"}),
    )
    plain = text.plain or host_and_poster(words, article)
    canonical = path if named else address(path, {"after": after})
    data = posting(request, article, text, thread, MAX_PAGE - HEAD_BYTES - len(html.encode()))
    return ArticlePage(article["title"], plain, canonical, article["postedAt"], html, data)


def page_of_comments(
    words: Words, path: str, order: str, after: str | None, thread: ShownThread
) -> dict[str, Markup | str | list[tuple[str, str, bool]]]:
    """
    For a template: rows of comments, the links to their orders, each as (address, name, whether it is the current one),
    and the addresses of the first and the next page; "" where there is none.
    """
    named = None if order == "BEST" else order
    orders = [
        (address(path, {"order": each if each != "BEST" else None}), words(f"comments-{each.lower()}"), each == order)
        for each in ORDERS
    ]
    return {
        "rows": Markup("".join(thread.rows)),
        "orders": orders,
        "first": address(path, {"order": named}) if after else "",
        "next": address(path, {"order": named, "after": thread.next}) if thread.next else "",
    }


def comment_order(request: Request) -> str:
    order = request.query_params.get("order", "")
    return order if order in ORDERS else "BEST"


def host_and_poster(words: Words, article: Mapping[str, Any]) -> str:
    link, name = web_address(article["link"]), article["poster"]["username"]
    return words("host-and-poster", host=link.hostname, name=name) if link else words("posted-by", name=name)


def posting(
    request: Request, article: Mapping[str, Any], text: RenderedText, thread: ShownThread, size: int
) -> dict[str, Any]:
    """
    The article with the first comments of the page, as many as fit into `size` bytes. Addresses are absolute only if a
    setting gives the public one.
    """
    public_url = request.app.state.public_url.setting
    base = f"{public_url}/" if public_url else ""
    link = web_address(article["link"])
    path = page(article["id"])
    data = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "url": f"{base}{path}",
        "headline": article["title"],
        **written(base, article, text),
        **({"sharedContent": {"@type": "WebPage", "url": link.href}} if link else {}),
        "interactionStatistic": [counter("Like", article["votes"]), counter("Comment", article["commentCount"])],
    }
    return {**data, "comment": comments(base, path, thread.comments, size - json_size(data))}


def comments(base: str, path: str, shown: Sequence[tuple[Comment, RenderedText]], size: int) -> list[dict[str, Any]]:
    """The first comments, as many as fit into `size` bytes."""
    found = list[dict[str, Any]]()
    for comment, text in shown:
        if comment["content"] is None:
            continue
        each = {"@type": "Comment", "url": f"{base}{path}/{page(comment['id'])}", **written(base, comment, text)}
        size -= json_size(each)
        if size < 0:
            break
        found.append(each)
    return found


def json_size(value: Mapping[str, Any]) -> int:
    """The bytes of a value in a list: one is that of its comma."""
    return len(json_in_html(value).encode()) + 1


def author(base: str, username: str) -> dict[str, str]:
    """Who has been deleted has no page."""
    address = {} if username == DELETED else {"url": f"{base}user/{segment(username)}"}
    return {"@type": "Person", "name": username, **address}


def written(base: str, text: Mapping[str, Any], rendered: RenderedText) -> dict[str, Any]:
    """Who wrote a text, when, and how it begins. Google wants the text of each comment."""
    username = (text["poster"] or {}).get("username")
    return {
        **({"author": author(base, username)} if username else {}),
        "datePublished": text["postedAt"],
        **({"dateModified": text["editedAt"]} if text["editedAt"] else {}),
        **({"text": rendered.plain} if rendered.plain else {}),
    }


def counter(action: str, count: int) -> dict[str, Any]:
    kind = "InteractionCounter"
    return {"@type": kind, "interactionType": f"https://schema.org/{action}Action", "userInteractionCount": count}
