"""
Finding what is broken in a store, and mending what can be derived. What is derived from what:

    votes (up, down)                    the voter sets while voting is open, which the poster is in; then nothing
    indexes, good, groups, timelines    the articles' hashes
    karma, posters                      all articles of a user
    sequence                            the articles' numbers
    numbered                            the numbers of imported stories
    followers                           following
    TTLs                                the article's time, or what the key itself says
    good_votes, weights                 the settings

What is compared stands in one partition, where a script compares and mends it in one step: a server may go on writing
meanwhile, and nothing is reported that was only on its way. Follows have two sides, so these are looked at twice.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from store import actor_scripts, key_kinds, keys, numbering
from store.client.commands import Argument, Command
from store.key_kinds import Key
from store.maintenance import dangling_follows
from store.ranking.config import orders_to_write
from store.ranking.formulas import DAY, ORDERS
from store.records import INSTANTS
from store.scripts.registry import VERIFY_ARTICLE, VERIFY_KEY, VERIFY_MEMBERS, VERIFY_USER, Script
from store.site import Site

WALKS = 3  # over all keys: their types, then articles, then what is derived from these
SCANNED = 500  # keys at once, about
CHECKED = 100  # things in a round trip
SORTED_SETS = {*ORDERS, "good", "group", "coming", "timeline"}


@dataclass(frozen=True, slots=True)
class Finding:
    """`where` is a key, and a field or a member of it."""

    where: str
    found: str
    expected: str
    mended: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """`arguments` are what the script takes after the name; of members the last is a cursor."""

    script: Script
    p: int
    name: str
    arguments: tuple[Argument, ...] = ()


async def size(site: Site) -> int:
    """How many keys `verify` walks over, each as often as it does. One round trip."""
    return WALKS * await site.redis.size()


async def verify(
    site: Site, tell: Callable[[Finding], None], *, repair: bool = False, walked: Callable[[int], None] | None = None
) -> None:
    """
    Walk the store, tell of all that is broken, and with `repair` mend it where something tells how it should be.

    Where a key has a type that nothing can be made of, the rest is not looked at. A user's articles are added up in one
    step, of about 5 microseconds each; all other steps are short.
    """
    walk = _Walk(site, tell, repair, walked)
    if await walk.types():
        await walk.articles()
        await walk.others()
        await walk.partitions()
        await walk.settings()


class _Walk:
    def __init__(
        self, site: Site, tell: Callable[[Finding], None], repair: bool, walked: Callable[[int], None] | None
    ) -> None:
        self._site = site
        self._tell = tell
        self._repair = repair
        self._walked = walked
        self._highest = dict.fromkeys(range(site.partitions), 0)  # sequence of any post, by partition

    async def types(self) -> bool:
        """Whether scripts can read all keys, as each has the type of its kind."""
        readable = True
        async for texts in self._scan():
            found = {text: key_kinds.key(self._site, text) for text in texts if text != keys.store()}
            for text in (text for text, key in found.items() if key is None):
                self._tell(Finding(text, "there", "no key of this store"))
            known = [key for key in found.values() if key]
            types = await self._site.redis.pipeline([("TYPE", key.text) for key in known])
            for key, kind in zip(known, types, strict=True):
                readable &= kind in (key.type, "none") or await self._retype(key, kind)
        return readable

    async def articles(self) -> None:
        whole = orders_to_write(self._site.rankings.orders)  # others may be half-made while a reindex is not finished
        async for found in self._keys():
            articles = [key for key in found if key.kind == "article"]
            for key in articles:
                sequence = numbering.sequence(int(key.name))
                if not numbering.is_of_story(sequence):
                    self._highest[key.p] = max(self._highest[key.p], sequence)
            await self._run([Check(VERIFY_ARTICLE, key.p, key.name, (whole,)) for key in articles])

    async def others(self) -> None:
        async for found in self._keys():
            await self._run([check for key in found if (check := _check(key))])
            await self._follows([key for key in found if key.kind in ("following", "followers")])

    async def partitions(self) -> None:
        for p, highest in self._highest.items():
            await self._run([Check(VERIFY_KEY, p, "", ("sequence", highest))])
            await self._run([Check(VERIFY_MEMBERS, p, "", (kind, "0")) for kind in ("groups", "posters")])
            await self._imported(p)

    async def settings(self) -> None:
        """Last, so that a store of which not all indexes are rebuilt keeps its old values and is refused."""
        for name, value in self._site.policy.kept_in_indexes().items():
            known = await self._site.redis.run(("HGET", keys.store(), name))
            if known is None or float(known) != value:
                if self._repair:
                    await self._site.redis.run(("HSET", keys.store(), name, str(value)))
                self._tell(Finding(f"{keys.store()} {name}", known or "nothing", str(value), self._repair))

    async def _retype(self, key: Key, found: str) -> bool:
        """Take away what has the wrong type and can be made anew."""
        mended = self._repair and key.is_derived
        if mended:
            await self._site.redis.run(("DEL", key.text))
        more = "" if mended else " before more can be verified"
        self._tell(Finding(key.text, f"a {found}", f"a {key.type}{more}", mended))
        return mended

    async def _follows(self, sides: Sequence[Key]) -> None:
        for half in await dangling_follows.broken(self._site, sides):
            if self._repair:
                await dangling_follows.mend(self._site, half)
            where = f"{dangling_follows.followers(self._site, half)} {half.follower}"
            self._tell(Finding(where, _since(half.followed), _since(half.following), self._repair))

    async def _imported(self, p: int) -> None:
        key, cursor = keys.imported(p), ""
        while cursor != "0":
            cursor, flat = await self._site.redis.run(("HSCAN", key, cursor or "0", "COUNT", SCANNED))
            given = []
            for story, number in zip(flat[::2], flat[1::2], strict=True):
                if not key_kinds.NUMBER.fullmatch(number) or self._site.home_of_article(int(number)) != p:
                    self._tell(Finding(f"{key} {story}", number, "the number of an article of this partition"))
                else:
                    given.append(numbering.sequence(int(number)))
            await self._numbered(p, [sequence for sequence in given if numbering.is_of_story(sequence)])

    async def _numbered(self, p: int, sequences: Sequence[int]) -> None:
        """What was given to stories; it is only ever added to."""
        if not sequences:
            return
        key, connection = keys.numbered(p), self._site.redis
        places = await connection.run(("ZMSCORE", key, *sequences))
        for sequence, place in zip(sequences, places, strict=True):
            if place is None or float(place) != sequence:
                if self._repair:
                    await connection.run(("ZADD", key, sequence, sequence))
                self._tell(Finding(f"{key} {sequence}", _since(place), f"{sequence}", self._repair))

    async def _keys(self) -> AsyncIterator[list[Key]]:
        async for texts in self._scan():
            yield [key for text in texts if (key := key_kinds.key(self._site, text))]

    async def _scan(self) -> AsyncIterator[list[str]]:
        async for texts in self._site.redis.scan(SCANNED):
            yield texts
            if self._walked:
                self._walked(len(texts))

    async def _run(self, checks: Sequence[Check]) -> None:
        while checks:
            now, later = checks[:CHECKED], list(checks[CHECKED:])
            replies = await self._site.redis.pipeline([self._command(check) for check in now])
            for check, (cursor, *flat) in zip(now, replies, strict=True):
                for where, found, expected, mended in zip(*(flat[i::4] for i in range(4)), strict=True):
                    self._tell(Finding(where, found, expected, mended == "mended"))
                if cursor != "0":
                    later.append(Check(check.script, check.p, check.name, (*check.arguments[:-1], cursor)))
            checks = later

    def _command(self, check: Check) -> Command:
        mending = "mend" if self._repair else ""
        return actor_scripts.command(self._site, check.script, check.p, "", mending, check.name, *check.arguments)


def _check(key: Key) -> Check | None:
    if key.kind in SORTED_SETS:
        return Check(VERIFY_MEMBERS, key.p, key.name, (key.kind, "0"))
    match key.kind:
        case "user":
            return Check(VERIFY_USER, key.p, key.name, (keys.slot(key.name), INSTANTS[-1]))
        case "posted":
            return Check(VERIFY_KEY, key.p, key.name, (key.kind, DAY * 1000))
        case "voted" | "downvoted" | "session":
            return Check(VERIFY_KEY, key.p, key.name, (key.kind,))
        case "following" | "followers":
            return Check(VERIFY_KEY, key.p, key.name, (key.kind, key.text))
    return None


def _since(instant: float | None) -> str:
    return "nothing" if instant is None else f"{instant:.0f}"
