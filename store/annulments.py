"""
Annulled votes: votes of a user that do not count, because an action of a moderator says so: the action holds them. Here
the action is recorded. `archive/annulments.py` annuls and restores the votes in steps, of which this module has the
scripts. A partition is a share of the data; that of a user has all that the user owns. What is archived is in the SQL
database only.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from store import effects, keys, moderation, roles, validation
from store.client import Argument
from store.errors import Invalid, NotAModerator
from store.kinds import Backup, Check, Kind, Text
from store.log import Entry
from store.moderation import Moderated
from store.moderation_records import AnnulmentState, ModerationAction
from store.records import Article, Comment
from store.roles import Moderator
from store.scripts.registry import Script
from store.site import Site
from store.threads import PLACE_LIFETIME
from store.validation import Faults

ANNUL_SOME = Script("annul_some")
ANNUL_VOTES = Script("annul_votes")
NOTE_ANNULMENT = Script("note_annulment")
RESTORE_SOME = Script("restore_some")

CASE = Text("N", keys.NUMBER.pattern)  # the number of an action, in each partition
ANNULLED, RESTORED = "votes_annulled", "votes_restored"  # kinds of entries of the log

cases = Kind(
    "cases",
    "zset",
    parts=(CASE,),
    holds="numbers of the articles and comments with a vote that an action holds; all scores are 0",
    lifetime="while there are any",
    written_by="annulVotes, banUser, revertModeration, delete",
    backup=Backup.DERIVED,
    rebuilt_from="annulled",
    check=Check.ANNULLED,
)
annulling = Kind(
    "annulling",
    "zset",
    parts=(),
    holds="numbers of actions whose votes are to be annulled, and of reverted ones whose votes come back, by "
    "when they were made or reverted",
    lifetime="until that is done",
    written_by="annulVotes, banUser, revertModeration",
    backup=Backup.DERIVED,
    rebuilt_from="the actions",
)
restoring = Kind(
    "restoring",
    "zset",
    parts=(),
    holds="numbers of reverted actions whose votes come back, by the last step of that: they annul no more",
    lifetime="an hour",
    written_by="revertModeration",
)


class Step(NamedTuple):
    """
    What a step could not do. `absent` are the numbers of articles and comments that are neither in Redis nor among the
    archived ones that it was given. `unsure` are those whose voters are gone from Redis, while the database may not
    have all votes on them yet. `is_reverted` says that nothing was annulled, as the action was reverted.
    """

    absent: list[int]
    unsure: list[int]
    is_reverted: bool = False


class Archived(NamedTuple):
    """
    The archived articles and comments that a step is about, by number, as they were read from the database. `position`
    is how far in the log the database was then.
    """

    found: Mapping[int, Article | Comment]
    position: str

    def words(self, number: int) -> str:
        """
        What scripts parse of an archived article, POSTER TIME UP DOWN GROUPS STATE, or of an archived comment, POSTER
        SLOT TIME UP DOWN ARTICLE STATE; "" for one that is not among these.
        """
        found = self.found.get(number)
        if found is None:
            return ""
        counts = f"{found.posted_at} {found.upvotes} {found.downvotes}"
        if isinstance(found, Comment):
            slot = keys.slot(found.poster or "")
            return f"{found.poster or '-'} {slot} {counts} {found.article} {found.state.value}"
        return f"{found.poster} {counts} {','.join(found.groups) or '-'} {found.state.value}"


NOTHING_ARCHIVED = Archived(found={}, position="")


async def annul(
    site: Site,
    actor: Moderator,
    username: str,
    since: int | None,
    until: int | None,
    reason: str,
    note: str | None = None,
) -> Moderated:
    """
    Record that the votes of a user which were cast from `since` to `until` (unix milliseconds) count no more; by
    default all until now. If a standing action annuls all of these, nothing changes. Two round trips.

    Raises:
        NotAModerator: the actor is no moderator of the site, is the user, or has no higher role than the user.
        NotFound: there is no such user.
        Invalid: a span that ends before it begins, or texts that break a rule; `others` has further faults.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    now, faults = site.clock(), Faults()
    end = now if until is None else min(until, now)
    with faults:
        if since is not None and since > end:
            raise Invalid("the time from which votes are annulled is before its end, and not in the future", "from")
    with faults:
        reason = validation.reason(reason)
    with faults:
        note = validation.note(note)
    faults.raise_any()
    earliest = 0  # no vote is older than 1970, and no instant of an action may be
    begin = "" if since is None else max(since, earliest)
    return await _run(site, actor, username, begin, max(end, earliest), reason, note or "")


async def revert(
    site: Site, actor: Moderator, action: ModerationAction, reason: str, note: str | None = None
) -> Moderated:
    """
    Revert the annulment of votes, which come back in steps. Two round trips.

    Raises as `annul`, and:
        AlreadyReverted: the action was reverted before.
    """
    name, no_span = action.subject_id.removeprefix("user:"), ("", "")
    texts = (validation.reason(reason), validation.note(note))
    return await _run(site, actor, name, *no_span, *texts, reverts=action.number)


