"""The fields of Query and of all objects that are not payloads, as the model has them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from tests.soak import formulas
from tests.soak.model import GROUP, USERNAME, BadInput, NotAllowed, is_id, is_link
from tests.soak.pages import Page
from tests.soak.records import Article, Comment, User
from tests.soak.requests import EPOCH, Request, SessionEnd, milliseconds


class AnyText:
    """Equal to any non-empty text, for texts that the contract does not define."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(other)

    def __repr__(self) -> str:
        return "<any text>"


ANY_TEXT = AnyText()


@dataclass(frozen=True)
class Feed:
    user: User


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
        return request.model.articles.get(int(name))
    if is_id("comment", id):
        request.model.reached.count("comments of deleted articles", int(name) in request.model.orphans)
        return request.model.comments.get(int(name))
    if kind in ("user", "feed") and USERNAME.fullmatch(name):
        user = request.model.users.get(name.lower())
        if kind == "user":
            return user
        return Feed(user) if user is not None and user is request.viewer() else None
    if kind == "group" and GROUP.fullmatch(name):
        return name.lower()
    raise BadInput


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
    return request.threads.page(article, given.get("order") or "BEST", above, depth, request.paging(given))


def _replies(request: Request, parent: Article | Comment, **given: Any) -> Page:
    return request.threads.siblings(parent, given.get("order") or "BEST", request.paging(given))


def _user(request: Request, parent: Any, username: str) -> User | None:
    return request.model.users.get(username.lower())


def _root_articles(request: Request, parent: Any, **given: Any) -> Page:
    return _articles(request, _group(given.get("group")), given)


def _by_link(request: Request, parent: Any, link: str, **given: Any) -> Page:
    if not is_link(link):
        raise BadInput
    return request.listings.by_link(link, request.paging(given))


def _front_page(request: Request, parent: Any, **given: Any) -> Page:
    day = given.get("date")
    first_instant = None if day is None else round((_midnight(day) - EPOCH).total_seconds() * 1000)
    return request.listings.front_page(first_instant, request.paging(given))


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)


def _session(request: Request, parent: Any) -> SessionEnd | None:
    return SessionEnd(request.model.now, request.model.policy.session_ttl * 1000) if request.viewer() else None


def _feed(request: Request, parent: Any) -> Feed | None:
    user = request.viewer()
    return Feed(user) if user else None


def _viewer_vote(request: Request, subject: Article | Comment) -> str | None:
    viewer = request.viewer()
    if viewer is None or not request.model.is_open(subject):
        return None
    return "UP" if viewer in subject.up else "DOWN" if viewer in subject.down else "NONE"


def _voters(request: Request, article: Article, **given: Any) -> Page | None:
    return request.listings.voters(article, request.paging(given))


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
}
OBJECT_FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Query": {
        "node": _node,
        "nodes": _nodes,
        "viewer": lambda request, parent: request.viewer(),
        "session": _session,
        "article": _article,
        "comment": _comment,
        "articles": _root_articles,
        "articlesByLink": _by_link,
        "frontPage": _front_page,
        "user": _user,
        "group": lambda request, parent, name: name.lower() if GROUP.fullmatch(name) else None,
        "feed": _feed,
        "groups": lambda request, parent, **given: request.listings.groups(request.paging(given)),
        "rateLimit": lambda request, parent: None,  # the soak runs without rate limits
        "changes": _changes,
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
        "state": lambda request, article: "VISIBLE",
        "isLocked": lambda request, article: False,
        "commentCount": lambda request, article: request.model.comment_count(article),
        "comments": _replies,
        "thread": _thread,
        "groups": lambda request, article: sorted(article.groups),
        "voters": _voters,
        "standing": _standing,
    },
    "Comment": {
        "id": lambda request, comment: f"comment:{comment.number}",
        "article": lambda request, comment: comment.article,
        "parent": lambda request, comment: comment.parent,
        "ancestors": lambda request, comment: comment.ancestors,
        "depth": lambda request, comment: len(comment.ancestors),
        "poster": lambda request, comment: comment.poster,
        "content": lambda request, comment: comment.content,
        "state": lambda request, comment: "DELETED" if comment.is_stub else "VISIBLE",
        "postedAt": lambda request, comment: comment.posted_at,
        "editedAt": lambda request, comment: comment.edited_at,
        "votes": lambda request, comment: comment.votes,
        "upvotes": lambda request, comment: len(comment.up),
        "downvotes": lambda request, comment: len(comment.down),
        "isVotingOpen": lambda request, comment: request.model.is_open(comment),
        "votingClosesAt": lambda request, comment: request.model.closes_at(comment),
        "viewerVote": _viewer_vote,
        "replyCount": lambda request, comment: sum(not each.is_stub for each in request.threads.replies(comment)),
        "descendantCount": lambda request, comment: request.threads.visible_descendants(comment),
        "replies": _replies,
    },
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
    "StandingTerm": {"name": lambda request, term: term[0], "value": lambda request, term: term[1]},
    "User": {
        "id": lambda request, user: f"user:{user.lower}",
        "username": lambda request, user: user.name,
        "joinedAt": lambda request, user: user.joined_at,
        "karma": lambda request, user: request.model.karma(user),
        "articles": _timeline,
        "comments": lambda request, user, **given: request.threads.of_user(user, request.paging(given)),
        "followers": lambda request, user, **given: request.listings.people("followers", user, request.paging(given)),
        "following": lambda request, user, **given: request.listings.people("following", user, request.paging(given)),
        "viewerIsFollowing": lambda request, user: (
            (viewer := request.viewer()) is not None and user in viewer.following
        ),
    },
    "Group": {
        "id": lambda request, name: f"group:{name}",
        "name": lambda request, name: name,
        "articles": lambda request, name, **given: _articles(request, name, given),
    },
    "Feed": {
        "id": lambda request, feed: f"feed:{feed.user.lower}",
        "articles": _feed_articles,
        "unseenCount": _unseen,
        "seenThrough": lambda request, feed: feed.user.mark and int(feed.user.mark.value),
    },
    "PageInfo": {
        "hasNextPage": lambda request, page: page.has_next,
        "hasPreviousPage": lambda request, page: page.has_previous,
        "startCursor": lambda request, page: page.ends[0].cursor if page.ends else None,
        "endCursor": lambda request, page: page.ends[-1].cursor if page.ends else None,
    },
    **{f"{kind}Connection": CONNECTION for kind in ("Article", "User", "Group", "Comment", "Thread")},
    **{f"{kind}Edge": EDGE for kind in ("Article", "User", "Group", "Comment")},
    **dict.fromkeys(("Refusal", "VotingClosed", "RateLimited"), ERROR),
}
