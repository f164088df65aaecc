"""What the site offers to visitors, such as registration and passwords; and invitations to register."""

from typing import Self

import strawberry

from resolvers import link_titles, site
from schema.enums import Registration
from schema.fields import field_of, root_field
from schema.mutations import Payload, mutation, nullable
from schema.scalars import DateTime
from store.invitations import NewInvitation


@strawberry.type(name="Site", description="What the site offers to those who come to it.")
class SiteOffers:
    id: strawberry.ID = field_of(site.ids, "The id, `site`: there is one.", is_pure=True)
    registration: Registration = strawberry.field(description="Who may register.")
    has_passwords: bool = strawberry.field(
        description="Whether there are passwords; else `register`, `logIn`, `changePassword`, resets are NOT_OFFERED."
    )
    avatar_hosts: list[str] = strawberry.field(description="The hosts whose pictures of users the site's pages show.")


@strawberry.type
class SiteQueries:
    site: SiteOffers | None = root_field(site.offers, "What the site offers to those who come to it.")
    link_title: str | None = root_field(
        link_titles.link_title,
        "What the page behind a link calls itself, to suggest a title; null if it does not say, or cannot be read. For "
        "users who are logged in, 20 an hour, and NOT_OFFERED unless the site looks up titles.",
    )


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
        input=None,
        description="Make an invitation, by which one person may register. Only for admins.",
    )
