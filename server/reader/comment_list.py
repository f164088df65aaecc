"""The comments of the site or of a group, newest first: `reader/src/pages/CommentsPage.tsx` as HTML."""

from starlette.requests import Request

from server import documents
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, canonical_of, neighbours, page_of
from server.reader.frames import address, render_page
from server.reader.groups import EXISTENCE, exists, no_group
from server.reader.lines import COMMENT_LINE, with_texts
from server.reader.metadata import PageMetadata
from server.reader.rendering import segment
from server.reader.translations import words_of

COMMENTS = f"""query CommentsHtml({VARIABLES}) {{
  comments({ARGUMENTS}) {{ {PAGE_INFO} nodes {{ {COMMENT_LINE} }} }}
}}"""
COMMENTS_OF_GROUP = f"""query GroupCommentsHtml($group: String!, {VARIABLES}) {{
  comments(group: $group, {ARGUMENTS}) {{ {PAGE_INFO} nodes {{ {COMMENT_LINE} }} }}
  group(name: $group) {{ name {EXISTENCE} }}
}}"""


async def comments(request: Request) -> PageMetadata:
    """
    One query reads a page of comments. Those of a group that does not exist are "Not found", as the group is.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    group = request.query_params.get("group") or None
    of_group = {"group": group} if group else {}
    data = await documents.query(request, COMMENTS_OF_GROUP if group else COMMENTS, {**of_group, **page_of(request)})
    if group and not exists(data["group"]):
        return no_group(request, data["group"])
    found, words = data["comments"], words_of(request)
    title = words("comments-in", group=group) if group else words("comments-title")
    content = render_page(
        request,
        "comments.html",
        title=title,
        group=group,
        comments=await with_texts(found["nodes"]),
        feed=f"group/{segment(group)}/comments/rss.xml" if group else "comments/rss.xml",
        **neighbours("comments", found["pageInfo"], {"group": group}),
    )
    return PageMetadata(title, path=canonical_of(request, address("comments", {"group": group})), content=content)
