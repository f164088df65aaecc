"""Relay's arguments of a paginated resolver; malformed ids and names."""

from inspect import iscoroutinefunction, signature

import pytest

from resolvers import arguments
from resolvers.arguments import BadInput, PageArguments, paginated
from store import validation


@paginated
async def resolver(context: object, order: int = 1, *, paging: PageArguments, pinned: bool = False) -> tuple:
    """The arguments as the resolver gets them."""
    return order, paging, pinned


async def test_paginated_resolver_takes_the_arguments_of_relay():
    assert list(signature(resolver).parameters) == ["context", "order", "first", "after", "last", "before", "pinned"]
    assert iscoroutinefunction(resolver)
    context = None
    assert await resolver(context, 2, first=3, pinned=True) == (2, PageArguments(first=3), True)
    assert await resolver(context, last=3, before="x") == (1, PageArguments(last=3, before="x"), False)


@pytest.mark.parametrize("id", ["", "1541", "article:0", "user:1", "article:1:2"])
def test_wrong_article_id_in_a_query_is_bad_input(id):
    with pytest.raises(BadInput, match=f"looks like article:1541, not {id}"):
        arguments.article_number(id)


def test_group_name_in_a_query_is_in_lower_case():
    assert arguments.group_name("Show") == "show"


def test_malformed_group_name_is_that_of_an_unknown_group():
    assert arguments.group_name("a b") == arguments.group_name("") == arguments.NO_GROUP
    assert not validation.GROUP.fullmatch(arguments.NO_GROUP)


@pytest.mark.parametrize("parents", [[1, 2], [1, -2], []])
def test_error_of_one_parent_does_not_affect_the_others(parents):
    def doubled(parent: int) -> int:
        if parent < 0:
            raise BadInput(parent)
        return 2 * parent

    values = arguments.for_each(parents, doubled)

    assert [isinstance(value, BadInput) for value in values] == [parent < 0 for parent in parents]
    assert [value for value in values if not isinstance(value, BadInput)] == [2 * each for each in parents if each > 0]
