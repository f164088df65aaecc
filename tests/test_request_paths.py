"""
Compares what a request runs through with the lists of docs/architecture.md.

The requests come over a socket from a client that accepts gzip. A room is one of the project's packages.
`python -m tests.test_request_paths` prints the modules, the number of calls that lead to another room, and the number
of calls from a command of the store to the bytes of its script; with `--write` it puts them into the page. The
description of a module is the first sentence of its docstring.
"""

import ast
import asyncio
import dis
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType

import httpx
import pytest
import uvicorn

ROOT = Path(__file__).parents[1]
ROOMS = ("archive", "caches", "engine", "schema", "resolvers", "database", "store", "server")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
VOTE_COMMAND = "store/articles.py:Articles.vote"
WRITE = "store/client/connection.py:RedisConnection._write"  # the bytes of commands leave here
BULLET = re.compile(r"^- `([^`]+)` - (.+)$", re.MULTILINE)
VOTE_TITLE, PAGE_TITLE = "The way of a vote", "The way of a page"

REGISTER = """mutation { register(input: {username: "%s", password: "correct horse"}) { token } }"""
POST = """mutation { post(input: {title: "a title", link: "https://example.com/", groups: ["show"]}) {
  article { id } } }"""
VOTE = """mutation Vote($id: ID!) {
  vote(input: {articleId: $id, value: UP}) { changed article { votes viewerVote } userErrors { code } } }"""
SESSION = "{ viewer { username } }"
PAGE = """query Page($group: String) { articles(group: $group, first: 25) {
  pageInfo { hasNextPage endCursor } nodes { id title votes viewerVote poster { username } groups { name } } } }"""

Ask = Callable[..., Awaitable[dict]]  # takes a query, a token and variables, and returns the data: see `served`

is_traced = ContextVar("is_traced", default=False)


@dataclass(slots=True)
class Trace:
    """The functions of ours that a request calls, in order, each as "module:name". To resume a coroutine is no call."""

    calls: list[str] = field(default_factory=list)

    def modules(self) -> list[str]:
        """In the order of first entry."""
        return list(dict.fromkeys(call.partition(":")[0] for call in self.calls))

    def changes(self) -> int:
        """How many calls lead to another room than the call before."""
        return sum(before != after for before, after in pairwise(call.partition("/")[0] for call in self.calls))

    def between(self, command: str) -> list[str]:
        """The calls that follow a command of the store, up to the one that sends the bytes of its script."""
        first = self.calls.index(command) + 1
        return self.calls[first : self.calls.index(WRITE, first) + 1]


