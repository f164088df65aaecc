"""
The page of a comment as HTML: what it answers, and what answers it. It has the elements, classes and texts of
`reader/src/pages/CommentPage.tsx`, so that nothing moves when the page's script takes over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from markupsafe import escape
from starlette.requests import Request

from server import documents
from server.reader.articles import COMMENTS_PER_PAGE, ROW, THREAD, comment_order, page_of_comments
from server.reader.frames import address, render_page
from server.reader.rendering import page_path
from server.reader.texts import RenderedText, render_texts
from server.reader.threads import thread_of
from server.reader.translations import words_of

NEAREST = 4  # comments above it that are shown
MOST_ABOVE = 20_000  # bytes of the text of one of them; of a longer one the beginning is shown
COMMENT = f"""query CommentPageHtml($id: ID!, $order: CommentOrder!, $after: String) {{
  comment(id: $id) {{
    {ROW}
    ancestors {{ {ROW} }}
    article {{
      id title isLocked isCommentingOpen commentCount poster {{ username }}
      thread(under: $id, order: $order, first: {COMMENTS_PER_PAGE}, after: $after) {{ {THREAD} }}
    }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class CommentPage:
    """`plain` is the beginning of the text, `path` the canonical one."""

    title: str
    plain: str
    path: str
    posted_at: str
    html: str


async def read_comment(request: Request, comment_digits: str) -> Mapping[str, Any] | None:
    """
    A comment, all that it answers, and a page of what answers it, in the order and from the comment that the address
    names. One query reads it, without the session of the request.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    after = request.query_params.get("after") or None
    variables = {"id": f"comment:{comment_digits}", "order": comment_order(request), "after": after}
    found: Mapping[str, Any] | None = (await documents.query(request, COMMENT, variables))["comment"]
    return found


async def comment_page(request: Request, comment: Mapping[str, Any]) -> CommentPage:
    """The page of what `read_comment` has found."""
    words, order, article = words_of(request), comment_order(request), comment["article"]
    hidden = max(len(comment["ancestors"]) - NEAREST, 0)
    above = comment["ancestors"][hidden:]
    edges = [{"cursor": "", "hiddenReplyCount": 0, "node": node} for node in (*above, comment)]
    edges += article["thread"]["edges"]
    texts = await render_texts([edge["node"]["content"] or "" for edge in edges])
    own = texts[len(above)]
    texts[: len(above)] = [_cut(text) for text in texts[: len(above)]]
    thread = thread_of(words, article, edges, texts, datetime.now(UTC), current=comment["id"])
    path = f"{page_path(article['id'])}/{page_path(comment['id'])}"
    after = request.query_params.get("after") or None
    html = render_page(
        request,
        "comment.html",
        article=article,
        hidden=hidden,
        level=comment["depth"] + 1 - edges[0]["node"]["depth"],  # of the answers, as the page indents them
        **page_of_comments(words, path, order, after, thread),
    )
    title = words("comment-on-title", title=article["title"])
    canonical = path if order != "BEST" else address(path, {"after": after})
    return CommentPage(title, own.plain, canonical, comment["postedAt"], html)


def _cut(text: RenderedText) -> RenderedText:
    """A text above the comment; of a long one its beginning as plain text, under a digest of its own."""
    if len(text.html.encode()) <= MOST_ABOVE:
        return text
    return RenderedText(escape(text.plain), text.plain, is_plain=True, digest=b"cut" + text.digest)
