"""
Articles by their link, and posts of a link that was posted before.

The fixture `token` is a session token of the user vera. Codes such as L3 name rows of docs/behaviours.md.
"""

from dataclasses import replace
from itertools import chain

import pytest

from caches import Pool
from engine import Limits
from engine.documents import Operations
from schema.schema import SCHEMA
from store.articles import Draft
from store.ranking.formulas import DAY, Policy
from tests.conftest import registered
from tests.store.reading import post

LINK = "https://example.com/"
PAGE = """query($link: URL!, $first: Int, $after: String, $last: Int, $before: String) {
  articlesByLink(link: $link, first: $first, after: $after, last: $last, before: $before) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } } }"""
POST = """mutation($input: PostInput!) { post(input: $input) {
  replayed article { id } duplicateOf { id title poster { username } } userErrors { code } } }"""
POST_ALONE = "mutation($input: PostInput!) { post(input: $input) { article { id } } }"

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def posted_by(store, *posters: str) -> list[str]:
    """Post articles with LINK, which `post` gives to all, at one time. Return their ids, newest first."""
    ids = [(await post(store, poster)).id for poster in posters]
    return sorted(ids, key=lambda id: int(id.partition(":")[2]), reverse=True)


async def walked(ask, size: str, cursor: str, end: str, **variables) -> list[list[str]]:
    """
    The ids of each page of two, of a link with seven articles. `size`, `cursor` and `end` are "first", "after" and
    "end" downwards, and "last", "before" and "start" upwards.
    """
    pages, at = [], None
    while not pages or at:
        answer = (await ask(PAGE, **{size: 2, cursor: at}, **variables))["data"]["articlesByLink"]
        pages.append([edge["node"]["id"] for edge in answer["edges"]])
        info = answer["pageInfo"]
        assert answer["totalCount"] == 7
        at = info[f"{end}Cursor"] if info["hasNextPage" if end == "end" else "hasPreviousPage"] else None
    return pages


async def test_cursors_walk_the_articles_of_a_link_both_ways(store, ask, alice, bob):  # L3, L8
    expected = await posted_by(store, alice, bob, alice, bob, bob, alice, alice)
    await store.articles.post(alice, Draft("another", f"{LINK}another"))

    forward = await walked(ask, "first", "after", "end", link=f"{LINK}#x")
    backward = await walked(ask, "last", "before", "start", link="HTTPS://EXAMPLE.com:443?utm_source=a")

    assert [*chain(*forward)] == [*chain(*reversed(backward))] == expected
    assert list(map(len, forward)) == list(map(len, backward)) == [2, 2, 2, 1]


async def test_cursor_is_valid_for_every_form_of_the_link(store, ask, alice):
    ids = await posted_by(store, alice, alice, alice)
    cursor = (await ask(PAGE, link=LINK, first=1))["data"]["articlesByLink"]["pageInfo"]["endCursor"]
    rest = (await ask(PAGE, link="https://example.com?fbclid=1", after=cursor))["data"]["articlesByLink"]

    assert [edge["node"]["id"] for edge in rest["edges"]] == ids[1:]


async def test_cursor_of_another_listing_is_bad_input(store, ask, alice):
    await posted_by(store, alice)
    cursor = (await ask(PAGE, link=LINK))["data"]["articlesByLink"]["pageInfo"]["endCursor"]
    of_time = (await ask("{ articles(order: TIME) { pageInfo { endCursor } } }"))["data"]["articles"]["pageInfo"]

    for link, after in [(f"{LINK}other", cursor), (LINK, of_time["endCursor"]), (LINK, "odd"), (LINK, cursor[:-4])]:
        answer = await ask(PAGE, link=link, after=after)
        assert answer["data"] == {"articlesByLink": None}
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        assert answer["errors"][0]["path"] == ["articlesByLink"]


