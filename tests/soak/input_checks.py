"""
Checks of input, and the refusals that they raise. Part of the model: a server in plain Python, with which the soak test
compares the real one.
"""

import re
from collections.abc import Iterable
from typing import Any

USERNAME = re.compile(r"[A-Za-z0-9_-]{2,20}")
PSEUDONYM = re.compile(r"~[a-z0-9]{12}")
GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,49}")
NUMBER = re.compile(r"[1-9][0-9]{0,15}")
NO_GROUP = "-"  # the name of a group without articles


class Refused(Exception):
    """
    A refusal: its code, the path of the invalid value, and its other fields. `all` has the refusals of all invalid
    values of the input, of which this one is the first.
    """

    def __init__(self, code: str, *path: str, **more: Any) -> None:
        super().__init__(code)
        self.code, self.path, self.more = code, ["input", *path] if path else None, more
        self.all = [self]


class BadInput(Exception):
    """Invalid input of a query."""

    code = "BAD_USER_INPUT"


class NotAllowed(BadInput):
    """A query that only server keys and admins may send."""

    code = "FORBIDDEN"


def check(is_right: Any, *path: str) -> None:
    """Refuse the value at this path of the input, unless it is right."""
    if not is_right:
        raise Refused("INVALID", *path)


def check_all(*values: tuple[Any, str]) -> None:
    """Raise the refusals of all invalid values, in this order."""
    wrong = [Refused("INVALID", path) for is_right, path in values if not is_right]
    if wrong:
        wrong[0].all = wrong
        raise wrong[0]


def is_id(kind: str, id: str) -> bool:
    """Whether a text is an id of this kind, such as article:12: of an article, a comment or an action."""
    found, _, number = id.partition(":")
    return found == kind and NUMBER.fullmatch(number) is not None and int(number) < 2**53


def number_of(id: str, kind: str = "article") -> int:
    """The number in an id of this kind; refuses other texts."""
    check(is_id(kind, id), f"{kind}Id")
    return int(id.partition(":")[2])


def group_names(names: Iterable[str] | None, field: str) -> tuple[list[str], list[tuple[bool, str]]]:
    """The distinct names in lower case, and a failed check for each invalid one."""
    names = list(dict.fromkeys(names or ()))
    wrong = [(False, field) for name in names if not GROUP.fullmatch(name)]
    return list(dict.fromkeys(name.lower() for name in names)), wrong[:10]  # the server names ten at most


def is_link(text: str) -> bool:
    """Simpler than the store's check, as the generator makes only such links and clearly invalid ones."""
    return bool(re.fullmatch(r"https?://[^/\s]\S*", text, re.IGNORECASE)) and len(text) <= 2_000


def group_or_none(name: str | None) -> str | None:
    """The name in lower case; for a malformed name, that of a group without articles."""
    if name is None:
        return None
    return name.lower() if GROUP.fullmatch(name) else NO_GROUP
