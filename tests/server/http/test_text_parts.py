"""Texts that a WebSocket sends in parts: frames of all lengths, beside others and after the client has closed."""

import pytest
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

from engine.interfaces import TEXT_PARTS
from server.http.connections import ConnectionLimiter
from server.http.limited_websocket import text_head
from tests.engine.sample import running, until

SIZES = (0, 1, 125, 126, 32_768, 65_535, 65_536, 200_000)


def sent(size):
    """Parts of a text of so many bytes, some of them of characters of two bytes."""
    text = ("\u00e9" * (size // 2) + "a" * (size % 2)).encode()
    return text[: size // 4 * 2], b"", text[size // 4 * 2 :]  # none ends within a character


async def test_texts_arrive_whole_and_in_order_until_the_client_leaves():
    raised = []

    async def application(scope, receive, send):
        assert TEXT_PARTS in scope["extensions"]
        await receive()
        await send({"type": "websocket.accept"})
        for size in SIZES:
            await send({"type": "websocket.send", TEXT_PARTS: sent(size)})
            await send({"type": "websocket.send", "text": str(size)})
        await receive()
        try:
            await send({"type": "websocket.send", TEXT_PARTS: sent(1_000)})
        except OSError as error:
            raised.append(type(error).__name__)

    with running(application, ConnectionLimiter()) as server:
        async with connect(f"ws://127.0.0.1:{server.port}/", max_size=None) as client:
            for size in SIZES:
                assert await client.recv() == b"".join(sent(size)).decode()
                assert await client.recv() == str(size)
        await until(lambda: raised)
    assert raised == ["ClientDisconnected"]


@pytest.mark.parametrize("size", [0, 125, 126, 32_768, 65_535])
def test_head_is_that_of_the_library(size):
    frame = Frame(Opcode.TEXT, b"a" * size).serialize(mask=False)

    assert text_head(size) + b"a" * size == frame
