"""What the site offers to those who come to it, and invitations to register."""

from typing import Self

import strawberry

from resolvers import site
from schema.enums import Registration
from schema.fields import root_field
from schema.mutations import Payload, mutation, nullable
from schema.scalars import DateTime
from store.invitations import NewInvitation


@strawberry.type(name="Site", description="What the site offers to those who come to it.")
class SiteOffers:
    registration: Registration = strawberry.field(description="Who may register.")
    has_passwords: bool = strawberry.field(
        description="Whether there are passwords; else `register`, `logIn`, `changePassword`, resets are NOT_OFFERED."
    )
    avatar_hosts: list[str] = strawberry.field(description="The hosts whose pictures of users the site's pages show.")


@strawberry.type
class SiteQueries:
    site: SiteOffers | None = root_field(site.offers, "What the site offers to those who come to it.")


@strawberry.type(description="An invitation to register.")
class CreateInvitationPayload(Payload):
    invitation: str | None = nullable(
        "The `invitation` of `register`, good once. It cannot be read again. The page `/register` takes it after `#`."
    )
    expires_at: DateTime | None = nullable("When it ends if it is not used before: in a week.")

    @classmethod
    def of(cls, created: NewInvitation) -> Self:
        return cls.of_records(invitation=created.text, expires_at=created.ends)


@strawberry.type
class SiteMutations:
    create_invitation: CreateInvitationPayload | None = mutation(
        site.invite,
        CreateInvitationPayload,
        None,
        "Make an invitation, by which one person may register. Only for admins.",
    )
