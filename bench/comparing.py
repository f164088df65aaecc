"""Checks before a measurement that all peers, the servers beside the project, give the same answers as the project."""

from typing import Any

import httpx
import orjson

from bench.queries import Query, Request
from bench.servers import Server

SAMPLES = 6  # requests of each query whose answers are compared


class Differs(Exception):
    """A peer answers differently from the project; the message says where."""


def compare(query: Query, requests: list[Request], servers: list[Server]) -> None:
    """
    Send the same requests to all servers and compare their answers with those of the first.

    Raises:
        Differs: an answer is not equal, or has errors.
    """
    ours, *others = servers  # the project is the first
    expected = answers(ours, query, requests)
    for other in others:
        for one, found in zip(expected, answers(other, query, requests), strict=True):
            if where := difference(one, found):
                raise Differs(f"{other.peer.name} answers {query.name} differently: {where}")


def answers(server: Server, query: Query, requests: list[Request]) -> list[Any]:
    """The answers of a server. Of writes only the last two thirds: the first third depends on the previous server."""
    sent = writes(requests) if query.writes else requests[:SAMPLES]
    found = [ask(server, request) for request in sent]
    return found[len(found) // 3 :] if query.writes else found


def writes(requests: list[Request]) -> list[Request]:
    """
    Some votes and their withdrawals, which the second half of `requests` has. The servers share a store, so each one
    first withdraws the votes of the one before, then votes, and leaves no votes.
    """
    half = len(requests) // 2
    cast, taken_back = requests[:SAMPLES], requests[half : half + SAMPLES]
    return taken_back + cast + taken_back


def ask(server: Server, request: Request) -> Any:
    """The answer of a server, parsed from its JSON. Raises Differs if it has errors."""
    body, token = request
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    reply = httpx.post(f"http://127.0.0.1:{server.port}/graphql", content=body, headers=headers, timeout=60)
    if reply.status_code != 200:
        raise Differs(f"{server.peer.name} answers {reply.status_code}: {reply.text[:500]}")
    answer = orjson.loads(reply.content)
    if "errors" in answer:
        raise Differs(f"{server.peer.name} answers with errors: {str(answer['errors'])[:500]}")
    return answer


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """The first difference of two answers; None if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return next((found for key in one if (found := difference(one[key], other[key], f"{path}.{key}"))), None)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return next((found for place, pair in pairs if (found := difference(*pair, f"{path}[{place}]"))), None)
    return None if one == other else f"{path} is {str(other)[:200]}, not {str(one)[:200]}"
