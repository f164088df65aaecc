"""Names of users and groups that are reserved, because readers take them for those who run the site or the system."""

import re
from collections.abc import Iterable, Iterator

from store.errors import Invalid

# Roles, the system, what interfaces show in place of a name, and the mailboxes of RFC 2142.
NAMES = """
admin admins administrator administrators mod mods moderator moderators owner operator operators staff team
official support help helpdesk superuser sysadmin sysop security legal privacy
root system daemon server bot robot api upvote
anonymous anybody deleted everybody everyone guest me nobody null self undefined unknown user users you
abuse contact feedback hostmaster info mail mailerdaemon marketing noc noreply postmaster sales webmaster www
"""
RESERVED = frozenset(NAMES.split())
SEPARATORS = re.compile("[^a-z0-9]+")


class ReservedNames:
    """
    The usernames of `NAMES`, and additional ones, such as the name of the site.

    Only letters and digits are compared, without case: `Ad_min` is reserved as `admin` is.
    """

    def __init__(self, additional: Iterable[str] = ()) -> None:
        self._names = RESERVED.union(filter(None, map(_folded, additional)))

    def __iter__(self) -> Iterator[str]:
        """The names by the alphabet, each as it is compared."""
        return iter(sorted(self._names))

    def __contains__(self, name: str) -> bool:
        return _folded(name) in self._names

    def check(self, name: str, field: str = "username") -> None:
        """
        Raises:
            Invalid: the name is reserved.
        """
        if name in self:
            raise Invalid(f"the {'username' if field == 'username' else 'name'} {name} is reserved", field)


def _folded(name: str) -> str:
    return SEPARATORS.sub("", name.lower())
