"""
Finds and repairs follows, of users and of groups, that are stored on one side only. What somebody follows decides: the
other side, the followers, is derived from it. A part of `verify`.

The two sides may be in two partitions, shares of the data, so that no script reads both. A follow that is written at
this moment looks like a dangling one, so only those that are unchanged after a pause are reported. What changes in one
partition mean for the other one (`effects`) has to be applied before.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from store import followed, keys
from store.followed import Followed
from store.kinds import Key
from store.site import Site

PAUSE = 1.0  # seconds after which what seems to dangle is read again
FOLLOWS_IN_REPLY = 100  # of one user, about
PAIRS_AT_ONCE = 500  # in a round trip


@dataclass(frozen=True, slots=True)
class DanglingFollow:
    """A follow that has a time on one side only. Names of users are as written at registration."""

    of: Followed
    follower: str
    followee: str
    following: float | None  # its time among those that the follower follows
    followed: float | None  # its time among the followers


async def find(site: Site, sides: Sequence[Key]) -> list[DanglingFollow]:
    """The dangling follows in some keys of either side. Two round trips, more where a user has many."""
    suspects = await _dangling(site, await _follows(site, sides))
    if not suspects:
        return []
    await asyncio.sleep(PAUSE)
    later = await _dangling(site, [(each.of, each.follower, each.followee) for each in suspects])
    return [each for each in later if each in suspects]


async def repair(site: Site, dangling: DanglingFollow) -> None:
    """Write the followers' side again. If the user changes the follow at this moment, it may dangle again."""
    key = followers_key(site, dangling)
    if dangling.following is None:
        await site.redis.run(("ZREM", key, dangling.follower))
    else:
        await site.redis.run(("ZADD", key, dangling.following, dangling.follower))


def followers_key(site: Site, dangling: DanglingFollow) -> str:
    return dangling.of.followers(dangling.of.partition_of(site, dangling.followee), dangling.followee)


async def _follows(site: Site, sides: Sequence[Key]) -> list[tuple[Followed, str, str]]:
    """What is followed, follower and followee, of all follows in these keys; not in keys of users that do not exist."""
    names = await site.redis.pipeline([("HGET", keys.user(side.partition, side.suffix), "name") for side in sides])
    owners = [
        side.suffix if side.kind is followed.group_followers else name for side, name in zip(sides, names, strict=True)
    ]
    scans = [(side, name, "0") for side, name in zip(sides, owners, strict=True) if name]
    found: list[tuple[Followed, str, str]] = []
    while scans:
        commands = [("ZSCAN", side.text, cursor, "COUNT", FOLLOWS_IN_REPLY) for side, _, cursor in scans]
        replies = list(zip(scans, await site.redis.pipeline(commands), strict=True))
        for (side, name, _), (_, flat) in replies:
            of = followed.OF_KEYS[side.name]
            found += [(of, name, other) if side.kind is of.following else (of, other, name) for other in flat[::2]]
        scans = [(side, name, cursor) for (side, name, _), (cursor, _) in replies if cursor != "0"]
    return found


async def _dangling(site: Site, follows: Sequence[tuple[Followed, str, str]]) -> list[DanglingFollow]:
    found = []
    for start in range(0, len(follows), PAIRS_AT_ONCE):
        pairs = follows[start : start + PAIRS_AT_ONCE]
        replies = await site.redis.pipeline(
            [
                command
                for of, follower, followee in pairs
                for command in (
                    ("ZSCORE", of.following(site.partition_of_user(follower), follower), followee),
                    ("ZSCORE", of.followers(of.partition_of(site, followee), followee), follower),
                )
            ]
        )
        read = zip(pairs, replies[::2], replies[1::2], strict=True)
        found += [DanglingFollow(*pair, *sides) for pair, *sides in read if (sides[0] is None) != (sides[1] is None)]
    return found
