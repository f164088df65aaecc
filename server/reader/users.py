"""
The pages of a user: articles, comments, followers, and those whom the user follows. They have the elements and texts of
`reader/src/pages/UserPage.tsx`, so that nothing moves when the page's script takes over.
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from server import documents
from server.reader.avatars import picture_of
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, canonical_of, neighbours, page_of
from server.reader.frames import render_page
from server.reader.lines import ANSWERED, ARTICLE_LINE, COMMENT_LINE, quotes_of, with_texts
from server.reader.metadata import NOT_FOUND, PageMetadata
from server.reader.rendering import segment
from server.reader.texts import render_texts
from server.reader.translations import words_of
from server.words.words import Words

PERSON = "username karma"
# by the last segment of the path: the field of a user with a list, and what the page needs of each item
LINES = {"": ("articles", ARTICLE_LINE), "comments": ("comments", f"{COMMENT_LINE} {ANSWERED}")} | {
    part: (part, PERSON) for part in ("followers", "following")
}
EMPTY = {  # the names of the texts for an empty list, by the last segment of the path
    "": "no-articles-yet",
    "comments": "no-comments-yet",
    "followers": "no-followers-yet",
    "following": "follows-nobody",
}
QUERIES = {
    part: f"""query User{field.capitalize()}Html($username: String!, {VARIABLES}) {{
  user(username: $username) {{
    id username displayName about avatarUrl karma joinedAt isBanned
    followed: followers(first: 1) {{ totalCount }} follows: following(first: 1) {{ totalCount }}
    items: {field}({ARGUMENTS}) {{ {PAGE_INFO} nodes {{ {line} }} }}
  }}
}}"""
    for part, (field, line) in LINES.items()
}


async def user(request: Request, name: str, part: str = "") -> PageMetadata:
    """
    A page of a user; `part` is the last segment of its path, "" for the articles. One query reads it.

    Raises:
        HTTPException: what `documents.query` raises; 400 for a cursor of another list.
    """
    found = (await documents.query(request, QUERIES[part], {"username": name, **page_of(request)}))["user"]
    if found is None:
        return NOT_FOUND
    username, items, words = found["username"], found["items"], words_of(request)
    path = f"user/{segment(username)}"
    shown = "/".join([path, part]) if part else path
    [about] = await render_texts([found["about"] or ""])
    content = render_page(
        request,
        "user.html",
        user=found,
        feeds_path=path,
        part=part,
        about=about,
        picture=picture_of(request, username, found["avatarUrl"]),
        parts=tabs(words, found, path, part),
        items=await with_texts(items["nodes"], size=len(about.html.encode())) if part == "comments" else items["nodes"],
        quotes=await quotes_of(items["nodes"]) if part == "comments" else {},
        empty=words(EMPTY[part]),
        **neighbours(shown, items["pageInfo"]),
    )
    description = words("articles-and-comments-of", name=username)
    return PageMetadata(username, description, canonical_of(request, shown), feeds=f"{path}/", content=content)


def tabs(words: Words, user: Mapping[str, Any], path: str, part: str) -> list[tuple[str, str, bool]]:
    """The address and the name of each page of a user, and whether it is the one that is shown."""
    names = {
        "": words("user-articles"),
        "comments": words("user-comments"),
        "followers": words("followers", count=user["followed"]["totalCount"]),
        "following": words("following-count", count=user["follows"]["totalCount"]),
    }
    return [(f"{path}/{each}" if each else path, name, each == part) for each, name in names.items()]
