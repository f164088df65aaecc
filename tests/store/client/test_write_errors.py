"""
`write_error`, the check whether a store can be written, which `/readyz` and `/metrics` use: it gives the reason why
not, or None.
"""

import pytest

from store.maintenance.write_lock import WriteLock
from tests.store.reading import everything


async def test_check_of_writes_changes_nothing(store, redis):
    before = everything(redis)

    assert await store.site.write_error() is None
    assert everything(redis) == before


async def test_store_that_was_moved_gives_its_reason(store):
    lock = WriteLock(store.site)
    await lock.acquire()
    await lock.make_permanent()
    moved = await store.site.write_error()
    await lock.release()

    assert moved == "the store is being moved, or was: it can be read only, and nothing was changed"
    assert await store.site.write_error() is None


@pytest.mark.one_server
async def test_read_only_store_gives_its_reason(store, redis):
    redis.config_set("maxmemory", 1)
    try:
        error = await store.site.write_error()
        assert error == "the store is out of memory: it can be read only, and nothing was changed"
    finally:
        redis.config_set("maxmemory", 0)

    redis.execute_command("ACL", "SETUSER", "default", "-@write")
    try:
        refusal = await store.site.write_error()
        await store.site.redis.ping()
    finally:
        redis.execute_command("ACL", "SETUSER", "default", "allcommands")
    assert refusal is not None and "too little room" in refusal


@pytest.mark.one_server
async def test_store_that_does_not_answer_is_reported(store, redis):
    redis.execute_command("CLIENT", "PAUSE", 1_500, "ALL")

    assert await store.site.write_error() == "the store does not answer"
