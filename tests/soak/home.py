"""
Homes, the front pages of users, as docs/home.md describes them: groups that users follow, what they hide, and whom they
block. Mutations get the request, their input, and as `hint` what the server has assigned, which those of homes do not
need.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.soak.input_checks import GROUP, USERNAME, BadInput, Refused, check, is_id, number_of
from tests.soak.model import Model
from tests.soak.pages import SINCE_ORDERS, ListingEntry, Page, cut, descending
from tests.soak.records import Article, User
from tests.soak.requests import Request, milliseconds
from tests.soak.saved import Home
from tests.soak.searches import ANY_FLAG, Between, doubt_flag


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


def _hide(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    model, user, article = request.model, *_hidden_subject(request, given)
    if article is None or not (article.is_visible or request.model.may_read(user, article)):
        raise Refused("NOT_FOUND", "articleId")
    model.require_not_banned(user)
    changed = article not in user.hidden
    if changed:
        user.hidden[article] = model.now
        model.version += 1
    return {"article": article, "changed": changed}


def _unhide(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    """Show an article again. Of a deleted one the model does not know whether a read has removed it from the list."""
    user, article = _hidden_subject(request, given)
    request.model.require_not_banned(user)
    hidden = [each for each in user.hidden if each.number == number_of(given["articleId"], "article")]
    for each in hidden:
        del user.hidden[each]
    request.model.version += bool(hidden)
    shown = article if article is not None and (article.is_visible or request.model.may_read(user, article)) else None
    return {"article": shown, "changed": bool(hidden) if article is not None else ANY_FLAG}


def _hidden_subject(request: Request, given: Any) -> tuple[User, Article | None]:
    """The viewer and the article of an input, which they hide or show again."""
    if request.token is None:
        raise Refused("UNAUTHENTICATED")
    check(is_id("article", given["articleId"]), "articleId")
    user = request.model.actor(request.token)
    return user, request.model.articles.get(number_of(given["articleId"], "article"))


def _block(request: Request, given: Any, hint: Any, begin: bool = True) -> dict[str, Any]:
    model, token = request.model, request.token
    if token is None:
        raise Refused("UNAUTHENTICATED")
    kind, _, name = given["userId"].partition(":")
    check(kind == "user" and USERNAME.fullmatch(name), "userId")
    other = model.users.get(name.lower())
    if other is None:
        raise Refused("NOT_FOUND", "userId")
    user = model.writer(token)
    check(user is not other, "userId")
    changed = begin != (other in user.blocked)
    if changed and begin:
        user.blocked[other] = model.now
        model.reached.count("users blocked")
    elif changed:
        del user.blocked[other]
    if begin:
        user.following.pop(other, None)
    model.version += 1
    return {"user": other, "changed": changed}


def _unblock(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return _block(request, given, hint, begin=False)


def has_hidden(request: Request, article: Article) -> bool:
    viewer = request.viewer()
    return viewer is not None and article in viewer.hidden


def is_blocking(request: Request, user: User) -> bool:
    viewer = request.viewer()
    return viewer is not None and user in viewer.blocked


def _articles(request: Request, home: Home, **given: Any) -> Page:
    """The listing of the site, of the groups that the user follows, without what is hidden and who is blocked."""
    paging, user, order = request.paging(given), home.user, given.get("order") or "HOT"
    since = milliseconds(given["since"]) if given.get("since") is not None else None
    if since is not None and order not in SINCE_ORDERS:
        raise BadInput
    paging.check()
    listing, now = ("home", user.lower, order, since), request.model.now
    position = paging.position(listing)
    at = (position.at if position else now) if order == "GRAVITY" else None
    entries = [
        entry
        for entry in request.listings.articles(order, group=None, at=now if at is None else at)
        if (not user.groups or user.groups & entry.node.groups)
        and entry.node not in user.hidden
        and entry.node.poster not in user.blocked
        and (since is None or entry.node.posted_at >= since)
    ]
    request.model.reached.count("homes", bool(user.groups and entries))
    request.model.reached.count("homes without what is hidden", bool(user.hidden and entries))
    return cut("HomeArticle", listing, entries, paging, position, at=at)


def _groups(request: Request, home: Home, **given: Any) -> Page:
    paging, listing = request.paging(given), ("groups", home.user.lower)
    paging.check()
    entries = [ListingEntry(name, name) for name in sorted(home.user.groups)]
    return cut("Group", listing, entries, paging, paging.position(listing), rising=True)


def _hidden(request: Request, home: Home, **given: Any) -> Page:
    """
    The articles that the user hides, without those that are not visible. The total, and the flag on the side from which
    the reader comes, may count these, too.
    """
    paging, user, listing = request.paging(given), home.user, ("hidden", home.user.lower)
    paging.check()
    shown = {each: at for each, at in user.hidden.items() if each.number in request.model.articles and each.is_visible}
    entries = descending([ListingEntry((at, each.number), each) for each, at in shown.items()])
    found = cut("Article", listing, entries, paging, paging.position(listing))
    found.total = Between(len(shown), len(user.hidden))
    if len(shown) < len(user.hidden):
        doubt_flag(found, paging)
    return found


def _blocked(request: Request, home: Home, **given: Any) -> Page:
    paging, listing = request.paging(given), ("blocked", home.user.lower)
    paging.check()
    entries = descending([ListingEntry((at, each.name), each) for each, at in home.user.blocked.items()])
    return cut("User", listing, entries, paging, paging.position(listing))


MUTATIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "followGroup": _follow_group,
    "unfollowGroup": _unfollow_group,
    "hideArticle": _hide,
    "unhideArticle": _unhide,
    "blockUser": _block,
    "unblockUser": _unblock,
}
HOME_FIELDS: Mapping[str, Callable[..., Any]] = {
    "articles": _articles,
    "groups": _groups,
    "hidden": _hidden,
    "blocked": _blocked,
}
GROUP_FIELDS: Mapping[str, Callable[..., Any]] = {
    "viewerIsFollowing": _is_following,
    "followerCount": lambda request, name: sum(name in user.groups for user in request.model.users.values()),
}
