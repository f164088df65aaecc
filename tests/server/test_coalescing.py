"""
Equal queries that come at once to a server share one execution, which metrics call coalesced: also beside writes.

The fixture `live` is a running server with an article, which the tests share. Codes such as V2 name rows of
docs/behaviours.md.
"""

import asyncio

import httpx
import pytest

from tests.server.conftest import POST, REGISTER
from tests.servers import PATIENCE, until

READERS = 12  # that read all the time
VOTES = 40
READ = "query Read($id: ID!) { article(id: $id) { votes viewerVote } }"
VOTE = "mutation Vote($input: VoteInput!) { vote(input: $input) { article { votes viewerVote } } }"


def coalesced(live):
    return live.metrics().get('upvote_executions_total{execution_path="coalesced"}', 0)


@pytest.mark.slow
async def test_voter_finds_each_vote_beside_many_who_ask_the_same(live):  # V2
    """An answer that requests share must not be older than any of them."""
    token = live.ask(REGISTER.replace("alice", "coalesced"))["data"]["register"]["token"]
    posted = live.ask(POST, live.ask(REGISTER.replace("alice", "poster"))["data"]["register"]["token"])
    number = posted["data"]["post"]["article"]["id"]
    before = coalesced(live)
    headers = {"Authorization": f"Bearer {token}"}
    is_over = False

    async with httpx.AsyncClient(base_url=live.url, headers=headers, timeout=PATIENCE) as http:

        async def ask(query, **variables):
            return (await http.post("/graphql", json={"query": query, "variables": variables})).json()["data"]

        async def keep_reading():
            while not is_over:
                assert (await ask(READ, id=number))["article"]["votes"] in (1, 2)

        readers = [asyncio.ensure_future(keep_reading()) for _ in range(READERS)]
        for value, votes in [("UP", 2), ("NONE", 1)] * (VOTES // 2):
            voted = await ask(VOTE, input={"articleId": number, "value": value})
            read = await ask(READ, id=number)
            assert voted["vote"]["article"] == read["article"] == {"votes": votes, "viewerVote": value}
        await asyncio.to_thread(until, lambda: coalesced(live) > before)
        is_over = True
        await asyncio.gather(*readers)
