"""
The peer `strawberry`, which the project is compared with: a plain Strawberry application over the same data, with
types, async resolvers, DataLoaders over redis.asyncio pipelines.
"""

from enum import Enum
from functools import partial
from typing import Any

import strawberry
from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader

from bench import plain

redis = plain.connect()


class Context:
    """What one request shares: its viewer, and the loaders, each of which reads what is asked for in one tick."""

    def __init__(self, authorization: str | None) -> None:
        self.authorization = authorization
        self.articles: DataLoader[int, Article] = DataLoader(read_articles)
        self.viewers: DataLoader[str, str | None] = DataLoader(partial(plain.viewers, redis))
        self.votes: DataLoader[int, str] = DataLoader(self.read_votes)
        self.voters: DataLoader[int, list[str]] = DataLoader(partial(plain.voters, redis))
        self.timelines: DataLoader[tuple[str, int], list[plain.Place]] = DataLoader(partial(plain.timelines, redis))

    async def viewer(self) -> str | None:
        return await self.viewers.load(self.authorization) if self.authorization else None

    async def read_votes(self, numbers: list[int]) -> list[str]:
        return await plain.votes(redis, numbers, await self.viewer() or "")


Info = strawberry.Info[Context, None]


@strawberry.enum
class VoteValue(Enum):
    UP = 1
    NONE = 0
    DOWN = -1


@strawberry.type
class Group:
    id: strawberry.ID
    name: str


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class User:
    username: str

    @strawberry.field
    def id(self) -> strawberry.ID:
        return strawberry.ID(f"user:{self.username.lower()}")

    @strawberry.field
    async def articles(self, info: Info, first: int = 25) -> "ArticleConnection":
        places = await info.context.timelines.load((self.username, first))
        return await connection(f"timeline:{self.username.lower()}", places, first, info.context)


@strawberry.type
class UserConnection:
    nodes: list[User]


@strawberry.type
class Article:
    stored: strawberry.Private[plain.Hash]
    number: strawberry.Private[int]
    id: strawberry.ID
    title: str
    link: str | None
    votes: int
    score: float
    posted_at: str
    poster: User
    groups: list[Group]

    @strawberry.field
    async def viewer_vote(self, info: Info) -> VoteValue | None:
        return await viewer_vote(self, info)

    @strawberry.field
    async def voters(self, info: Info, first: int = 25) -> UserConnection | None:
        names = await info.context.voters.load(self.number)
        return UserConnection(nodes=[User(username=name) for name in names[:first]])


@strawberry.type
class Comment:
    stored: strawberry.Private[plain.Hash]
    number: strawberry.Private[int]
    id: strawberry.ID
    votes: int

    @strawberry.field
    async def viewer_vote(self, info: Info) -> VoteValue | None:
        return await viewer_vote(self, info)


@strawberry.type
class ArticleEdge:
    cursor: str
    node: Article


@strawberry.type
class ArticleConnection:
    edges: list[ArticleEdge]
    nodes: list[Article]
    page_info: PageInfo


@strawberry.type
class Feed:
    @strawberry.field
    async def articles(self, info: Info, first: int = 25) -> ArticleConnection:
        username = await info.context.viewer() or ""
        return await connection(f"feed:{username}", await plain.feed(redis, username, first), first, info.context)


@strawberry.type
class Query:
    @strawberry.field
    async def articles(
        self, info: Info, group: str | None = None, first: int = 25, after: str | None = None
    ) -> ArticleConnection:
        listing, index = plain.listing(group)
        return await connection(listing, await plain.page(redis, index, first, after), first, info.context)

    @strawberry.field
    async def article(self, info: Info, id: strawberry.ID) -> Article | None:
        return await info.context.articles.load(int(id.removeprefix("article:")))

    @strawberry.field
    async def feed(self) -> Feed | None:
        return Feed()


@strawberry.input
class VoteInput:
    article_id: strawberry.ID
    value: VoteValue = VoteValue.UP


@strawberry.input
class VoteOnCommentInput:
    comment_id: strawberry.ID
    value: VoteValue = VoteValue.UP


@strawberry.type
class Refusal:
    message: str


@strawberry.type
class VotePayload:
    changed: bool
    article: Article | None
    user_errors: list[Refusal]


@strawberry.type
class VoteOnCommentPayload:
    changed: bool
    comment: Comment | None
    user_errors: list[Refusal]


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def vote(self, info: Info, input: VoteInput) -> VotePayload | None:
        number = int(input.article_id.removeprefix("article:"))
        authorization = info.context.authorization or ""
        changed, stored = await plain.cast_vote(redis, "vote", authorization, number, input.value.value)
        return VotePayload(changed=changed, article=article(number, stored), user_errors=[])

    @strawberry.mutation
    async def vote_on_comment(self, info: Info, input: VoteOnCommentInput) -> VoteOnCommentPayload | None:
        number = int(input.comment_id.removeprefix("comment:"))
        arguments = (plain.CONFIG["partitions"], number, input.value.value, plain.CONFIG["placeLifetime"])
        authorization = info.context.authorization or ""
        changed, stored = await plain.cast_vote(redis, "voteOnComment", authorization, *arguments)
        return VoteOnCommentPayload(changed=changed, comment=comment(number, stored), user_errors=[])


async def viewer_vote(subject: Article | Comment, info: Info) -> VoteValue | None:
    if await info.context.viewer() is None or not plain.is_open(subject.stored):
        return None
    return VoteValue[await info.context.votes.load(subject.number)]


async def connection(name: str, places: list[plain.Place], first: int, context: Context) -> ArticleConnection:
    """A page. `places` has one more if another page follows."""
    shown = places[:first]
    nodes = await context.articles.load_many([int(member) for member, _ in shown])
    edges = [ArticleEdge(cursor=plain.cursor(name, place), node=node) for place, node in zip(shown, nodes, strict=True)]
    info = PageInfo(has_next_page=len(places) > first, end_cursor=edges[-1].cursor if edges else None)
    return ArticleConnection(edges=edges, nodes=nodes, page_info=info)


async def read_articles(numbers: list[int]) -> list[Article]:
    return [article(*pair) for pair in zip(numbers, await plain.articles(redis, numbers), strict=True)]


def article(number: int, stored: plain.Hash) -> Article:
    return Article(
        stored=stored,
        number=number,
        id=strawberry.ID(f"article:{number}"),
        title=stored["title"],
        link=stored.get("link"),
        votes=int(stored["up"]) - int(stored["down"]),
        score=plain.score(stored),
        posted_at=plain.instant(stored),
        poster=User(username=stored["poster"]),
        groups=[Group(id=strawberry.ID(f"group:{name}"), name=name) for name in stored["groups"].split()],
    )


def comment(number: int, stored: plain.Hash) -> Comment:
    votes = int(stored["up"]) - int(stored["down"])
    return Comment(stored=stored, number=number, id=strawberry.ID(f"comment:{number}"), votes=votes)


class Endpoint(GraphQL[Context, None]):
    async def get_context(self, request: Any, response: Any) -> Context:
        return Context(request.headers.get("authorization"))


app = Starlette(routes=[Route("/graphql", Endpoint(strawberry.Schema(Query, Mutation)))])
