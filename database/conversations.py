"""
Conversations in the database: the comments of an article, also those that are not shown, and the columns that the
archive fills in their rows when the article leaves Redis. An archived article, with its conversation, is in the
database only. The number of an article or a comment is the one in its id.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from database.statements import Statement, slices
from database.states import state_of
from store.records import Comment, ContentState

if TYPE_CHECKING:
    from database.statements import Connection


class KeptOfComment(NamedTuple):
    """
    What the archive adds to the row of a comment. `reply_count` counts its visible direct replies, `descendant_count`
    all visible comments below it. `path` and `notified` are fields of the hash that Redis had of it: its place in the
    tree of comments (branch_paths.lua), and whom it has notified (`store.notifications`).
    """

    reply_count: int
    descendant_count: int
    path: str
    notified: str | None


class KeptOfArticle(NamedTuple):
    """
    What the archive adds to the row of an article. `active_at` is the time of its newest comment, `left` when it left
    Redis (both unix milliseconds).

    The others, `HASH_FIELDS`, are fields of the hash that Redis had of it. `notified` says whom it has notified. Of an
    article that is removed, `held_by` names the rule of moderation that has kept it from being shown, and why;
    `unannounced` says what is left to be done when it is shown for the first time: `all` or only `notifications`.
    """

    active_at: int | None
    comment_count: int
    left: int
    notified: str | None = None
    held_by: str | None = None
    unannounced: str | None = None


HASH_FIELDS = ("notified", "held_by", "unannounced")


def comments(connection: "Connection", article: int) -> list[Comment]:
    """
    The comments of an article as their rows are, in no particular order. The rows lack the numbers of replies and
    whether a thread shows a comment: `archive.conversations` finds both.
    """
    rows = COMMENTS.run(connection, {"article": article})
    return [Comment(*[*columns, 0, state_of(state)]) for *columns, state in rows]  # 0 for the number of replies


def places(connection: "Connection", article: int) -> list[Comment]:
    """As `comments`, without posters and contents: what threads need to place the comments."""
    return [
        Comment(
            number=number,
            article=article,
            parent=parent,
            depth=depth,
            poster=None,
            content=None,
            posted_at=posted,
            edited_at=None,
            upvotes=up,
            downvotes=down,
            imported_votes=0,
            reply_count=0,
            state=state_of(state),
        )
        for number, parent, depth, posted, up, down, state in PLACES.run(connection, {"article": article})
    ]


def version(connection: "Connection", article: int) -> int | None:
    """
    The version of an archived conversation, by which a cached one is known to be current; None if the article is not
    archived with one. It is when the article left Redis (unix milliseconds), and a millisecond more for each change:
    an archived conversation changes only if a moderator annuls or restores votes.
    """
    found: int | None = VERSION.run(connection, {"article": article, "archived": True}).scalar()
    return found


def archived(connection: "Connection", numbers: Sequence[int]) -> list[Comment]:
    """The comments with these numbers whose article is archived."""
    found = []
    for some in slices(numbers):
        rows = ARCHIVED.run(connection, {"numbers": some, "archived": True})
        for *columns, reply_count, state, descendant_count in rows:
            # A comment is bare if it is neither visible nor above visible comments: no thread shows it.
            is_bare = state != ContentState.VISIBLE.name and not descendant_count
            found.append(Comment(*[*columns, reply_count or 0, state_of(state), is_bare]))
    return found


def articles_of(connection: "Connection", numbers: Sequence[int]) -> dict[int, int]:
    """The archived articles of comments, by the numbers of the comments."""
    return {each.number: each.article for each in archived(connection, numbers)}


def keep(connection: "Connection", kept: Iterable[tuple[int, KeptOfComment]]) -> None:
    """Add to the rows of comments what only Redis has."""
    if rows := [{"number": number, **each._asdict()} for number, each in kept]:
        KEEP.run(connection, rows)


def keep_article(connection: "Connection", article: int, kept: KeptOfArticle) -> None:
    KEEP_ARTICLE.run(connection, {"number": article, **kept._asdict()})


def left_since(connection: "Connection", since: int) -> list[int]:
    """The archived articles that have left Redis with a conversation since an instant (unix milliseconds)."""
    return list(LEFT_SINCE.run(connection, {"since": since, "archived": True}).scalars())


def forget(connection: "Connection", articles: Sequence[int]) -> None:
    """Forget what the archive added to the rows of articles that had a conversation when they last left Redis."""
    for some in slices(articles):
        FORGET.run(connection, {"numbers": some})


def unknown_states(connection: "Connection", articles: Sequence[int]) -> list[tuple[int, int | None, str]]:
    """
    The states of some articles and their comments that are no known words: each as the number of the article, that of
    the comment (None if the state is the article's own), and the word.
    """
    return [
        (article, number, word)
        for some in slices(articles)
        for article, number, word in UNKNOWN_STATES.run(connection, {"numbers": some})
    ]


def renew(connection: "Connection", comments: Sequence[int]) -> None:
    """Give the conversations of some comments new versions, as counts in their rows have changed."""
    for some in slices(comments):
        RENEW.run(connection, {"numbers": some})


def kept(connection: "Connection", article: int) -> dict[int, KeptOfComment]:
    """What was added to the rows of the comments of an archived article."""
    return {number: KeptOfComment(*columns) for number, *columns in KEPT.run(connection, {"article": article})}


def fields_kept(connection: "Connection", articles: Sequence[int]) -> dict[int, dict[str, str]]:
    """What the archive has kept of the hashes of some articles: by number, the texts by the names of the fields."""
    found: dict[int, dict[str, str]] = {number: {} for number in articles}
    for some in slices(articles):
        for number, *texts in FIELDS_KEPT.run(connection, {"numbers": some, "archived": True}):
            found[number] = {name: text for name, text in zip(HASH_FIELDS, texts, strict=True) if text is not None}
    return found


# The first fields of a comment. `reply_count`, `state` and `is_bare` follow them.
COLUMNS = "number, article, parent, depth, poster, content, posted_ms, edited_ms, up, down, imported_votes"
COMMENTS = Statement(f"SELECT {COLUMNS}, state FROM comments WHERE article = :article")
PLACES = Statement("SELECT number, parent, depth, posted_ms, up, down, state FROM comments WHERE article = :article")
ARCHIVED = Statement(
    f"""SELECT {COLUMNS}, reply_count, state, descendant_count FROM comments WHERE number IN :numbers
    AND EXISTS (SELECT 1 FROM articles WHERE articles.number = comments.article AND articles.archived = :archived)""",
    "numbers",
)
VERSION = Statement("SELECT left_ms FROM articles WHERE number = :article AND archived = :archived")
KEEP = Statement("""UPDATE comments SET reply_count = :reply_count, descendant_count = :descendant_count, path = :path,
  notified = :notified WHERE number = :number""")
KEEP_ARTICLE = Statement("""UPDATE articles SET notified = :notified, held_by = :held_by, unannounced = :unannounced,
  active_ms = :active_at, comment_count = :comment_count, left_ms = :left WHERE number = :number""")
LEFT_SINCE = Statement("SELECT number FROM articles WHERE left_ms >= :since AND archived = :archived")
FORGET = Statement(
    """UPDATE articles SET notified = NULL, held_by = NULL, unannounced = NULL, active_ms = NULL, comment_count = NULL,
    left_ms = NULL WHERE number IN :numbers AND left_ms IS NOT NULL""",
    "numbers",
)
KNOWN_STATES = ", ".join(f"'{name}'" for name in ContentState.__members__)
UNKNOWN_STATES = Statement(
    f"""SELECT number, NULL, state FROM articles WHERE number IN :numbers AND state NOT IN ({KNOWN_STATES})
    UNION ALL SELECT article, number, state FROM comments
    WHERE article IN :numbers AND state NOT IN ({KNOWN_STATES})""",
    "numbers",
)
RENEW = Statement(
    """UPDATE articles SET left_ms = left_ms + 1
    WHERE left_ms IS NOT NULL AND number IN (SELECT article FROM comments WHERE comments.number IN :numbers)""",
    "numbers",
)
KEPT = Statement("SELECT number, reply_count, descendant_count, path, notified FROM comments WHERE article = :article")
FIELDS_KEPT = Statement(
    f"SELECT number, {', '.join(HASH_FIELDS)} FROM articles WHERE number IN :numbers AND archived = :archived",
    "numbers",
)
