"""
Finds what is damaged in a store, and repairs what can be derived. What is derived from what:

    votes (up, down)                    the sets of voters and the poster, while voting is open; then nothing
    indexes, good, groups, timelines    the articles' hashes
    link_digest, links                  the articles' links, once `reindex` has built the index of an old store
    karma, posters                      all articles of a user
    comments, comment_karma             all comments of a user
    replies, tree, stubs, latest        the comments' hashes
    recent                              the comments' hashes, once its index in an old store is complete
    siteranked                          the articles' hashes, once it is complete in an old store
    comments (of an article), active    all comments of the article
    inbox                               all articles and comments that notify a user
    sequence                            the numbers of articles, comments and actions
    numbered                            the numbers of imported stories
    followers, groupfollowers           following, groupfollows
    mirrors of lists                    the lists
    actions                             the actions of moderators
    moderators                          the roles of users
    state, locked                       the actions of moderators: whether something is removed, and locked
    bans (of users and sessions)        the actions of moderators
    cases                               the annulled votes
    addressed                           the addresses of users
    queue                               the flags, the states of articles and comments, and the appeals
    TTLs                                the article's time, or what the key itself says
    good_votes, weights                 the settings
    archived                            the articles in the database

The kind of a key says how it is checked. What is compared is in one partition, where a script compares and repairs it
atomically: servers may write meanwhile, and no write in progress is reported. Only follows, lists of comments, and
inboxes depend on several partitions (shares of the data): what changes in one partition mean for another is applied
there first (`effects`), and these are read twice, and so are lists. `archive/maintenance.py` compares a partition with
the database. One process at a time repairs: see `repair_lease`.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from store import (
    comments,
    effects,
    followed,
    home_indexes,
    keys,
    kinds,
    leaving,
    links,
    log,
    numbering,
    recent_comments,
    removals,
    server_keys,
)
from store.client import Argument, Command, StoreUnavailable
from store.kinds import NEW_LOG, Check, Key
from store.leases import Lease
from store.maintenance import (
    annulments,
    appeals,
    comment_karma,
    dangling_follows,
    flags,
    held_edits,
    inboxes,
    lists,
    mailboxes,
    moderation,
    scan,
)
from store.maintenance.absent import FindComments, FindHashes
from store.maintenance.scan import Progress
from store.maintenance.wrong import Wrong
from store.ranking.config import orders_to_write
from store.ranking.formulas import DAY
from store.records import INSTANTS
from store.scripts.registry import Script
from store.site import Site

REBUILD_TREE = Script("rebuild_tree")
VERIFY_ARTICLE = Script("verify_article")
VERIFY_COMMENT = Script("verify_comment")
VERIFY_COUNTS = Script("verify_counts")
VERIFY_KEY = Script("verify_key")
VERIFY_MEMBERS = Script("verify_members")
VERIFY_USER = Script("verify_user")

PASSES = 5  # over all keys: their types, articles, comments, what is derived from these, and the numbers of comments
CHECKS_AT_ONCE = 100  # in a round trip
REPAIR = "repair"  # the name of the lease
LEASE_TIME = 30_000  # milliseconds after which another process may repair


@dataclass(frozen=True, slots=True)
class Finding:
    """`where` is a key, or a key and one of its fields or members."""

    where: str
    found: str
    expected: str
    repaired: bool = False


def findings_in(flat: Sequence[str]) -> list[Finding]:
    """The findings in the reply of a script that verifies, without its cursor: four values of each, as of `Finding`."""
    parts = (flat[i::4] for i in range(4))
    return [
        Finding(where, found, expected, repaired == "repaired")
        for where, found, expected, repaired in zip(*parts, strict=True)
    ]


class UserTally(NamedTuple):
    """The archived articles of a user: how many, their karma, and when the newest was posted; 0 without any."""

    articles: int = 0
    karma: int = 0
    newest: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """
    What the database has of archived articles: the highest sequence (see `numbering`) of a post, by partition, and the
    sums of users, by name in lower case. `known` has the values of these users in the hash `archived`, as they were
    when the sums were read: a user whose value is another one by now is not compared. `find` finds the hashes of
    archived articles and comments, `older` the comments of a user that may be in no list.
    """

    sequences: dict[int, int]
    users: dict[str, UserTally]
    known: dict[str, str]
    find: FindHashes
    older: FindComments


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """
    A call of a script that verifies a key. `suffix` is what follows the partition in the key; `arguments` follow it in
    ARGV. The last argument of VERIFY_MEMBERS is a cursor; VERIFY_KEY has the kind of the key, and what its value
    is compared with.
    """

    script: Script
    partition: int
    suffix: str
    arguments: tuple[Argument, ...] = ()


def repair_lease(site: Site) -> Lease:
    """The lease of the one process that repairs a store."""
    return Lease(site, REPAIR, LEASE_TIME)


async def size(site: Site) -> int:
    """How much `verify` reports as progress. One round trip."""
    return PASSES * await site.redis.size()


async def verify(
    site: Site,
    report: Callable[[Finding], None],
    *,
    repair: bool = False,
    progress: Progress = lambda count: None,
    archived: Tally | None = None,
) -> None:
    """
    Report all that is damaged, and with `repair` repair what can be derived. Without the sums of the database
    (`archived`), what depends on them is not checked.

    If a key that cannot be derived has the wrong type, only the types are checked. The articles of a user are added up
    in one step, which blocks for some 5 microseconds for each, and a damaged tree is built again in one, which blocks
    for some 20 for each comment; all other steps are short.
    """
    verification = _Verification(site, report, repair, progress, archived)
    if await verification.types():
        await verification.articles()
        await verification.comments()
        await verification.derived_keys()
        await verification.counts()
        await verification.partitions()
        await verification.settings()


class _Verification:
    """One run of `verify`: its methods are the passes over all keys, in the order in which `verify` calls them."""

    def __init__(
        self,
        site: Site,
        report: Callable[[Finding], None],
        repair: bool,
        progress: Progress,
        archived: Tally | None,
    ) -> None:
        self._site = site
        self._report = report
        self._repair = repair
        self._progress = progress
        self._archived = archived
        self._find = archived.find if archived else None
        self._database_comments = comment_karma.DatabaseComments(archived.find, archived.older) if archived else None
        self._wrong_paths: list[str] = []  # keys of comments, each with " path": the field is wrong
        self._misplaced: set[tuple[int, str]] = set()  # partition and number of articles whose trees are damaged
        partitions = range(site.partitions)
        sequences = archived.sequences if archived else {}
        # the highest sequence of any post or comment so far, by partition
        self._highest = {partition: sequences.get(partition, 0) for partition in partitions}

    async def types(self) -> bool:
        """Whether all keys have the type of their kind, so that scripts can read them."""
        readable = True
        async for texts in scan.texts(self._site, self._progress):
            found = {text: kinds.parse(text, self._site.partitions) for text in texts if text != keys.store()}
            for text in [text for text, key in found.items() if key is None]:
                self._report(Finding(text, found="there", expected="no key of this store"))
            known = [key for key in found.values() if key]
            types = await self._site.redis.pipeline([("TYPE", key.text) for key in known])
            for key, found_type in zip(known, types, strict=True):
                is_expected = found_type in (key.kind.type, "none")  # "none": deleted meanwhile
                readable &= is_expected or await self._delete_wrong_type(key, found_type)
        return readable

    async def articles(self) -> None:
        # Only complete indexes are verified: of other orders, of the links, and of those for homes (the front pages of
        # users), a process that is under way may have written a part only.
        complete_orders = orders_to_write(self._site.rankings.orders)
        complete_links = "links" if self._site.rankings.has_links else ""
        complete_homes = "homes" if self._site.rankings.has_homes else ""
        async for found in scan.known_keys(self._site, self._progress):
            articles = [key for key in found if key.kind.check is Check.ARTICLE]
            for key in [*articles, *(key for key in found if key.kind.check in (Check.COMMENT, Check.ACTION))]:
                sequence = numbering.sequence_of(int(key.suffix))
                if not numbering.is_of_story(sequence):
                    self._highest[key.partition] = max(self._highest[key.partition], sequence)
            found_links = await self._site.redis.pipeline([("HGET", key.text, "link") for key in articles])
            calls = []
            for key, found_link in zip(articles, found_links, strict=True):
                link = found_link or ""
                of_link = (complete_links, link, links.digest(link))
                arguments = (complete_orders, *of_link, self._site.partitions, complete_homes)
                calls.append(ScriptCall(VERIFY_ARTICLE, key.partition, key.suffix, arguments))
            await self._run(calls)

    async def comments(self) -> None:
        """Verify all comments, and build the trees anew in which paths are wrong."""
        async for found in scan.known_keys(self._site, self._progress):
            await self._comments([key for key in found if key.kind.check is Check.COMMENT])
        if self._repair:
            for partition, article in self._misplaced:
                # scripts that verify have `repair` or "" in place of this first argument
                await self._site.redis.run(self._site.command(REBUILD_TREE, partition, "", article))

    async def derived_keys(self) -> None:
        """Verify what is derived from articles and comments, and the kinds of keys with a check of their own."""
        with suppress(StoreUnavailable):  # a store that takes no writes can be verified, too
            await effects.complete(self._site)
        async for found in scan.known_keys(self._site, self._progress):
            await self._run([call for key in found if (call := _call(key, self._archived))])
            await self._follows([key for key in found if key.kind.check is Check.FOLLOWS])
            await self._comment_lists([key for key in found if key.kind.check is Check.COMMENTS])
            keys_of_lists = [key for key in found if key.kind.check is Check.LIST]
            await self._report_wrong(await lists.find(self._site, keys_of_lists))
            await self._moderation(found)
            await self._report_wrong(await held_edits.find(self._site, found))
            await self._report_wrong(await flags.find(self._site, found))
            await self._report_wrong(await annulments.find(self._site, found))
            await self._appeals(found)
            await self._mails(found)

    async def _moderation(self, found: Sequence[Key]) -> None:
        checked = (Check.ACTION, Check.ACTIONS, Check.MODERATORS, Check.USER)
        await self._report_wrong(await moderation.find(self._site, [key for key in found if key.kind.check in checked]))
        actions = [key for key in found if key.kind.check is Check.ACTION]
        for where, fault in await moderation.malformed(self._site, actions):
            self._report(Finding(where, found=fault, expected="a usable action"))

    async def _appeals(self, found: Sequence[Key]) -> None:
        await self._report_wrong(await appeals.find(self._site, found))
        for where, fault in await appeals.malformed(self._site, found):
            self._report(Finding(where, found=fault, expected="a usable appeal"))

    async def _mails(self, found: Sequence[Key]) -> None:
        await self._report_wrong(await mailboxes.find(self._site, found))
        for where, fault in await mailboxes.malformed(self._site, found):
            self._report(Finding(where, found=fault, expected="usable addresses"))

    async def counts(self) -> None:
        async for found in scan.known_keys(self._site, self._progress):
            counted = [key for key in found if key.name in ("article", "comment")]
            await self._run([ScriptCall(VERIFY_COUNTS, key.partition, key.suffix, (key.name,)) for key in counted])
            owned = [key for key in found if key.kind.check is Check.INBOX]
            causes = [*counted, *(key for key in found if key.kind is keys.action)]
            await self._report_wrong(await inboxes.find(self._site, owned, causes, self._find))
        if self._repair:
            for partition in range(self._site.partitions):
                await removals.remove_all(self._site, partition)  # comments that deletions have left to be removed

    async def partitions(self) -> None:
        for partition, highest in self._highest.items():
            no_suffix = ""  # a partition has one such key
            await self._run([ScriptCall(VERIFY_KEY, partition, no_suffix, ("sequence", highest))])
            first_cursor, names = "0", ("groups", "posters")
            calls = [ScriptCall(VERIFY_MEMBERS, partition, no_suffix, (name, first_cursor)) for name in names]
            await self._run(calls)
            await self._imported(partition)
            await self._server_keys(partition)

    async def settings(self) -> None:
        """Written last: until all indexes are rebuilt, the store keeps its old settings and cannot be opened."""
        is_changed = False
        if self._repair and not self._site.rankings.has_recent_comments:
            await recent_comments.fill(self._site)
        if self._repair and not self._site.rankings.has_homes:
            await home_indexes.fill(self._site)
        for name, value in self._site.policy.kept_in_indexes().items():
            known = await self._site.redis.run(("HGET", keys.store(), name))
            if known is None or float(known) != value:
                if self._repair:
                    await self._site.redis.run(("HSET", keys.store(), name, str(value)))
                    is_changed = True
                self._report(Finding(f"{keys.store()} {name}", known or "nothing", str(value), self._repair))
        if is_changed:  # all processes have to read the settings again
            await self._site.redis.pipeline(
                [log.ranked(self._site, partition) for partition in range(self._site.partitions)]
            )

    async def _delete_wrong_type(self, key: Key, found: str) -> bool:
        """Whether a key of the wrong type was deleted because it can be rebuilt."""
        deleted = self._repair and bool(key.kind.rebuilt_from)
        if deleted:
            await self._site.redis.run(("DEL", key.text))
            if key.kind.rebuilt_from == NEW_LOG:
                await log.restart(self._site, key.partition)
        more = "" if deleted else " before more can be verified"
        self._report(Finding(key.text, f"a {found}", f"a {key.kind.type}{more}", deleted))
        return deleted

    async def _follows(self, sides: Sequence[Key]) -> None:
        for dangling in await dangling_follows.find(self._site, sides):
            if self._repair:
                await dangling_follows.repair(self._site, dangling)
            where = f"{dangling_follows.followers_key(self._site, dangling)} {dangling.follower}"
            expected = _text(dangling.following)  # what followers are derived from
            self._report(Finding(where, _text(dangling.followed), expected, self._repair))

    async def _comments(self, found: Sequence[Key]) -> None:
        hashes = await self._site.redis.pipeline([("HMGET", key.text, "poster", "article") for key in found])
        recent = "recent" if self._site.rankings.has_recent_comments else ""
        of_all = (self._site.partitions, comments.STUBS_AT_ONCE, recent)
        calls = [
            ScriptCall(VERIFY_COMMENT, key.partition, key.suffix, (keys.slot(poster) if poster else "", *of_all))
            for key, (poster, _) in zip(found, hashes, strict=True)
        ]
        count_before = len(self._wrong_paths)
        await self._run(calls)
        for key, (_, article) in zip(found, hashes, strict=True):
            if f"{key.text} path" in self._wrong_paths[count_before:]:
                self._misplaced.add((key.partition, article))

    async def _comment_lists(self, found: Sequence[Key]) -> None:
        await self._report_wrong(await comment_karma.find(self._site, found, self._database_comments))

    async def _report_wrong(self, found: Sequence[Wrong]) -> None:
        """Report and repair what is wrong, except what names a user who is being deleted: that changes step by step."""
        leavers = await leaving.names(self._site) if found else set()
        for wrong in found:
            if not leavers.isdisjoint(re.split("[ :]", wrong.where.lower())):
                continue
            if self._repair:
                await self._site.redis.run(wrong.repair)
            self._report(Finding(wrong.where, wrong.found or "nothing", wrong.expected or "nothing", self._repair))

    async def _imported(self, partition: int) -> None:
        async for stories in scan.imported_stories(self._site, partition):
            sequences = []
            for story, number in stories.items():
                if keys.NUMBER.fits(number) and self._site.partition_of_article(int(number)) == partition:
                    sequences.append(numbering.sequence_of(int(number)))
                else:
                    where = f"{keys.imported(partition)} {story}"
                    self._report(Finding(where, found=number, expected="the number of an article of this partition"))
            await self._numbered(partition, [sequence for sequence in sequences if numbering.is_of_story(sequence)])

    async def _server_keys(self, partition: int) -> None:
        """The hash of the secrets by which servers identify themselves: well-formed, and in one partition only."""
        for name, value in (await self._site.redis.run(("HGETALL", server_keys.serverkeys(partition)))).items():
            if (
                partition != server_keys.PARTITION
                or not server_keys.NAME.fullmatch(name)
                or not server_keys.VALUE.fullmatch(value)
            ):
                expected = f"a name and a digest, in partition {server_keys.PARTITION}"
                self._report(Finding(f"{server_keys.serverkeys(partition)} {name}", value, expected))

    async def _numbered(self, partition: int, sequences: Sequence[int]) -> None:
        """Sequences of stories must be in `numbered`, which may also have sequences of deleted stories."""
        if not sequences:
            return
        key, redis = keys.numbered(partition), self._site.redis
        values = await redis.run(("ZMSCORE", key, *sequences))
        for sequence, value in zip(sequences, values, strict=True):
            if value is None or float(value) != sequence:
                if self._repair:
                    await redis.run(("ZADD", key, sequence, sequence))
                self._report(Finding(f"{key} {sequence}", _text(value), f"{sequence}", self._repair))

    async def _run(self, calls: Sequence[ScriptCall]) -> None:
        while calls:
            now, later = calls[:CHECKS_AT_ONCE], list(calls[CHECKS_AT_ONCE:])
            replies = await self._site.redis.pipeline([self._command(call) for call in now])
            for call, (cursor, *flat) in zip(now, replies, strict=True):
                for finding in findings_in(flat):
                    # The script repairs no path: `comments` builds the tree anew afterwards.
                    is_path = call.script is VERIFY_COMMENT and finding.where.endswith(" path")
                    if is_path:
                        self._wrong_paths.append(finding.where)
                    self._report(replace(finding, repaired=self._repair) if is_path else finding)
                if cursor != "0":
                    later.append(ScriptCall(call.script, call.partition, call.suffix, (*call.arguments[:-1], cursor)))
            calls = later

    def _command(self, call: ScriptCall) -> Command:
        repairing = "repair" if self._repair else ""
        return self._site.command(call.script, call.partition, repairing, call.suffix, *call.arguments)


def _call(key: Key, archived: Tally | None) -> ScriptCall | None:
    """The script that checks a key; None where nothing but its type is checked, or where that is done elsewhere."""
    match key.kind.check:
        case Check.MEMBERS:
            return ScriptCall(VERIFY_MEMBERS, key.partition, key.suffix, (key.name, "0"))
        case Check.USER:
            known = archived.known.get(key.suffix, "") if archived else "?"  # "?": what the database has is unknown
            sums = archived.users.get(key.suffix, UserTally()) if archived else UserTally()
            latest = INSTANTS[-1]  # no position in a feed is later
            return ScriptCall(VERIFY_USER, key.partition, key.suffix, (keys.slot(key.suffix), latest, known, *sums))
        case Check.VALUE:
            lifetime = DAY * 1000  # milliseconds: of the keys of repeated calls, `posted` and `commented`
            return ScriptCall(VERIFY_KEY, key.partition, key.suffix, (key.name, lifetime))
        case Check.FOLLOWS if key.kind is not followed.group_followers:  # which belong to no user
            return ScriptCall(VERIFY_KEY, key.partition, key.suffix, (key.name, key.text))
    return None


def _text(value: float | None) -> str:
    return "nothing" if value is None else f"{float(value):.0f}"
