"""Pages of a listing, compared with a list."""

from store.listings import Window
from tests.store.reading import page


async def assert_pages(store, listing, expected, chance):
    """
    Check a whole listing, of which `expected` has all positions in order: pages in both directions from some of them,
    and from between them, and pages by number. `chance` chooses which.
    """
    assert list((await page(store, listing, Window(10_000))).positions) == expected
    assert list((await page(store, listing, Window(10_000, upwards=True))).positions) == expected
    for position in chance.sample(expected, 5):
        rank, size = expected.index(position), chance.choice([1, 7, 25])
        for beyond in (
            position,
            position._replace(member=position.member[:-1]),
            position._replace(member=position.member + "0"),
        ):
            above = [each for each in expected if each > beyond]
            below = [each for each in expected if each < beyond]
            after = await page(store, listing, Window(size, beyond=beyond))
            assert list(after.positions) == below[:size]
            assert_counts(listing, after, len(expected) - len(below))
            before = await page(store, listing, Window(size, upwards=True, beyond=beyond))
            assert list(before.positions) == above[-size:]
            assert_counts(listing, before, max(len(above) - size, 0))
        numbered = await page(store, listing, Window(size, skip=rank))
        assert (list(numbered.positions), numbered.above) == (expected[rank : rank + size], rank)
        assert {after.total, before.total, numbered.total} == {len(expected)}


def assert_counts(listing, page, above):
    """Check how many entries are above and below a page; if values decay, it has only whether there are any."""
    below = page.total - above - len(page.positions)
    if listing.decay:
        assert (page.above > 0, page.below > 0) == (above > 0, below > 0)
    else:
        assert (page.above, page.below) == (above, below)
