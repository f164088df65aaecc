"""
Random GraphQL documents over the whole schema: aliases, fragments, directives, variables, connections in connections.

Each variable of a document has a slot, which says what kind of value it takes, so that the document can be sent again
with other values. The generator estimates how many objects the answer has, and keeps each document below the limits of
the server.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import GraphQLField, GraphQLObjectType, get_named_type, is_leaf_type, is_list_type, is_non_null_type

from tests.soak.requests import SCHEMA

DEPTH = 7  # levels of selections
ORDERS = ("SCORE", "TIME", "VOTES", "HOT", "BEST", "CONTROVERSIAL", "GRAVITY", "ACTIVE")
COMMENT_ORDERS = ("BEST", "VOTES", "NEWEST", "OLDEST", "CONTROVERSIAL")
DEPTHS = (0, 0, 1, 2, 3, 10, 40)  # values of `maxDepth`
SINCE_ORDERS = ("VOTES",) * 12 + ("TIME",) * 4 + ("SCORE", "GRAVITY")  # the last two are refused
SIZES = ("first", "last")
WRONG_SIZES = (0, -1, 101, 501)  # a thread has pages of 500
USUAL_SIZES = {"frontPage": 50}  # default sizes of pages, by field, where they are not 25
MOST_ALIASES, MOST_DIRECTIVES, MOST_COST = 25, 20, 1_500  # of a document: below the limits of the server
MUTATIONS = {  # by name, how often relative to the others
    "vote": 34,
    "voteOnComment": 30,
    "comment": 28,
    "post": 24,
    "followUser": 8,
    "markFeedSeen": 8,
    "markInboxSeen": 7,
    "regroupArticle": 8,
    "deleteComment": 11,
    "deleteArticle": 9,
    "editArticle": 6,
    "editComment": 5,
    "unfollowUser": 4,
    "followGroup": 12,
    "unfollowGroup": 3,
    "hideArticle": 5,
    "unhideArticle": 2,
    "blockUser": 1.5,
    "unblockUser": 1,
    "editProfile": 2,
    "editAccount": 2,
    "requestPasswordReset": 0.2,
    "requestConfirmation": 0.2,
    "logOut": 0.7,
    "logIn": 1,
    "register": 0.3,
    "changePassword": 0.2,
    "resetPassword": 0.2,
    "createInvitation": 0.5,
    "removeContent": 8,
    "approveContent": 3,
    "rejectEdit": 1,
    "lockArticle": 2,
    "revertModeration": 6,
    "grantRole": 1,
    "revokeRole": 1,
    "banUser": 1,
    "appeal": 4,
    "answerAppeal": 3,
    "flag": 7,
    "unflag": 2,
    "save": 6,
    "unsave": 2,
}
MODERATION = {  # by name, how often relative to each other where only these are wanted
    "removeContent": 8,
    "approveContent": 3,
    "rejectEdit": 2,
    "lockArticle": 2,
    "revertModeration": 6,
    "grantRole": 1,
    "revokeRole": 1,
    "banUser": 4,
}
ACTING = (*MODERATION, "annulVotes")  # mutations whose payload has an action of a moderator
OF_COMMENTS = ("thread", "comments", "replies")  # fields whose cursors belong to one article or comment
# mutations that hash a password: a document has one at most, as its first
HASHING = (
    "register",
    "logIn",
    "changePassword",
    "resetPassword",
    "editAccount",
)
NOT_IN_PAYLOADS = ("search",)  # a search finds a change of the same mutation only a little later
# ends the selection of `userErrors`, with its closing brace
BANNED = "rule params { name value } ... on Banned { until group { name } } }"
HELD = "heldEdit { id title link content heldBy at }"
# fields of the edges of a queue of moderators
QUEUED = "since heldBy flagReasons flags { reason note at by { username } } "
SEARCHED = ("Article", "Comment", "User")
SEARCH_ORDERS = ("NEWEST", "VOTES", "RELEVANCE")
SEARCH_COST = 60  # added to the cost of a document
NODE_TYPES = ("Article", "Comment", "User", "Group", "Feed", "Home", "Inbox", "Notification", "ModerationAction")
# fields whose type differs from that in other types of nodes, so that they cannot be merged: the aliases that they get
DIFFERENT = {("ModerationAction", "kind"): "actionKind", ("Group", "title"): "groupTitle"}


@dataclass(frozen=True)
class Slot:
    """
    A variable: its name, its type and the kind of its values. `about` has what they depend on: the other arguments of
    the field, and the field and its type as "field" and "parent", or the mutation.
    """

    name: str
    type: str
    kind: str  # the name of the method of `ValueGenerator`, without `_`, that makes its values
    about: Mapping[str, Any] = field(default_factory=dict)
    is_optional: bool = False


@dataclass(frozen=True)
class Document:
    """The text of a document and its variables. `mutations` are pairs of a response name and its root field."""

    text: str
    slots: tuple[Slot, ...]
    mutations: tuple[tuple[str, str], ...] = ()


class DocumentGenerator:
    """Generates one document."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.slots: list[Slot] = []
        # name, type and text of each fragment, and for how many objects of an answer it may be used
        self.fragments: list[tuple[str, str, str, float]] = []
        self.aliases = self.directives = 0
        self.cost = 0.0  # objects of the answer, at most

    def query(self, roots: Sequence[str] = ()) -> Document:
        """A query of these root fields, or of random ones."""
        names = roots or [self._root() for _ in range(self.random.choice((1, 1, 1, 2, 2, 3)))]
        below = " ".join(self._field("Query", name, depth=1, times=1) for name in names)
        return self._document("query", below)

    def search(self) -> Document:
        return self._document("query", self._field("Query", "search", depth=1, times=1))

    def mutation(self, name: str | None = None, *, alone: bool = False) -> Document:
        """The mutation with this name, or random ones: mostly one, and never more with `alone`."""
        count = 1 if name or alone or self.random.random() < 0.85 else self.random.randint(2, 4)
        names = [name] if name else self.random.choices(list(MUTATIONS), list(MUTATIONS.values()), k=count)
        names = [each for index, each in enumerate(names) if each not in HASHING or index == 0]
        parts, mutations = [], []
        for each in names:
            key = f"m{len(parts)}"
            self.aliases += 1
            parts.append(f"{key}: {each}{self._input(each, key)} {self._payload(each)}")
            mutations.append((key, each))
        return self._document("mutation", " ".join(parts), tuple(mutations))

    def plain_mutation(self, name: str) -> Document:
        """A mutation whose payload does not depend on the order in which it and others are executed."""
        changes = ("vote", "voteOnComment", "followUser", "unfollowUser")
        fields = {"post": "article { id }", "comment": "comment { id }"} | dict.fromkeys(changes, "changed")
        fields |= {"logInWithToken": "token expiresAt user { username displayName roles { role group { name } } }"}
        fields |= {"deleteUser": "deletedUserId", "register": "token", "resetPassword": "token"}
        fields |= dict.fromkeys(ACTING, "action { id } changed")
        selected = f"{{ {fields.get(name, '__typename')} userErrors {{ code field }} }}"
        return self._document("mutation", f"m0: {name}{self._input(name, 'm0')} {selected}", (("m0", name),))

    def _document(self, kind: str, below: str, mutations: tuple[tuple[str, str], ...] = ()) -> Document:
        defined = ", ".join(f"${slot.name}: {slot.type}{self._default(slot)}" for slot in self.slots)
        parts = [f"{kind} Soak{f'({defined})' if defined else ''} {{ {below} }}"]
        parts += [f"fragment {name} on {type_} {text}" for name, type_, text, _ in self.fragments]
        return Document("\n".join(parts), tuple(self.slots), mutations)

    def _default(self, slot: Slot) -> str:
        if slot.kind == "size" and slot.is_optional and self.random.random() < 0.3:
            return f" = {self.random.randint(1, 5)}"
        if slot.kind in ("order", "commentOrder") and self.random.random() < 0.3:
            return f" = {self.random.choice(ORDERS if slot.kind == 'order' else COMMENT_ORDERS)}"
        return ""

    def _root(self) -> str:
        weights = {
            "articles": 10, "feed": 9, "user": 7, "article": 26, "comment": 7, "group": 5, "groups": 3, "frontPage": 4,
            "comments": 4, "articlesByLink": 4, "node": 4, "nodes": 3, "viewer": 5, "session": 3, "inbox": 8,
            "rateLimit": 1, "search": 6, "moderationLog": 5, "held": 3, "home": 8, "moderationQueue": 4, "appeals": 3,
            "siteModerators": 2, "linkTitle": 1, "passwordResetUser": 1,
        }  # fmt: skip
        return self.random.choices(list(weights), list(weights.values()))[0]

    def _input(self, name: str, key: str) -> str:
        arguments = SCHEMA.mutation_type.fields[name].args  # type: ignore[union-attr]
        if not arguments:
            return ""
        type_ = str(arguments["input"].type)
        self.slots.append(Slot(input_variable(key), type_, "input", {"mutation": name}))
        return f"(input: ${input_variable(key)})"

    def _payload(self, name: str) -> str:
        shown = {"post": "article { id }", "comment": "comment { id }", "register": "token", "logIn": "token"}
        shown["resetPassword"] = "token"
        shown |= dict.fromkeys(ACTING, "action { id } changed")
        needed = shown.get(name, "")
        fields = SCHEMA.mutation_type.fields[name].type.fields  # type: ignore[union-attr]
        parts = [needed, "userErrors { code field message ... on VotingClosed { closedAt } " + BANNED]
        for each in fields:
            if each not in ("userErrors", "token") and self.random.random() < (0.2 if each == "query" else 0.6):
                payload = str(SCHEMA.mutation_type.fields[name].type)  # type: ignore[union-attr]
                parts.append(self._field(payload, each, depth=2, times=1))
        return "{ " + " ".join(parts) + " }"

    def _selection(self, type_name: str, depth: int, times: float, within: Mapping[str, Any]) -> str:
        """
        The selection of a type, of which the answer has `times` objects. `within` has the `size` of the page that the
        arguments of the field choose.
        """
        known = [name for name, of_type, _, most in self.fragments if of_type == type_name and most >= times]
        if known and depth < 4 and self.random.random() < 0.3:
            return f"{{ ...{known[0]} __typename }}"
        if type_name == "Node":
            return self._node(depth, times, within)
        if type_name == "Votable":
            return self._node(depth, times, within, ("Article", "Comment"))
        if type_name == "SearchResult":
            return self._found()
        if type_name.endswith("Connection"):
            parts = self._connection(type_name, depth, times, within)
        else:
            parts = self._object(type_name, depth, times, within)
        return self._wrapped(type_name, parts, times)

    def _wrapped(self, type_name: str, parts: list[str], times: float) -> str:
        """A selection set of the parts, or sometimes with an inline or a named fragment of them."""
        if len(parts) > 1 and self.random.random() < 0.1:
            return f"{{ {parts[0]} ... on {type_name} {{ {' '.join(parts[1:])} }} }}"
        text = f"{{ {' '.join(parts)} }}"
        if self.random.random() < 0.1 and len(self.fragments) < 4:
            name = f"F{len(self.fragments)}"
            self.fragments.append((name, type_name, text, times))
            return f"{{ ...{name} }}"
        return text

    def _object(self, type_name: str, depth: int, times: float, within: Mapping[str, Any]) -> list[str]:
        type_ = SCHEMA.type_map[type_name]
        assert isinstance(type_, GraphQLObjectType)
        leaves = [
            name for name, each in type_.fields.items() if is_leaf_type(get_named_type(each.type)) and not each.args
        ]
        others = [name for name in type_.fields if name not in (*leaves, *NOT_IN_PAYLOADS)]
        names = self.random.sample(leaves, self.random.randint(min(1, len(leaves)), min(len(leaves), 6)))
        parts = [self._leaf(type_name, name) for name in names] or ["__typename"]
        if depth < DEPTH:
            chance = 0.85 if type_name in ("Feed", "Home", "Inbox") and depth < 4 else 0.5 if depth < 3 else 0.25
            chosen = [name for name in others if self.random.random() < chance / max(len(others) / 2, 1)]
            if type_name in ("Query", "Feed", "Home", "Inbox", "Group") and not chosen and others:
                chosen = [self.random.choice(others)]
            usual = {"Article": "thread", "Home": "articles"}.get(type_name)
            if usual and depth < 3 and self.random.random() < 0.6:
                chosen = [usual, *(name for name in chosen if name != usual)]
            parts += [self._field(type_name, name, depth, times, within) for name in chosen if self.cost < MOST_COST]
        self.random.shuffle(parts)
        return parts

    def _leaf(self, type_name: str, name: str) -> str:
        if other := DIFFERENT.get((type_name, name)):
            self.aliases += 1
            name = f"{other}: {name}" if self.aliases < MOST_ALIASES else "__typename"
        elif self.random.random() < 0.06 and self.aliases < MOST_ALIASES:
            self.aliases += 1
            name = f"l{self.aliases}: {name}"
        return name + self._directive()

    def _directive(self) -> str:
        if self.random.random() > 0.04 or self.directives >= MOST_DIRECTIVES:
            return ""
        self.directives += 1
        condition = self.random.choice(("true", "false"))
        if self.random.random() < 0.6:
            condition = f"${self._slot('Boolean!', 'boolean')}"
        return f" @{self.random.choice(('include', 'skip'))}(if: {condition})"

    def _connection(self, type_name: str, depth: int, times: float, within: Mapping[str, Any]) -> list[str]:
        nodes = {
            "ThreadConnection": "Comment",
            "SearchConnection": "SearchResult",
            "QueueConnection": "Votable",
            "HomeArticleConnection": "Article",
        }
        node = nodes.get(type_name, type_name.removesuffix("Connection"))
        size = within.get("size", 25)
        parts = []
        if self.random.random() < 0.7:
            parts.append("pageInfo { hasNextPage hasPreviousPage startCursor endCursor }")
        if type_name != "HomeArticleConnection" and self.random.random() < 0.5:
            parts.append("totalCount" + self._directive())
        self.cost += times * size
        if self.random.random() < 0.1 and parts:
            return parts
        below = self._selection(node, depth + 1, times * size, within={}) if depth < DEPTH else "{ id }"
        more = {"ThreadConnection": "hiddenReplyCount ", "SearchConnection": "excerpt ", "QueueConnection": QUEUED}.get(
            type_name, ""
        )
        parts.append(f"edges {{ {more}cursor node {below} }}" if self.random.random() < 0.65 else f"nodes {below}")
        return parts

    def _found(self) -> str:
        """Fields without cursors, as the order of what is found need not be known."""
        parts = [f"... on {name} {{ {' '.join(self._object(name, DEPTH, times=1, within={}))} }}" for name in SEARCHED]
        return f"{{ __typename ... on Node {{ id }} {' '.join(parts)} }}"

    def _node(self, depth: int, times: float, within: Mapping[str, Any], types: Sequence[str] = NODE_TYPES) -> str:
        """A selection of an interface, with inline fragments for some of its types."""
        parts = ["__typename", "id"]
        for name in self.random.sample(types, self.random.randint(0, min(3, len(types)))):
            parts.append(f"... on {name} {self._selection(name, depth + 1, times, within={})}")
        if self.random.random() < 0.3:
            parts.append("... on Votable { votes upvotes downvotes viewerVote isVotingOpen votingClosesAt }")
        if self.random.random() < 0.3:
            parts.append(f"... on Votable {{ {HELD} }}")
        return f"{{ {' '.join(parts)} }}"

    def _field(self, parent: str, name: str, depth: int, times: float, within: Mapping[str, Any] | None = None) -> str:
        """A field of the type `parent`, of which the answer has `times` objects, with random arguments."""
        type_ = SCHEMA.type_map[parent]
        assert isinstance(type_, GraphQLObjectType)
        definition = type_.fields[name]
        below: dict[str, Any] = {}
        if is_leaf_type(get_named_type(definition.type)):
            if definition.args and self.aliases >= MOST_ALIASES:
                return "__typename"
            self.aliases += bool(definition.args)
            alias = f"a{self.aliases}: " if definition.args else ""
            return alias + name + (self._arguments(parent, name, definition, times, below) if definition.args else "")
        is_other_type = (parent, name) == ("Comment", "poster")  # of Article it is not null: they cannot be merged
        if (definition.args or is_other_type) and self.aliases >= MOST_ALIASES:
            return "__typename"
        arguments = self._arguments(parent, name, definition, times, below)
        alias = ""
        if arguments or is_other_type or self.random.random() < 0.05:
            self.aliases += 1
            alias = f"a{self.aliases}: "
        self.cost += times
        count = times
        kind = definition.type.of_type if is_non_null_type(definition.type) else definition.type
        if is_list_type(kind) and name not in ("edges", "nodes"):
            count = times * 4
        selection = self._selection(get_named_type(definition.type).name, depth + 1, count, below)
        return f"{alias}{name}{arguments}{self._directive()} {selection}"

    def _arguments(self, parent: str, name: str, definition: GraphQLField, times: float, below: dict[str, Any]) -> str:
        """Random arguments of a field. Sets `size` of `below` to the size of the page that they choose."""
        known = definition.args
        given: dict[str, str] = {}
        about: dict[str, Any] = {"parent": parent, "field": name}
        kinds = {"id": "nodeId", "ids": "nodeIds", "username": "username", "name": "group", "token": "resetToken"}
        for argument, kind in kinds.items():
            if argument in known:
                kind = f"{name}Id" if (parent, name) in (("Query", "article"), ("Query", "comment")) else kind
                given[argument] = f"${self._slot(str(known[argument].type), kind)}"
        if "link" in known:
            given["link"] = about["link"] = f"${self._slot(str(known['link'].type), 'link')}"
        if name == "search":
            self._search(given, about)
        else:
            self._order(known, given, about, times)
            self._part(known, given, about)
        if "unseenOnly" in known and self.random.random() < 0.4:
            given["unseenOnly"], _ = self._written("Boolean", "boolean", "true")
        if "pinned" in known and parent != "Home" and self.random.random() < (0.4 if name == "thread" else 0.2):
            given["pinned"], about["pinned"] = "true", "true"
        if "first" in known:
            self._page(known, given, about, times, below)
        return f"({', '.join(f'{key}: {value}' for key, value in given.items())})" if given else ""

    def _order(self, known: Mapping[str, Any], given: dict[str, str], about: dict[str, Any], times: float) -> None:
        if "since" in known and self.random.random() < 0.25:
            given["since"] = about["since"] = f"${self._slot('DateTime', 'since')}"
            given["order"] = about["order"] = self.random.choice(SINCE_ORDERS)
            self.cost += 25 * times
        elif "order" in known and self.random.random() < 0.75:
            type_, kind, orders = ("ArticleOrder", "order", ORDERS)
            if str(known["order"].type) == "CommentOrder":
                type_, kind, orders = ("CommentOrder", "commentOrder", COMMENT_ORDERS)
            given["order"], about["order"] = self._written(type_, kind, self.random.choice(orders))

    def _part(self, known: Mapping[str, Any], given: dict[str, str], about: dict[str, Any]) -> None:
        """Choose the part of a listing or a thread."""
        if "under" in known and self.random.random() < 0.35:
            given["under"] = about["under"] = f"${self._slot('ID', 'under')}"
        if "maxDepth" in known and self.random.random() < 0.5:
            depth = str(self.random.choice(DEPTHS))
            given["maxDepth"], about["maxDepth"] = self._written("Int", "maxDepth", depth)
        if "subjectId" in known and self.random.random() < 0.4:
            given["subjectId"] = about["subjectId"] = f"${self._slot('ID', 'nodeId')}"
        elif "group" in known and self.random.random() < 0.4:
            given["group"] = about["group"] = f"${self._slot('String', 'group')}"
        if (about["parent"], about["field"]) == ("Query", "moderationQueue") and self.random.random() < 0.5:
            given["kind"] = about["kind"] = self.random.choice(("FLAGGED", "PENDING"))
        if "date" in known and self.random.random() < 0.5:
            given["date"] = about["date"] = f"${self._slot('Date', 'date')}"

    def _search(self, given: dict[str, str], about: dict[str, Any]) -> None:
        self.cost += SEARCH_COST
        given["query"] = about["query"] = f"${self._slot('String!', 'query', about=about)}"
        given["order"] = about["order"] = self.random.choice(SEARCH_ORDERS)
        if self.random.random() < 0.4:
            names = self.random.sample(SEARCHED, self.random.choice((0, 1, 1, 2, 3)))
            about["kinds"] = [name.upper() for name in names]
            given["kinds"] = f"[{', '.join(about['kinds'])}]"
        for name, kind in (("group", "group"), ("poster", "username")):
            if self.random.random() < 0.1:
                given[name] = about[name] = f"${self._slot('String', kind)}"

    def _page(
        self,
        known: Mapping[str, Any],
        given: dict[str, str],
        about: dict[str, Any],
        times: float,
        below: dict[str, Any],
    ) -> None:
        """Choose page arguments, seldom invalid ones."""
        style = self.random.random()
        if style < 0.04:
            self._wrong_page(known, given, about)
            below["size"] = 5
            return
        if style < 0.12 and times == 1:
            below["size"] = USUAL_SIZES.get(about["field"], 25)
            return
        most = 12 if times == 1 else 4
        size_argument = "last" if style < 0.4 else "first"
        size = self.random.randint(1, most)
        given[size_argument], _ = self._written("Int", "size", str(size), most=most, is_nested=times > 1)
        below["size"] = most if given[size_argument].startswith("$") else size
        if "page" in known and size_argument == "first" and style > 0.9:
            given["page"], _ = self._written("Int", "page", str(self.random.randint(1, 4)))
        elif self.random.random() < (0.65 if times == 1 or about["field"] not in OF_COMMENTS else 0.1):
            cursor = "after" if size_argument == "first" else "before"
            given[cursor] = f"${self._slot('String', 'cursor', about=about)}"

    def _wrong_page(self, known: Mapping[str, Any], given: dict[str, str], about: dict[str, Any]) -> None:
        wrong: list[dict[str, str]] = [
            *({size_argument: str(size)} for size_argument in SIZES for size in WRONG_SIZES),
            {"first": "2", "last": "2"},
            {"before": f"${self._slot('String', 'cursor', about=about)}", "first": "2"},
        ]
        if "page" in known:
            wrong += [{"page": "0"}, {"page": "1", "last": "3"}]
        chosen = self.random.choice(wrong)
        if "before" not in chosen:
            self.slots.pop()  # the variable of the cursor that is not used
        given.update(chosen)

    def _written(self, type_: str, kind: str, text: str, **about: Any) -> tuple[str, str]:
        """An argument as a literal, or as a variable of this kind: twice, for the document and for `about`."""
        written = f"${self._slot(type_, kind, about=about)}" if self.random.random() < 0.5 else text
        return written, written

    def _slot(self, type_: str, kind: str, about: Mapping[str, Any] | None = None) -> str:
        name = f"v{len(self.slots)}"
        self.slots.append(
            Slot(name, type_, kind, about or {}, not type_.endswith("!") and not (about or {}).get("is_nested"))
        )
        return name


def input_variable(key: str) -> str:
    """The name of the variable that has the input of the mutation with this response name."""
    return f"i_{key}"
