"""Random values for the variables of documents: mostly existing ids and names, sometimes deleted or invalid ones."""

from collections import defaultdict, deque
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

from tests.soak.documents import ORDERS, Document, Slot
from tests.soak.history import Ref
from tests.soak.model import Article, Model, User, canonical
from tests.soak.pages import Position
from tests.soak.requests import EPOCH, instant, milliseconds

GROUPS = ("ask", "show", "lua", "go-lang", "a_1")
FORGED = ("", "x", "é", "b64=", "c2NvcmV8MQ==", "Zm9vfDF8Mg", "A" * 600, "bnVsbA==", "fHx8")
WRONG_IDS = ("article:0", "article:x", "article:9007199254740993", "user:", "odd", "group:-", ":", "article")
WRONG_NAMES = ("a", "a b", "x" * 21, "é1")
WRONG_GROUPS = ("", "-a", "a b", "g" * 51)
WRONG_LINKS = ("javascript:alert(1)", "https://", "https://a b.example/", "ftp://a.example/")
LINK_TAILS = ("", "", "", "", "#part", "?utm_source=soak", "?b=1", "?utm_medium=x&b=1#y")
TITLES = ("Redis in Action", "Ask: why?", "<b>", "  spaces  ", "日本語", "emoji 🎉", "quote \" \\ ' ` $ {", "a" * 300)
PASSWORDS = ("correct horse 1", "battery staple 2", "päss wörd 3")


class KnownValues:
    """Values of earlier answers that operations can use: ids, tokens and cursors."""

    def __init__(self) -> None:
        self.articles: dict[int, Ref] = {}
        self.sessions: dict[str, list[tuple[str, Ref]]] = defaultdict(list)  # by user
        self.cursors: dict[Any, deque[tuple[Ref, Position]]] = defaultdict(lambda: deque(maxlen=60))
        self.kinds: dict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=40))  # listings, by kind
        self.deleted: deque[Ref] = deque(maxlen=20)
        self.posts: dict[str, dict[str, Any]] = {}  # the input of the last post, by user

    def add_cursor(self, ref: Ref, position: Position) -> None:
        listing = position.listing
        if listing not in self.kinds[listing[0]]:
            self.kinds[listing[0]].append(listing)
        self.cursors[listing].append((ref, position))