@pytest.mark.parametrize("link", ["", "odd", "javascript:alert(1)", "https://a b.example/", "https://a:b@example.com/"])
async def test_malformed_link_is_bad_input(ask, link):
    answer = await ask(PAGE, link=link)

    assert answer["data"] == {"articlesByLink": None}
    assert answer["errors"][0]["message"].startswith("a link ")
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_page_of_a_link_reads_one_index_for_each_partition(store, ask, alice, bob, partitions):
    await posted_by(store, alice, bob, alice)
    await ask(PAGE, link=LINK)
    stats = (await ask(PAGE, link=LINK, first=7))["extensions"]["stats"]

    assert stats == {"roundTrips": 1, "commands": partitions}  # the articles are cached


def test_each_article_of_a_link_costs_a_point_and_the_duplicate_of_a_post_two():
    operations = Operations(SCHEMA, Limits(), Pool(1_000_000))

    assert operations.find(PAGE, name=None).cost.points({"first": 7}) == 1 + 7
    assert (
        operations.find(POST, name=None).cost.points({}) == operations.find(POST_ALONE, name=None).cost.points({}) + 2
    )


async def test_post_names_the_newest_other_article_with_its_link(store, ask, alice, bob, token, clock):  # A9
    async def posted(**given: str) -> dict[str, object]:
        return (await ask(POST, token, input={"title": "a title", **given}))["data"]["post"]

    first = await posted(link="https://example.com/a?utm_source=feed")
    assert first["duplicateOf"] is None
    clock.advance(60)
    await store.articles.post(alice, Draft("of alice", "https://example.com/a"))
    clock.advance(60)
    newest = (await store.articles.post(bob, Draft("of bob", "https://EXAMPLE.com/a#b"))).article
    second = await posted(link="https://example.com/a")
    double = await posted(link="https://example.com/a")

    expected = {"id": newest.id, "title": "of bob", "poster": {"username": "bob"}}
    assert (second["duplicateOf"], second["replayed"]) == (expected, False)
    assert (double["duplicateOf"], double["replayed"]) == (expected, True)
    assert (await posted(link="https://example.com/b"))["duplicateOf"] is None
    assert (await posted(content="a text"))["duplicateOf"] is None
    assert await posted(title="", link="https://example.com/a") == {
        "replayed": False, "article": None, "duplicateOf": None, "userErrors": [{"code": "INVALID"}],
    }  # fmt: skip


async def test_duplicate_is_named_within_the_window_only(store, ask, alice, clock):  # A9
    given = {"title": "a title", "link": LINK}
    first = await post(store, alice)
    clock.advance(30 * DAY)
    token = (await store.sessions.open(await registered(store, "vera"))).token
    within = (await ask(POST, token, input=given))["data"]["post"]
    await store.articles.delete(int(within["article"]["id"].removeprefix("article:")), "vera")
    clock.advance(0.001)
    after = (await ask(POST, token, input=given))["data"]["post"]

    assert within["duplicateOf"]["id"] == first.id
    assert after["duplicateOf"] is None


@pytest.mark.parametrize("policy", [replace(Policy(), duplicate_window=0)])
async def test_duplicate_window_of_zero_turns_duplicates_off(store, ask, alice, token):
    await post(store, alice)

    assert (await ask(POST, token, input={"title": "b", "link": LINK}))["data"]["post"]["duplicateOf"] is None


async def test_deleted_and_edited_articles_are_no_duplicates(store, ask, alice, bob, token):
    deleted, edited, kept = await post(store, alice), await post(store, bob), await post(store, alice)
    await store.articles.delete(deleted.number, alice)
    await store.articles.edit(edited.number, bob, {"link": f"{LINK}other"})
    again = (await ask(POST, token, input={"title": "b", "link": LINK}))["data"]["post"]
    await store.articles.delete(kept.number, alice)

    assert again["duplicateOf"]["id"] == kept.id
    double = (await ask(POST, token, input={"title": "b", "link": LINK}))["data"]["post"]
    assert (double["replayed"], double["duplicateOf"]) == (True, None)


async def test_links_that_are_not_indexed_yet_are_refused(store, ask, redis):
    redis.hdel("store", "links")
    await store.site.rankings.read(store.site.redis)  # as a server does when it starts
    answer = await ask(PAGE, link=LINK)

    assert answer["errors"][0]["message"] == "links are not indexed in this store yet: `upvote reindex` does it"
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
