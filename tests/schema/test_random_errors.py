"""
Random documents with errors at random places: graphql-core, which executes the first request with a document, and the
plan that is compiled from it give equal responses, and no task or log line is left. The message of a failure has the
seed of the document.
"""

import asyncio
import warnings
from random import Random
from secrets import randbits
from typing import Any

import orjson
import pytest
from graphql import ExecutionResult

from engine.compiler.execution import Execution
from resolvers import pagination
from resolvers.context import Context
from schema.schema import SCHEMA
from tests.servers import PATIENCE
from tests.support.executions import CURSORS, OPERATIONS, finish_tasks, with_groups

# run also with several partitions of the store; garbage is collected after each test
pytestmark = [pytest.mark.many_partitions, pytest.mark.usefixtures("collected")]

DOCUMENTS = 10  # in one run
DEPTH = 6  # from which on only fields without selections are chosen
WRONG = [  # cursors
    "odd",
    "",
    *CURSORS,
    pagination.encode_cursor("timeline:bob", (1e12, "1773")),
    pagination.encode_cursor("feed:vera", (1e12, "1773")),
]
PAGE = [  # arguments of a connection, right and wrong ones
    "",
    "",
    "first: 2",
    "last: 2",
    "first: 0",
    "last: 101",
    "first: 1, last: 1",
    'after: "{}"',
    'last: 1, before: "{}"',
]
FIELDS = {  # by type: its fields, each with the type that is selected below it; "Articles" is a connection
    "Query": {
        'article(id: "article:1773")': "Article",
        'user(username: "alice")': "User",
        'user(username: "a b")': "User",
        'article(id: "odd")': "Article",
        'group(name: "show")': "Group",
        'group(name: "")': "Group",
        "viewer": "User",
        "feed": "Feed",
        "articles": "Articles",
        "frontPage": "Articles",
        "groups": "Groups",
        'nodes(ids: ["article:1773", "user:alice", "user:Bob", "group:show"])': "Node",
        'nodes(ids: ["user:alice", "odd"])': "Node",
    },
    "Node": {"... on Article": "Article", "... on User": "User", "... on Group": "Group"},
    "Article": {
        "title": None,
        "viewerVote": None,
        "poster": "User",
        "groups": "Group",
        "voters": "Users",
        'standing(group: "show")': "Standing",
        'standing(group: "")': "Standing",
    },
    "User": {"username": None, "karma": None, "articles": "Articles", "followers": "Users", "following": "Users"},
    "Group": {"name": None, "articles": "Articles", "articles(order: HOT, page: 0)": "Articles"},
    "Feed": {"unseenCount": None, "articles": "Articles"},
    "Standing": {"rank": None},
}
# by connection, the type of its nodes
NODES = {"Articles": "Article", "Users": "User", "Groups": "Group"}


class DocumentGenerator:
    """Generates one document. A selection has each field once, so that no fields conflict."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def selection(self, kind: str, depth: int = 0) -> str:
        if kind in NODES:
            nodes = self.selection(NODES[kind], depth + 1)
            edges = self.selection(NODES[kind], depth + 1)
            parts = ["totalCount", f"nodes {nodes}", f"edges {{ cursor node {edges} }}", "pageInfo { endCursor }"]
            return self._joined(self._random.sample(parts, self._random.randint(1, 3)))
        named: dict[str, str] = {}
        for field, below in FIELDS[kind].items():
            if below is None or depth < DEPTH:
                named.setdefault(field.partition("(")[0], self._field(field, below, depth))
        chosen = self._random.sample(list(named), min(len(named), self._random.randint(1, 2 if depth else 3)))
        return self._joined([named[name] for name in chosen])

    def _field(self, field: str, below: str | None, depth: int) -> str:
        is_paged = below in NODES and "(" not in field
        if is_paged and (arguments := self._random.choice(PAGE).format(self._random.choice(WRONG))):
            field += f"({arguments})"
        return f"{field} {self.selection(below, depth + 1)}" if below else field

    def _joined(self, parts: list[str]) -> str:
        return "{ __typename " + " ".join(parts) + " }"


def outline(result: ExecutionResult) -> bytes:
    """
    The data, and the paths of the nulls that errors caused. Of several errors with the same null, any one may be
    reported.
    """
    places = {orjson.dumps(known_part(result.data, error.path or [])) for error in result.errors or ()}
    return orjson.dumps([result.data, sorted(place.decode() for place in places)])


def known_part(data: Any, path: list[str | int]) -> list[str | int]:
    """A path up to the first null."""
    for place, key in enumerate(path):
        if data is None:
            return path[:place]
        data = orjson.loads(orjson.dumps(data))[key]
    return path


@pytest.mark.parametrize("partitions", [1, 8], indirect=True)
@pytest.mark.slow
async def test_errors_at_random_places_give_equal_responses(uncached, caplog):
    token, seed = await with_groups(uncached), randbits(32)
    with_errors = 0
    for number in range(seed, seed + DOCUMENTS):
        text = DocumentGenerator(number).selection("Query")
        answers = await _answers(uncached, token, text, number, caplog)
        assert len(set(answers)) == 1, (number, text, answers)
        with_errors += not answers[0].endswith(b",[]]")  # see `outline`
    assert with_errors, seed


async def _answers(store: Any, token: str, text: str, seed: int, caplog: Any) -> list[bytes]:
    """The responses of Strawberry, of the first execution and of later ones."""
    operation, execution = OPERATIONS.find(text, name=None), Execution(SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [outline(await SCHEMA.execute(text, {}, Context(store, token)))]
        await finish_tasks()
    caplog.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(3):
            async with asyncio.timeout(PATIENCE):
                answers.append(outline((await execution.execute(operation, {}, Context(store, token))).result))
        await finish_tasks()
    assert [str(warning.message) for warning in warned] + [record.getMessage() for record in caplog.records] == [], seed
    return answers
