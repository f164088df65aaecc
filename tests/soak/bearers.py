"""
Steps of a random history with operations, WebSockets and streams that are authorized by the token of an issuer, an
identity provider, instead of a session, as docs/issuers.md describes them. They end with the token, unless a ping on a
WebSocket brings a newer one.
"""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from websockets.exceptions import ConnectionClosed

from tests.soak import announcing, issuers, subscribing
from tests.soak.documents import Document, DocumentGenerator
from tests.soak.history import Step
from tests.soak.model import Model
from tests.soak.records import User
from tests.soak.running import Difference, HistoryRun
from tests.soak.subscribing import OverEvents, OverWebSocket

# root fields and mutations that are sent with such tokens
READS = ("viewer", "session", "articles", "article", "comment", "home", "feed", "inbox", "nodes", "user", "held")
WRITES = (
    "post", "comment", "vote", "voteOnComment", "followUser", "followGroup", "save", "hideArticle", "flag",
    "editArticle", "editComment", "editProfile", "markInboxSeen",
)  # fmt: skip
ENDS_AFTER = 3.0  # seconds after which a token ends: enough to open sockets before, also on a busy machine
FORBIDDEN = 4403  # the close code of a WebSocket whose token has ended
VIEWER = "{ viewer { username } }"
POSTED = {"articlePosted": announcing.SUBSCRIPTIONS["articlePosted"]}


class Ending(NamedTuple):
    """A user, a token of theirs that ends soon, a newer one, and one of another user, if there is one."""

    user: User
    tokens: tuple[str, ...]


def document(generator: DocumentGenerator, user: User | None) -> Document:
    """
    A read or a write; for a user who does not exist yet only the field `viewer`, as the request itself creates the
    user.
    """
    random = generator.random
    if user is None:
        return generator.query(["viewer"])
    if random.random() < 0.5:
        return generator.plain_mutation(random.choice(WRITES))
    return generator.query(random.choices(READS, k=random.choice((1, 1, 2))))


def ending(random: Random, model: Model) -> Ending | None:
    """
    Tokens for sockets that end. They lack the time when they were issued, so that they change no profile.
    """
    present = [
        (subject, each.user)
        for subject, each in model.identities.items()
        if not each.user.has_left and model.ban_of(each.user, group=None) is None
    ]
    chosen = random.sample(present, min(len(present), 2))
    if not chosen:
        return None
    now, (first, user) = model.now / 1000, chosen[0]
    lives = [ENDS_AFTER, issuers.HOUR, issuers.HOUR]  # seconds
    subjects = [first, *(subject for subject, _ in chosen)]
    claims: dict[str, Any] = {"name": "any", "iat": None}
    tokens = [
        issuers.TOKENS.token(subject, **claims, exp=now + life) for subject, life in zip(subjects, lives, strict=False)
    ]
    return Ending(user, tuple(tokens))


async def ask(run: HistoryRun, step: Step) -> None:
    """Send an operation by a token. One that is seen for the first time makes a user; it may also give roles."""
    (operation,) = step.operations
    text = str(operation.token)
    model, fault = run.model, issuers.fault(run.model, text)
    answered = await run.ask(step, index=0)
    if fault not in (None, issuers.EXPIRED):
        model.reached.count("tokens that are refused with the reason")
        _require_refused(step, answered, str(fault))
        return
    known = issuers.user_of(model, text)
    model.reached.count("tokens that have ended since", fault == issuers.EXPIRED)
    model.reached.count("tokens that make a user themselves", fault is None and known is None)
    if fault == issuers.EXPIRED:  # the server refuses it without reading from the store
        run.compare(step, operation, answered)
        return
    name = known.name if known else await _named(run, step, text)
    numbers = await run.notes.new_actions(f"user:{name.lower()}")
    for index, number in enumerate(numbers):
        run.notes.note_new(issuers.role_ref(operation.number, index), "action", number)
    with _acting(run, text, issuers.accept(model, text, numbers)):
        await run.notes.note_numbers(operation, answered)
        run.compare(step, operation, answered)
        model.reached.count("writes by tokens", bool(operation.mutations))


