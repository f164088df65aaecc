"""
Faults of a server and its Valkey while 200 clients vote and post, and retry until each write is acknowledged: each is
stored exactly once.

Codes such as A6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import os
import signal
from contextlib import ExitStack

from tests.server.conftest import redis_of, serving
from tests.servers import free_port
from tests.support.faults import (
    Crowd,
    during,
    until_refused,
    valkey_of,
)

PAGE = "{ articles { nodes { title votes } } }"


async def test_killed_stopped_and_full_valkey_loses_nothing(tmp_path):  # A6, A7, V3, V9
    async def killed(crowd: Crowd) -> None:
        os.kill(valkey_of(tmp_path), signal.SIGKILL)

    async def stopped(crowd: Crowd) -> None:
        process = valkey_of(tmp_path)
        os.kill(process, signal.SIGSTOP)
        await until_refused(crowd)
        os.kill(process, signal.SIGCONT)

    async def full(crowd: Crowd) -> None:
        with redis_of(tmp_path) as redis:
            redis.config_set("maxmemory", 1)
            await until_refused(crowd)
            assert live.ask(PAGE)["data"]["articles"]["nodes"]
            redis.config_set("maxmemory", 0)

    with serving(tmp_path) as live:
        await during(live, tmp_path, killed, full, stopped, killed)


async def test_killed_valkey_that_always_syncs_loses_nothing(tmp_path):
    async def killed(crowd: Crowd) -> None:
        os.kill(valkey_of(tmp_path), signal.SIGKILL)

    with serving(tmp_path, durability="always") as live:
        await during(live, tmp_path, killed)


async def test_killed_and_restarted_server_loses_nothing(tmp_path):
    port = free_port()
    with ExitStack() as servers:
        running = [servers.enter_context(serving(tmp_path, port=port))]

        async def restarted(by: signal.Signals) -> None:
            await asyncio.to_thread(running[-1].stop, by)
            running.append(await asyncio.to_thread(servers.enter_context, serving(tmp_path, port=port)))

        await during(running[0], tmp_path, lambda _: restarted(signal.SIGKILL), lambda _: restarted(signal.SIGTERM))
