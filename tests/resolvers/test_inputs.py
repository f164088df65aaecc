"""Ids in the inputs of mutations."""

import pytest

from resolvers import articles, comments, users
from resolvers.context import Context
from store.errors import Invalid


@pytest.fixture
async def context(store, alice) -> Context:
    return Context(store, (await store.sessions.open(alice)).token)


@pytest.mark.parametrize("id", ["", "1541", "article:0", "user:1"])
async def test_wrong_article_id_is_refused(context, id):
    for command in (articles.vote, articles.edit, articles.delete, articles.regroup):
        with pytest.raises(Invalid, match="looks like article:1541") as refusal:
            await command(context, id)

        assert refusal.value.field == ("articleId",)


@pytest.mark.parametrize("id", ["", "1541", "comment:0", "article:1541"])
async def test_wrong_comment_id_is_refused(context, id):
    for command in (comments.vote, comments.delete):
        with pytest.raises(Invalid, match="looks like comment:1541") as refusal:
            await command(context, id)

        assert refusal.value.field == ("commentId",)


@pytest.mark.parametrize("id", ["", "alice", "user:a", "feed:alice"])
async def test_wrong_user_id_is_refused(context, id):
    for command in (users.follow, users.unfollow):
        with pytest.raises(Invalid, match="looks like user:alice") as refusal:
            await command(context, id)

        assert refusal.value.field == ("userId",)
