"""Whether a store refuses writes, as `/readyz` and `/metrics` say."""

import pytest

from tests.store.reading import everything


async def test_store_that_takes_writes_says_so_and_stays_as_it_is(store, redis):
    before = everything(redis)

    assert await store.site.write_error() is None
    assert everything(redis) == before


@pytest.mark.one_server
async def test_store_that_takes_no_writes_says_why(store, redis):
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
async def test_store_that_does_not_answer_says_so(store, redis):
    redis.execute_command("CLIENT", "PAUSE", 1_500, "ALL")

    assert await store.site.write_error() == "the store does not answer"
