"""Ids of records, such as `article:1541` or `user:Alice`, well-formed and malformed."""

import pytest

from store import numbering, records


def test_article_id_has_a_number():
    assert records.article_number("article:1541") == 1541
    assert records.article_number(f"article:{numbering.HIGHEST_NUMBER}") == numbering.HIGHEST_NUMBER


@pytest.mark.parametrize(
    "id",
    [
        "",
        "1541",
        "article",
        "article:",
        "article:0",
        "article:01",
        "article:-1",
        "article:1.0",
        "article: 1",
        "Article:1",
        "user:1",
        "article:1:2",
        "article:\u0661",
        "article:1\n",
        f"article:{numbering.HIGHEST_NUMBER + 1}",
    ],
)
def test_other_texts_are_no_article_id(id):
    assert records.article_number(id) is None


def test_user_and_feed_ids_have_a_name_as_it_is_written():
    assert (records.username("user:Alice"), records.username("feed:Alice")) == ("Alice", None)
    assert (records.feed_owner("feed:Alice"), records.feed_owner("user:Alice")) == ("Alice", None)


@pytest.mark.parametrize("id", ["", "alice", "user:", "user:a", "user:a b", "user:" + "a" * 21, "User:alice"])
def test_other_texts_are_no_user_id(id):
    assert records.username(id) is None


def test_group_id_is_in_lower_case():
    assert records.group_name("group:Show") == "show"
    assert records.group_name("group:a b") is records.group_name("show") is None
