"""
The field `rateLimit`: how many cost points the client of a request has left. Each operation takes as many as it is
estimated to cost, and they come back with time.
"""

from typing import Any

import strawberry

from resolvers import rate_limits
from resolvers.context import Context
from schema.fields import root_field
from schema.scalars import DateTime


@strawberry.type(
    description="The cost points of a client: of the user, the server key or the address that it counts for."
)
class RateLimit:
    limit: int = strawberry.field(description="How many points can be saved up.")
    remaining: int = strawberry.field(description="How many are left; 0 also if more were taken than there were.")
    restore_rate: int = strawberry.field(description="How many come back in a second, rounded.")
    reset_at: DateTime = strawberry.field(description="When all will have come back, if none are taken until then.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, rate_limits.RateLimit)


@strawberry.type
class RateLimitQueries:
    rate_limit: RateLimit | None = root_field(
        Context.rate_limit, "What is left of the cost points of this client; null without rate limits."
    )
