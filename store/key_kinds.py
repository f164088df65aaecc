"""Which keys a store may have: the type and the name of each kind, and the partition that its name tells."""

import re
from dataclasses import dataclass

from store import keys
from store.ranking.formulas import ORDERS
from store.site import Site

NUMBER = re.compile(r"[1-9][0-9]{0,15}")
USERNAME = re.compile(r"[a-z0-9_-]{2,20}")
GROUP = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,49}}:({'|'.join(ORDERS)})")
PIN = re.compile(rf"(?:group:{GROUP.pattern}|({'|'.join(ORDERS)})):(0|[1-9][0-9]{{0,15}})")
DIGEST = re.compile(r"[0-9a-f]{64}")
POSTED = re.compile(rf"{USERNAME.pattern}:{DIGEST.pattern}")
NOTHING = re.compile("")

KINDS = {
    "article": ("hash", NUMBER),
    "voted": ("set", NUMBER),
    "downvoted": ("set", NUMBER),
    "sequence": ("string", NOTHING),
    **dict.fromkeys(ORDERS, ("zset", NOTHING)),
    "good": ("zset", NOTHING),
    "ranking": ("hash", NOTHING),
    "coming": ("zset", GROUP),
    "pin": ("zset", PIN),
    "group": ("zset", GROUP),
    "groups": ("zset", NOTHING),
    "user": ("hash", USERNAME),
    "timeline": ("zset", USERNAME),
    "posters": ("zset", NOTHING),
    "following": ("zset", USERNAME),
    "followers": ("zset", USERNAME),
    "session": ("string", DIGEST),
    "sessions": ("zset", USERNAME),
    "posted": ("string", POSTED),
    "tried": ("list", DIGEST),
    "bucket": ("string", DIGEST),
    "imported": ("hash", NOTHING),
    "numbered": ("zset", NOTHING),
    "mark": ("string", NOTHING),
    "closed": ("string", NOTHING),
}
DERIVED = {
    *("sequence", "numbered", *ORDERS, "good", "coming", "pin", "group", "groups", "timeline", "posters", "followers"),
}


@dataclass(frozen=True, slots=True)
class Key:
    """`name` is what follows the tag."""

    text: str
    kind: str
    p: int
    name: str

    @property
    def type(self) -> str:
        return KINDS[self.kind][0]

    @property
    def is_derived(self) -> bool:
        """Whether it can be made anew from the keys of other kinds."""
        return self.kind in DERIVED


def key(site: Site, text: str) -> Key | None:
    """The key that a text is; None where the store has no such key, or not in this partition."""
    parts = keys.parts(text)
    if parts is None or parts[0] not in KINDS:
        return None
    kind, p, name = parts
    _, pattern = KINDS[kind]
    if not pattern.fullmatch(name) or p != _home(site, pattern, p, name):
        return None
    return Key(text, kind, p, name)


def _home(site: Site, pattern: re.Pattern[str], p: int, name: str) -> int:
    if pattern is NUMBER:
        return site.home_of_article(int(name))
    if pattern in (USERNAME, POSTED):
        return site.home_of_user(name.split(":")[0])
    return p if p < site.partitions else -1
