"""What the lines of lists need: an article, a comment outside of its thread, and texts with marked matches."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import Markup, escape

from server.reader.texts import MAX_TEXTS, RenderedText, render_texts

ARTICLE_LINE = "id title link votes commentCount postedAt poster { username } groups { name }"
COMMENT_LINE = "id content votes postedAt author: poster { username } article { id title }"
MATCH = re.compile("\ue000([^\ue001]*)\ue001")  # as in reader/src/components/Matches.tsx
MARKS = str.maketrans("", "", "\ue000\ue001")


async def with_texts(comments: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], RenderedText]]:
    """Each comment with its rendered text, or with its first words where the texts before it have `MAX_TEXTS`."""
    texts = await render_texts([comment["content"] or "" for comment in comments])
    sizes = accumulate(len(text.html.encode()) for text in texts)
    return [
        (comment, text if size <= MAX_TEXTS else RenderedText(escape(text.plain), text.plain, is_plain=True))
        for comment, text, size in zip(comments, texts, sizes, strict=True)
    ]


def marked(excerpt: str) -> Markup:
    """An excerpt of a search as HTML: plain text, in which each match stands between U+E000 and U+E001."""
    parts = MATCH.split(excerpt)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def unmarked(excerpt: str) -> str:
    return excerpt.translate(MARKS)
