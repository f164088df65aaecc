"""
Posting, editing and deleting articles, and posts that are sent twice: with the same idempotency key, or the same input
within ten seconds.

Codes such as A1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import keys, links, listings
from store.articles import Draft
from store.errors import IdempotencyMismatch, Invalid, Unauthenticated
from store.ranking.formulas import DAY, Order, Policy
from store.records import Article
from tests.store.reading import article, everything, numbers, page, post, profile, upvoters

DRAFT = Draft("Interactive Dynamic Video", "https://example.com/idv", "A text.", ("Video", "show"))


async def test_article_is_stored_in_one_hash(store, alice, clock, redis):  # A1
    posted = await store.articles.post(alice, DRAFT)

    number = posted.article.number
    expected = Article(
        number=number,
        title=DRAFT.title,
        link=DRAFT.link,
        content=DRAFT.content,
        poster="Alice",
        posted_at=clock.now,
        edited_at=None,
        upvotes=1,
        downvotes=0,
        imported_votes=0,
        groups=("show", "video"),
    )
    assert posted.article == expected == await article(store, number)
    assert redis.hgetall(keys.article(store.site.partition_of_article(number), number)) == {
        "title": DRAFT.title,
        "link": DRAFT.link,
        "content": DRAFT.content,
        "poster": "Alice",
        "time": str(clock.now),
        "up": "1",
        "down": "0",
        "groups": "show video",
        "link_digest": links.digest(DRAFT.link),
    }


async def test_numbers_rise_and_contain_the_slot_of_the_poster(store, alice):  # A2
    """The slot says in which of 1,024 shares of the store a user and all articles of the user are."""
    first, second = (await post(store, alice)).number, (await post(store, alice)).number

    assert second == first + 2 * keys.SLOTS  # sequences of posts are even
    assert first % keys.SLOTS == keys.slot("alice")


async def test_number_of_a_deleted_article_is_not_used_again(store, alice):  # A2
    first = (await post(store, alice)).number
    await store.articles.delete(first, alice)

    assert (await post(store, alice)).number == first + 2 * keys.SLOTS


async def test_posted_article_is_at_once_in_every_order_and_in_its_groups(store, alice, partitions):  # A3
    number = (await post(store, alice, groups=["show"])).number

    for order in Order:
        assert await numbers(store, listings.whole(store.site, order)) == [number]
        assert await numbers(store, listings.group(store.site, "show", order)) == [number]
    assert await numbers(store, listings.timeline(store.site, "alice")) == [number]


async def test_poster_is_the_first_voter(store, alice, clock, redis):  # A4
    posted = await post(store, alice)

    (position,) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert (posted.upvotes, posted.downvotes) == (1, 0)
    assert upvoters(redis, store, posted.number) == {"Alice"}
    assert position.value == clock.now + 432_000  # milliseconds that a vote is worth in the order SCORE
    assert (await profile(store, "alice")).karma == 0


@pytest.mark.parametrize("policy", [Policy(good_votes=1)])
async def test_article_can_be_good_from_the_start(store, alice):  # A3, V11
    number = (await post(store, alice)).number

    assert await numbers(store, listings.front_page(store.site, day=None)) == [number]


async def test_concurrent_reader_never_sees_part_of_a_post(store, alice):  # A6
    seen = []

    async def watch() -> None:
        for _ in range(100):
            shown = await numbers(store, listings.group(store.site, "show", Order.TIME))
            seen.extend([await article(store, number) for number in shown])

    await asyncio.gather(watch(), *(post(store, alice, groups=["show"]) for _ in range(25)))

    assert seen
    assert all(found is not None and found.groups == ("show",) and found.votes == 1 for found in seen)


async def test_refused_post_writes_nothing(store, alice, redis):  # A6
    before = everything(redis)

    with pytest.raises(Unauthenticated):
        await store.articles.post("nobody", DRAFT)

    assert everything(redis) == before


async def test_same_key_and_input_return_the_first_article(store, alice):  # A7
    first = await store.articles.post(alice, DRAFT, "my key")
    again = await store.articles.post(alice, DRAFT, "my key")

    assert (first.replayed, again.replayed) == (False, True)
    assert again.article == first.article
    assert len(await numbers(store, listings.timeline(store.site, "alice"))) == 1


async def test_same_key_with_other_input_is_refused(store, alice, redis):  # A7
    await store.articles.post(alice, DRAFT, "my key")
    before = everything(redis)

    with pytest.raises(IdempotencyMismatch):
        await store.articles.post(alice, Draft("another", "https://example.com/"), idempotency_key="my key")

    assert everything(redis) == before


async def test_key_is_kept_for_a_day(store, alice, clock):  # A7
    first = await store.articles.post(alice, DRAFT, "my key")
    clock.advance(DAY)
    within = await store.articles.post(alice, DRAFT, "my key")
    clock.advance(0.001)
    after = await store.articles.post(alice, DRAFT, "my key")

    assert within.article == first.article
    assert after.article.number == first.article.number + 2 * (DAY * 1000 + 1) * keys.SLOTS


async def test_keys_belong_to_their_users(store, alice, bob):  # A7
    first = await store.articles.post(alice, DRAFT, "my key")
    other = await store.articles.post(bob, DRAFT, "my key")

    assert not other.replayed
    assert other.article.number != first.article.number


async def test_concurrent_posts_with_one_key_post_once(store, alice):  # A7
    posted = await asyncio.gather(*(store.articles.post(alice, DRAFT, "my key") for _ in range(50)))

    assert len({each.article.number for each in posted}) == 1
    assert [each.replayed for each in posted].count(False) == 1


async def test_same_input_within_ten_seconds_is_one_article(store, alice, bob, clock):  # A7, A10
    first = await store.articles.post(alice, DRAFT)
    clock.advance(10)
    double = await store.articles.post(alice, Draft(f" {DRAFT.title} ", DRAFT.link, DRAFT.content, ("SHOW", "video")))
    others = [
        await store.articles.post(bob, DRAFT),
        await store.articles.post(alice, DRAFT, "a key"),
        await store.articles.post(alice, Draft(DRAFT.title, DRAFT.link, DRAFT.content, ("show",))),
        await store.articles.post(alice, Draft(DRAFT.title, DRAFT.link, groups=DRAFT.groups)),
    ]
    clock.advance(0.001)
    late = await store.articles.post(alice, DRAFT)

    assert (first.replayed, double.replayed, double.article) == (False, True, first.article)
    assert [each.replayed for each in [*others, late]] == [False] * 5
    assert len({each.article.number for each in [first, *others, late]}) == 6


async def test_same_input_after_a_deletion_is_a_new_article(store, alice):  # A7
    first = await store.articles.post(alice, DRAFT)
    await store.articles.delete(first.article.number, alice)
    second = await store.articles.post(alice, DRAFT)
    double = await store.articles.post(alice, DRAFT)

    assert (second.replayed, double.replayed) == (False, True)
    assert first.article.number != second.article.number == double.article.number


async def test_concurrent_posts_of_the_same_input_post_once(store, alice):  # A7
    posted = await asyncio.gather(*(store.articles.post(alice, DRAFT) for _ in range(50)))

    assert len({each.article.number for each in posted}) == 1
    assert [each.replayed for each in posted].count(False) == 1
    assert len(await numbers(store, listings.timeline(store.site, "alice"))) == 1


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (Draft("", "https://example.com/"), "title"),
        (Draft(" \t\n ", "https://example.com/"), "title"),
        (Draft("x" * 301, "https://example.com/"), "title"),
        (Draft("a\x00b", "https://example.com/"), "title"),
        (Draft("a\nb", "https://example.com/"), "title"),
        (Draft("a\ud800b", "https://example.com/"), "title"),
        (Draft("a title"), "link"),
        (Draft("a title", "ftp://example.com/"), "link"),
        (Draft("a title", "javascript:alert(1)"), "link"),
        (Draft("a title", "//example.com/"), "link"),
        (Draft("a title", "https://"), "link"),
        (Draft("a title", "http:///path"), "link"),
        (Draft("a title", "https://exa mple.com/"), "link"),
        (Draft("a title", "https://example.com/" + "x" * 1981), "link"),
        (Draft("a title", content="x" * 40_001), "content"),
        (Draft("a title", content="a\x00b"), "content"),
        (Draft("a title", "https://example.com/", groups=("",)), "groups"),
        (Draft("a title", "https://example.com/", groups=("-x",)), "groups"),
        (Draft("a title", "https://example.com/", groups=("a b",)), "groups"),
        (Draft("a title", "https://example.com/", groups=("\u212aelvin",)), "groups"),
        (Draft("a title", "https://example.com/", groups=("x" * 51,)), "groups"),
        (Draft("a title", "https://example.com/", groups=tuple("abcdefghijk")), "groups"),
    ],
)
async def test_value_that_breaks_a_rule_is_refused(store, alice, redis, draft, field):  # A8, G2, G5
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.articles.post(alice, draft)

    assert refusal.value.field == (field,)
    assert everything(redis) == before


async def test_values_at_their_limits_are_accepted(store, alice):  # A8
    link = "https://example.com/" + "x" * 1980
    draft = Draft(f" {'x' * 300} ", link, "y" * 40_000, tuple("abcdefghij"))

    posted = (await store.articles.post(alice, draft)).article

    assert (posted.title, posted.link, posted.content) == ("x" * 300, link, "y" * 40_000)
    assert posted.groups == tuple("abcdefghij")


async def test_edit_changes_the_given_fields_and_sets_the_time(store, alice, clock):
    number = (await store.articles.post(alice, DRAFT)).article.number
    clock.advance(60)

    edited = (await store.articles.edit(number, alice, {"title": "Another", "link": ""})).article

    assert (edited.title, edited.link, edited.content) == ("Another", None, DRAFT.content)
    assert edited.edited_at == clock.now
    assert edited == await article(store, number)


async def test_edit_that_leaves_neither_link_nor_content_is_refused(store, alice, redis):  # A8
    number = (await post(store, alice)).number
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.articles.edit(number, alice, {"link": ""})

    assert refusal.value.field == ("link",)
    assert everything(redis) == before


@pytest.mark.parametrize(
    ("field", "text"),
    [("title", "\u200b"), ("title", "a\u202eb"), ("link", "http://a:b@example.com/"), ("content", " ")],
)
async def test_edit_that_breaks_a_rule_is_refused(store, alice, redis, field, text):  # A8
    number = (await post(store, alice)).number
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.articles.edit(number, alice, {field: text})

    assert refusal.value.field == (field,)
    assert everything(redis) == before


async def test_deleted_article_leaves_only_its_number_and_the_sequence_of_numbers(store, alice, redis):
    kept = everything(redis)
    number = (await post(store, alice, groups=["show"])).number
    await store.articles.delete(number, alice)

    left = {key for key in everything(redis) if not key.startswith(("posted:", "log:"))} - set(kept)
    partition = store.site.partition_of_user("alice")
    assert left == {keys.sequence(partition), keys.deleted(partition)}
    assert (await profile(store, "alice")).karma == 0
