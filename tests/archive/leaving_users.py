"""
A site just before its user Zelda is deleted, with all that names her: texts, votes, follows, flags, a role, a ban.
Some articles are archived, which means that only the SQL database has them.
"""

from contextlib import suppress
from typing import Any

from redis import Redis

from archive import annulments as annulling
from archive import leaving
from archive.mover import HotLimits, Mover
from archive.stepwise import Delayed
from store import annulments, article_moderation, bans, flags, roles, saved
from store.articles import Draft
from store.flags import FlagReason
from store.moderation_records import Role
from store.one_time_tokens import Purpose, issue
from store.records import Vote
from store.roles import OPERATOR
from tests.archive.annulling import World as MirroredStore
from tests.archive.worlds import WINDOW, World
from tests.conftest import Clock
from tests.database.conftest import mirrored

NAME, PASSWORD = "Zelda", "correct horse"  # of the user who leaves
DELETE = """mutation($texts: DeletedTexts, $password: String) {
  deleteUser(input: {currentPassword: $password, texts: $texts}) { deletedUserId userErrors { code field } } }"""


EVERYTHING = """query($ids: [ID!]!, $search: String!) {
  nodes(ids: $ids) { id __typename
    ... on Article { title content poster { id username karma articles { totalCount } comments { totalCount } }
      voters(first: 50) { nodes { id username } } thread(first: 50) { nodes { id content poster { id username } } } }
    ... on Comment { text: content state writer: poster { id username } }
    ... on User { username karma joinedAt followers(first: 9) { nodes { username } }
      following(first: 9) { nodes { username } } articles(first: 9) { nodes { id } } } }
  articles(order: TIME, first: 50) { nodes { id poster { id username } } }
  feed { articles(first: 50) { nodes { id poster { id username } } } }
  inbox { notifications(first: 50) { nodes { kind actor { username } subject { __typename } } } }
  moderationLog(first: 50) { nodes { kind subjectId moderator { username } } }
  search(query: $search, first: 50) { nodes {
    __typename ... on User { username } ... on Article { poster { username } } } }
  user(username: "Zelda") { id displayName about }
}"""


