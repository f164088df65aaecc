"""The ids that clients have, such as `article:1541` or `user:alice`: what a text names, if it is such an id."""

import re

from store import numbering, validation
from store.records import NAME

ARTICLE_NUMBER = re.compile(r"[1-9][0-9]{0,15}")


def article_number(id: str) -> int | None:
    """The number in an article's id; None for any other text."""
    return _number("article", id)


def comment_number(id: str) -> int | None:
    """The number in a comment's id; None for any other text."""
    return _number("comment", id)


def action_number(id: str) -> int | None:
    """The number in the id of an action; None for any other text."""
    return _number("action", id)


def _number(kind: str, id: str) -> int | None:
    found, _, number = id.partition(":")
    if found != kind or not ARTICLE_NUMBER.fullmatch(number) or int(number) > numbering.HIGHEST_NUMBER:
        return None
    return int(number)


def username(id: str) -> str | None:
    """The name in a user's id; None for any other text."""
    return _username("user", id)


def feed_owner(id: str) -> str | None:
    """The name in a feed's id; None for any other text."""
    return _username("feed", id)


def inbox_owner(id: str) -> str | None:
    """The name in an inbox's id; None for any other text."""
    return _username("inbox", id)


def home_owner(id: str) -> str | None:
    """The name in a home's id; None for any other text."""
    return _username("home", id)


def notification_parts(id: str) -> tuple[str, int] | None:
    """The name and the number in a notification's id; None for any other text."""
    rest, _, number = id.rpartition(":")
    name, found = _username("notification", rest), _number("", f":{number}")
    return (name, found) if name and found else None


def _username(kind: str, id: str) -> str | None:
    found, _, name = id.partition(":")
    return name if found == kind and NAME.fullmatch(name) else None


def group_name(id: str) -> str | None:
    """The name in a group's id; None for any other text."""
    kind, _, name = id.partition(":")
    return name.lower() if kind == "group" and validation.GROUP.fullmatch(name) else None
