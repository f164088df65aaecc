"""
Pages that are asked for by a number, such as page 12, of listings of which Redis holds some articles and the archive,
in the SQL database, the others.

`first` marks all parameters of a test but the first ones as slow: `make test` leaves them out.

Codes such as D3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from functools import partial

import pytest

from archive import reads
from archive.moments import load_again
from archive.mover import HotLimits
from archive.reads import ArchiveReads
from store import listings
from store.listings import Listing, Window
from store.ranking.formulas import DAY, Order, Policy
from tests.archive.moves import archived
from tests.examples import first
from tests.store.histories import history
from tests.store.reading import page
from tests.typed import typed

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]


@pytest.fixture
def policy() -> Policy:
    """Most articles are good, so that days have many."""
    return Policy(good_votes=1)


@pytest.fixture(autouse=True)
def few_skipped(monkeypatch):
    """Find pages by the rank of the entry before them, also at low numbers: usually all before are read there."""
    monkeypatch.setattr(reads, "SKIPPED_ENTRIES", 0)


@pytest.mark.parametrize(
    "limits",
    first(
        [
            HotLimits(articles=10, articles_per_user=20),
            HotLimits(articles=60, articles_per_user=1_000),
            HotLimits(articles=1_000, articles_per_user=5),
        ]
    ),
)
async def test_pages_equal_those_of_a_store_that_holds_all(store, each_database, clock, limits):  # D3
    """The oldest articles of the site are archived, or those of each user."""
    chance = random.Random(1)
    articles = await history(store, seed=1, size=90)
    clock.advance(8 * DAY)
    shown = listed(store, clock.now, articles)
    windows = [Window(chance.choice([1, 5, 25]), skip=skip) for skip in chance.sample(range(len(articles) + 3), 15)]
    expected = [[await page(store, listing, window) for window in windows] for listing in shown]
    await archived(store, each_database, limits)

    of_store = ArchiveReads(store.site, each_database, partial(load_again, store.site))
    for listing, pages in zip(shown, expected, strict=True):
        found = await of_store.pages([(listing, window) for window in windows])
        assert typed(found) == typed(pages), listing.name


async def test_a_page_behind_all_newer_articles_takes_four_queries(store, each_database, clock, monkeypatch):
    await history(store, seed=1, size=90)
    clock.advance(8 * DAY)
    await archived(store, each_database, HotLimits(articles=30, articles_per_user=1_000))
    of_store, calls = ArchiveReads(store.site, each_database, partial(load_again, store.site)), []
    ask = reads.ask  # the function that sends one query to the database
    monkeypatch.setattr(reads, "ask", lambda *arguments: calls.append(arguments) or ask(*arguments))

    await of_store.pages([(listings.whole(store.site, Order.TIME), Window(5, skip=50))])
    assert len(calls) <= 4  # as `ArchiveReads` says of pages that only newer articles are above


def listed(store, now: int, articles) -> list[Listing]:
    """Listings of each kind: of the site in several orders, front pages of days, and of the last ten days."""
    days = {each.posted_at // (DAY * 1000) * DAY * 1000 for each in articles}
    orders = (Order.SCORE, Order.TIME, Order.VOTES, Order.BEST)
    shown = [listings.whole(store.site, order) for order in orders]
    shown += [listings.front_page(store.site, day) for day in (None, *sorted(days)[-10:])]
    return [*shown, listings.posted_since(store.site, group=None, order=Order.TIME, at=now - 10 * DAY * 1000)]
