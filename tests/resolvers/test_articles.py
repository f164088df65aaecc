"""What a request knows of votes without waiting."""

import pytest

from resolvers import articles
from resolvers.context import Context
from store.records import Vote
from tests.store.reading import post

pytestmark = pytest.mark.routed  # with several partitions, see tests/conftest.py


@pytest.fixture
async def voted(store, alice, bob):
    """The context of a request in which bob has voted on an article of alice, and the article."""
    article = await post(store, alice)
    token = (await store.sessions.open(bob)).token
    context = Context(store, token)
    assert articles.known_viewer_votes([article], context) is None
    voted = await articles.vote(context, article.id, Vote.DOWN)
    return context, voted.article


async def test_vote_that_was_just_cast_is_known(voted):
    context, article = voted

    assert articles.known_viewer_votes([article], context) == [Vote.DOWN]
    assert await articles.viewer_vote([article], context) == [Vote.DOWN]


async def test_votes_on_other_articles_are_not_known(store, alice, voted):
    context, article = voted
    other = await post(store, alice)

    assert articles.known_viewer_votes([article, other], context) is None
    assert await articles.viewer_vote([article, other], context) == [Vote.DOWN, Vote.NONE]


async def test_no_vote_is_known_once_voting_has_closed(voted):
    context, article = voted
    context.now = context.store.site.policy.closes_at(article) + 1

    assert articles.known_viewer_votes([article], context) is None
    assert await articles.viewer_vote([article], context) == [None]


async def test_viewer_is_not_known_once_the_session_has_ended(voted):
    context, article = voted
    context.now = context.reads.known_login.expires_at + 1

    assert articles.known_viewer_votes([article], context) is None


async def test_viewer_of_a_session_that_has_to_be_extended_is_not_known(clock, voted):
    context, article = voted
    clock.advance(2 * 3_600)
    context.now = clock()

    assert articles.known_viewer_votes([article], context) is None
    assert await context.viewer() == "bob"
    assert context.known_viewer() == "bob"
