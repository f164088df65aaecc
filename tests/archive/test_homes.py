"""
The homes of a store that archives old articles are those of a store that never does (D3, H1). The home of a user is
the front page: articles of the groups that the user follows, without those that the user hides.

A `pair` is both stores. What `ask` sends to both has to have the same answer in both.

`TAKES_FEW` is true in `make test`, which does less.

Codes such as D3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import os
import random
from datetime import UTC, datetime

import pytest

from tests.archive.worlds import GROUPS, PEOPLE, Pair
from tests.examples import TAKES_FEW

STEPS, COMPARED_EVERY = (24, 6) if TAKES_FEW else (48, 4)
ORDERS = ("SCORE", "TIME", "VOTES", "HOT", "BEST", "CONTROVERSIAL", "GRAVITY", "ACTIVE")
HOME = """query($order: ArticleOrder, $since: DateTime, $first: Int, $after: String, $last: Int, $before: String) {
  home { articles(order: $order, since: $since, first: $first, after: $after, last: $last, before: $before) {
    nodes { id votes } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
CHOICES = {
    "followGroup": "mutation($id: String!) { followGroup(input: {group: $id}) { changed userErrors { code } } }",
    "unfollowGroup": "mutation($id: String!) { unfollowGroup(input: {group: $id}) { changed userErrors { code } } }",
    "hideArticle": "mutation($id: ID!) { hideArticle(input: {articleId: $id}) { changed userErrors { code } } }",
    "blockUser": "mutation($id: ID!) { blockUser(input: {userId: $id}) { changed userErrors { code } } }",
}


async def choose(pair: Pair, who: str) -> None:
    """Change at random what the home of a user has: follow and unfollow groups, hide articles."""
    chance = pair.chance
    for _ in range(2):
        await pair.ask(CHOICES["followGroup"], who, id=chance.choice(GROUPS))
    for id in chance.sample(pair.ids, 5):
        await pair.ask(CHOICES["hideArticle"], who, id=id)
    await pair.ask(CHOICES["unfollowGroup"], who, id=chance.choice(GROUPS))


async def compare(pair: Pair, who: str) -> set[str]:
    """Compare the homes of a user, page by page, and return the ids that they have."""
    seen = set()
    for order in ORDERS:
        paging = pair.chance.choice(((3, "first", "after"), (10, "first", "after"), (4, "last", "before")))
        size, size_argument, cursor_argument = paging
        given = {"order": order, size_argument: size}
        if order in ("TIME", "VOTES") and pair.chance.random() < 0.5:
            instant = pair.clock.now / 1000 - pair.chance.choice((100, 900, 5_000, 100_000))
            given["since"] = datetime.fromtimestamp(instant, UTC).isoformat()
        while True:
            page = (await pair.ask(HOME, who, **given))["data"]["home"]["articles"]
            seen |= {node["id"] for node in page["nodes"]}
            info = page["pageInfo"]
            if not info["hasNextPage" if size_argument == "first" else "hasPreviousPage"]:
                break
            given[cursor_argument] = info["endCursor" if size_argument == "first" else "startCursor"]
    return seen


@pytest.mark.timeout(600)  # a minute with PostgreSQL on a busy machine
@pytest.mark.one_server
@pytest.mark.many_partitions
@pytest.mark.parametrize("partitions", [4] if TAKES_FEW else [1, 4], indirect=True)
async def test_homes_are_those_of_a_store_that_never_archives(pair: Pair, partitions: int) -> None:  # D3, H1
    pair.chance = random.Random(int(os.environ.get("SEED", partitions)))
    await pair.begin()
    await pair.ask(CHOICES["blockUser"], PEOPLE[0], id=f"user:{PEOPLE[2]}")
    archived = set()
    for turn in range(STEPS):
        await pair.step()
        if turn % COMPARED_EVERY == 0:
            who = pair.chance.choice(PEOPLE[:3])
            await choose(pair, who)
            for each in (who, PEOPLE[3]):
                archived |= await compare(pair, each) & {f"article:{number}" for number in pair.archived}

    assert len(archived) > 3
