"""The root fields of queries."""

from asyncio import gather
from collections.abc import Sequence

from resolvers import node_ids
from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.listings import listing_in
from resolvers.pagination import Asked, Connection, of_names, page_of_articles
from store import listings, records, validation
from store.ranking.formulas import FRONT_PAGE_SIZE, Order
from store.records import Article, Feed, Group, User

NODES_AT_ONCE = 100

Node = Article | User | Group | Feed


async def node(context: Context, id: str) -> Node | None:
    return (await nodes(context, [id]))[0]


async def nodes(context: Context, ids: Sequence[str]) -> list[Node | None]:
    """One round trip for all of them."""
    if len(ids) > NODES_AT_ONCE:
        raise BadInput(f"at most {NODES_AT_ONCE} ids at once, not {len(ids)}")
    articles, users, feeds = await gather(_articles(context, ids), _users(context, ids), _feeds(context, ids))
    found = {**articles, **users, **feeds, **_groups(ids)}
    for id in ids:
        if id not in found:
            raise BadInput(f"this is no id: {id[:100]}")
    return [found[id] for id in ids]


async def viewer(context: Context) -> User | None:
    username = await context.viewer()
    return records.user(username) if username else None


async def feed(context: Context) -> Feed | None:
    username = await context.viewer()
    return Feed(username) if username else None


async def article(context: Context, id: str) -> Article | None:
    return (await context.reads.articles([node_ids.asked_article_number(id)]))[0]


async def user(context: Context, username: str) -> User | None:
    if not validation.USERNAME.fullmatch(username):
        raise BadInput("a username is 2 to 20 of A-Z, a-z, 0-9, _ and -")
    profile = (await context.reads.profiles([username]))[0]
    return records.user(profile.username) if profile else None


async def group(context: Context, name: str) -> Group:
    """A group is there as soon as somebody names it, and lists nothing until an article is in it."""
    return records.group(node_ids.listed_group(name))


async def articles(
    context: Context,
    order: Order | None = Order.SCORE,
    group: str | None = None,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    page: int | None = None,
    pinned: bool | None = False,
) -> Connection[Article]:
    if group is not None:
        group = node_ids.listed_group(group)
    ranked = listing_in(context.store.site, order, group)
    asked = Asked(first, after, last, before, page)
    return await page_of_articles(context, ranked, asked, pinned=bool(pinned))


async def front_page(
    context: Context,
    date: int | None = None,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Article]:
    good = listings.front_page(context.store.site, date)
    return await page_of_articles(context, good, Asked(first, after, last, before), FRONT_PAGE_SIZE)


async def all_groups(
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Group]:
    asked = Asked(first, after, last, before)
    return of_names("groups", await context.reads.groups(), asked, validation.GROUP, records.group)


async def _articles(context: Context, wanted: Sequence[str]) -> dict[str, Article | None]:
    numbers = {id: number for id in wanted if (number := node_ids.article_number(id))}
    return dict(zip(numbers, await context.reads.articles(numbers.values()), strict=True))


async def _users(context: Context, wanted: Sequence[str]) -> dict[str, User | None]:
    names = {id: name for id in wanted if (name := node_ids.username(id))}
    profiles = await context.reads.profiles(names.values())
    return {
        id: records.user(profile.username) if profile else None for id, profile in zip(names, profiles, strict=True)
    }


async def _feeds(context: Context, wanted: Sequence[str]) -> dict[str, Feed | None]:
    """The viewer's own feed; for them there is no other."""
    owned = [id for id in wanted if node_ids.feed_owner(id)]
    own = await feed(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


def _groups(wanted: Sequence[str]) -> dict[str, Group]:
    return {id: records.group(name) for id in wanted if (name := node_ids.group_name(id))}
