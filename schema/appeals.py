"""
Appeals against actions of moderators.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names.
The place of an action is its group or, without one, any group of the article or comment that it is about.
"""

from typing import Self

import strawberry

from resolvers import appeals
from schema.connections import Connection
from schema.fields import ARGUMENTS, field_of, root_field
from schema.moderation import ModerationAction
from schema.mutations import Payload, mutation, nullable
from schema.scalars import DateTime
from schema.users import User
from store import moderation_records

QUEUE_ARGUMENTS = ARGUMENTS | {
    "group": "Only appeals that wait in this group; by default in all groups that the viewer moderates. Moderators of "
    "the site see everything.",
}


@strawberry.type(
    description="What somebody whom an action is about says against it, and what a moderator answers; for both and "
    "for moderators of the place."
)
class Appeal:
    id: strawberry.ID = strawberry.field(description="The id, `appeal:` and the number of the action.")
    text: str = strawberry.field(description="What the user says.")
    at: DateTime = strawberry.field(description="When the user appealed.")
    answer: str | None = strawberry.field(
        description="What a moderator answers; null while it waits, and if the action was reverted: the reason of "
        "`revertedBy` says why."
    )
    answered_by: User | None = field_of(
        appeals.answered_by, "Who has answered, or reverted the action; null while it waits."
    )
    answered_at: DateTime | None = strawberry.field(
        description="When it was answered, or the action reverted; null while it waits."
    )


@strawberry.type
class AppealQueries:
    appeals: Connection[ModerationAction] | None = root_field(
        appeals.queue,
        "The actions whose appeals wait for an answer, the oldest appeal first; null if the viewer does not moderate "
        "there.",
        arguments=QUEUE_ARGUMENTS,
    )


@strawberry.input(description="What the viewer says against an action about them or their text.")
class AppealInput:
    action_id: strawberry.ID = strawberry.field(description="The id of the action.")
    text: str = strawberry.field(description="Why it is wrong, for moderators of the place; at most 5,000 characters.")


@strawberry.input(description="What a moderator answers to the appeal against an action.")
class AnswerAppealInput:
    action_id: strawberry.ID = strawberry.field(description="The id of the action.")
    text: str = strawberry.field(description="The answer, for who has appealed; at most 5,000 characters.")


@strawberry.type(description="An appeal that moderators will read, or that one has answered.")
class AppealPayload(Payload):
    action: ModerationAction | None = nullable("The action.")

    @classmethod
    def of(cls, action: moderation_records.ModerationAction) -> Self:
        return cls.of_records(action=action)


@strawberry.type
class AppealMutations:
    appeal: AppealPayload | None = mutation(
        appeals.submit,
        AppealPayload,
        AppealInput,
        "Appeal against an action of a moderator. Only for whom it is about, once for each action; also for who is "
        "banned.",
    )
    answer_appeal: AppealPayload | None = mutation(
        appeals.answer,
        AppealPayload,
        AnswerAppealInput,
        "Answer an appeal, once. Who has appealed is notified of the action again. For those who could revert the "
        "action; a revert answers the appeal as well.",
    )
