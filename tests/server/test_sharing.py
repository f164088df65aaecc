"""Points are those of an address and of a user, whichever process gives them out and with whatever token."""

from functools import partial

import pytest

from server.sharing import tell
from server.wire import Client, Rates
from server.wire.errors import Refused
from store.buckets import Buckets

HERE, THERE, YONDER = "1.1.1.1", "2.2.2.2", "3.3.3.3"


@pytest.fixture
def told(store):
    return partial(tell, store, Buckets(store.site, points=100, back=10))


def rates():
    return Rates(points=100, back=10, clock=lambda: 0)


async def test_tokens_of_a_user_take_from_one_bucket(store, alice, told):
    first, second = [(await store.sessions.open(alice)).token for _ in range(2)]
    here, there = rates(), rates()
    here.take(here.check(Client(first, HERE)), 60)
    there.take(there.check(Client(second, THERE)), 30)
    there.take(there.check(Client(first, YONDER)), 5)
    for each in (here, there, here):
        await each.share(told)
    for token in (first, second):
        there.check(Client(token, "4.4.4.4"))
        there.take(there.check(Client(token, "4.4.4.4")), 5)
        await there.share(told)

    there.check(Client(None, "4.4.4.4"))
    with pytest.raises(Refused):
        there.check(Client(first, YONDER))
    with pytest.raises(Refused):
        there.check(Client(second, THERE))


async def test_tokens_of_nobody_have_buckets_of_their_own(told):
    forged = ("token", "A" * 46), ("token", "B" * 46), ("token", "\ud800")

    assert await told(dict.fromkeys(forged, 10)) == dict.fromkeys(forged, 90)
