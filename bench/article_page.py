"""
Measures what the HTML of an article with 100 comments costs.

    python -m bench.article_page [--rounds 40]

The application runs in this process, with a Valkey of its own, and is called without a client. `CPU` is the processor
time of the process for a request, in milliseconds, and the median of all rounds. Caches keep the HTML of texts and of
rows of the thread: before a `cold` request they are emptied, before a `warm` one they have all of it.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from starlette.types import ASGIApp, Message

from bench.tables import markdown
from server.app import create
from server.http.connections import ConnectionLimiter
from server.managed_valkey import server
from server.reader.texts import TEXTS
from server.reader.threads import ROWS
from server.settings import Settings
from store import keys
from store.articles import Draft
from store.store import Store

COMMENTS = 100
NAMES = [f"member{number}" for number in range(20)]
NOW = 1_470_000_000_000  # unix milliseconds
TEXT = "Comment {number} says *this* about [that](https://example.org/{number}), and @alice may answer. " * 2
REQUEST = {
    "type": "http",
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "query_string": b"",
    "root_path": "",
}
BROWSER = [(b"host", b"up"), (b"accept", b"text/html"), (b"accept-encoding", b"identity")]


async def run(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
        app = create(Settings(redis_url=url, rate_limits="off"), ConnectionLimiter())
        async with app.router.lifespan_context(app):
            path = f"/article/{await filled(app.state.store)}"
            await cost(app, path)
            cold, warm, size = [], [], 0
            for _ in range(rounds):
                TEXTS.clear()
                ROWS.clear()
                cold.append((await cost(app, path))[0])
                took, size = await cost(app, path)
                warm.append(took)
            print(markdown(["", "CPU, ms"], [["cold", f"{median(cold):.1f}"], ["warm", f"{median(warm):.1f}"]]))
            print(f"cold / warm: {median(cold) / median(warm):.1f}; {size / 1000:.0f} kB of HTML")


async def filled(store: Store) -> int:
    """Post an article with comments, two of three an answer to the one before, and return the article's number."""
    for name in NAMES:
        await store.site.redis.run(("HSET", keys.user(0, name), "name", name, "joined", NOW, "karma", 0))
    posted = await store.articles.post(NAMES[0], Draft("A title", content=TEXT.format(number="")))
    article, parent = posted.article.number, None
    for number in range(COMMENTS):
        poster = NAMES[number % len(NAMES)]
        made = await store.comments.post(article, parent, poster, TEXT.format(number=number))
        parent = None if number % 3 == 0 else made.comment.number
    return article


async def cost(app: ASGIApp, path: str) -> tuple[float, int]:
    """The milliseconds of CPU that a request takes, with all threads, and the bytes of its answer."""
    sent = list[Message]()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {**REQUEST, "path": path, "raw_path": path.encode(), "headers": BROWSER, "client": None, "server": None}
    before = time.process_time()
    await app(scope, receive, send)
    took = (time.process_time() - before) * 1000
    body = b"".join(message.get("body", b"") for message in sent)
    assert body.count(b'class="comment"') == COMMENTS, sent[0]
    return took, len(body)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.article_page", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    asyncio.run(run(parser.parse_args().rounds))


if __name__ == "__main__":
    main()
