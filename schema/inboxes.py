"""
The viewer's inbox, its notifications, and the mark up to which the viewer has seen them.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names.
"""

from typing import Self

import strawberry

from resolvers import inboxes
from schema.connections import Connection
from schema.enums import NotificationKind
from schema.fields import ARGUMENTS, field_of, root_field
from schema.mutations import Payload, mutation, nullable
from schema.nodes import Node, instances_of
from schema.scalars import DateTime
from schema.users import User
from store import notifications

INBOX_ARGUMENTS = ARGUMENTS | {"unseen_only": "Only notifications that are newer than the mark."}


@strawberry.type(description="A reply to the viewer, a mention of them, or what a moderator did about them.")
class Notification(Node):
    is_type_of = instances_of(notifications.Notification)

    kind: NotificationKind = strawberry.field(description="Why the viewer is notified.")
    at: DateTime = strawberry.field(description="When the viewer was notified.")
    subject: Node | None = field_of(
        inboxes.subject, "The comment, article or `ModerationAction` that notifies the viewer; null if it was deleted."
    )
    actor: User | None = field_of(
        inboxes.actor, "The user who wrote it; null for what a moderator did, or if it was deleted."
    )
    is_seen: bool = strawberry.field(description="Whether it is not newer than the mark.")


@strawberry.type(
    description="What concerns the viewer: replies to their articles and comments, mentions of them, and what "
    "moderators do about them."
)
class Inbox(Node):
    is_type_of = instances_of(notifications.Inbox)

    notifications: Connection[Notification] = field_of(
        inboxes.notifications,
        "The notifications, newest first: the last 1,000. Those of deleted comments and articles are gone.",
        arguments=INBOX_ARGUMENTS,
    )
    unseen_count: int = field_of(inboxes.unseen_count, "The number of notifications that are newer than the mark.")
    seen_through: DateTime | None = field_of(
        inboxes.seen_through, "The time of the notification at the mark; null if the viewer has not set a mark."
    )


@strawberry.type
class InboxQueries:
    inbox: Inbox | None = root_field(inboxes.inbox, "The viewer's inbox; null if nobody is logged in.")


@strawberry.input(description="The new mark in the viewer's inbox.")
class MarkInboxSeenInput:
    through: str = strawberry.field(
        description="The cursor of the newest notification that the viewer has seen, from the inbox."
    )


@strawberry.type(description="An inbox whose mark was moved.")
class MarkInboxSeenPayload(Payload):
    inbox: Inbox | None = nullable("The viewer's inbox.")

    @classmethod
    def of(cls, inbox: notifications.Inbox) -> Self:
        return cls.of_records(inbox=inbox)


@strawberry.type
class InboxMutations:
    mark_inbox_seen: MarkInboxSeenPayload | None = mutation(
        inboxes.mark_seen,
        MarkInboxSeenPayload,
        MarkInboxSeenInput,
        "Move the mark in the viewer's inbox forward. It never moves back, and never beyond the newest notification.",
    )
