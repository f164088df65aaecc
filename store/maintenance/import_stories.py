"""Imports stories of other sites in bulk, as articles with their own time and with votes of unknown voters."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from store import followed, follows, keys, links
from store.client import Command
from store.records import Article
from store.scripts.registry import Script
from store.store import Store
from store.users import creation

IMPORT_STORY = Script("import_story")

FindArchived = Callable[[int], Awaitable[Article | None]]  # finds an article that only the database has, by its number

FOLLOWERS_AT_ONCE = 50  # users whose follows are written in one pipeline
MAX_VOTERS = 10_000  # users made as voters of one story; its further votes are counted without a voter
MOST_VOTES = 1_000_000  # of a story or a comment


@dataclass(frozen=True, slots=True)
class Story:
    """A valid article, except that it may have neither link nor content. `time` is in unix milliseconds."""

    id: str
    title: str
    link: str
    poster: str
    time: int
    votes: int
    groups: tuple[str, ...] = ()
    content: str = ""


@dataclass(frozen=True, slots=True)
class Voters:
    """Names of users for the unknown voters of stories, and how many of these users are new."""

    names: Sequence[str]
    created: int


@dataclass(frozen=True, slots=True)
class Imported:
    """The stories that were not imported before, and how many users were created for them."""

    stories: Sequence[Story]
    created: int


async def import_batch(store: Store, stories: Sequence[Story], voters: Sequence[str] = ()) -> Imported:
    """
    Import stories with their posters, in the given order. A story that was imported before is not changed.

    One round trip. As many voters vote for a story as it has votes, if voting is still open. Each story is one script,
    so that an interrupted import can be repeated.
    """
    replies = await store.site.redis.pipeline([_command(store, story, voters) for story in stories])
    imported, users = [], 0
    for story, (status, *result) in zip(stories, replies, strict=True):
        if status == "imported":
            _, created = result  # the number of the article, and how many users were created
            imported.append(story)
            users += created
    return Imported(imported, users)


async def create_voters(store: Store, stories: Sequence[Story]) -> Voters:
    """
    Create users voter-0001, voter-0002 and so on, without passwords: enough for each story that is open to votes.

    Two round trips. A registered user with one of these names does not vote. One who registers between the two round
    trips is counted as a voter, which is harmless.
    """
    open_stories = [story for story in stories if _is_open(store, story)]
    most_votes = max((story.votes for story in open_stories), default=0)
    names = [f"voter-{number:04d}" for number in range(1, min(most_votes, MAX_VOTERS) + 1)]
    users = [keys.user(store.site.partition_of_user(name), name) for name in names]
    known = await store.site.redis.pipeline([("HMGET", user, "name", "password") for user in users])
    stored = dict(zip(names, map(tuple, known), strict=True))
    new = [name for name, found in stored.items() if found == (None, None)]
    joined = min((story.time for story in open_stories), default=0)
    await store.site.redis.pipeline([creation(store.site, name, joined) for name in new])
    # without a password: those that are new, and those that were created before
    voters = [name for name, found in stored.items() if found in ((None, None), (name, None))]
    return Voters(voters, len(new))


async def shift_to_now(store: Store, stories: Sequence[Story], archived: FindArchived, newest_comment: int = 0) -> int:
    """
    The milliseconds by which stories, sorted by time, are moved so that the newest, or the newest comment (unix
    milliseconds), is now. At most two round trips, and those of `archived`, which is called if Redis does not have the
    article of the oldest story.

    If the oldest story was imported before, an interrupted import goes on: all are moved by as much as that one was,
    unless its article was deleted.
    """
    if not stories:
        return 0
    oldest, newest = stories[0], max(stories[-1].time, newest_comment)
    partition, redis = store.site.partition_of_user(oldest.poster), store.site.redis
    shift = store.site.clock() - newest
    if number := await redis.run(("HGET", keys.imported(partition), oldest.id)):
        posted_at = await redis.run(("HGET", keys.article(partition, number), "time"))
        if posted_at is None and (found := await archived(int(number))):
            posted_at = found.posted_at
        shift = min(shift, int(posted_at) - oldest.time) if posted_at else shift
    return shift


async def follow(store: Store, posters: Iterable[str], count: int) -> int:
    """
    Make each user follow the next `count` users by name, in a circle, and return the number of users.

    Safe to repeat.
    """
    folded = sorted({poster.lower() for poster in posters})
    users = [("HGET", keys.user(store.site.partition_of_user(name), name), "name") for name in folded]
    names = [name for name in await store.site.redis.pipeline(users) if name]
    for start in range(0, len(names), FOLLOWERS_AT_ONCE):
        pairs = [
            (name, followee)
            for i, name in enumerate(names[start : start + FOLLOWERS_AT_ONCE], start)
            for followee in _after(names, i, count)
        ]
        await follows.set_all(store.site, followed.USERS, pairs, begins=True)
    return len(names)


def _after(names: Sequence[str], i: int, count: int) -> list[str]:
    """The `count` names that follow the one at place `i`, in a circle."""
    return [names[(i + step) % len(names)] for step in range(1, min(count, len(names) - 1) + 1)]


def _is_open(store: Store, story: Story) -> bool:
    return store.site.clock() <= story.time + store.site.policy.voting_window * 1000


def _voters_of(story: Story, voters: Sequence[str]) -> list[str]:
    """The first voters but the poster, whose vote is one of the story's. Each import finds the same ones."""
    return [voter for voter in voters[: story.votes] if voter != story.poster.lower()][: story.votes - 1]


def _command(store: Store, story: Story, voters: Sequence[str]) -> Command:
    named = _voters_of(story, voters) if _is_open(store, story) else ()
    slot = keys.slot(story.poster)
    return store.site.command(
        IMPORT_STORY,
        slot % store.site.partitions,
        story.id,
        story.title,
        story.link,
        story.content,
        " ".join(story.groups),
        slot,
        story.time,
        story.votes,
        " ".join(named),
        links.digest(story.link),
        username=story.poster,
    )
