"""The fields of Query and of all objects that are not payloads, as the model has them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from tests.soak import formulas, home, inboxes, issuers, mails, moderation_fields, recent_comments, saved, searches
from tests.soak.inboxes import Inbox
from tests.soak.model import GROUP, PSEUDONYM, USERNAME, BadInput, NotAllowed, is_id, is_link
from tests.soak.pages import Page
from tests.soak.records import Action, Article, Comment, Reading, User, named, vote_of
from tests.soak.requests import EPOCH, Request, SessionEnd, milliseconds
from tests.soak.saved import Home
from tests.soak.searches import ANY_TEXT, ANY_TEXT_OR_NULL, Unordered


@dataclass(frozen=True)
class Feed:
    user: User


class Unreadable(BadInput):
    """An article of a comment, for a reader of the comment who may not read it."""

    code = "NOT_FOUND"


NO_GROUP = "-"
DEEPEST = 10  # levels below the first one that a thread shows by default


def _changes(request: Request, parent: Any, **given: Any) -> None:
    """The soak has no server key."""
    raise NotAllowed


def _group(name: str | None) -> str | None:
    """The name in lower case; for a malformed name, that of a group without articles."""
    if name is None:
        return None
    return name.lower() if GROUP.fullmatch(name) else NO_GROUP


def _articles(request: Request, group: str | None, given: Mapping[str, Any]) -> Page:
    paging = request.paging(given)
    order, pinned = given.get("order") or "SCORE", bool(given.get("pinned"))
    since = milliseconds(given["since"]) if given.get("since") is not None else None
    return request.listings.page(order, group, since, paging, pinned, request.poster())


def _node(request: Request, parent: Any, id: str) -> Any:
    kind, _, name = id.partition(":")
    if is_id("article", id):
        return _readable(request, request.model.articles.get(int(name)))
    if is_id("comment", id):
        request.model.reached.count("comments of deleted articles", int(name) in request.model.orphans)
        return request.threads.read(request.poster(), request.model.comments.get(int(name)))
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


def _readable(request: Request, article: Article | None) -> Article | None:
    if article is None or article.is_visible:
        return article
    viewer = request.poster()
    may_read = request.model.may_read(viewer, article)
    for who in _readers(viewer, article):
        request.model.reached.count(f"{article.state.lower()} articles read by {who}")
    return article if may_read else None


def _readers(viewer: User | None, article: Article) -> Iterator[str]:
    """What a reader is to an article."""
    if viewer is None:
        yield "strangers"
    elif article.poster is viewer:
        yield "posters"
    elif viewer.is_admin:
        yield "admins"
    elif viewer.moderates_site:
        yield "moderators of the site"
    elif viewer.moderates(article.groups):
        yield "moderators of the group"
    elif viewer.roles:
        yield "moderators of another group"
    else:
        yield "others"


def _nodes(request: Request, parent: Any, ids: list[str]) -> list[Any]:
    if len(ids) > 100:
        raise BadInput
    return [_node_or_error(request, id) for id in ids]


def _node_or_error(request: Request, id: str) -> Any:
    try:
        return _node(request, None, id)
    except BadInput as error:
        return error


def _article(request: Request, parent: Any, id: str) -> Article | None:
    if not id.startswith("article:"):
        raise BadInput
    article: Article | None = _node(request, None, id)
    return article


def _comment(request: Request, parent: Any, id: str) -> Comment | None:
    if not id.startswith("comment:"):
        raise BadInput
    comment: Comment | None = _node(request, None, id)
    return comment


def _thread(request: Request, article: Article, **given: Any) -> Page:
    under, deepest = given.get("under"), given.get("maxDepth")
    if (under is not None and not is_id("comment", under)) or (deepest is not None and deepest < 0):
        raise BadInput
    above = None if under is None else int(under.partition(":")[2])
    depth = DEEPEST if deepest is None else deepest
    order, paging, pinned = given.get("order") or "BEST", request.paging(given), bool(given.get("pinned"))
    return request.threads.page(article, order, above, depth, paging, pinned)


def _replies(request: Request, parent: Article | Comment, **given: Any) -> Page:
    article = parent.article if isinstance(parent, Comment) else parent
    may_read = request.model.may_read(request.poster(), article)
    request.model.reached.count("replies to own comments on articles that are not readable", not may_read)
    return request.threads.siblings(parent, given.get("order") or "BEST", request.paging(given), is_empty=not may_read)


def _user(request: Request, parent: Any, username: str) -> User | None:
    return request.model.users.get(username.lower())


def _root_articles(request: Request, parent: Any, **given: Any) -> Page:
    return _articles(request, _group(given.get("group")), given)


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


def _viewer_vote(request: Request, subject: Article | Comment) -> str | None:
    viewer = request.viewer()
    if viewer is None or not request.model.has_voters(subject):
        return None
    request.model.reached.count("annulled votes shown to their voters", viewer in subject.annulled)
    return vote_of(subject, viewer)


class NotOffered(BadInput):
    """What is off by default: the soak reads no pages of other servers."""

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
    keys = [listings.key("TIME", each, 0) for each in request.model.feed(feed.user)]
    return min(sum(mark is None or key > mark for key in keys), 1_000)


class Rank(int):
    """A number computed from an article and the entries above it, which the server reads one after the other."""


@dataclass(frozen=True)
class Standing:
    order: str
    rank: Rank
    value: float
    terms: formulas.Terms
    missing: Rank | None


def _standing(request: Request, article: Article, order: str | None = "SCORE", group: str | None = None) -> Any:
    order, name, model = order or "SCORE", _group(group), request.model
    if not article.is_visible:
        return None
    if name is not None and name not in article.groups:
        return None
    listings, now = request.listings, model.now
    key = listings.key(order, article, now)
    entries = listings.articles(order, name, now)
    above = [each.key for each in entries if each.key > key]
    shown = key.value / 1000 if order in ("SCORE", "TIME", "ACTIVE") else key.value
    up, down = len(article.up), len(article.down)
    parts = formulas.terms(model.policy, order, article.posted_at, up, down, shown)
    missing = _missing(request, article, order, above[-1]) if above else None
    return Standing(order, Rank(len(above) + 1), shown, parts, None if missing is None else Rank(missing))


def _missing(request: Request, article: Article, order: str, goal: Any) -> int | None:
    """The upvotes that lift an article above a position. In CONTROVERSIAL, those beyond its downvotes lower it."""
    policy, now, up, down = request.model.policy, request.model.now, len(article.up), len(article.down)

    def passes(more: int) -> bool:
        value = formulas.value(policy, order, article.posted_at, up + more, down, now)
        return (value, article.posted_at, article.number) > goal

    if order in ("TIME", "ACTIVE"):
        return None
    most = max(down - up, 0) if order == "CONTROVERSIAL" else 2**31 - 1
    for more in range(1, min(most, 100) + 1):
        if passes(more):
            return more
    low, high = 100, most
    if high <= low or not passes(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _article_of(request: Request, comment: Comment) -> Article:
    article = _readable(request, comment.article)
    if article is None:
        request.model.reached.count("comments read without their articles")
        raise Unreadable
    return article


def _placed(request: Request, comment: Comment | None) -> Comment | None:
    """A comment as the thread of its article shows it to those who may read the article."""
    if comment is None or not request.threads.has_place(comment):
        return None
    return comment if request.model.may_read(request.poster(), comment.article) else None


def _poster_of(request: Request, comment: Comment | Reading) -> User | None:
    if isinstance(comment, Reading):
        comment = comment.comment
    elif not comment.is_visible:
        return None
    request.model.reached.count("comments of users who have left", bool(comment.poster and comment.poster.has_left))
    return named(comment.poster)


def _content_of(request: Request, comment: Comment | Reading) -> str | None:
    if isinstance(comment, Reading):
        return comment.comment.content if comment.has_content else None
    return comment.content if comment.is_visible else None


def _comment_field(function: Callable[..., Any]) -> Callable[..., Any]:
    """A field that does not depend on how the comment is read."""
    return lambda request, comment, **given: function(
        request, comment.comment if isinstance(comment, Reading) else comment, **given
    )


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
ERROR: dict[str, Callable[..., Any]] = {
    "code": lambda request, refused: refused.code,
    "message": lambda request, refused: ANY_TEXT,
    "field": lambda request, refused: refused.path,
    "closedAt": lambda request, refused: refused.more["closedAt"],
    "retryAt": lambda request, refused: refused.more["retryAt"],
    "until": lambda request, refused: refused.more["until"],
    "group": lambda request, refused: refused.more["group"],
    "rule": lambda request, refused: refused.more.get("rule"),
    "params": lambda request, refused: refused.more.get("params", []),
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
        "site": lambda request, parent: True,  # which has nothing but settings
        "moderationLog": moderation_fields.log,
        "held": moderation_fields.held,
        "moderationQueue": moderation_fields.queue,
        "appeals": moderation_fields.appeals_queue,
        "siteModerators": lambda request, parent, **given: request.listings.moderators(None, request.paging(given)),
    },
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
        "score": lambda request, article: request.listings.key("SCORE", article, 0).value / 1000,
        "isGood": lambda request, article: article.votes >= request.model.policy.good_votes,
        "isVotingOpen": lambda request, article: request.model.is_open(article),
        "votingClosesAt": lambda request, article: request.model.closes_at(article),
        "viewerVote": _viewer_vote,
        "state": lambda request, article: article.state,
        "isLocked": lambda request, article: article.is_locked,
        "lock": moderation_fields.lock,
        "isCommentingOpen": lambda request, article: request.model.takes_comments(article),
        "commentCount": lambda request, article: request.model.comment_count(article),
        "comments": _replies,
        "thread": _thread,
        "groups": lambda request, article: sorted(article.groups),
        "voters": _voters,
        "standing": _standing,
        **moderation_fields.VOTABLE_FIELDS,
        **saved.VOTABLE_FIELDS,
        "viewerHasHidden": home.has_hidden,
    },
    "Comment": {
        name: _comment_field(function)
        for name, function in {
            "id": lambda request, comment: f"comment:{comment.number}",
            "article": _article_of,
            "parent": lambda request, comment: _placed(request, comment.parent),
            "ancestors": lambda request, comment: [each for each in comment.ancestors if _placed(request, each)],
            "depth": lambda request, comment: len(comment.ancestors),
            "state": lambda request, comment: comment.state,
            "postedAt": lambda request, comment: comment.posted_at,
            "editedAt": lambda request, comment: comment.edited_at,
            "votes": lambda request, comment: comment.votes,
            "upvotes": lambda request, comment: len(comment.up),
            "downvotes": lambda request, comment: len(comment.down),
            "isVotingOpen": lambda request, comment: request.model.is_open(comment),
            "votingClosesAt": lambda request, comment: request.model.closes_at(comment),
            "viewerVote": _viewer_vote,
            "replyCount": lambda request, comment: sum(each.is_visible for each in request.threads.replies(comment)),
            "descendantCount": lambda request, comment: request.threads.visible_descendants(comment),
            "replies": _replies,
        }.items()
    }
    | {"poster": _poster_of, "content": _content_of, **moderation_fields.VOTABLE_FIELDS, **saved.VOTABLE_FIELDS},
    "ThreadEdge": {
        "cursor": lambda request, edge: edge.cursor,
        "node": lambda request, edge: edge.node,
        "hiddenReplyCount": lambda request, edge: edge.hidden,
    },
    "Standing": {
        "order": lambda request, standing: standing.order,
        "rank": lambda request, standing: standing.rank,
        "value": lambda request, standing: standing.value,
        "terms": lambda request, standing: standing.terms,
        "votesToNextRank": lambda request, standing: standing.missing,
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
    "StandingTerm": {"name": lambda request, term: term[0], "value": lambda request, term: term[1]},
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
        "isBanned": lambda request, user: not user.has_left and request.model.ban_of(user, None) is not None,
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
    **moderation_fields.FIELDS,
    "Home": {**saved.HOME_FIELDS, **home.HOME_FIELDS},
    "HomeArticleConnection": CONNECTION,
}
