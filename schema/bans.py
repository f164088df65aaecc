"""Bans from the site and from groups."""

import strawberry

from resolvers import bans
from schema.moderation import NOTE, REASON, ModerationPayload
from schema.mutations import mutation, optional
from schema.scalars import DateTime


@strawberry.input(description="A user to be banned.")
class BanUserInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")
    group: str | None = optional("The group from which the user is banned; the whole site by default.")
    until: DateTime | None = optional("When the ban ends; never by default.")
    remove_texts: bool | None = strawberry.field(
        default=False,
        description="Whether all articles and comments of the user are removed as well, with a group those in it.",
    )
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.type
class BanMutations:
    ban_user: ModerationPayload | None = mutation(
        bans.ban,
        ModerationPayload,
        BanUserInput,
        "Ban a user from the site or from a group. A ban from the site ends the sessions of the user. If a ban stands "
        "that ends as late, nothing changes. Texts are removed in steps, and come back when the ban is reverted.",
    )
