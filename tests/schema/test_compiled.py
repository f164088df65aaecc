"""
Compiled operations and graphql-core give the same bytes as Strawberry, for documents about what `filled` puts into a
store, such as the article `FIRST`. The engine executes an operation by graphql-core at first. When it comes again, it
is compiled to a plan, in which a batch function resolves a field for all objects of one level.
"""

import asyncio
import gc
import re
from typing import Any
from weakref import WeakSet

import orjson
import pytest
from graphql import ExecutionResult
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import nodes, queries

from engine.compiler.execution import Execution
from engine.compiler.resolvers import RESOLVER, BatchResolver
from engine.documents import Operation
from engine.errors import Refused
from resolvers.context import Context
from schema import schema
from schema.schema import SCHEMA
from store import listings
from store.ranking.formulas import Order
from store.store import Store
from tests.conftest import Clock, client
from tests.examples import examples
from tests.store.reading import post
from tests.support.executions import COMMENT, CURSORS, FIRST, OLDER, OPERATIONS, THREAD, VOTER, filled

# run also with several partitions of the store; garbage is collected after each test
pytestmark = [pytest.mark.many_partitions, pytest.mark.usefixtures("collected")]


DOCUMENTS = {
    "aliases": f'{{ a: article(id: "{FIRST}") {{ x: title y: title id }} b: article(id: "{FIRST}") {{ id }} }}',
    "fragments": """{ articles { ...Page } }
      fragment Page on ArticleConnection { nodes { ...Shown title } edges { cursor } }
      fragment Shown on Article { id title poster { ...Who } } fragment Who on User { username karma }""",
    "merged fields": "{ articles { nodes { poster { id } } nodes { poster { username karma } id } } }",
    "inline fragments": """{ node(id: "user:alice") {
      id ... on User { username } ... { __typename } ... on Article { title } } }""",
    "interfaces": """{
      nodes(ids: ["group:show", "article:3011197992960749", "user:nobody", "user:alice"]) { __typename id
      ... on Article { title groups { name } } ... on User { karma articles(first: 2) { nodes { id } } }
      ... on Group { articles(order: VOTES) { totalCount nodes { votes } } } } }""",
    "nested lists": "{ articles { nodes { groups { articles(first: 2) { nodes { voters { nodes { id } } } } } } } }",
    "nulls": '{ article(id: "article:5") { id } user(username: "nobody") { id } viewer { id } feed { id } }',
    "include and skip": """query($yes: Boolean!, $no: Boolean = false) { articles {
      nodes @include(if: $yes) { id title @skip(if: $yes) votes @include(if: $no) } totalCount @skip(if: $no) } }""",
    "variables": """query($first: Int, $order: ArticleOrder, $ids: [ID!] = ["group:ask"]) {
      articles(first: $first, order: $order) { nodes { id } } nodes(ids: $ids) { id } }""",
    "every order": """{ a: articles(order: HOT, first: 2) { ...P } b: articles(order: BEST, group: "show") { ...P }
      c: articles(order: CONTROVERSIAL, last: 3) { ...P } d: articles(order: GRAVITY, page: 2, first: 5) { ...P } }
      fragment P on ArticleConnection { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } }""",
    "pinned": """{ articles(pinned: true, first: 3) { totalCount nodes { id } pageInfo { endCursor } }
      group(name: "show") { articles(pinned: true, order: GRAVITY, page: 2, first: 2) { edges { cursor } } } }""",
    "standings": """{ articles(order: GRAVITY) { nodes { a: standing { ...S } b: standing(order: GRAVITY) { ...S }
      c: standing(order: CONTROVERSIAL, group: "ask") { ...S } d: standing(order: TIME, group: "Show") { ...S } } } }
      fragment S on Standing { order rank value votesToNextRank terms { name value } }""",
    "typename": "{ __typename articles { __typename pageInfo { __typename } nodes { __typename } } }",
    "introspection": '{ __schema { queryType { name } } __type(name: "User") { name } }',
    "an error": "{ articles(first: 0) { totalCount } groups { totalCount } }",
    "an error in the middle": '{ a: node(id: "odd") { id } b: articles { nodes { id } } c: group(name: "") { id } }',
    "a wrong cursor": '{ articles { nodes { voters(after: "odd") { totalCount } } } }',
    "a wrong cursor of all but one": f"""{{ articles {{ nodes {{ id voters(first: 1, after: "{VOTER}") {{
      totalCount edges {{ cursor }} }} }} }} }}""",
    "a wrong cursor in two branches": f"""{{ nodes(ids: ["user:alice", "user:Bob", "user:alice"]) {{ id
      ... on User {{ karma articles(after: "{OLDER}") {{ nodes {{ title poster {{ karma }} }} }} }} }}
      articles {{ nodes {{ votes voters(before: "odd", last: 1) {{ totalCount }} poster {{ joinedAt }} }} }} }}""",
    "errors at several depths": """{ articles { nodes { voters(after: "odd") { nodes { followers { totalCount } } } }
      edges { node { standing(group: "") { rank } voters { nodes { karma } } } } }
      user(username: "alice") { articles(before: "x") { nodes { poster { karma } } } karma joinedAt } }""",
    "threads": f"""{{ article(id: "{FIRST}") {{ commentCount state isLocked
      all: thread(first: 300) {{ totalCount ...T }} flat: thread(maxDepth: 0, order: OLDEST, last: 3) {{ ...T }}
      below: thread(under: "{COMMENT}", order: CONTROVERSIAL) {{ totalCount ...T }}
      none: thread(under: "comment:5") {{ totalCount ...T }} }} }}
      fragment T on ThreadConnection {{ pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} nodes {{ id }}
        edges {{ cursor hiddenReplyCount node {{ ...C parent {{ ...C }} ancestors {{ id }} descendantCount }} }} }}
      fragment C on Comment {{ __typename id depth content state postedAt editedAt votes upvotes downvotes viewerVote
        isVotingOpen votingClosesAt replyCount poster {{ username karma }} article {{ title commentCount }} }}""",
    "siblings": f"""{{ articles {{ nodes {{ comments(order: NEWEST) {{ totalCount edges {{ cursor node {{ content }} }}
      nodes {{ viewerVote replies(order: OLDEST, first: 1) {{ totalCount pageInfo {{ endCursor }} nodes {{ content
      poster {{ comments(last: 2) {{ totalCount nodes {{ id article {{ id }} }} }} }} }} }} }} }} }} }}
      comment(id: "{COMMENT}") {{ content }} }}""",
    "votables": f"""{{ nodes(ids: ["{FIRST}", "{COMMENT}", "user:alice"]) {{ __typename ... on Votable {{ votes upvotes
      downvotes viewerVote isVotingOpen votingClosesAt ... on Comment {{ state }} ... on Article {{ link }} }} }} }}""",
    "a wrong cursor of a thread": f'{{ articles {{ nodes {{ thread(after: "{THREAD}") {{ totalCount }} }} }} }}',
    "a wrong greatest depth": f'{{ article(id: "{FIRST}") {{ id thread(maxDepth: -1) {{ totalCount }} }} }}',
    "all of an article": """{ articles { edges { cursor node {
      id title link content postedAt editedAt votes upvotes downvotes score isGood
      isVotingOpen votingClosesAt viewerVote groups { id name } voters(first: 1) { totalCount pageInfo {
      hasNextPage hasPreviousPage startCursor endCursor } } poster { id username joinedAt karma viewerIsFollowing
      followers { totalCount } following { nodes { id } } } } } } }""",
}
VARIABLES: list[dict[str, Any]] = [
    {},
    {"yes": True},
    {"yes": False, "no": True},
    {"yes": "perhaps"},
    {"first": 1, "order": "TIME"},
    {"first": None, "order": None, "ids": None},
    {"first": "many"},
    {"ids": [FIRST, "odd"]},
    {"ids": []},
]


