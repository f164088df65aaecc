"""The viewer's votes that a request knows without a read: just cast, or in the client-side cache."""

from inspect import iscoroutine

import pytest

from resolvers import articles
from resolvers.context import Context
from store.records import Vote
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions


async def assert_awaited(subjects, context):
    """Assert that the votes are not known: they are awaited, and are those of the field."""
    found = articles.known_or_read_viewer_votes(subjects, context)
    assert iscoroutine(found)
    assert await found == await articles.viewer_vote(subjects, context)


@pytest.fixture
async def voted(store, alice, bob):
    """The context of a request in which bob has voted on an article of alice, and the article."""
    article = await post(store, alice)
    token = (await store.sessions.open(bob)).token
    context = Context(store, token)
    await assert_awaited([article], context)
    voted = await articles.vote(context, article.id, Vote.DOWN)
    return context, voted.article


async def test_vote_that_was_just_cast_is_known(voted):
    context, article = voted

    assert articles.known_or_read_viewer_votes([article], context) == [Vote.DOWN]
    assert await articles.viewer_vote([article], context) == [Vote.DOWN]


async def test_vote_in_the_client_side_cache_is_known_once_the_request_has_read_something(store, voted):
    context, article = voted
    context.clear()
    # this read puts it into the cache, from which the vote had dropped it
    assert await articles.viewer_vote([article], context) == [Vote.DOWN]

    context.clear()
    await context.articles([article.number])  # reads the session, too

    assert articles.known_or_read_viewer_votes([article], context) == [Vote.DOWN]


async def test_votes_on_other_articles_are_not_known(store, alice, voted):
    context, article = voted
    other = await post(store, alice)

    await assert_awaited([article, other], context)
    assert await articles.viewer_vote([article, other], context) == [Vote.DOWN, Vote.NONE]


async def test_no_vote_is_known_once_voting_has_closed(voted):
    context, article = voted
    context.now = context.store.site.policy.closes_at(article) + 1

    await assert_awaited([article], context)
    assert await articles.viewer_vote([article], context) == [None]


async def test_viewer_is_not_known_once_the_session_has_ended(voted):
    context, article = voted
    context.now = context.reads.known_login.expires_at + 1

    await assert_awaited([article], context)


async def test_viewer_of_a_session_that_has_to_be_extended_is_not_known(clock, voted):
    context, article = voted
    clock.advance(2 * 3_600)
    context.now = clock()

    await assert_awaited([article], context)
    assert await context.viewer() == "bob"
    assert context.known_viewer() == "bob"
