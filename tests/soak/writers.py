"""People who post, vote and follow at once, and the comparison of what was acknowledged with what a server has."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.soak.serve_process import PATIENCE, ServeProcess, WrongAnswer

PEOPLE = 12
ALLOWED_CODES = {"UNAVAILABLE"}  # of requests during a fault

REGISTER = "mutation($name: String!) { register(input: {username: $name, password: $name}) { token } }"
LOG_IN = "mutation($name: String!) { logIn(input: {username: $name, password: $name}) { token } }"
POST = """mutation($key: String!) { post(input: {title: $key, content: "a text", idempotencyKey: $key}) {
  article { id } userErrors { code } } }"""
VOTE = """mutation($id: ID!, $value: VoteValue!) { vote(input: {articleId: $id, value: $value}) {
  article { id } userErrors { code } } }"""
EDIT = """mutation($id: ID!, $content: String!) { editArticle(input: {articleId: $id, content: $content}) {
  article { id } userErrors { code } } }"""
FOLLOW = "mutation($id: ID!) { followUser(input: {userId: $id}) { user { id } userErrors { code } } }"
UNFOLLOW = "mutation($id: ID!) { unfollowUser(input: {userId: $id}) { user { id } userErrors { code } } }"
PAGE = "{ articles { totalCount nodes { id title votes } } }"
VOTES = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Article { id title votes viewerVote } } }"
FOLLOWING = "{ viewer { following(first: 100) { nodes { id } } } }"
TIMELINE = """query($name: String!, $after: String) { user(username: $name) { articles(first: 100, after: $after) {
  nodes { title } pageInfo { hasNextPage endCursor } } } }"""


@dataclass
class Person:
    """A user, and what the server has acknowledged."""

    name: str
    token: str = ""
    posts: dict[str, str] = field(default_factory=dict)  # article ids by title
    edits: dict[str, list[str]] = field(default_factory=dict)  # contents by article id, in their order
    votes: dict[str, str] = field(default_factory=dict)  # vote values by article id
    following: set[str] = field(default_factory=set)


class Writers:
    def __init__(self, server: ServeProcess, seed: int) -> None:
        self.server = server
        self.random = random.Random(seed)
        self.people = [Person(f"person-{number:02d}-{seed % 10_000}") for number in range(PEOPLE)]
        self.articles: list[str] = []
        self.counts: Counter[str] = Counter()
        self._is_over = False

    async def register(self) -> None:
        await asyncio.gather(*map(self._register, self.people))

    async def write(self) -> None:
        """Write until `stop` is called and all requests are answered."""
        self._is_over = False
        await asyncio.gather(*map(self._write, self.people))

    def stop(self) -> None:
        self._is_over = True

    async def _register(self, person: Person) -> None:
        async with self._client(person) as client:
            answer = await self._send(client, REGISTER, name=person.name)
            if answer["register"]["token"] is None:  # it was registered, but the response was lost
                answer = {"register": (await self._send(client, LOG_IN, name=person.name))["logIn"]}
            person.token = answer["register"]["token"]

    async def _write(self, person: Person) -> None:
        async with self._client(person) as client:
            while not self._is_over:
                await self.random.choice([self._post, self._edit, self._vote, self._vote, self._follow])(client, person)

    async def _post(self, client: httpx.AsyncClient, person: Person) -> None:
        title = f"{person.name} {len(person.posts)}"
        answer = await self._send(client, POST, key=title)
        person.posts[title] = answer["post"]["article"]["id"]
        self.articles.append(person.posts[title])
        self.counts["posts"] += 1

    async def _vote(self, client: httpx.AsyncClient, person: Person) -> None:
        """Vote on one of the newest articles of others, so that many vote on the same article."""
        others = [id for id in self.articles[-20:] if id not in person.posts.values()]
        if not others:
            return
        id, value = self.random.choice(others), self.random.choice(["UP", "DOWN", "NONE"])
        person.votes.pop(id, None)
        await self._send(client, VOTE, id=id, value=value)
        person.votes[id] = value
        self.counts["votes"] += 1

    async def _edit(self, client: httpx.AsyncClient, person: Person) -> None:
        """Edit one of the person's newest articles."""
        if not person.posts:
            return
        id = self.random.choice(list(person.posts.values())[-3:])
        edits = person.edits.setdefault(id, [])
        content = f"edit {len(edits)}"
        await self._send(client, EDIT, id=id, content=content)
        edits.append(content)
        self.counts["edits"] += 1

    async def _follow(self, client: httpx.AsyncClient, person: Person) -> None:
        other = self.random.choice([each for each in self.people if each is not person])
        id, follows = f"user:{other.name}", self.random.random() < 0.6
        await self._send(client, FOLLOW if follows else UNFOLLOW, id=id)
        (person.following.add if follows else person.following.discard)(id)
        self.counts["follows"] += 1

    async def _send(self, client: httpx.AsyncClient, query: str, **variables: str) -> dict[str, Any]:
        """Send a request again until it is answered: every write is safe to be sent twice."""
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            try:
                answer = (await client.post("/graphql", json={"query": query, "variables": variables})).json()
            except (httpx.HTTPError, json.JSONDecodeError):
                self.counts["requests without an answer"] += 1
                await asyncio.sleep(0.1)
                continue
            codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
            if not codes:
                return answer["data"]
            if not codes <= ALLOWED_CODES:
                raise WrongAnswer(f"{query} with {variables}: {answer['errors']}")
            self.counts["refused writes"] += 1
            await asyncio.sleep(0.05)
        raise WrongAnswer(f"no answer to {query} with {variables} in {2 * PATIENCE:g} s")

    @asynccontextmanager
    async def _client(self, person: Person) -> AsyncIterator[httpx.AsyncClient]:
        headers = {"Authorization": f"Bearer {person.token}"} if person.token else {}
        # A request that is given up may be executed later, after the next one of the same person.
        async with httpx.AsyncClient(base_url=self.server.url, headers=headers, timeout=PATIENCE) as client:
            yield client

    async def compare(self) -> None:
        """
        Read everything.

        Raises:
            WrongAnswer: something acknowledged is missing or is there twice.
        """
        await asyncio.gather(*map(self._compare_person, self.people))
        votes = Counter([id for person in self.people for id in person.posts.values()])
        for person in self.people:
            for id, value in person.votes.items():
                votes[id] += {"UP": 1, "DOWN": -1, "NONE": 0}[value]
        async with self._client(self.people[0]) as client:
            for nodes in [await self._nodes(client, ids) for ids in batches(list(votes), 100)]:
                for id, node in nodes.items():
                    if node["votes"] != votes[id]:
                        raise WrongAnswer(f"{id} has {node['votes']} votes, not the {votes[id]} acknowledged")
            total = (await self._send(client, PAGE))["articles"]["totalCount"]
        if total != len(votes):
            raise WrongAnswer(f"the site has {total} articles, not the {len(votes)} acknowledged")

    async def _compare_person(self, person: Person) -> None:
        async with self._client(person) as client:
            found = [title async for title in self._timeline(client, person)]
            if Counter(found) != Counter(list(person.posts)):
                raise WrongAnswer(f"{person.name} has {sorted(set(person.posts) ^ set(found))} lost or doubled")
            for ids in batches(list(person.votes), 100):
                for id, node in (await self._nodes(client, ids)).items():
                    if node["viewerVote"] != person.votes[id]:
                        raise WrongAnswer(f"{person.name} voted {person.votes[id]} on {id}: {node['viewerVote']}")
            viewer = (await self._send(client, FOLLOWING))["viewer"]
            following = {node["id"] for node in viewer["following"]["nodes"]}
            if following != person.following:
                raise WrongAnswer(f"{person.name} follows {following}, not {person.following}")

    async def _nodes(self, client: httpx.AsyncClient, ids: Sequence[str]) -> dict[str, Any]:
        nodes = (await self._send(client, VOTES, ids=list(ids)))["nodes"]  # type: ignore[arg-type]  # a list
        if None in nodes:
            raise WrongAnswer(f"lost: {[id for id, node in zip(ids, nodes, strict=True) if node is None]}")
        return {node["id"]: node for node in nodes}

    async def _timeline(self, client: httpx.AsyncClient, person: Person) -> AsyncIterator[str]:
        after = None
        while True:
            variables: dict[str, Any] = {"name": person.name, "after": after}
            articles = (await self._send(client, TIMELINE, **variables))["user"]["articles"]
            for node in articles["nodes"]:
                yield node["title"]
            if not articles["pageInfo"]["hasNextPage"]:
                return
            after = articles["pageInfo"]["endCursor"]


def batches(items: list[str], size: int) -> Iterator[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
