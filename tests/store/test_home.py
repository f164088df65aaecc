"""
Homes, the front pages of users, compared with a filter of the site's listing: by followed groups, hidden articles and
blocked users. A home is merged from the lists of the followed groups; a list is what a partition, a share of the store,
has of a group.

`findings` gives what `upvote verify` finds wrong in the store. `TAKES_FEW` is true in `make test`, which does less.
`first` marks all parameters of a test but the first ones as slow: `make test` leaves them out.

Codes such as H1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import math
import random
from collections.abc import Sequence

import pytest

from resolvers.dataloader import Reads
from store import blocked, hidden, home, keys, listings
from store.home import Choices, HomeListing
from store.listings import Listing, Window
from store.maintenance import reindex
from store.ranking import since
from store.ranking.formulas import Order
from store.records import Article, Position, Vote
from store.store import Store
from tests.conftest import Clock, registered
from tests.examples import TAKES_FEW, first
from tests.store.reading import findings, post
from tests.support.made_up_articles import CROWDS, made_up, write

pytestmark = pytest.mark.many_partitions

PEOPLE = ("alice", "bob", "carol", "dave", "erin", "frank")
GROUPS = tuple(f"group-{each}" for each in range(12))
VIEWER = "alice"


class Homes:
    """A store with articles in groups, and what a viewer has chosen."""

    def __init__(self, store: Store, clock: Clock, seed: int) -> None:
        self.store, self.clock, self.chance = store, clock, random.Random(seed)
        self.articles: dict[int, Article] = {}

    async def fill(self, count: int, names: Sequence[str] = GROUPS) -> None:
        """Post so many articles, each in some groups of these names, or in none."""
        for name in PEOPLE:
            await registered(self.store, name)
        for _ in range(count):
            self.clock.advance(self.chance.choice((0, 1, 60, 3_000)))
            groups = self.chance.sample(names, self.chance.choice((0, 1, 1, 2, 5)))
            article = await post(self.store, self.chance.choice(PEOPLE), groups=groups)
            self.articles[article.number] = article

    async def move(self, count: int) -> None:
        """Vote so many times at random, never on one's own article."""
        for _ in range(count):
            number, voter = self.chance.choice(list(self.articles)), self.chance.choice(PEOPLE)
            if self.articles[number].poster != voter:
                value = self.chance.choice((Vote.UP, Vote.UP, Vote.DOWN, Vote.NONE))
                self.articles[number] = (await self.store.articles.vote(number, voter, value)).article

    async def choose(self, groups: int, hidden_articles: int, others: int) -> None:
        """Let the viewer follow so many groups, hide so many articles and block so many others."""
        for group in self.chance.sample(GROUPS, groups):
            await self.store.follows.follow_group(VIEWER, group)
        for number in self.chance.sample(list(self.articles), hidden_articles):
            await hidden.hide(self.store.site, VIEWER, number)
        for name in self.chance.sample(PEOPLE[1:], others):
            await blocked.block(self.store.site, VIEWER, name)

    async def choices(self) -> Choices:
        site = self.store.site
        groups, names = await Reads(self.store, login=None).load_all(
            [home.groups(site, VIEWER), home.blocked(site, VIEWER)]
        )
        return Choices(VIEWER, tuple(groups), tuple(names))

    async def expected(self, whole: Listing, choices: Choices | None = None) -> list[Position]:
        """The home as it should be: the listing of the site, without what the viewer has not chosen."""
        reads = Reads(self.store, login=None)
        choices = choices or await self.choices()
        (page,) = await reads.pages([(whole, Window(len(self.articles) + 1))])
        hides = await reads.hidden(VIEWER, list(self.articles))
        return [
            place
            for place in page.positions
            if (not choices.groups or set(self.articles[place.number].groups) & set(choices.groups))
            and self.articles[place.number].poster not in choices.blocked
            and place.number not in hides
        ]

    async def listing(self, order: Order, whole: Listing) -> HomeListing:
        return home.listing_of(await self.choices(), order, whole)

    async def walked(self, listing: HomeListing, size: int, upwards: bool, most: float = math.inf) -> list[Position]:
        """The places, at most so many, by pages of one size, each of which is full and knows what is on both sides."""
        found: list[Position] = []
        beyond = None
        while True:
            window = Window(size, upwards, beyond, at=listing.whole.decay.at if listing.whole.decay else None)
            page = await Reads(self.store, login=None).home_page(listing, window)
            ahead, behind = (page.above, page.below) if upwards else (page.below, page.above)
            assert bool(behind) == bool(found)
            found = [*page.positions, *found] if upwards else [*found, *page.positions]
            if not ahead or len(found) >= most:
                return found
            assert len(page.positions) == size
            beyond = page.positions[0 if upwards else -1]


