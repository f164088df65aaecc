"""
Forged cursors: an impossible position is refused, for each kind of connection.

The fixture `token` is a session token of the user vera. Codes such as L3 name rows of docs/behaviours.md.
"""

from base64 import urlsafe_b64encode

import pytest

from store.ranking.formulas import Order
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

NUMBER = "0000000000000001"  # of an article, as the members of indexes have it
LISTINGS = {  # by the name of the listing in its cursors, a query of it: one for each kind of connection
    "score": "{ articles(PAGE) { nodes { id } } }",
    "time": "{ articles(order: TIME, PAGE) { nodes { id } } }",
    "gravity": "{ articles(order: GRAVITY, PAGE) { nodes { id } } }",
    "group:show:score": '{ group(name: "show") { articles(PAGE) { nodes { id } } } }',
    "good": "{ frontPage(PAGE) { nodes { id } } }",
    "good:1470268800000": '{ frontPage(date: "2016-08-04", PAGE) { nodes { id } } }',
    "timeline:alice": '{ user(username: "alice") { articles(PAGE) { nodes { id } } } }',
    "followers:alice": '{ user(username: "alice") { followers(PAGE) { nodes { id } } } }',
    "following:alice": '{ user(username: "alice") { following(PAGE) { nodes { id } } } }',
    "feed:vera": "{ feed { articles(PAGE) { nodes { id } } } }",
    "groups": "{ groups(PAGE) { nodes { id } } }",
    "voters": "{ articles { nodes { voters(PAGE) { nodes { id } } } } }",
}
# the listings by what their positions are: a time in milliseconds, members that are usernames, a name alone
BY_TIME = ["time", "good", "good:1470268800000", "timeline:alice", "followers:alice", "following:alice", "feed:vera"]
OF_USERS = ["followers:alice", "following:alice"]
BY_NAME = ["groups", "voters"]


async def pages_at(ask, token, number, listing, *position):
    """The responses for the pages after and before a position."""
    name = f"voters:{number}" if listing == "voters" else listing
    cursor = urlsafe_b64encode("|".join([name, *position]).encode()).decode()
    pages = (f'first: 5, after: "{cursor}"', f'last: 5, before: "{cursor}"')
    return [await ask(LISTINGS[listing].replace("PAGE", page), token) for page in pages]


def impossible_positions(listing):
    """Positions that are impossible in a listing."""
    if listing in BY_NAME:
        return [("",), ("a b",), ("x" * 51,), ("al", "ice"), ("alice", "1"), ("-\u00e4",)]
    member = "alice" if listing in OF_USERS else NUMBER
    instant = ("1470311520000",) if listing == "gravity" else ()
    values = ["", "nan", "inf", "1e999", "1_0", " 1", "0x1", "\u0661", "1" * 400]
    values += ["-1", "0.5", "9e15", "253402300800000"] if listing in BY_TIME else []
    members = ["", "a b", "x" * 21, "\u0661" * 16, *([] if listing in OF_USERS else ["1", "alice", NUMBER + "0"])]
    wrong_instants = (
        [("1",)] if not instant else [(), ("-1",), ("1_0",), ("",), ("9" * 16,), ("253402300800000",), ("1", "2")]
    )
    wrong_instants += [("1", "pinned", "1"), ("x", "pinned"), ("9" * 16, "pinned")]
    return [
        (),
        ("1",),
        *((value, member, *instant) for value in values),
        *(("1", member, *instant) for member in members),
        *(("1", member, *wrong) for wrong in wrong_instants),
    ]


@pytest.mark.parametrize("listing", LISTINGS)
async def test_cursor_with_an_impossible_position_is_refused(store, ask, alice, token, listing):  # L3
    number = (await post(store, alice, groups=["show"])).number
    for position in impossible_positions(listing):
        for answer in await pages_at(ask, token, number, listing, *position):
            (error,) = answer["errors"]
            assert (error["extensions"]["code"], error["message"]) == (
                "BAD_USER_INPUT",
                "this is not a valid cursor",
            ), position


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("pinned", [True, False])
async def test_cursor_with_an_extreme_position_is_accepted(store, ask, alice, token, order, pinned):  # L3
    for _ in range(3):
        await post(store, alice)
    ends = ["0", "1", "253402300799999"]
    values = ends if order is Order.TIME else [*ends, "-1e+308", "1e+308", "1e-300", "-0.0", "9007199254740993"]
    query = f"{{ articles(order: {order.name}, PAGE) {{ totalCount nodes {{ id }} }} }}"
    for value in values:
        for at in ends:
            instant = [at, "pinned"] if pinned else [at] if order is Order.GRAVITY else []
            text = "|".join([order.value, value, NUMBER, *instant])
            cursor = urlsafe_b64encode(text.encode()).decode()
            for page in (f'first: 5, after: "{cursor}"', f'last: 5, before: "{cursor}"'):
                answer = await ask(query.replace("PAGE", page), token)
                assert "errors" not in answer, (value, at, page)
