"""
Checks the records of a dump. `dump` makes no other records, and `restore` refuses a backup that has any other, before
it writes anything. The docstring of `dump` lists the parts of each record.
"""

import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from store import key_kinds, keys, records, server_keys, validation
from store.ranking.formulas import ORDERS, WEIGHTS

MAX_SHOWN = 60  # characters of a value in a message
MAX_FIELDS = 100
INSTANT = re.compile(r"[0-9]{1,15}")  # unix milliseconds
COUNT = re.compile(r"[0-9]{1,15}")
ARTICLE_FIELDS = {
    "title": re.compile(".+", re.DOTALL),
    "poster": validation.USERNAME,
    "time": INSTANT,
    "up": COUNT,
    "down": COUNT,
    "groups": re.compile("[a-z0-9_ -]{0,1000}"),
}
NOTIFIED = re.compile("[a-z0-9_: -]{1,10000}")
OPTIONAL_ARTICLE_FIELDS = {"imported": COUNT, "edited": INSTANT, "active": INSTANT, "notified": NOTIFIED}
COMMENT_FIELDS = {"article": key_kinds.NUMBER, "time": INSTANT, "up": COUNT, "down": COUNT}
OPTIONAL_COMMENT_FIELDS = {
    "parent": key_kinds.NUMBER,
    "poster": validation.USERNAME,
    "content": re.compile(".+", re.DOTALL),
    "imported": COUNT,
    "edited": INSTANT,
    "state": re.compile("[a-z]{1,20}"),
    "notified": NOTIFIED,
}
USER_FIELDS = {"name": validation.USERNAME, "joined": INSTANT}
OPTIONAL_USER_FIELDS = {
    "karma": re.compile(r"-?[0-9]{1,15}"),
    "seen": re.compile(r"-?[0-9]{1,16}(?:\.[0-9]+)?(?:e\+?[0-9]{1,2})? [0-9]{1,16}"),
    "inbox_seen": re.compile("[0-9]{1,15} [0-9]{16}"),
    "inbox_dropped": INSTANT,
}
DROPPABLE = {"edited", "active", "karma", "seen", "inbox_seen", "inbox_dropped"}  # left out if they are malformed
POSTED = re.compile(r"([1-9][0-9]{0,15}) [0-9]{1,15} [0-9a-f]{1,64}")
WEIGHT = re.compile(r"([a-z_]+)=([0-9.e+-]{1,30})")


class MalformedRecord(Exception):
    """The message names the record, the part and what is wrong."""


def check(record: object) -> None:
    """
    Raises:
        MalformedRecord: it cannot be restored.
    """
    if type(record) is not list or not record:
        raise MalformedRecord(f"a record is a list with its kind first, not {shown(record)}")
    kind, *parts = record
    if type(kind) is not str or kind not in CHECKS:
        raise MalformedRecord(f"there is no kind of record {shown(kind)}")
    types, check_parts = CHECKS[kind]
    if len(parts) != len(types):
        raise MalformedRecord(f"{kind}: a record of this kind has {len(types)} parts, not {len(parts)}")
    for place, (part, expected) in enumerate(zip(parts, types, strict=True), 1):
        if type(part) is not expected:
            raise MalformedRecord(f"{kind}: part {place} is {NAMES[expected]}, not {shown(part)}")
    check_parts(*parts)


def is_valid(record: list[Any]) -> bool:
    try:
        check(record)
    except MalformedRecord:
        return False
    return True


def malformed_fields(fields: Mapping[str, str]) -> list[str]:
    """The names of the malformed fields that may be left out."""
    patterns = OPTIONAL_ARTICLE_FIELDS | OPTIONAL_USER_FIELDS
    return [name for name in sorted(DROPPABLE & fields.keys()) if not patterns[name].fullmatch(fields[name])]


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _ranking(orders: str, weights: dict[str, Any]) -> None:
    names = orders.split()
    if not names or not set(names) <= set(ORDERS):
        raise MalformedRecord(f"ranking: {shown(orders)} are no orders; there are {', '.join(ORDERS)}")
    for group, text in weights.items():
        _match(f"ranking of group {shown(group)}", "name", group, validation.GROUP)
        if type(text) is not str or not text or not all(map(_is_weight, text.split())):
            raise MalformedRecord(f"ranking of group {shown(group)}: {shown(text)} are no weights")


def _is_weight(text: str) -> bool:
    found = WEIGHT.fullmatch(text)
    if not found or found[1] not in WEIGHTS:
        return False
    try:
        value = float(found[2])
    except ValueError:
        return False
    return 0 < value < inf


def _server_keys(values: dict[str, Any]) -> None:
    if not values:
        raise MalformedRecord("serverkeys: there are none")
    for name, value in values.items():
        _match(f"server key {shown(name)}", "name", name, server_keys.NAME)
        _match(f"server key {shown(name)}", "value", value, server_keys.VALUE)