async def annul_some(
    site: Site,
    partition: int,
    action: int,
    voter: str,
    complete_at: int | None,
    votes: Sequence[tuple[int, int]],
    archived: Archived = NOTHING_ARCHIVED,
) -> Step:
    """
    Annul votes of a user on some articles and comments of a partition. `votes` has for each the number and a value:
    that of the vote in the database if Redis may have lost the set of its voters, else 0. The database is known to have
    all votes until `complete_at` (unix milliseconds; 0: there is none; None: it has all on these). One round trip, and
    one for the karma of posters of other partitions.
    """
    flat = [part for number, value in votes for part in (number, value, archived.words(number))]
    given = (action, voter, PLACE_LIFETIME, archived.position, "" if complete_at is None else complete_at)
    command = site.command(ANNUL_SOME, partition, site.partitions, *given, *flat)
    status, *reply = await site.redis.run(command)
    if status == "reverted":
        return Step([], [], is_reverted=True)
    absent, unsure, *entry = reply
    await _apply_to_posters(site, partition, ANNULLED, action, voter, *entry)
    return Step([int(number) for number in absent], [int(number) for number in unsure])


async def restore_some(
    site: Site,
    partition: int,
    action: int,
    voter: str,
    numbers: Sequence[int],
    archived: Archived = NOTHING_ARCHIVED,
    *,
    are_gone: bool = False,
) -> Step:
    """
    Restore votes of a user that a reverted action holds, on some articles and comments of a partition. `are_gone` says
    that those which are absent were deleted: their votes are forgotten. Round trips as `annul_some`.
    """
    flat = [part for number in numbers for part in (number, archived.words(number))]
    given = (action, voter, PLACE_LIFETIME, archived.position, "1" if are_gone else "")
    command = site.command(RESTORE_SOME, partition, site.partitions, *given, *flat)
    _, absent, *entry = await site.redis.run(command)
    await _apply_to_posters(site, partition, RESTORED, action, voter, *entry)
    return Step([int(number) for number in absent], [])


async def held(site: Site, action: int) -> int:
    """How many votes an action holds. One round trip."""
    return sum(await site.redis.pipeline([("ZCARD", cases(partition, action)) for partition in range(site.partitions)]))


async def held_in(site: Site, partition: int, action: int, most: int) -> list[int]:
    """The numbers of some articles and comments of a partition on which an action holds a vote. One round trip."""
    return [int(member) for member in await site.redis.run(("ZRANGE", cases(partition, action), 0, most - 1))]


async def note(
    site: Site,
    action: ModerationAction,
    *,
    total: int | None = None,
    reaches_back_to: int | None = None,
    state: AnnulmentState | None = None,
) -> bool:
    """
    Keep in an action how many votes it holds now, and what is given: how many there are to do (`total`), the instant
    before which votes stay (`reaches_back_to`, unix milliseconds), the `state`. False if it was reverted meanwhile. Two
    round trips.
    """
    count = await held(site, action.number)
    given: list[Argument] = [
        action.number,
        count,
        "" if total is None else total,
        "" if reaches_back_to is None else reaches_back_to,
        state.value if state else "",
        "1" if action.is_restored else "",
    ]
    (status,) = await site.redis.run(site.command(NOTE_ANNULMENT, site.partition_of_article(action.number), *given))
    return bool(status == "noted")


async def _apply_to_posters(
    site: Site, partition: int, kind: str, action: int, voter: str, id: str, noted: Sequence[int | str], karma: str
) -> None:
    """
    Change the karma of posters in other partitions, and by whom they were upvoted. `karma` has the words of the step's
    entry in the log for each of them. `id` is that of the entry, `noted` has each of these partitions, followed by the
    id of the last earlier entry with an effect there.
    """
    values = {"voter": voter, "karma": karma}
    entry = Entry(partition, id, kind, site.clock(), actor="", subject=f"action:{action}", values=values)
    await effects.apply_noted(site, entry, noted)


async def _run(
    site: Site, actor: Moderator, username: str, *arguments: Argument, reverts: int | None = None
) -> Moderated:
    """Run the script. `arguments` are the two ends of the span of time, the reason and the note."""
    name = username.lower()
    slot = keys.slot(name)
    authority = await roles.read_moderator(site, actor)
    reply = await roles.run(
        site, ANNUL_VOTES, site.partition_of_user(name), authority, name, slot, *arguments, reverts or ""
    )
    match reply[0]:
        case "refused":
            raise NotAModerator("only moderators of the site annul votes")
        case "self":
            field = moderation.field_of("userId", reverts)
            raise NotAModerator("nobody annuls their own votes, or restores them", field)
    moderation.refuse_about_user(reply[0], name, reverts)
    return moderation.moderated(reply)
