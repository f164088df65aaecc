"""
Two peers, servers that the project is compared with, which are lower bounds of what a page costs. `handler` serves
pages without GraphQL: redis-py pipelines, dicts, orjson. `ready` sends the same prepared bytes to every request: the
cost of uvicorn itself.
"""

import os
from pathlib import Path
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bench import plain

SIZE = 25  # articles of a page

redis = plain.connect()


async def answer(request: Request) -> Response:
    variables = orjson.loads(await request.body())["variables"]
    name, index = plain.listing(variables.get("group"))
    viewer = await plain.viewer(redis, request.headers.get("authorization"))
    places = await plain.page(redis, index, SIZE, variables.get("after"))
    shown = places[:SIZE]
    numbers = [int(member) for member, _ in shown]
    stored = await plain.articles(redis, numbers)
    votes = await plain.votes(redis, numbers, viewer) if viewer else [None] * len(numbers)
    edges = [
        {"cursor": plain.cursor(name, place), "node": article(number, fields, vote)}
        for place, number, fields, vote in zip(shown, numbers, stored, votes, strict=True)
    ]
    page_info = {"hasNextPage": len(places) > SIZE, "endCursor": edges[-1]["cursor"] if edges else None}
    body = orjson.dumps({"data": {"articles": {"edges": edges, "pageInfo": page_info}}})
    return Response(body, media_type="application/json")


def article(number: int, stored: plain.Hash, vote: str | None) -> dict[str, Any]:
    poster = stored["poster"]
    return {
        "id": f"article:{number}",
        "title": stored["title"],
        "link": stored.get("link"),
        "votes": int(stored["up"]) - int(stored["down"]),
        "score": plain.score(stored),
        "postedAt": plain.instant(stored),
        "viewerVote": vote if plain.is_open(stored) else None,
        "poster": {"id": f"user:{poster.lower()}", "username": poster},
        "groups": [{"id": f"group:{name}", "name": name} for name in stored["groups"].split()],
    }


async def ready(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(READY)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": READY})


READY = Path(os.environ["BENCH_READY"]).read_bytes()
handler = Starlette(routes=[Route("/graphql", answer, methods=["POST"])])
