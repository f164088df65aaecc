"""
Readers walk through a thread of comments page by page over HTTP, while others vote, post and delete. A pinned walk,
which keeps the order of its beginning, meets every comment exactly once; an unpinned one meets none twice.

C4 is a row of `docs/behaviours.md`, which this test proves.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from bench.conversations import like_hacker_news
from store.articles import Draft
from store.store import Store
from store.threads import CommentOrder
from tests.conftest import registered
from tests.server.conftest import serving

PEOPLE = [f"user-{number}" for number in range(30)]
COMMENTS = 120
PAGE = 5
VOTES_A_PAGE = 25  # acknowledged between two pages: as if four pages were read and 100 votes cast in a second
WRITERS = 8
THREAD = """query($id: ID!, $order: CommentOrder, $pinned: Boolean, $first: Int, $after: String, $last: Int,
  $before: String) { article(id: $id) { thread(order: $order, pinned: $pinned, maxDepth: 10000, first: $first,
    after: $after, last: $last, before: $before) {
      nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }"""
VOTE = "mutation($id: ID!, $v: VoteValue!) { voteOnComment(input: {commentId: $id, value: $v}) { changed } }"
POST = """mutation($id: ID!, $parent: ID, $text: String!) {
  comment(input: {articleId: $id, parentId: $parent, content: $text}) { comment { id } } }"""
DELETE = "mutation($id: ID!) { deleteComment(input: {commentId: $id}) { deletedCommentId } }"
Ask = Callable[..., Awaitable[dict[str, Any]]]


class Discussion:
    """
    People who write in a thread. `posters` has who has posted each comment that they know of, `deleted` the comments
    that they have deleted, and `sent` how many posts were sent before each comment that they have posted.
    """

    def __init__(self, ask: Ask, article: str, posters: dict[str, str]) -> None:
        self.ask, self.article, self.posters = ask, article, posters
        self.deleted, self.votes, self.is_ending = set[str](), 0, False
        self.sent, self.posts = dict[str, int](), 0

    async def write(self, seed: int) -> None:
        chance = random.Random(seed)
        while not self.is_ending:
            action, id = chance.random(), chance.choice(list(self.posters))
            if action < 0.95:
                answer = await self.ask(
                    VOTE, chance.choice(PEOPLE), id=id, v=chance.choice(("UP", "UP", "DOWN", "NONE"))
                )
                self.votes += bool(answer["voteOnComment"]["changed"])
            elif action < 0.985:
                await self._post(chance.choice(PEOPLE), chance.choice((None, id)), f"text {chance.random()}")
            elif id not in self.deleted:
                self.deleted.add(id)
                await self.ask(DELETE, self.posters[id], id=id)

    async def _post(self, poster: str, parent: str | None, text: str) -> None:
        before, self.posts = self.posts, self.posts + 1
        made = (await self.ask(POST, poster, id=self.article, parent=parent, text=text))["comment"]["comment"]
        if made:
            self.posters[made["id"]], self.sent[made["id"]] = poster, before


class Walk:
    """
    A reader of all pages. `known` has the comments that were there when it began, `shown` those that it has read, in
    the order in which it has read them.
    """

    def __init__(self, discussion: Discussion, order: CommentOrder, is_pinned: bool, upwards: bool) -> None:
        self._discussion, self._arguments = discussion, {"order": order.name, "pinned": is_pinned}
        self.is_pinned, self._upwards = is_pinned, upwards
        self.known, self.shown, self.pages = set[str](), list[str](), 0
        self.posts = 0  # sent until the first page was there

    async def run(self) -> None:
        discussion, cursor = self._discussion, None
        self.known = {*discussion.posters} - discussion.deleted
        while True:
            around = {"last": PAGE, "before": cursor} if self._upwards else {"first": PAGE, "after": cursor}
            answer = await discussion.ask(THREAD, None, id=discussion.article, **around, **self._arguments)
            page = answer["article"]["thread"]
            self.shown += [node["id"] for node in page["nodes"]][:: -1 if self._upwards else 1]
            self.pages += 1
            self.posts = self.posts if self.pages > 1 else discussion.posts
            info = page["pageInfo"]
            if not info["hasPreviousPage" if self._upwards else "hasNextPage"]:
                return
            cursor = info["startCursor" if self._upwards else "endCursor"]
            enough = discussion.votes + VOTES_A_PAGE
            while discussion.votes < enough:  # noqa: ASYNC110 - it is counted by other tasks, all the time
                await asyncio.sleep(0.005)


async def discussed(store: Store) -> tuple[str, dict[str, str]]:
    """An article with comments: their posters, by id."""
    chance = random.Random(1)
    article = (await store.articles.post(PEOPLE[0], Draft("A title", content="A text"))).article
    assert article
    numbers, posters = list[int](), dict[str, str]()
    for each, parent in enumerate(like_hacker_news(COMMENTS, chance)):
        above, poster = None if parent is None else numbers[parent], chance.choice(PEOPLE)
        posted = await store.comments.post(article.number, parent=above, poster=poster, content=f"Text {each}")
        comment = posted.comment
        assert comment
        numbers.append(comment.number)
        posters[comment.id] = poster
    return article.id, posters


async def test_pinned_walk_meets_each_comment_once_while_others_write(tmp_path):  # C4
    with serving(tmp_path, workers=2) as live:
        store = await Store.open(f"unix://{(tmp_path / 'address').read_text()}")
        tokens = {name: (await store.sessions.open(await registered(store, name))).token for name in PEOPLE}
        async with httpx.AsyncClient(base_url=live.url, timeout=60) as client:

            async def ask(query: str, name: str | None, **variables: object) -> dict[str, Any]:
                headers = {"Authorization": f"Bearer {tokens[name]}"} if name else {}
                response = await client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
                answer = response.json()
                assert "errors" not in answer and "expiredPins" not in answer.get("extensions", {}), answer
                return answer["data"]

            discussion = Discussion(ask, *await discussed(store))
            walks = [
                Walk(discussion, order, is_pinned, upwards)
                for order in CommentOrder
                for is_pinned in (True, False)
                for upwards in (True, False)
            ]
            writing = asyncio.gather(*(discussion.write(seed) for seed in range(WRITERS)))
            await asyncio.gather(*(walk.run() for walk in walks))
            discussion.is_ending = True
            await writing
        await store.close()

    assert discussion.votes >= VOTES_A_PAGE * (COMMENTS // PAGE - 1)
    assert len(discussion.posters) > COMMENTS and discussion.deleted
    for walk in walks:
        assert len(walk.shown) == len({*walk.shown})
        if walk.is_pinned:
            assert walk.pages >= len(walk.known - discussion.deleted) // PAGE
            assert walk.known - discussion.deleted <= {*walk.shown}
            assert all(discussion.sent.get(id, 0) <= walk.posts for id in walk.shown)
