"""
Bans from the site and from groups, and annulments: votes of a user that no longer count.

Both are actions, which are entries in the log of what moderators did.
"""

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
    annul_votes: bool | None = strawberry.field(
        default=False,
        description="Whether all votes of the user so far count no more. Only with a ban from the whole site.",
    )
    remove_texts: bool | None = strawberry.field(
        default=False,
        description="Whether all articles and comments of the user are removed as well, with a group those in it.",
    )
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.input(description="A user whose votes are to count no more.")
class AnnulVotesInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")
    from_: DateTime | None = optional("From when on the votes were cast; the user's first one by default.", name="from")
    to: DateTime | None = optional("Until when the votes were cast; now by default, and at most.")
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.type
class BanMutations:
    ban_user: ModerationPayload | None = mutation(
        bans.ban,
        ModerationPayload,
        BanUserInput,
        "Ban a user from the site or from a group. A ban from the site ends the sessions of the user. If a ban stands "
        "that ends as late, nothing changes. Texts are removed in steps, and come back when the ban is reverted; so "
        "are votes annulled.",
    )
    annul_votes: ModerationPayload | None = mutation(
        bans.annul_votes,
        ModerationPayload,
        AnnulVotesInput,
        "Let the votes of a user count no more, also on closed and archived articles and on comments, but for the "
        "user's own first votes on what they posted. Only for moderators of the site. It is done in steps; when it is "
        "reverted, the votes count again.",
    )
