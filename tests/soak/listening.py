"""
Steps of a random history in which viewers have subscribed to an article, or to what is new, and a write follows: each
viewer gets the messages that the model of the server expects.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from websockets.exceptions import WebSocketException

from tests.soak import announcing, subscribing
from tests.soak.history import Step, resolved
from tests.soak.reached import Reached
from tests.soak.records import User
from tests.soak.running import Difference, HistoryRun

TRANSPORTS = 2  # over which each viewer subscribes: WebSocket and server-sent events
CAUGHT_UP = 5.0  # seconds after a lost connection in which a server sends what it has missed, also to new subscribers


async def subscribe(run: HistoryRun, step: Step) -> None:
    """Send a write beside subscriptions to an article and its comments, of each viewer over each transport."""
    write, *others = step.operations
    tokens = [resolved(each.token, run.notes.texts) for each in others]
    tokens = [each for each in tokens if each is None or each in run.model.sessions]
    id = resolved(others[0].variables["id"], run.notes.texts) if others else ""
    article = run.model.articles.get(int(id.partition(":")[2] or 0))
    if article is None or not write.mutations:
        return
    tokens = [each for each in tokens if run.model.may_read(run.model.sessions.get(each or ""), article)]
    viewers = [run.model.sessions.get(token) if token else None for token in tokens for _ in range(TRANSPORTS)]
    before = [subscribing.state(run.model, viewer, article) for viewer in viewers]
    try:
        async with subscribing.subscribed(run.server.port, tokens, id) as subscribers:
            await run.send(replace(step, operations=(write,)))
            after = [subscribing.state(run.model, viewer, article) for viewer in viewers]
            sent = [each.after(earlier) for each, earlier in zip(after, before, strict=True)]
            allowed = [each.allowed(earlier) for each, earlier in zip(after, before, strict=True)]
            wrong = await asyncio.gather(*map(subscribing.wrong, subscribers, sent, allowed))
    except (OSError, TimeoutError, WebSocketException) as error:
        raise Difference(step, write, f"no answer: {error!r}") from error
    _raise_wrong(run, step, viewers, wrong)
    for states in zip(before, after, strict=True):
        _count_messages(run.model.reached, *states)


async def tell(run: HistoryRun, step: Step) -> None:
    """Send a write beside subscriptions of each viewer to new articles, notifications, and the queue of moderators."""
    write, *others = step.operations
    tokens = [resolved(each.token, run.notes.texts) for each in others]
    tokens = [each for each in tokens if each is None or each in run.model.sessions]
    viewers = [run.model.sessions.get(token) if token else None for token in tokens]
    before = [announcing.state(run.model, viewer) for viewer in viewers]
    may_be_late = time.monotonic() < run.dropped_at + CAUGHT_UP
    late = [each.after(announcing.NOTHING) if may_be_late else {} for each in before]
    try:
        async with announcing.subscribed(run.server.port, run.model, tokens) as subscribers:
            await run.send(replace(step, operations=(write,)))
            after = [announcing.state(run.model, viewer) for viewer in viewers]
            sent = [each.after(earlier) for each, earlier in zip(after, before, strict=True)]
            wrong = await asyncio.gather(
                *(subscribing.wrong(*given) for given in zip(subscribers, sent, late, strict=True))
            )
    except (OSError, TimeoutError, WebSocketException) as error:
        raise Difference(step, write, f"no answer: {error!r}") from error
    _raise_wrong(run, step, viewers, wrong)
    for name in announcing.SUBSCRIPTIONS:
        run.model.reached.count(f"messages of {name}", sum(len(each.get(name, ())) for each in sent))


def _raise_wrong(run: HistoryRun, step: Step, viewers: Sequence[User | None], wrong: Sequence[str | None]) -> None:
    for viewer, found in zip(viewers, wrong, strict=True):
        if found:
            raise Difference(step, step.operations[0], f"to {viewer or 'a stranger'} {found}")


def _count_messages(reached: Reached, before: subscribing.State, after: subscribing.State) -> None:
    is_over = after.article == subscribing.COMPLETE
    reached.count("subscriptions that end for whom may not read", is_over)
    is_told = isinstance(after.article, dict) and after.article["state"] != "VISIBLE"
    reached.count("messages about removed articles", is_told)
    was_pending = isinstance(before.article, dict) and before.article["state"] == "PENDING"
    reached.count("messages about pending articles", was_pending and after.article != before.article)
    held = before.comments.keys() - before.announced
    reached.count("messages of commentPosted about what was held", bool(held & after.announced))
    reached.count("messages about articles", after.article != before.article)
    is_changed = after.comments != before.comments
    reached.count("messages about comments", is_changed)
    reached.count("messages about comments of pending articles", is_changed and was_pending)
