"""
Simulated people who post, comment, vote and follow at once while a test causes faults, and the comparison of what the
server has acknowledged with what it has.
"""

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

PEOPLE = 12  # who write at once
ALLOWED_CODES = {"UNAVAILABLE"}  # of requests during a fault

REGISTER = "mutation($name: String!) { register(input: {username: $name, password: $name}) { token } }"
LOG_IN = "mutation($name: String!) { logIn(input: {username: $name, password: $name}) { token } }"
POST = """mutation($key: String!) { post(input: {title: $key, content: "a text", idempotencyKey: $key}) {
  article { id } userErrors { code } } }"""
VOTE = """mutation($id: ID!, $value: VoteValue!) { vote(input: {articleId: $id, value: $value}) {
  article { id } userErrors { code } } }"""
EDIT = """mutation($id: ID!, $content: String!) { editArticle(input: {articleId: $id, content: $content}) {
  article { id } userErrors { code } } }"""
COMMENT = """mutation($key: String!, $article: ID!, $parent: ID) {
  comment(input: {articleId: $article, parentId: $parent, content: $key, idempotencyKey: $key}) {
    comment { id } userErrors { code } } }"""
VOTE_ON_COMMENT = """mutation($id: ID!, $value: VoteValue!) { voteOnComment(input: {commentId: $id, value: $value}) {
  comment { id } userErrors { code } } }"""
EDIT_COMMENT = """mutation($id: ID!, $content: String!) { editComment(input: {commentId: $id, content: $content}) {
  comment { id } userErrors { code } } }"""
DELETE_COMMENT = """mutation($id: ID!) { deleteComment(input: {commentId: $id}) {
  deletedCommentId userErrors { code } } }"""
