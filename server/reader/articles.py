"""
The page of an article with the first of its comments, as HTML and as data for search engines
(https://schema.org/DiscussionForumPosting). It has the elements, classes and texts of
`reader/src/pages/ArticlePage.tsx`, so that nothing moves when the page's script takes over.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from typing import Any

from markupsafe import Markup
from starlette.requests import Request

from server import documents
from server.markdown_html import cut
from server.reader.frames import address, render_page
from server.reader.rendering import json_in_html, page_path, segment
from server.reader.texts import PLAIN_LENGTH, RenderedText, render_texts
from server.reader.threads import ShownThread, thread_of
from server.reader.translations import words_of
from server.words.words import Words
from store.links import web_address
from store.records import DELETED

COMMENTS_PER_PAGE = 100
NESTED = ',"comment":[],'  # what the JSON of a comment has at most beside the comment itself
ORDERS = ("BEST", "VOTES", "NEWEST", "OLDEST", "CONTROVERSIAL")  # of comments; the first is the default
ROW = "id depth state content removal { reason } postedAt editedAt votes poster { username }"
THREAD = f"pageInfo {{ hasNextPage }} edges {{ cursor hiddenReplyCount node {{ {ROW} }} }}"
ARTICLE = f"""query ArticlePageHtml($id: ID!, $order: CommentOrder!, $after: String) {{
  article(id: $id) {{
    id title link content isLocked isCommentingOpen lock {{ reason }} votes commentCount postedAt editedAt
    poster {{ username }} groups {{ name }}
    thread(order: $order, first: {COMMENTS_PER_PAGE}, after: $after) {{ {THREAD} }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """
    `plain` is the beginning of the text, `path` the canonical one. `posting` makes the JSON for search engines, of at
    most as many bytes as it is given.
    """

    title: str
    plain: str
    path: str
    posted_at: str
    html: str
    posting: Callable[[int], Markup]


async def article_page(request: Request, number: str) -> ArticlePage | None:
    """
    The page of an article, in the order and from the comment that the address names. One query reads it, without the
    session of the request.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
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
    path, other_order = page_path(article["id"]), None if order == "BEST" else order
    html = render_page(
        request,
        "article.html",
        article=article,
        text=text,
        **page_of_comments(words, path, order, after, thread),
        log_in=address("log-in", {"next": f"/{address(path, {'order': other_order})}"}),
    )
    plain = text.plain or host_and_poster(words, article)
    canonical = path if other_order else address(path, {"after": after})
    public_url = request.app.state.public_url.setting  # without it addresses are relative
    data = partial(posting, f"{public_url}/" if public_url else "", article, text, thread)
    return ArticlePage(article["title"], plain, canonical, article["postedAt"], html, posting=data)


def page_of_comments(
    words: Words, path: str, order: str, after: str | None, thread: ShownThread
) -> dict[str, Markup | str | list[tuple[str, str, bool]]]:
    """
    For a template: rows of comments, the links to their orders, each as (address, name, whether it is the current one),
    and the addresses of the first and the next page; "" where there is none.
    """
    other_order = None if order == "BEST" else order
    orders = [
        (address(path, {"order": each if each != "BEST" else None}), words(f"comments-{each.lower()}"), each == order)
        for each in ORDERS
    ]
    return {
        "rows": Markup("".join(thread.rows)),
        "orders": orders,
        "first": address(path, {"order": other_order}) if after else "",
        "next": address(path, {"order": other_order, "after": thread.next}) if thread.next else "",
    }


def comment_order(request: Request) -> str:
    order = request.query_params.get("order", "")
    return order if order in ORDERS else "BEST"


def host_and_poster(words: Words, article: Mapping[str, Any]) -> str:
    link, name = web_address(article["link"]), article["poster"]["username"]
    return words("host-and-poster", host=link.hostname, name=name) if link else words("posted-by", name=name)


def posting(base: str, article: Mapping[str, Any], text: RenderedText, thread: ShownThread, size: int) -> Markup:
    """
    The article with the comments of the page, as JSON of about `size` bytes at most. Comments are whole: the largest
    are left out if not all fit. The article's text is cut if it alone does not fit, but not to less than
    `PLAIN_LENGTH`; where it has none, the title is the text, as Google wants one. All addresses in it begin with
    `base`.
    """
    link = web_address(article["link"])
    path = page_path(article["id"])
    data = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "url": f"{base}{path}",
        "headline": article["title"],
        **written(base, article, text.whole or article["content"] or article["title"]),
        **({"sharedContent": {"@type": "WebPage", "url": link.href}} if link else {}),
        "interactionStatistic": [counter("Like", article["votes"]), counter("Comment", article["commentCount"])],
        "comment": [],
    }
    comments = [
        (comment["depth"], answer(base, path, comment, text) if comment["content"] is not None else None)
        for comment, text in thread.comments
    ]
    whole = json_in_html({**data, "comment": nested(comments)})
    if len(whole.encode()) <= size:
        return whole
    alone = cut_to(size, data)
    sizes = [len(json_in_html(each).encode()) + len(NESTED) if each else 0 for _, each in comments]
    smallest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    # how many of the smallest fit beside the article
    count = bisect_right([*accumulate(sizes[each] for each in smallest_first)], size - len(alone.encode()))
    fitting = {*smallest_first[:count]}
    kept = [(depth, each if place in fitting else None) for place, (depth, each) in enumerate(comments)]
    return json_in_html({**data, "comment": nested(kept)})


def nested(comments: Sequence[tuple[int, Mapping[str, Any] | None]]) -> list[dict[str, Any]]:
    """
    Comments of a thread, each with its depth, as trees: the answers to a comment are its `comment`. What answers one
    that is left out (None) stands where that would.
    """
    root: dict[str, Any] = {"comment": []}
    above = [root]  # what is answered at each depth: the article, and the comments above
    for depth, comment in comments:
        del above[depth + 1 :]
        above += [above[-1]] * (depth + 1 - len(above))  # for depths whose comment is on an earlier page
        if comment is None:
            above.append(above[depth])
        else:
            made = {**comment}
            above[depth].setdefault("comment", []).append(made)
            above.append(made)
    answers: list[dict[str, Any]] = root["comment"]
    return answers


def answer(base: str, path: str, comment: Mapping[str, Any], text: RenderedText) -> dict[str, Any]:
    """A comment of the article at `path`, without those that answer it."""
    address = f"{base}{path}/{page_path(comment['id'])}"
    return {"@type": "Comment", "url": address, **written(base, comment, text.whole or comment["content"])}


def cut_to(size: int, data: dict[str, Any]) -> Markup:
    """The JSON of an article. Its text is cut until this has `size` bytes at most, or the text is short."""
    made = json_in_html(data)
    while (excess := len(made.encode()) - size) > 0 and len(text := data.get("text", "")) > PLAIN_LENGTH:
        text_size = len(json_in_html(text).encode())
        length = len(text) * (text_size - excess) // text_size
        data["text"] = cut(text, max(PLAIN_LENGTH, min(length, len(text) - 1)))
        made = json_in_html(data)
    return made


def author(base: str, username: str) -> dict[str, str]:
    """A user as schema.org has a person, with the address of their page; a deleted user has none."""
    address = {} if username == DELETED else {"url": f"{base}user/{segment(username)}"}
    return {"@type": "Person", "name": username, **address}


def written(base: str, text: Mapping[str, Any], plain: str) -> dict[str, Any]:
    """Who wrote a text, when, and the text, which Google wants of each comment."""
    return {
        "author": author(base, (text["poster"] or {"username": DELETED})["username"]),
        "datePublished": text["postedAt"],
        **({"dateModified": text["editedAt"]} if text["editedAt"] else {}),
        "text": plain,
    }


def counter(action: str, count: int) -> dict[str, Any]:
    """How many votes (`Like`) or comments (`Comment`) there are, as schema.org says it: no number below 0."""
    return {
        "@type": "InteractionCounter",
        "interactionType": f"https://schema.org/{action}Action",
        "userInteractionCount": max(0, count),
    }
