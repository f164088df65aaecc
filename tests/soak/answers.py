"""
What the model answers to a document: an executor of GraphQL that completes every field and notes every error, and the
fields of the schema as the model has them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    BooleanValueNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    GraphQLNonNull,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    StringValueNode,
    VariableNode,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_list_type,
    parse,
)

from tests.soak import formulas
from tests.soak.model import GROUP, USERNAME, Article, BadInput, Model, Refused, User, is_link
from tests.soak.pages import Asked, Listings, Page, Position

SCHEMA = build_schema((Path(__file__).parents[2] / "schema" / "schema.graphql").read_text())
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class AnyText:
    """Some text that the contract leaves to the server."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(other)

    def __repr__(self) -> str:
        return "<any text>"


ANY_TEXT = AnyText()


@dataclass(frozen=True)
class SessionEnd:
    """When a session ends that is used now: it is extended once a 24th of its lifetime (milliseconds) is over."""

    now: int
    lifetime: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        left = (datetime.fromisoformat(other) - EPOCH) // timedelta(milliseconds=1) - self.now
        return self.lifetime - self.lifetime // 24 <= left <= self.lifetime


@dataclass
class Answer:
    """
    `errors` are all that there can be: the server may leave those out that stand below the same null.

    `session_ended` is whether the answer says so; None if it may.
    """

    data: Any
    errors: list[tuple[tuple[str | int, ...], str]]
    session_ended: bool | None = False


class Bubble(Exception):
    """A null where there must be none."""


@lru_cache(maxsize=2_000)
def parsed(text: str) -> DocumentNode:
    return parse(text, no_location=True)


@dataclass
class Request:
    """
    One operation of a viewer. `hints` are the tokens and numbers that only the server can know, by response name of the
    root field; `resolve` gives what a cursor stands for.
    """

    model: Model
    listings: Listings
    token: str | None
    variables: Mapping[str, Any]
    cursor: Callable[[str], Any]
    hints: Mapping[str, Any] = field(default_factory=dict)
    is_junk: bool = False  # it came with a token that never was one
    has_read_viewer: bool = False

    def viewer(self) -> User | None:
        self.has_read_viewer = True
        return self.poster()

    def poster(self) -> User | None:
        """The viewer, where the server asks only if something else does not fail before."""
        return self.model.sessions.get(self.token) if self.token else None

    def session_ended(self) -> bool | None:
        if self.is_junk or self.token is None or self.token in self.model.sessions:
            return self.is_junk
        return True if self.has_read_viewer else None

    def asked(self, given: Mapping[str, Any]) -> Asked:
        after, before = given.get("after"), given.get("before")
        return Asked(
            given.get("first"),
            None if after is None else self.cursor(after),
            given.get("last"),
            None if before is None else self.cursor(before),
            given.get("page"),
        )


def answer(request: Request, text: str) -> Answer:
    document = parsed(text)
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    variables = dict(request.variables)
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        if name not in variables and definition.default_value is not None:
            variables[name] = literal(definition.default_value, {})
    execution = Execution(request, fragments, variables)
    try:
        data = execution.fields("Query" if operation.operation.value == "query" else "Mutation", [operation], None, ())
    except Bubble:
        data = None
    return Answer(data, execution.errors, request.session_ended())


