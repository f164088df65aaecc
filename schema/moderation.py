"""
Roles, the log of moderators' actions, and the mutations that grant, revoke and revert.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names.
The place of an action is its group or, without one, any group of the text that it is about.
"""

from typing import TYPE_CHECKING, Annotated, Self

import strawberry

from resolvers import appeals, moderation
from schema.connections import Connection
from schema.enums import AnnulmentState, ModerationKind, Role
from schema.fields import ARGUMENTS, field_of, root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.nodes import Node, instances_of
from schema.permissions import ModeratesPlace
from schema.scalars import DateTime
from store import moderation_records
from store.moderation import Moderated

if TYPE_CHECKING:
    from schema.appeals import Appeal
    from schema.groups import Group
    from schema.users import User

NOTE = "A note for moderators of the place; at most 5,000 characters."
REASON = "Why, for everybody to read; at most 1,000 characters."
LOG_ARGUMENTS = ARGUMENTS | {
    "group": "Only actions in this group, in any case of letters.",
    "subject_id": "Only actions about the article, comment or user with this id.",
}


@strawberry.type(description="A role of a user.")
class RoleGrant:
    role: Role = strawberry.field(description="The role.")
    group: Annotated["Group", strawberry.lazy("schema.groups")] | None = field_of(
        moderation.group_of_role, "The group that it is for; null for the whole site."
    )
    granted_at: DateTime = strawberry.field(description="When it was granted.")


@strawberry.type(description="How far an action is that annuls votes, or restores them when it is reverted.")
class Annulment:
    id: strawberry.ID = strawberry.field(description="The id, `annulment:` and the number of the action.")
    state: AnnulmentState = strawberry.field(description="What is being done, or was done.")
    done: int = strawberry.field(description="How many votes are annulled so far, or restored.")
    total: int | None = strawberry.field(description="How many there are to do, about; null if that is not known yet.")
    reaches_back_to: DateTime | None = strawberry.field(
        description="Votes that were cast before may be untouched, as the server does not know of all: it has no "
        "database, or one that was made anew later. Null if it knows of all."
    )


@strawberry.type(description="What a moderator did. Everybody may read it, and it never changes but for `revertedBy`.")
class ModerationAction(Node):
    is_type_of = instances_of(moderation_records.ModerationAction)

    kind: ModerationKind = strawberry.field(description="What was done.")
    at: DateTime = strawberry.field(description="When it was done.")
    moderator: Annotated["User", strawberry.lazy("schema.users")] = field_of(
        moderation.moderator, "Who did it. `operator`, which is no user, did it by a command of the shell."
    )
    subject_id: strawberry.ID = strawberry.field(
        description="The id of the article, the comment or the user that it is about."
    )
    subject: Node | None = field_of(moderation.subject, "What it is about; null once that is gone.")
    group: Annotated["Group", strawberry.lazy("schema.groups")] | None = field_of(
        moderation.group, "The group in which it was done; null for the whole site."
    )
    reason: str = strawberry.field(description="Why it was done, for everybody.")
    note: str | None = field_of(
        moderation.note,
        "What moderators of the place noted for each other; null for others.",
        permission_classes=[ModeratesPlace],
    )
    expires_at: DateTime | None = strawberry.field(
        description="When a ban ends; null if it is for good, and for others."
    )
    role: Role | None = field_of(moderation.role, "The role that was granted or revoked; null for others.")
    appeal: Annotated["Appeal", strawberry.lazy("schema.appeals")] | None = field_of(
        appeals.of_actions,
        "The appeal against it, for who has appealed and for moderators of the place; null for others.",
    )
    annulled_votes: int | None = strawberry.field(
        description="Of an action that annuls votes: how many it keeps from counting. Null for others."
    )
    annulment: Annulment | None = strawberry.field(
        description="Of an action that annuls votes: how far that is. Null for others."
    )
    reverts: "ModerationAction | None" = field_of(moderation.reverts, "The action that this one reverts.")
    reverted_by: "ModerationAction | None" = field_of(
        moderation.reverted_by,
        "The action that reverts this one; the first, if that left the votes of a ban annulled and another one has "
        "restored them.",
    )
    ban: "ModerationAction | None" = field_of(moderation.ban, "The ban with which a text was removed; null for others.")


@strawberry.type
class ModerationQueries:
    site_moderators: Connection[Annotated["User", strawberry.lazy("schema.users")]] | None = root_field(
        moderation.site_moderators,
        "Those with a role in the whole site, admins and moderators, the latest first. Groups list their own.",
    )
    moderation_log: Connection[ModerationAction] | None = root_field(
        moderation.log, "What moderators have done, newest first. Everybody may read it.", arguments=LOG_ARGUMENTS
    )


@strawberry.type(description="What a moderator has done.")
class ModerationPayload(Payload):
    action: ModerationAction | None = nullable(
        "The action; the standing one if nothing changed, null if there is none, or if the mutation was refused."
    )
    changed: bool = strawberry.field(default=False, description="False if this would have changed nothing.")

    @classmethod
    def of(cls, moderated: Moderated) -> Self:
        return cls.of_records(action=moderated.action, changed=moderated.changed)


@strawberry.input(description="A role to give to a user.")
class GrantRoleInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")
    role: Role = strawberry.field(description="The role.")
    group: str | None = optional("The group that it is for; the whole site by default. Admins are of the whole site.")
    reason: str = strawberry.field(description=REASON)


@strawberry.input(description="A role to take from a user.")
class RevokeRoleInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")
    role: Role = strawberry.field(description="The role.")
    group: str | None = optional("The group that it is for; the whole site by default.")
    reason: str = strawberry.field(description=REASON)


@strawberry.input(description="An action to revert.")
class RevertModerationInput:
    action_id: strawberry.ID = strawberry.field(description="The id of the action.")
    keep_votes_annulled: bool | None = strawberry.field(
        default=False,
        description="Whether votes that were annulled with a ban still do not count after its revert. A second revert "
        "of the ban restores them.",
    )
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.type
class ModerationMutations:
    grant_role: ModerationPayload | None = mutation(
        moderation.grant_role, ModerationPayload, GrantRoleInput, "Give a user a role. Only for admins."
    )
    revoke_role: ModerationPayload | None = mutation(
        moderation.revoke_role,
        ModerationPayload,
        RevokeRoleInput,
        "Take a role from a user. Only for admins, and never from the last of them.",
    )
    revert_moderation: ModerationPayload | None = mutation(
        moderation.revert,
        ModerationPayload,
        RevertModerationInput,
        "Revert what a moderator did. It needs the role that the action needed; a revert cannot be reverted. Each "
        "action is reverted once; a ban whose revert has left votes annulled once more, for these votes alone.",
    )
