"""
Applies entries of the log to a plain model, and reads the same state from a store: the log has an entry for each change
of the store, so both have to be equal.
"""

from collections.abc import Sequence
from typing import Any

from store import log
from store.log import Entry
from store.maintenance import dump
from store.maintenance.records.accounts import FollowsRecord, GroupFollowsRecord, UserRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord
from store.maintenance.records.places import GroupRecord
from store.maintenance.records.record import Record
from store.store import Store


class Replay:
    """
    The state of a store as its entries tell it. Entries of the kind `posted` are applied by `_posted`, and so on.

    Articles and comments are kept by number, users, follows and groups by name in lower case, each as the fields of its
    hash. `votes` has 1 or -1 of each voter, `stories` the number of each imported story by its id in the file, `places`
    the titles and texts of groups.
    """

    def __init__(self) -> None:
        self.articles: dict[int, dict[str, str]] = {}
        self.comments: dict[int, dict[str, str]] = {}
        self.votes: dict[int, dict[str, int]] = {}
        self.users: dict[str, dict[str, str]] = {}
        self.follows: dict[str, dict[str, str]] = {}
        self.group_follows: dict[str, dict[str, str]] = {}
        self.stories: dict[str, int] = {}
        self.places: dict[str, dict[str, str]] = {}

    def apply(self, entries: Sequence[Entry]) -> "Replay":
        for entry in entries:
            type, _, id = entry.subject.partition(":")
            # An article that was deleted has no "posted" in the log, and what others did with it changes nothing.
            if entry.kind in ("posted", "imported") or type != "article" or int(id) in self.articles:
                number_or_name = int(id) if type in ("article", "comment") else id
                getattr(self, f"_{entry.kind}")(entry, number_or_name, dict(entry.values))
        return self

    def _posted(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        self.articles[number] = {"poster": entry.actor, **_without_empty(values, "link", "content")}
        self.votes[number] = {entry.actor: 1}

    def _imported(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        self.stories[values.pop("story")] = number
        voters = values.pop("voters").split()
        self.articles[number] = {"poster": entry.actor, **_without_empty(values, "link", "content")}
        if values["imported"] == "0":  # votes without a voter: a hash has the field only if there are any
            del self.articles[number]["imported"]
        self.votes[number] = dict.fromkeys(voters, 1)

    def _voted(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        self.votes[number][entry.actor] = int(values.pop("value"))
        self.articles[number].update(values)

    def _edited(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        article = self.articles[number]
        values.pop("told", None)  # those in `notified` who are notified at once: none while the text is hidden
        values["notified"] = f"{article.get('notified', '')} {values.get('notified', '')}".strip()
        self.articles[number] = _without_empty({**article, **values}, "link", "content", "notified")

    def _regrouped(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        self.articles[number]["groups"] = values["groups"]

    def _deleted(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        del self.articles[number], self.votes[number]
        for comment in [each for each, fields in self.comments.items() if fields["article"] == str(number)]:
            del self.comments[comment]

    def _commented(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        del values["depth"]
        self.comments[number] = {"poster": entry.actor, **_without_empty(values, "parent", "notified")}

    def _comment_imported(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        self.stories[values.pop("story")] = number
        assert values.pop("voters") == entry.actor
        del values["depth"]
        if values["imported"] == "0":
            del values["imported"]
        if values["state"] and int(values["article"]) not in self.articles:
            return  # entries of stubs have no text, so the deletion of the article does not remove them
        self.comments[number] = _without_empty(
            {"poster": entry.actor, **values}, "poster", "parent", "content", "state"
        )

    def _comment_voted(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        if number in self.comments:  # else its text was removed from the log with it
            self.comments[number] |= {name: values[name] for name in ("up", "down")}

    def _comment_edited(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        comment = self.comments[number]
        noted = f"{comment.get('notified', '')} {values['notified']}".strip()
        texts = {"content": values["content"], "edited": values["edited"], "notified": noted}
        self.comments[number] = _without_empty({**comment, **texts}, "notified")

    def _comment_deleted(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        for each in (number, *map(int, values["removed"].split())):
            self.comments.pop(each, None)
        if values["stub"] and int(values["article"]) in self.articles:
            kept = {name: values[name] for name in ("article", "parent", "time", "up", "down")}
            self.comments[number] = _without_empty({**kept, "state": "deleted"}, "parent")

    def _state_changed(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        article = self.articles[number]
        for name, visible in (("state", "visible"), ("locked", "")):
            article.pop(name, None)
            if values[name] != visible:
                article[name] = values[name]

    def _moderated(self, entry: Entry, id: int | str, values: dict[str, str]) -> None:
        assert values["action"]

    def _comment_state_changed(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        if number not in self.comments:
            return  # its text was removed from the log with it
        self.comments[number].pop("state", None)
        if values["state"] != "visible":
            self.comments[number]["state"] = values["state"]

    def _comments_listed(self, entry: Entry, number: int, values: dict[str, str]) -> None:
        """Comments leave lists and inboxes with their article, or come back: no hash changes."""
        assert values.keys() == {"poster", "comments", "listed", "notified", "of_article"}

    def _registered(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.users.setdefault(name, {}).update(values)

    def _followed(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.follows.setdefault(entry.actor, {})[values["followee"]] = values["since"]

    def _unfollowed(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.follows[entry.actor].pop(values["followee"], None)

    def _group_followed(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.group_follows.setdefault(entry.actor, {})[values["group"]] = values["since"]

    def _group_unfollowed(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.group_follows[entry.actor].pop(values["group"], None)

    def _seen(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.users[name].update(values)

    def _inbox_seen(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.users[name].update(values)

    def _profile_edited(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.users[name] = {key: text for key, text in (self.users[name] | values).items() if text}

    def _password_changed(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        assert values == {}

    def _session_ended(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        assert values == {}

    def _ranked(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        """The weights of the site, or of a group, have changed."""
        assert values.keys() == {"group"}

    def _group_edited(self, entry: Entry, name: str, values: dict[str, str]) -> None:
        self.places[name] = _without_empty(values, "listed", "title", "about")

    def _repaired(self, entry: Entry, id: int | str, values: dict[str, str]) -> None:
        values.pop("karma", None)
        if isinstance(id, int):
            self.votes[id].update(dict.fromkeys(values.pop("upvoters", "").split(), 1))
            self.articles[id].update(values)

    def state(self) -> dict[str, Any]:
        return {
            "articles": self.articles,
            "comments": self.comments,
            "users": self.users,
            "follows": {name: followees for name, followees in self.follows.items() if followees},
            "group_follows": {name: groups for name, groups in self.group_follows.items() if groups},
            "places": self.places,
        }

    def up_and_down(self, number: int) -> tuple[set[str], set[str]]:
        """Who has voted on an article, up and down."""
        votes = self.votes[number]
        return {name for name, vote in votes.items() if vote == 1}, {name for name, vote in votes.items() if vote == -1}


async def entries(store: Store) -> list[Entry]:
    """All entries of the log, partition by partition."""
    return [
        entry
        for partition in range(store.site.partitions)
        for entry in await log.read(store.site, partition, log.START, count=100_000)
    ]


async def stored(store: Store) -> dict[str, Any]:
    """What `Replay.state` gives, read from the store."""
    state: dict[str, Any] = {"articles": {}, "comments": {}, "users": {}, "follows": {}, "places": {}}
    state["group_follows"] = {}
    for record in await records(store):
        match record:
            case ArticleRecord():
                state["articles"][record.number] = _without(record.fields, "link_digest")
            case CommentRecord():
                state["comments"][record.number] = record.fields
            case UserRecord():
                state["users"][record.fields["name"].lower()] = _without(record.fields, "karma", "password", "upvoters")
            case FollowsRecord():
                followees = {followee: str(since) for followee, since in record.followees.items()}
                state["follows"][record.follower] = followees
            case GroupFollowsRecord():
                state["group_follows"][record.follower] = {name: str(since) for name, since in record.groups.items()}
            case GroupRecord():
                state["places"][record.group] = record.fields
    return state


async def records(store: Store) -> list[Record]:
    """All records of a store, as a backup has them."""
    found = dump.records_of(store.site, progress=lambda count: None, on_skipped=lambda key: None)
    return [record async for some in found for record in some]


def _without(fields: dict[str, str], *names: str) -> dict[str, str]:
    return {name: text for name, text in fields.items() if name not in names}


def _without_empty(fields: dict[str, str], *names: str) -> dict[str, str]:
    return {name: text for name, text in fields.items() if text or name not in names}
