"""The ids of nodes: the names the data itself uses."""

import re

from resolvers.errors import BadInput
from store import numbering, validation
from store.errors import Invalid

NUMBER = re.compile(r"[1-9][0-9]{0,15}")


def article_number(id: str) -> int | None:
    """The number in an article's id; None of any other text."""
    kind, _, number = id.partition(":")
    if kind != "article" or not NUMBER.fullmatch(number) or int(number) > numbering.HIGHEST:
        return None
    return int(number)


def asked_article_number(id: str) -> int:
    """The number in the id of an article that is asked for."""
    number = article_number(id)
    if number is None:
        raise BadInput(f"an article's id looks like article:1541, not {id[:100]}")
    return number


def written_article_number(id: str) -> int:
    """The number in the id of an article that is to be written to."""
    number = article_number(id)
    if number is None:
        raise Invalid("an article's id looks like article:1541", "articleId")
    return number


def username(id: str) -> str | None:
    return _name("user", id)


def feed_owner(id: str) -> str | None:
    return _name("feed", id)


def followee(id: str) -> str:
    """The username in the id of a user who is to be followed."""
    name = username(id)
    if name is None:
        raise Invalid("a user's id looks like user:alice", "userId")
    return name


def group_name(id: str) -> str | None:
    kind, _, name = id.partition(":")
    return name.lower() if kind == "group" and validation.GROUP.fullmatch(name) else None


def _name(kind: str, id: str) -> str | None:
    found, _, name = id.partition(":")
    return name if found == kind and validation.USERNAME.fullmatch(name) else None


def listed_group(name: str) -> str:
    """A group's name as an argument of a query gives it."""
    try:
        return validation.group(name, "group")
    except Invalid as refusal:
        raise BadInput(refusal.message) from refusal
