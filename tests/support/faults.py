"""Faults of a server while many clients post and vote, and the check that each write is stored once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx

from store import keys
from store.store import Store
from tests.conftest import registered
from tests.server.conftest import Live, redis_of
from tests.store.reading import post, verified

CLIENTS = 200
POSTS_BETWEEN_FAULTS = 80  # acknowledged ones
VOTE = "mutation($id: ID!) { vote(input: {articleId: $id}) { changed } }"
POST = """mutation($key: String!) { post(input: {title: "a title", content: "a text", idempotencyKey: $key}) {
  article { id } } }"""


@dataclass
class Crowd:
    """
    Clients that post, and vote on one article until `is_ending`. `answered` has the ids of posted articles by
    idempotency key, `voted` the names of clients that have voted, and `refused` the codes of errors.
    """

    url: str
    article: str  # the id of the one on which they vote
    answered: dict[str, str] = field(default_factory=dict)
    voted: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    progressed: asyncio.Event = field(default_factory=asyncio.Event)
    is_ending: bool = False

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self.progressed.clear()
            await self.progressed.wait()

    async def post_and_vote(self, name: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        # verify=False, as else each of 200 clients would load the certificates, which it does not need
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=10, verify=False) as client:
            for turn in count():
                if self.is_ending and name in self.voted:
                    return
                key = f"{name} {turn}"
                posted = await self._retry(client, POST, {"key": key})
                self.answered[key] = posted["post"]["article"]["id"]
                await self._retry(client, VOTE, {"id": self.article})
                self.voted.add(name)
                self.progressed.set()

    async def _retry(self, client: httpx.AsyncClient, query: str, variables: dict[str, str]) -> dict[str, dict]:
        """Send a request again until it is answered without errors, and return the data."""
        request = {"query": query, "variables": variables}
        while True:
            try:
                answer = (await client.post("/graphql", json=request)).json()
            except httpx.HTTPError:
                await asyncio.sleep(0.5)
                continue
            if "errors" not in answer:
                return answer["data"]
            self.refused += [error["extensions"]["code"] for error in answer["errors"]]
            self.progressed.set()
            await asyncio.sleep(0.05)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Store]:
    """The store of a running server."""
    store = await Store.open(f"unix://{(folder / 'address').read_text()}")
    yield store
    await store.close()


async def prepared(folder: Path) -> tuple[str, dict[str, str]]:
    """Post an article and register the clients; the article's id, and the clients' tokens by their names."""
    async with opened(folder) as store:
        article = await post(store, await registered(store, "poster"))
        names = [await registered(store, f"person-{number}") for number in range(CLIENTS)]
        return article.id, {name: (await store.sessions.open(name)).token for name in names}


async def during(live: Live, folder: Path, *faults: Callable[[Crowd], Awaitable[object]]) -> Crowd:
    """Cause the faults, one after the other, while the clients post and vote. Check that each write is stored once."""
    article, tokens = await prepared(folder)
    crowd = Crowd(live.url, article)
    clients = asyncio.gather(*(crowd.post_and_vote(name, token) for name, token in tokens.items()))
    for fault in faults:
        enough = len(crowd.answered) + POSTS_BETWEEN_FAULTS
        await crowd.until(lambda enough=enough: len(crowd.answered) >= enough)
        await fault(crowd)
    crowd.is_ending = True
    await clients

    assert set(crowd.refused) <= {"UNAVAILABLE"}
    async with opened(folder) as store:
        with redis_of(folder) as redis:
            number = int(article.removeprefix("article:"))
            partition = store.site.partition_of_article(number)
            assert redis.smembers(keys.voted(partition, number)) == crowd.voted | {"poster"} == {*tokens, "poster"}
            posted = {int(member) for member in redis.zrange(keys.index(0, "time"), 0, -1)} - {number}
        assert posted == {int(id.removeprefix("article:")) for id in crowd.answered.values()}
        assert len(posted) == len(crowd.answered) >= max(CLIENTS, POSTS_BETWEEN_FAULTS * len(faults))
        assert await verified(store) == []
    return crowd


def valkey_of(folder: Path) -> int:
    """The process of the Valkey of a running server."""
    with redis_of(folder) as redis:
        return redis.info("server")["process_id"]


async def until_refused(crowd: Crowd) -> None:
    """Wait until clients have been refused 20 more times."""
    enough = len(crowd.refused) + 20
    await crowd.until(lambda: len(crowd.refused) >= enough)
