"""
Random histories of registrations from several addresses over days, in two processes, beside a model of the rule
`[registrations]`: at most so many a day from an IP address.

Codes such as M10 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pytest

from store import verdicts
from store.errors import RuleBroken, UsernameTaken
from store.store import Store
from tests.conftest import registered
from tests.store.rule_files import set_rules

ADDRESSES = ("192.0.2.1", "192.0.2.2", "2001:db8::1")
A_DAY, STEPS = 3, 120  # registrations a day from an address, and steps of a history
DAY = 86_400_000  # milliseconds


class Model:
    """When accounts were registered from each address."""

    def __init__(self) -> None:
        self.registered: defaultdict[str, list[int]] = defaultdict(list)

    def room(self, address: str, now: int) -> int:
        """How many more may register from an address."""
        return A_DAY - sum(now <= at + DAY for at in self.registered[address])

    def free_at(self, address: str) -> int:
        """When the next one may, if there is no room now (unix milliseconds)."""
        return self.registered[address][-A_DAY] + DAY + 1


class Registrations:
    """Registers names in one of several stores by chance, each as a process of its own has it."""

    def __init__(self, stores: tuple[Store, ...], chance: random.Random) -> None:
        self._stores, self._chance, self._names = stores, chance, 0

    async def register(self, address: str, *, is_taken: bool = False) -> RuleBroken | None:
        """Register a new name, or one that somebody has already. Returns the refusal of the rule."""
        site = (store := self._chance.choice(self._stores)).site
        self._names += 1
        try:
            with suppress(UsernameTaken):
                async with verdicts.on_registration(site, address):
                    if is_taken:
                        raise UsernameTaken("the name is taken")
                    await registered(store, f"user-{self._names}")
        except RuleBroken as broken:
            return broken
        return None


@pytest.mark.parametrize("seed", range(4))
async def test_registrations_are_refused_as_the_model_does(  # M10
    store: Store, redis_url: str, partitions: int, clock, tmp_path: Path, seed: int
) -> None:
    chance, model, reached = random.Random(seed), Model(), defaultdict(int)
    other = await Store.open(redis_url, partitions=partitions, clock=clock)
    for each in (store, other):
        set_rules(each, tmp_path, f"[registrations]\na_day = {A_DAY}")
    registrations = Registrations((store, other), chance)
    for _ in range(STEPS):
        address = chance.choice(ADDRESSES)
        clock.advance(chance.choice((0, 1, 1_000, DAY // 9, DAY // 3, DAY // 2)) / 1_000)
        now = store.site.clock()
        room = model.room(address, now)
        at_once = chance.choice((1, 1, 2, 5))
        is_taken = at_once == 1 and chance.random() < 0.2
        answers = await asyncio.gather(*(registrations.register(address, is_taken=is_taken) for _ in range(at_once)))
        refused = [each for each in answers if each]
        assert len(refused) == max(0, at_once - room)
        if not is_taken:
            model.registered[address] += [now] * min(room, at_once)
        for each in refused:
            assert (each.rule, each.params) == ("registrations", {"a_day": A_DAY, "free_at": model.free_at(address)})
        reached["refused"] += bool(refused)
        reached["taken where there was room"] += is_taken and not refused
        reached["some of several"] += 0 < len(refused) < at_once
    await other.close()
    assert min(reached[each] for each in ("refused", "taken where there was room", "some of several")) > 0, reached
