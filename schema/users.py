"""
Users, and whom they follow.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names.
"""

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Self

import strawberry

from resolvers import comments, moderation, rings, users
from schema.connections import Connection
from schema.fields import field_of, root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.nodes import Node, instances_of
from schema.permissions import ModeratesSite
from schema.scalars import DateTime, Link
from store import records
from store.follows import Follow

if TYPE_CHECKING:
    from schema.articles import Article
    from schema.comments import Comment
    from schema.moderation import RoleGrant
    from schema.rings import VotingRing


@strawberry.type(description="A user, who posts and votes.")
class User(Node):
    is_type_of = instances_of(records.User)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a record: whether the server may cache its JSON

    username: str = strawberry.field(
        description="The name as registered. No other user has the same name in another case of letters."
    )
    joined_at: DateTime = field_of(users.joined_at, "When the user registered.")
    karma: int = field_of(
        users.karma, "The sum of votes on the user's articles and comments, without the user's own first votes."
    )
    display_name: str | None = field_of(
        users.display_name, "The name as people read it, which others may have, too; null: the username itself."
    )
    about: str | None = field_of(
        users.about, "What the user writes about themselves, as Markdown, at most 1,000 characters."
    )
    avatar_url: Link | None = field_of(
        users.avatar_url,
        "The address of a picture of the user. Its host learns who looks at it: show those of hosts that you trust.",
    )
    articles: Connection[Annotated["Article", strawberry.lazy("schema.articles")]] = field_of(
        users.articles, "The user's articles, newest first."
    )
    comments: Connection[Annotated["Comment", strawberry.lazy("schema.comments")]] = field_of(
        comments.of_users, "The user's comments, newest first."
    )
    followers: "Connection[User]" = field_of(users.followers, "The users who follow this user, the latest first.")
    following: "Connection[User]" = field_of(users.following, "The users whom this user follows, the latest first.")
    roles: list[Annotated["RoleGrant", strawberry.lazy("schema.moderation")]] = field_of(
        moderation.of_users, "What the user may do as a moderator."
    )
    is_banned: bool = field_of(users.is_banned, "Whether the user is banned from the whole site now.")
    banned_until: DateTime | None = field_of(
        users.banned_until,
        "When the ban from the whole site ends; null without one, and for good. Only users themselves and moderators "
        "see it.",
    )
    voting_ring: Annotated["VotingRing", strawberry.lazy("schema.rings")] | None = field_of(
        rings.of_users,
        "The accounts with which the last search for rings has found the user; null if it has not, and for others than "
        "moderators of the site.",
        permission_classes=[ModeratesSite],
    )
    viewer_is_following: bool = field_of(users.viewer_is_following, "Whether the viewer follows this user.")
    viewer_is_blocking: bool = field_of(
        users.viewer_is_blocking, "Whether the viewer blocks this user. Nobody else learns of it."
    )


@strawberry.type
class UserQueries:
    user: User | None = root_field(
        users.user, "The user with this name; null if there is none, also if no user can have this name."
    )


@strawberry.input(description="Changes of what the viewer writes about themselves. What is left out stays as it is.")
class EditProfileInput:
    display_name: str | None = optional(
        "The name as people read it: one line of at most 50 characters, and no reserved name. Null removes it."
    )
    about: str | None = optional("About the viewer, as Markdown, at most 1,000 characters. Null removes it.")
    avatar_url: Link | None = optional("The address of a picture. Null removes it.")


@strawberry.type(description="An edited profile.")
class EditProfilePayload(Payload):
    user: User | None = nullable("The viewer; null if refused.")

    @classmethod
    def of(cls, user: records.User) -> Self:
        return cls.of_records(user=user)


@strawberry.input(description="The user to follow or unfollow.")
class FollowUserInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")


@strawberry.type(description="A user whom the viewer has followed or unfollowed.")
class FollowUserPayload(Payload):
    user: User | None = nullable("The user.")
    changed: bool = strawberry.field(
        default=False, description="False if the viewer already followed, or did not follow, the user."
    )

    @classmethod
    def of(cls, follow: Follow) -> Self:
        return cls.of_records(user=records.user(follow.followee), changed=follow.changed)


@strawberry.type
class UserMutations:
    follow_user: FollowUserPayload | None = mutation(
        users.follow,
        FollowUserPayload,
        FollowUserInput,
        "Follow a user. Following a user twice has no effect.",
    )
    unfollow_user: FollowUserPayload | None = mutation(
        users.unfollow, FollowUserPayload, FollowUserInput, "Stop following a user."
    )
    edit_profile: EditProfilePayload | None = mutation(
        users.edit_profile,
        EditProfilePayload,
        EditProfileInput,
        "Change what the viewer writes about themselves.",
    )
