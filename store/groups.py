"""
Groups: what is written about a group, which groups are listed, and to which ones articles may be added.

A group needs none of this: it is there as long as it has articles. A listed one, which an admin has made, is there
without them, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from store import keys, queries, records, roles, validation
from store.client import Command
from store.errors import Invalid, NotAModerator
from store.records import GroupDescription
from store.reserved_names import ReservedNames
from store.roles import OPERATOR, Authority, Moderator
from store.scripts.registry import Script
from store.site import Site
from store.validation import Faults

EDIT_GROUP = Script("edit_group")

RULES = {"title": validation.group_title, "about": validation.group_about}  # what checks a text, by its field


@dataclass(frozen=True, slots=True)
class GroupRules:
    """
    Which groups articles may be added to: with `only_listed` those that an admin has made, else all but new ones with a
    reserved name.
    """

    only_listed: bool = False
    reserved: ReservedNames = field(default_factory=ReservedNames)

    def restricted(self, groups: Iterable[str]) -> list[str]:
        """Those of some groups that have to be checked, because articles may be refused there."""
        return [name for name in groups if self.only_listed or name in self.reserved]

    def refusal(self, name: str, place: str) -> Invalid:
        """Why no article may be added to a group. `place` is the path of the name in the input."""
        if self.only_listed:
            return Invalid(
                f"the group {name} is not listed: articles are added to groups that an admin has made", place
            )
        return Invalid(f"the name {name} is reserved: only an admin makes a group with this name", place)


class Groups:
    """Commands on what is written about groups, and on which groups are listed."""

    def __init__(self, site: Site, rules: GroupRules) -> None:
        self._site = site
        self._rules = rules

    @property
    def only_listed(self) -> bool:
        """Whether articles are added to listed groups only."""
        return self._rules.only_listed

    @property
    def reserved(self) -> ReservedNames:
        """Names of groups that only admins make."""
        return self._rules.reserved

    def is_made_by_posting(self, name: str) -> bool:
        """Whether the first article that is posted to a group makes it, if it is not there yet."""
        return not self._rules.restricted([name])

    async def edit(self, editor: Moderator, group: str, changes: Mapping[str, str]) -> str:
        """
        Change the title and the text `about` of a group as given, and return its name as it is stored; "" removes a
        text. An edit by an admin also lists the group.

        Two round trips: the roles of the editor are read as they are stored.

        Raises:
            Invalid: a value breaks a rule; `others` has further faults.
            NotAModerator: the editor is no moderator of the group or the site, and no admin.
            Unauthenticated, Banned: the session has ended, or the editor is banned.
        """
        name, checked = checked_edit(group, changes)
        authority = await roles.read_authority(self._site, editor)
        await self._edit(authority, name, checked)
        return name

    async def add(self, group: str, changes: Mapping[str, str] | None = None) -> bool:
        """
        List a group, for the operator, and change its title and its text `about` as given. Returns whether anything
        changed. One round trip.

        Raises:
            Invalid: a value breaks a rule; `others` has further faults.
        """
        name, checked = checked_edit(group, changes or {})
        return await self._edit(OPERATOR, name, checked)

    async def add_all(self, groups: Iterable[str]) -> None:
        """List groups, for the operator. One round trip for each."""
        for name in groups:
            await self._edit(OPERATOR, name, {})

    async def remove(self, group: str) -> bool:
        """
        Take a group from the list, for the operator; its articles and texts stay. Returns whether it was listed. One
        round trip.

        Raises:
            Invalid: no group can have this name.
        """
        return await self._edit(OPERATOR, validation.group(group, "group"), changes={}, listing="unlisted")

    async def listed(self) -> dict[str, GroupDescription]:
        """The listed groups, by name. Two round trips."""
        site = self._site
        parts = await site.redis.pipeline([queries.groups(partition).command for partition in range(site.partitions)])
        names = sorted({name for part in parts for name in part})
        reads = [queries.hash_of(site, queries.GROUP_DESCRIPTIONS, name).command for name in names]
        hashes = await site.redis.pipeline(reads)
        found = {name: records.group_description(name, fields) for name, fields in zip(names, hashes, strict=True)}
        return {name: each for name, each in found.items() if each and each.listed_at is not None}

    async def to_check(self, groups: Sequence[str]) -> tuple[str, str]:
        """
        The arguments of `refused_groups` in Lua for articles that are added to some groups: the names to check,
        separated by spaces, and what a group must be, `listed` or `known`; `none` if the names are refused already.

        With several partitions (shares of the data) a script does not see all groups: then this checks them, in one
        round trip. No round trip if there is nothing to check.
        """
        names = self._rules.restricted(groups)
        if not names or self._site.partitions == 1:
            return " ".join(names), "listed" if self.only_listed else "known"
        found = await self._site.redis.pipeline([each for name in names for each in self._lookups(name)])
        size = len(found) // len(names)  # commands for each name
        replies = {name: found[i * size : (i + 1) * size] for i, name in enumerate(names)}
        return " ".join(name for name, some in replies.items() if all(each is None for each in some)), "none"

    def refuse(self, names: str, place: str) -> None:
        """Raise the refusal of groups, separated by spaces. `place` is the path of the names in the input."""
        faults = Faults()
        for name in names.split():
            with faults:
                raise self._rules.refusal(name, place)
        faults.raise_any()

    def _lookups(self, name: str) -> list[Command]:
        """The commands of which one finds something if articles may be added to a group."""
        if self.only_listed:
            return [("HGET", keys.place(self._site.partition_of_group(name), name), "listed")]
        return [("ZSCORE", keys.groups(partition), name) for partition in range(self._site.partitions)]

    async def _edit(self, authority: Authority, name: str, changes: Mapping[str, str], listing: str = "") -> bool:
        """Whether anything changed. `listing` is "unlisted" to take the group from the list."""
        flat = [text for change in changes.items() for text in change]
        partition = self._site.partition_of_group(name)
        status, *_ = await roles.run(self._site, EDIT_GROUP, partition, authority, name, listing, *flat)
        if status == "refused":
            raise NotAModerator(f"only moderators of the group {name} and admins edit it", "group")
        return bool(status == "edited")


def checked_edit(group: str, changes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """
    The name of a group, and the changes of what is written about it, as they are stored. "" removes a text.

    Raises:
        Invalid: a value breaks a rule; `others` has further faults.
    """
    faults, checked, name = Faults(), {}, ""
    with faults:
        name = validation.group(group, "group")
    for each, text in changes.items():
        with faults:
            checked[each] = text and RULES[each](text)
    faults.raise_any()
    return name, checked
