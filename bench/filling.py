"""
Fills a store in bulk with the same data that posts, votes and follows would write one by one.

Posters and viewers vote; all articles are open to votes. The same seed gives the same store.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from store import followed, keys, links
from store.client import Command
from store.ranking.formulas import DAY, Order
from store.records import Article
from store.store import Store

POSTERS = [f"poster-{each}" for each in range(2_000)]
VIEWERS = [f"viewer-{each}" for each in range(100)]
GROUPS = [f"group-{each}" for each in range(20)]
FOLLOWEES = 100  # of each viewer
COMMENTS = 100  # that are voted on
CROWD = [f"visitor-{each}" for each in range(5_000)]  # further viewers, who follow nobody
OPENED_AT_ONCE = 250  # sessions
VOTED = 20_000  # newest articles, which have votes of others than their posters
MOST_VOTES = 60  # of an article
SPAN_MS = 5 * DAY * 1000  # in which the articles are posted, until now
BATCH = 1_000  # articles
GRACE_MS = 60_000  # from the end of voting until the sets of voters expire
WRITTEN_AT_ONCE = 2_000  # commands
PATIENCE = 60.0  # seconds that a store on a busy machine may take for these commands


@dataclass(frozen=True, slots=True)
class Posted:
    """An article with its votes, before it is written: the names of those who voted up, and of those who voted down."""

    article: Article
    up: list[str]
    down: list[str]


async def fill(store: Store, count: int, before: int = 0) -> list[str]:
    """
    Write `count` articles and return the tokens of the viewers. `before` is how many older ones there are besides: the
    first articles are numbered after them.
    """
    chance = random.Random(1)
    articles = invented(chance, count, store.site.clock(), before)
    karma, partitions = dict.fromkeys(POSTERS, 0), store.site.partitions
    while batch := list(islice(articles, BATCH)):
        for posted in batch:
            karma[posted.article.poster] += posted.article.votes - 1  # the poster's own vote is no karma
        await write(store, commands(store, batch))
    await write(store, list(user_commands(store, karma, chance)))
    await write(store, [("SET", keys.sequence(each), before + count) for each in range(partitions)])
    return [(await store.sessions.open(viewer)).token for viewer in VIEWERS]


async def write(store: Store, commands: list[Command]) -> None:
    for start in range(0, len(commands), WRITTEN_AT_ONCE):
        await store.site.redis.pipeline(commands[start : start + WRITTEN_AT_ONCE])


async def gather_crowd(store: Store) -> list[str]:
    """Write the users of `CROWD` and return their tokens."""
    now, tokens = store.site.clock(), []
    for first in range(0, len(CROWD), OPENED_AT_ONCE):
        names = CROWD[first : first + OPENED_AT_ONCE]
        accounts = [keys.user(store.site.partition_of_user(name), name) for name in names]
        written = zip(accounts, names, strict=True)
        await store.site.redis.pipeline([("HSET", account, "name", name, "joined", now) for account, name in written])
        tokens += [opened.token for opened in await asyncio.gather(*map(store.sessions.open, names))]
    return tokens


async def discuss(store: Store, articles: list[int]) -> list[int]:
    """Post `COMMENTS` on some articles in turn, and return the numbers of the comments."""
    chance, numbers = random.Random(4), []
    for place in range(COMMENTS):
        text = f"Comment {place}: {chance.getrandbits(64):x}"
        article = articles[place % len(articles)]
        posted = await store.comments.post(article, parent=None, poster=POSTERS[place], content=text)
        assert posted.comment is not None, "it is new"
        numbers.append(posted.comment.number)
    return numbers


def invented(chance: random.Random, count: int, now: int, before: int) -> Iterator[Posted]:
    """Random articles, the oldest first, evenly spread over `SPAN_MS` until `now` (unix milliseconds)."""
    voters = POSTERS + VIEWERS
    for place in range(1, count + 1):
        poster = chance.choice(POSTERS)
        time = now - SPAN_MS + round((place - chance.random()) * SPAN_MS / count)
        chosen = chance.sample(voters, chance.randrange(MOST_VOTES)) if place > count - VOTED else []
        others = [voter for voter in chosen if voter != poster]
        cut = len(others) // 10  # those who vote it down
        up, down = [poster, *others[cut:]], others[:cut]
        yield Posted(article(chance, before + place, poster, time, len(up), len(down)), up, down)


def article(chance: random.Random, sequence: int, poster: str, time: int, up: int, down: int) -> Article:
    """A random article. Its number has its sequence, which counts articles, and the slot (0 to 1023) of its poster."""
    groups = tuple(sorted(chance.sample(GROUPS, chance.randrange(3))))
    number = sequence * keys.SLOTS + keys.slot(poster)
    title = f"Article {sequence}: what {poster} found, and why others should read it too"
    link = f"https://www.host-{chance.randrange(1_000)}.example/{chance.getrandbits(64):x}"
    return Article(
        number,
        title,
        link,
        content=None,
        poster=poster,
        posted_at=time,
        edited_at=None,
        upvotes=up,
        downvotes=down,
        imported_votes=0,
        groups=groups,
    )


def commands(store: Store, batch: list[Posted]) -> list[Command]:
    hashes = [command for posted in batch for command in article_commands(store, posted)]
    return hashes + [("ZADD", key, *flat) for key, flat in indexes(store, batch).items()]


def article_commands(store: Store, posted: Posted) -> Iterator[Command]:
    """The commands that write an article's hash and its sets of voters."""
    article, partition = posted.article, store.site.partition_of_article(posted.article.number)
    fields = ("title", article.title, "poster", article.poster, "time", article.posted_at, "up", article.upvotes)
    rest = ("down", article.downvotes, "groups", " ".join(article.groups), "link", article.link or "")
    digest = (links.FIELD, links.digest(article.link or ""))
    yield ("HSET", keys.article(partition, article.number), *fields, *rest, *digest)
    lifetime = store.site.policy.closes_at(article) - store.site.clock() + GRACE_MS
    for key, voters in (
        (keys.voted(partition, article.number), posted.up),
        (keys.downvoted(partition, article.number), posted.down),
    ):
        if voters:
            yield ("SADD", key, *voters)
            yield ("PEXPIRE", key, lifetime)