@pytest.fixture
async def homes(store, clock):
    homes = Homes(store, clock, seed=7)
    await homes.fill(160)
    await homes.move(300)
    return homes


SIZES = (7, 100) if TAKES_FEW else (1, 7, 25, 100)  # of pages
# how many groups the viewer follows, articles the viewer hides, and users the viewer blocks
CHOICES = [(0, 0, 0), (1, 0, 0), (5, 0, 0), (12, 30, 0), (5, 40, 2), (0, 50, 3), (3, 0, 5)]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("choices", CHOICES, ids=lambda given: "-".join(map(str, given)))
async def test_home_is_the_filtered_listing_of_the_site(homes, choices):  # H1, H2
    await homes.choose(*choices)
    site, instants = homes.store.site, sorted(each.posted_at for each in homes.articles.values())
    wholes = [(order, listings.whole(site, order)) for order in Order]
    wholes += [
        (order, listings.posted_since(site, group=None, order=order, at=instants[place]))
        for order in since.orders(tuple(Order))
        for place in (0, 40, 150, 159)
    ]
    for order, whole in wholes:
        listing = await homes.listing(order, whole)
        expected = await homes.expected(whole)
        for size in SIZES:
            for upwards in (False, True):
                walked = await homes.walked(listing, size, upwards)
                assert walked == expected, (order, listing.name, size, upwards)


@pytest.mark.parametrize("articles", [1, 12, 500])
@pytest.mark.parametrize("choices", first([(5, 40, 2), (12, 30, 0)]), ids=lambda given: "-".join(map(str, given)))
async def test_many_lists_are_read_down_to_a_bound(homes, choices, articles, monkeypatch):  # H4
    """
    The first articles of some lists give a bound, the last place that may be on the page. The other lists are read down
    to it: few articles one by one, many by a search. A call leaves lists to the next one, and stops within a list.
    """
    limits = {
        "UNBOUNDED_LISTS": 4,
        "SEARCHED_LISTS": 2,
        "LISTS_PER_CALL": 4,
        "LISTS_BEYOND": 3,
        "READ_TO_BOUND": articles,
        "MOST_READ": 10 * articles,
    }
    for name, limit in limits.items():
        monkeypatch.setattr(home, name, limit)
    await homes.choose(*choices)
    site, instants = homes.store.site, sorted(each.posted_at for each in homes.articles.values())
    wholes = [(order, listings.whole(site, order)) for order in (Order.GRAVITY, Order.SCORE, Order.VOTES, Order.TIME)]
    wholes += [
        (order, listings.posted_since(site, group=None, order=order, at=instants[place]))
        for order in (Order.VOTES, Order.TIME)
        for place in (0, 40, 150)
    ]
    for order, whole in wholes:
        listing = await homes.listing(order, whole)
        expected = await homes.expected(whole)
        for size in (1, 7, 100):
            assert await homes.walked(listing, size, upwards=False) == expected, (listing.name, size)


