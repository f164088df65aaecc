"""
The export: a ZIP with all that is kept about the viewer (the user who asks for it) as JSON lines, nothing of others.

It is read while it is sent, a hundred things at a time: through the contract (the GraphQL schema) where that has it,
else from the store and the database. So an export of any size takes the memory of one page. Archived articles and
comments are those that only the database has.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from io import RawIOBase
from math import ceil
from typing import Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from archive import reads as archive_reads
from database import personal
from database.database import Database
from database.personal import Edits
from engine import Client, Refused
from engine.endpoint import DEFAULT_STATUSES, STATUSES
from resolvers.context import Context
from schema.scalars import write_instant
from schema.schema import SCHEMA
from server.documents import UNCACHED
from store import flags, identities, keys, mails, moderation
from store.client import Command
from store.errors import RateLimited, StoreUnavailable
from store.flags import Flag
from store.kinds import Kind
from store.maintenance import scan

AT_ONCE = 100  # things of a list
CHUNK = 65_536  # bytes of the ZIP that are sent at once, at least

ACTION = "kind at reason group { name } expiresAt appeal { text at answer } revertedBy { id }"
ACCOUNT = """{ viewer { id username displayName about avatarUrl joinedAt karma bannedUntil
  roles { role group { name } grantedAt } } }"""
MAILS = "{ account { email pendingEmail isEmailRefused mailReplies } }"
SESSIONS = "{ account { sessions { id openedAt usedAt agent } } }"
ARTICLES = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on Article {
  id title link content groups { name } state isLocked postedAt editedAt upvotes downvotes
  heldEdit { title link content heldBy at } } } }"""
COMMENTS = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment {
  id parent { id } depth content state postedAt editedAt upvotes downvotes heldEdit { content heldBy at } } } }"""
ACTIONS = f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on ModerationAction {{ id subjectId {ACTION} }} }} }}"
OWN_ARTICLES = "viewer { articles(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
OWN_COMMENTS = "viewer { comments(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
FOLLOWING = "viewer { following(first: 100, after: $after) { nodes { username } pageInfo { hasNextPage endCursor } } }"
FOLLOWERS = "viewer { followers(first: 100, after: $after) { nodes { username } pageInfo { hasNextPage endCursor } } }"
GROUPS = "home { groups(first: 100, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } }"
HIDDEN = "home { hidden(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
BLOCKED = "home { blocked(first: 100, after: $after) { nodes { username } pageInfo { hasNextPage endCursor } } }"
SAVED = "home { saved(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
INBOX = """inbox { notifications(first: 100, after: $after) {
  nodes { kind at subject { id } actor { username } isSeen } pageInfo { hasNextPage endCursor } } }"""

Line: TypeAlias = Mapping[str, Any]  # a line of a file: a JSON object


class ExportInterrupted(Exception):
    """The session has ended while the export was sent: the ZIP is not complete."""


def routes() -> list[BaseRoute]:
    return [Route("/export", respond, methods=["POST"])]


async def respond(request: Request) -> StreamingResponse:
    """
    The export of the viewer. A user gets one an hour.

    Raises:
        HTTPException: 401 if nobody is logged in, or the token is not accepted; 429 with `Retry-After`; 503 if the
            store does not answer.
    """
    state = request.app.state
    try:
        client: Client = await state.endpoint.identified(request.scope)
    except Refused as refused:
        # of the two statuses, for application/json and for GraphQL's own media type, the first
        status, _ = STATUSES.get(refused.code, DEFAULT_STATUSES)
        raise HTTPException(status, refused.errors[0]["message"], UNCACHED) from refused

    def open_context() -> Context:
        context: Context = state.contexts.open(client)
        return context

    try:
        username = await _admitted(open_context(), client.viewer)
    except RateLimited as limited:
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            "an export an hour",
            {"Retry-After": str(ceil((limited.retry_at - state.store.site.clock()) / 1000)), **UNCACHED},
        ) from limited
    except StoreUnavailable as missing:
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, str(missing), UNCACHED) from missing
    export = Export(open_context, username)
    name = f"upvote-{username}-{datetime.now(UTC):%Y-%m-%d}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **UNCACHED}
    return StreamingResponse(export.zip(), media_type="application/zip", headers=headers)


async def _admitted(context: Context, shown: str) -> str:
    """
    Count one more export of the viewer, and return their name. `shown` is the user whom the page in the browser shows
    as logged in, "" if the request does not say.

    Raises:
        HTTPException: nobody is logged in, or not the user whom the page shows.
        RateLimited, StoreUnavailable.
    """
    username = await context.viewer()
    if username is None or shown.lower() not in ("", username.lower()):
        raise HTTPException(HTTPStatus.UNAUTHORIZED, "log in first", UNCACHED | {"WWW-Authenticate": "Bearer"})
    if context.address is not None:  # else there are no rate limits
        await context.store.attempts.count(context.rates.of_exports(username))
    return username


class Chunks(RawIOBase):
    """The file that a ZIP is written to: its bytes wait here until they are taken."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._chunks.append(bytes(data))
        self.size += len(data)
        return len(data)

    def take(self) -> bytes:
        taken, self._chunks, self.size = b"".join(self._chunks), [], 0
        return taken