async def all_answers(store: Store, token: str | None, text: str, variables: dict[str, Any]) -> tuple[str, list[bytes]]:
    """
    The path of the compiled executions, which is the engine's word for how they went ("compiled", "error", ...), and
    five answers: of Strawberry, of the first execution by graphql-core, and of three compiled executions, the last of
    them with all templates cached.
    """
    execution = Execution(SCHEMA)
    operation = OPERATIONS.find(text, name=None)
    answers, paths = [], []
    for execute in (by_strawberry, *[execution.execute] * 4):
        try:
            result, path = await execute(operation, variables, Context(store, token))
        except Refused:
            answers.append(orjson.dumps([None, [True]]))
            paths.append("refused")
        else:
            answers.append(orjson.dumps([result.data, errors_of(result)]))
            paths.append(path)
        for _ in range(10):
            await asyncio.sleep(0)  # what graphql-core has left beside an error begins, before a loop may end
    assert paths[1] in ("new", "refused")
    assert len(set(paths[2:])) == 1
    return paths[2], answers


async def by_strawberry(operation: Operation, variables: dict[str, Any], context: Context) -> tuple[Any, str]:
    return await SCHEMA.execute(operation.text, variables, context), "strawberry"


def errors_of(result: ExecutionResult) -> list[Any]:
    """
    Sort errors, because their order varies. Of several errors below the same null only one is sure to be reported: the
    path of the null stands for them, or True if all data is null.
    """
    if result.data is None:
        return [bool(result.errors)]
    errors: list[Any] = []
    for error in result.errors or ():
        path = path_of_null(result.data, error.path or [])
        errors.append(error.formatted if path == error.path else path)
    return sorted({str(error): error for error in errors}.values(), key=str)


