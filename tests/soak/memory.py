"""
Memory of a real server under requests that are all new: documents, names, tokens and cursors.

    python -m tests.soak.memory [--requests 1000000] [--connections 8] [--cache-mb 64]

Starts a server with a data folder of its own, and prints its resident size at checkpoints. It fails where the process
is larger at the end than at a tenth of the requests, by more than a tolerance.
"""

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import orjson

ROOT = Path(__file__).parents[2]
CHECKPOINTS = 20
TOLERANCE = 0.10  # growth that is allowed, of the size at a tenth of the requests
STOP_SECONDS = 30  # that the server may take to end


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--cache-mb", type=int, default=64)
    given = parser.parse_args()
    with _server(given.cache_mb) as (process, address):
        sizes = asyncio.run(_soak(process.pid, address, given.requests, given.connections))
    early, last = sizes[CHECKPOINTS // 10 - 1], sizes[-1]
    print(f"{early / 1e6:.0f} MB at a tenth, {last / 1e6:.0f} MB at the end")
    return 0 if last <= early * (1 + TOLERANCE) else 1


@contextmanager
def _server(cache_mb: int) -> "Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]":
    with tempfile.TemporaryDirectory(prefix="upvote-soak-") as folder:
        settings = {
            "UPVOTE_PORT": "0",
            "UPVOTE_DATA_DIR": f"{folder}/data",
            "UPVOTE_RATE_LIMITS": "off",
            "UPVOTE_LOG_LEVEL": "error",
            "UPVOTE_CACHE_MB": str(cache_mb),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "server", "serve"],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield process, _address(process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)


def _address(process: "subprocess.Popen[str]") -> tuple[str, int]:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"endpoint\s+(\S+)", line):
            parts = urlsplit(found[1])
            return str(parts.hostname), int(parts.port or 0)
    raise SystemExit("the server did not start")


async def _soak(pid: int, address: tuple[str, int], requests: int, connections: int) -> list[int]:
    """Resident sizes of the server in bytes, at equidistant checkpoints."""
    part, sizes, started = requests // CHECKPOINTS, [], monotonic()
    for checkpoint in range(CHECKPOINTS):
        first = checkpoint * part
        async with asyncio.TaskGroup() as group:
            for connection in range(connections):
                group.create_task(_client(address, range(first + connection, first + part, connections)))
        sizes.append(_resident(pid))
        print(f"{first + part:>9,} requests  {sizes[-1] / 1e6:7.1f} MB  {monotonic() - started:6.0f} s", flush=True)
    return sizes


async def _client(address: tuple[str, int], numbers: range) -> None:
    """Send the requests with these numbers over one connection, each with a token that nobody has."""
    reader, writer = await asyncio.open_connection(*address)
    for number in numbers:
        kind = KINDS[number % len(KINDS)]
        body = orjson.dumps(kind(number))
        token = urlsafe_b64encode(token_bytes(34)).decode().rstrip("=")  # as long as that of a session
        head = (
            f"POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}\r\n"
        )
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await _answer(reader)
        assert answer.startswith(b'{"data"') or b'"errors"' in answer, answer
    writer.close()
    await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert found, head
    return await reader.readexactly(int(found[1]))


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def document(number: int) -> dict[str, Any]:
    """The same document twice, so that it is compiled."""
    name = number // (2 * len(KINDS))
    query = f"query Q{name} {{ a{name}: articles(first: {1 + name % 100}) {{ totalCount nodes {{ id title }} }} }}"
    return {"query": query}


def persisted(number: int) -> dict[str, Any]:
    """A document with its hash, as clients register automatic persisted queries."""
    request = document(number)
    digest = sha256(request["query"].encode()).hexdigest()
    return request | {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest}}}


# 20 fields, each of which a variable includes or skips
CASES = "query({}) {{ {} }}".format(
    ", ".join(f"$v{n}: Boolean = true" for n in range(20)),
    " ".join(f"a{n}: articles(first: 1) @include(if: $v{n}) {{ totalCount }}" for n in range(20)),
)


def case(number: int) -> dict[str, Any]:
    """A document with a new combination of its variables, the bits of the number."""
    return {"query": CASES, "variables": {f"v{bit}": bool(number >> bit & 1) for bit in range(20)}}


def name(number: int) -> dict[str, Any]:
    """A document with new names of a user and a group."""
    query = "query($u: String!, $g: String!) { user(username: $u) { id } group(name: $g) { articles { totalCount } } }"
    return {"query": query, "variables": {"u": f"u{number}", "g": f"g{number}"}}


def cursor(number: int) -> dict[str, Any]:
    """A document with a new cursor, which is well-formed: the listing, a time and the number of an article."""
    text = urlsafe_b64encode(f"time|{1_470_311_520_000 + number}.0|{number:016d}".encode()).decode()
    return {"query": "query($a: String) { articles(order: TIME, after: $a) { totalCount } }", "variables": {"a": text}}


# each makes the body of a request from its number
KINDS: list[Callable[[int], dict[str, Any]]] = [document, persisted, case, name, cursor, name, cursor, name]

if __name__ == "__main__":
    sys.exit(main())
