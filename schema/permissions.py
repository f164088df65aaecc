"""
Who may read fields that are for moderators only. For others they are null, and no error.

Permissions read the roles of the viewer once for all fields of a request: one round trip, none if nobody is logged in.
"""

from typing import Any

import strawberry
from strawberry.permission import BasePermission

from resolvers import moderation
from store import roles


class OrNull(BasePermission):
    """A permission without which a field is null. By default Strawberry would raise an error."""

    def on_unauthorized(self) -> None:
        return None


class ModeratesAny(OrNull):
    """The viewer has a role, in the whole site or in any group."""

    async def has_permission(self, source: Any, info: strawberry.Info[Any, Any], **arguments: Any) -> bool:
        return bool(await info.context.viewer_roles())


class ModeratesSite(OrNull):
    """The viewer is a moderator of the whole site."""

    async def has_permission(self, source: Any, info: strawberry.Info[Any, Any], **arguments: Any) -> bool:
        return roles.moderates_site(await info.context.viewer_roles())


class ModeratesPlace(OrNull):
    """The viewer is a moderator of an action's group or, without one, of the article or comment that it is about."""

    async def has_permission(self, source: Any, info: strawberry.Info[Any, Any], **arguments: Any) -> bool:
        return await moderation.may_read_note(source, info.context)
