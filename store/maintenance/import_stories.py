"""Bringing in stories of elsewhere, in bulk: each an article at its own time, with votes whose voters nobody knows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from store import actor_scripts, keys
from store.client.commands import Command
from store.scripts.registry import IMPORT_STORY
from store.store import Store

FOLLOWERS_AT_ONCE = 50
MOST_VOTERS = 10_000  # of one story; its other votes stay without a voter


@dataclass(frozen=True, slots=True)
class Story:
    """It keeps the rules of an article, but may be without link and content. `time` is in unix milliseconds."""

    id: str
    title: str
    link: str
    poster: str
    time: int
    votes: int
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Voters:
    """Names of users who vote for stories, as nobody knows who did, and how many of them are new."""

    names: Sequence[str]
    created: int


@dataclass(frozen=True, slots=True)
class Brought:
    """The stories that were not known before, and how many users were created for them."""

    stories: Sequence[Story]
    created: int


async def bring_in(store: Store, stories: Sequence[Story], voters: Sequence[str] = ()) -> Brought:
    """
    Import the stories that are not known yet, in the order given, with their posters; known ones stay as they are.

    One round trip. The voters vote for those that are open to votes, as many as each has votes. Each story is a script
    of its own: whatever ends an import, it can be done again.
    """
    replies = await store.site.redis.pipeline([_command(store, story, voters) for story in stories])
    fresh = [(story, reply) for story, reply in zip(stories, replies, strict=True) if reply[0] == "imported"]
    return Brought([story for story, _ in fresh], sum(created for _, (_, _, created) in fresh))


async def create_voters(store: Store, stories: Sequence[Story]) -> Voters:
    """
    Users named voter-0001, voter-0002 and so on, without passwords: enough for each of the stories open to votes.

    Two round trips. Who has registered one of these names does not vote. To register one between the two is to vote,
    which is harmless.
    """
    opened = [story for story in stories if _is_open(store, story)]
    most_votes = max((story.votes for story in opened), default=0)
    names = [f"voter-{number:04d}" for number in range(1, min(most_votes, MOST_VOTERS) + 1)]
    users = [keys.user(store.site.home_of_user(name), name) for name in names]
    known = await store.site.redis.pipeline([("HMGET", user, "name", "password") for user in users])
    new = [pair for pair, user in zip(zip(users, names, strict=True), known, strict=True) if user == [None, None]]
    joined = min((story.time for story in opened), default=0)
    fields = ("joined", joined, "karma", 0)
    await store.site.redis.pipeline([("HSET", user, "name", name, *fields) for user, name in new])
    voters = [name for name, user in zip(names, known, strict=True) if user in ([None, None], [name, None])]
    return Voters(voters, len(new))


async def shift_to_now(store: Store, stories: Sequence[Story]) -> int:
    """
    How many milliseconds to move stories, oldest first, so that the newest is now. At most two round trips.

    Where the oldest is known already, its import goes on as it began: by as much as that one was moved.
    """
    if not stories:
        return 0
    oldest, newest = stories[0], stories[-1]
    p, connection = store.site.home_of_user(oldest.poster), store.site.redis
    shift = store.site.clock() - newest.time
    if number := await connection.run(("HGET", keys.imported(p), oldest.id)):
        posted_at = await connection.run(("HGET", keys.article(p, number), "time"))
        shift = min(shift, int(posted_at) - oldest.time) if posted_at else shift
    return shift


async def follow(store: Store, posters: Iterable[str], count: int) -> int:
    """
    Let each of these users follow the `count` users after them by name, around the end; return how many do.

    Followers are written before what is followed, as `Follows.follow` does, and twice is harmless.
    """
    folded = sorted({poster.lower() for poster in posters})
    users = [("HGET", keys.user(store.site.home_of_user(name), name), "name") for name in folded]
    names = [name for name in await store.site.redis.pipeline(users) if name]
    for start in range(0, len(names), FOLLOWERS_AT_ONCE):
        pairs = [
            (name, followee)
            for place, name in enumerate(names[start : start + FOLLOWERS_AT_ONCE], start)
            for followee in _after(names, place, count)
        ]
        await store.site.redis.pipeline([_add(store, keys.followers, followee, name) for name, followee in pairs])
        await store.site.redis.pipeline([_add(store, keys.following, name, followee) for name, followee in pairs])
    return len(names)


def _after(names: Sequence[str], place: int, count: int) -> list[str]:
    return [names[(place + step) % len(names)] for step in range(1, min(count, len(names) - 1) + 1)]


def _add(store: Store, key: Callable[[int, str], str], owner: str, member: str) -> Command:
    return ("ZADD", key(store.site.home_of_user(owner), owner), "NX", store.site.clock(), member)


def _is_open(store: Store, story: Story) -> bool:
    return store.site.clock() <= story.time + store.site.policy.voting_window * 1000


def _voters_of(story: Story, voters: Sequence[str]) -> list[str]:
    """The same for a story whenever it is imported: the first that are not the poster, who votes too."""
    return [voter for voter in voters[: story.votes] if voter != story.poster.lower()][: story.votes - 1]


def _command(store: Store, story: Story, voters: Sequence[str]) -> Command:
    named = _voters_of(story, voters) if _is_open(store, story) else ()
    slot = keys.slot(story.poster)
    return actor_scripts.command(
        store.site,
        IMPORT_STORY,
        slot % store.site.partitions,
        story.poster,
        story.id,
        story.title,
        story.link,
        "",
        " ".join(story.groups),
        slot,
        story.time,
        story.votes,
        " ".join(named),
    )
