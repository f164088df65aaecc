"""
The fields of Query and of all objects of the schema that are not payloads: functions of the request, the object and the
arguments. Where the model does not know a value exactly, they return an object that equals several, such as `ANY_TEXT`.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from tests.soak import (
    comment_fields,
    home,
    inboxes,
    issuers,
    mails,
    moderation_fields,
    recent_comments,
    resets,
    saved,
    searches,
    standings,
)
from tests.soak.inboxes import Inbox
from tests.soak.input_checks import GROUP, PSEUDONYM, USERNAME, BadInput, NotAllowed, group_or_none, is_id, is_link
from tests.soak.pages import Page
from tests.soak.records import Action, Article, Comment, User, named
from tests.soak.requests import EPOCH, Request, SessionEnd, instant, milliseconds
from tests.soak.saved import Home
from tests.soak.searches import ANY_TEXT, ANY_TEXT_OR_NULL, ANYTHING, Unordered
from tests.soak.text_fields import readable, replies, viewer_vote


@dataclass(frozen=True)
class Feed:
    """The articles of those whom a user follows."""

    user: User


DEEPEST = 10  # levels below the first one that a thread shows by default
MOST_IDS = 100  # of the argument of `nodes`
MOST_UNSEEN = 1_000  # articles of a feed that are counted


def _changes(request: Request, parent: Any) -> Any:
    """The log of changes, which admins read: the model has none. The soak sends no server key."""
    viewer = request.viewer()
    if viewer is None or not viewer.is_admin:
        raise NotAllowed
    return ANYTHING


def _articles(request: Request, group: str | None, given: Mapping[str, Any]) -> Page:
    paging = request.paging(given)
    order, pinned = given.get("order") or "SCORE", bool(given.get("pinned"))
    since = milliseconds(given["since"]) if given.get("since") is not None else None
    return request.listings.page(order, group, since, paging, pinned, request.peek_viewer())


def _node(request: Request, parent: Any, id: str) -> Any:
    kind, _, name = id.partition(":")
    if is_id("article", id):
        return readable(request, request.model.articles.get(int(name)))
    if is_id("comment", id):
        request.model.reached.count("comments of deleted articles", int(name) in request.model.orphans)
        return request.threads.read(request.peek_viewer(), request.model.comments.get(int(name)))
    if is_id("action", id):
        return request.model.actions.get(int(name))
    if kind == "user" and PSEUDONYM.fullmatch(name):
        request.model.reached.count("users who have left, read by their ids", name in request.model.departed)
        return request.model.departed.get(name)
    if kind in ("user", "feed", "home", "inbox") and USERNAME.fullmatch(name):
        user = request.model.users.get(name.lower())
        if kind == "user":
            return user
        own = {"feed": Feed, "home": Home, "inbox": Inbox}[kind]
        return own(user) if user is not None and user is request.viewer() else None
    if kind == "notification" and (parts := inboxes.parts(id)):
        return inboxes.find(request.model, request.viewer(), *parts)
    if kind == "group" and GROUP.fullmatch(name):
        return name.lower()
    raise BadInput


def _nodes(request: Request, parent: Any, ids: list[str]) -> list[Any]:
    if len(ids) > MOST_IDS:
        raise BadInput
    return [_node_or_error(request, id) for id in ids]


def _node_or_error(request: Request, id: str) -> Any:
    try:
        return _node(request, parent=None, id=id)
    except BadInput as error:
        return error


def _article(request: Request, parent: Any, id: str) -> Article | None:
    if not id.startswith("article:"):
        raise BadInput
    article: Article | None = _node(request, parent=None, id=id)
    return article


def _comment(request: Request, parent: Any, id: str) -> Comment | None:
    if not id.startswith("comment:"):
        raise BadInput
    comment: Comment | None = _node(request, parent=None, id=id)
    return comment


def _thread(request: Request, article: Article, **given: Any) -> Page:
    under, deepest = given.get("under"), given.get("maxDepth")
    if (under is not None and not is_id("comment", under)) or (deepest is not None and deepest < 0):
        raise BadInput
    above = None if under is None else int(under.partition(":")[2])
    depth = DEEPEST if deepest is None else deepest
    order, paging, pinned = given.get("order") or "BEST", request.paging(given), bool(given.get("pinned"))
    return request.threads.page(article, order, above, depth, paging, pinned)


def _user(request: Request, parent: Any, username: str) -> User | None:
    return request.model.users.get(username.lower())


def _root_articles(request: Request, parent: Any, **given: Any) -> Page:
    return _articles(request, group_or_none(given.get("group")), given)


def _by_link(request: Request, parent: Any, link: str, **given: Any) -> Page:
    if not is_link(link):
        raise BadInput
    return request.listings.by_link(link, request.paging(given))


def _search(request: Request, parent: Any, query: str, **given: Any) -> Page:
    arguments = (given.get(name) for name in ("kinds", "group", "poster", "order"))
    return searches.page(request.model, searches.search(query, *arguments), request.paging(given))


def _found_nodes(request: Request, page: Page) -> list[Any]:
    nodes = [edge.node for edge in page.edges]
    return Unordered(nodes, page.edges.count_shown) if isinstance(page.edges, Unordered) else nodes


def _front_page(request: Request, parent: Any, **given: Any) -> Page:
    day = given.get("date")
    first_instant = None if day is None else round((_midnight(day) - EPOCH).total_seconds() * 1000)
    return request.listings.front_page(first_instant, request.paging(given))


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)


def _session(request: Request, parent: Any) -> SessionEnd | int | None:
    model, token = request.model, request.token
    if request.viewer() is None or token is None:
        return None
    if issuers.is_token(token):
        return issuers.ends_at(token, model.now)
    return SessionEnd(model.now, model.policy.session_ttl * 1000)


def _account_sessions(request: Request, user: User) -> Unordered:
    """The tokens of the user's sessions, of which the model does not know when they were used last."""
    sessions = request.model.sessions
    found = [token for token, each in sessions.items() if each is user and not issuers.is_token(token)]
    return Unordered(found, len(found))


