"""The cost of operations: pages multiply, and operations that cost too much are refused before execution."""

import pytest

from caches import Pool
from engine import Limits
from engine.documents import Operations
from engine.errors import Refused
from engine.limits.cost import PageSize, Weights, check_cost
from tests.engine.messages import initialise, receive, subscribe
from tests.engine.sample import SCHEMA
from tests.support.answers import code

# points: 50 for a page without a size, 10 for another list, 500 for introspection
OPERATIONS = Operations(SCHEMA, Limits(weights=Weights(page=50, items=10, introspection=500)), Pool(1_000_000))


def points(text, **variables):
    return OPERATIONS.find(text, name=None).cost.points(variables)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ hello }", 0),
        ("{ down { hello } }", 1),
        ("{ down { down { hello } } again: down { hello } }", 3),
        ("{ down { hello } down { down { hello } } }", 2),
        ("{ ...A ...A } fragment A on Query { down { ...B } ...B } fragment B on Query { down { hello } }", 2),
        ("{ shelf(first: 7) { total } }", 1),
        ("{ shelf(first: 7) { books { title } } }", 8),
        ("{ shelf(last: 7) { books { title } } }", 8),
        ("{ shelf(first: 3, last: 7) { books { title } } }", 8),
        ("{ shelf { books { title } } }", 51),
        ("{ shelf(first: null) { books { title } } }", 51),
        ("{ shelf(first: -7) { books { title } } }", 1),
        ("{ shelf(first: 7, page: 1) { books { title } } }", 8),
        ("{ shelf(first: 7, page: 1001) { books { title } } }", 8 + 7 * 1000 // 100),  # 1 for 100 items before it
        ("{ shelf(page: -3) { books { title } } }", 51),
        ("{ shelf(first: 7) { places { book { title } } } }", 8),
        ("{ shelf(first: 7) { books { likes { title } } } }", 1 + 7 + 7 * 1),
        ("{ shelf(first: 7) { books { likes { shelf(first: 5) { books { title } } } } } }", 1 + 7 + 7 * (1 + 10 * 6)),
        ("{ pick(ids: [1, 2, 3]) { title } }", 3),
        ("{ pick(ids: 1) { title } }", 1),
        ("{ __schema { types { name } } hello }", 500),
        ("mutation { change }", 0),
        ("subscription { count }", 0),
    ],
)
def test_pages_multiply_nested_costs(text, expected):
    assert points(text) == expected


def test_sizes_may_be_variables():
    shelf = "query ($n: Int = 5, $ids: [Int!]) { shelf(first: $n) { books { title } } pick(ids: $ids) { title } }"

    assert points(shelf, ids=[1, 2]) == 1 + 5 + 2
    assert points(shelf, n=9, ids=3) == 1 + 9 + 1
    assert points(shelf, n=9.0) == 1 + 9 + 1
    assert points(shelf, n=None, ids=[]) == 1 + 50 + 0
    assert points("query ($page: Int) { shelf(first: 10, page: $page) { total } }", page=101) == 1 + 10
    for odd in (True, "7", [7], float("inf")):
        assert points(shelf, n=odd, ids=[]) == 1 + 50 + 0


def test_fields_of_an_oversized_page_cost_nothing():
    bounded = Operations(SCHEMA, Limits(weights=Weights(page=50, largest_page=100)), Pool(100_000))
    operation = bounded.find("query ($n: Int) { shelf(last: $n) { books { likes { title } } } }", name=None)

    assert [operation.cost.points({"n": size}) for size in (100, 101, 2**31, -1)] == [201, 1, 1, 1]


def test_other_arguments_may_give_the_size_of_a_page():
    sized = Operations(
        SCHEMA, Limits(weights=Weights(sizes={"most": PageSize(default=20, largest=1_000)})), Pool(100_000)
    )
    operation = sized.find("query ($n: Int) { recent(most: $n) { books { title } } }", name=None)

    assert [operation.cost.points({"n": size}) for size in (7, 1_000, 1_001, 0, -1)] == [8, 1_001, 1, 1, 1]
    assert sized.find("{ recent { books { title } } }", name=None).cost.points({}) == 21