@dataclass
class Execution:
    request: Request
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    errors: list[tuple[tuple[str | int, ...], str]] = field(default_factory=list)
    _collected: dict[Any, Any] = field(default_factory=dict)

    def fields(self, type_name: str, nodes: list[Any], parent: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        """Every field of an object, also where one of them turns the whole into null."""
        result, is_null = {}, False
        for key, (name, arguments, below, type_) in self._fields_of(type_name, nodes).items():
            if name == "__typename":
                result[key] = type_name
                continue
            here = (*path, key)
            try:
                value = self._value(type_name, name, parent, key, arguments)
            except BadInput:
                self.request.model.reached.count("errors in nested fields", len(path) > 0)
                self.errors.append((here, "BAD_USER_INPUT"))
                value = None
            try:
                result[key] = self._complete(type_, value, below, here)
            except Bubble:
                is_null = True
        if is_null:
            raise Bubble
        return result

    def _value(self, type_name: str, name: str, parent: Any, key: str, arguments: dict[str, Any]) -> Any:
        if type_name == "Mutation":
            return mutate(self.request, name, arguments.get("input"), self.request.hints.get(key))
        return FIELDS[type_name][name](self.request, parent, **arguments)

    def _complete(self, type_: Any, value: Any, nodes: list[Any], path: tuple[str | int, ...]) -> Any:
        if isinstance(type_, GraphQLNonNull):
            result = self._complete(type_.of_type, value, nodes, path)
            if result is None:
                raise Bubble
            return result
        if value is None:
            return None
        if isinstance(value, BadInput):
            self.request.model.reached.count("errors of items")
            self.errors.append((path, "BAD_USER_INPUT"))
            return None
        try:
            if is_list_type(type_):
                return [self._complete(type_.of_type, each, nodes, (*path, place)) for place, each in enumerate(value)]
            if is_leaf_type(type_):
                return WRITTEN.get(type_.name, _as_is)(value)
            return self.fields(_type_name(type_.name, value), nodes, value, path)
        except Bubble:
            return None

    def _fields_of(self, type_name: str, nodes: list[Any]) -> dict[str, Any]:
        """By response name: the field's name, its arguments, what is selected below, its type. Once for each level."""
        kept = (type_name, *map(id, nodes))
        if kept not in self._collected:
            grouped: dict[str, list[FieldNode]] = {}
            for node in nodes:
                self._collect(type_name, node.selection_set, grouped)
            self._collected[kept] = {
                key: (found[0].name.value, self._arguments(found[0]), found, self._type(type_name, found[0]))
                for key, found in grouped.items()
            }
        found: dict[str, Any] = self._collected[kept]
        return found

    def _collect(self, type_name: str, selections: Any, grouped: dict[str, list[FieldNode]]) -> None:
        for node in selections.selections:
            if not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                grouped.setdefault((node.alias or node.name).value, []).append(node)
                continue
            spread = self.fragments[node.name.value] if hasattr(node, "name") else node
            condition = spread.type_condition
            if condition is None or _applies(condition.name.value, type_name):
                self._collect(type_name, spread.selection_set, grouped)

    def _is_included(self, node: Any) -> bool:
        for directive in node.directives or ():
            condition = literal(directive.arguments[0].value, self.variables)
            if condition is not (directive.name.value == "include"):
                return False
        return True

    def _arguments(self, node: FieldNode) -> dict[str, Any]:
        given = {}
        for argument in node.arguments or ():
            is_missing = isinstance(argument.value, VariableNode) and argument.value.name.value not in self.variables
            if not is_missing:
                given[argument.name.value] = literal(argument.value, self.variables)
        return given

    def _type(self, type_name: str, node: FieldNode) -> Any:
        name = node.name.value
        return None if name == "__typename" else SCHEMA.type_map[type_name].fields[name].type  # type: ignore[union-attr]


def literal(node: Any, variables: Mapping[str, Any]) -> Any:
    match node:
        case VariableNode():
            return variables.get(node.name.value)
        case NullValueNode():
            return None
        case IntValueNode():
            return int(node.value)
        case FloatValueNode():
            return float(node.value)
        case BooleanValueNode() | StringValueNode() | EnumValueNode():
            return node.value
        case ListValueNode():
            return [literal(each, variables) for each in node.values]
        case ObjectValueNode():
            fields = {each.name.value: each.value for each in node.fields}
            is_given = {
                name: not isinstance(value, VariableNode) or value.name.value in variables
                for name, value in fields.items()
            }
            return {name: literal(value, variables) for name, value in fields.items() if is_given[name]}
    raise AssertionError(node)


def _applies(condition: str, type_name: str) -> bool:
    if condition == type_name:
        return True
    return (
        SCHEMA.type_map[type_name] in SCHEMA.get_possible_types(SCHEMA.type_map[condition])
        # type: ignore[arg-type]
        if (condition in ("Node", "UserError"))
        else False
    )


def _type_name(declared: str, value: Any) -> str:
    if declared == "Node":
        return {Article: "Article", User: "User", str: "Group", Feed: "Feed"}[type(value)]
    if declared == "UserError":
        return "VotingClosed" if value.code == "VOTING_CLOSED" else "Refusal"
    return declared


def instant(milliseconds: int) -> str:
    return f"{(EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec='milliseconds')[:-6]}Z"


def milliseconds(text: str) -> int:
    """An instant, of which finer digits are cut off. Whatever is before 1970 is as 1970."""
    return max((datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1), 0)


def _as_is(value: Any) -> Any:
    return value


def _written_instant(value: int | SessionEnd) -> str | SessionEnd:
    return value if isinstance(value, SessionEnd) else instant(value)


WRITTEN: dict[str, Callable[[Any], Any]] = {"DateTime": _written_instant, "Float": float}


# ---- the fields -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Feed:
    user: User


NO_GROUP = "-"


def _group(name: str | None) -> str | None:
    """A group that nobody can post to, for a malformed name."""
    if name is None:
        return None
    return name.lower() if GROUP.fullmatch(name) else NO_GROUP


def _articles(request: Request, group: str | None, given: Mapping[str, Any]) -> Page:
    asked = request.asked(given)
    order, pinned = given.get("order") or "SCORE", bool(given.get("pinned"))
    since = milliseconds(given["since"]) if given.get("since") is not None else None
    return request.listings.page(order, group, since, asked, pinned, request.poster())


def _node(request: Request, parent: Any, id: str) -> Any:
    kind, _, name = id.partition(":")
    if kind == "article" and name.isdecimal() and name.isascii() and name[0] != "0" and int(name) < 2**53:
        return request.model.articles.get(int(name))
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


def _user(request: Request, parent: Any, username: str) -> User | None:
    return request.model.users.get(username.lower())


def _root_articles(request: Request, parent: Any, **given: Any) -> Page:
    return _articles(request, _group(given.get("group")), given)


def _by_link(request: Request, parent: Any, link: str, **given: Any) -> Page:
    if not is_link(link):
        raise BadInput
    return request.listings.by_link(link, request.asked(given))


def _front_page(request: Request, parent: Any, **given: Any) -> Page:
    day = given.get("date")
    first_instant = None if day is None else round((_midnight(day) - EPOCH).total_seconds() * 1000)
    return request.listings.front_page(first_instant, request.asked(given))


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)


