"""
Users and groups, which can be followed: the keys of both sides of a follow (what somebody follows, and the followers),
and the entries of the log about it. A partition is a share of the data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from sys import maxsize

from store import keys
from store.kinds import Backup, Check, Kind
from store.site import Site

MAX_GROUPS = 500  # that a user follows

following = Kind(
    "following",
    "zset",
    parts=(keys.USERNAME,),
    holds="usernames that a user follows, by time",
    written_by="follow, unfollow",
    backup=Backup.COPIED,
    record="follows",
    check=Check.FOLLOWS,
)
followers = Kind(
    "followers",
    "zset",
    parts=(keys.USERNAME,),
    holds="usernames that follow a user, by time",
    written_by="follow, unfollow",
    backup=Backup.DERIVED,
    rebuilt_from="following",
    check=Check.FOLLOWS,
)
followed_groups = Kind(
    "groupfollows",
    "zset",
    parts=(keys.USERNAME,),
    holds="names of the groups that a user follows, by time; at most 500",
    written_by="followGroup, unfollowGroup",
    backup=Backup.COPIED,
    record="groupfollows",
    check=Check.FOLLOWS,
)
group_followers = Kind(
    "groupfollowers",
    "zset",
    parts=(keys.PLACE,),
    holds="usernames that follow a group, by time",
    written_by="followGroup, unfollowGroup",
    backup=Backup.DERIVED,
    rebuilt_from="groupfollows",
    check=Check.FOLLOWS,
)


@dataclass(frozen=True, slots=True)
class Followed:
    """
    Users, or groups: the kinds of keys of both sides, and the partition of a followee. In the log the followee is the
    subject, with an id of this `type`, and its name a value with the name `field`; `begun` and `ended` are the kinds of
    entries. A user follows at most `most`.
    """

    type: str
    field: str
    following: Kind
    followers: Kind
    partition_of: Callable[[Site, str], int]
    begun: str
    ended: str
    most: int

    def kind(self, *, begins: bool) -> str:
        """The kind of the log's entry when a follow begins or ends."""
        return self.begun if begins else self.ended

    def subject(self, followee: str) -> str:
        return f"{self.type}:{followee.lower()}"


USERS = Followed(
    type="user",
    field="followee",
    following=following,
    followers=followers,
    partition_of=Site.partition_of_user,
    begun="followed",
    ended="unfollowed",
    most=maxsize,
)
GROUPS = Followed(
    type="group",
    field="group",
    following=followed_groups,
    followers=group_followers,
    partition_of=Site.partition_of_group,
    begun="group_followed",
    ended="group_unfollowed",
    most=MAX_GROUPS,
)
OF_ENTRIES = {kind: each for each in (USERS, GROUPS) for kind in (each.begun, each.ended)}  # by the kinds of entries
OF_KEYS = {kind.name: each for each in (USERS, GROUPS) for kind in (each.following, each.followers)}
