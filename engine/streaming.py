"""
Streams of results in one HTTP response: server-sent events, by the protocol graphql-sse with a connection for each
operation ("distinct connections"), and `multipart/mixed`, by Apollo's protocol for subscriptions.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import NamedTuple, NoReturn, TypeAlias

from starlette.types import Receive, Send

from engine.errors import Refused, session_ended
from engine.negotiation import SUBSCRIPTION_SPEC, VARY, Media
from engine.results import EncodedResult, refusal_body


class Framing(NamedTuple):
    """
    The bytes of a stream: at its beginning and end, before and after each result, and for a heartbeat, which keeps the
    connection open. `event_id` is the format of the id of an event; None if events have none.
    """

    content_type: bytes
    opening: bytes
    event_id: bytes | None
    before: bytes
    after: bytes
    heartbeat: bytes
    closing: bytes


FRAMINGS = {
    Media.EVENTS: Framing(
        content_type=b"text/event-stream; charset=utf-8",
        opening=b":\n\n",
        event_id=b"id: %b\n",
        before=b"event: next\ndata: ",
        after=b"\n\n",
        heartbeat=b":\n\n",
        closing=b"event: complete\ndata: \n\n",
    ),
    # Apollo's client processes a part once it has read the next delimiter, so each part ends with that.
    Media.MULTIPART: Framing(
        content_type=b'multipart/mixed;boundary="graphql";subscriptionSpec=%b' % SUBSCRIPTION_SPEC.encode(),
        opening=b"\r\n--graphql",
        event_id=None,
        before=b'\r\nContent-Type: application/json\r\n\r\n{"payload":',
        after=b"}\r\n--graphql",
        heartbeat=b"\r\nContent-Type: application/json\r\n\r\n{}\r\n--graphql",
        closing=b"--\r\n",
    ),
}


Watch: TypeAlias = Callable[[Callable[[], object]], AbstractContextManager[object]]


class Stream(NamedTuple):
    """
    A response that is a stream of `results`. Once the event `stopping` is set, as the server stops, the stream ends
    without the closing bytes, so that the client connects again. `watch` calls a function once the session of the
    client has ended: the stream ends with a refusal then.
    """

    results: AsyncGenerator[EncodedResult, None]
    media: Media
    stopping: asyncio.Event | None = None
    watch: Watch | None = None


async def refused_results(refused: Refused) -> AsyncGenerator[EncodedResult, None]:
    """Results that are refused at once. The `yield` makes this a generator."""
    raise refused
    yield


async def send_stream(
    stream: Stream,
    request_id: str,
    more_headers: list[tuple[bytes, bytes]],
    keep_alive: float,
    receive: Receive,
    send: Send,
) -> None:
    """Send results until they end, the client leaves, its session ends or the server stops; then close the results."""
    framing, ended = FRAMINGS[stream.media], asyncio.Event()
    headers = [*stream_headers(framing, request_id), *more_headers]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send(chunk(framing.opening))
    tasks = [
        asyncio.create_task(send_results(stream.results, framing, send)),
        asyncio.create_task(send_heartbeats(framing, keep_alive, send)),
        asyncio.create_task(until_disconnect(receive)),
        asyncio.create_task(until(ended)),
    ]
    if stream.stopping:
        tasks.append(asyncio.create_task(until(stream.stopping)))
    try:
        with stream.watch(ended.set) if stream.watch else nullcontext():
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if ended.is_set():
        await send(chunk(framing.before + refusal_body(session_ended()) + framing.after))
    is_cut = stream.stopping is not None and stream.stopping.is_set()
    await send({"type": "http.response.body", "body": b"" if is_cut else framing.closing})


def stream_headers(framing: Framing, request_id: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", framing.content_type),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
        (b"x-request-id", request_id.encode()),
        VARY,
    ]


async def send_results(results: AsyncGenerator[EncodedResult, None], framing: Framing, send: Send) -> None:
    """Send the results one after the other, so that none has to be buffered."""
    async with aclosing(results):
        try:
            async for result in results:
                if text := framed(result, framing):
                    await send(chunk(text))
        except Refused as refused:
            await send(chunk(framing.before + refusal_body(refused) + framing.after))


def framed(result: EncodedResult, framing: Framing) -> bytes:
    """The bytes of a result; none for an event that is only an id where events have no ids."""
    id = framing.event_id % result.event_id.encode() if framing.event_id and result.event_id else b""
    if not result.body:
        return id and id + b"\n"
    return id + framing.before + result.body + framing.after


async def send_heartbeats(framing: Framing, keep_alive: float, send: Send) -> NoReturn:
    while True:
        await asyncio.sleep(keep_alive)
        await send(chunk(framing.heartbeat))


async def until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def until(event: asyncio.Event) -> None:
    await event.wait()


def chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
