"""
A history: a list of steps, which are requests with their times and sessions, and events such as restarts. The soak test
makes it at random, and can run it again on a new store.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from tests.soak.archiving import RedisLimits, Story

SHELL = 0  # stands for the number of an operation, where a command of the shell has made something


class Ref(NamedTuple):
    """A reference to an id, a token or a cursor in an earlier answer, which differs from run to run."""

    operation: int  # the number of the operation, or `SHELL`
    path: tuple[str | int, ...]  # in its answer; of what is in no answer, any values that only it has


class NotificationRef(NamedTuple):
    """A reference to the notification that a text has caused for a user. Its id has the number of the text."""

    username: str
    text: Ref


@dataclass(frozen=True)
class Operation:
    """
    A GraphQL request. `token` is the token that is sent: a reference, an invalid text, or None. `mutations` are pairs
    of a response name (alias) and the name of the mutation.
    """

    number: int
    token: Ref | str | None
    text: str
    variables: dict[str, Any]
    mutations: tuple[tuple[str, str], ...] = ()

    def refs(self) -> Iterable[Ref]:
        yield from refs_in(self.token)
        yield from refs_in(self.variables)


class StepKind(StrEnum):
    """What happens in a step. A command is one of `upvote` in a shell."""

    TOGETHER = "together"  # one operation, or several reads at once
    WRITES_AT_ONCE = "writes"  # several independent ones
    READS_OVERTAKEN = "overtaken"  # reads, and a write that is sent before they are answered; then the same reads again
    EACH_VIEWER_READS = "viewers"  # the same query, one viewer after the other
    SUBSCRIBERS_OF_ARTICLE = "subscribed"  # a write, and the viewers who have subscribed to an article
    SUBSCRIBERS_OF_NEWS = "told"  # a write, and viewers who have subscribed to new articles, notifications and queues
    WRITE_AND_SEARCHES = "searched"  # searches that follow the write at once
    # a moderator removes all texts of a user or annuls their votes, or reverts that; then the user reads
    MODERATED_IN_STEPS = "in steps"
    USER_LEAVES = "leave"
    ARTICLES_LEAVE = "archive"  # Redis, beyond `limits`; meanwhile reads are sent again and again, or next steps run
    EXPORT = "export"  # a user takes their data along
    PURGE = "purge"  # of a text by a command, beside reads
    LINK_FOR_PASSWORD = "reset"  # a user gets such a link by a command, and mostly uses it
    LOG_IN_BY_TOKEN = "token"  # of an issuer, which is exchanged for a session
    TOKEN_OF_ISSUER = "bearer"  # an operation is sent with it
    # WebSockets and a stream end with the token of an issuer; one goes on with a newer token, by which a user posts
    SOCKETS_END = "ends"
    IMPORT = "import"  # of stories by a command
    NEW_ADMIN = "admin"  # by a command
    RESTART = "restart"  # of the server
    KILL = "kill"  # of the server
    CONNECTIONS_BREAK = "drop"  # those of the server to Redis
    SESSIONS_END = "expire"  # all of them
    FAULT = "fault"  # of the database, or of the worker process that mirrors Redis to it
    HEALED = "healed"  # the fault has ended


@dataclass(frozen=True)
class Step:
    """What happens at one instant."""

    kind: StepKind
    at: int  # unix milliseconds
    operations: tuple[Operation, ...] = ()
    connections: tuple[int, ...] = field(default=())  # indexes of those over which operations are sent
    limits: RedisLimits | None = None  # of what stays in Redis
    stories: tuple[Story, ...] = ()  # that are imported
    fault: str = ""  # its name: see `Database.faults`, or "worker killed"
    admin: str = ""  # the name of who becomes one
    purged: Ref | None = None  # the id of the text
    link: Ref | None = None  # its token
    tokens: tuple[str, ...] = ()  # of an issuer: one that ends, a newer one of the same user, and one of another user


def refs_in(value: Any) -> Iterable[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, NotificationRef):
        yield value.text
    elif isinstance(value, dict):
        for each in value.values():
            yield from refs_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from refs_in(each)


def resolved(value: Any, texts: dict[Ref, str]) -> Any:
    """The value with its references replaced by their `texts` in this run; by an unknown id where there is none."""
    if isinstance(value, Ref):
        return texts.get(value, "article:1")
    if isinstance(value, NotificationRef):
        return f"notification:{value.username}:{resolved(value.text, texts).partition(':')[2]}"
    if isinstance(value, dict):
        return {name: resolved(each, texts) for name, each in value.items()}
    if isinstance(value, list):
        return [resolved(each, texts) for each in value]
    return value
