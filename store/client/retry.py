"""Classifies the error replies of servers: which are worth a retry, and what a caller is told in the end."""

from collections.abc import Iterable

from hiredis import ReplyError

from store.client.errors import StoreUnavailable

RETRYABLE = {
    *("LOST", "CROWDED", "NOSCRIPT", "MOVED", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "LOADING", "BUSY"),
    *("UNCONFIRMED", "NOREPLICAS", "UNBLOCKED"),
}
RETRY_AT_ONCE = {"NOSCRIPT", "MOVED"}  # no pause is needed before the first retry
WRONG_SERVER = {"LOST", "MOVED", "CLUSTERDOWN", "MASTERDOWN", "READONLY"}  # another server may be the right one by now
MESSAGES = {
    "OOM": "the store is out of memory: it can be read only, and nothing was changed",
    "MISCONF": "the store cannot write to its disk: it can be read only, and nothing was changed",
    "NOPERM": "the store takes no writes: its disk has too little room, or its user may not write; nothing was changed",
    "NOREPLICAS": "the store has too few replicas: nothing was changed",
    "UNCONFIRMED": "too few replicas confirmed a change: it may hold or not, and is safe to be sent again",
    "LOADING": "the store is starting",
    "CLOSED": "the store is being moved, or was: it can be read only, and nothing was changed",
    "CROWDED": "too many requests wait for the store",
}


def error_code(error: ReplyError) -> str:
    text = str(error)
    return "NOPERM" if text.startswith("ERR ACL failure in script") else text.partition(" ")[0]


def to_exception(errors: Iterable[ReplyError]) -> StoreUnavailable:
    """The exception for the error replies of a pipeline. Errors that no retry could mend take precedence."""
    errors = sorted(errors, key=lambda error: error_code(error) in RETRYABLE)
    code = error_code(errors[0])
    default = "the store does not answer" if code in RETRYABLE else "the store refused a command"
    exception = StoreUnavailable(MESSAGES.get(code, default))
    exception.__cause__ = errors[0]
    return exception