def _imported(numbers: dict[str, Any]) -> None:
    for story, number in numbers.items():
        _match(f"imported story {shown(story)}", "number", number, key_kinds.NUMBER)
        _check_number(f"imported story {shown(story)}", int(number))


def _article(number: int, fields: dict[str, Any], up: list[Any], down: list[Any]) -> None:
    where = f"article {number}"
    _check_number(where, number)
    _check_fields(where, fields, ARTICLE_FIELDS, OPTIONAL_ARTICLE_FIELDS)
    _check_voters(where, up, down)


def _comment(number: int, fields: dict[str, Any], up: list[Any], down: list[Any]) -> None:
    where = f"comment {number}"
    _check_number(where, number)
    _check_fields(where, fields, COMMENT_FIELDS, OPTIONAL_COMMENT_FIELDS)
    is_deleted = fields.get("state") == "deleted"
    for name in ("poster", "content"):
        if (name in fields) == is_deleted:
            raise MalformedRecord(f"{where}: it has {'a' if is_deleted else 'no'} {name}")
    _check_voters(where, up, down)


def _check_voters(where: str, up: list[Any], down: list[Any]) -> None:
    for voters in (up, down):
        for voter in voters:
            if type(voter) is not str or not voter:
                raise MalformedRecord(f"{where}: {shown(voter)} is no voter")


def _follows(follower: str, followees: dict[str, Any]) -> None:
    where = f"follows of {shown(follower)}"
    _match(where, "follower", follower, validation.USERNAME)
    for followee, since in followees.items():
        _match(where, "followee", followee, validation.USERNAME)
        _check_instant(where, f"time of {followee}", since)


def _user(fields: dict[str, Any]) -> None:
    _check_fields(f"user {shown(fields.get('name'))}", fields, USER_FIELDS, OPTIONAL_USER_FIELDS)


def _posted(username: str, digest: str, value: str, ends: int) -> None:
    where = f"posted by {shown(username)}"
    _match(where, "username", username, key_kinds.USERNAME)
    _match(where, "digest", digest, key_kinds.DIGEST)
    _match(where, "value", value, POSTED)
    _check_number(where, int(value.split()[0]))
    _check_instant(where, "end", ends)


def _session(digest: str, username: str, ends: int) -> None:
    where = f"session of {shown(username)}"
    _match(where, "digest", digest, key_kinds.DIGEST)
    _match(where, "username", username, validation.USERNAME)
    _check_instant(where, "end", ends)


def _sequences(given: list[Any]) -> None:
    if not 1 <= len(given) <= keys.SLOTS or len(given) & (len(given) - 1):
        raise MalformedRecord(f"sequences: {len(given)} is no power of two up to {keys.SLOTS}")
    for sequence in given:
        if type(sequence) is not int or not 0 <= sequence <= records.HIGHEST_SEQUENCE:
            raise MalformedRecord(f"sequences: {shown(sequence)} is none of 0 to {records.HIGHEST_SEQUENCE}")


def _check_fields(
    where: str, fields: dict[str, Any], needed: dict[str, re.Pattern[str]], optional: dict[str, re.Pattern[str]]
) -> None:
    if len(fields) > MAX_FIELDS:
        raise MalformedRecord(f"{where}: it has {len(fields)} fields, more than {MAX_FIELDS}")
    for name in needed:
        if name not in fields:
            raise MalformedRecord(f"{where}: it has no {name}")
    for name, value in fields.items():
        pattern = needed.get(name) or optional.get(name)
        if type(value) is not str or (pattern and not pattern.fullmatch(value)):
            raise MalformedRecord(f"{where}: {shown(value)} is no usable {shown(name)[1:-1]}")


def _check_number(where: str, number: int) -> None:
    if not keys.SLOTS <= number <= records.HIGHEST_NUMBER:
        raise MalformedRecord(f"{where}: {shown(number)} is no number of an article")


def _check_instant(where: str, what: str, value: object) -> None:
    if type(value) is not int or not 0 <= value < 10**15:
        raise MalformedRecord(f"{where}: {shown(value)} is no usable {what}")


def _match(where: str, what: str, value: object, pattern: re.Pattern[str]) -> None:
    if type(value) is not str or not pattern.fullmatch(value):
        raise MalformedRecord(f"{where}: {shown(value)} is no usable {what}")


NAMES: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
CHECKS: dict[str, tuple[tuple[type, ...], Callable[..., None]]] = {
    "ranking": ((str, dict), _ranking),
    "serverkeys": ((dict,), _server_keys),
    "imported": ((dict,), _imported),
    "article": ((int, dict, list, list), _article),
    "comment": ((int, dict, list, list), _comment),
    "follows": ((str, dict), _follows),
    "user": ((dict,), _user),
    "posted": ((str, str, str, int), _posted),
    "commented": ((str, str, str, int), _posted),
    "session": ((str, str, int), _session),
    "sequences": ((list,), _sequences),
}
