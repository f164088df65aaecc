"""Runs the steps of a history on the server and the model, and compares every answer."""

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from websockets.exceptions import WebSocketException

from tests.soak import moderation, searches, subscribing
from tests.soak.answers import Answer, answer
from tests.soak.comparing import difference, is_between, unanswered
from tests.soak.documents import MODERATION, input_variable
from tests.soak.formulas import Policy
from tests.soak.history import Operation, Ref, Step, resolved
from tests.soak.model import Mirror, Model, is_id, number_of
from tests.soak.pages import Listings, Position
from tests.soak.records import User
from tests.soak.requests import Request
from tests.soak.server import Server
from tests.soak.threads import Threads
from tests.soak.variables import KnownValues

POSTED = {"post": "article", "comment": "comment"}  # what a mutation posts
NEW = POSTED | dict.fromkeys(MODERATION, "action")  # what a mutation makes that has a number
PATIENCE = 60.0  # seconds
FOUND_WITHIN = 20.0  # seconds in which a change is found, on a busy machine: usually well under one
TRANSPORTS = 2  # of the subscriptions of each viewer
MOST_HIDDEN = 9  # actions of one operation
LISTS_FOLLOW = 1.5  # seconds after which the lists of others have followed a ban: a second, and some more
MOST_TEXTS = 300  # of a user
MOST_ROUNDS = 40  # in which the reads of a step are sent while articles leave
REFUSED_FOR_COST = {"COST_LIMIT_EXCEEDED", "ANSWER_TOO_LARGE"}


@dataclass
class Difference(Exception):
    """The first answer of the server that differs from the model's."""

    step: Step
    operation: Operation | None
    what: str
    answered: Any = None

    def __str__(self) -> str:
        return self.what