def path_of_null(data: Any, path: list[str | int]) -> list[str | int]:
    """The path of the null in a result that the error of a field has led to."""
    for depth, step in enumerate(path):
        data = data[step]
        if data is None:
            return path[: depth + 1]
    return path


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
@pytest.mark.parametrize("viewer", ["somebody", "nobody"])
async def test_every_execution_answers_as_strawberry_does(store, text, viewer):
    token = await filled(store)
    token = token if viewer == "somebody" else None
    paths = set()
    for variables in VARIABLES if "$" in text else VARIABLES[:1]:
        path, (right, by_core, *by_plan) = await all_answers(store, token, text, variables)
        assert by_core == right
        assert by_plan == [right] * 3
        paths.add(path)

    expected = {
        "introspection": {"introspection"},
        "include and skip": {"compiled", "refused", "nothing"},
        "variables": {"compiled", "refused", "error"},
    }
    name = next(name for name, document in DOCUMENTS.items() if document == text)
    assert paths == expected.get(name, {"error"} if "error" in name or "wrong" in name else {"compiled"})


SCALARS = {
    "Date": st.sampled_from(["2016-08-04", "2016-08-05", "odd"]).map(nodes.String),
    "DateTime": st.just("2016-08-04T00:00:00Z").map(nodes.String),
    "URL": st.just("https://example.com/").map(nodes.String),
}


# The warning: of coroutines that graphql-core makes and does not run.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=queries(schema.text(), custom_scalars=SCALARS, allow_null=True),
    odd=st.booleans(),
    cursor=st.sampled_from(["", *CURSORS]),
)
def test_generated_documents_have_equal_responses(running_valkey, text, odd, cursor):
    text = text if odd else plausible(text, cursor)
    asyncio.run(_check_document(running_valkey, text))


def plausible(text: str, cursor: str) -> str:
    """A document with arguments that exist in the store, unlike most generated ones."""
    text = re.sub(r'\bid: (?:"(?:[^"\\]|\\.)*"|-?\d+)', f'id: "{FIRST}"', text)
    text = re.sub(r'\b(username): "(?:[^"\\]|\\.)*"', 'username: "alice"', text)
    text = re.sub(r'\b(group|name): "(?:[^"\\]|\\.)*"', r'\1: "show"', text)
    written = f'"{cursor}"' if cursor else "null"
    text = re.sub(r"\b(after|before): (?:\"(?:[^\"\\]|\\.)*\")", rf"\1: {written}", text)
    return re.sub(r"\b(first|last|page): -?\d+", r"\1: 3", text)