class Export:
    """All that is kept about one user. `open_context` opens a context of their session."""

    def __init__(self, open_context: Callable[[], Context], username: str) -> None:
        self._open_context, self._username = open_context, username
        context = open_context()
        self._store, self._site = context.store, context.store.site
        self._database: Database | None = context.database
        self._partition = self._site.partition_of_user(username)  # the partition with all that the user owns

    async def zip(self) -> AsyncIterator[bytes]:
        """
        The bytes of the ZIP, a file of JSON lines for each kind of things.

        Raises:
            ExportInterrupted, StoreUnavailable, DatabaseUnavailable: the rest cannot be read.
        """
        chunks = Chunks()
        files = (
            ("account", self._account()),
            ("sessions", self._sessions()),
            ("mails", self._mails()),
            ("identities", self._identities()),
            ("articles", self._articles()),
            ("comments", self._comments()),
            ("votes", self._votes()),
            ("following", self._list(FOLLOWING, "viewer", "following")),
            ("followers", self._list(FOLLOWERS, "viewer", "followers")),
            ("groups", self._list(GROUPS, "home", "groups")),
            ("hidden", self._list(HIDDEN, "home", "hidden")),
            ("blocked", self._list(BLOCKED, "home", "blocked")),
            ("inbox", self._list(INBOX, "inbox", "notifications")),
            ("saved", self._list(SAVED, "home", "saved")),
            ("flags", self._flags()),
            ("moderation", self._moderation()),
        )
        with ZipFile(chunks, "w", ZIP_DEFLATED) as archive:
            for name, pages in files:
                entry = ZipInfo(f"{name}.jsonl", datetime.now(UTC).timetuple()[:6])
                entry.compress_type = ZIP_DEFLATED
                with archive.open(entry, "w", force_zip64=True) as file:
                    async for lines in pages:
                        text = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
                        await asyncio.to_thread(file.write, text)
                        if chunks.size >= CHUNK:
                            yield chunks.take()
        yield chunks.take()

    async def _account(self) -> AsyncIterator[Sequence[Line]]:
        yield [(await self._query(ACCOUNT, {}))["viewer"]]

    async def _sessions(self) -> AsyncIterator[Sequence[Line]]:
        yield (await self._query(SESSIONS, {}))["account"]["sessions"]

    async def _mails(self) -> AsyncIterator[Sequence[Line]]:
        """The viewer's addresses, then the mails that wait, whose contents are read when they are sent."""
        yield [(await self._query(MAILS, {}))["account"]]
        waiting = await mails.of_user(self._site, self._username)
        yield [{"kind": each.what, "dueAt": write_instant(each.due)} for each in waiting]

    async def _identities(self) -> AsyncIterator[Sequence[Line]]:
        yield [each._asdict() for each in await identities.subjects_of(self._site, self._username)]

    async def _articles(self) -> AsyncIterator[Sequence[Line]]:
        """
        The viewer's articles, with their edits and the actions of moderators on them. Of each edit the new values are
        given, which the database has.
        """
        listed = self._list(OWN_ARTICLES, "viewer", "articles")
        async for ids in self._ids(listed, "article", keys.held):
            yield await self._texts(ARTICLES, ids, personal.edits_of_articles)

    async def _comments(self) -> AsyncIterator[Sequence[Line]]:
        listed = self._list(OWN_COMMENTS, "viewer", "comments")
        async for ids in self._ids(listed, "comment", keys.unlisted):
            comments = await self._texts(COMMENTS, ids, personal.edits_of_comments)
            articles = await self._articles_of([each["id"] for each in comments])
            yield [{**each, "article": articles[each["id"]]} for each in comments]

    async def _articles_of(self, ids: Sequence[str]) -> dict[str, Line | None]:
        """
        By the id of each comment, its article as `{"id": ...}`, which may be hidden from the viewer; None for a comment
        that was deleted meanwhile.
        """
        numbers = [int(each.partition(":")[2]) for each in ids]
        partitions = map(self._site.partition_of_article, numbers)
        found = await self._replies(
            [
                ("HGET", keys.comment(partition, number), "article")
                for partition, number in zip(partitions, numbers, strict=True)
            ]
        )
        stored = dict(zip(numbers, found, strict=True))
        absent = [number for number, article in stored.items() if article is None]
        archived = await archive_reads.find_comments(self._store, self._database, absent)
        articles = stored | {number: comment.article for number, comment in archived.items()}
        return {f"comment:{number}": {"id": f"article:{each}"} if each else None for number, each in articles.items()}

    async def _votes(self) -> AsyncIterator[Sequence[Line]]:
        """The viewer's votes; without a database only those on articles and comments whose voters Redis still knows."""
        if self._database is None:
            async for lines in self._stored_votes():
                yield lines
            return
        for kind, read in (("article", personal.votes_on_articles), ("comment", personal.votes_on_comments)):
            after = 0
            while votes := await self._database.run(read, self._username, after):
                yield [_vote_line(f"{kind}:{vote.number}", vote.value > 0, vote.cast) for vote in votes]
                after = votes[-1].number

    async def _stored_votes(self) -> AsyncIterator[Sequence[Line]]:
        """
        The viewer's votes, from the sets of voters in Redis: `voted` has those who voted up, `downvoted` the others.
        All keys of the store are scanned for these sets.
        """
        async for found in scan.known_keys(self._site, progress=lambda count: None):
            sets = [key for key in found if key.name in ("voted", "downvoted")]
            are_voters = await self._replies([("SISMEMBER", key.text, self._username) for key in sets])
            votes = [
                (int(key.suffix), key.name == "voted")
                for key, is_voter in zip(sets, are_voters, strict=True)
                if is_voter
            ]
            ids = await self._thing_ids([number for number, _ in votes])
            yield [_vote_line(id, is_up) for id, (_, is_up) in zip(ids, votes, strict=True)]

    async def _flags(self) -> AsyncIterator[Sequence[Line]]:
        """The viewer's own flags, which stand or were cleared. All keys of the store are scanned for them."""
        name = self._username.lower()
        async for found in scan.known_keys(self._site, progress=lambda count: None):
            hashes = [key for key in found if key.kind is flags.FLAGS]
            texts = await self._replies([("HGET", key.text, name) for key in hashes])
            own = [
                (int(key.suffix), flag)
                for key, text in zip(hashes, texts, strict=True)
                for flag in flags.parse({name: text} if text else {})
            ]
            ids = await self._thing_ids([number for number, _ in own])
            yield [_flag_line(id, flag) for id, (_, flag) in zip(ids, own, strict=True)]

    async def _moderation(self) -> AsyncIterator[Sequence[Line]]:
        """The actions about the viewer. Those about an article or a comment are in its line."""
        found = await self._actions([f"user:{self._username.lower()}"])
        yield [action for actions in found.values() for action in actions]

    async def _texts(self, document: str, ids: Sequence[str], read_edits: Callable[..., Edits]) -> Sequence[Line]:
        """Articles or comments by their ids, each with its edits and the actions of moderators on it."""
        nodes = (await self._query(document, {"ids": ids}))["nodes"]
        numbers = [int(each.partition(":")[2]) for each in ids]
        edits = await self._database.run(read_edits, numbers) if self._database else {}
        actions = await self._actions(ids)
        return [
            node | {"edits": list(map(_edit_line, edits.get(number, []))), "moderation": actions.get(node["id"], [])}
            for node, number in zip(nodes, numbers, strict=True)
            if node  # else it was deleted meanwhile
        ]

    async def _actions(self, subject_ids: Iterable[str]) -> dict[str, list[Line]]:
        """The actions of moderators about some subjects, by their ids, the oldest first."""
        indexes = [index for each in subject_ids for index in moderation.log(self._site, each).indexes]
        replies = await self._replies([("ZRANGE", index, 0, -1) for index in indexes])
        ids = [f"action:{number}" for numbers in replies for number in numbers]
        found: dict[str, list[Line]] = {}
        for start in range(0, len(ids), AT_ONCE):
            for action in (await self._query(ACTIONS, {"ids": ids[start : start + AT_ONCE]}))["nodes"]:
                found.setdefault(action["subjectId"], []).append(action)
        return found

    async def _ids(self, listed: AsyncIterator[Sequence[Line]], kind: str, hidden: Kind) -> AsyncIterator[list[str]]:
        """
        The ids of the viewer's texts of a kind: `article` or `comment`. `listed` has those that everybody may read,
        `hidden` is the kind of key under which Redis keeps the others.
        """
        async for nodes in listed:
            yield [each["id"] for each in nodes]
        start = 0
        while numbers := await self._site.redis.run(
            ("ZRANGE", hidden(self._partition, self._username.lower()), start, start + AT_ONCE - 1)
        ):
            yield [f"{kind}:{int(number)}" for number in numbers]
            start += AT_ONCE

    async def _list(self, field: str, *path: str) -> AsyncIterator[Sequence[Line]]:
        """
        The nodes of a connection, page by page. `field` is the text of the query, and `path` names the fields of the
        answer that lead to the connection.
        """
        document, after = f"query($after: String) {{ {field} }}", None
        while True:
            found: Any = await self._query(document, {"after": after})
            for name in path:
                found = found[name]
                if found is None:
                    raise ExportInterrupted
            yield found["nodes"]
            if not found["pageInfo"]["hasNextPage"]:
                return
            after = found["pageInfo"]["endCursor"]

    async def _query(self, document: str, variables: dict[str, Any]) -> dict[str, Any]:
        """Execute a query of the viewer, which takes no points: exports are limited by themselves."""
        context = self._open_context()
        if await context.viewer() != self._username:
            raise ExportInterrupted
        result = await SCHEMA.execute(document, variables, context)
        if result.errors:
            raise result.errors[0].original_error or result.errors[0]
        assert result.data is not None, "data is null only beside errors"
        return result.data

    async def _thing_ids(self, numbers: Sequence[int]) -> list[str]:
        """The ids of articles and comments by their numbers. Comments are in Redis or archived; others are articles."""
        partition_of = self._site.partition_of_article
        are_comments = await self._replies(
            [("EXISTS", keys.comment(partition_of(number), number)) for number in numbers]
        )
        absent = [number for number, is_comment in zip(numbers, are_comments, strict=True) if not is_comment]
        archived = await archive_reads.find_comments(self._store, self._database, absent)
        pairs = [
            (number, is_comment or number in archived) for number, is_comment in zip(numbers, are_comments, strict=True)
        ]
        return [f"comment:{number}" if is_comment else f"article:{number}" for number, is_comment in pairs]

    async def _replies(self, commands: Sequence[Command]) -> list[Any]:
        return await self._site.redis.pipeline(commands) if commands else []


def _vote_line(subject_id: str, is_up: bool, cast: int | None = None) -> Line:
    return {
        "subjectId": subject_id,
        "value": "UP" if is_up else "DOWN",
        "castAt": None if cast is None else write_instant(cast),
    }


def _flag_line(subject_id: str, flag: Flag) -> Line:
    return {"subjectId": subject_id, "reason": flag.reason.name, "note": flag.note, "at": write_instant(flag.at)}


def _edit_line(edit: Mapping[str, Any]) -> Line:
    return {"at": write_instant(edit["edited_ms"])} | {
        name: value for name, value in edit.items() if name != "edited_ms" and value is not None
    }
