"""
A history: a list of steps, which are requests with their times and sessions, and events such as restarts. The soak test
makes it at random, and can run it again on a new store.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.soak.archiving import Stay, Story


class Ref(NamedTuple):
    """A reference to an id, a token or a cursor in an earlier answer, which differs from run to run."""

    operation: int  # the number of the operation; 0 for what a command of the shell has made
    path: tuple[str | int, ...]  # in its answer; for what is not in an answer, anything that tells it apart


class NotificationRef(NamedTuple):
    """A reference to the notification of a user by a text, which has the number of the text."""

    username: str
    text: Ref


@dataclass(frozen=True)
class Operation:
    """
    A request. `token` is the token that is sent: a reference, an invalid text, or None. `mutations` are pairs of a
    response name and its root field.
    """

    number: int
    token: Ref | str | None
    text: str
    variables: dict[str, Any]
    mutations: tuple[tuple[str, str], ...] = ()

    def refs(self) -> Iterable[Ref]:
        yield from refs_in(self.token)
        yield from refs_in(self.variables)


@dataclass(frozen=True)
class Step:
    """
    What happens at one instant, by `kind`:

    - together: one operation, or several reads at once
    - writes: several independent writes at once
    - overtaken: reads, and a write that is sent before they are answered
    - viewers: the same read by different viewers, one after the other
    - subscribed: a write, and the viewers who have subscribed to an article
    - told: a write, and viewers who have subscribed to new articles, notifications and queues
    - searched: a write, and searches that follow it at once
    - in steps: what a moderator does to all texts or votes of a user, or the revert of it, and what the user then reads
    - leave: a user is deleted
    - archive: reads that are sent again and again while articles leave Redis as `stay` says; without reads the next
      steps are run then
    - export: a user takes their data along
    - purge: a text is purged by a command of the shell, beside reads
    - reset: a user gets a link by a command of the shell, and mostly chooses a password by it
    - token: the token of an issuer is exchanged for a session
    - bearer: an operation by the token of an issuer itself
    - ends: sockets and a stream by tokens of issuers that end, of which one goes on with a newer one, and then a write
    - import, admin: stories are imported, or a user becomes an admin, by a command of the shell
    - restart, kill: of the server; drop: its Redis connections break; expire: all sessions end
    - fault, healed: what happens to the database or the mirror, and its end
    """

    kind: str
    at: int  # unix milliseconds
    operations: tuple[Operation, ...] = ()
    connections: tuple[int, ...] = field(default=())  # indexes of those over which operations are sent
    stay: Stay | None = None
    stories: tuple[Story, ...] = ()  # that are imported
    fault: str = ""
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
    """The value with the references replaced by the texts of this run, or by an unknown id."""
    if isinstance(value, Ref):
        return texts.get(value, "article:1")
    if isinstance(value, NotificationRef):
        return f"notification:{value.username}:{resolved(value.text, texts).partition(':')[2]}"
    if isinstance(value, dict):
        return {name: resolved(each, texts) for name, each in value.items()}
    if isinstance(value, list):
        return [resolved(each, texts) for each in value]
    return value
