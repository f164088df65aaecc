"""
Ids of nodes: the kind and the name that the store uses, such as `article:1541` or `user:alice`.

A function that returns None leaves the error to its caller. In queries a malformed id is BadInput, and a malformed name
the same as an unknown one; in mutations both are the refusal Invalid, which names the field of the input.
"""

import re

from resolvers.errors import BadInput
from store import numbering, validation
from store.errors import Invalid

NUMBER = re.compile(r"[1-9][0-9]{0,15}")
NO_GROUP = "-"  # no valid name: nothing is ever posted to it


def article_number(id: str) -> int | None:
    """The number in an article's id; None of any other text."""
    kind, _, number = id.partition(":")
    if kind != "article" or not NUMBER.fullmatch(number) or int(number) > numbering.HIGHEST:
        return None
    return int(number)


def username(id: str) -> str | None:
    return _name("user", id)


def feed_owner(id: str) -> str | None:
    return _name("feed", id)


def group_name(id: str) -> str | None:
    kind, _, name = id.partition(":")
    return name.lower() if kind == "group" and validation.GROUP.fullmatch(name) else None


def _name(kind: str, id: str) -> str | None:
    found, _, name = id.partition(":")
    return name if found == kind and validation.USERNAME.fullmatch(name) else None


def queried_article_number(id: str) -> int:
    """The number in the `id` argument of a query."""
    number = article_number(id)
    if number is None:
        raise BadInput(f"an article's id looks like article:1541, not {id[:100]}")
    return number


def queried_group(name: str) -> str:
    """
    The name, in lower case, in the `group` or `name` argument of a query.

    A name that no group can have becomes `NO_GROUP`, whose listings are empty as those of any unknown group.
    """
    return name.lower() if validation.GROUP.fullmatch(name) else NO_GROUP


def input_article_number(id: str) -> int:
    """The number in the `articleId` of a mutation's input."""
    number = article_number(id)
    if number is None:
        raise Invalid("an article's id looks like article:1541", "articleId")
    return number


def input_username(id: str) -> str:
    """The name in the `userId` of a mutation's input."""
    name = username(id)
    if name is None:
        raise Invalid("a user's id looks like user:alice", "userId")
    return name
