"""Which errors of a server may pass, what to do about them, and how they are told to whoever asked."""

from collections.abc import Iterable

from hiredis import ReplyError

from store.errors import StoreUnavailable

PASSING = {  # faults that may be gone when a command is sent again
    *("LOST", "CROWDED", "NOSCRIPT", "MOVED", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "LOADING", "BUSY"),
    *("UNCONFIRMED", "NOREPLICAS", "UNBLOCKED"),
}
AT_ONCE = {"NOSCRIPT", "MOVED"}  # those for which nothing has to be waited for
ELSEWHERE = {"LOST", "MOVED", "CLUSTERDOWN", "MASTERDOWN", "READONLY"}  # those after which another server may be right
REASONS = {
    "OOM": "the store is out of memory: it can be read only, and nothing was changed",
    "MISCONF": "the store cannot keep anything on its disk: it can be read only, and nothing was changed",
    "NOPERM": "the store takes no writes: its disk has too little room, or its user may not write; nothing was changed",
    "NOREPLICAS": "too few replicas are there: nothing was changed",
    "UNCONFIRMED": "too few replicas have confirmed a change: it may hold or not, and is safe to be sent again",
    "LOADING": "the store is starting",
    "CLOSED": "the store is being moved, or was: it can be read only, and nothing was changed",
    "CROWDED": "too many wait for the store",
}


def kind(error: ReplyError) -> str:
    text = str(error)
    return "NOPERM" if text.startswith("ERR ACL failure in script") else text.partition(" ")[0]


def unavailable(errors: Iterable[ReplyError]) -> StoreUnavailable:
    """The fault that a pipeline ends with: the first that does not pass, if there is one."""
    errors = sorted(errors, key=lambda error: kind(error) in PASSING)
    first = kind(errors[0])
    default = "the store does not answer" if first in PASSING else "the store refused a command"
    fault = StoreUnavailable(REASONS.get(first, default))
    fault.__cause__ = errors[0]
    return fault
