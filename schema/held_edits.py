"""
Edits that rules of the site hold.

A rule of the site, which its operator has written, may hold an edit until a moderator approves or rejects it.
"""

import strawberry

from schema.scalars import DateTime, Link


@strawberry.type(description="An edit that waits for a moderator: the text as it is after it.")
class HeldEdit:
    id: strawberry.ID = strawberry.field(description="The id, `heldEdit:` and the id of the article or the comment.")
    title: str | None = strawberry.field(description="The title; null for a comment.")
    link: Link | None = strawberry.field(description="The link; null if it has none.")
    content: str | None = strawberry.field(description="The text; null if it has none.")
    held_by: str = strawberry.field(description="The rule of the site that holds it.")
    at: DateTime = strawberry.field(description="When the poster made it.")
