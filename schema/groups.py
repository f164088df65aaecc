"""
Groups, and the articles of each.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names.
"""

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Self

import strawberry

from resolvers import groups, moderation
from schema.connections import Connection
from schema.fields import field_of, root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.nodes import Node, instances_of
from store import records
from store.follows import Follow

if TYPE_CHECKING:
    from schema.articles import Article
    from schema.users import User


@strawberry.type(
    description="A named set of articles with its own rankings, and what its moderators wrote about it. On most sites "
    "groups need not be created."
)
class Group(Node):
    is_type_of = instances_of(records.Group)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a record: whether the server may cache its JSON

    name: str = strawberry.field(description="The name, in lower case.")
    title: str | None = field_of(groups.title, "The name as people read it; null: the name itself.")
    about: str | None = field_of(groups.about, "What belongs here, as Markdown, at most 5,000 characters.")
    is_listed: bool = field_of(
        groups.is_listed, "Whether an admin has made the group: then it is there also without articles."
    )
    articles: Connection[Annotated["Article", strawberry.lazy("schema.articles")]] = field_of(
        groups.articles, "The articles of the group."
    )
    moderators: Connection[Annotated["User", strawberry.lazy("schema.users")]] = field_of(
        moderation.moderators, "The moderators of the group, the latest first. Those of the whole site are not listed."
    )
    viewer_is_following: bool = field_of(groups.viewer_is_following, "Whether the viewer follows this group.")
    follower_count: int = field_of(groups.follower_count, "How many users follow this group.")
    viewer_can_moderate: bool = field_of(
        moderation.viewer_can_moderate, "Whether the viewer is a moderator of the group, or of the whole site."
    )


@strawberry.type
class GroupQueries:
    group: Group | None = root_field(
        groups.group,
        "The group with this name. A group without articles is empty; null only if no group can have this name.",
    )
    groups: Connection[Group] | None = root_field(
        groups.groups, "The groups that have articles or that an admin has made, sorted by name."
    )


@strawberry.input(description="Changes of what is written about a group. What is left out stays as it is.")
class EditGroupInput:
    group: str = strawberry.field(description="The name of the group, in any case of letters.")
    title: str | None = optional("The name as people read it: one line of at most 100 characters. Null removes it.")
    about: str | None = optional("What belongs here, as Markdown, at most 5,000 characters. Null removes it.")


@strawberry.type(description="An edited group.")
class EditGroupPayload(Payload):
    group: Group | None = nullable("The group.")

    @classmethod
    def of(cls, group: records.Group) -> Self:
        return cls.of_records(group=group)


@strawberry.input(description="The group to follow or unfollow.")
class FollowGroupInput:
    group: str = strawberry.field(description="The name of the group, in any case of letters.")


@strawberry.type(description="A group that the viewer has followed or unfollowed.")
class FollowGroupPayload(Payload):
    group: Group | None = nullable("The group.")
    changed: bool = strawberry.field(
        default=False, description="False if the viewer already followed, or did not follow, the group."
    )

    @classmethod
    def of(cls, follow: Follow) -> Self:
        return cls.of_records(group=records.group(follow.followee), changed=follow.changed)


@strawberry.type
class GroupMutations:
    follow_group: FollowGroupPayload | None = mutation(
        groups.follow,
        FollowGroupPayload,
        FollowGroupInput,
        "Follow a group: its articles are in the viewer's home. At most 500. Following a group twice has no effect.",
    )
    unfollow_group: FollowGroupPayload | None = mutation(
        groups.unfollow, FollowGroupPayload, FollowGroupInput, "Stop following a group."
    )
    edit_group: EditGroupPayload | None = mutation(
        groups.edit,
        EditGroupPayload,
        EditGroupInput,
        "Change what is written about a group. Only for its moderators, those of the site, and admins. An admin makes "
        "the group by that: it is there from then on, also without articles.",
    )
