"""A user's home: the groups that they follow."""

from store import followed
from store.queries import Read
from store.site import Site


def groups(site: Site, username: str) -> Read[list[str]]:
    """The names of the groups that a user follows, sorted."""
    return Read(("ZRANGE", followed.followed_groups(site.home_of_user(username), username), 0, -1), sorted)


def follows_group(site: Site, username: str, group: str) -> Read[bool]:
    key = followed.followed_groups(site.home_of_user(username), username)
    return Read(("ZSCORE", key, group), _exists)


def follower_count(site: Site, group: str) -> Read[int]:
    return Read(("ZCARD", followed.group_followers(site.home_of_group(group), group)), int)


def _exists(reply: object) -> bool:
    return reply is not None