@pytest.fixture(scope="module")
def printed() -> str:
    command = [sys.executable, "-m", "tests.test_request_paths"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("title", [VOTE_TITLE, PAGE_TITLE])
def test_architecture_lists_the_modules_of_a_request(printed, title):
    found, listed = ([module for module, _ in bullets(text, title)] for text in (printed, ARCHITECTURE.read_text()))

    assert found
    assert listed == found, "renew docs/architecture.md with `python -m tests.test_request_paths --write`"


@pytest.mark.parametrize(
    ("title", "modules", "changes"),
    [(VOTE_TITLE, 31, 50), (PAGE_TITLE, 38, 139)],
)
def test_request_passes_no_more_modules_and_rooms_than_before(printed, title, modules, changes):
    """
    The goal is 25 modules and 35 changes for a vote, 30 and 95 for a page: lower these numbers where that is met.

    Modules of different subjects are not merged for it, such as clients, requests and time limits.
    """
    assert len(bullets(printed, title)) <= modules
    assert int(re.search(r"(\d+) calls change the room", section_of(printed, title))[1]) <= changes


def test_bytes_of_a_script_are_few_calls_away(printed):
    """
    The goal was 6. What is left beside those that pass the command on: the partition, the clock, the count of round
    trips, and the write of all commands of an iteration of the event loop.
    """
    calls = re.search(r"(\d+) calls from `Articles.vote`", section_of(printed, VOTE_TITLE))
    assert calls and int(calls[1]) <= 10


def bullets(text: str, title: str) -> list[tuple[str, str]]:
    """The modules in the section with this title, with their descriptions."""
    return BULLET.findall(section_of(text, title))


def section_of(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


async def vote(ask: Ask) -> Trace:
    """A vote. Its document and its session were used before, as those of a front end are."""
    poster, voter, other = [await token_of(ask, name) for name in ("poster", "voter", "other")]
    article = (await ask(POST, poster))["post"]["article"]["id"]
    for _ in range(3):
        await ask(VOTE, other, id=article)
    await ask(SESSION, voter)
    with traced() as trace:
        voted = (await ask(VOTE, voter, id=article))["vote"]
    assert voted == {"changed": True, "article": {"votes": 3, "viewerVote": "UP"}, "userErrors": []}
    return trace


async def page(ask: Ask) -> Trace:
    """A page. Its document was used before, and no cache of the process has its articles."""
    poster, viewer = [await token_of(ask, name) for name in ("poster-2", "viewer")]
    await ask(POST, poster)
    for _ in range(3):
        await ask(PAGE, viewer, group="empty")
    with traced() as trace:
        (article,) = (await ask(PAGE, viewer, group="show"))["articles"]["nodes"]
    assert article["viewerVote"] == "NONE" and article["groups"] == [{"name": "show"}]
    return trace


async def token_of(ask: Ask, name: str) -> str:
    return (await ask(REGISTER % name))["register"]["token"]


@contextmanager
def traced() -> Iterator[Trace]:
    """
    The calls of the requests that arrive meanwhile.

    Only calls in the context of a request count, which begins where the server gets its bytes: connections to Redis and
    tasks that serve all requests have their own.
    """
    trace = Trace()

    def called(frame: FrameType, event: str, argument: object) -> None:
        module = module_of(frame.f_code)
        if event != "call" or module is None or has_begun(frame):
            return
        if frame.f_code.co_name == "data_received" and module.startswith("server/"):
            is_traced.set(True)
        if is_traced.get():
            trace.calls.append(f"{module}:{frame.f_code.co_qualname}")

    sys.setprofile(called)
    try:
        yield trace
    finally:
        sys.setprofile(None)


def module_of(code: CodeType) -> str | None:
    """The module of ours, such as "store/site.py", that has this function. What runs on import is none."""
    if code.co_name == "<module>" or not code.co_filename.startswith(f"{ROOT}/"):
        return None
    module = code.co_filename.removeprefix(f"{ROOT}/")
    return module if module.partition("/")[0] in ROOMS else None


def has_begun(frame: FrameType) -> bool:
    """Whether a generator or coroutine goes on after it was suspended."""
    return frame.f_lasti >= 0 and frame.f_lasti > first_resume(frame.f_code)


@cache
def first_resume(code: CodeType) -> int:
    return next(step.offset for step in dis.get_instructions(code) if step.opname == "RESUME")


@asynccontextmanager
async def served(redis_url: str) -> AsyncIterator[Ask]:
    """A function that sends operations to a server in this process, over one connection."""
    from server.http_server import configuration
    from server.settings import Settings

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configuration(Settings(redis_url=redis_url, log_level="error")))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
        client.headers["Accept-Encoding"] = "gzip"

        async def ask(query: str, token: str | None = None, **variables: object) -> dict:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            request = {"query": query, "variables": variables}
            answer = (await client.post("/graphql", json=request, headers=headers)).json()
            assert "errors" not in answer, answer
            return answer["data"]

        yield ask
    server.should_exit = True
    await serving


async def trace_of(redis_url: str, request: Callable[[Ask], Awaitable[Trace]]) -> Trace:
    async with served(redis_url) as ask:
        return await request(ask)


def described(trace: Trace, command: str | None) -> str:
    """The sentence and the list that stand in the page."""
    modules = trace.modules()
    sentence = f"{len(modules)} modules; {trace.changes()} calls change the room"
    if command:
        name = command.partition(":")[2]
        sentence += f"; {len(trace.between(command))} calls from `{name}` to the bytes of its script"
    return f"{sentence}.\n\n{bulleted(modules)}"


def bulleted(modules: Sequence[str]) -> str:
    return "\n".join(f"- `{module}` - {summary(module)}" for module in modules)


def summary(module: str) -> str:
    """The first sentence of a module's docstring."""
    text = " ".join((ast.get_docstring(ast.parse((ROOT / module).read_text())) or "").split())
    return re.split(r"(?<=\.) ", text, maxsplit=1)[0]


def replaced(page: str, title: str, description: str) -> str:
    """The text of the page with another description in a section."""
    before, heading, rest = page.partition(f"## {title}\n")
    section, after = re.split(r"(?=^## )|\Z", rest, maxsplit=1, flags=re.MULTILINE)
    introduction = re.split(r"^(?:\d+ modules; |- `)", section, maxsplit=1, flags=re.MULTILINE)[0]
    closing = re.split(r"^- `.*\n", section, flags=re.MULTILINE)[-1]
    parts = [introduction.rstrip("\n"), description, closing.strip("\n")]
    return before + heading + "\n\n".join(part for part in parts if part) + "\n\n" + after


def main() -> None:
    from server.managed_valkey import server

    page_text = ARCHITECTURE.read_text()
    for title, request, command in ((VOTE_TITLE, vote, VOTE_COMMAND), (PAGE_TITLE, page, None)):
        with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
            description = described(asyncio.run(trace_of(url, request)), command)
        print(f"## {title}\n\n{description}\n")
        page_text = replaced(page_text, title, description)
    if "--write" in sys.argv:
        ARCHITECTURE.write_text(page_text)


if __name__ == "__main__":
    main()
