"""
Random inputs of the mutations that the soak test sends to a server: mostly valid ones, and sometimes the same one
again. A slot is a variable of a random document, and says what kind of value it takes. Methods that make such values
get `SLOT` instead where the value becomes a part of an input.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tests.soak import mails
from tests.soak.documents import Slot
from tests.soak.moderators import ModeratorInputs
from tests.soak.pages import ThreadListing
from tests.soak.records import Article, Comment
from tests.soak.variables import GROUPS, SLOT, WRONG_GROUPS, WRONG_IDS, WRONG_LINKS

Subject = TypeVar("Subject", Article, Comment)

DEEPEST = 40  # a comment with more ancestors is not answered; cursors of the server keep 64
TITLES = (
    "Redis in Action", "Why redis? In action!", "Café", "Ask: why?", "<b>", "  spaces  ", "日本語", "emoji 🎉",
    "quote \" \\ ' ` $ {", "a" * 300,
)  # fmt: skip
MENTIONING = ("@{}: see above", "thanks, @{} and @{}", "(@{}!)", "all of @{}, @{}, @{}, @{}, @{}, @{}")
NOT_MENTIONING = ("mail {}@example.com", "`@{}` is code", "\\@{} is escaped", "https://a.example/@{}", "@{}@")
HELD = ("Casino", "the CASINO bonus", "a casino, and more")  # texts that rules of some servers hold for moderators
UNHELD = ("pills for sale", "pills on sale", "casinos")  # the first is refused by the rules, the others pass
REPEATED = ("the very same words", "The very same WORDS!", "other words, again and again")
RULED_LINKS = tuple(  # two that the rules hold, one that they refuse, and one that passes
    f"https://{host}/{number}"
    for number, host in enumerate(("held.example", "www.held.example", "refused.example", "upheld.example"))
)
PASSWORDS = ("correct horse 1", "battery staple 2", "päss wörd 3")


class VariableGenerator(ModeratorInputs):
    """
    Chooses the variables of one operation, also the inputs of mutations: `_input_NAME` makes that of the mutation with
    this name, in lower case. Other values come from methods with the name of the kind of their slot, such as
    `_articleId`, which `ValueGenerator` has.
    """

    def _input(self, slot: Slot, values: dict[str, Any]) -> dict[str, Any]:
        generate: Callable[[], dict[str, Any]] = getattr(self, f"_input_{slot.about['mutation'].lower()}")
        return generate()

    def _input_editaccount(self) -> dict[str, Any]:
        given: dict[str, Any] = {"mailReplies": self.random.choice((*mails.FREQUENCIES, None))}
        if self._chance(0.2):
            given["email"] = self.random.choice((None, "alice@example.com"))
        return given

    def _input_requestpasswordreset(self) -> dict[str, Any]:
        return {"usernameOrEmail": self.random.choice(("alice", "nobody", "alice@example.com", ""))}

    def _input_resetpassword(self) -> dict[str, Any]:
        return {"token": self._resetToken(SLOT, {}), "newPassword": self._password()}

    def _input_vote(self) -> dict[str, Any]:
        values = ["UP", "UP", "UP", "DOWN", "DOWN", "NONE"]
        given = {"articleId": self._articleId(SLOT, {}), "value": self.random.choice(values)}
        if (annulled := self._annulled(self.model.articles.values())) and self._chance(0.4):
            given["articleId"] = self._id(self.random.choice(annulled))
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
        if self._is_under_rules() and self._chance(0.12):
            given[self.random.choice(("title", "content"))] = self.random.choice((*HELD, *UNHELD))
        if self._is_under_rules() and self._chance(0.05):
            given["link"] = self.random.choice(RULED_LINKS)
        if self.random.random() < 0.5 or "link" not in given:
            given["content"] = self.random.choice(("text", "line\nbreak", "x" * 1_500, "日本" * 20, self._mentioning()))
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

    def _input_comment(self) -> dict[str, Any]:
        """Sometimes the viewer's last comment again: a double click."""
        name = self.viewer.lower if self.viewer else ""
        if not self._chance(0.15) or name not in self.known.answers:
            self.known.answers[name] = self._new_comment()
        return dict(self.known.answers[name])

    def _new_comment(self) -> dict[str, Any]:
        given: dict[str, Any] = {"articleId": self._articleId(SLOT, {}), "content": self._content()}
        comments = list(self.model.comments.values())
        if comments and self.random.random() < 0.8:
            newest = self.random.choice((3, 15, 15, len(comments)))
            parent = self.random.choice(comments[-newest:])
            if len(parent.ancestors) < DEEPEST:
                given |= {"articleId": self._id(parent.article), "parentId": self._id(parent)}
        elif self._chance(0.3):
            given["parentId"] = None
        if self._chance(0.03):
            given |= {"articleId": self._articleId(SLOT, {}), "parentId": self._commentId(SLOT, {})}
        if self._chance(0.02):  # several faults at once
            given |= {"articleId": "odd", "parentId": "odd", "content": "", "idempotencyKey": ""}
        elif self.random.random() < 0.3:
            given["idempotencyKey"] = f"key {self.random.randint(1, 6)}"
        return given

    def _content(self) -> str:
        """The content of a comment, sometimes one that a rule holds or refuses."""
        if self._chance(0.03):
            return self.random.choice(("", "  \n", "x" * 10_001))
        if self._is_under_rules() and self._chance(0.1):
            return self.random.choice(REPEATED)
        if self._is_under_rules() and self._chance(0.15):
            return f"{self.random.choice((*HELD, *UNHELD, *RULED_LINKS))} {self._mentioning()}"
        texts = ("I like the *last* one.", "日本語", "<b>no</b>\n\n- yes", "x" * 2_000, *(self._mentioning(),) * 3)
        return f"{self.random.choice(texts)} {self.random.randint(1, 999)}"

    def _held_text(self) -> str:
        return f"{self.random.choice(HELD)} {self._mentioning()}"

    def _is_under_rules(self) -> bool:
        """Whether rules concern the viewer, if there are some."""
        return self.viewer is not None and not self.viewer.roles

    def _mentioning(self) -> str:
        """A text that mentions some users, or has names without mentioning them."""
        text = self.random.choice((*MENTIONING, *MENTIONING, *NOT_MENTIONING))
        names = [user.name for user in self.model.users.values()] or ["nobody"]
        chosen = [self.random.choice((*names, *names, "nobody")) for _ in range(text.count("{}"))]
        return text.format(*(self.random.choice((name, name, name.upper())) for name in chosen))

    def _input_editcomment(self) -> dict[str, Any]:
        content = self._held_text() if self._is_under_rules() and self._chance(0.4) else self._content()
        return {"commentId": self._own_comment(), "content": content}

    def _input_deletecomment(self) -> dict[str, Any]:
        return {"commentId": self._own_comment()}

    def _input_voteoncomment(self) -> dict[str, Any]:
        """Mostly an open comment of a thread that is being read."""
        given = self._input_vote()
        del given["articleId"]
        comments = self._being_read() or list(self.model.comments.values())
        if self.random.random() < 0.8:
            comments = [each for each in comments if self.model.is_open(each)]
        if (annulled := self._annulled(self.model.comments.values())) and self._chance(0.4):
            comments = annulled
        return {"commentId": self._comment(comments) if comments else self._commentId(SLOT, {}), **given}

    def _annulled(self, subjects: Iterable[Subject]) -> list[Subject]:
        """What is open and has an annulled vote of the viewer."""
        return [each for each in subjects if self.viewer in each.annulled and self.model.is_open(each)]

    def _being_read(self) -> list[Comment]:
        """The comments of a thread that is being read, mostly."""
        threads = self.known.kinds["thread"]
        if not threads or self._chance(0.3):
            return []
        read: ThreadListing = self.random.choice(list(threads)[-3:])
        return [each for each in self.model.comments.values() if each.article.number == read.article]

    def _own_comment(self) -> Any:
        """One of the viewer's comments, often one below a stub."""
        own = [each for each in self.model.comments.values() if each.poster is self.viewer and self.viewer]
        if not own or self._chance(0.08):
            return self._commentId(SLOT, {})
        below = [each for each in own if each.parent and each.parent.is_stub]
        if below and self.random.random() < 0.6:
            return self._comment(below)
        return self._comment([each for each in self._being_read() if each.poster is self.viewer] or own)

    def _input_editarticle(self) -> dict[str, Any]:
        given: dict[str, Any] = {"articleId": self._own_article()}
        if self.random.random() < 0.5:
            given["title"] = self.random.choice((*TITLES, None, ""))
        if self.random.random() < 0.4:
            given["link"] = self.random.choice((None, "", "https://example.org/edited", *WRONG_LINKS[:1]))
        if self.random.random() < 0.4:
            given["content"] = self.random.choice((None, "edited", "y" * 5_000, self._mentioning(), *UNHELD))
        if self._is_under_rules() and self._chance(0.4):
            given[self.random.choice(("title", "content"))] = self._held_text()
        if self._is_under_rules() and self._chance(0.08):
            given["link"] = self.random.choice(RULED_LINKS)
        return given

    def _input_deletearticle(self) -> dict[str, Any]:
        """Sometimes the viewer's article that has the most comments."""
        answered = Counter(each.article for each in self.model.comments.values() if each.article.poster is self.viewer)
        if answered and self.random.random() < 0.4:
            return {"articleId": self._id(answered.most_common(1)[0][0])}
        return {"articleId": self._own_article()}

    def _input_regrouparticle(self) -> dict[str, Any]:
        given: dict[str, Any] = {"articleId": self._own_article()}
        if self.random.random() < 0.8:
            given["add"] = self._groups()
        if self.random.random() < 0.5:
            given["remove"] = self._groups()
        if self._chance(0.04):
            given["add"] = [f"many-{number}" for number in range(self.random.choice((9, 10, 11)))]
        return given

    def _own_article(self) -> Any:
        own = [each for each in self.model.articles.values() if each.poster is self.viewer]
        if not own or self._chance(0.08):
            return self._articleId(SLOT, {})
        return self._article(own)

    def _input_followuser(self) -> dict[str, Any]:
        return {"userId": self.random.choice(WRONG_IDS) if self._chance() else f"user:{self._username(SLOT, {})}"}

    _input_unfollowuser = _input_followuser

    def _input_followgroup(self) -> dict[str, Any]:
        """Mostly a group that has articles."""
        if self._chance():
            return {"group": self.random.choice((*WRONG_GROUPS, "nobody-knows-it"))}
        known = sorted({name for article in self.model.visible() for name in article.groups})
        return {"group": self.random.choice(known) if known and self._chance(0.9) else self._group(SLOT, {})}

    def _input_unfollowgroup(self) -> dict[str, Any]:
        """Sometimes a group that the viewer follows."""
        followed = sorted(self.viewer.groups) if self.viewer else []
        return {"group": self.random.choice(followed) if followed and self._chance(0.4) else self._group(SLOT, {})}

    def _input_hidearticle(self) -> dict[str, Any]:
        return {"articleId": self._articleId(SLOT, {})}

    def _input_unhidearticle(self) -> dict[str, Any]:
        """Mostly what the viewer hides."""
        hidden = list(self.viewer.hidden) if self.viewer else []
        return {"articleId": self._article(hidden) if hidden else self._articleId(SLOT, {})}

    _input_blockuser = _input_followuser

    def _input_unblockuser(self) -> dict[str, Any]:
        """Mostly whom the viewer blocks."""
        blocked = list(self.viewer.blocked) if self.viewer else []
        return {"userId": f"user:{self.random.choice(blocked).lower}"} if blocked else self._input_followuser()

    def _input_markfeedseen(self) -> dict[str, Any]:
        about = {"parent": "Feed", "field": "articles"}
        found = self._cursor(Slot(name="", type="", kind="", about=about), values={})
        return {"through": found if found is not None else "none"}

    def _input_markinboxseen(self) -> dict[str, Any]:
        """Mostly the newest notification that was shown."""
        slot = Slot(name="", type="", kind="", about={"parent": "Inbox", "field": "notifications"})
        shown = self.known.cursors.get(self._listing(slot.about, values={}))
        if shown and self.random.random() < 0.6:
            cursor, _ = max(shown, key=lambda each: each[1].key)  # pairs of a cursor and its position
            return {"through": cursor}
        found = self._cursor(slot, values={})
        return {"through": found if found is not None else "none"}

    def _input_register(self) -> dict[str, Any]:
        """Mostly a new name; sometimes that of somebody who is here, or was."""
        name = f"user-{len(self.model.users) + len(self.model.departed)}"
        name = self.random.choice((name, name, self._username(SLOT, {}), *sorted(self.model.names_of_before)[:1]))
        return {"username": name, "password": self._password()}

    def _input_editprofile(self) -> dict[str, Any]:
        given = {"displayName": "Ada L.", "about": "*I* post.", "avatarUrl": "https://pictures.example/ada.png"}
        given = {name: self.random.choice((text, text, None)) for name, text in given.items() if self._chance(0.5)}
        if self._chance(0.1):
            given |= {"displayName": self.random.choice(("  ", "x" * 51, "Admin")), "about": "x" * 1_001}
        return given

    def _input_login(self) -> dict[str, Any]:
        password = (self.user.password if self.user and not self._chance(0.2) else "") or "wrong horse 9"
        return {"username": self._username(SLOT, {}), "password": password}

    def _input_changepassword(self) -> dict[str, Any]:
        current = (self.viewer.password if self.viewer and not self._chance(0.2) else "") or "wrong horse 9"
        return {"currentPassword": current, "newPassword": self._password()}

    def _password(self) -> str:
        return "short" if self._chance(0.1) else self.random.choice(PASSWORDS)
