"""
Random histories of a store, and the expected order of their articles. A position is the value of an article in an
order, such as its score, and its key as a member of the index.
"""

import random

from store import keys, listings
from store.listings import Listing, Window
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import DAY, Order
from store.records import Article, Position, Vote
from tests.conftest import registered
from tests.store.reading import article, numbers, post

HOUR = 3_600_000  # milliseconds
YEAR = 365 * DAY * 1000  # milliseconds
PEOPLE = ("alice", "bob", "carol", "dave", "erin")


async def history(store, seed: int, size: int, *, with_comments: bool = False) -> list[Article]:
    """Post, vote, delete, regroup and import at random, with many equal votes and times, and return all articles."""
    chance = random.Random(seed)
    people = [await registered(store, name) for name in PEOPLE]
    posted: list[tuple[int, str]] = []  # number and poster of each article
    for turn in range(size):
        poster = chance.choice(people)
        groups = chance.sample(["show", "ask"], chance.randrange(3))
        if turn % 4 == 0:
            at = store.site.clock() - chance.choice([0, HOUR, 3 * HOUR, chance.randrange(YEAR)])
            votes = round(10 ** chance.uniform(0, 4))
            story = Story(str(turn), "a title", link="", poster=poster, time=at, votes=votes, groups=tuple(groups))
            await import_batch(store, [story])
            continue
        if with_comments and posted:
            await discuss_some(store, chance, [number for number, _ in posted])
        number = (await post(store, poster, groups=groups)).number
        posted.append((number, poster))
        for voter in range(chance.choice([0, 0, 1, 2, 8])):
            await store.articles.vote(number, f"voter-{voter}", chance.choice([Vote.UP, Vote.DOWN, Vote.DOWN]))
        if chance.random() < 0.1:
            await store.articles.delete(*posted.pop(chance.randrange(len(posted))))
        elif chance.random() < 0.1:
            await store.articles.regroup(*chance.choice(posted), add=["show"], remove=["ask"])
        store.site.clock.advance(chance.choice([0, 0, 0.001, 59, 3600, 40_000]))
    all_numbers = await numbers(store, listings.whole(store.site, Order.TIME), Window(10_000))
    return [await article(store, number) for number in all_numbers]


async def discuss_some(store, chance: random.Random, articles: list[int]) -> None:
    """Comment on some articles, and delete some of the comments: often the only one of its article."""
    for number in chance.choices(articles, k=chance.randrange(3)):
        poster = chance.choice(PEOPLE)
        comment = (await store.comments.post(number, parent=None, poster=poster, content=f"{chance.random()}")).comment
        if chance.random() < 0.4:
            await store.comments.delete(comment.number, poster)


def sorted_by_hand(store, order: Order, articles: list[Article], now: int, group: str | None = None) -> list[Position]:
    """The places of articles in an order at an instant, from the first one, by the weights of a group or the site."""
    value = store.site.policy_of(group).value_at
    return sorted((Position(value(order, each, now), keys.member(each.number)) for each in articles), reverse=True)


def listing_of(store, order: Order, group: str | None) -> Listing:
    """The articles of a group, or of the whole site, in an order."""
    return listings.whole(store.site, order) if group is None else listings.group(store.site, group, order)
