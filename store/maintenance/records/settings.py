"""
Backup records of what a store has once: its orders and weights (the numbers in their formulas), server keys, numbers of
imported stories and comments, and the sequences of partitions (shares of the data), from which numbers are made.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from store import keys, numbering, server_keys, validation
from store.client import Command
from store.maintenance.records.record import (
    COUNT,
    MalformedRecord,
    OnSkipped,
    Record,
    check_number,
    check_text,
    flat,
    shown,
    valid,
)
from store.ranking.config import ORDERS_FIELD, orders_of, orders_to_write, stored_rankings
from store.ranking.formulas import ORDERS, WEIGHTS
from store.server_keys import PARTITION
from store.site import Site

WEIGHT = re.compile(r"([a-z_]+)=([0-9.e+-]{1,30})")  # NAME=VALUE


@dataclass(frozen=True, slots=True)
class RankingRecord(Record):
    """The orders that clients may ask for, separated by spaces, and the weights of groups that have their own."""

    kind = "ranking"

    orders: str
    weights: dict[str, str]

    def check(self) -> None:
        names = self.orders.split()
        if not names or not set(names) <= set(ORDERS):
            raise MalformedRecord(f"ranking: {shown(self.orders)} are no orders; there are {', '.join(ORDERS)}")
        for group, text in self.weights.items():
            check_text(f"ranking of group {shown(group)}", "name", group, validation.GROUP)
            if type(text) is not str or not text or not all(map(_is_weight, text.split())):
                raise MalformedRecord(f"ranking of group {shown(group)}: {shown(text)} are no weights")

    def commands(self, site: Site) -> Iterator[Command]:
        yield ("HSET", keys.store(), "orders", self.orders)
        fields = {ORDERS_FIELD: orders_to_write(orders_of(self.orders)), **self.weights}
        for partition in range(site.partitions):
            yield ("HSET", keys.ranking(partition), *flat(fields))


@dataclass(frozen=True, slots=True)
class ServerKeysRecord(Record):
    """The digest of the secret of each server key, and when it was created, by name."""

    kind = "serverkeys"

    values: dict[str, str]

    def check(self) -> None:
        if not self.values:
            raise MalformedRecord("serverkeys: there are none")
        for name, value in self.values.items():
            check_text(f"server key {shown(name)}", "name", name, server_keys.NAME)
            check_text(f"server key {shown(name)}", "value", value, server_keys.VALUE)

    def commands(self, site: Site) -> Iterator[Command]:
        yield ("HSET", server_keys.serverkeys(PARTITION), *flat(self.values))


@dataclass(frozen=True, slots=True)
class ImportedRecord(Record):
    """The numbers of imported stories and comments, by their ids in the file."""

    kind = "imported"

    numbers: dict[str, str]

    def check(self) -> None:
        for story, number in self.numbers.items():
            check_text(f"imported story {shown(story)}", "number", number, keys.NUMBER)
            check_number(f"imported story {shown(story)}", int(number))

    def commands(self, site: Site) -> Iterator[Command]:
        for story, number in self.numbers.items():
            partition, sequence = site.partition_of_article(int(number)), numbering.sequence_of(int(number))
            yield ("HSET", keys.imported(partition), story, number)
            if numbering.is_of_story(sequence):
                yield ("ZADD", keys.numbered(partition), sequence, sequence)


@dataclass(frozen=True, slots=True)
class SequencesRecord(Record):
    """The last sequence that each partition has given to a post or a comment. A backup has one such record."""

    kind = "sequences"

    given: list[int]

    def check(self) -> None:
        count = len(self.given)
        if not 1 <= count <= keys.SLOTS or count & (count - 1):
            raise MalformedRecord(f"sequences: {count} is no power of two up to {keys.SLOTS}")
        for sequence in self.given:
            if type(sequence) is not int or not 0 <= sequence <= numbering.HIGHEST_SEQUENCE:
                raise MalformedRecord(f"sequences: {shown(sequence)} is none of 0 to {numbering.HIGHEST_SEQUENCE}")

    def commands(self, site: Site) -> Iterator[Command]:
        """
        Each partition gets the highest sequence of the old partitions that had any of its slots: a slot modulo the
        number of partitions is the partition, and both numbers are powers of two.
        """
        step = min(len(self.given), site.partitions)
        for partition in range(site.partitions):
            if highest := max(self.given[partition % step :: step]):
                yield ("SET", keys.sequence(partition), highest)


async def read_ranking(site: Site) -> list[RankingRecord]:
    """The record of the orders and weights; none if neither was changed."""
    stored = await stored_rankings(site.redis)
    if stored.orders is None and not stored.weights:
        return []
    return [RankingRecord(" ".join(ORDERS) if stored.orders is None else stored.orders, stored.weights)]


async def read_server_keys(site: Site, on_skipped: OnSkipped) -> list[ServerKeysRecord]:
    key = server_keys.serverkeys(PARTITION)
    stored = await site.redis.run(("HGETALL", key))
    each = valid([(f"{key} {name}", ServerKeysRecord({name: value})) for name, value in stored.items()], on_skipped)
    return [ServerKeysRecord({name: value for one in each for name, value in one.values.items()})] if each else []


def imported(key: str, stories: dict[str, str], on_skipped: OnSkipped) -> list[ImportedRecord]:
    """The record of some stories that the hash with this key has."""
    each = valid([(f"{key} {story}", ImportedRecord({story: number})) for story, number in stories.items()], on_skipped)
    return [ImportedRecord({story: number for one in each for story, number in one.numbers.items()})] if each else []


async def read_sequences(site: Site, on_skipped: OnSkipped) -> SequencesRecord:
    """
    The record of the sequences of all partitions. Where one is malformed it has 0: the next number is then made of the
    time of its post.
    """
    stored = await site.redis.pipeline([("GET", keys.sequence(partition)) for partition in range(site.partitions)])
    given = [int(text) if COUNT.fullmatch(text) else None for text in (text or "0" for text in stored)]
    for partition, sequence in enumerate(given):
        if sequence is None:
            on_skipped(keys.sequence(partition))
    return SequencesRecord([sequence or 0 for sequence in given])


def _is_weight(text: str) -> bool:
    found = WEIGHT.fullmatch(text)
    if not found or found[1] not in WEIGHTS:
        return False
    try:
        value = float(found[2])
    except ValueError:
        return False
    return 0 < value < inf