async def _check_document(url: str, text: str) -> None:
    with client(url) as redis:
        known = redis.exists("store")
    store = await Store.open(url, clock=Clock())
    try:
        if not known:
            await filled(store)
        try:
            OPERATIONS.find(text, name=None)
        except Exception:
            return
        path, (right, by_core, *by_plan) = await all_answers(store, token=None, text=text, variables={})
        assert by_core == right
        assert by_plan == [right] * 3, path
    finally:
        await store.close()


@pytest.mark.parametrize("fault", [RuntimeError("broken"), None])
async def test_error_of_a_batch_in_a_plan_leaves_the_operation_to_graphql_core(store, monkeypatch, fault):
    """The batch is replaced for plans only."""
    await filled(store)
    field = SCHEMA._schema.type_map["User"].fields["karma"].extensions["strawberry-definition"]

    async def broken(users: Any, context: Any) -> Any:
        if fault:
            raise fault
        return [None, "many", 3][: len(users)]

    monkeypatch.setattr(field, "metadata", {RESOLVER: BatchResolver(broken)})
    execution = Execution(SCHEMA)
    operation = OPERATIONS.find("{ articles { nodes { poster { karma } } } }", name=None)
    expected = await SCHEMA.execute(operation.text, {}, Context(store))
    executed = [await execution.execute(operation, {}, Context(store)) for _ in range(3)]

    assert [path == "compiled" for _, path in executed] == [False] * 3
    assert [(result.data, result.errors) for result, _ in executed] == [(expected.data, None)] * 3
    assert expected.errors is None


async def test_plan_with_repeated_errors_is_not_used_again(store):
    execution = Execution(SCHEMA)
    operation = OPERATIONS.find("{ articles(first: 0) { totalCount } }", name=None)
    paths = [(await execution.execute(operation, {}, Context(store))).execution_path for _ in range(20)]

    assert paths == ["new"] + ["error"] * 11 + ["not worth it"] * 8  # after more than 10 errors


VOTE = """mutation($value: VoteValue) { vote(input: {articleId: "article:3011197992960749", value: $value}) {
  changed article { votes viewerVote } userErrors { code } } }"""
MUTATIONS: list[tuple[str, dict[str, Any]]] = [
    (VOTE, {"value": "UP"}),
    (VOTE, {"value": "UP"}),
    (VOTE, {}),
    (VOTE, {"value": None}),
    (VOTE, {"value": "SIDEWAYS"}),
    ("mutation($in: VoteInput!) { vote(input: $in) { changed } }", {"in": {"articleId": FIRST}}),
    ("mutation($in: VoteInput!) { vote(input: $in) { changed userErrors { code } } }", {"in": {"articleId": "odd"}}),
    ("mutation($in: VoteInput!) { vote(input: $in) { changed } }", {}),
    (
        """mutation($in: PostInput!) { __typename post(input: $in) { replayed article { title link groups { name } }
          query { viewer { karma } article(id: "article:3011197992960749") { votes } articles { totalCount } } } }""",
        {"in": {"title": "new", "link": "https://example.com/", "groups": ["b", "a"], "idempotencyKey": "k"}},
    ),
    (
        """mutation { vote(input: {articleId: "article:5"}) { userErrors {
          __typename code field ... on RateLimited { retryAt } ... on Refusal { message }
        } } }""",
        {},
    ),
    (
        """mutation($in: PostInput!) { post(input: $in) { replayed article { title link groups { name } }
          query { viewer { karma } article(id: "article:3011197992960749") { votes } articles { totalCount } } } }""",
        {"in": {"title": "new", "link": None, "content": "text"}},
    ),
    ('mutation { post(input: {title: ""}) { article { id } userErrors { code field message } } }', {}),
    ('mutation { post(input: {title: "t", content: "c"}) { query { articles(first: 0) { totalCount } } } }', {}),
    ('mutation { followUser(input: {userId: "user:Bob"}) { changed user { username viewerIsFollowing } } }', {}),
    (
        """mutation($in: CommentInput!) { comment(input: $in) { replayed comment { content depth votes viewerVote
          poster { karma } article { id commentCount } parent { id } ancestors { id } } userErrors { code field }
          query { viewer { karma } articles { nodes { commentCount } } } } }""",
        {"in": {"articleId": FIRST, "content": "a text"}},
    ),
    (
        f"""mutation {{ comment(input: {{articleId: "{FIRST}", parentId: "comment:5", content: "a text"}}) {{
          comment {{ id }} userErrors {{ code field message }} }}
        voteOnComment(input: {{commentId: "odd"}}) {{ changed comment {{ votes }} userErrors {{ code field }} }}
        deleteComment(input: {{commentId: "comment:5"}}) {{ deletedCommentId userErrors {{ code field }} }} }}""",
        {},
    ),
    ("mutation { logOut { userErrors { code } } }", {}),
    (VOTE, {"value": "DOWN"}),
]


