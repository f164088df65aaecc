"""A store whose memory is full, as long as a context is open."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis


@contextmanager
def full(redis: Redis) -> Iterator[None]:
    redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        redis.config_set("maxmemory", 0)
