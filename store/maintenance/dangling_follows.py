"""
Follows of which one side was lost. `follow` and `unfollow` set the followers first, then the following, which counts.

The two sides may live in two partitions, so that no script sees both: what is the same half after a pause is reported.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from store import keys
from store.key_kinds import Key
from store.site import Site

PAUSE = 1.0  # seconds
COUNT = 100  # follows of a user in a reply
PAIRS = 500  # in a round trip


@dataclass(frozen=True, slots=True)
class Half:
    """A follow, both names as their owners write them, and when it began as each side has it."""

    follower: str
    followee: str
    following: float | None
    followed: float | None


async def broken(site: Site, sides: Sequence[Key]) -> list[Half]:
    """The halves among the follows of some users. Two round trips, and more where a user has many."""
    suspects = await _halves(site, await _follows(site, sides))
    if not suspects:
        return []
    await asyncio.sleep(PAUSE)
    later = await _halves(site, [(half.follower, half.followee) for half in suspects])
    return [half for half in later if half in suspects]


async def mend(site: Site, half: Half) -> None:
    """Make the followers say what the following said; who changes it right now leaves a half to the next walk."""
    key = followers(site, half)
    if half.following is None:
        await site.redis.run(("ZREM", key, half.follower))
    else:
        await site.redis.run(("ZADD", key, half.following, half.follower))


def followers(site: Site, half: Half) -> str:
    return keys.followers(site.home_of_user(half.followee), half.followee)


async def _follows(site: Site, sides: Sequence[Key]) -> list[tuple[str, str]]:
    """Follower and followee of all follows that these keys have; none of those that are nobody's."""
    names = await site.redis.pipeline([("HGET", keys.user(side.p, side.name), "name") for side in sides])
    scans = [(side, name, "0") for side, name in zip(sides, names, strict=True) if name]
    found: list[tuple[str, str]] = []
    while scans:
        commands = [("ZSCAN", side.text, cursor, "COUNT", COUNT) for side, _, cursor in scans]
        replies = list(zip(scans, await site.redis.pipeline(commands), strict=True))
        for (side, name, _), (_, flat) in replies:
            found += [(name, other) if side.kind == "following" else (other, name) for other in flat[::2]]
        scans = [(side, name, cursor) for (side, name, _), (cursor, _) in replies if cursor != "0"]
    return found


async def _halves(site: Site, follows: Sequence[tuple[str, str]]) -> list[Half]:
    found = []
    for start in range(0, len(follows), PAIRS):
        pairs = follows[start : start + PAIRS]
        replies = await site.redis.pipeline(
            [
                command
                for follower, followee in pairs
                for command in (
                    ("ZSCORE", keys.following(site.home_of_user(follower), follower), followee),
                    ("ZSCORE", keys.followers(site.home_of_user(followee), followee), follower),
                )
            ]
        )
        read = zip(pairs, replies[::2], replies[1::2], strict=True)
        found += [Half(*pair, *sides) for pair, *sides in read if (sides[0] is None) != (sides[1] is None)]
    return found