def _feed(request: Request, parent: Any) -> Feed | None:
    user = request.viewer()
    return Feed(user) if user else None


def _inbox(request: Request, parent: Any) -> Inbox | None:
    user = request.viewer()
    return Inbox(user) if user else None


def _notifications(request: Request, inbox: Inbox, **given: Any) -> Page:
    return inboxes.page(request.model, inbox.user, request.paging(given), bool(given.get("unseenOnly")))


class NotOffered(BadInput):
    """Titles of links are off by default: the soak reads no pages of other servers."""

    code = "NOT_OFFERED"


def _link_title(request: Request, parent: Any, link: str) -> None:
    if not is_link(link):
        raise BadInput
    request.model.reached.count("titles of links that are not offered")
    raise NotOffered


def _voters(request: Request, article: Article, **given: Any) -> Page | None:
    readers, viewer = request.model.policy.voters, request.viewer()
    is_moderator = viewer is not None and viewer.moderates(article.groups)
    found = request.listings.voters(article, request.paging(given))
    return found if readers == "everybody" or (readers == "moderators" and is_moderator) else None


def _unseen(request: Request, feed: Feed) -> int:
    mark, listings = feed.user.mark, request.listings
    keys = [listings.key("TIME", each, at=0) for each in request.model.feed(feed.user)]
    return min(sum(mark is None or key > mark for key in keys), MOST_UNSEEN)


def _timeline(request: Request, user: User, **given: Any) -> Page:
    return request.listings.timeline(user, request.paging(given))


def _feed_articles(request: Request, feed: Feed, **given: Any) -> Page:
    return request.listings.feed(feed.user, request.paging(given), bool(given.get("unseenOnly")))


def _total(request: Request, page: Page) -> int:
    return page.total


CONNECTION: dict[str, Callable[..., Any]] = {
    "edges": lambda request, page: page.edges,
    "nodes": lambda request, page: [edge.node for edge in page.edges],
    "pageInfo": lambda request, page: page,
    "totalCount": _total,
}
EDGE: dict[str, Callable[..., Any]] = {
    "cursor": lambda request, edge: edge.cursor,
    "node": lambda request, edge: edge.node,
}


def _params_of_ban(refused: Any) -> list[tuple[str, str]]:
    until, group = refused.more.get("until"), refused.more.get("group")
    return ([("until", instant(until))] if until else []) + ([("group", group)] if group else [])


