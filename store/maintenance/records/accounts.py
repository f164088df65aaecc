"""
Backup records of users and of what belongs to them: follows, idempotency keys (by which a repeated post is known),
sessions. A partition is a share of the data.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from store import comment_lists, followed, idempotency, keys, leaving, moderation_records, records, roles, validation
from store.client import Command
from store.kinds import Key, Kind
from store.leaving import Leaver
from store.maintenance.records.record import (
    INSTANT,
    OnSkipped,
    Record,
    check_fields,
    check_instant,
    check_number,
    check_text,
    flat,
    shown,
    valid,
    without_malformed,
)
from store.scripts.registry import Script
from store.sessions import MAX_SESSIONS, OPEN_SESSION
from store.site import Site, parse_login

USER_FIELDS = {"name": records.NAME, "joined": INSTANT}
LEFT = re.compile(rf"[A-Za-z0-9_-]{{2,20}} {records.PSEUDONYM.pattern} (?:keep|remove)")  # as `Leaver.parse` takes it
NAME_KEY = re.compile("[0-9a-f]{64}")  # the key for digests of names
NAME_DIGEST = re.compile("[0-9a-f]{40}")  # HMAC-SHA1
DROPPABLE = {  # left out if they are malformed; see `keys.user`
    "karma": re.compile(r"-?[0-9]{1,15}"),
    "seen": re.compile(r"-?[0-9]{1,16}(?:\.[0-9]+)?(?:e\+?[0-9]{1,2})? [0-9]{1,16}"),
    "inbox_seen": re.compile("[0-9]{1,15} [0-9]{16}"),
    "inbox_dropped": INSTANT,
    "roles": moderation_records.ROLES,
    "bans": moderation_records.BANS,
    "upvoters": records.UPVOTERS,
    "flag_outcomes": records.FLAG_OUTCOMES,
    "display_name": re.compile(f".{{1,{validation.DISPLAY_NAME_LENGTH}}}"),
    "about": re.compile(f"(?s:.{{1,{validation.ABOUT_LENGTH}}})"),
    "avatar_url": re.compile(rf"(?i:https?)://\S{{1,{validation.LINK_LENGTH}}}"),
}
KARMA = ("karma", "comment_karma")  # fields of a user that are derived
LOGIN = re.compile(r"[0-9a-f]{1,64} [0-9]{1,15}(?: [ -~]{1,80})?")  # id of a session, when it was opened, the program
# username, when it ends, when it was used last, and the bans of the user
STORED_SESSION = re.compile(r"[A-Za-z0-9_-]+ [0-9]{1,15}(?: [0-9]{1,15})?(?: [^ ]+=.*)?")
POSTED = re.compile(r"([1-9][0-9]{0,15}) [0-9]{1,15} [0-9a-f]{1,64}")  # number, time, digest of the input or the call
DEPARTED_AT_ONCE = 1_000  # pseudonyms in a record
MALFORMED = -1  # in place of an instant, which `check` refuses

RESTORE_POSTED = Script("restore_posted")


@dataclass(frozen=True, slots=True)
class UserRecord(Record):
    """The hash of a user."""

    kind = "user"

    fields: dict[str, str]

    def check(self) -> None:
        check_fields(f"user {shown(self.fields.get('name'))}", self.fields, needed=USER_FIELDS, optional=DROPPABLE)

    def commands(self, site: Site) -> Iterator[Command]:
        key = keys.user(site.partition_of_user(self.fields["name"]), self.fields["name"])
        yield ("HSET", key, *flat({name: value for name, value in self.fields.items() if name not in KARMA}))
        yield ("HINCRBY", key, "karma", 0)  # for users without articles
        yield from roles.index_commands(site, self.fields["name"], self.fields.get("roles", ""))


@dataclass(frozen=True, slots=True)
class LeavingRecord(Record):
    """A user who was being deleted: what `leaving` has, since when, and when the user joined (unix milliseconds)."""

    kind = "leaving"

    text: str
    since: int
    joined: int

    def check(self) -> None:
        check_text("user who is being deleted", "entry", self.text, LEFT)
        check_instant(f"deletion of {shown(self.text)}", "time", self.since)
        check_instant(f"deletion of {shown(self.text)}", "joined", self.joined)

    def commands(self, site: Site) -> Iterator[Command]:
        name = Leaver.parse(self.text).name
        partition = site.partition_of_user(name)
        yield ("HSET", keys.user(partition, name), "left", self.text, "joined", self.joined)
        yield ("HINCRBY", keys.user(partition, name), "karma", 0)
        yield ("ZADD", leaving.leaving(partition), self.since, self.text)


@dataclass(frozen=True, slots=True)
class DepartedRecord(Record):
    """The pseudonyms of deleted users by the digests of their names, and the key of these digests."""

    kind = "departed"

    key: str
    pseudonyms: dict[str, str]

    def check(self) -> None:
        check_text("deleted users", "key", self.key, NAME_KEY)
        for digest, pseudonym in self.pseudonyms.items():
            check_text("deleted users", "digest", digest, NAME_DIGEST)
            check_text("deleted users", "pseudonym", pseudonym, records.PSEUDONYM)

    def commands(self, site: Site) -> Iterator[Command]:
        for partition in {0, *map(site.partition_of_user, self.pseudonyms.values())}:
            yield ("SET", leaving.namekey(partition), self.key)
        for digest, pseudonym in self.pseudonyms.items():
            yield ("HSET", leaving.departed(site.partition_of_user(pseudonym)), digest, pseudonym)


@dataclass(frozen=True, slots=True)
class FollowsRecord(Record):
    """`followees` has since when each is followed (unix milliseconds). Names are as written at registration."""

    kind = "follows"

    follower: str
    followees: dict[str, int]

    def check(self) -> None:
        where = f"follows of {shown(self.follower)}"
        check_text(where, "follower", self.follower, validation.USERNAME)
        for followee, since in self.followees.items():
            check_text(where, "followee", followee, validation.USERNAME)
            check_instant(where, f"time of {followee}", since)

    def commands(self, site: Site) -> Iterator[Command]:
        for followee, since in self.followees.items():
            yield ("ZADD", followed.followers(site.partition_of_user(followee), followee), since, self.follower)
        members = [part for followee, since in self.followees.items() for part in (since, followee)]
        yield ("ZADD", followed.following(site.partition_of_user(self.follower), self.follower), *members)


@dataclass(frozen=True, slots=True)
class GroupFollowsRecord(Record):
    """`groups` has since when each is followed (unix milliseconds). The name is as written at registration."""

    kind = "groupfollows"

    follower: str
    groups: dict[str, int]

    def check(self) -> None:
        where = f"groups that {shown(self.follower)} follows"
        check_text(where, "follower", self.follower, validation.USERNAME)
        for group, since in self.groups.items():
            check_text(where, "group", group, keys.GROUP)
            check_instant(where, f"time of {group}", since)

    def commands(self, site: Site) -> Iterator[Command]:
        for group, since in self.groups.items():
            yield ("ZADD", followed.group_followers(site.partition_of_group(group), group), since, self.follower)
        members = [part for group, since in self.groups.items() for part in (since, group)]
        yield ("ZADD", followed.followed_groups(site.partition_of_user(self.follower), self.follower), *members)


@dataclass(frozen=True, slots=True)
class PostedRecord(Record):
    """
    By what a post is known that repeats an earlier one: `digest` is that of its idempotency key or input, `value` what
    is stored under it (see `POSTED`). `ends` is when the key expires (unix milliseconds).
    """

    kind = "posted"

    username: str
    digest: str
    value: str
    ends: int

    def check(self) -> None:
        where = f"posted by {shown(self.username)}"
        check_text(where, "username", self.username, keys.USERNAME)
        check_text(where, "digest", self.digest, keys.DIGEST)
        check_text(where, "value", self.value, POSTED)
        check_number(where, self.number)
        check_instant(where, "end", self.ends)

    @property
    def number(self) -> int:
        """The number of the article or comment that was posted."""
        return int(self.value.split()[0])

    def commands(self, site: Site) -> Iterator[Command]:
        return self._restored(site, idempotency.POSTED, site.partition_of_user(self.username), keys.article)

    def _restored(self, site: Site, kind: Kind, partition: int, subject: Kind) -> Iterator[Command]:
        """The command that restores the key, if what was posted is there; `subject` is the kind of its key."""
        lifetime = self.ends - site.clock()
        if lifetime > 0:
            both = [kind(partition, self.username, self.digest), subject(partition, self.number)]
            yield RESTORE_POSTED.command(both, self.value, lifetime)


@dataclass(frozen=True, slots=True)
class CommentedRecord(PostedRecord):
    """As PostedRecord, of a comment."""

    kind = "commented"

    def commands(self, site: Site) -> Iterator[Command]:
        return self._restored(site, idempotency.COMMENTED, site.partition_of_article(self.number), keys.comment)


@dataclass(frozen=True, slots=True)
class SessionRecord(Record):
    """
    `ends` and `used` are in unix milliseconds, `used` is 0 if it is not known. `bans` are the words of the user's bans,
    `details` is what `logins` has (see `LOGIN`), "" for a session of an earlier version.
    """

    kind = "session"

    digest: str
    username: str
    ends: int
    bans: str
    used: int
    details: str

    def check(self) -> None:
        where = f"session of {shown(self.username)}"
        check_text(where, "digest", self.digest, keys.DIGEST)
        check_text(where, "username", self.username, validation.USERNAME)
        check_instant(where, "end", self.ends)
        check_text(where, "bans", self.bans, moderation_records.BANS)
        check_instant(where, "last use", self.used)
        if self.details:
            check_text(where, "details", self.details, LOGIN)

    def commands(self, site: Site) -> Iterator[Command]:
        now = site.clock()
        if self.ends > now:
            beginning = OPEN_SESSION.beginning(site.partition_of_user(self.username))
            verified_hash = ""  # no password was verified
            times = (now, self.ends, self.used or "")
            yield (*beginning, verified_hash, self.username, self.digest, *times, self.details, MAX_SESSIONS, self.bans)


FOLLOWS: dict[str, type[FollowsRecord | GroupFollowsRecord]] = {  # by the kinds of keys
    "following": FollowsRecord,
    "groupfollows": GroupFollowsRecord,
}


async def read_users(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[UserRecord]:
    read: list[tuple[str, UserRecord]] = []
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    for key, fields in zip(found, replies, strict=True):
        if "left" in fields:  # `read_leaving` reads it
            continue
        if fields.get("name", "").lower() == key.suffix:
            usable = without_malformed(key.text, fields, DROPPABLE, on_skipped)
            for derived in ("comment_karma", comment_lists.FLOOR_FIELD):  # a restored list of comments is whole
                usable.pop(derived, None)
            read.append((key.text, UserRecord(usable)))
        else:
            on_skipped(key.text)
    return valid(read, on_skipped)


async def read_leaving(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[LeavingRecord]:
    """The users in some keys of the kind `leaving`."""
    read = []
    for key in found:
        for text, since in await site.redis.run(("ZRANGE", key.text, 0, -1, "WITHSCORES")):
            name = text.split(" ")[0]
            joined = await site.redis.run(("HGET", keys.user(key.partition, name), "joined"))
            read.append((key.text, LeavingRecord(text, instant(since), int(joined or 0))))
    return valid(read, on_skipped)


async def read_departed(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[DepartedRecord]:
    """The pseudonyms in some keys of the kind `departed`, `DEPARTED_AT_ONCE` in a record."""
    read = []
    for key in found:
        name_key, pseudonyms = await site.redis.pipeline(
            [("GET", leaving.namekey(key.partition)), ("HGETALL", key.text)]
        )
        listed = list(pseudonyms.items())
        for start in range(0, len(listed), DEPARTED_AT_ONCE):
            some = dict(listed[start : start + DEPARTED_AT_ONCE])
            read.append((key.text, DepartedRecord(name_key or "", some)))
    return valid(read, on_skipped)


async def read_follows(
    site: Site, found: Sequence[Key], on_skipped: OnSkipped
) -> list[FollowsRecord | GroupFollowsRecord]:
    """The records of `following` and `groupfollows`."""
    replies = await site.redis.pipeline(
        [
            command
            for key in found
            for command in (
                ("HGET", keys.user(key.partition, key.suffix), "name"),
                ("ZRANGE", key.text, 0, -1, "WITHSCORES"),
            )
        ]
    )
    read = [
        (key.text, FOLLOWS[key.name](name, {followee: instant(since) for followee, since in pairs}))
        for key, name, pairs in zip(found, replies[::2], replies[1::2], strict=True)
        if name and pairs
    ]
    return valid(read, on_skipped)


async def read_posted(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[PostedRecord]:
    """The records of `posted` and `commented`."""
    commands = [command for key in found for command in (("GET", key.text), ("PTTL", key.text))]
    replies = await site.redis.pipeline(commands)
    now = site.clock()
    read = []
    for key, value, lifetime in zip(found, replies[::2], replies[1::2], strict=True):
        username, digest = key.suffix.split(":")
        record = PostedRecord if key.kind is idempotency.POSTED else CommentedRecord
        if value and lifetime > 0:
            read.append((key.text, record(username, digest, value, now + lifetime)))
    return valid(read, on_skipped)


async def read_sessions(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[SessionRecord]:
    """The records of some keys of sessions. Two round trips."""
    values = dict(zip(found, await site.redis.pipeline([("GET", key.text) for key in found]), strict=True))
    for key in [key for key, value in values.items() if value and not STORED_SESSION.fullmatch(value)]:
        on_skipped(key.text)
        del values[key]
    logins = {key: login for key, value in values.items() if (login := parse_login(value))}
    details = await site.redis.pipeline(
        [("HGET", keys.logins(key.partition, login.username), key.suffix) for key, login in logins.items()]
    )
    read = []
    for (key, login), known in zip(logins.items(), details, strict=True):
        usable = known if known and LOGIN.fullmatch(known) else ""
        read.append(
            (
                key.text,
                SessionRecord(key.suffix, login.username, login.expires_at, login.bans, login.used_at, usable),
            )
        )
    return valid(read, on_skipped)


def instant(score: float) -> int:
    """The instant that a score is; what `check` refuses if it is infinite."""
    return int(score) if isfinite(score) else MALFORMED
