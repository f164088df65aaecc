"""Fields of Comment that are not attributes of its record."""

from collections.abc import Sequence

from resolvers.articles import keep_voters
from resolvers.context import Context
from store import records
from store.errors import NotFound
from store.records import Article, Comment, ContentState, User


def poster(comments: Sequence[Comment], context: Context) -> list[User | None]:
    return [records.user(comment.poster) if comment.poster else None for comment in comments]


def content(comments: Sequence[Comment], context: Context) -> list[str | None]:
    return [comment.content if comment.state is ContentState.VISIBLE else None for comment in comments]


async def article(comments: Sequence[Comment], context: Context) -> list[Article | NotFound]:
    articles = await context.reads.articles(comment.article for comment in comments)
    return [
        article or NotFound(f"article:{comment.article} was deleted", "articleId")
        for comment, article in zip(comments, articles, strict=True)
    ]


async def parent(comments: Sequence[Comment], context: Context) -> list[Comment | None]:
    numbers = [comment.parent for comment in comments if comment.parent]
    parents = iter(await context.reads.comments(numbers))
    return [next(parents) if comment.parent else None for comment in comments]


async def ancestors(comments: Sequence[Comment], context: Context) -> list[list[Comment]]:
    found = iter(await context.reads.ancestors([comment.number for comment in comments if comment.depth]))
    return [next(found) if comment.depth else [] for comment in comments]


async def descendant_count(comments: Sequence[Comment], context: Context) -> list[int]:
    return await context.reads.descendant_counts([comment.number for comment in comments])


async def is_voting_open(comments: Sequence[Comment], context: Context) -> list[bool]:
    articles = await context.reads.articles(comment.article for comment in comments)
    return [
        has_voters and article is not None and not article.is_locked
        for has_voters, article in zip(keep_voters(comments, context), articles, strict=True)
    ]
