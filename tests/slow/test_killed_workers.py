"""
Workers are killed with SIGKILL while clients follow and unfollow users of other partitions, and while an EventSource
reads the log of changes: the lists of followers and of followed users agree soon after, and each entry of the log is
sent once.

Codes such as D4 after the name of the test are rows of `docs/behaviours.md`, which it proves.
"""

import asyncio
import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import httpx

from store import effects, followed, log
from store.store import Store
from tests.conftest import registered
from tests.server.conftest import Live, serving
from tests.support.processes import workers_of

PARTITIONS = 16  # shares of the data: a user is in one of them, and mostly in another one than a follower
PEOPLE = [f"user-{number}" for number in range(24)]
KILLS = 12
BETWEEN = 40  # acknowledged changes before the next kill
FOLLOW = "mutation($id: ID!) { followUser(input: {userId: $id}) { changed userErrors { code } } }"
UNFOLLOW = "mutation($id: ID!) { unfollowUser(input: {userId: $id}) { changed userErrors { code } } }"
CHANGES = "subscription { changes { kind subjectId actorId } }"


class Clients:
    """
    Clients that follow and unfollow. `expected` has the follows, pairs of follower and followed user, after the last
    acknowledged changes.
    """

    def __init__(self, url: str) -> None:
        self.url, self.expected, self.acknowledged, self.is_ending = url, set[tuple[str, str]](), 0, False

    async def run(self, name: str, token: str, seed: int) -> None:
        chance, headers = random.Random(seed), {"Authorization": f"Bearer {token}"}
        # verify=False, as else each client would load the certificates, which it does not need
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=10, verify=False) as client:
            while not self.is_ending:
                other = chance.choice([each for each in PEOPLE if each != name])
                query = chance.choice((FOLLOW, UNFOLLOW))
                await self._retry(client, query, f"user:{other}")
                (self.expected.add if query is FOLLOW else self.expected.discard)((name, other))
                self.acknowledged += 1

    async def _retry(self, client: httpx.AsyncClient, query: str, id: str) -> None:
        while True:
            try:
                answer = (await client.post("/graphql", json={"query": query, "variables": {"id": id}})).json()
            except httpx.HTTPError:
                await asyncio.sleep(0.02)
                continue
            if "errors" not in answer:
                return


class EventSource:
    """Reads `changes` and connects again after each loss, as browsers do. `received` has all changes."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._headers = f"{url}/graphql", {"Accept": "text/event-stream", "X-Upvote-Key": key}
        self.received: list[dict[str, str]] = []
        self.connections = 0
        self.begun = asyncio.Event()

    async def run(self) -> None:
        async with httpx.AsyncClient(timeout=30, verify=False) as client:
            while True:
                try:
                    await self._read(client)
                except httpx.HTTPError:
                    await asyncio.sleep(0.02)

    async def _read(self, client: httpx.AsyncClient) -> None:
        async with client.stream("GET", self._url, params={"query": CHANGES}, headers=self._headers) as response:
            self.connections, id = self.connections + 1, ""
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    id = value
                elif name == "data" and value:
                    self.received.append(json.loads(value)["data"]["changes"])
                elif not line and id:
                    self._headers["Last-Event-ID"] = id
                    self.begun.set()


async def kill_workers(live: Live, folder: Path, clients: Clients) -> None:
    chance = random.Random(7)
    for _ in range(KILLS):
        enough = clients.acknowledged + BETWEEN
        while clients.acknowledged < enough:  # noqa: ASYNC110 - it is counted by other tasks, all the time
            await asyncio.sleep(0.01)
        os.kill(int(chance.choice(workers_of(live, folder))), signal.SIGKILL)


async def sides(store: Store) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """All follows as the followers and as the followees have them."""
    site, commands = store.site, []
    for name in PEOPLE:
        partition = site.partition_of_user(name)
        commands += [
            ("ZRANGE", followed.followers(partition, name), 0, -1),
            ("ZRANGE", followed.following(partition, name), 0, -1),
        ]
    replies = await site.redis.pipeline(commands)
    of_followers = {(each, name) for name, found in zip(PEOPLE, replies[::2], strict=True) for each in found}
    return of_followers, {(name, each) for name, found in zip(PEOPLE, replies[1::2], strict=True) for each in found}


def changes_by(source: EventSource, name: str) -> list[tuple[str, str]]:
    return [(each["kind"], each["subjectId"]) for each in source.received if each["actorId"] == f"user:{name}"]


async def test_follows_are_complete_and_sent_once_though_workers_are_killed(tmp_path):  # F2, D4
    with serving(tmp_path, workers=3, partitions=PARTITIONS) as live:
        store = await Store.open(f"unix://{(tmp_path / 'address').read_text()}", partitions=PARTITIONS)
        tokens = {name: (await store.sessions.open(await registered(store, name))).token for name in PEOPLE}
        key = str(await store.server_keys.create("reader"))
        before, clients, source = await log.newest(store.site), Clients(live.url), EventSource(live.url, key)
        reading = asyncio.create_task(source.run())
        await asyncio.wait_for(source.begun.wait(), 30)
        running = asyncio.gather(*(clients.run(name, tokens[name], seed) for seed, name in enumerate(PEOPLE)))
        await kill_workers(live, tmp_path, clients)
        clients.is_ending = True
        await running
        async with asyncio.timeout(30):
            while await effects.pending(store.site):  # noqa: ASYNC110 - other processes apply them
                await asyncio.sleep(0.05)
        of_followers, of_followees = await sides(store)
        written: list[Any] = [
            await log.read(store.site, partition, after=id, count=100_000) for partition, id in enumerate(before)
        ]
        async with asyncio.timeout(30):
            while len(source.received) < sum(map(len, written)):  # noqa: ASYNC110 - another task receives them
                await asyncio.sleep(0.05)
        reading.cancel()

        assert await effects.pending(store.site) == []
        assert of_followers == of_followees == clients.expected
        entries = [entry for found in written for entry in found]
        for name in PEOPLE:
            own = [(entry.kind, entry.subject) for entry in entries if entry.actor == name]
            assert own == changes_by(source, name)
        assert source.connections > 1
        await store.close()
