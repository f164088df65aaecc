"""What the settings and the schema say of limits, in the terms of the wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from resolvers.rates import WriteRates
from server.protocols import Door
from server.settings import Settings
from server.wire import Limits, Rates
from store.buckets import Buckets
from store.errors import StoreUnavailable
from store.site import Site

SHARING_SECONDS = 0.1
HASHING = frozenset({"register", "logIn", "changePassword"})  # each takes the time and memory of a password's hash


def limits(settings: Settings) -> Limits:
    return Limits(once=HASHING, introspection=settings.introspection == "on")


def door(settings: Settings) -> Door:
    of_an_address = settings.max_address_connections if settings.rate_limits == "on" else None
    return Door(settings.max_connections, of_an_address, settings.proxies)


def rates(settings: Settings) -> Rates | None:
    return Rates(settings.rate_points, settings.rate_points_back) if settings.rate_limits == "on" else None


@asynccontextmanager
async def shared(rates: Rates | None, site: Site) -> AsyncIterator[None]:
    """Let processes know of what others gave out, within a tenth of a second; while the store is away, of none."""
    if rates is None:
        yield
        return
    sharing = asyncio.create_task(_share(rates, Buckets(site, rates.points, rates.back)))
    yield
    sharing.cancel()


async def _share(rates: Rates, buckets: Buckets) -> None:
    while True:
        await asyncio.sleep(SHARING_SECONDS)
        with suppress(StoreUnavailable):
            await rates.share(buckets.take)


def write_rates(settings: Settings) -> WriteRates | None:
    if settings.rate_limits == "off":
        return None
    return WriteRates(settings.rate_posts, settings.rate_posts_a_day, settings.rate_registrations)


def pages_of_others(settings: Settings) -> list[Middleware]:
    """Browsers show an answer to pages of other origins only where it says so; unless any is allowed, none does."""
    if not settings.origins:
        return []
    headers = ["Authorization", "Content-Type", "X-Request-Id", "X-Upvote-Stats", "traceparent"]
    exposed = ["ETag", "Retry-After", "X-Request-Id"]
    opened = Middleware(
        CORSMiddleware,
        allow_origins=settings.origins,
        allow_methods=["GET", "POST"],
        allow_headers=headers,
        expose_headers=exposed,
    )
    return [opened]
