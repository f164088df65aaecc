"""
The log of all changes, for server keys and admins.

The log has an entry for each change of articles, comments, users and groups. All fields here are attributes of the
records that the resolver returns.
"""

import strawberry

from resolvers import changes
from schema.fields import root_field
from schema.scalars import DateTime


@strawberry.type(description="A new value of a change.")
class ChangedField:
    name: str = strawberry.field(description="The name, such as `title` or `votes`; each kind of change has its own.")
    value: str = strawberry.field(description="The new value, as text.")


@strawberry.type(description="An entry of the log.")
class Change:
    cursor: str = strawberry.field(description="The position after this entry, for `after`.")
    at: DateTime = strawberry.field(description="When it happened.")
    kind: str = strawberry.field(
        description="What happened, such as `posted`, `voted`, `edited`, `deleted` or `commented`. New versions may "
        "have more kinds."
    )
    subject_id: strawberry.ID = strawberry.field(
        description="The id of what has changed: an article, a comment, a user or a group; `site` for its orders or "
        "weights."
    )
    actor_id: strawberry.ID | None = strawberry.field(description="The id of the user who did it; null if nobody.")
    fields: list[ChangedField] = strawberry.field(description="The new values.")


@strawberry.type(description="A page of the log.")
class ChangePage:
    changes: list[Change] = strawberry.field(
        description="The entries, oldest first. There may be fewer than `limit`, also where more follow."
    )
    end_cursor: str | None = strawberry.field(
        description="The position after this page, for `after`, also if the page is empty."
    )
    has_more: bool = strawberry.field(description="Whether there are entries after this page, of any kind.")


@strawberry.type
class ChangeQueries:
    changes: ChangePage | None = root_field(
        changes.page,
        "The entries of the log, oldest first: all changes of the community. Only for requests with a server key, "
        "and for admins. Without `after` it begins with the oldest entry that is left.",
    )