def _session(request: Request, parent: Any) -> SessionEnd | None:
    return SessionEnd(request.model.now, request.model.policy.session_ttl * 1000) if request.viewer() else None


def _feed(request: Request, parent: Any) -> Feed | None:
    user = request.viewer()
    return Feed(user) if user else None


def _viewer_vote(request: Request, article: Article) -> str | None:
    viewer = request.viewer()
    if viewer is None or not request.model.is_open(article):
        return None
    return "UP" if viewer in article.up else "DOWN" if viewer in article.down else "NONE"


def _voters(request: Request, article: Article, **given: Any) -> Page | None:
    return request.listings.voters(article, request.asked(given))


def _unseen(request: Request, feed: Feed) -> int:
    mark, listings = feed.user.mark, request.listings
    keys = [listings.key("TIME", each, 0) for each in request.model.feed(feed.user)]
    return min(sum(mark is None or key > mark for key in keys), 1_000)


class Rank(int):
    """A number made of an article and of what stands above it, which the server reads one after the other."""


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
    shown = key.value / 1000 if order in ("SCORE", "TIME") else key.value
    up, down = len(article.up), len(article.down)
    parts = formulas.terms(model.policy, order, article.posted_at, up, down, shown)
    missing = _missing(request, article, order, above[-1]) if above else None
    return Standing(order, Rank(len(above) + 1), shown, parts, None if missing is None else Rank(missing))


def _missing(request: Request, article: Article, order: str, goal: Any) -> int | None:
    """How many more upvotes lift an article above a place. In CONTROVERSIAL, more upvotes than downvotes lower it."""
    policy, now, up, down = request.model.policy, request.model.now, len(article.up), len(article.down)

    def passes(more: int) -> bool:
        value = formulas.value(policy, order, article.posted_at, up + more, down, now)
        return (value, article.posted_at, article.number) > goal

    if order == "TIME":
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
    return request.listings.timeline(user, request.asked(given))


