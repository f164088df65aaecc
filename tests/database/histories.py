"""
Random histories of a store, and the rows that the SQL database behind the store should have: the mirror writes each
change there from the log.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from database.database import Database
from database.rows import PROFILE
from database.search import COMMENT_INDEX, FIRST_USER, INDEX
from database.tables import (
    ARTICLE_GROUPS,
    ARTICLES,
    COMMENT_VOTES,
    COMMENTS,
    FOLLOWS,
    GROUP_FOLLOWS,
    GROUP_TEXTS,
    METADATA,
    USERS,
    VOTES,
)
from store import article_moderation, keys, reverts
from store.articles import Draft
from store.errors import NotFound, Refusal
from store.maintenance import dump
from store.maintenance.import_comments import StoryComment, create_posters, import_comments, partitions_of
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.records.accounts import FollowsRecord, GroupFollowsRecord, UserRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord
from store.maintenance.records.places import GroupRecord
from store.records import Position, Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import Clock, registered

PEOPLE = ("Alice", "bob", "Carol", "dave", "Erin")
GROUPS = ("ask", "show", "new")
COMMANDS = (  # methods of `History`; one that stands here twice is chosen twice as often
    "post",
    "post",
    "vote",
    "vote",
    "vote",
    "vote",
    "edit",
    "regroup",
    "delete",
    "moderate",
    "comment",
    "comment",
    "comment",
    "vote_on_comment",
    "vote_on_comment",
    "edit_comment",
    "delete_comment",
    "load",
    "load_comments",
    "follow",
    "follow_group",
    "see",
    "edit_group",
    "wait",
)
HOUR = 3_600_000  # milliseconds

INDEXED = {  # all rows of an index of the search, by the dialect of SQL
    "sqlite": "SELECT rowid, title, content, tags FROM {} ORDER BY rowid",
    "postgresql": "SELECT id, words, CAST(vector AS text) FROM {} ORDER BY id",
}

Rows = dict[str, list[tuple[Any, ...]]]  # by the name of the table, with the columns in its order


class Crash(Exception):
    """Raised within a transaction, as if the process ended there."""


@dataclass
class History:
    """Runs random commands on a store, and notes each vote, and who posted what."""

    store: Store
    clock: Clock
    chance: random.Random
    posters: dict[int, str] = field(default_factory=dict)  # by the numbers of articles
    votes: dict[tuple[int, str], int] = field(default_factory=dict)  # 1, 0 or -1, by article and voter
    comments: dict[int, tuple[int, str]] = field(default_factory=dict)  # article and poster of those not deleted
    comment_votes: dict[tuple[int, str], int] = field(default_factory=dict)  # 1, 0 or -1, by comment and voter
    stories: int = 0  # imported so far; their ids are 1 to this number
    loaded: int = 0  # how often comments were imported

    async def run(self, steps: int) -> None:
        """Run so many random commands; some are refused."""
        if self.chance.random() < 0.9:
            await registered(self.store, self.chance.choice(PEOPLE))
        for _ in range(steps):
            try:
                await getattr(self, self.chance.choice(COMMANDS))()
            except Refusal:
                continue

    async def post(self) -> None:
        person = await registered(self.store, self.chance.choice(PEOPLE))
        link = f"https://example.com/{self.chance.randrange(5)}" if self.chance.random() < 0.7 else ""
        draft = Draft(f"title {self.chance.random()}", link, "some text", self._groups())
        posted = (await self.store.articles.post(person, draft)).article
        self.posters[posted.number] = person
        self.votes[posted.number, person] = 1

    async def vote(self) -> None:
        number, voter = self._number(), self.chance.choice([*PEOPLE, "nobody", "somebody"])
        vote = self.chance.choice([Vote.UP, Vote.DOWN, Vote.NONE])
        if (await self.store.articles.vote(number, voter, vote)).changed:
            self.votes[number, voter] = vote.value

    async def edit(self) -> None:
        number = self._number()
        changes = [{"title": f"edited {self.chance.random()}"}, {"link": ""}, {"content": ""}, {"content": "another"}]
        await self.store.articles.edit(number, self.posters[number], self.chance.choice(changes))

    async def regroup(self) -> None:
        number = self._number()
        await self.store.articles.regroup(number, self.posters[number], add=self._groups(), remove=self._groups())

    async def delete(self) -> None:
        number = self._number()
        await self.store.articles.delete(number, self.posters.pop(number))
        self.votes = {key: value for key, value in self.votes.items() if key[0] != number}
        for comment in [each for each, (article, _) in self.comments.items() if article == number]:
            self._forget_comment(comment)

    async def moderate(self) -> None:
        """Remove, approve or lock an article, or revert the last such action."""
        number, site = self._number(), self.store.site
        partition = site.partition_of_article(number)
        action = self.chance.choice(["remove", "approve", "lock", "revert"])
        if action == "revert":
            actions = await site.redis.run(("ZRANGE", keys.actions(partition, f"article:{number}"), 0, 0, "REV"))
            unknown = 1  # of an action that does not exist: the revert is refused
            await reverts.revert(site, OPERATOR, int(actions[0]) if actions else unknown, "a reason")
        elif action == "approve":
            await article_moderation.approve(site, OPERATOR, number)
        else:
            command = getattr(article_moderation, action)
            await command(site, OPERATOR, number, group=None, reason="a reason")

    async def comment(self) -> None:
        person, text = await registered(self.store, self.chance.choice(PEOPLE)), f"text {self.chance.random()}"
        parent = self.chance.choice([None, *self.comments]) if self.comments else None
        article = self.comments[parent][0] if parent else self._number()
        comment = (await self.store.comments.post(article, parent=parent, poster=person, content=text)).comment
        assert comment
        self.comments[comment.number] = article, person
        self.comment_votes[comment.number, person] = 1

    async def vote_on_comment(self) -> None:
        number, voter = self._comment(), self.chance.choice([*PEOPLE, "nobody", "somebody"])
        vote = self.chance.choice([Vote.UP, Vote.DOWN, Vote.NONE])
        if (await self.store.comments.vote(number, voter, vote)).changed:
            self.comment_votes[number, voter] = vote.value

    async def edit_comment(self) -> None:
        number = self._comment()
        await self.store.comments.edit(number, self.comments[number][1], f"edited {self.chance.random()}")

    async def delete_comment(self) -> None:
        number = self._comment()
        await self.store.comments.delete(number, self.comments[number][1])
        self._forget_comment(number)

    def _forget_comment(self, number: int) -> None:
        del self.comments[number]
        self.comment_votes = {key: value for key, value in self.comment_votes.items() if key[0] != number}

    async def load(self) -> None:
        """Import a story, new or old. Its poster is among its voters; those of an old one expire at once."""
        person, self.stories = self.chance.choice(PEOPLE), self.stories + 1
        at = self.clock.now - self.chance.choice([0, 200]) * 24 * HOUR
        story = Story(str(self.stories), "a story", link="", poster=person, time=at, votes=20, groups=self._groups())
        await import_batch(self.store, [story])
        name, number = await self._imported(person, str(self.stories))
        self.posters[number] = name
        self.votes[number, name] = 1

    async def _imported(self, person: str, story: str) -> tuple[str, int]:
        """The name of a poster as it is written, and the number of a story."""
        partition = self.store.site.partition_of_user(person)
        name = await self.store.site.redis.run(("HGET", keys.user(partition, person), "name"))
        return name, int(await self.store.site.redis.run(("HGET", keys.imported(partition), story)))

    async def load_comments(self) -> None:
        """Import an answer to a story, and one to a deleted answer."""
        if not self.stories:
            raise NotFound("nothing was imported yet")
        person, story = self.chance.choice(PEOPLE), str(self.chance.randrange(self.stories) + 1)
        partition, self.loaded = (await partitions_of(self.store, [story]))[story], self.loaded + 1
        at, ids = self.clock.now - self.chance.choice([0, 200]) * 24 * HOUR, [f"{each}{self.loaded}" for each in "abc"]
        comments = [
            StoryComment(ids[0], parent=story, poster=person, time=at, content=f"loaded {self.loaded}", votes=7),
            StoryComment(ids[1], parent=story, poster="", time=at, content=""),
            StoryComment(ids[2], parent=ids[1], poster=person, time=at, content=f"below {self.loaded}"),
        ]
        posters = await create_posters(self.store, {person: at})
        await import_comments(self.store, [(partition, comment) for comment in comments], posters.names)
        numbers = await self.store.site.redis.run(("HMGET", keys.imported(partition), story, ids[0], ids[2]))
        if all(numbers):  # else the article was deleted
            article, *loaded = map(int, numbers)
            for number in loaded:
                self.comments[number] = article, posters.names[person.lower()]
                self.comment_votes[number, posters.names[person.lower()]] = 1

    async def follow(self) -> None:
        one, other = [await registered(self.store, name) for name in self.chance.sample(PEOPLE, 2)]
        command = self.store.follows.follow if self.chance.random() < 0.7 else self.store.follows.unfollow
        await command(one, other.lower())

    async def follow_group(self) -> None:
        person = await registered(self.store, self.chance.choice(PEOPLE))
        command = self.store.follows.follow_group if self.chance.random() < 0.7 else self.store.follows.unfollow_group
        with suppress(NotFound):
            await command(person, self.chance.choice(GROUPS))

    async def see(self) -> None:
        """Mark the feed of a user as seen, up to any time."""
        person = await registered(self.store, self.chance.choice(PEOPLE))
        await self.store.follows.mark_seen(person, Position(self.chance.randrange(1_000), keys.member(1541)))

    async def edit_group(self) -> None:
        group = self.chance.choice((*GROUPS, "empty"))
        if self.chance.random() < 0.3:
            await self.store.groups.remove(group)
        else:
            changes = [{}, {"title": f"title {self.chance.random()}"}, {"title": "", "about": "some *text*"}]
            await self.store.groups.add(group, self.chance.choice(changes))

    async def wait(self) -> None:
        self.clock.advance(self.chance.choice([1, 3_600, 40_000]))

    def _number(self) -> int:
        if not self.posters:
            raise NotFound("nothing was posted yet")
        return self.chance.choice(list(self.posters))

    def _comment(self) -> int:
        if not self.comments:
            raise NotFound("nothing was commented on yet")
        return self.chance.choice(list(self.comments))

    def _groups(self) -> tuple[str, ...]:
        return tuple(self.chance.sample(GROUPS, self.chance.randrange(3)))


async def rows_of(database: Database) -> Rows:
    """All rows of all tables, but for the positions up to which the log was read."""
    return await database.run(all_rows)


def all_rows(connection: Connection) -> Rows:
    tables = [table for table in METADATA.sorted_tables if table.name != "positions"]
    return {
        str(table.name): [tuple(row) for row in connection.execute(select(table).order_by(*key(table)))]
        for table in tables
    }


async def indexed(database: Database) -> list[tuple[Any, ...]]:
    """The rows of articles and comments in the indexes of the search, without those of users."""

    def read(connection: Connection) -> list[tuple[Any, ...]]:
        statement = INDEXED[connection.dialect.name]
        found = [row for name in (INDEX, COMMENT_INDEX) for row in connection.exec_driver_sql(statement.format(name))]
        return [tuple(row) for row in found if row[0] < FIRST_USER]

    return await database.run(read)


def key(table: Any) -> list[Any]:
    """The columns of the primary key."""
    return list(table.primary_key)


async def rows_of_store(history: History) -> Rows:
    """The rows that the database of a store should have, without edits and without when votes were cast."""
    tables = (ARTICLES, ARTICLE_GROUPS, COMMENTS, USERS, FOLLOWS, GROUP_FOLLOWS, GROUP_TEXTS)
    rows: Rows = {str(table.name): [] for table in tables}
    depths: dict[str, int] = {}
    async for records in dump.records_of(history.store.site, progress=lambda count: None, on_skipped=lambda key: None):
        for record in records:
            match record:
                case ArticleRecord(number, fields):
                    groups = enumerate(fields["groups"].split())
                    rows["articles"].append(article(number, fields))
                    rows["article_groups"] += [(number, name, place) for place, name in groups]
                case CommentRecord(number, fields):
                    depths[str(number)] = depths.get(fields.get("parent", ""), -1) + 1
                    rows["comments"].append(comment(number, fields, depths[str(number)]))
                case UserRecord({"name": name, "joined": joined} as fields):
                    texts = [fields.get(each) for each in PROFILE]
                    rows["users"].append((name.lower(), name, int(joined), fields.get("seen"), *texts))
                case GroupRecord(name, fields):
                    rows["group_texts"].append(group(name, fields))
                case FollowsRecord(follower, followees):
                    rows["follows"] += [(follower, followee, since) for followee, since in followees.items()]
                case GroupFollowsRecord(follower, groups_followed):
                    rows["group_follows"] += [(follower, each, since) for each, since in groups_followed.items()]
    votes = [(number, voter, value) for (number, voter), value in history.votes.items() if value]
    of_comments = [(number, voter, value) for (number, voter), value in history.comment_votes.items() if value]
    return {name: sorted(some) for name, some in {**rows, "votes": votes, "comment_votes": of_comments}.items()}


def article(number: int, fields: dict[str, str]) -> tuple[Any, ...]:
    """The row of `ARTICLES`, without the columns that only articles outside of the store have."""
    edited, counts = fields.get("edited"), (fields["up"], fields["down"], fields.get("imported", "0"))
    texts = (fields["poster"], fields["title"], fields.get("link"), fields.get("content"))
    state = fields.get("state", "visible").upper(), fields.get("locked") == "1"
    return (number, *texts, int(fields["time"]), edited and int(edited), *map(int, counts), False, *state)


def group(name: str, fields: dict[str, str]) -> tuple[Any, ...]:
    """The row of `GROUP_TEXTS`."""
    listed = int(fields["listed"]) if "listed" in fields else None
    return (name, fields.get("title"), fields.get("about"), int(fields["created"]), listed)


def comment(number: int, fields: dict[str, str], depth: int) -> tuple[Any, ...]:
    """The row of `COMMENTS`, without the columns that only comments outside of the store have."""
    place = (int(fields["article"]), int(fields["parent"]) if "parent" in fields else None, depth)
    edited, counts = fields.get("edited"), (fields["up"], fields["down"], fields.get("imported", "0"))
    texts, state = (fields.get("poster"), fields.get("content")), fields.get("state", "visible").upper()
    return (number, *place, *texts, int(fields["time"]), edited and int(edited), *map(int, counts), state)


def comparable(rows: Rows) -> Rows:
    """Rows of a database without what no store has, to compare with those of `rows_of_store`."""
    votes = {str(table.name): sorted(vote[:3] for vote in rows[table.name]) for table in (VOTES, COMMENT_VOTES)}
    names = ("articles", "article_groups", "comments", "users", "follows", "group_follows", "group_texts")
    others = {name: sorted(rows[name]) for name in names}
    # the last columns are those of articles and comments that have left the store
    others["articles"] = [row[:-6] for row in others["articles"]]
    others["comments"] = [row[:-4] for row in others["comments"]]
    return {**others, **votes}