def indexes(store: Store, batch: list[Posted]) -> dict[str, list[str | float]]:
    """The values and members of each sorted set, alternating, by its key."""
    found: defaultdict[str, list[str | float]] = defaultdict(list)
    for article in (posted.article for posted in batch):
        member, partition = keys.member(article.number), store.site.partition_of_article(article.number)
        for order in Order:
            place = [store.site.policy.value(order, article), member]
            of_groups = (keys.group(partition, name, order.value) for name in article.groups)
            for key in (keys.index(partition, order.value), *of_groups):
                found[key] += place
        for group in article.groups:
            found[keys.groups(partition)] += [0, group]
        found[links.LINKS(partition, links.digest(article.link or ""))] += [article.posted_at, member]
        found[keys.timeline(partition, article.poster)] += [article.posted_at, member]
        found[keys.newest_posts(partition)] += [article.posted_at, article.poster]
    return found


def user_commands(store: Store, karma: dict[str, int], chance: random.Random) -> Iterator[Command]:
    now, partition_of = store.site.clock(), store.site.partition_of_user
    for name in POSTERS + VIEWERS:
        yield ("HSET", keys.user(partition_of(name), name), "name", name, "joined", now, "karma", karma.get(name, 0))
    for viewer in VIEWERS:
        for followee in chance.sample(POSTERS, FOLLOWEES):
            yield ("ZADD", followed.following(partition_of(viewer), viewer), now, followee)
            yield ("ZADD", followed.followers(partition_of(followee), followee), now, viewer)