FOLLOW = "mutation($id: ID!) { followUser(input: {userId: $id}) { user { id } userErrors { code } } }"
UNFOLLOW = "mutation($id: ID!) { unfollowUser(input: {userId: $id}) { user { id } userErrors { code } } }"
PAGE = "{ articles { totalCount nodes { id title votes } } }"
VOTES = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on Article { id title votes viewerVote commentCount }
  ... on Comment { id content votes viewerVote state } } }"""
FOLLOWING = "{ viewer { following(first: 100) { nodes { id } } } }"
TIMELINE = """query($name: String!, $after: String) { user(username: $name) { articles(first: 100, after: $after) {
  nodes { title } pageInfo { hasNextPage endCursor } } } }"""
OWN_COMMENTS = """query($name: String!, $after: String) { user(username: $name) {
  comments(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } } }"""


@dataclass
class Comment:
    """A comment that was acknowledged. `edits` are its contents since it was posted, in their order."""

    article: str  # its id
    parent: str | None  # the id of the comment that it answers
    poster: str  # the name
    content: str
    edits: list[str] = field(default_factory=list)
    is_deleted: bool = False


@dataclass
class Person:
    """A user, and what the server has acknowledged: answered without an error."""

    name: str
    token: str = ""
    posts: dict[str, str] = field(default_factory=dict)  # article ids by title
    edits: dict[str, list[str]] = field(default_factory=dict)  # contents by article id, in their order
    votes: dict[str, str] = field(default_factory=dict)  # "UP", "DOWN" or "NONE" by article id
    comment_votes: dict[str, str] = field(default_factory=dict)  # likewise by comment id
    comments: list[str] = field(default_factory=list)  # ids, also of deleted ones
    following: set[str] = field(default_factory=set)  # ids of users


class Writers:
    """Some people who write to one server at once."""

    def __init__(self, server: ServeProcess, seed: int) -> None:
        self.server = server
        self.random = random.Random(seed)
        self.people = [Person(f"person-{number:02d}-{seed % 10_000}") for number in range(PEOPLE)]
        self.articles: list[str] = []  # ids
        self.comments: dict[str, Comment] = {}  # by id
        self.closed: set[str] = set()  # articles and comments on which nobody votes any more
        self.counts: Counter[str] = Counter()  # by what was done or happened
        self._is_over = False

    def close_votes(self) -> None:
        """From now on nobody votes on what is there, as voting on it closes. To be called while nobody writes."""
        self.closed = {*self.articles, *self.comments}

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
            on_articles = [self._post, self._edit, self._vote, self._vote, self._follow]
            on_comments = [
                self._comment,
                self._comment,
                self._vote_on_comment,
                self._edit_comment,
                self._delete_comment,
            ]
            while not self._is_over:
                await self.random.choice([*on_articles, *on_comments])(client, person)

    async def _post(self, client: httpx.AsyncClient, person: Person) -> None:
        title = f"{person.name} {len(person.posts)}"
        answer = await self._send(client, POST, key=title)
        person.posts[title] = answer["post"]["article"]["id"]
        self.articles.append(person.posts[title])
        self.counts["posts"] += 1

    async def _vote(self, client: httpx.AsyncClient, person: Person) -> None:
        """Vote on one of the newest articles of others, so that many vote on the same article."""
        others = [id for id in self.articles[-20:] if id not in person.posts.values() and id not in self.closed]
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

    async def _comment(self, client: httpx.AsyncClient, person: Person) -> None:
        """Answer one of the newest articles or comments, so that deep threads arise, and sometimes any of them."""
        among = 20 if self.random.random() < 0.9 else len(self.comments) + len(self.articles)  # so many of the newest
        parents = [id for id in list(self.comments)[-among:] if not self.comments[id].is_deleted]
        parent = self.random.choice([None, *parents])
        if parent is None and not self.articles:
            return
        article = self.comments[parent].article if parent else self.random.choice(self.articles[-among:])
        content = f"{person.name} comment {len(person.comments)}"
        given = {"key": content, "article": article, **({"parent": parent} if parent else {})}
        comment = (await self._send(client, COMMENT, **given))["comment"]["comment"]
        if comment:  # else its parent was deleted
            person.comments.append(comment["id"])
            self.comments[comment["id"]] = Comment(article, parent, person.name, content)
            self.counts["comments"] += 1

    async def _vote_on_comment(self, client: httpx.AsyncClient, person: Person) -> None:
        others = [id for id in list(self.comments)[-20:] if id not in person.comments and id not in self.closed]
        if not others:
            return
        id, value = self.random.choice(others), self.random.choice(["UP", "DOWN", "NONE"])
        person.comment_votes.pop(id, None)
        if (await self._send(client, VOTE_ON_COMMENT, id=id, value=value))["voteOnComment"]["comment"]:
            person.comment_votes[id] = value
            self.counts["votes on comments"] += 1

    async def _edit_comment(self, client: httpx.AsyncClient, person: Person) -> None:
        own = [id for id in person.comments if not self.comments[id].is_deleted]
        if own:
            comment = self.comments[id := self.random.choice(own[-3:])]
            content = f"{comment.content}, edit {len(comment.edits)}"
            await self._send(client, EDIT_COMMENT, id=id, content=content)
            comment.edits.append(content)
            self.counts["edits of comments"] += 1

    async def _delete_comment(self, client: httpx.AsyncClient, person: Person) -> None:
        own = [id for id in person.comments if not self.comments[id].is_deleted]
        if own:
            id = self.random.choice(own)
            await self._send(client, DELETE_COMMENT, id=id)
            self.comments[id].is_deleted = True
            self.counts["deletions of comments"] += 1

    async def _follow(self, client: httpx.AsyncClient, person: Person) -> None:
        other = self.random.choice([each for each in self.people if each is not person])
        id, follows = f"user:{other.name}", self.random.random() < 0.6
        await self._send(client, FOLLOW if follows else UNFOLLOW, id=id)
        (person.following.add if follows else person.following.discard)(id)
        self.counts["follows"] += 1

    async def _send(self, client: httpx.AsyncClient, query: str, **variables: Any) -> dict[str, Any]:
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
        Read everything that was acknowledged, and compare it with what the server has.

        Raises:
            WrongAnswer: something acknowledged is missing or is there twice.
        """
        await asyncio.gather(*map(self._compare_person, self.people))
        votes = Counter([id for person in self.people for id in person.posts.values()])  # those of the posters
        for person in self.people:
            for id, value in person.votes.items():
                votes[id] += {"UP": 1, "DOWN": -1, "NONE": 0}[value]
        comments = Counter([each.article for each in self.comments.values() if not each.is_deleted])
        async with self._client(self.people[0]) as client:
            for nodes in [await self._nodes(client, ids) for ids in batches(list(votes), 100)]:
                for id, node in nodes.items():
                    if node["votes"] != votes[id]:
                        raise WrongAnswer(f"{id} has {node['votes']} votes, not the {votes[id]} acknowledged")
                    if node["commentCount"] != comments[id]:
                        raise WrongAnswer(
                            f"{id} has {node['commentCount']} comments, not the {comments[id]} acknowledged"
                        )
            await self._compare_comments(client)
            total = (await self._send(client, PAGE))["articles"]["totalCount"]
        if total != len(votes):
            raise WrongAnswer(f"the site has {total} articles, not the {len(votes)} acknowledged")

    async def _compare_comments(self, client: httpx.AsyncClient) -> None:
        """All comments that were not deleted are there, and those deleted ones that have any of them below."""
        votes = Counter([id for id, comment in self.comments.items() if not comment.is_deleted])  # of the posters
        for person in self.people:
            for id, value in person.comment_votes.items():
                votes[id] += {"UP": 1, "DOWN": -1, "NONE": 0}[value]
        stubs = self.stubs()
        for ids in batches(list(self.comments), 100):
            nodes = (await self._send(client, VOTES, ids=ids))["nodes"]
            for id, node in zip(ids, nodes, strict=True):
                comment, found = self.comments[id], node and (node["content"], node["votes"], node["state"])
                expected: Any = ((comment.edits or [comment.content])[-1], votes[id], "VISIBLE")
                if comment.is_deleted:
                    expected = (None, node and node["votes"], "DELETED") if id in stubs else None
                if found != expected:
                    raise WrongAnswer(f"{id} is {found}, not {expected}")

    def stubs(self) -> set[str]:
        """The deleted comments that still have replies."""
        found = set()
        for comment in self.comments.values():
            above = None if comment.is_deleted else comment.parent
            while above and above not in found:
                found.add(above)
                above = self.comments[above].parent
        return {id for id in found if self.comments[id].is_deleted}

    async def _compare_person(self, person: Person) -> None:
        async with self._client(person) as client:
            found = [node["title"] async for node in self._listed(client, person, TIMELINE, "articles")]
            if Counter(found) != Counter(list(person.posts)):
                raise WrongAnswer(f"{person.name} has {sorted(set(person.posts) ^ set(found))} lost or doubled")
            voted = {id: value for id, value in person.comment_votes.items() if not self.comments[id].is_deleted}
            voted |= person.votes
            voted = {id: value for id, value in voted.items() if id not in self.closed}  # nobody knows who voted there
            for ids in batches(list(voted), 100):
                for id, node in (await self._nodes(client, ids)).items():
                    if node["viewerVote"] != voted[id]:
                        raise WrongAnswer(f"{person.name} voted {voted[id]} on {id}: {node['viewerVote']}")
            own = [node["id"] async for node in self._listed(client, person, OWN_COMMENTS, "comments")]
            expected = [id for id in person.comments if not self.comments[id].is_deleted]
            if sorted(own) != sorted(expected):
                raise WrongAnswer(f"{person.name} has comments {sorted(set(own) ^ set(expected))} lost or doubled")
            viewer = (await self._send(client, FOLLOWING))["viewer"]
            following = {node["id"] for node in viewer["following"]["nodes"]}
            if following != person.following:
                raise WrongAnswer(f"{person.name} follows {following}, not {person.following}")

    async def _nodes(self, client: httpx.AsyncClient, ids: Sequence[str]) -> dict[str, Any]:
        nodes = (await self._send(client, VOTES, ids=list(ids)))["nodes"]
        if None in nodes:
            raise WrongAnswer(f"lost: {[id for id, node in zip(ids, nodes, strict=True) if node is None]}")
        return {node["id"]: node for node in nodes}

    async def _listed(
        self, client: httpx.AsyncClient, person: Person, query: str, field: str
    ) -> AsyncIterator[dict[str, Any]]:
        """All nodes of the connection that a field of a person has, by this query."""
        after = None
        while True:
            variables: dict[str, Any] = {"name": person.name, "after": after}
            connection = (await self._send(client, query, **variables))["user"][field]
            for node in connection["nodes"]:
                yield node
            if not connection["pageInfo"]["hasNextPage"]:
                return
            after = connection["pageInfo"]["endCursor"]


def batches(items: list[str], size: int) -> Iterator[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
