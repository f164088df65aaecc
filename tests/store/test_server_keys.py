"""
Server keys, by which servers that ask on behalf of their visitors identify themselves: creating and revoking them, and
what the store keeps of them. A key is `NAME.SECRET`.
"""

import pytest

from store import server_keys
from store.errors import StoreUnavailable
from store.maintenance.write_lock import WriteLock

pytestmark = pytest.mark.many_partitions


async def test_key_is_valid_only_as_a_whole_and_until_it_is_revoked(store):
    shop, other = await store.server_keys.create("shop"), await store.server_keys.create("other-1")
    secret = shop.partition(".")[2]
    texts = [
        shop,
        other,
        "shop.",
        "shop",
        f"other-1.{secret}",
        f"{shop}x",
        shop.upper(),
        "",
        "\xff.\xff",
        f"nobody.{secret}",
    ]

    assert len(secret) == 43  # 32 bytes in base64
    assert await store.server_keys.names(texts) == ["shop", "other-1", *[None] * 8]
    assert await store.server_keys.revoke("shop")
    assert not await store.server_keys.revoke("shop")
    assert await store.server_keys.names([shop, other]) == [None, "other-1"]


async def test_name_is_given_once(store, clock):
    created = clock.now
    first = await store.server_keys.create("shop")
    clock.advance(5)

    assert await store.server_keys.create("shop") is None
    assert await store.server_keys.names([first]) == ["shop"]
    assert await store.server_keys.created() == {"shop": created}


async def test_secret_is_not_stored(store, redis):
    secret = (await store.server_keys.create("shop")).partition(".")[2]

    assert secret not in str(redis.hgetall(server_keys.serverkeys(server_keys.PARTITION)))


@pytest.mark.parametrize("name", ["", "Shop", "a.b", "-a", "x" * 51, "ä"])
async def test_malformed_name_is_refused(store, name, redis):
    with pytest.raises(ValueError):
        await store.server_keys.create(name)

    assert not redis.exists(server_keys.serverkeys(server_keys.PARTITION))


async def test_no_key_is_created_or_revoked_while_the_store_is_moved(store):
    key = await store.server_keys.create("shop")
    await WriteLock(store.site).acquire()

    with pytest.raises(StoreUnavailable):
        await store.server_keys.create("other")
    with pytest.raises(StoreUnavailable):
        await store.server_keys.revoke("shop")
    assert await store.server_keys.names([key]) == ["shop"]
