"""Responses that are too large, because long contents are repeated, are refused by each executor."""

import pytest

from caches import Pool
from engine import Limits
from engine.compiler.execution import Execution
from engine.documents import Operations
from engine.errors import AnswerTooLarge, Refused
from engine.limits.cost import check_cost
from resolvers.context import Context
from schema.schema import SCHEMA
from server.limits import document_limits
from server.settings import Settings
from store.articles import Draft
from tests.conftest import registered

OPERATIONS = Operations(SCHEMA, Limits(), Pool(1_000_000))
CONTENT = "x" * 40_000  # the longest that an article takes
ALIASES = " ".join(f"a{number}: content" for number in range(20))
REPEATED = {
    "by aliases": f"{{ articles {{ nodes {{ {ALIASES} groups {{ articles {{ nodes {{ content }} }} }} }} }} }}",
    "by nesting": """{ articles { nodes { poster { articles { nodes { poster {
      articles { nodes { content } } } } } } } } }""",
    "by nesting, with fields of the viewer": "{ articles { nodes { viewerVote poster { articles { nodes { viewerVote "
    "content poster { articles { nodes { viewerVote content } } } } } } } } }",
}


@pytest.fixture
async def long_articles(store):
    await registered(store, "alice")
    for number in range(10):
        await store.articles.post("alice", Draft(f"title {number}", content=CONTENT, groups=["show"]))


@pytest.mark.parametrize("text", REPEATED.values(), ids=REPEATED.keys())
async def test_each_repetition_of_a_content_counts(store, long_articles, text):
    execution = Execution(SCHEMA)
    operation = OPERATIONS.find(text, name=None)
    for _ in range(4):
        with pytest.raises(AnswerTooLarge):
            await execution.execute(operation, {}, Context(store))


async def test_contents_within_the_limit_are_returned_by_each_executor(store, long_articles):
    execution = Execution(SCHEMA)
    operation = OPERATIONS.find("{ articles { nodes { content viewerVote poster { username } } } }", name=None)

    paths = [(await execution.execute(operation, {}, Context(store))).execution_path for _ in range(4)]

    assert paths == ["new", "compiled", "compiled", "compiled"]


def test_cost_of_content_is_its_maximum_size():
    operations = Operations(SCHEMA, document_limits(Settings()), Pool(1_000_000))

    assert operations.find("{ articles(first: 10) { nodes { title } } }", name=None).cost.points({}) == 1 + 10
    assert (
        operations.find("{ articles(first: 10) { nodes { content b: content } } }", name=None).cost.points({})
        == 1 + 10 + 20 * 4  # a content costs 4 points
    )
    nested = operations.find(REPEATED["by nesting"], name=None).cost.points({})
    with pytest.raises(Refused, match="COST_LIMIT_EXCEEDED"):
        check_cost(nested, document_limits(Settings()).cost)
