"""Runs the steps of a history on the server and the model, and compares every answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.soak.answers import Answer, answer
from tests.soak.comparing import difference, is_between
from tests.soak.formulas import Policy
from tests.soak.history import Operation, Ref, Step, resolved
from tests.soak.model import Model, number_of
from tests.soak.pages import Listings, Position
from tests.soak.records import User
from tests.soak.requests import Request
from tests.soak.server import Server
from tests.soak.threads import Threads
from tests.soak.variables import KnownValues

SMALL = 3_000  # characters of an answer that is shown
POSTED = {"post": "article", "comment": "comment"}  # what a mutation posts
TOO_MUCH = {"COST_LIMIT_EXCEEDED", "ANSWER_TOO_LARGE"}


@dataclass
class Difference(Exception):
    """The first answer of the server that differs from the model's."""

    step: Step
    operation: Operation | None
    what: str
    answered: Any = None

    def __str__(self) -> str:
        return self.what


class Run:
    """One run of a history on a fresh store."""

    def __init__(self, server: Server, policy: Policy, partitions: int) -> None:
        self.server = server
        self.model = Model(policy, partitions)
        self.listings, self.threads = Listings(self.model), Threads(self.model)
        self.known = KnownValues()
        self.texts: dict[Ref, str] = {}
        self.positions: dict[str, Position] = {}
        self.users: dict[str, str] = {}  # by token, ended or not
        self.refused = 0
        # By operation, kind and user, articles or comments that it posted without showing their ids.
        self._hidden: dict[tuple[int, str, str], list[int]] = {}

    async def step(self, step: Step) -> None:
        """
        Raises:
            Difference: the server does not answer as the model does.
        """
        self.model.now = step.at
        self.server.clock.set(step.at)
        match step.kind:
            case "restart":
                await self.server.stop()
                self.server.start()
                await self.server.ready()
            case "kill":
                await self.server.kill()
                self.server.start()
                await self.server.ready()
            case "drop":
                self.server.drop_connections()
            case "expire":
                self.model.end_sessions()
            case "overtaken":
                await self._overtaken(step)
            case _:
                await self._together(step)
        self.model.reached.count(f"step {step.kind}")

    async def _together(self, step: Step) -> None:
        """Operations at once: either reads, or writes that are independent of each other."""
        texts = [operation.text for operation in step.operations]
        same = len(step.operations) - len({(each.text, repr(each.variables), each.token) for each in step.operations})
        self.model.reached.count("equal queries at once", same if len(texts) > 1 else 0)
        if len(step.operations) == 1:
            answers = [await self._ask(step, 0)]
        else:
            answers = await asyncio.gather(*(self._ask(step, place) for place in range(len(step.operations))))
        for operation, answered in zip(step.operations, answers, strict=True):
            await self._note_numbers(operation, answered)
            self._compare(step, operation, answered)

    async def _overtaken(self, step: Step) -> None:
        """
        Send reads, and a write before they are answered; once it is answered, send the same reads again.

        The first reads may see the state before or after the write, the second have to see that after it.
        """
        *reads, write = step.operations
        early = [asyncio.create_task(self._ask(step, place)) for place in range(len(reads))]
        await asyncio.sleep(0)
        written = await self._ask(step, len(reads))
        late = [asyncio.create_task(self._ask(step, place, len(reads) + 1)) for place in range(len(reads))]
        answers, again = await asyncio.gather(*early), await asyncio.gather(*late)
        await self._note_numbers(write, written)
        before = [self._expected(each, {}) for each in reads]
        self._compare(step, write, written)
        for operation, old, first, second in zip(reads, before, answers, again, strict=True):
            self._compare(step, operation, second)
            self._compare_either(step, operation, old, first)

    async def _note_numbers(self, operation: Operation, answered: dict[str, Any]) -> None:
        """Find the numbers of articles and comments whose payload became null because of an error."""
        data = answered.get("data") or {}
        kinds = {
            POSTED[name] for key, name in operation.mutations
            if name in POSTED and not (data.get(key) or {}).get(POSTED[name])
        }  # fmt: skip
        if not kinds or not answered.get("errors"):
            return
        variables = resolved(operation.variables, self.texts)
        posters = {self.users.get(resolved(operation.token, self.texts) or "")} | {
            variables[f"i_{key}"]["username"].lower()
            for key, name in operation.mutations
            if name in ("register", "logIn")  # what follows is done by this user
        }
        fields = "articles(first: 9) { nodes { id } } comments(first: 9) { nodes { id } }"
        text = f"query($name: String!) {{ user(username: $name) {{ {fields} }} }}"
        for poster in filter(None, posters):
            found = await self.server.connections[0].ask(text, {"name": poster}, None)
            for kind in kinds if found["data"]["user"] else ():
                nodes = found["data"]["user"][f"{kind}s"]["nodes"]
                numbers = sorted(number_of(each["id"], kind) for each in nodes)
                self._hidden[operation.number, kind, poster] = numbers

    def _compare_either(self, step: Step, operation: Operation, before: Answer, answered: dict[str, Any]) -> None:
        after = self._expected(operation, {})
        codes = {code for _, code in (*before.errors, *after.errors)}
        for error in answered.get("errors", ()):
            if error["extensions"]["code"] not in codes and not self._is_too_much(answered):
                raise Difference(step, operation, f"neither before nor after has this error: {error}", answered)
        if answered.get("data") and not answered.get("errors") and not codes:
            for key in answered["data"]:
                if not is_between(answered["data"][key], before.data[key], after.data[key]):
                    raise Difference(step, operation, f"{key} is neither as before nor as after a write", answered)

    async def _ask(self, step: Step, place: int, shift: int = 0) -> dict[str, Any]:
        operation = step.operations[place]
        connections = self.server.connections
        connection = connections[step.connections[place + shift]]
        variables = resolved(operation.variables, self.texts)
        try:
            return await connection.ask(operation.text, variables, resolved(operation.token, self.texts))
        except (OSError, TimeoutError) as error:
            raise Difference(step, operation, f"no answer: {error!r}") from error

    def _compare(self, step: Step, operation: Operation, answered: dict[str, Any]) -> None:
        self.model.reached.count("operations")
        if self._is_too_much(answered):
            self.refused += 1
            return
        hints = self._hints(operation, answered.get("data") or {})
        try:
            expected = self._expected(operation, hints)
        except AssertionError as error:
            raise Difference(step, operation, f"the model does not accept the answer: {error}", answered) from error
        wrong = difference(expected, answered, lambda *found: self._found(operation, *found))
        if wrong:
            raise Difference(step, operation, wrong, answered)
        self.model.reached.count("ended sessions reported", expected.session_ended is True)

    def _is_too_much(self, answered: dict[str, Any]) -> bool:
        return "data" not in answered and all(
            error.get("extensions", {}).get("code") in TOO_MUCH for error in answered.get("errors", [{}])
        )

    def _expected(self, operation: Operation, hints: dict[str, Any]) -> Answer:
        token = resolved(operation.token, self.texts)
        variables = resolved(operation.variables, self.texts)
        request = Request(
            self.model,
            self.listings,
            self.threads,
            token if token in self.users else None,
            variables,
            lambda text: self.positions.get(text, text),
            hints,
            is_junk=token is not None and token not in self.users,
        )
        return answer(request, operation.text)

    def _hints(self, operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
        """The numbers and tokens that the server has assigned."""
        hints: dict[str, Any] = {}
        for key, name in operation.mutations:
            payload = data.get(key) or {}
            if name in POSTED:
                ref = Ref(operation.number, (key, POSTED[name], "id"))
                hints[key] = self._posted(operation, ref, payload.get(POSTED[name]))
            elif name in ("register", "logIn") and payload.get("token"):
                hints[key] = payload["token"]
                self._note_session(operation, key, payload["token"])
            elif name == "deleteArticle":
                self._note_deleted(resolved(operation.variables, self.texts)[f"i_{key}"]["articleId"])
        return hints

    def _posted(self, operation: Operation, ref: Ref, shown: dict[str, Any] | None) -> Callable[[User], int]:
        """Gives the number of a new article or comment, which is `shown` or hidden."""
        if shown is None:
            return partial(self._take_hidden, operation, ref)
        kind, _, number = shown["id"].partition(":")
        self._note_posted(ref, kind, int(number))
        return lambda poster: int(number)

    def _take_hidden(self, operation: Operation, ref: Ref, poster: User) -> int:
        """The number of the next one that an operation posted without showing its id. The model refuses some."""
        kind = str(ref.path[1])
        posted = self._hidden.get((operation.number, kind, poster.lower), ())
        numbers = [number for number in posted if number not in self.model.numbers]
        assert numbers, f"the server did not post this {kind}"
        self._note_posted(ref, kind, numbers[0])
        return numbers[0]

    def _note_posted(self, ref: Ref, kind: str, number: int) -> None:
        (self.known.articles if kind == "article" else self.known.comments).setdefault(number, ref)
        self.texts[ref] = f"{kind}:{number}"

    def _note_deleted(self, id: str) -> None:
        number = id.partition(":")[2]
        if number.isdecimal() and int(number) in self.known.articles:
            self.known.deleted.append(self.known.articles[int(number)])

    def _note_session(self, operation: Operation, key: str, token: str) -> None:
        ref = Ref(operation.number, (key, "token"))
        self.texts[ref] = token
        given = resolved(operation.variables, self.texts)[f"i_{key}"]
        self.users[token] = given["username"].lower()
        self.known.sessions[given["username"].lower()].append((token, ref))

    def _found(self, operation: Operation, path: tuple[str | int, ...], text: str, position: Position) -> str | None:
        known = self.positions.setdefault(text, position)
        if known != position:
            return f"the cursor stands for {known} too, and not for {position} alone"
        ref = Ref(operation.number, path)
        self.texts[ref] = text
        self.known.add_cursor(ref, position)
        return None