def test_arguments_may_cost_points_of_their_own():
    priced = Operations(SCHEMA, Limits(weights=Weights(given_arguments={"page": 7})), Pool(100_000))
    operation = priced.find("query ($p: Int) { shelf(first: 1, page: $p) { total } }", name=None)

    assert [operation.cost.points(variables) for variables in ({"p": 1}, {"p": 0}, {"p": None}, {})] == [8, 8, 1, 1]
    for written, expected in (("1", 8), ("null", 1)):
        operation = priced.find(f"{{ shelf(first: 1, page: {written}) {{ total }} }}", name=None)
        assert operation.cost.points({}) == expected


def test_strings_may_cost_points_by_their_values():
    priced = Operations(SCHEMA, Limits(weights=Weights(string_costs={"note": len})), Pool(100_000))
    operation = priced.find('query ($s: String = "ab") { down(note: $s) { hello } }', name=None)

    assert [operation.cost.points(variables) for variables in ({}, {"s": "abcd"}, {"s": None})] == [3, 5, 1]
    assert [operation.cost.points({"s": odd}) for odd in (7, ["abcd"], "")] == [1, 1, 1]
    for written, expected in (('"abc"', 4), ('"""abc"""', 4), ("null", 1)):
        operation = priced.find(f"{{ down(note: {written}) {{ hello }} }}", name=None)
        assert operation.cost.points({}) == expected


def test_fields_may_have_longer_lists_and_larger_pages():
    weights = Weights(
        items=10, largest_page=100, lists={("Book", "likes"): 70}, pages={("Query", "shelf"): PageSize(50, 500)}
    )
    sized = Operations(SCHEMA, Limits(weights=weights), Pool(100_000))
    operation = sized.find("query ($n: Int) { shelf(first: $n) { books { title } } }", name=None)

    assert [operation.cost.points({"n": size}) for size in (500, 501, None)] == [501, 1, 51]
    assert sized.find("{ pick(ids: [1]) { likes { down: title } } }", name=None).cost.points({}) == 2
    assert sized.find("{ pick(ids: [1]) { likes { shelf(first: 5) { total } } } }", name=None).cost.points({}) == 72
    assert sized.find("{ pick(ids: [1]) { shelf(first: 500) { books { title } } } }", name=None).cost.points({}) == 2


def test_number_of_cached_costs_is_bounded():
    operation = OPERATIONS.find("query Many($n: Int) { shelf(first: $n) { books { title } } }", name=None)

    assert [operation.cost.points({"n": size}) for size in range(1_000)] == [1 + size for size in range(1_000)]
    assert len(operation.cost._cache) <= 64


def test_cost_at_the_limit_is_allowed():
    assert check_cost(51, 51) is None
    with pytest.raises(Refused, match="COST_LIMIT_EXCEEDED"):
        check_cost(52, 51)


async def test_huge_pages_are_refused_before_execution(ask, http, socket, contexts):
    text = "query ($n: Int!) { shelf(first: $n) { books { shelf(first: $n) { books { title } } } } }"
    posted = await ask(text, variables={"n": 100})
    old = await http.post("", json={"query": text, "variables": {"n": 2_000_000_000}})
    await initialise(socket)
    await subscribe(socket, text, variables={"n": 100})

    assert (posted.status_code, code(posted)) == (400, "COST_LIMIT_EXCEEDED")
    assert posted.json()["errors"][0]["message"] == "the operation may cost 10201 points, more than 10000"
    assert (old.status_code, code(old)) == (200, "COST_LIMIT_EXCEEDED")
    assert (await receive(socket))["payload"][0]["extensions"]["code"] == "COST_LIMIT_EXCEEDED"
    assert contexts.opened == []


async def test_cost_is_returned_on_request(ask):
    response = await ask("{ shelf(first: 7) { books { title } } }", {"X-Stats": "1"})

    assert response.json()["extensions"] == {"stats": {"roundTrips": 0, "commands": 0}, "cost": 8}
