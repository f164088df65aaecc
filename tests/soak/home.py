"""What the model knows of homes: the groups that users follow."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.soak.model import GROUP, Model, Refused, check
from tests.soak.requests import Request


def follow_group(model: Model, token: str | None, group: str, begin: bool) -> tuple[str, bool]:
    """The name of the group, and whether anything has changed."""
    if token is None:
        raise Refused("UNAUTHENTICATED")
    check(GROUP.fullmatch(group), "group")
    follower, name = model.writer(token), group.lower()
    if begin and not any(name in article.groups for article in model.visible()):
        raise Refused("NOT_FOUND", "group")
    changed = begin != (name in follower.groups)
    if changed:
        follower.groups ^= {name}
        model.reached.count("follows of groups" if begin else "follows of groups ended")
    model.version += changed
    return name, changed


def _follow_group(request: Request, given: Any, hint: Any, begin: bool = True) -> dict[str, Any]:
    group, changed = follow_group(request.model, request.token, given["group"], begin)
    return {"group": group, "changed": changed}


def _unfollow_group(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return _follow_group(request, given, hint, begin=False)


def _is_following(request: Request, name: str) -> bool:
    viewer = request.viewer()
    return viewer is not None and name in viewer.groups


MUTATIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "followGroup": _follow_group,
    "unfollowGroup": _unfollow_group,
}
GROUP_FIELDS: Mapping[str, Callable[..., Any]] = {
    "viewerIsFollowing": _is_following,
    "followerCount": lambda request, name: sum(name in user.groups for user in request.model.users.values()),
}
