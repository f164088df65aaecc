"""
Random values for the variables of the GraphQL documents that the soak test sends to a server: mostly existing ids and
names, sometimes deleted or invalid ones.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from tests.soak import searches
from tests.soak.documents import COMMENT_ORDERS, DEPTHS, OF_COMMENTS, ORDERS, Document, Slot
from tests.soak.history import NotificationRef, Ref
from tests.soak.model import Model, canonical
from tests.soak.pages import Position, RepliesListing, ThreadListing
from tests.soak.records import Article, Comment, User
from tests.soak.requests import EPOCH, instant, milliseconds

GROUPS = ("ask", "show", "lua", "go-lang", "a_1")
# cursors that no server has made
FORGED = ("", "x", "é", "b64=", "c2NvcmV8MQ==", "Zm9vfDF8Mg", "A" * 600, "bnVsbA==", "fHx8")
WRONG_IDS = ("article:0", "article:x", "article:9007199254740993", "comment:01", "user:", "odd", "group:-", ":")
WRONG_NAMES = ("a", "a b", "x" * 21, "é1")
WRONG_GROUPS = ("", "-a", "a b", "g" * 51)
WRONG_LINKS = ("javascript:alert(1)", "https://", "https://a b.example/", "ftp://a.example/")
QUERIES = (
    "redis", "in action", '"in action"', "日本", '"', "", "- OR why", "🎉", "café", "-redis (x*", "a" * 300, "w" * 501,
)  # fmt: skip
LINK_TAILS = ("", "", "", "", "#part", "?utm_source=soak", "?b=1", "?utm_medium=x&b=1#y")


class KnownValues:
    """Values of earlier answers that operations can use: ids, tokens and cursors. They are kept as references."""

    def __init__(self) -> None:
        self.articles: dict[int, Ref] = {}  # ids, by number
        self.comments: dict[int, Ref] = {}  # also deleted ones
        self.actions: dict[int, Ref] = {}  # ids of what moderators have done
        self.departed: dict[str, Ref] = {}  # ids of users who have left, by pseudonym
        self.sessions: dict[str, list[tuple[str, Ref]]] = defaultdict(list)  # tokens, by user
        # cursors and their positions, by listing
        self.cursors: dict[Any, deque[tuple[Ref, Position]]] = defaultdict(lambda: deque(maxlen=60))
        # listings that were read, by kind: tuples that begin with the kind, such as ("timeline", "alice")
        self.kinds: dict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=40))
        self.deleted: deque[Ref] = deque(maxlen=20)  # ids of articles
        self.posts: dict[str, dict[str, Any]] = {}  # the input of the last post, by user
        self.answers: dict[str, dict[str, Any]] = {}  # the input of the last comment, by user

    def id_of(self, subject: Article | Comment) -> Ref:
        return (self.articles if isinstance(subject, Article) else self.comments)[subject.number]

    def user_id(self, user: User) -> Ref | str:
        return self.departed[user.name] if user.has_left else f"user:{user.name}"

    def add_cursor(self, ref: Ref, position: Position) -> None:
        listing = position.listing
        if listing not in self.kinds[listing[0]]:
            self.kinds[listing[0]].append(listing)
        self.cursors[listing].append((ref, position))


class ValueGenerator:
    """
    Chooses the variables of one operation, most of them about the same user, group, article and comment. If the
    document has a cursor of a listing of comments, article and comment are those of such a listing that was read.
    A method makes the values of a kind of slot, with the name of the kind after `_`; `values` are those made before.
    """

    def __init__(self, random: Random, model: Model, known: KnownValues, viewer: User | None) -> None:
        self.random, self.model, self.known, self.viewer = random, model, known, viewer
        users = list(model.users.values())
        is_there = viewer is not None and not viewer.has_left
        self.user = viewer if is_there and random.random() < 0.3 else random.choice(users) if users else None
        self.group = random.choice(GROUPS)
        self.day = model.now // 86_400_000 * 86_400_000  # the last midnight, in unix milliseconds
        self.listing: ThreadListing | RepliesListing | None = None  # of comments, for which there are cursors
        self.article: Article | None = None
        self.comment: Comment | None = None

    def variables(self, document: Document) -> dict[str, Any]:
        self._focus(document)
        values: dict[str, Any] = {}
        for slot in document.slots:
            if slot.is_optional and self.random.random() < 0.04:
                if self.random.random() < 0.5:
                    values[slot.name] = None
                continue
            values[slot.name] = self._value(slot, values)
        return values

    def _focus(self, document: Document) -> None:
        """Choose the listing of comments, the article and the comment that most variables are about."""
        paged = [slot.about for slot in document.slots if slot.kind == "cursor" and _is_of_comments(slot.about)]
        if paged:
            kinds = self.known.kinds["thread" if paged[0]["field"] == "thread" else "replies"]
            fitting = [listing for listing in kinds if _fits(listing, paged[0])]
            self.listing = self.random.choice(fitting[-8:]) if fitting else None
        if isinstance(self.listing, ThreadListing):
            self.article = self.model.articles.get(self.listing.article)
            self.comment = self.model.comments.get(self.listing.under or 0)
        elif self.listing is not None:
            self.article = self.model.articles.get(self.listing.answered)
            self.comment = self.model.comments.get(self.listing.answered)
        comments = list(self.model.comments.values())
        if self.article and not self.comment:
            comments = [each for each in comments if each.article is self.article]
        if not self.comment and comments:
            self.comment = self.random.choice(comments[-20:] if self.random.random() < 0.6 else comments)
        if self.comment:
            self.article = self.comment.article

    def _value(self, slot: Slot, values: dict[str, Any]) -> Any:
        generate: Callable[[Slot, dict[str, Any]], Any] = getattr(self, f"_{slot.kind}")
        return generate(slot, values)

    def _chance(self, chance: float = 0.03) -> bool:
        return self.random.random() < chance

    def _size(self, slot: Slot, values: dict[str, Any]) -> int:
        if self._chance(0.02):
            return self.random.choice((0, -1, 101))
        return self.random.randint(1, slot.about.get("most", 4))

    def _page(self, slot: Slot, values: dict[str, Any]) -> int:
        return self.random.choice((0, 2**31 - 1)) if self._chance() else self.random.choice((1, 1, 2, 2, 3, 5, 40))

    def _order(self, slot: Slot, values: dict[str, Any]) -> str:
        return self.random.choice(ORDERS)

    def _commentOrder(self, slot: Slot, values: dict[str, Any]) -> str:  # named after the kind of the slot
        if self.listing and self.random.random() < 0.9:
            return self.listing.order
        return self.random.choice(COMMENT_ORDERS)

    def _maxDepth(self, slot: Slot, values: dict[str, Any]) -> int:
        if self._chance(0.02):
            return -1
        if isinstance(self.listing, ThreadListing) and self.random.random() < 0.9:
            return self.listing.deepest
        return self.random.choice(DEPTHS)

    def _under(self, slot: Slot, values: dict[str, Any]) -> Any:
        return self._commentId(slot, values)

    def _boolean(self, slot: Slot, values: dict[str, Any]) -> bool:
        return self.random.random() < 0.5

    def _group(self, slot: Slot, values: dict[str, Any]) -> str:
        if self._chance():
            return self.random.choice((*WRONG_GROUPS, "nobody-writes-here"))
        return self.group if self.random.random() < 0.9 else self.group.upper()

    def _date(self, slot: Slot, values: dict[str, Any]) -> str:
        days = self.random.choice((0, 0, 0, -1, 1))
        return (EPOCH + timedelta(milliseconds=self.day, days=days)).date().isoformat()

    def _since(self, slot: Slot, values: dict[str, Any]) -> str:
        """Mostly the instant of a listing that was read before, so that its cursors can be used."""
        read = {since for _, _order, _group, since in self.known.kinds["articles"]} - {None}
        if read and self.random.random() < 0.6:
            return instant(self.random.choice(sorted(read)))
        newest = [each.posted_at for each in list(self.model.articles.values())[-40:]]
        at = self.random.choice(newest) if newest else self.model.now
        at = self.random.choice((at, at, at, at + 1, 0, self.model.now, self.model.now + 1_000, -1))
        return self.random.choice((instant(at), instant(at), instant(at).replace("Z", "999Z")))

    def _link(self, slot: Slot, values: dict[str, Any]) -> str:
        if slot is not SLOT and self._chance():
            return self.random.choice(WRONG_LINKS)
        host = self.random.choice(("https://example.com/", "https://example.com/", "HTTPS://Example.COM.:443/"))
        return f"{host}{self.random.randint(1, 9)}{self.random.choice(LINK_TAILS)}"

    def _resetToken(self, slot: Slot, values: dict[str, Any]) -> Any:  # named after the kind of the slot
        """Mostly of a link for a new password that was used, or that has ended."""
        links = list(self.model.password_links.values())[-6:]
        return self.random.choice(links).ref if links and not self._chance(0.1) else "nonsense"

    def _query(self, slot: Slot, values: dict[str, Any]) -> str:
        """Mostly that of a search that was sent before, so that its cursors can be used, or some words of a text."""
        listings = [each for each in self.known.kinds["search"] if _is_of_search(each, slot.about)]
        if listings and self.random.random() < 0.6:
            _, phrases, *_ = self.random.choice(listings)
            return searches.written(phrases)
        kinds = [[*each.values()] for each in (self.model.articles, self.model.comments, self.model.users) if each]
        newest = self.random.choice(kinds)[-self.random.choice((3, 40)) :]
        words = searches.words(" ".join(searches.texts(self.random.choice(newest))))
        start = self.random.randrange(len(words) or 1)
        some = " ".join(words[start : start + self.random.choice((1, 1, 2, 3))])
        misspelled = some.replace("e", "ea", 1) if "e" in some else f"{some}x"
        return self.random.choice((*(some,) * 9, misspelled, some.upper(), f'"{some}"', *QUERIES))

    def _username(self, slot: Slot, values: dict[str, Any]) -> str:
        if self._chance():
            return self.random.choice((*WRONG_NAMES, "nobody"))
        name = self.user.name if self.user else "nobody"
        return self.random.choice((name, name, name.upper(), name.lower()))

    def _articleId(self, slot: Slot, values: dict[str, Any]) -> Any:  # named after the kind of the slot
        if self._chance(0.02):
            return self.random.choice(WRONG_IDS)
        if self._chance(0.04) and self.known.deleted:
            return self.random.choice(self.known.deleted)
        if slot is not SLOT and self.article and self.random.random() < (0.9 if self.listing else 0.5):
            return self._id(self.article)
        return self._article(list(self.model.articles.values()))

    def _commentId(self, slot: Slot, values: dict[str, Any]) -> Any:
        if self._chance(0.02):
            return self.random.choice(WRONG_IDS)
        if self._chance(0.05) and self.known.comments:
            numbers = sorted(self.model.orphans) if self._chance(0.7) else list(self.known.comments)
            return self.known.comments[self.random.choice(numbers or list(self.known.comments))]
        if slot is not SLOT and self.comment and self.random.random() < (0.9 if self.listing else 0.6):
            return self._id(self.comment)
        return self._comment(list(self.model.comments.values()))

    def _nodeId(self, slot: Slot, values: dict[str, Any]) -> Any:
        drawn = self.random.random()  # decides about the kind
        if drawn < 0.03:
            return self.random.choice(WRONG_IDS)
        if drawn < 0.3:
            return self._commentId(slot, values)
        if drawn < 0.55:
            return self._article(list(self.model.articles.values()))
        if drawn < 0.6 and self.known.actions:
            return self.random.choice(list(self.known.actions.values())[-20:])
        name = self._username(slot, values) if self.random.random() < 0.98 else "nobody"
        if drawn < 0.62 and self.known.departed:
            return self.random.choice(list(self.known.departed.values()))
        if drawn < 0.75:
            return f"user:{name}"
        if drawn < 0.82:
            return self._notificationId(name)
        if drawn < 0.92:
            return f"{self.random.choice(('feed', 'home', 'inbox'))}:{name}"
        return f"group:{self._group(slot, values)}"

    def _notificationId(self, name: str) -> Any:
        about = [
            number for number, each in self.model.actions.items()
            if each.notified and each.notified[0].lower == name.lower()
        ]  # fmt: skip
        if about and self._chance(0.3):
            return NotificationRef(name, self.known.actions[self.random.choice(about[-5:])])
        texts: list[Article | Comment] = [*self.model.articles.values(), *self.model.comments.values()]
        notifying = [each for each in texts if name.lower() in each.notified] or texts
        return (
            NotificationRef(name, self._id(self.random.choice(notifying[-12:])))
            if notifying
            else f"notification:{name}"
        )

    def _nodeIds(self, slot: Slot, values: dict[str, Any]) -> list[Any]:
        return [self._nodeId(slot, values) for _ in range(self.random.choice((0, 1, 2, 3, 5)))]

    def _article(self, articles: list[Article]) -> Any:
        if not articles:
            return "article:1773"  # which does not exist
        newest = articles[-8:]
        article = self.random.choice(newest if self.random.random() < 0.6 else articles)
        return self._id(article)

    def _comment(self, comments: list[Comment]) -> Any:
        if not comments:
            return "comment:1773"  # which does not exist
        return self._id(self.random.choice(comments[-12:] if self.random.random() < 0.6 else comments))

    def _id(self, subject: Article | Comment) -> Ref:
        return self.known.id_of(subject)

    def _cursor(self, slot: Slot, values: dict[str, Any]) -> Any:
        """Mostly a cursor of the listing, sometimes of another listing of its kind; seldom a forged one or None."""
        if self._chance(0.02):
            self.model.reached.count("forged cursors")
            return self.random.choice(FORGED)
        listing = self._listing(slot.about, values)
        found = self.known.cursors.get(listing) if self.random.random() < 0.96 else None
        if not found and self.known.kinds[listing[0]] and self.random.random() < 0.5:
            found = self.known.cursors[self.random.choice(self.known.kinds[listing[0]])]
        return self.random.choice(found)[0] if found else None

    def _listing(self, about: Any, values: dict[str, Any]) -> tuple[Any, ...]:
        """The listing that is probably read with these arguments."""
        given = partial(_given, about, values)
        match about["parent"], about["field"]:
            case "Article" | "Comment", field if field in OF_COMMENTS:
                return self.listing or ("thread" if field == "thread" else "replies",)
            case "Group", "moderators":
                return ("moderators", self.group)
            case "Group", _:
                return ("articles", given("order", "SCORE"), self.group, _instant(given))
            case "User", field:
                return ("timeline" if field == "articles" else field, _name(self.user))
            case "Query", field:
                return self._listing_of_query(field, about, given)
            case ("Inbox" | "Home" | "Feed") as parent, field:
                return self._own_listing(parent, field, given)
            case _:
                return self.random.choice(self.known.kinds["voters"] or [("voters", 0)])

    def _listing_of_query(self, field: str, about: Any, given: Callable[[str, Any], Any]) -> tuple[Any, ...]:
        group = given("group", None)
        match field:
            case "articles":
                return ("articles", given("order", "SCORE"), group.lower() if group else None, _instant(given))
            case "comments":
                return ("recent", group.lower() if group else None)
            case "articlesByLink":
                return ("links", canonical(given("link", "")))
            case "moderationLog":
                scope, kind = given("subjectId", None) or group, "all"
                if scope is not None:
                    kind = "subject" if "subjectId" in about else "group"
                return ("log", kind, scope.lower() if isinstance(scope, str) else scope)
            case "moderationQueue":
                listings = [each for each in self.known.kinds["queue"] if each[1] == given("kind", "FLAGGED")]
                return self.random.choice(listings or [("queue",)])
            case "appeals":
                return self.random.choice(self.known.kinds["appeals"] or [("appeals",)])
            case "siteModerators":
                return ("moderators", None)
            case "search":
                query = given("query", "")[: searches.LONGEST_QUERY]
                arguments = (about.get("kinds"), group, given("poster", None), about["order"])
                return searches.search(query, *arguments).listing
            case "frontPage":
                return ("good", self.day if "date" in about else None)
            case "held":
                return ("held", self._name_of_viewer)
            case _:
                return (field,)

    def _own_listing(self, parent: str, field: str, given: Callable[[str, Any], Any]) -> tuple[Any, ...]:
        """A listing that only the viewer has."""
        if parent == "Home" and field == "articles":
            return ("home", self._name_of_viewer, given("order", "HOT"), _instant(given))
        return (field if parent == "Home" else parent.lower(), self._name_of_viewer)

    @property
    def _name_of_viewer(self) -> str:
        return _name(self.viewer or self.user)


def _name(user: User | None) -> str:
    return user.lower if user else "nobody"


def _given(about: Mapping[str, Any], values: Mapping[str, Any], name: str, usual: Any) -> Any:
    """The value of an argument, which a document has as a literal or as a variable."""
    text = about.get(name)
    if text is None:
        return usual
    return values.get(text[1:], usual) if text.startswith("$") else text


def _instant(given: Callable[[str, Any], Any]) -> int | None:
    text = given("since", None)
    return None if text is None else milliseconds(text)


def _is_of_comments(about: Mapping[str, Any]) -> bool:
    return about["field"] in OF_COMMENTS and about["parent"] not in ("Query", "User")


def _is_of_search(listing: tuple[Any, ...], about: Mapping[str, Any]) -> bool:
    """Whether a search that was sent before was probably one with the arguments that a document has."""
    wanted = searches.search("", about.get("kinds"), group=None, poster=None, order=about["order"])
    _, _, kinds, group, poster, order = listing
    is_of_one = ("group" in about, "poster" in about) == (group is not None, poster is not None)
    return is_of_one and (kinds, order) == (wanted.kinds, wanted.order)


def _fits(listing: ThreadListing | RepliesListing, about: Mapping[str, Any]) -> bool:
    """Whether a cursor of a listing may fit the arguments that a document has as literals."""

    def fits(name: str, usual: Any, value: Any) -> bool:
        text = about.get(name, str(usual))
        return bool(text.startswith("$") or text == str(value))

    if not fits("order", "BEST", listing.order):
        return False
    return not isinstance(listing, ThreadListing) or (
        ("under" in about) == (listing.under is not None) and fits("maxDepth", 10, listing.deepest)
    )


# stands for no variable of a query, where a value is made for the input of a mutation
SLOT = Slot(name="", type="", kind="")