ERROR: dict[str, Callable[..., Any]] = {
    "code": lambda request, refused: refused.code,
    "message": lambda request, refused: ANY_TEXT,
    "field": lambda request, refused: refused.path,
    "closedAt": lambda request, refused: refused.more["closedAt"],
    "retryAt": lambda request, refused: refused.more["retryAt"],
    "until": lambda request, refused: refused.more["until"],
    "group": lambda request, refused: refused.more["group"],
    "rule": lambda request, refused: refused.more.get("rule"),
    "params": lambda request, refused: refused.more.get("params", _params_of_ban(refused)),
}
LISTED = ("Article", "User", "Group", "Comment", "Notification", "ModerationAction", "Votable")
OBJECT_FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Query": {
        "node": _node,
        "nodes": _nodes,
        "viewer": lambda request, parent: request.viewer(),
        "session": _session,
        "account": lambda request, parent: request.viewer(),
        "article": _article,
        "comment": _comment,
        "articles": _root_articles,
        "comments": recent_comments.page,
        "articlesByLink": _by_link,
        "frontPage": _front_page,
        "search": _search,
        "user": _user,
        "group": lambda request, parent, name: name.lower() if GROUP.fullmatch(name) else None,
        "feed": _feed,
        "home": saved.home,
        "inbox": _inbox,
        "groups": lambda request, parent, **given: request.listings.groups(request.paging(given)),
        "rateLimit": lambda request, parent: None,  # the soak runs without rate limits
        "changes": _changes,
        "linkTitle": _link_title,
        "passwordResetUser": lambda request, parent, token: resets.user_of(request.model, token),
        "site": lambda request, parent: True,  # which has nothing but settings
        "moderationLog": moderation_fields.log,
        "held": moderation_fields.held,
        "moderationQueue": moderation_fields.queue,
        "appeals": moderation_fields.appeals_queue,
        "siteModerators": lambda request, parent, **given: request.listings.moderators(None, request.paging(given)),
    },
    "Comment": comment_fields.FIELDS,
    "Article": {
        "id": lambda request, article: f"article:{article.number}",
        "title": lambda request, article: article.title,
        "link": lambda request, article: article.link,
        "content": lambda request, article: article.content,
        "poster": lambda request, article: article.poster,
        "postedAt": lambda request, article: article.posted_at,
        "editedAt": lambda request, article: article.edited_at,
        "votes": lambda request, article: article.votes,
        "upvotes": lambda request, article: len(article.up),
        "downvotes": lambda request, article: len(article.down),
        "score": lambda request, article: request.listings.key("SCORE", article, at=0).value / 1000,
        "isGood": lambda request, article: article.votes >= request.model.policy.good_votes,
        "isVotingOpen": lambda request, article: request.model.is_open(article),
        "votingClosesAt": lambda request, article: request.model.closes_at(article),
        "viewerVote": viewer_vote,
        "state": lambda request, article: article.state,
        "isLocked": lambda request, article: article.is_locked,
        "lock": moderation_fields.lock,
        "isCommentingOpen": lambda request, article: request.model.takes_comments(article),
        "commentCount": lambda request, article: request.model.comment_count(article),
        "comments": replies,
        "thread": _thread,
        "groups": lambda request, article: sorted(article.groups),
        "voters": _voters,
        "standing": standings.standing,
        **moderation_fields.VOTABLE_FIELDS,
        **saved.VOTABLE_FIELDS,
        "viewerHasHidden": home.has_hidden,
    },
    "ThreadEdge": {
        "cursor": lambda request, edge: edge.cursor,
        "node": lambda request, edge: edge.node,
        "hiddenReplyCount": lambda request, edge: edge.hidden,
    },
    "Session": {"expiresAt": lambda request, end: end},
    "Account": {
        "id": lambda request, user: f"account:{user.lower}",
        "sessions": _account_sessions,
        "hasPassword": lambda request, user: bool(user.password),
        **mails.ACCOUNT_FIELDS,
    },
    "Site": {
        "id": lambda request, site: "site",
        "avatarHosts": lambda request, site: [],
        "hasPasswords": lambda request, site: True,
        "registration": lambda request, site: "OPEN",
    },
    "AccountSession": {
        "id": lambda request, token: ANY_TEXT,
        "openedAt": lambda request, token: ANY_TEXT,
        "usedAt": lambda request, token: ANY_TEXT,
        "agent": lambda request, token: ANY_TEXT_OR_NULL,
        "isCurrent": lambda request, token: token == request.token,
    },
    "User": {
        "id": lambda request, user: f"user:{user.lower}",
        "username": lambda request, user: user.shown_name,
        "joinedAt": lambda request, user: 0 if user.has_left else user.joined_at,
        "karma": lambda request, user: request.model.karma(user),
        "displayName": lambda request, user: user.profile.get("displayName"),
        "about": lambda request, user: user.profile.get("about"),
        "avatarUrl": lambda request, user: user.profile.get("avatarUrl"),
        "articles": _timeline,
        "comments": lambda request, user, **given: request.threads.of_user(user, request.paging(given)),
        "followers": lambda request, user, **given: request.listings.people("followers", user, request.paging(given)),
        "following": lambda request, user, **given: request.listings.people("following", user, request.paging(given)),
        "viewerIsFollowing": lambda request, user: (
            (viewer := request.viewer()) is not None and user in viewer.following
        ),
        "viewerIsBlocking": home.is_blocking,
        "roles": moderation_fields.roles,
        "isBanned": lambda request, user: not user.has_left and request.model.ban_of(user, group=None) is not None,
        "bannedUntil": moderation_fields.banned_until,
        "votingRing": lambda request, user: None,  # nobody searches for rings here
    },
    "Group": {
        "id": lambda request, name: f"group:{name}",
        "name": lambda request, name: name,
        "title": lambda request, name: None,
        "about": lambda request, name: None,
        "isListed": lambda request, name: False,
        **home.GROUP_FIELDS,
        **moderation_fields.GROUP_FIELDS,
        "articles": lambda request, name, **given: _articles(request, name, given),
    },
    "Feed": {
        "id": lambda request, feed: f"feed:{feed.user.lower}",
        "articles": _feed_articles,
        "unseenCount": _unseen,
        "seenThrough": lambda request, feed: feed.user.mark and int(feed.user.mark.value),
    },
    "Inbox": {
        "id": lambda request, inbox: f"inbox:{inbox.user.lower}",
        "notifications": _notifications,
        "unseenCount": lambda request, inbox: inboxes.unseen(request.model, inbox.user),
        "seenThrough": lambda request, inbox: inbox.user.inbox_mark and inbox.user.inbox_mark[0],
    },
    "Notification": {
        "id": lambda request, each: f"notification:{each.user.lower}:{each.subject.number}",
        "kind": lambda request, each: each.notice.kind,
        "at": lambda request, each: each.notice.at,
        "actor": lambda request, each: None if isinstance(each.subject, Action) else named(each.subject.poster),
        "subject": lambda request, each: each.subject,
        "isSeen": lambda request, each: each.is_seen,
    },
    "PageInfo": {
        "hasNextPage": lambda request, page: page.has_next,
        "hasPreviousPage": lambda request, page: page.has_previous,
        "startCursor": lambda request, page: page.ends[0].cursor if page.ends else None,
        "endCursor": lambda request, page: page.ends[-1].cursor if page.ends else None,
    },
    **{f"{kind}Connection": CONNECTION for kind in (*LISTED, "Thread", "Queue")},
    **{f"{kind}Edge": EDGE for kind in LISTED},
    "SearchConnection": CONNECTION | {"nodes": _found_nodes, "suggestion": lambda request, page: page.suggestion},
    "SearchEdge": EDGE | {"excerpt": lambda request, edge: edge.excerpt},
    "ChangedField": {"name": lambda request, param: param[0], "value": lambda request, param: str(param[1])},
    **dict.fromkeys(("Refusal", "VotingClosed", "RateLimited", "Banned"), ERROR),
    **standings.FIELDS,
    **moderation_fields.FIELDS,
    "Home": {**saved.HOME_FIELDS, **home.HOME_FIELDS},
    "HomeArticleConnection": CONNECTION,
}