class Site(World):
    """
    A store with a database, and the texts, votes and follows of Zelda, Bob and Carol.

    `articles` are those of Zelda and Bob that are archived (`old`), then Zelda's, Bob's and Carol's, and a locked one
    of Bob. `comments` are Zelda's on Bob's article, Bob's reply to it, Carol's and Zelda's on Zelda's article, and
    Bob's on Carol's.
    """

    redis: Redis
    clock: Clock

    async def fill(self) -> None:
        """
        The site just before the user leaves: two archived articles, three others with comments and votes, and what
        moderators did.
        """
        store = self.store
        self.articles, self.comments = [], []
        await self._fill_people()
        self.old = [await self._post(NAME, "an old one"), await self._post("Bob", "another old one")]
        await store.articles.vote(self.old[1], NAME, Vote.UP)
        self.clock.advance(WINDOW + 120)  # an article may leave a minute after voting closes
        await self.archive()
        own, other, third = [
            await self._post(name, title) for name, title in ((NAME, "mine"), ("Bob", "theirs"), ("carol", "a third"))
        ]
        await store.articles.edit(own, NAME, {"title": "mine, edited"})
        mine, theirs = await self._discuss(own, other, third)
        for voter in (NAME, "carol"):
            await store.articles.vote(other, voter, Vote.UP)
            await store.comments.vote(theirs, voter, Vote.DOWN)
        await store.articles.vote(own, "Bob", Vote.UP)
        await store.articles.vote(third, NAME, Vote.DOWN)
        await store.comments.vote(mine, "carol", Vote.UP)
        await store.follows.follow(NAME, "Bob")
        await store.follows.follow("Bob", NAME)
        await saved.save(store.site, NAME, other)
        await self._fill_cases(third)

    async def _fill_people(self) -> None:
        store = self.store
        for name in ("Bob", "carol"):
            await self.register(name)
        self.tokens[NAME] = (await store.users.register(NAME, PASSWORD)).token
        await store.users.edit_profile(NAME, {"display_name": "Zelda Z.", "about": "I am zelda"})
        await issue(store.site, NAME, Purpose.RESET)
        await roles.grant(store.site, OPERATOR, NAME, Role.MODERATOR, group=None, reason="helps")
        await roles.grant(store.site, OPERATOR, "carol", Role.ADMIN, group=None, reason="helps")

    async def _post(self, name: str, title: str) -> int:
        self.clock.advance(1)
        draft = Draft(title, content=f"{title} of one", groups=("show",))
        posted = await self.store.articles.post(name, draft, idempotency_key=title)
        self.articles.append(posted.article.number)
        return posted.article.number

    async def _comment(self, name: str, article: int, content: str, parent: int | None = None) -> int:
        self.clock.advance(1)
        number = (await self.store.comments.post(article, parent=parent, poster=name, content=content)).comment.number
        self.comments.append(number)
        return number

    async def _discuss(self, own: int, other: int, third: int) -> tuple[int, int]:
        """Comment on articles of Zelda, Bob and Carol. Return a comment of Zelda with a reply, and one of Bob."""
        mine = await self._comment(NAME, other, "a comment")
        await self._comment("Bob", other, "a reply", mine)
        await self._comment("carol", own, "hello @Zelda, and zebra")
        edited = await self._comment(NAME, own, "another comment")
        await self.store.comments.edit(edited, NAME, "it is changed")
        return mine, await self._comment("Bob", third, "a remark")

    async def _fill_cases(self, third: int) -> None:
        """What the user did as a moderator, and what was done to them: a flag, a lock, a ban and annulled votes."""
        site = self.store.site
        await flags.flag(site, NAME, "article", third, FlagReason.SPAM, "an advertisement")
        locked = await self._post("Bob", "a quarrel")
        await article_moderation.lock(site, NAME, locked, group=None, reason="heated")
        await bans.ban(site, OPERATOR, NAME, group="ask", until=None, reason="not there")
        annulled = await annulments.annul(site, OPERATOR, NAME, since=self.clock.now - 1, until=None, reason="a ring")
        self.annulment = annulled.action
        await self.settle_annulments()

    async def settle_annulments(self) -> None:
        """Annul the votes that actions ask for, as the task of a server does."""
        async with following(self):
            for partition in range(self.store.site.partitions):
                await annulling.WORK.settle_all(self.store, self.database, partition)

    async def archive(self) -> None:
        """
        Move all articles whose voting is closed from Redis to the database, without the waits (`notice`,
        `removal_delay`) that give other processes of a server time.
        """
        mover = Mover(
            self.store.site, self.database, HotLimits(articles=0, articles_per_user=0), notice=0, removal_delay=0
        )
        async with following(self):
            await mover.move()
        await mover.close()

    async def settle(self) -> None:
        """Do the rest of all deletions of users, as the task of a server does once no request may know the user."""
        self.clock.advance(leaving.WAIT + 1)
        async with following(self):
            await leaving.settle_all(self.store, self.database)
        await mirrored(self.store, self.database)

    async def settle_if_ready(self) -> None:
        """As `settle`; does nothing while a deletion has to wait for something else, such as a ban in progress."""
        with suppress(Delayed):
            await self.settle()

    async def delete(self, texts: str = "KEEP", password: str | None = PASSWORD) -> dict[str, Any]:
        """Let Zelda delete her account, and return the payload. `texts` is KEEP or REMOVE."""
        return (await self.ask(DELETE, NAME, {"texts": texts, "password": password}))["data"]["deleteUser"]

    async def shown(self, *ids: str) -> list[Any]:
        """What a stranger, Bob and Carol read of all articles and comments, of these ids too, and of some searches."""
        known = [f"article:{number}" for number in self.articles] + [f"comment:{number}" for number in self.comments]
        found = []
        for viewer in (None, "Bob", "carol"):
            for search in ("zelda", "one", "comment", "poster:zelda one"):
                given = {"ids": [*known, *ids], "search": search}
                found.append(await self.ask(EVERYTHING, viewer, given))
                assert found[-1]["errors"] is None
        return found


def following(site: World) -> Any:
    """A context in which the database is kept up to date."""
    return MirroredStore(site.store, redis=None, database=site.database).mirrored()  # type: ignore[arg-type]
