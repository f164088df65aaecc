"""
The canonical form of links, which is equal for links to the same page, and the index that finds articles by the digest
of this form.

`findings` gives what `upvote verify` finds wrong in the store.

Codes such as A9 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import links, listings
from store.articles import Draft
from store.errors import StoreUnavailable
from store.listings import Window
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import Order
from store.store import Store
from tests.conftest import registered
from tests.store.histories import PEOPLE, sorted_by_hand
from tests.store.reading import article, everything, findings, numbers, page
from tests.support.memory import full

pytestmark = pytest.mark.many_partitions

PAGE = "https://example.com/a?b=1"


@pytest.mark.parametrize(
    "link",
    [
        PAGE,
        "HTTPS://EXAMPLE.com/a?b=1",
        "https://example.com:443/a?b=1",
        "https://example.com./a?b=1",
        "https://example.com/a?b=1#top",
        "https://example.com/x/../a?b=1",
        "https://example.com/a?b=1&utm_source=feed&UTM_Medium=mail",
        "https://example.com/a?gclid=x&b=1&fbclid",
        "https://example.com/a?&b=1&",
        "https://example.com/a?%75tm_source=x&b=1",
        " https://example.com/a?b=1 ",
    ],
)
def test_links_to_the_same_page_have_equal_canonical_forms(link):
    assert links.canonical(link) == PAGE
    assert links.digest(link) == links.digest(PAGE)


@pytest.mark.parametrize(
    "link",
    [
        "http://example.com/a?b=1",
        "https://www.example.com/a?b=1",
        "https://example.com:8443/a?b=1",
        "https://example.com/a/?b=1",
        "https://example.com/A?b=1",
        "https://example.com/a?b=2",
        "https://example.com/a?b=1&b=1",
        "https://example.com/a?b=1&ref=x",
        "https://example.com/a?b=1&xutm_source=x",
        "https://example.com/a",
    ],
)
def test_links_to_other_pages_differ(link):
    assert links.canonical(link) != PAGE


@pytest.mark.parametrize(
    ("link", "form"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com/?utm_source=x#y", "https://example.com/"),
        ("http://[::1]:80/?", "http://[::1]/"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://example.com/a?c=1&b=2", "https://example.com/a?c=1&b=2"),
        ("https://", "https://"),
        ("no link", "no link"),
    ],
)
def test_canonical_form(link, form):
    assert links.canonical(link) == form


@given(st.text(max_size=40))
def test_canonical_form_of_a_canonical_link_is_the_link(rest):
    form = links.canonical(f"https://example.com/{rest}")

    assert links.canonical(form) == form


@pytest.mark.parametrize("link", ["https://example.com/", "no link", "\ud800"])
def test_digest_has_128_bits(link):
    assert len(links.digest(link)) == 32 and int(links.digest(link), 16) < 2**128


def test_no_link_has_no_digest():
    assert links.digest("") == ""


async def test_articles_with_the_same_link_are_listed_newest_first(store, alice, bob, clock):  # A9
    posted = []
    for number, link in enumerate([PAGE, f"{PAGE}#top", "HTTPS://example.com./a?b=1&gclid=x", f"{PAGE}&c=1"]):
        poster = (alice, bob)[number % 2]
        posted.append((await store.articles.post(poster, Draft(f"title {number}", link))).article.number)
        clock.advance(1)

    assert await listed(store, PAGE) == posted[2::-1]
    assert await listed(store, f"{PAGE}&c=1#x") == [posted[3]]
    assert await listed(store, "https://example.com/other") == []


async def test_index_follows_edits_and_deletions(store, alice, redis):
    empty = set(redis.scan_iter("links:*"))
    number = (await store.articles.post(alice, Draft("a title", PAGE, "a text"))).article.number

    await store.articles.edit(number, alice, {"title": "another"})
    assert await listed(store, PAGE) == [number]
    await store.articles.edit(number, alice, {"link": "https://example.com/b#x"})
    assert (await listed(store, PAGE), await listed(store, "https://example.com/b")) == ([], [number])
    await store.articles.edit(number, alice, {"link": ""})
    assert await listed(store, "https://example.com/b") == []
    assert set(redis.scan_iter("links:*")) == empty
    await store.articles.edit(number, alice, {"link": PAGE})
    await store.articles.delete(number, alice)
    assert set(redis.scan_iter("links:*")) == empty


async def test_imported_story_is_found_by_its_link(store, clock):
    stories = [
        Story("1", "a title", link=f"{PAGE}&utm_source=x", poster="Marlow", time=clock.now - 5, votes=3),
        Story("2", "b", link="", poster="Marlow", time=clock.now, votes=3),
    ]
    await import_batch(store, stories)

    (number,) = await listed(store, PAGE)
    assert (await article(store, number)).title == "a title"


@pytest.mark.parametrize("seed", range(3))
async def test_index_has_the_articles_of_each_link_after_any_history(store, clock, seed):  # A9
    chance, posted = random.Random(seed), {}
    people = [await registered(store, name) for name in PEOPLE]
    variants = [f"https://example.com/{page}{tail}" for page in "ab" for tail in ("", "#x", "?utm_source=y", "?c=1")]
    for turn in range(120):
        who, link = chance.choice(people), chance.choice(variants)
        own = [number for number, (poster, _) in posted.items() if poster == who]
        match chance.randrange(5) if own else 4:
            case 0:
                number = chance.choice(own)
                await store.articles.delete(number, who)
                del posted[number]
            case 1:
                number, new = chance.choice(own), chance.choice([link, ""])
                await store.articles.edit(number, who, {"link": new})
                posted[number] = (who, new)
            case _:
                made = await store.articles.post(who, Draft(f"title {turn}", link, "a text"))
                posted[made.article.number] = (who, link)
        clock.advance(chance.choice([0, 0, 0.001, 60]))

    for link in variants:
        same = [number for number, (_, other) in posted.items() if links.canonical(other) == links.canonical(link)]
        found = await page(store, listings.by_link(store.site, link), Window(1_000))
        by_hand = [await article(store, number) for number in same]
        assert list(found.positions) == sorted_by_hand(store, Order.TIME, by_hand, clock.now)
        some = await page(store, listings.by_link(store.site, link, clock.now - 60_000), Window(1_000))
        assert list(some.positions) == [each for each in found.positions if each.value >= clock.now - 60_000]
    assert await findings(store) == []


async def listed(store: Store, link: str) -> list[int]:
    """The numbers of the articles with a link to the same page, newest first."""
    return await numbers(store, listings.by_link(store.site, link))


@pytest.mark.one_server
@pytest.mark.parametrize("changes", [{"link": "https://example.com/other"}, {"link": "", "content": "a long text"}])
async def test_full_store_changes_no_link(store, alice, redis, changes):  # D6
    number = (await store.articles.post(alice, Draft("a title", PAGE))).article.number
    before = everything(redis)

    with full(redis), pytest.raises(StoreUnavailable, match="out of memory"):
        await store.articles.edit(number, alice, changes)
    assert everything(redis) == before