class HistoryRun:
    """One run of a history on a fresh store."""

    def __init__(self, server: Server, policy: Policy, partitions: int) -> None:
        self.server = server
        self.model = Model(policy, partitions)
        self.listings, self.threads = Listings(self.model), Threads(self.model)
        self.known = KnownValues()  # values of earlier answers, for the variables of later operations
        self.texts: dict[Ref, str] = {}  # the id, token or cursor of this run that each reference stands for
        self.positions: dict[str, Position] = {}  # by cursor
        self.users: dict[str, str] = {}  # usernames in lower case by token, also by tokens of sessions that have ended
        self.refused = 0
        self._leaving: asyncio.Task[list[int] | str] | None = None
        # Numbers of articles or comments whose ids an answer did not show, by number of its operation, kind and poster.
        self._hidden: dict[tuple[int, str, str], list[int]] = {}

    async def step(self, step: Step) -> None:
        """
        Raises:
            Difference: the server does not answer as the model does.
        """
        self.model.now = step.at
        self.server.clock.set(step.at)
        self.threads.forget_replaced()
        try:
            await self._run(step)
        except Difference as found:
            found.step = step  # as a whole, not the part of it that differs
            raise
        self.model.reached.count(f"step {step.kind}")

    async def _run(self, step: Step) -> None:
        match step.kind:
            case "restart" | "kill":
                await self._restart(step)
            case "drop":
                self.server.drop_connections()
            case "expire":
                self.model.end_sessions()
            case "overtaken":
                await self._overtaken(step)
            case "import":
                await self._import(step)
            case "subscribed":
                await self._subscribe(step)
            case "viewers":
                await self._send_one_by_one(step)
            case "admin":
                await self._make_admin(step)
            case "archive":
                await self._archive(step)
            case "searched":
                await self._search_after_write(step)
            case "ban":
                await self._ban(step)
            case "fault":
                await self._fault(step)
            case "healed":
                await self._heal(step)
            case _:
                await self._send_operations(step)

    async def _restart(self, step: Step) -> None:
        await (self.server.stop() if step.kind == "restart" else self.server.kill())
        await self._note_archived()
        self.server.start()
        await self.server.ready()

    async def _send_operations(self, step: Step) -> None:
        """Send operations at the same time: either reads, or writes that are independent of each other."""
        if self.model.mirror is Mirror.UP and any(map(is_search, step.operations)):
            await self._wait_for_mirror(step)
        texts = [operation.text for operation in step.operations]
        same = len(step.operations) - len({(each.text, repr(each.variables), each.token) for each in step.operations})
        self.model.reached.count("equal queries at once", same if len(texts) > 1 else 0)
        if len(step.operations) == 1:
            answers = [await self._ask(step, 0)]
        else:
            answers = await asyncio.gather(*(self._ask(step, index) for index in range(len(step.operations))))
        for operation, answered in zip(step.operations, answers, strict=True):
            await self._note_numbers(operation, answered)
            self._compare(step, operation, answered)

    async def _subscribe(self, step: Step) -> None:
        """Send a write beside subscriptions to an article and its comments, of each viewer over each transport."""
        write, *others = step.operations
        tokens = [resolved(each.token, self.texts) for each in others]
        tokens = [each for each in tokens if each is None or each in self.model.sessions]
        id = resolved(others[0].variables["id"], self.texts) if others else ""
        article = self.model.articles.get(int(id.partition(":")[2] or 0))
        if article is None or not article.is_visible or not write.mutations:
            return
        viewers = [self.model.sessions.get(token) if token else None for token in tokens for _ in range(TRANSPORTS)]
        before = [subscribing.state(self.model, viewer, article) for viewer in viewers]
        try:
            async with subscribing.subscribed(self.server.port, tokens, id) as subscribers:
                await self._send_operations(replace(step, operations=(write,)))
                after = [subscribing.state(self.model, viewer, article) for viewer in viewers]
                wrong = await asyncio.gather(*map(subscribing.wrong, subscribers, before, after))
        except (OSError, TimeoutError, WebSocketException) as error:
            raise Difference(step, write, f"no answer: {error!r}") from error
        for viewer, found in zip(viewers, wrong, strict=True):
            if found:
                raise Difference(step, write, f"to {viewer or 'a stranger'} {found}")
        for states in zip(before, after, strict=True):
            self._count_messages(*states)

    def _count_messages(self, before: subscribing.State, after: subscribing.State) -> None:
        reached = self.model.reached
        is_over = after.article == subscribing.COMPLETE
        reached.count("subscriptions that end for whom may not read", is_over)
        is_told = isinstance(after.article, dict) and after.article["state"] != "VISIBLE"
        reached.count("messages about removed articles", is_told)
        reached.count("messages about articles", after.article != before.article)
        reached.count("messages about comments", after.comments != before.comments)

    async def _send_one_by_one(self, step: Step) -> None:
        """Send the same read for each of several viewers, one after the other."""
        for place, operation in enumerate(step.operations):
            connections = step.connections[place:]
            await self._send_operations(replace(step, operations=(operation,), connections=connections))

    async def _wait_for_mirror(self, step: Step) -> None:
        """Wait until the database has all changes."""
        until = time.monotonic() + PATIENCE
        while (state := await self.server.database_state()) != "up to date":
            if time.monotonic() > until:
                raise Difference(step, None, f"the database stays behind: {state}")
            await asyncio.sleep(0.02)

    async def _search_after_write(self, step: Step) -> None:
        """
        Send a write, and then searches. After a deletion the first answers have to be right; after other writes, one
        within `FOUND_WITHIN` seconds.
        """
        write, *others = step.operations
        await self._wait_for_mirror(step)
        await self._send_operations(replace(step, operations=(write,)))
        is_deletion = any(name.startswith("delete") for _, name in write.mutations)
        for index, operation in enumerate(others, 1):
            answered = await self._ask(step, index)
            if not is_deletion:
                answered = await self._ask_until_right(step, index, answered)
            # A cursor of a user has the karma that the database knew, which may be older than the model's.
            self._compare(step, operation, answered, notes_cursors=False)
        self.model.reached.count("searches right after a deletion", len(others) if is_deletion else 0)

    async def _ask_until_right(self, step: Step, index: int, answered: dict[str, Any]) -> dict[str, Any]:
        """The first answer that is right, or the last one."""
        until, operation = time.monotonic() + FOUND_WITHIN, step.operations[index]
        expected = self._expected(operation, {})
        while difference(expected, answered, any_cursor) and time.monotonic() < until:
            self.model.reached.count("searches before the database has a change")
            await asyncio.sleep(0.02)
            answered = await self._ask(step, index)
        return answered

    async def _fault(self, step: Step) -> None:
        """Begin a fault of the database, once it has all changes; a killed worker is restarted by itself."""
        await self._note_archived()
        await self._wait_for_mirror(step)
        self.model.reached.count(f"fault {step.fault}")
        if step.fault == "worker killed":
            await self.server.kill_worker(step.at)
            return
        self.model.indexed = searches.snapshot(self.model)
        await asyncio.to_thread(self.server.database.begin, step.fault)
        self.model.mirror = Mirror.BEHIND if step.fault == "locked" else Mirror.AWAY

    async def _heal(self, step: Step) -> None:
        await asyncio.to_thread(self.server.database.heal)
        self.model.mirror = Mirror.UP
        await self._wait_for_mirror(step)

    async def _import(self, step: Step) -> None:
        stories = [each for each in step.stories if each.poster.lower() in self.model.users]  # all, if not shorter
        await self.server.import_stories(stories)
        numbers = await self._numbers_by_title()
        for story in stories:
            article = self.model.add_imported(numbers[story.title], story)
            self._note_new(Ref(0, (story.title,)), "article", article.number)

    async def _ban(self, step: Step) -> None:
        """Send a ban that removes texts, or the revert of one, and find the actions that it has made."""
        await self._note_archived()
        await self._wait_for_mirror(step)
        (operation,) = step.operations
        answered = await self._ask(step, 0)
        self.model.texts_of_ban = await self._texts_of_ban(operation, answered["data"]["m0"])
        for place, number in enumerate(sorted(self.model.texts_of_ban.values())):
            self._note_new(Ref(operation.number, ("texts", place)), "action", number)
        self._compare(step, operation, answered)
        articles = [self.model.articles[number_of(id)] for id in self.model.texts_of_ban if is_id("article", id)]
        if any(each.notified or self.threads.replies(each) for each in articles):
            await asyncio.sleep(LISTS_FOLLOW)

    async def _texts_of_ban(self, operation: Operation, payload: dict[str, Any]) -> dict[str, int]:
        """The numbers of the actions that a ban or its revert has made about texts, by the ids of these."""
        text = """query($after: String) { moderationLog(first: 100, after: $after) {
            nodes { id subjectId ban { id } reverts { ban { id } } } pageInfo { endCursor } } }"""
        (name,) = (name for _, name in operation.mutations)
        ban = payload["action"]["id"] if payload["changed"] else None
        if name == "revertModeration" and ban is not None:
            ban = resolved(operation.variables, self.texts)["i_m0"]["actionId"]
        found: dict[str, int] = {}
        after = None
        for _ in range(MOST_TEXTS // 100):
            page = (await self.server.connections[0].ask(text, {"after": after}, None))["data"]["moderationLog"]
            for node in page["nodes"]:
                made_by = node["ban"] if name == "banUser" else (node["reverts"] or {}).get("ban")
                number = number_of(node["id"], "action")
                if ban is not None and made_by == {"id": ban} and number not in self.model.numbers:
                    found[node["subjectId"]] = number
            after = page["pageInfo"]["endCursor"]
        return found

    async def _make_admin(self, step: Step) -> None:
        """Give a user the role of an admin by a command of the shell."""
        if step.admin not in self.model.users:  # a shorter history has no such user
            return
        await self.server.grant_admin(step.admin)
        (number,) = await self._action_numbers(1)
        moderation.grant_at_shell(self.model, step.admin, number)
        self._note_new(Ref(0, (step.admin,)), "action", number)

    async def _action_numbers(self, count: int) -> list[int]:
        """The numbers of the newest actions, the oldest first."""
        text = "query($count: Int) { moderationLog(first: $count) { nodes { id } } }"
        nodes = (await self.server.connections[0].ask(text, {"count": count}, None))["data"]["moderationLog"]["nodes"]
        return sorted(number_of(each["id"], "action") for each in nodes)

    async def _numbers_by_title(self) -> dict[str, int]:
        text = """query($after: String) { articles(order: TIME, first: 100, after: $after) {
            nodes { id title } pageInfo { hasNextPage endCursor } } }"""
        numbers: dict[str, int] = {}
        after, has_next = None, True
        while has_next:
            page = (await self.server.connections[0].ask(text, {"after": after}, None))["data"]["articles"]
            numbers |= {node["title"]: number_of(node["id"]) for node in page["nodes"]}
            after, has_next = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        return numbers

    async def _archive(self, step: Step) -> None:
        """Send the reads of a step until no more articles leave: what is answered does not change."""
        assert step.stay
        await self._note_archived()
        self._leaving = asyncio.create_task(self.server.archive(step.stay))
        for _ in range(MOST_ROUNDS if step.operations else 0):
            is_over = self._leaving.done()
            await self._send_operations(step)
            self.model.reached.count("reads while articles leave", 0 if is_over else len(step.operations))
            if is_over:
                await self._note_archived()
                break

    async def _note_archived(self) -> None:
        """Wait until the articles that are leaving have left."""
        if self._leaving is None:
            return
        archived_or_reason, self._leaving = await self._leaving, None
        if isinstance(archived_or_reason, str):
            self.model.reached.count(f"articles could not leave: {archived_or_reason[:100]}")
        else:
            archived = set(archived_or_reason)
            self.model.reached.count("articles that have left", len(archived - self.model.archived))
            returned = self.model.archived - archived
            self.model.reached.count("articles that came back", len(returned & self.model.articles.keys()))
            self.model.archived = archived

    async def _overtaken(self, step: Step) -> None:
        """
        Send reads, and a write before they are answered; once it is answered, send the same reads again.

        The first reads may see the state before or after the write, the second have to see that after it.
        """
        *reads, write = step.operations
        early = [asyncio.create_task(self._ask(step, index)) for index in range(len(reads))]
        await asyncio.sleep(0)
        written = await self._ask(step, len(reads))
        late = [
            asyncio.create_task(self._ask(step, index, skipped_connections=len(reads) + 1))
            for index in range(len(reads))
        ]
        answers, again = await asyncio.gather(*early), await asyncio.gather(*late)
        await self._note_numbers(write, written)
        before = [self._expected(each, {}) for each in reads]
        self._compare(step, write, written)
        for operation, old, first, second in zip(reads, before, answers, again, strict=True):
            self._compare(step, operation, second)
            self._compare_either(step, operation, old, first)

    async def _note_numbers(self, operation: Operation, answered: dict[str, Any]) -> None:
        """Find the numbers of articles, comments and actions whose payload became null because of an error."""
        data = answered.get("data") or {}
        if answered.get("errors") and any(
            name in MODERATION and not (data.get(key) or {}).get("action") for key, name in operation.mutations
        ):
            self._hidden[operation.number, "action", ""] = await self._action_numbers(MOST_HIDDEN)
        kinds = {
            POSTED[name] for key, name in operation.mutations
            if name in POSTED and not (data.get(key) or {}).get(POSTED[name])
        }  # fmt: skip
        if not kinds or not answered.get("errors"):
            return
        variables = resolved(operation.variables, self.texts)
        posters = {self.users.get(resolved(operation.token, self.texts) or "")} | {
            variables[input_variable(key)]["username"].lower()
            for key, name in operation.mutations
            if name in ("register", "logIn")  # what follows is done by this user
        }
        fields = "articles(first: 9) { nodes { id } } comments(first: 9) { nodes { id } }"
        text = f"query($name: String!) {{ user(username: $name) {{ {fields} }} }}"
        for poster in filter(None, posters):
            user = (await self.server.connections[0].ask(text, {"name": poster}, None))["data"]["user"]
            for kind in kinds if user else ():
                nodes = user[f"{kind}s"]["nodes"]
                numbers = sorted(number_of(each["id"], kind) for each in nodes)
                self._hidden[operation.number, kind, poster] = numbers

    def _compare_either(self, step: Step, operation: Operation, before: Answer, answered: dict[str, Any]) -> None:
        after = self._expected(operation, {})
        codes = {code for _, code in (*before.errors, *after.errors)}
        for error in answered.get("errors", ()):
            if error["extensions"]["code"] not in codes and not self._is_refused_for_cost(answered):
                raise Difference(step, operation, f"neither before nor after has this error: {error}", answered)
        if answered.get("data") and not answered.get("errors") and not codes:
            for key in answered["data"]:
                if not is_between(answered["data"][key], before.data[key], after.data[key]):
                    raise Difference(step, operation, f"{key} is neither as before nor as after a write", answered)

    async def _ask(self, step: Step, index: int, skipped_connections: int = 0) -> dict[str, Any]:
        """The answer to an operation of a step, on the connection of the step that has its index or follows it."""
        operation = step.operations[index]
        connection = self.server.connections[step.connections[index + skipped_connections]]
        variables = resolved(operation.variables, self.texts)
        try:
            return await connection.ask(operation.text, variables, resolved(operation.token, self.texts))
        except (OSError, TimeoutError) as error:
            raise Difference(step, operation, f"no answer: {error!r}") from error

    def _compare(
        self, step: Step, operation: Operation, answered: dict[str, Any], *, notes_cursors: bool = True
    ) -> None:
        self.model.reached.count("operations")
        if self._is_refused_for_cost(answered):
            self.refused += 1
            return
        if self.model.mirror is Mirror.AWAY and not operation.mutations and _codes(answered) == {"TIMEOUT"}:
            self.model.reached.count("reads that wait too long for a paused database")
            return
        self._note_expired_pins(answered)
        hints = self._hints(operation, answered.get("data") or {})
        unavailable = unanswered(answered) if self.model.mirror is Mirror.AWAY else frozenset()
        self.model.reached.count("answers without the database", self.model.mirror is Mirror.AWAY and not unavailable)
        self.model.reached.count("fields that are unavailable", len(unavailable))
        try:
            expected = self._expected(operation, hints, {path[0] for path in unavailable if len(path) == 1})
        except AssertionError as error:
            raise Difference(step, operation, f"the model does not accept the answer: {error}", answered) from error
        check_cursor = partial(self._note_cursor, operation) if notes_cursors else any_cursor
        wrong = difference(expected, answered, check_cursor, unavailable)
        if wrong:
            raise Difference(step, operation, wrong, answered)
        self.model.reached.count("ended sessions reported", expected.session_ended is True)

    def _note_expired_pins(self, answered: dict[str, Any]) -> None:
        for pin in answered.get("extensions", {}).get("expiredPins", ()):
            kind, *named = pin.split(":")
            if kind == "thread":
                self.threads.forget_expired(int(named[0]), named[1].upper())

    def _is_refused_for_cost(self, answered: dict[str, Any]) -> bool:
        return "data" not in answered and _codes(answered) <= REFUSED_FOR_COST

    def _expected(self, operation: Operation, hints: dict[str, Any], undone: Collection[Any] = ()) -> Answer:
        """`undone` are the mutations that were not done, by response name."""
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
            undone=frozenset(undone),
        )
        return answer(request, operation.text)

    def _hints(self, operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
        """The numbers and tokens that the server has assigned."""
        hints: dict[str, Any] = {}
        for key, name in operation.mutations:
            payload = data.get(key) or {}
            if name in NEW:
                ref = Ref(operation.number, (key, NEW[name], "id"))
                hints[key] = self._numbered(operation, ref, payload.get(NEW[name]))
            elif name in ("register", "logIn") and payload.get("token"):
                hints[key] = payload["token"]
                self._note_session(operation, key, payload["token"])
            elif name == "deleteArticle":
                self._note_deleted(resolved(operation.variables, self.texts)[input_variable(key)]["articleId"])
        return hints

    def _numbered(self, operation: Operation, ref: Ref, shown: dict[str, Any] | None) -> Callable[[User], int]:
        """Gives the number of what is new, an article, a comment or an action, which is `shown` or hidden."""
        if shown is None:
            return partial(self._take_hidden, operation, ref)
        kind, _, number = shown["id"].partition(":")
        self._note_new(ref, kind, int(number))
        return lambda poster: int(number)

    def _take_hidden(self, operation: Operation, ref: Ref, actor: User) -> int:
        """
        The number of the next article, comment or action that an operation made without showing its id.

        The model calls it only if it accepts the mutation: what it refuses has no number.
        """
        kind = str(ref.path[1])
        posted = self._hidden.get((operation.number, kind, "" if kind == "action" else actor.lower), ())
        numbers = [number for number in posted if number not in self.model.numbers]
        assert numbers, f"the server did not make this {kind}"
        self._note_new(ref, kind, numbers[0])
        return numbers[0]

    def _note_new(self, ref: Ref, kind: str, number: int) -> None:
        known = {"article": self.known.articles, "comment": self.known.comments, "action": self.known.actions}
        known[kind].setdefault(number, ref)
        self.texts[ref] = f"{kind}:{number}"

    def _note_deleted(self, id: str) -> None:
        number = id.partition(":")[2]
        if number.isdecimal() and int(number) in self.known.articles:
            self.known.deleted.append(self.known.articles[int(number)])

    def _note_session(self, operation: Operation, key: str, token: str) -> None:
        ref = Ref(operation.number, (key, "token"))
        self.texts[ref] = token
        given = resolved(operation.variables, self.texts)[input_variable(key)]
        self.users[token] = given["username"].lower()
        self.known.sessions[given["username"].lower()].append((token, ref))

    def _note_cursor(
        self, operation: Operation, path: tuple[str | int, ...], text: str, position: Position
    ) -> str | None:
        """Note the position of a cursor at a path of an answer. Returns what is wrong if it had another position."""
        earlier = self.positions.setdefault(text, position)
        if earlier != position:
            return f"the cursor stands for {earlier} too, and not for {position} alone"
        ref = Ref(operation.number, path)
        self.texts[ref] = text
        self.known.add_cursor(ref, position)
        return None


def _codes(answered: dict[str, Any]) -> set[str | None]:
    return {error.get("extensions", {}).get("code") for error in answered.get("errors", [{}])}


def is_search(operation: Operation) -> bool:
    """Whether what an operation answers comes from the database, which follows the store."""
    return "search(" in operation.text


def any_cursor(path: tuple[str | int, ...], text: str, position: Position) -> str | None:
    """In place of `HistoryRun._note_cursor`, where any cursor is right."""
    return None
