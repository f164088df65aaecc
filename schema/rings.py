"""
Rings: accounts that vote for each other far more often than chance explains, as moderators of the site see them.

Votes are annulled if a moderator's action keeps them from counting. A field is an attribute of the record behind its
type, or has the resolver that `field_of` names.
"""

from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers import rings
from schema.fields import field_of
from schema.scalars import DateTime

if TYPE_CHECKING:
    from schema.articles import Article
    from schema.users import User


@strawberry.type(
    description="An article that would change its place if all votes of the members of a ring were annulled."
)
class VotingRingMove:
    id: strawberry.ID = strawberry.field(
        description="The id, `ring-move:` with the numbers of the ring and the article."
    )
    article: Annotated["Article", strawberry.lazy("schema.articles")] | None = field_of(
        rings.articles, "The article; null once it is gone."
    )
    votes: int = strawberry.field(description="How many votes it would lose, upvotes without downvotes.")
    place: int = strawberry.field(
        description="Its place by `SCORE` among all articles when the search was made; the first is 1."
    )
    new_place: int = strawberry.field(description="The place that it would have had then.")


@strawberry.type(
    description="Accounts that vote for each other far more often than chance explains, and for most of what each "
    "other posts, as the last search has found them."
)
class VotingRing:
    id: strawberry.ID = strawberry.field(description="The id, `ring:` and a number. The next search gives new ones.")
    found_at: DateTime = strawberry.field(description="When the search was made.")
    members: list[Annotated["User", strawberry.lazy("schema.users")]] = field_of(
        rings.members, "The accounts by name, at most 100 of them."
    )
    annulled_members: list[Annotated["User", strawberry.lazy("schema.users")]] = field_of(
        rings.annulled_members,
        "Those of `members` whose votes until the search are all annulled by an action that stands.",
    )
    member_count: int = strawberry.field(description="How many accounts there are.")
    votes: int = strawberry.field(description="How many votes members have cast for each other.")
    expected: float = strawberry.field(description="How many of these chance explains.")
    coverage: float = strawberry.field(
        description="For what share of the articles of the others the average member has voted, or of their comments; "
        "0 to 1."
    )
    article_votes: int = strawberry.field(
        description="How many votes on articles of others the members have cast in all, which annulling would take."
    )
    comment_votes: int = strawberry.field(description="The same on comments.")
    moved: int = strawberry.field(description="How many articles with such votes would change their place.")
    moves: list[VotingRingMove] = strawberry.field(
        description="Those of these articles that would change it most, at most 20 of them."
    )
