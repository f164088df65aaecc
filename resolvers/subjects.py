"""
Articles and comments as the subjects of moderators' actions, flags and saved lists. Both have numbers of one sequence,
so a number belongs to one of them only.
"""

from asyncio import gather
from collections.abc import Iterable, Sequence

from resolvers import comments
from resolvers.context import Context
from resolvers.pagination import Nodes
from store import records
from store.errors import Invalid
from store.records import Article, Comment


def kind_and_number(subject_id: str) -> tuple[str, int]:
    """`article` or `comment`, and the number, in the input `subjectId`. Raises Invalid if it is malformed."""
    if number := records.article_number(subject_id):
        return "article", number
    if number := records.comment_number(subject_id):
        return "comment", number
    raise Invalid("a subject's id looks like article:1541 or comment:1541", "subjectId")


async def _read(context: Context, numbers: Iterable[int]) -> list[Article | Comment | None]:
    """The articles and comments with these numbers, as the viewer may read them by id."""
    wanted = list(numbers)
    articles, found = await gather(context.articles(wanted), comments.of_viewer(context, wanted))
    return [article or comment for article, comment in zip(articles, found, strict=True)]


def bytes_of(subjects: Sequence[Article | Comment | None]) -> int:
    """The bytes of memory that some subjects take."""
    return sum([each.held_bytes for each in subjects if each])


SUBJECT_NODES = Nodes(_read, bytes_of)  # how connections read their articles and comments
