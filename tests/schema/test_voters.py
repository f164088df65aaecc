"""
Who reads the list of those who voted an article up: a site shows it to everybody, to moderators, or to nobody.

Codes such as V10 name rows of docs/behaviours.md.
"""

from dataclasses import replace

import pytest

from store.moderation_records import Role
from store.offers import VoterReaders
from store.records import Vote
from tests.conftest import registered
from tests.schema.moderators import signed_in
from tests.store.reading import post

VOTERS = "query($id: ID!) { article(id: $id) { upvotes downvotes voters { totalCount nodes { username } } } }"


@pytest.fixture
async def article(store, alice, bob):
    found = await post(store, alice, groups=["go"])
    await store.articles.vote(found.number, bob, Vote.UP)
    await store.articles.vote(found.number, await registered(store, "Carol"), Vote.DOWN)
    return found


async def shown(ask, article, token=None):
    """The names that a viewer reads. The counts are always there."""
    answer = (await ask(VOTERS, token, id=article.id))["data"]["article"]
    assert (answer["upvotes"], answer["downvotes"]) == (2, 1)
    assert answer["voters"] is None or answer["voters"]["totalCount"] == len(answer["voters"]["nodes"])
    return answer["voters"] and [each["username"] for each in answer["voters"]["nodes"]]


def show_to(store, readers):
    store.users.offers = replace(store.users.offers, voters=readers)


async def test_everybody_reads_who_voted_up_and_nobody_who_voted_down(store, ask, article):  # V10
    assert await shown(ask, article) == ["Alice", "bob"]
    assert await shown(ask, article, await signed_in(store, "ada", Role.ADMIN)) == ["Alice", "bob"]


async def test_only_moderators_of_a_group_or_of_the_site_read_the_list(store, ask, token, article):  # V10
    show_to(store, VoterReaders.MODERATORS)
    poster = (await store.sessions.open("Alice")).token

    of_others = [None, token, poster, await signed_in(store, "rusty", Role.MODERATOR, "rust")]
    assert [await shown(ask, article, each) for each in of_others] == [None] * 4
    for of_moderator in (
        await signed_in(store, "gopher", Role.MODERATOR, "go"),
        await signed_in(store, "ada", Role.ADMIN),
    ):
        assert await shown(ask, article, of_moderator) == ["Alice", "bob"]


async def test_nobody_reads_the_list(store, ask, article):  # V10
    show_to(store, VoterReaders.NOBODY)

    assert await shown(ask, article, await signed_in(store, "ada", Role.ADMIN)) is None


async def test_wrong_arguments_are_refused_before_the_list_is_hidden(store, ask, article):
    show_to(store, VoterReaders.NOBODY)

    answer = await ask(f'{{ article(id: "{article.id}") {{ voters(first: 0) {{ totalCount }} }} }}')

    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
