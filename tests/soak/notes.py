"""
What the answers of a server tell in one run of a random history: the ids, tokens and cursors that it has assigned. The
model of the server, with which it is compared, takes them over. An action is what a moderator has done to an article, a
comment or a user.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.soak.documents import ACTING, input_variable
from tests.soak.history import Operation, Ref, resolved
from tests.soak.input_checks import number_of
from tests.soak.model import Model
from tests.soak.pages import Position
from tests.soak.records import User
from tests.soak.server import Server
from tests.soak.variables import KnownValues

POSTED = {"post": "article", "comment": "comment"}  # what a mutation posts, by its name
NEW = POSTED | dict.fromkeys(ACTING, "action")  # what a mutation makes that has a number, by its name
OPENING = ("register", "logIn", "logInWithToken", "resetPassword")  # mutations that open a session
MOST_HIDDEN = 9  # actions of one operation whose ids its answer may lack because of an error


class Notes:
    """What one run has learned."""

    def __init__(self, server: Server, model: Model) -> None:
        self._server, self._model = server, model
        self.known = KnownValues()  # values of earlier answers, for the variables of later operations
        self.texts: dict[Ref, str] = {}  # the id, token or cursor of this run that each reference stands for
        self.positions: dict[str, Position] = {}  # by cursor
        self.users: dict[str, str] = {}  # usernames in lower case by token, also by tokens of sessions that have ended
        # Numbers of articles, comments and actions whose ids an answer did not show, by number of its operation, kind,
        # and poster, which is "" for actions.
        self._hidden: dict[tuple[int, str, str], list[int]] = {}

    async def note_numbers(self, operation: Operation, answered: dict[str, Any]) -> None:
        """Find the numbers of articles, comments and actions whose payload became null because of an error."""
        data = answered.get("data") or {}
        if answered.get("errors") and any(
            name in ACTING and not (data.get(key) or {}).get("action") for key, name in operation.mutations
        ):
            self._hidden[operation.number, "action", ""] = await self.action_numbers(MOST_HIDDEN)
        kinds = {
            POSTED[name] for key, name in operation.mutations
            if name in POSTED and not (data.get(key) or {}).get(POSTED[name])
        }  # fmt: skip
        if not kinds or not answered.get("errors"):
            return
        fields = "articles(first: 9) { nodes { id } } comments(first: 9) { nodes { id } }"
        text = f"query($name: String!) {{ user(username: $name) {{ {fields} }} held {{ nodes {{ id }} }} }}"
        for poster, token in self._posters(operation, data):
            shown = (await self._server.connections[0].ask(text, {"name": poster}, token))["data"]
            held = shown["held"]["nodes"] if shown["held"] else []
            for kind in kinds if shown["user"] else ():
                ids = {each["id"] for each in (*shown["user"][f"{kind}s"]["nodes"], *held)}
                numbers = sorted(number_of(id, kind) for id in ids if id.startswith(f"{kind}:"))
                self._hidden[operation.number, kind, poster] = numbers

    def _posters(self, operation: Operation, data: dict[str, Any]) -> list[tuple[str, str | None]]:
        """Who may have posted in an operation, in lower case, each with a token where it is known."""
        token = resolved(operation.token, self.texts)
        variables = resolved(operation.variables, self.texts)
        actor = self.users.get(token or "")
        opened = [
            (self._opener(variables[input_variable(key)]), (data.get(key) or {}).get("token"))
            for key, name in operation.mutations
            if name in OPENING  # what follows is done by this user
        ]
        return [(actor, token), *opened] if actor else opened

    async def new_action(self, subject: str) -> int:
        """The number of the one action about a subject that the model does not know yet."""
        (number,) = await self.new_actions(subject)
        return number

    async def new_actions(self, subject: str) -> list[int]:
        """The numbers of the actions about a subject that the model does not know yet, the oldest first."""
        text = "query($id: ID) { moderationLog(subjectId: $id, first: 100) { nodes { id } } }"
        answered = await self._server.connections[0].ask(text, {"id": subject}, token=None)
        numbers = [number_of(each["id"], "action") for each in answered["data"]["moderationLog"]["nodes"]]
        return sorted(each for each in numbers if each not in self._model.numbers)

    async def action_numbers(self, count: int) -> list[int]:
        """The numbers of the newest actions, the oldest first."""
        text = "query($count: Int) { moderationLog(first: $count) { nodes { id } } }"
        answered = await self._server.connections[0].ask(text, {"count": count}, token=None)
        return sorted(number_of(each["id"], "action") for each in answered["data"]["moderationLog"]["nodes"])

    def hints(self, operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
        """The numbers and tokens that the server has assigned, by the response name of the mutation."""
        hints: dict[str, Any] = {}
        for key, name in operation.mutations:
            payload = data.get(key) or {}
            if name in NEW:
                ref = Ref(operation.number, (key, NEW[name], "id"))
                hints[key] = self._numbered(operation, ref, payload.get(NEW[name]))
            elif name in OPENING and payload.get("token"):
                hints[key] = payload["token"]
                self._note_session(operation, key, payload)
            elif name == "createInvitation":
                hints[key] = payload.get("invitation")
            elif name == "deleteUser":
                hints[key] = self._note_pseudonym(Ref(operation.number, (key, "deletedUserId")), payload)
            elif name == "deleteArticle":
                self._note_deleted(resolved(operation.variables, self.texts)[input_variable(key)]["articleId"])
        return hints

    def _numbered(self, operation: Operation, ref: Ref, shown: dict[str, Any] | None) -> Callable[[User], int]:
        """A function that gives the number of a new article, comment or action, whose id may not have been shown."""
        if shown is None:
            return partial(self._take_hidden, operation, ref)
        kind, _, number = shown["id"].partition(":")
        self.note_new(ref, kind, int(number))
        return lambda poster: int(number)

    def _take_hidden(self, operation: Operation, ref: Ref, actor: User) -> int:
        """
        The number of the next article, comment or action that an operation made without showing its id.

        The model asks for it only if it accepts the mutation: what it refuses has no number.
        """
        kind = str(ref.path[1])  # the path is that of the id in the answer: ("m0", "article", "id")
        posted = self._hidden.get((operation.number, kind, "" if kind == "action" else actor.lower), ())
        numbers = [number for number in posted if number not in self._model.numbers]
        assert numbers, f"the server did not make this {kind}"
        self.note_new(ref, kind, numbers[0])
        return numbers[0]

    def note_new(self, ref: Ref, kind: str, number: int) -> None:
        known = {"article": self.known.articles, "comment": self.known.comments, "action": self.known.actions}
        known[kind].setdefault(number, ref)
        self.texts[ref] = f"{kind}:{number}"

    def _note_pseudonym(self, ref: Ref, payload: dict[str, Any]) -> str | None:
        """The pseudonym of a user who has left; None if that was refused."""
        if payload.get("deletedUserId") is None:
            return None
        self.texts[ref] = payload["deletedUserId"]
        pseudonym: str = payload["deletedUserId"].removeprefix("user:")
        self.known.departed[pseudonym] = ref
        return pseudonym

    def _note_deleted(self, id: str) -> None:
        number = id.partition(":")[2]
        if number.isdecimal() and int(number) in self.known.articles:
            self.known.deleted.append(self.known.articles[int(number)])

    def _note_session(self, operation: Operation, key: str, payload: dict[str, Any]) -> None:
        ref, token = Ref(operation.number, (key, "token")), payload["token"]
        self.texts[ref] = token
        given = resolved(operation.variables, self.texts)[input_variable(key)]
        is_by_token = (key, "logInWithToken") in operation.mutations
        name = payload["user"]["username"].lower() if is_by_token else self._opener(given)
        self.users[token] = name
        self.known.sessions[name].append((token, ref))

    def _opener(self, given: dict[str, Any]) -> str:
        """The name of the user whose session a mutation opens, in lower case; "" of a link that nobody has."""
        if "username" in given:
            return str(given["username"]).lower()
        link = self._model.password_links.get(given["token"])
        return link.user.lower if link else ""

    def _may_share_cursor(self, one: Position, other: Position) -> bool:
        """
        Whether two positions may have the same cursor: they are one place of a thread that is, or was, in the database
        instead of Redis. There, cursors do not say how many votes and comments there were, and a pinned walk goes on
        without its pin once the thread is in Redis again.
        """
        if one.listing != other.listing or one.article_of_thread is None:
            return False
        has_left_redis = self._model.is_leaving or one.article_of_thread in self._model.have_left
        return has_left_redis and one.key.levels == other.key.levels

    def note_cursor(
        self, operation: Operation, path: tuple[str | int, ...], text: str, position: Position
    ) -> str | None:
        """Note the position of a cursor at a path of an answer. Returns what is wrong if it had another position."""
        earlier = self.positions.setdefault(text, position)
        if earlier != position and not self._may_share_cursor(earlier, position):
            return f"the cursor stands for {earlier} too, and not for {position} alone"
        ref = Ref(operation.number, path)
        self.texts[ref] = text
        self.known.add_cursor(ref, position)
        return None
