"""The field `rateLimit`: the points that a client has left."""

from resolvers.context import Context
from resolvers.rate_limits import RateLimit
from schema.schema import SCHEMA

QUERY = "{ rateLimit { limit remaining restoreRate resetAt } }"


async def test_points_of_the_client_are_returned_and_not_shared(store):
    context = Context(store, read_rate_limit=lambda: RateLimit(10_000, 9_924, 1_000, 1_470_311_520_076))
    answer = await SCHEMA.execute(QUERY, context_value=context)

    assert answer.data == {
        "rateLimit": {"limit": 10_000, "remaining": 9_924, "restoreRate": 1_000, "resetAt": "2016-08-04T11:52:00.076Z"}
    }
    assert not context.is_shareable
    assert Context(store).is_shareable


async def test_rate_limit_is_null_without_rate_limits(store):
    answer = await SCHEMA.execute(QUERY, context_value=Context(store))

    assert (answer.data, answer.errors) == ({"rateLimit": None}, None)
