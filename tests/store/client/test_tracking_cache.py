"""The client-side cache of a connection."""

import pytest


@pytest.mark.one_server
@pytest.mark.parametrize("key", ["voted:{0}:x", "downvoted:{0}:", "voted:{x}:1:y", "article:{0}:x", "user:{0}:"])
async def test_change_of_a_foreign_key_leaves_the_connection_open(store, redis, key):
    before = await store.site.redis.run(("CLIENT", "ID"))
    redis.sadd(key, "member")

    assert await store.site.redis.run(("CLIENT", "ID")) == before


@pytest.mark.one_server
async def test_reply_about_a_foreign_key_leaves_the_connection_open(store, redis):
    redis.sadd("voted:{0}:x", "member")
    before = await store.site.redis.run(("CLIENT", "ID"))

    assert await store.site.redis.run(("SUNION", "voted:{0}:x", "downvoted:{0}:x")) == ["member"]
    assert await store.site.redis.run(("CLIENT", "ID")) == before
