"""
Compares the modules that a request runs through with the lists of docs/architecture.md.

`python -m tests.test_request_paths` prints the lists as they are now; with `--write` it puts them into the page. The
description of a module is the first sentence of its docstring.
"""

import ast
import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

import httpx
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("caches", "engine", "schema", "resolvers", "database", "store", "server")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
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

Ask = Callable[..., Awaitable[dict]]

is_traced = ContextVar("is_traced", default=False)


@pytest.fixture(scope="module")
def printed() -> str:
    command = [sys.executable, "-m", "tests.test_request_paths"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("title", [VOTE_TITLE, PAGE_TITLE])
def test_architecture_lists_the_modules_of_a_request(printed, title):
    found, listed = ([module for module, _ in bullets(text, title)] for text in (printed, ARCHITECTURE.read_text()))

    assert found
    assert listed == found, "renew docs/architecture.md with `python -m tests.test_request_paths --write`"


@pytest.mark.parametrize(("title", "most"), [(VOTE_TITLE, 25), (PAGE_TITLE, 30)])
def test_request_passes_no_more_modules_than_before(printed, title, most):
    """The goal is 25 for a vote and 30 for a page: lower these numbers with each merge of modules."""
    assert len(bullets(printed, title)) <= most


def bullets(text: str, title: str) -> list[tuple[str, str]]:
    """The modules in the section with this title, with their descriptions."""
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return BULLET.findall(section)


async def vote(ask: Ask) -> list[str]:
    """The modules of a vote. Its document and its session were used before, as those of a front end are."""
    poster, voter, other = [await token_of(ask, name) for name in ("poster", "voter", "other")]
    article = (await ask(POST, poster))["post"]["article"]["id"]
    for _ in range(3):
        await ask(VOTE, other, id=article)
    await ask(SESSION, voter)
    with traced() as modules:
        voted = (await ask(VOTE, voter, id=article))["vote"]
    assert voted == {"changed": True, "article": {"votes": 3, "viewerVote": "UP"}, "userErrors": []}
    return modules


async def page(ask: Ask) -> list[str]:
    """The modules of a page. Its document was used before, and no cache of the process has its articles."""
    poster, viewer = [await token_of(ask, name) for name in ("poster-2", "viewer")]
    await ask(POST, poster)
    for _ in range(3):
        await ask(PAGE, viewer, group="empty")
    with traced() as modules:
        (article,) = (await ask(PAGE, viewer, group="show"))["articles"]["nodes"]
    assert article["viewerVote"] == "NONE" and article["groups"] == [{"name": "show"}]
    return modules


async def token_of(ask: Ask, name: str) -> str:
    return (await ask(REGISTER % name))["register"]["token"]


@contextmanager
def traced() -> Iterator[list[str]]:
    """
    The modules of ours in which functions are called, in the order of first entry.

    Only calls in the context of the request count: connections and tasks that serve all requests have their own.
    """
    found: dict[str, None] = {}

    def entered(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and is_traced.get()
            and code.co_name != "<module>"
            and code.co_filename.startswith(f"{ROOT}/")
        ):
            module = code.co_filename.removeprefix(f"{ROOT}/")
            if module.partition("/")[0] in ROOMS:
                found.setdefault(module)

    modules: list[str] = []
    token = is_traced.set(True)
    sys.setprofile(entered)
    try:
        yield modules
    finally:
        sys.setprofile(None)
        is_traced.reset(token)
        modules += found


@asynccontextmanager
async def application(redis_url: str) -> AsyncIterator[Ask]:
    """A function that sends operations to an application in this process."""
    from server.app import create
    from server.limits import connection_limiter
    from server.settings import Settings

    settings = Settings(redis_url=redis_url)
    app = create(settings, connection_limiter(settings))
    async with app.router.lifespan_context(app) as state:

        async def with_state(scope, receive, send) -> None:
            await app({**scope, "state": state}, receive, send)

        async with httpx.AsyncClient(transport=httpx.ASGITransport(with_state), base_url="http://upvote") as client:
            client.headers["Accept-Encoding"] = "identity"

            async def ask(query: str, token: str | None = None, **variables: object) -> dict:
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                request = {"query": query, "variables": variables}
                answer = (await client.post("/graphql", json=request, headers=headers)).json()
                assert "errors" not in answer, answer
                return answer["data"]

            yield ask


async def trace(redis_url: str, request: Callable[[Ask], Awaitable[list[str]]]) -> list[str]:
    async with application(redis_url) as ask:
        return await request(ask)


def bulleted(modules: Sequence[str]) -> str:
    return "\n".join(f"- `{module}` - {summary(module)}" for module in modules)


def summary(module: str) -> str:
    """The first sentence of a module's docstring."""
    text = " ".join((ast.get_docstring(ast.parse((ROOT / module).read_text())) or "").split())
    return re.split(r"(?<=\.) ", text, maxsplit=1)[0]


def replaced(page: str, title: str, list_of_modules: str) -> str:
    """The text of the page with another list in a section."""
    before, heading, rest = page.partition(f"## {title}\n")
    section, after = re.split(r"(?=^## )|\Z", rest, maxsplit=1, flags=re.MULTILINE)
    introduction, _, end = section.partition("- `")
    closing = re.split(r"\n(?!- `)", end, maxsplit=1)[-1] if end else ""
    parts = [introduction + list_of_modules, closing.strip("\n")]
    return before + heading + "\n\n".join(part for part in parts if part) + "\n\n" + after


def main() -> None:
    from server.managed_valkey import server

    page_text = ARCHITECTURE.read_text()
    for title, request in ((VOTE_TITLE, vote), (PAGE_TITLE, page)):
        with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
            found = bulleted(asyncio.run(trace(url, request)))
        print(f"## {title}\n\n{found}\n")
        page_text = replaced(page_text, title, found)
    if "--write" in sys.argv:
        ARCHITECTURE.write_text(page_text)


if __name__ == "__main__":
    main()
