"""
Objects with an id, which `node` and `nodes` find.

Nodes are articles, comments, users, groups, the actions of moderators, and the viewer's feed, home, inbox and
notifications.
"""

from collections.abc import Callable
from typing import Any

import strawberry

from resolvers import nodes
from schema.fields import root_field


def instances_of(record: type) -> Callable[[Any, Any], bool]:
    """The `is_type_of` of a type whose objects are records of a class."""
    return lambda value, info: isinstance(value, record)


@strawberry.interface(description="An object with an id, by which it can be queried.")
class Node:
    id: strawberry.ID = strawberry.field(description="The id, which never changes.")


@strawberry.type
class NodeQueries:
    node: Node | None = root_field(
        nodes.node, "The node with this id; null if there is none. A malformed id is an error."
    )
    nodes: list[Node | None] = root_field(
        nodes.nodes,
        "The nodes with these ids, in the same order; null for each that does not exist. Each malformed id is null, "
        "with an error at its path.",
    )
