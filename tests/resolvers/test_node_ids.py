"""Ids of nodes, well-formed and malformed."""

import pytest

from resolvers import node_ids
from resolvers.errors import BadInput
from store import numbering, validation
from store.errors import Invalid


def test_article_id_has_a_number():
    assert node_ids.article_number("article:1541") == 1541
    assert node_ids.article_number(f"article:{numbering.HIGHEST}") == numbering.HIGHEST


@pytest.mark.parametrize(
    "id",
    [
        *("", "1541", "article", "article:", "article:0", "article:01", "article:-1", "article:1.0", "article: 1"),
        *("Article:1", "user:1", "article:1:2", "article:\u0661", "article:1\n", f"article:{numbering.HIGHEST + 1}"),
    ],
)
def test_other_texts_are_no_article_id(id):
    assert node_ids.article_number(id) is None
    with pytest.raises(BadInput, match="looks like article:1541"):
        node_ids.queried_article_number(id)
    with pytest.raises(Invalid) as refusal:
        node_ids.input_article_number(id)
    assert refusal.value.field == ("articleId",)


def test_user_and_feed_ids_have_a_name_as_it_is_written():
    assert (node_ids.username("user:Alice"), node_ids.username("feed:Alice")) == ("Alice", None)
    assert (node_ids.feed_owner("feed:Alice"), node_ids.feed_owner("user:Alice")) == ("Alice", None)
    assert node_ids.input_username("user:Alice") == "Alice"


@pytest.mark.parametrize("id", ["", "alice", "user:", "user:a", "user:a b", "user:" + "a" * 21, "User:alice"])
def test_other_texts_are_no_user_id(id):
    assert node_ids.username(id) is None
    with pytest.raises(Invalid) as refusal:
        node_ids.input_username(id)
    assert refusal.value.field == ("userId",)


def test_group_id_is_in_lower_case():
    assert node_ids.group_name("group:Show") == node_ids.queried_group("Show") == "show"
    assert node_ids.group_name("group:a b") is node_ids.group_name("show") is None


def test_wrong_group_name_in_a_query_is_that_of_no_group():
    assert node_ids.queried_group("a b") == node_ids.queried_group("") == node_ids.NO_GROUP
    assert not validation.GROUP.fullmatch(node_ids.NO_GROUP)
