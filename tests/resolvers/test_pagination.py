"""Pages of listings: the window that arguments give, cursors, connections of names, and the cache of pages."""

import pytest

from resolvers import pagination
from resolvers.arguments import BadInput, PageArguments
from resolvers.context import Context
from resolvers.pagination import (
    ARTICLE_CURSOR,
    ARTICLE_TIME_CURSOR,
    DECAYING_ARTICLE_CURSOR,
    PINNED,
)
from store import listings, validation
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Position, Vote
from tests.store.reading import post

MEMBER = "0000000000001541"  # an article's number as sorted sets have it
NAMES = ["alice", "Bob", "carol", "dave", "Eve"]


def test_arguments_are_a_window_of_a_listing():
    def window(**arguments: object) -> Window:
        return pagination.window("score", PageArguments(**arguments), ARTICLE_CURSOR)

    cursor = pagination.encode_cursor("score", (1.5, MEMBER))
    assert window() == Window(25)
    assert window(first=3, after=cursor) == Window(3, beyond=Position(1.5, MEMBER))
    assert window(last=3, before=cursor) == Window(3, upwards=True, beyond=Position(1.5, MEMBER))
    assert window(first=3, page=4) == Window(3, skip=9)


@pytest.mark.parametrize(
    ("format", "position", "expected"),
    [  # a position is value, member and, for some, the instant of the page and PINNED; expected: value, instant, pinned
        (ARTICLE_CURSOR, (-1.5, MEMBER), (-1.5, None, False)),
        (ARTICLE_TIME_CURSOR, (1e12, MEMBER), (1e12, None, False)),
        (DECAYING_ARTICLE_CURSOR, (0.5, MEMBER, 9), (0.5, 9, False)),
        (ARTICLE_CURSOR, (1.0, MEMBER, 9, PINNED), (1.0, 9, True)),
    ],
)
def test_cursor_is_decoded_to_what_was_encoded(format, position, expected):
    cursor = pagination.encode_cursor("listing", position)
    value, at, is_pinned = expected

    assert pagination.decode_position("listing", cursor, format) == (Position(value, MEMBER), at, is_pinned)
    with pytest.raises(BadInput, match="another listing"):
        pagination.decode_position("other", cursor, format)


def test_cursor_handed_out_by_an_older_version_is_accepted():
    cursor = "c2NvcmV8MTQ3MDMxMTUyMC4wfDAwMDAwMDAwMDAwMDE1NDE"

    assert pagination.encode_cursor("score", (1470311520.0, MEMBER)) == cursor
    assert pagination.decode_position("score", cursor, ARTICLE_CURSOR).position == Position(1470311520.0, MEMBER)


@pytest.mark.parametrize("text", ["", "?", "x" * 501, "c2NvcmU", "\u00e4"])
def test_other_texts_are_no_cursor(text):
    with pytest.raises(BadInput):
        pagination.decode_position("score", text, ARTICLE_CURSOR)


@pytest.mark.parametrize("names", [NAMES, [f"user{n:04}" for n in range(2_000)]], ids=["few", "many"])
def test_pages_of_names_are_read_in_both_directions(names):
    def page(**arguments: object) -> pagination.Connection[str]:
        return pagination.name_connection("names", names, PageArguments(**arguments), validation.USERNAME, str)

    first = page(first=2)
    second = page(first=2, after=first.page_info.end_cursor)
    assert (first.nodes, second.nodes, first.total) == (names[:2], names[2:4], len(names))
    assert (first.page_info.has_previous_page, first.page_info.has_next_page) == (False, True)
    assert page(last=1, before=second.page_info.start_cursor).nodes == [names[1]]
    assert page(last=2).nodes == names[-2:]


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_connection_is_cached_while_its_articles_are_equal(store, alice):
    article = await post(store, alice, "an article that no other test has")
    listing = listings.whole(store.site, Order.TIME)

    async def connection() -> pagination.Connection:
        return await pagination.article_connection(Context(store), listing, PageArguments(first=1))

    first, second, third = await connection(), await connection(), await connection()
    assert (first.is_cacheable, second.is_cacheable) == (False, True)
    assert second is third
    assert second.nodes == first.nodes
    await store.articles.vote(article.number, "bob", Vote.UP)
    changed = await connection()
    assert changed.nodes[0].upvotes == 2


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_cached_connection_is_of_the_same_places(store, alice):
    """Also if the first place, the number of places and the total are those of the cached page."""
    first, second, third = [await post(store, alice) for _ in range(3)][::-1]
    listing = listings.whole(store.site, Order.SCORE)

    async def shown() -> list[int]:
        page = await pagination.article_connection(Context(store), listing, PageArguments(first=2))
        return [article.number for article in page.nodes]

    await store.articles.vote(first.number, "carol", Vote.UP)
    before = [await shown() for _ in range(3)]
    await store.articles.vote(third.number, "bob", Vote.UP)
    await store.articles.vote(first.number, "bob", Vote.UP)
    await store.articles.vote(first.number, "bob", Vote.NONE)

    assert before == [[first.number, second.number]] * 3
    assert [await shown() for _ in range(3)] == [[first.number, third.number]] * 3


async def test_cursor_is_an_error_only_of_the_listings_that_it_does_not_belong_to(store, alice, bob):
    for poster in (alice, bob):
        for _ in range(2):
            await post(store, poster)
    timelines = [listings.timeline(store.site, name) for name in (alice, bob)]
    (page, _) = await pagination.article_connections(Context(store), timelines, PageArguments(first=1))
    paging = PageArguments(first=1, after=page.page_info.end_cursor)
    found, error = await pagination.article_connections(Context(store), timelines, paging)

    assert found.nodes[0].poster == alice
    assert isinstance(error, BadInput)