async def end(run: HistoryRun, step: Step) -> None:
    """
    Open WebSockets and a stream by a token that ends soon. One WebSocket gets a newer token: it stays open, and hears
    of a write after the end. All others are closed.
    """
    (operation,) = step.operations
    ends, newer, *others = step.tokens
    user, shown = issuers.user_of(run.model, ends), next(iter(run.model.visible()), None)
    if user is None or run.model.ban_of(user, group=None):  # a step before was left out, for a shorter history
        return
    try:
        async with AsyncExitStack() as stack, asyncio.timeout(3 * subscribing.PATIENCE):
            lasting, *sockets = [await _opened(run, ends, stack) for _ in range(2 + len(others))]
            await lasting.refresh(newer)
            for socket, other in zip(sockets[1:], others, strict=True):
                await socket.refresh(other)
            streams = [await _stream(run, ends, f"article:{shown.number}", stack)] if shown else []
            codes = await asyncio.gather(*map(_close_code, sockets))
            last = [await _last_message(stream) for stream in streams]
            if set(codes) != {FORBIDDEN} or not all("'session': 'ended'" in str(each) for each in last):
                raise Difference(step, operation, f"sockets of an ended token end with {codes}, a stream with {last}")
            before = set(run.model.articles)
            with _acting(run, newer, user):
                await run.send(replace(step, operations=(operation,)))
            await _require_told(run, run.model.articles.keys() - before, lasting)
    except (OSError, TimeoutError, ConnectionClosed) as error:
        raise Difference(step, operation, f"no answer: {error!r}") from error
    run.model.reached.count("sockets and streams that end with a token", 1 + len(streams))
    run.model.reached.count("sockets that end with the token of another user", len(others))


@contextmanager
def _acting(run: HistoryRun, text: str, user: User) -> Iterator[None]:
    """Let the token of an issuer be that of a session of its user, for the model, while an answer is compared."""
    run.notes.users[text] = user.lower
    run.model.sessions[text] = user
    try:
        yield
    finally:
        del run.notes.users[text]
        run.model.sessions.pop(text, None)


def _require_refused(step: Step, answered: dict[str, Any], reason: str) -> None:
    found = [each["extensions"] for each in answered.get("errors", ())]
    if "data" in answered or found != [{"code": "UNAUTHENTICATED", "reason": reason}]:
        raise Difference(step, step.operations[0], f"a token is not refused because of its {reason}", answered)


async def _named(run: HistoryRun, step: Step, text: str) -> str:
    """The name of a new user."""
    connection = run.server.connections[step.connections[0]]
    return str((await connection.ask(VIEWER, {}, text))["data"]["viewer"]["username"])


async def _opened(run: HistoryRun, token: str, stack: AsyncExitStack) -> OverWebSocket:
    socket = await stack.enter_async_context(subscribing.over_websocket(run.server.port, token, POSTED))
    await socket.begin(article="")
    return socket


async def _stream(run: HistoryRun, token: str, article: str, stack: AsyncExitStack) -> OverEvents:
    stream = await stack.enter_async_context(subscribing.over_events(run.server.port, token))
    await stream.begin(article)
    return stream


async def _close_code(socket: OverWebSocket) -> int | None:
    try:
        while True:
            await socket.receive()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


async def _last_message(stream: OverEvents) -> subscribing.Message:
    """The last message of a stream before its end."""
    messages = stream.messages["articleChanged"]
    while subscribing.COMPLETE not in messages:
        await stream.receive()
    return messages[-2] if len(messages) > 1 else None


async def _require_told(run: HistoryRun, posted: Collection[int], socket: OverWebSocket) -> None:
    """Wait until a socket hears of the new articles, given by their numbers, if everybody may read them."""
    for id in [f"article:{number}" for number in posted if run.model.articles[number].is_announced]:
        while not any(isinstance(each, dict) and each["id"] == id for each in socket.messages["articlePosted"]):
            await socket.receive()
        run.model.reached.count("sockets that go on with a newer token")