async def test_mutation_has_an_equal_response_and_is_executed_once(redis_url, partitions, monkeypatch):
    """Answers and effects of each mutation are the same by Strawberry, by graphql-core and compiled."""
    seen = []
    for compile_at, expected in ((None, {"strawberry"}), (10**9, {"new"}), (1, {"compiled", "mutation", "error"})):
        monkeypatch.setattr("engine.compiler.execution.COMPILE_AT", compile_at)
        with client(redis_url) as redis:
            redis.flushall()
        store = await Store.open(redis_url, partitions=partitions, clock=Clock())
        answers, paths = await _mutated(store, Execution(SCHEMA).execute if compile_at else by_strawberry)
        await store.close()
        assert paths == expected
        seen.append(answers)

    assert seen[0] == seen[1] == seen[2]


async def _mutated(store: Store, execute: Any) -> tuple[list[bytes], set[str]]:
    token = await filled(store)
    answers, paths = [], set()
    for text, variables in [mutation for mutation in MUTATIONS for _ in range(2)]:
        try:
            result, path = await execute(OPERATIONS.find(text, name=None), variables, Context(store, token))
        except Refused:
            answers.append(orjson.dumps([None, [True]]))
        else:
            answers.append(orjson.dumps([result.data, errors_of(result)]))
            paths.add(path)
    return answers, paths


async def test_error_after_a_mutation_does_not_repeat_it(store, clock, monkeypatch):
    token = await filled(store)
    mutation = """mutation { post(input: {title: "once", content: "c"}) { article { title poster { karma } } } }"""
    operation, execution = OPERATIONS.find(mutation, name=None), Execution(SCHEMA)
    await execution.execute(operation, {}, Context(store, token))

    async def broken(users: Any, context: Any) -> Any:
        raise RuntimeError("broken")

    field = SCHEMA._schema.type_map["User"].fields["karma"].extensions["strawberry-definition"]
    monkeypatch.setattr(field, "metadata", {RESOLVER: BatchResolver(broken)})
    before = await _posted(store)
    clock.advance(11)  # later than a double click
    result, path = await execution.execute(operation, {}, Context(store, token))

    assert path == "error"
    assert result.data == {"post": {"article": {"title": "once", "poster": {"karma": 0}}}}
    assert await _posted(store) == before + 1


async def _posted(store: Store) -> int:
    indexes = listings.whole(store.site, Order.TIME).indexes
    return sum(await store.site.redis.pipeline([("ZCARD", index) for index in indexes]))


async def test_new_documents_and_several_mutations_are_executed_by_graphql_core(store):
    execution = Execution(SCHEMA)
    mutation = OPERATIONS.find("mutation { a: logOut { userErrors { code } } b: logOut { __typename } }", name=None)
    paths = [(await execution.execute(mutation, {}, Context(store))).execution_path for _ in range(2)]

    assert paths == ["new", "mutation"]


async def test_execution_by_graphql_core_leaves_its_context_in_no_cycle_of_references(store, alice):
    """The collector counts objects and not bytes: texts in cycles would stay for long."""
    await post(store, alice)
    operation = OPERATIONS.find("{ articles { nodes { title poster { username karma } } } }", name=None)
    contexts = WeakSet()
    gc.disable()
    try:
        for _ in range(3):
            contexts.add(context := Context(store, None))
            _, path = await Execution(SCHEMA).execute(operation, {}, context)
            assert path == "new"
        del context
        await asyncio.sleep(0.01)
        uncollected = list(contexts)
    finally:
        gc.enable()

    assert uncollected == []
