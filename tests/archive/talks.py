"""
Two stores in which people comment at random: one archives conversations, the other never does. Their answers are
compared. A conversation is an article with its comments; once archived, only the SQL database has it.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from archive import annulments, banned_texts, maintenance
from archive.stepwise import Delayed, StepwiseWork
from archive.write_back import bring_back
from database.mirror import Mirror
from store import comment_lists, effects, keys, leases, removals, roles
from store.maintenance import verify
from store.maintenance.verify import Finding
from store.moderation_records import Role
from store.records import article_number, comment_number
from tests.archive.queries import ERRORS
from tests.archive.worlds import PEOPLE, WINDOW, Pair, World, follow
from tests.database.conftest import mirrored
from tests.typed import typed

Question = tuple[str, str | None, dict[str, Any]]  # a query, who asks, and its variables

DAYS = 2  # after which a conversation leaves Redis if nothing is written there
ORDERS = ("BEST", "VOTES", "NEWEST", "OLDEST", "CONTROVERSIAL")
COMMENT = """id depth state content votes upvotes downvotes postedAt editedAt replyCount descendantCount viewerVote
  isVotingOpen parent { id } ancestors { id } poster { username } removal { reason } heldEdit { content }"""
THREAD = f"""query($id: ID!, $order: CommentOrder, $depth: Int, $under: ID, $pinned: Boolean,
  $first: Int, $after: String, $last: Int, $before: String) {{ article(id: $id) {{
    id title votes commentCount isLocked isCommentingOpen
    thread(order: $order, maxDepth: $depth, under: $under, pinned: $pinned,
      first: $first, after: $after, last: $last, before: $before) {{
      totalCount pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
      edges {{ hiddenReplyCount node {{ {COMMENT} replies(order: $order, first: 2) {{
        totalCount nodes {{ id }} pageInfo {{ hasNextPage }} }} }} }} }}
    comments(order: $order, last: 3) {{ totalCount nodes {{ id }} pageInfo {{ hasPreviousPage }} }} }} }}"""
NODES = f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ id ... on Comment {{ {COMMENT} article {{ id title }} }} }} }}"
OF_USER = """query($name: String!) { user(username: $name) { karma
    comments(first: 30) { totalCount nodes { id content votes article { id } } } }
  inbox { unseenCount notifications(first: 40) { nodes { kind at isSeen actor { username } subject { id } } } }
  comments(first: 20) { totalCount nodes { id content } } }"""
COMMENTS = """query($name: String!, $first: Int, $after: String, $last: Int, $before: String) { user(username: $name) {
  comments(first: $first, after: $after, last: $last, before: $before) { totalCount nodes { id content }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
REVERT = f"mutation($input: RevertModerationInput!) {{ revertModeration(input: $input) {{ {ERRORS} changed }} }}"
DAY = 86_400  # seconds
BAN = f"mutation($input: BanUserInput!) {{ banUser(input: $input) {{ {ERRORS} action {{ id }} }} }}"
MUTATIONS = {
    "comment": f"""mutation($input: CommentInput!) {{ comment(input: $input) {{
      {ERRORS} comment {{ {COMMENT} article {{ commentCount }} }} }} }}""",
    "editComment": f"""mutation($input: EditCommentInput!) {{ editComment(input: $input) {{
      {ERRORS} comment {{ {COMMENT} }} }} }}""",
    "deleteComment": f"""mutation($input: DeleteCommentInput!) {{ deleteComment(input: $input) {{
      {ERRORS} deletedCommentId }} }}""",
    "voteOnComment": f"""mutation($input: VoteOnCommentInput!) {{ voteOnComment(input: $input) {{
      {ERRORS} changed comment {{ id votes viewerVote }} }} }}""",
    "removeContent": f"""mutation($input: RemoveContentInput!) {{ removeContent(input: $input) {{
      {ERRORS} changed action {{ id }} }} }}""",
    "approveContent": f"""mutation($input: ApproveContentInput!) {{ approveContent(input: $input) {{
      {ERRORS} changed }} }}""",
    "lockArticle": f"""mutation($input: LockArticleInput!) {{ lockArticle(input: $input) {{
      {ERRORS} changed action {{ id }} }} }}""",
    "deleteArticle": f"mutation($input: DeleteArticleInput!) {{ deleteArticle(input: $input) {{ {ERRORS} }} }}",
    "flag": f"mutation($input: FlagInput!) {{ flag(input: $input) {{ {ERRORS} }} }}",
}


@dataclass
class Talk:
    """
    What people say and do in both stores. `ids` are those of all comments, `reached` counts the cases that came up,
    `gone` has the numbers of the articles whose conversations have left Redis.
    """

    pair: Pair
    chance: random.Random
    ids: list[str] = field(default_factory=list)
    reached: Counter[str] = field(default_factory=Counter)
    gone: set[int] = field(default_factory=set)
    article_of: dict[str, str] = field(default_factory=dict)  # the id of the article, by the id of the comment

    async def begin(self) -> None:
        self.pair.days = DAYS
        self.pair.ids.clear()
        for world in self.pair.worlds:
            await roles.grant(
                world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it"
            )
        for _ in range(6):
            await self.pair.post()
            self.pair.clock.advance(1)
        for _ in range(40):
            await self.say()

    async def say(self) -> None:
        """Comment on an open article or answer one of its comments, mostly."""
        article = self.any_article()
        input: dict[str, Any] = {"articleId": article, "content": self.text()}
        answered = [id for id in self.ids if self.article_of[id] == article]
        if answered and self.chance.random() < 0.8:
            input["parentId"] = self.chance.choice([*answered[-3:], self.chance.choice(answered)])
        payload = await self.write("comment", **input)
        if payload["comment"]:
            self.ids.append(payload["comment"]["id"])
            self.article_of[payload["comment"]["id"]] = article
        self.pair.clock.advance(self.chance.choice((0.001, 0.5, 2)))

    def text(self) -> str:
        mention = f" @{self.chance.choice(PEOPLE)}" if self.chance.random() < 0.3 else ""
        return f"text {self.chance.randrange(10**6)}{mention}"

    def any_article(self) -> str:
        """The id of an article, often of one whose conversation has left Redis."""
        cold = [id for id in self.pair.ids if article_number(id) in self.gone]
        return self.chance.choice(cold if cold and self.chance.random() < 0.3 else self.pair.ids)

    def any_comment(self) -> str:
        """The id of a comment, often of one that has left Redis."""
        cold = [id for id in self.ids if article_number(self.article_of[id]) in self.gone]
        return self.chance.choice(cold if cold and self.chance.random() < 0.5 else self.ids)

    async def change(self) -> None:
        """Anything that is written about a comment, or an article that has some."""
        id, who = self.any_comment(), self.chance.choice(PEOPLE)
        match self.chance.randrange(14):  # what is written more often has several numbers
            case 0 | 1 | 2:
                await self.say()
            case 3 | 4:
                await self.write("voteOnComment", who, commentId=id, value=self.chance.choice(["UP", "DOWN", "NONE"]))
            case 5:
                await self.write("editComment", await self.poster(id), commentId=id, content=self.text())
            case 6 | 7:
                await self.write("deleteComment", await self.poster(id), commentId=id)
            case 8:
                await self.write("removeContent", "alice", subjectId=id, reason="off topic")
            case 9:
                await self.write("approveContent", "alice", subjectId=id)
            case 10 if self.chance.random() < 0.3:
                await self.write("lockArticle", "alice", articleId=self.any_article(), reason="enough")
            case 11:
                await self.write("removeContent", "alice", subjectId=self.any_article(), reason="off topic")
            case 12:
                await self.write("approveContent", "alice", subjectId=self.any_article())
            case _:
                await self.write("flag", who, subjectId=id, reason="SPAM")
                await self.write("approveContent", "alice", subjectId=id)

    async def poster_of(self, id: str) -> str | None:
        site, number = self.pair.complete.store.site, comment_number(id) or 0
        found: str | None = await site.redis.run(
            ("HGET", keys.comment(site.partition_of_article(number), number), "poster")
        )
        return found

    async def poster_of_article(self, id: str) -> str:
        site, number = self.pair.complete.store.site, article_number(id) or 0
        found: str = await site.redis.run(("HGET", keys.article(site.partition_of_article(number), number), "poster"))
        return found

    async def poster(self, id: str) -> str:
        """Mostly the poster of a comment."""
        found = await self.poster_of(id)
        return found if found and self.chance.random() < 0.8 else self.chance.choice(PEOPLE)

    async def write(self, name: str, who: str | None = None, **input: Any) -> dict[str, Any]:
        answer = await self.pair.ask(MUTATIONS[name], who or self.chance.choice(PEOPLE), input=input)
        assert answer["data"], answer
        (payload,) = answer["data"].values()
        id = input.get("commentId") or input.get("subjectId") or input.get("articleId") or ""
        is_cold = article_number(self.article_of.get(id, id)) in self.gone
        for code in [error["code"] for error in payload["userErrors"]] or ["done"]:
            self.reached[f"{name} {code}{' where it has left' * is_cold}"] += 1
        await self.look()
        return payload

    async def leave(self, articles: int = 0) -> None:
        """
        Let time pass, often so much that conversations may leave, and move them until only `articles` stay in Redis.
        The process that moves them may end before that, once or more.
        """
        self.pair.clock.advance(self.chance.choice((60, DAYS * DAY + 700, DAYS * DAY + 700)))
        for _ in range(5):
            await self.pair.run_mover(articles, articles_per_user=1_000)
        await self.look()

    async def look(self) -> None:
        """Note which conversations have left."""
        before, numbers = self.gone, [article_number(id) or 0 for id in self.pair.ids]
        hot = await in_redis(self.pair.archiving, numbers)
        self.gone = await in_redis(self.pair.complete, numbers) - hot
        self.reached["left"] += len(self.gone - before)
        self.reached["came back"] += len(before & hot)

    def questions(self) -> list[Question]:
        """Queries that need no cursors."""
        found: list[Question] = []
        for id in self.pair.ids:
            below = [None, *[each for each in self.ids if self.article_of[each] == id]]
            for order in ORDERS:
                given = {
                    "id": id,
                    "order": order,
                    "depth": self.chance.choice((1, 50)),
                    "under": self.chance.choice(below),
                }
                found += [(THREAD, None, given | paging) for paging in ({"first": 4}, {"last": 100}, {"first": 100})]
        found += [(NODES, "alice", {"ids": self.chance.sample(self.ids, 10)}) for _ in range(5)]
        return found + [(OF_USER, name, {"name": name}) for name in PEOPLE[:3]]

    async def answer(self, world: World, question: Question) -> dict[str, Any]:
        """The answer of one store, in which each cursor of a thread is replaced by whether there is one."""
        answer = await world.ask(*question)
        assert not answer["errors"], answer
        _without_cursors(answer)
        return answer

    async def move_often(self, times: int) -> None:
        """Moves and returns of conversations, of which many end before their time, as if their process was killed."""
        pair = self.pair
        for _ in range(times):
            await self.look()
            work: Any
            if self.gone and self.chance.random() < 0.5:
                number = self.chance.choice(sorted(self.gone))
                work = bring_back(pair.archiving.store, pair.archiving.database, number)
            else:
                work = pair.run_mover(articles=0, articles_per_user=1_000)
            task = asyncio.create_task(work)
            if self.chance.random() < 0.5:
                await asyncio.sleep(self.chance.random() * 0.03)
            else:
                await asyncio.wait([task])
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
                self.reached["ended"] += 1
                pair.archiver = pair.mirror = None
                site = pair.archiving.store.site  # the leases would expire by themselves
                names = [
                    leases.lease(partition, name)
                    for partition in range(site.partitions)
                    for name in ("archiver", "conversations")
                ]
                await site.redis.pipeline([("DEL", name) for name in names])

    async def settle(self) -> None:
        """Let all conversations leave that can."""
        self.pair.archiver = None
        for _ in range(2):
            await self.pair.run_mover(articles=0, articles_per_user=1_000)
        assert self.pair.archiving.database
        await mirrored(self.pair.archiving.store, self.pair.archiving.database)

    async def carry_out(self) -> None:
        """Do what actions of moderators have left for later, in both stores."""
        assert self.pair.archiving.database
        await mirrored(self.pair.archiving.store, self.pair.archiving.database)
        following = asyncio.create_task(follow(Mirror(self.pair.archiving.store.site, self.pair.archiving.database)))
        for world in self.pair.worlds:
            for partition in range(world.store.site.partitions):
                for work in (annulments.WORK, banned_texts.WORK):
                    await _settled(world, work, partition)
                await removals.remove_all(world.store.site, partition)
            await effects.complete(world.store.site)
        following.cancel()
        await asyncio.wait([following])

    async def post_alone(self) -> str:
        """Comment in the store that archives only. Returns the id."""
        input = {"articleId": self.chance.choice(self.pair.ids), "content": self.text()}
        answer = await self.pair.archiving.ask(MUTATIONS["comment"], self.chance.choice(PEOPLE), {"input": input})
        payload = answer["data"]["comment"]
        assert payload["comment"], answer
        id: str = payload["comment"]["id"]
        return id

    async def shown(self, article: str) -> list[str]:
        """The comments that the thread of an article shows in the store that archives."""
        given = {"id": article, "order": "OLDEST", "depth": 100, "first": 500}
        thread = (await self.pair.archiving.ask(THREAD, viewer=None, variables=given))["data"]["article"]["thread"]
        assert thread["totalCount"] == len(thread["edges"])
        return [edge["node"]["id"] for edge in thread["edges"]]

    async def compare(self) -> None:
        for id in self.chance.sample(self.pair.ids, 3):
            await self.walk(id, self.chance.choice(ORDERS))
        some = self.chance.sample(self.ids, min(len(self.ids), 20))
        await self.pair.ask(NODES, self.chance.choice(PEOPLE), ids=some)
        name, archiving = self.chance.choice(PEOPLE), self.pair.archiving
        assert archiving.database
        await mirrored(archiving.store, archiving.database)  # it knows which older comments are shown
        await self.pair.ask(OF_USER, name, name=name)
        await self.walk_comments(name)
        self.reached["lists without older comments"] += await comment_lists.stored_floor(archiving.store.site, name) > 0

    async def walk_comments(self, name: str) -> None:
        """Read the comments of a user page by page in both stores, which have the same cursors."""
        upwards, cursor = self.chance.random() < 0.5, None
        size, beyond = ("last", "before") if upwards else ("first", "after")
        more, end = ("hasPreviousPage", "startCursor") if upwards else ("hasNextPage", "endCursor")
        is_more = True
        while is_more:
            answer = await self.pair.ask(
                COMMENTS, None, name=name, **{size: self.chance.choice((1, 3, 20)), beyond: cursor}
            )
            found = answer["data"]["user"]["comments"]["pageInfo"]
            is_more, cursor = found[more], found[end]

    async def walk(self, id: str, order: str) -> None:
        """Read a thread page by page in both stores, each with cursors of its own, which are not compared."""
        chance, who = self.chance, self.chance.choice([None, *PEOPLE])
        upwards, size, depth = chance.random() < 0.5, chance.choice((2, 5, 40)), chance.choice((0, 2, 50))
        under = chance.choice([None, None, *[each for each in self.ids if self.article_of[each] == id]])
        given: dict[str, Any] = {"id": id, "order": order, "depth": depth, "under": under}
        given |= {"pinned": chance.random() < 0.3, "last" if upwards else "first": size}
        cursors: list[str | None] = [None, None]
        while True:
            answers = []
            for place, world in enumerate(self.pair.worlds):
                variables = given | {"before" if upwards else "after": cursors[place]}
                answers.append(await world.ask(THREAD, who, variables))
            infos = [_without_cursors(answer) for answer in answers]
            assert typed(answers[0]) == typed(answers[1]), given
            self.reached["pages of what has left"] += article_number(id) in self.gone
            if infos[0] is None or not infos[0]["hasPreviousPage" if upwards else "hasNextPage"]:
                return
            cursors = [info["startCursor" if upwards else "endCursor"] for info in infos if info]


def _without_cursors(answer: dict[str, Any]) -> dict[str, Any] | None:
    """
    Replace the cursors in the page of a thread by whether there is one, and return its `pageInfo` with the cursors;
    None if there is no article.
    """
    article = (answer["data"] or {}).get("article")
    if not article:
        return None
    info = dict(article["thread"]["pageInfo"])
    for name in ("startCursor", "endCursor"):
        article["thread"]["pageInfo"][name] = article["thread"]["pageInfo"][name] is not None
    return info


async def _settled(world: World, work: StepwiseWork, partition: int) -> None:
    """Do all of some work in a partition, which tries again while the database is behind."""
    while True:
        try:
            return await work.settle_all(world.store, world.database, partition)
        except Delayed:
            await asyncio.sleep(0.1)


async def findings(world: World, *, repair: bool = False) -> list[Finding]:
    """What the command `upvote verify` reports, but for late expiries: those depend on the clock of Redis."""
    found: list[Finding] = []
    assert world.database
    site = world.store.site
    await site.rankings.read(site.redis)
    tally = None
    if site.rankings.archive:
        tally = await maintenance.verify(site, world.database, found.append, repair=repair)
    await verify.verify(site, found.append, repair=repair, archived=tally)
    return [each for each in found if not each.where.endswith(" TTL")]


async def in_redis(world: World, numbers: Sequence[int]) -> set[int]:
    """Those of some articles that Redis has, also removed ones."""
    site = world.store.site
    commands = [("EXISTS", keys.article(site.partition_of_article(number), number)) for number in numbers]
    return {number for number, is_there in zip(numbers, await site.redis.pipeline(commands), strict=True) if is_there}


async def write(pair: Pair, name: str, who: str, **input: Any) -> dict[str, Any]:
    """The payload of a mutation, which is the same in both stores."""
    answer = await pair.ask(MUTATIONS.get(name, BAN), who, input=input)
    assert answer["data"], answer
    payload: dict[str, Any] = answer["data"][name]
    return payload


async def talked(pair: Pair, poster: str, *, group: str = "show") -> tuple[str, str]:
    """Post an article and two comments of carol on it. Return the ids of the article and of the first comment."""
    article = await pair.mutate("post", poster, title=f"A title {pair.clock.now}", content="A text.", groups=[group])
    id: str = article["article"]["id"]
    said = [await write(pair, "comment", "carol", articleId=id, content=f"text {n}") for n in range(2)]
    pair.clock.advance(1)
    return id, said[0]["comment"]["id"]


async def let_leave(pair: Pair, *articles: str, days: int = 2) -> None:
    """
    Let all conversations leave Redis in which nothing was written for `days`, and check that those of `articles` (ids)
    have left.
    """
    pair.crashes, pair.days = False, days
    pair.clock.advance((days + 1) * DAY if days else WINDOW + 70)
    assert pair.archiving.database
    await mirrored(pair.archiving.store, pair.archiving.database)  # the database knows what was removed
    await pair.run_mover(articles=0, articles_per_user=1_000)
    assert not await in_redis(pair.archiving, [article_number(id) or 0 for id in articles])
