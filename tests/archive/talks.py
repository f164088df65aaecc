"""Two stores in which people talk: one archives conversations, the other never does. Their answers are compared."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from archive import maintenance
from store import keys, roles
from store.maintenance import verify
from store.maintenance.verify import Finding
from store.moderation_records import Role
from store.records import article_number, comment_number
from tests.archive.worlds import ERRORS, PEOPLE, Pair, World
from tests.typed import typed

DAYS = 2
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
MUTATIONS = {
    "comment": f"""mutation($input: CommentInput!) {{ comment(input: $input) {{
      {ERRORS} comment {{ {COMMENT} article {{ commentCount }} }} }} }}""",
    "editComment": f"""mutation($input: EditCommentInput!) {{ editComment(input: $input) {{
      {ERRORS} comment {{ {COMMENT} }} }} }}""",
    "deleteComment": f"""mutation($input: DeleteCommentInput!) {{ deleteComment(input: $input) {{
      {ERRORS} deletedCommentId }} }}""",
    "voteOnComment": f"""mutation($input: VoteOnCommentInput!) {{ voteOnComment(input: $input) {{
      {ERRORS} changed comment {{ id votes viewerVote }} }} }}""",
    "removeContent": f"mutation($input: RemoveContentInput!) {{ removeContent(input: $input) {{ {ERRORS} changed }} }}",
    "approveContent": f"mutation($input: ApproveContentInput!) {{ approveContent(input: $input) {{ {ERRORS} changed }} }}",
    "lockArticle": f"mutation($input: LockArticleInput!) {{ lockArticle(input: $input) {{ {ERRORS} changed }} }}",
    "deleteArticle": f"mutation($input: DeleteArticleInput!) {{ deleteArticle(input: $input) {{ {ERRORS} }} }}",
    "flag": f"mutation($input: FlagInput!) {{ flag(input: $input) {{ {ERRORS} }} }}",
}


@dataclass
class Talk:
    """`ids` are those of all comments, `reached` counts what was compared, `gone` the conversations that have left."""

    pair: Pair
    chance: random.Random
    ids: list[str] = field(default_factory=list)
    reached: Counter[str] = field(default_factory=Counter)
    gone: set[int] = field(default_factory=set)

    async def begin(self) -> None:
        self.pair.days = DAYS
        self.pair.ids.clear()
        for world in self.pair.worlds:
            await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, None, "looks after it")
        for _ in range(6):
            await self.pair.post()
            self.pair.clock.advance(1)
        for _ in range(50):
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

    article_of: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        mention = f" @{self.chance.choice(PEOPLE)}" if self.chance.random() < 0.3 else ""
        return f"text {self.chance.randrange(10**6)}{mention}"

    def any_article(self) -> str:
        cold = [id for id in self.pair.ids if article_number(id) in self.gone]
        return self.chance.choice(cold if cold and self.chance.random() < 0.3 else self.pair.ids)

    def any_comment(self) -> str:
        cold = [id for id in self.ids if article_number(self.article_of[id]) in self.gone]
        return self.chance.choice(cold if cold and self.chance.random() < 0.5 else self.ids)

    async def change(self) -> None:
        """Anything that is written about a comment, or an article that has some."""
        id, who = self.any_comment(), self.chance.choice(PEOPLE)
        match self.chance.randrange(12):
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
            case _:
                await self.write("flag", who, subjectId=id, reason="SPAM")
                await self.write("approveContent", "alice", subjectId=id)

    async def poster(self, id: str) -> str:
        """Mostly the poster of a comment."""
        site, number = self.pair.complete.store.site, comment_number(id) or 0
        found = await site.redis.run(("HGET", keys.comment(site.home_of_article(number), number), "poster"))
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
        """Let time pass, and conversations leave. The process of the mover may end meanwhile, some times."""
        self.pair.clock.advance(self.chance.choice((60, DAYS * 86_400 + 700, DAYS * 86_400 + 700)))
        for _ in range(5):
            await self.pair.run_mover(articles, 1_000)
        await self.look()

    async def look(self) -> None:
        """Note which conversations have left."""
        before = self.gone
        hot = await self.pair.archiving.numbers()
        self.gone = {article_number(id) or 0 for id in self.pair.ids} & await self.pair.complete.numbers() - hot
        self.reached["left"] += len(self.gone - before)
        self.reached["came back"] += len(before & hot)

    async def compare(self) -> None:
        for id in self.pair.ids:
            await self.walk(id, self.chance.choice(ORDERS))
        some = self.chance.sample(self.ids, min(len(self.ids), 20))
        await self.pair.ask(NODES, self.chance.choice(PEOPLE), ids=some)
        name = self.chance.choice(PEOPLE)
        await self.pair.ask(OF_USER, name, name=name)

    async def walk(self, id: str, order: str) -> None:
        """Read a thread page by page in both stores, each with cursors of its own, which are not compared."""
        chance, who = self.chance, self.chance.choice([None, *PEOPLE])
        upwards, size, depth = chance.random() < 0.5, chance.choice((1, 3, 40)), chance.choice((0, 2, 50))
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
    article = (answer["data"] or {}).get("article")
    if not article:
        return None
    info = dict(article["thread"]["pageInfo"])
    for name in ("startCursor", "endCursor"):
        article["thread"]["pageInfo"][name] = article["thread"]["pageInfo"][name] is not None
    return info


async def findings(world: World, *, repair: bool = False) -> list[Finding]:
    """What `upvote verify` reports."""
    found: list[Finding] = []
    assert world.database
    site = world.store.site
    await site.rankings.read(site.redis)
    tally = None
    if site.rankings.archive:
        tally = await maintenance.verify(site, world.database, found.append, repair=repair)
    await verify.verify(site, found.append, repair=repair, archived=tally)
    return [each for each in found if not each.where.endswith(" TTL")]  # of Redis' own clock