class VariableGenerator:
    """Chooses the variables of one operation, most of them for the same user and group."""

    def __init__(self, random: Random, model: Model, known: KnownValues, viewer: User | None) -> None:
        self.random, self.model, self.known, self.viewer = random, model, known, viewer
        users = list(model.users.values())
        self.user = viewer if viewer and random.random() < 0.3 else random.choice(users) if users else None
        self.group = random.choice(GROUPS)
        self.day = model.now // 86_400_000 * 86_400_000

    def variables(self, document: Document) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for slot in document.slots:
            if slot.is_optional and self.random.random() < 0.04:
                if self.random.random() < 0.5:
                    values[slot.name] = None
                continue
            values[slot.name] = self._value(slot, values)
        return values

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
        read = {listing[3] for listing in self.known.kinds["articles"]} - {None}
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
        return self._article(list(self.model.articles.values()))

    def _nodeId(self, slot: Slot, values: dict[str, Any]) -> Any:
        kind = self.random.random()
        if kind < 0.03:
            return self.random.choice(WRONG_IDS)
        if kind < 0.5:
            return self._article(list(self.model.articles.values()))
        name = self._username(slot, values) if self.random.random() < 0.98 else "nobody"
        if kind < 0.75:
            return f"user:{name}"
        return f"feed:{name}" if kind < 0.85 else f"group:{self._group(slot, values)}"

    def _nodeIds(self, slot: Slot, values: dict[str, Any]) -> list[Any]:
        return [self._nodeId(slot, values) for _ in range(self.random.choice((0, 1, 2, 3, 5)))]

    def _article(self, articles: list[Article]) -> Any:
        if not articles:
            return "article:1773"
        newest = articles[-8:]
        article = self.random.choice(newest if self.random.random() < 0.6 else articles)
        return self.known.articles[article.number]

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

        def given(name: str, usual: Any) -> Any:
            text = about.get(name)
            if text is None:
                return usual
            return values.get(text[1:], usual) if text.startswith("$") else text

        def since() -> int | None:
            text = given("since", None)
            return None if text is None else milliseconds(text)

        name = self.user.lower if self.user else "nobody"
        match about["parent"], about["field"]:
            case "Query", "articles":
                group = given("group", None)
                return ("articles", given("order", "SCORE"), group.lower() if group else None, since())
            case "Group", _:
                return ("articles", given("order", "SCORE"), self.group, since())
            case "Query", "articlesByLink":
                return ("links", canonical(given("link", "")))
            case "Query", "frontPage":
                return ("good", self.day if "date" in about else None)
            case "Query", "groups":
                return ("groups",)
            case "User", "articles":
                return ("timeline", name)
            case "User", field:
                return (field, name)
            case "Feed", _:
                return ("feed", self.viewer.lower if self.viewer else name)
            case _:
                return self.random.choice(self.known.kinds["voters"] or [("voters", 0)])

    def _input(self, slot: Slot, values: dict[str, Any]) -> dict[str, Any]:
        generate: Callable[[], dict[str, Any]] = getattr(self, f"_input_{slot.about['mutation'].lower()}")
        return generate()

    def _input_vote(self) -> dict[str, Any]:
        values = ["UP", "UP", "UP", "DOWN", "DOWN", "NONE"]
        given = {"articleId": self._articleId(SLOT, {}), "value": self.random.choice(values)}
        if self._chance(0.05):
            given["value"] = None
        if self._chance(0.05):
            del given["value"]
        return given

    def _input_post(self) -> dict[str, Any]:
        """Sometimes the viewer's last post again: a double click."""
        name = self.viewer.lower if self.viewer else ""
        if not self._chance(0.2) or name not in self.known.posts:
            self.known.posts[name] = self._new_post()
        return dict(self.known.posts[name])

    def _new_post(self) -> dict[str, Any]:
        given: dict[str, Any] = {"title": self.random.choice(TITLES)}
        if self._chance(0.02):
            given["title"] = self.random.choice(("", "   ", "x" * 301))
        if self.random.random() < 0.6:
            given["link"] = self._link(SLOT, {})
        if self._chance(0.02):
            given["link"] = self.random.choice(WRONG_LINKS)
        if self.random.random() < 0.5 or "link" not in given:
            given["content"] = self.random.choice(("text", "line\nbreak", "x" * 1_500, "日本" * 20))
        if self._chance(0.02):
            given.pop("link", None)
            given.pop("content", None)
        if self.random.random() < 0.6:
            given["groups"] = self._groups()
        if self._chance(0.02):  # several faults at once
            given |= {"title": "", "groups": list(WRONG_GROUPS), "idempotencyKey": ""}
        if self.random.random() < 0.35:
            given["idempotencyKey"] = f"key {self.random.randint(1, 6)}"
            if self.random.random() < 0.7:
                given |= {"title": "the same again", "link": "https://example.com/again", "groups": ["ask"]}
                given.pop("content", None)
        return given

    def _groups(self) -> list[str]:
        names = self.random.sample(GROUPS, self.random.randint(0, 3))
        return [*names, self.random.choice(WRONG_GROUPS)] if self._chance(0.02) else names

    def _input_editarticle(self) -> dict[str, Any]:
        given: dict[str, Any] = {"articleId": self._own_article()}
        if self.random.random() < 0.5:
            given["title"] = self.random.choice((*TITLES, None, ""))
        if self.random.random() < 0.4:
            given["link"] = self.random.choice((None, "", "https://example.org/edited", *WRONG_LINKS[:1]))
        if self.random.random() < 0.4:
            given["content"] = self.random.choice((None, "edited", "y" * 5_000))
        return given

    def _input_deletearticle(self) -> dict[str, Any]:
        return {"articleId": self._own_article()}

    def _input_regrouparticle(self) -> dict[str, Any]:
        given: dict[str, Any] = {"articleId": self._own_article()}
        if self.random.random() < 0.8:
            given["add"] = self._groups()
        if self.random.random() < 0.5:
            given["remove"] = self._groups()
        if self._chance(0.04):
            given["add"] = [f"many-{place}" for place in range(self.random.choice((9, 10, 11)))]
        return given

    def _own_article(self) -> Any:
        own = [each for each in self.model.articles.values() if each.poster is self.viewer]
        if not own or self._chance(0.08):
            return self._articleId(SLOT, {})
        return self._article(own)

    def _input_followuser(self) -> dict[str, Any]:
        return {"userId": self.random.choice(WRONG_IDS) if self._chance() else f"user:{self._username(SLOT, {})}"}

    _input_unfollowuser = _input_followuser

    def _input_markfeedseen(self) -> dict[str, Any]:
        about = {"parent": "Feed", "field": "articles"}
        found = self._cursor(Slot("", "", "", about), {})
        return {"through": found if found is not None else "none"}

    def _input_register(self) -> dict[str, Any]:
        name = self.random.choice((f"user-{len(self.model.users)}", self._username(SLOT, {})))
        return {"username": name, "password": self._password()}

    def _input_login(self) -> dict[str, Any]:
        password = self.user.password if self.user and not self._chance(0.2) else "wrong horse 9"
        return {"username": self._username(SLOT, {}), "password": password}

    def _input_changepassword(self) -> dict[str, Any]:
        current = self.viewer.password if self.viewer and not self._chance(0.2) else "wrong horse 9"
        return {"currentPassword": current, "newPassword": self._password()}

    def _password(self) -> str:
        return "short" if self._chance(0.1) else self.random.choice(PASSWORDS)


SLOT = Slot("", "", "")
