"""Pages by a high number of listings of which Redis holds some articles, and the archive the others."""

import asyncio
import random
from functools import partial

import pytest

from database.archiver import Archiver, Limits
from resolvers import archive
from resolvers.archive import ArchiveReads, load_again
from store import listings
from store.listings import Listing, Window
from store.ranking.formulas import DAY, Order, Policy
from tests.database.conftest import mirrored
from tests.store.histories import history
from tests.store.reading import page

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]


@pytest.fixture
def policy() -> Policy:
    """Most articles are good, so that days have many."""
    return Policy(good_votes=1)


@pytest.fixture(autouse=True)
def few_skipped(monkeypatch):
    monkeypatch.setattr(archive, "SKIPPED_ENTRIES", 0)


@pytest.mark.parametrize(("hot", "per_user"), [(60, 1_000), (1_000, 5), (10, 20)])
async def test_pages_equal_those_of_a_store_that_holds_all(store, database, clock, hot, per_user):  # D3
    """The oldest articles of the site are archived, or those of each user."""
    chance = random.Random(1)
    articles = await history(store, 1, 90)
    clock.advance(8 * DAY)
    shown = listed(store, clock.now, articles)
    windows = [Window(chance.choice([1, 5, 25]), skip=skip) for skip in chance.sample(range(len(articles) + 3), 15)]
    expected = [[await page(store, listing, window) for window in windows] for listing in shown]
    await archived(store, database, hot, per_user)

    reads = ArchiveReads(store.site, database, partial(load_again, store.site))
    for listing, pages in zip(shown, expected, strict=True):
        assert await reads.pages([(listing, window) for window in windows]) == pages, listing.name


async def test_a_page_behind_all_newer_articles_is_found_in_one_step(store, database, clock, monkeypatch):
    await history(store, 1, 90)
    clock.advance(8 * DAY)
    await archived(store, database, 30, 1_000)
    reads, calls = ArchiveReads(store.site, database, partial(load_again, store.site)), []
    ask = archive.ask
    monkeypatch.setattr(archive, "ask", lambda *arguments: calls.append(arguments) or ask(*arguments))

    await reads.pages([(listings.whole(store.site, Order.TIME), Window(5, skip=50))])
    assert len(calls) <= 4


def listed(store, now: int, articles) -> list[Listing]:
    days = {each.posted_at // (DAY * 1000) * DAY * 1000 for each in articles}
    orders = (Order.SCORE, Order.TIME, Order.VOTES, Order.BEST)
    shown = [listings.whole(store.site, order) for order in orders]
    shown += [listings.front_page(store.site, day) for day in (None, *sorted(days)[-10:])]
    return [*shown, listings.posted_since(store.site, None, Order.TIME, now - 10 * DAY * 1000)]


async def archived(store, database, articles: int, per_user: int) -> None:
    """Archive what is beyond the limits, while the database follows the log."""
    archiver = Archiver(store.site, database, Limits(articles, per_user), notice=0, removal_delay=0)
    moving = asyncio.create_task(archiver.move())
    while not moving.done():
        await mirrored(store, database)
        await asyncio.sleep(0.02)
    assert await moving
