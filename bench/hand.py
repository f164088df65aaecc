"""
The peer `hand`, a server that the project is compared with: a page written by hand, without GraphQL, with only the
Redis client of the store and orjson. Two round trips.

It shows what an operation that the project compiles costs at least.
"""

import time
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from bench import plain
from schema.scalars import write_instant
from store import keys
from store.client import Command
from store.client.client import RedisClient

FIELDS = ("title", "link", "up", "down", "poster", "time", "groups")
SIZE = 25  # articles of a page

connection = RedisClient(plain.CONFIG["url"])


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    variables = orjson.loads(await read_body(receive))["variables"]
    authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"").decode()
    articles = await page(variables.get("group"), variables.get("after"), authorization)
    body = orjson.dumps({"data": {"articles": articles}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read_body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message["body"]
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    return body


async def page(group: str | None, after: str | None, authorization: str) -> dict[str, Any]:
    """The connection of a page, as the JSON of GraphQL has it. All keys are in partition 0, which has all data."""
    listing, index = plain.listing(group)
    reading = ("ZRANGE", index, plain.below(after), "-inf", "BYSCORE", "REV", "LIMIT", 0, SIZE + 1, "WITHSCORES")
    session, places = await connection.pipeline(
        [("GET", keys.session(0, plain.digest(authorization))), reading],
    )
    viewer, shown = plain.logged_in(session), places[:SIZE]
    numbers = [int(member) for member, _ in shown]
    commands: list[Command] = [("HMGET", keys.article(0, number), *FIELDS) for number in numbers]
    for key in (keys.voted, keys.downvoted) if viewer else ():
        commands += [("SISMEMBER", key(0, number), viewer) for number in numbers]
    # first the hashes; then, with a viewer, whether they voted each article up, and whether they voted each down
    replies, count = await connection.pipeline(commands), len(shown)
    votes = zip(replies[count : 2 * count], replies[2 * count :], strict=True) if viewer else [None] * count
    cutoff = time.time() * 1000 - plain.CONFIG["votingWindow"]
    edges = [
        {"cursor": plain.cursor(listing, place), "node": node(number, fields, vote, cutoff)}
        for place, number, fields, vote in zip(shown, numbers, replies[:count], votes, strict=True)
    ]
    more = len(places) > SIZE
    return {"edges": edges, "pageInfo": {"hasNextPage": more, "endCursor": edges[-1]["cursor"] if edges else None}}


def node(number: int, fields: list[str], vote: tuple[int, int] | None, cutoff: float) -> dict[str, Any]:
    """
    An article. `fields` are the values of `FIELDS`; `vote` is whether the viewer is among those who voted up, and among
    those who voted down (1 or 0); `cutoff` is when the oldest article was posted that is open to votes (unix
    milliseconds).
    """
    title, link, up, down, poster, posted, groups = fields
    votes, posted_at = int(up) - int(down), int(posted)
    return {
        "id": f"article:{number}",
        "title": title,
        "link": link,
        "votes": votes,
        "score": (posted_at + plain.CONFIG["voteWorth"] * votes) / 1000,
        "postedAt": write_instant(posted_at),
        "viewerVote": plain.VOTES[vote[0] - vote[1]] if vote and posted_at >= cutoff else None,
        "poster": {"id": f"user:{poster.lower()}", "username": poster},
        "groups": [{"id": f"group:{name}", "name": name} for name in groups.split()],
    }