MANY_GROUPS = tuple(f"group-{each}" for each in range(24))  # of which some are read first, for a bound
HIDES = {
    "none": lambda listed, chance: [],
    "the first": lambda listed, chance: listed[: len(listed) // 3],
    "some": lambda listed, chance: chance.sample(listed, len(listed) // 2),
    "nearly all": lambda listed, chance: chance.sample(listed, len(listed) - 60),
}


@pytest.mark.parametrize("hides", first(HIDES, 2))
@pytest.mark.parametrize("votes", CROWDS)
async def test_homes_of_viewers_who_hide_many_articles_are_exact(store, clock, votes, hides):  # H2, H4
    """Groups with many articles, by GRAVITY and by VOTES since an instant, of which the viewer hides some."""
    homes, site = Homes(store, clock, seed=9), store.site
    articles = made_up(homes.chance, 1_500, CROWDS[votes], numbers="by time", now=clock.now)
    for each in articles:  # the first groups have the most
        groups = homes.chance.choices(MANY_GROUPS, [1 / (place + 1) for place in range(len(MANY_GROUPS))], k=2)
        homes.articles[each.number] = each._replace(groups=tuple(dict.fromkeys(groups)))
    await write(store, list(homes.articles.values()))
    choices, instants = Choices(VIEWER, MANY_GROUPS), sorted(each.posted_at for each in articles)
    wholes = [(Order.GRAVITY, listings.whole(site, Order.GRAVITY))]
    wholes += [
        (Order.VOTES, listings.posted_since(site, group=None, order=Order.VOTES, at=instants[place]))
        for place in (0, 900)
    ]
    for order, whole in wholes:
        await store.site.redis.pipeline([("DEL", hidden.HIDDEN(p, VIEWER)) for p in range(site.partitions)])
        listed = [place.number for place in await homes.expected(whole, choices)]
        gone = HIDES[hides](listed, homes.chance)
        await store.site.redis.pipeline(
            [("ZADD", hidden.HIDDEN(site.partition_of_article(each), VIEWER), 1, keys.member(each)) for each in gone]
        )
        expected = await homes.expected(whole, choices)
        assert len(expected) == len(listed) - len(gone) >= 60
        for size, most in ((2, 20), (25, 100)):
            assert (
                await homes.walked(home.listing_of(choices, order, whole), size, upwards=False, most=most)
                == expected[:most]
            )


async def test_first_page_of_500_groups_takes_few_calls(store, clock):  # H4
    many, homes = tuple(f"group-{each}" for each in range(500)), Homes(store, clock, seed=3)
    await homes.fill(150, many)
    await homes.move(200)
    site, choices, calls = store.site, Choices(VIEWER, many), list[int]()

    async def load(reads):
        calls.append(len(reads))
        return await Reads(store, login=None).load_all(reads)

    begin = clock.now - 25 * 3_600_000  # 25 hours ago: most articles are newer
    wholes = [(order, listings.whole(site, order)) for order in Order]
    wholes.append((Order.VOTES, listings.posted_since(site, group=None, order=Order.VOTES, at=begin)))
    for order, whole in wholes:
        found = await home.page(site, load, home.listing_of(choices, order, whole), Window(25))
        expected = await homes.expected(whole, choices)
        assert list(found.positions) == expected[:25] and len(expected) > 26
        # A call reads 50 lists of a partition, or 25 if it searches. A tenth of the calls come first, for a bound.
        if whole.decay or whole.since:  # so few articles give no bound, so that calls leave lists to further ones
            assert calls[0] == 2 * site.partitions and sum(calls) < 50 * site.partitions, order
        else:
            assert calls == [site.partitions, 10 * site.partitions], order
        calls.clear()


@pytest.mark.parametrize("order", [Order.SCORE, Order.HOT, Order.BEST], ids=lambda order: order.value)
async def test_groups_with_weights_of_their_own_are_ranked_by_those_of_the_site(homes, order):  # H1
    site, weights = homes.store.site, {"vote_score": 5.0, "hot_seconds": 90.0, "best_z": 0.1}
    await homes.choose(groups=5, hidden_articles=10, others=1)
    for group in GROUPS[::2]:
        await reindex.set_weights(site, group, weights, progress=lambda count: None)
    await homes.move(60)
    listing = await homes.listing(order, listings.whole(site, order))
    expected = await homes.expected(listing.whole)
    assert await homes.walked(listing, size=10, upwards=False) == expected

    await reindex.set_weights(site, GROUPS[0], dict.fromkeys(weights), progress=lambda count: None)
    await homes.move(60)
    expected = await homes.expected(listing.whole)
    assert await homes.walked(listing, size=10, upwards=True) == expected
    assert await findings(homes.store) == []


async def test_home_is_exact_while_weights_of_a_followed_group_change(homes):  # H1
    """Each page is of a moment before or after the change, and both are the same home."""
    site = homes.store.site
    await homes.choose(groups=12, hidden_articles=0, others=0)
    listing = await homes.listing(Order.SCORE, listings.whole(site, Order.SCORE))
    expected = await homes.expected(listing.whole)
    change = asyncio.gather(
        *(reindex.set_weights(site, group, {"vote_score": 9.0}, progress=lambda count: None) for group in GROUPS[:4])
    )
    pages = 0
    while not change.done():
        assert list((await Reads(homes.store, login=None).home_page(listing, Window(100))).positions) == expected[:100]
        pages += 1
    await change
    assert pages > 3


async def test_listing_since_an_instant_ends_below_many_articles_of_equal_votes(store, clock):  # H1
    homes, begin = Homes(store, clock, seed=7), clock.now
    for name in PEOPLE:
        await registered(store, name)
    for _ in range(150):
        clock.advance(1)
        article = await post(store, "bob", groups=GROUPS[:1])
        homes.articles[article.number] = article
    for number in list(homes.articles)[::15]:
        homes.articles[number] = (await store.articles.vote(number, "carol", Vote.DOWN)).article
    await store.follows.follow_group(VIEWER, GROUPS[0])
    listing = await homes.listing(
        Order.VOTES, listings.posted_since(store.site, group=None, order=Order.VOTES, at=begin)
    )
    expected = await homes.expected(listing.whole)
    async with asyncio.timeout(60):
        for upwards in (False, True):
            assert await homes.walked(listing, size=50, upwards=upwards) == expected
    assert len(expected) == 150