def _feed_articles(request: Request, feed: Feed, **given: Any) -> Page:
    return request.listings.feed(feed.user, request.asked(given), bool(given.get("unseenOnly")))


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
FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Query": {
        "node": _node,
        "nodes": _nodes,
        "viewer": lambda request, parent: request.viewer(),
        "session": _session,
        "article": _article,
        "articles": _root_articles,
        "articlesByLink": _by_link,
        "frontPage": _front_page,
        "user": _user,
        "group": lambda request, parent, name: name.lower() if GROUP.fullmatch(name) else None,
        "feed": _feed,
        "groups": lambda request, parent, **given: request.listings.groups(request.asked(given)),
        "rateLimit": lambda request, parent: None,  # the soak runs without rate limits
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
        "groups": lambda request, article: sorted(article.groups),
        "voters": _voters,
        "standing": _standing,
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
        "followers": lambda request, user, **given: request.listings.people("followers", user, request.asked(given)),
        "following": lambda request, user, **given: request.listings.people("following", user, request.asked(given)),
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
    **{f"{kind}Connection": CONNECTION for kind in ("Article", "User", "Group")},
    **{f"{kind}Edge": EDGE for kind in ("Article", "User", "Group")},
    **dict.fromkeys(("Refusal", "VotingClosed", "RateLimited"), ERROR),
}


# ---- mutations ------------------------------------------------------------------------------------------------------


def mutate(request: Request, name: str, given: Any, hint: Any) -> dict[str, Any]:
    """The payload: what the command gives, or why it was refused."""
    try:
        payload = COMMANDS[name](request, given, hint)
        request.model.reached.count(f"{name} carried out")
    except Refused as refused:
        request.model.reached.count(f"refusals {refused.code}")
        request.has_read_viewer |= refused.code == "UNAUTHENTICATED"
        payload = {"replayed": False, "changed": False, "userErrors": refused.all}
    return payload


def _register(request: Request, given: Any, token: str) -> dict[str, Any]:
    user = request.model.register(given["username"], given["password"], token)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _log_in(request: Request, given: Any, token: str) -> dict[str, Any]:
    user = request.model.log_in(given["username"], given["password"], token)
    request.token, request.is_junk = token, False
    return {"user": user, "token": token, "expiresAt": _session_end(request.model)}


def _session_end(model: Model) -> int:
    return model.now + model.policy.session_ttl * 1000


def _log_out(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    request.model.log_out(request.token)
    request.token = None
    return {}


def _change_password(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"user": request.model.change_password(request.token, given["currentPassword"], given["newPassword"])}


def _post(request: Request, given: Any, number: Callable[[], int]) -> dict[str, Any]:
    article, replayed = request.model.post(request.token, given, number)
    return {"article": article, "replayed": replayed, "duplicateOf": request.model.duplicate_of(article)}


def _edit(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"article": request.model.edit(request.token, given)}


def _delete(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"deletedArticleId": request.model.delete(request.token, given["articleId"])}


def _vote(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    article, changed = request.model.vote(request.token, given["articleId"], given.get("value") or "UP")
    return {"article": article, "changed": changed}


def _regroup(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return {"article": request.model.regroup(request.token, given)}


def _follow(request: Request, given: Any, hint: Any, begin: bool = True) -> dict[str, Any]:
    user, changed = request.model.follow(request.token, given["userId"], begin)
    return {"user": user, "changed": changed}


def _unfollow(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    return _follow(request, given, hint, begin=False)


def _mark(request: Request, given: Any, hint: Any) -> dict[str, Any]:
    user = request.model.actor(request.token)
    through = request.cursor(given["through"])
    if not isinstance(through, Position) or through.listing != ("feed", user.lower):
        raise Refused("INVALID", "through")
    request.model.mark_seen(user, through.key)
    return {"feed": Feed(user)}


COMMANDS: dict[str, Callable[[Request, Any, Any], dict[str, Any]]] = {
    "register": _register,
    "logIn": _log_in,
    "logOut": _log_out,
    "changePassword": _change_password,
    "post": _post,
    "editArticle": _edit,
    "deleteArticle": _delete,
    "vote": _vote,
    "regroupArticle": _regroup,
    "followUser": _follow,
    "unfollowUser": _unfollow,
    "markFeedSeen": _mark,
}


def _of_payload(name: str) -> Callable[[Request, dict[str, Any]], Any]:
    return lambda request, payload: payload.get(name)


for payload_type in {get_named_type(each.type).name for each in SCHEMA.mutation_type.fields.values()}:  # type: ignore[union-attr]
    FIELDS[payload_type] = {
        name: _of_payload(name)
        for name in SCHEMA.type_map[payload_type].fields  # type: ignore[union-attr]
    } | {
        "query": lambda request, payload: payload,
        "userErrors": lambda request, payload: payload.get("userErrors", []),
    }
