"""Short calls that read a store as the resolvers do."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from redis import Redis

from resolvers.dataloader import Reads
from store import kept_answers, keys, listings, queries
from store.articles import Draft, Posted
from store.client import client
from store.client.client import RedisUsage
from store.listings import Listing, Page, Window
from store.maintenance import verify
from store.maintenance.verify import Finding
from store.queries import Read, RecordType
from store.ranking.formulas import Order
from store.records import Article, Profile
from store.store import Store


async def read(store: Store, *reads: Read[Any]) -> list[Any]:
    """The results of reads, sent in one pipeline. Where the result is a further read, that is sent next."""
    replies = await store.site.redis.pipeline([each.command for each in reads])
    results = [each.result(reply) for each, reply in zip(reads, replies, strict=True)]
    return [(await read(store, result))[0] if isinstance(result, Read) else result for result in results]


async def article(store: Store, number: int) -> Article | None:
    return await _record(store, queries.ARTICLES, number)


async def profile(store: Store, username: str) -> Profile | None:
    return await _record(store, queries.PROFILES, username)


async def _record(store: Store, kind: RecordType[Any], id: int | str) -> Any:
    (stored,) = await read(store, queries.hash_of(store.site, kind, id))
    return kind.decode(id, stored)


async def voters(store: Store, number: int) -> tuple[str, ...]:
    """The names of those who have voted for an article."""
    return (await read(store, queries.voters(store.site, number)))[0]


async def page(store: Store, listing: Listing, window: Window | None = None) -> Page:
    window = window or Window(25)
    return listings.merge(await read(store, *listings.partition_pages(listing, window)), window)


async def request(store: Store) -> tuple[list[Article | None], int]:
    """The newest articles as a request reads them, with the client-side cache; and how many commands that has sent."""
    cost = RedisUsage()
    client.current_usage.set(cost)
    reads = Reads(store, login=None)
    (found,) = await reads.pages([(listings.whole(store.site, Order.TIME), Window(25))])
    return await reads.articles(position.number for position in found.positions), cost.commands


async def numbers(store: Store, listing: Listing, window: Window | None = None) -> list[int]:
    """The numbers of the articles on a page of a listing."""
    return [position.number for position in (await page(store, listing, window)).positions]


async def post(store: Store, poster: str, title: str = "a title", groups: Sequence[str] = ()) -> Article:
    """Post with a new idempotency key, because equal posts without one are replays for 10 seconds."""
    draft = Draft(title, "https://example.com/", groups=tuple(groups))
    posted: Posted = await store.articles.post(poster, draft, token_hex(8))
    assert posted.article is not None
    return posted.article


def everything(redis: "Redis") -> dict[str, Any]:
    """
    All keys of the store with their values, to compare, the log included. Values are not read with DUMP: a server
    rearranges a large hash even while it is only read.
    """
    logs = {key: (redis.xrange(key), redis.xinfo_stream(key)["last-generated-id"]) for key in _keys_of(redis, "stream")}
    return contents(redis) | logs


def contents(redis: "Redis") -> dict[str, Any]:
    """
    All keys with their values, to compare before and after a repair or a revert. The log is left out, as both add to
    it, and the field `written` of articles, the time of the last change of a comment, as a revert does not set it back.
    """
    reads = {
        "hash": lambda key: {name: value for name, value in redis.hgetall(key).items() if name != "written"},
        "set": redis.smembers,
        "list": lambda key: redis.lrange(key, 0, -1),
        "string": redis.get,
        "zset": lambda key: redis.zrange(key, 0, -1, withscores=True),
    }
    return {key: read(key) for type, read in reads.items() for key in _keys_of(redis, type)}


def _keys_of(redis: "Redis", type: str) -> list[str]:
    """All keys of a type, except the answers of commands that the store keeps for ten seconds."""
    return [key for key in redis.scan_iter(_type=type) if not key.startswith(f"{kept_answers.answer.name}:")]


async def verified(store: Store, *, repair: bool = False) -> list[Finding]:
    """All that `verify` finds, and with `repair` repairs."""
    found: list[Finding] = []
    await verify.verify(store.site, found.append, repair=repair)
    return found


async def findings(store: Store) -> list[Finding]:
    """What `verify` finds, except late expiries: the clock of a test may be ahead of that of Valkey."""
    return [each for each in await verified(store) if not each.where.endswith("TTL")]


def upvoters(redis: "Redis", store: Store, number: int) -> set[str]:
    return redis.smembers(keys.voted(store.site.partition_of_article(number), number))


def downvoters(redis: "Redis", store: Store, number: int) -> set[str]:
    return redis.smembers(keys.downvoted(store.site.partition_of_article(number), number))
