"""
Spellings that are proposed where a search finds nothing, and the words that they come from, on both databases.

Numbers of articles and comments are multiples of 1,024: the last ten bits of a number are a slot, here 0.

Codes such as S1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, update

from database import search, spelling, vocabulary
from database.engines import Engines
from database.search import Found, Search, SearchKind
from database.tables import ARTICLE_GROUPS, ARTICLES, COMMENTS, USERS
from database.words import parse
from tests.database.searched import (
    ANY_TEXT,
    ARTICLE,
    SENTENCES,
    comment,
    counted_words,
    printable,
    proposed,
    register,
    write,
)


@pytest.fixture
def run(each_database):
    """`await run(function, *arguments)` calls a function with a connection, in a transaction of each database."""
    return each_database.write


@pytest.fixture
def engines(database_url) -> Iterator[Engines]:
    opened = Engines.open(database_url)
    yield opened
    opened.close()


async def test_spelling_of_what_is_not_there_is_proposed(run):  # S1
    await run(write, 1024, "Redis in Action", content="Lists of databases")
    await run(write, 2048, "Reads and writes to Elasticsearch")
    await run(comment, 3072, "zookeeper")
    await run(register, "alice")

    for query, expected in (
        ("redsi lists", "redis lists"), ("Redis  lsits", "Redis  lists"), ("edis", None), ("erdis", "redis"),
        ("alcie", "alice"), ("elatsic", "elasticsearch"), ("elatsic reads", "elasticsearch reads"), ("elastics", None),
        ("eltasisc", None), ("elsa", None),
        ("redsi lsits databasse", "redis lists databases"), ("zookeper", "zookeeper"), ("redis", None),
        ('"redsi"', None), ("xq", None), ("redsi writes", "reads writes"), ("redsi 2024", None),
        ("", None), ("p/alicf", None), ("show redsi", None),
    ):  # fmt: skip
        assert await run(proposed, query) == expected, query
    assert await run(proposed, "redsi", group="show") == "redis"
    assert await run(proposed, "redsi", group="other") is None


async def test_words_of_all_texts_are_proposed(run):  # S1
    """Also of old ones, and of those that are not articles."""

    def write_many(connection: Connection) -> None:
        rows = [{**ARTICLE, "number": 1024 * n, "title": "Lists", "archived": False} for n in range(2, 5_100)]
        connection.execute(insert(ARTICLES), rows)
        search.index(connection, [row["number"] for row in rows])

    await run(write, 1024, "Redis in Action")
    await run(comment, 1024 * 6_000, "zookeeper")
    await run(register, "alice")
    await run(write_many)

    for query, expected in (("redsi", "redis"), ("zookeper", "zookeeper"), ("alcie", "alice"), ("lsits", "lists")):
        assert await run(proposed, query) == expected


async def test_spelling_of_words_between_points_and_hyphens_is_proposed(run):  # S1
    await run(write, 1024, "Node.js and state-of-the-art C++")

    for query, expected in (
        ("node.jz", "node.js"), ("ndoe.js", "node.js"), ("state-of-teh-art", "state-of-the-art"),
        ("Node.js/adn", "Node.js/and"),
        ("nodee js", "node js"), ("jz", None), ("nod.e", None), ("cc++", "c++"), ("-redsi", None), ("sta.tee", None),
    ):  # fmt: skip
        assert await run(proposed, query) == expected, query
    assert await run(proposed, f"{'a ' * 40}ndoe") is None
    assert await run(proposed, f"node-{'x' * 120}") is None


async def test_commoner_words_with_which_the_query_finds_nothing_are_not_proposed(run):  # S1
    texts = "Node.js, gRPC-Web, Vue.js, O'Reilly, TCP/IP, xylophonist.py, C# on .NET, net, C++ compilers"
    commoner = "need noted, grep, eu view, rely really relay, pc, pay, next nest, de, zend, compiled"
    for number, title in enumerate(", ".join([texts, commoner, commoner]).split(", "), 1):
        await run(write, 1024 * number, title)
    await run(register, "zed")

    for query, expected in (
        ("noed.js", "node.js"), ("gRCP-Web", "grpc-Web"), ("veu.js", "vue.js"), ("O'Reily", "O'reilly"),
        ("tpc/ip", "tcp/ip"), ("xylophonist.pyy", "xylophonist.py"), ("C# .nett", "C# .net"), (".nett", ".net"),
        ("zde", "zed"), ("wbe grc", "web grpc"), ("C++ compilerd", "C++ compilers"),
    ):  # fmt: skip
        assert await run(proposed, query) == expected, query
    users = frozenset({SearchKind.USER})
    assert await run(proposed, "zeddd", kinds=users) == "zed"
    assert await run(proposed, "zen", kinds=users) is None
    assert await run(proposed, "zendd", kinds=users) == "zed"


async def test_what_others_have_misspelled_is_corrected_if_it_is_much_rarer(run):  # S1
    titles = ["encrpyt by hand", "a langauge", "a nod", "JavaScript", "javascript language", "node.js"]
    titles += ["Let's Encrypt: what language, which node, not now"] * 11
    for number, title in enumerate(titles, 1):
        await run(write, 1024 * number, title)

    for query, expected in (
        ("let's encrpyt", "let's encrypt"), ("javascript langauge", "javascript language"), ("nod.js", "node.js"),
        ("javascript.nod", None), ("javascript hand", None),
    ):  # fmt: skip
        assert await run(proposed, query) == expected, query
    await run(write, 1024 * 50, "encrpyt again")
    assert await run(proposed, "let's encrpyt") is None


async def test_limited_number_of_corrections_is_tried(run, monkeypatch):  # S1
    tried: list[Search] = []

    def find(connection: Connection, wanted: Search, deleted: frozenset[int]) -> Found:
        tried.append(wanted)
        return found_by_search(connection, wanted, deleted)

    found_by_search = search.find
    for number, letters in enumerate(itertools.product("abcd", "efgh"), 1):
        await run(write, 1024 * number, f"r{''.join(letters)}s x{''.join(letters)}y")
    monkeypatch.setattr(search, "find", find)

    assert await run(proposed, "rams xamy") == "raes xaey"
    assert len(tried) == 1
    assert await run(proposed, "rams xbmy") is None
    assert len(tried) == 1 + spelling.TRIED


async def test_words_that_only_hidden_texts_have_are_not_proposed(run):  # S1
    def hide(connection: Connection) -> None:
        connection.execute(update(ARTICLES).where(ARTICLES.c.number == 1024).values(state="PENDING"))
        connection.execute(update(COMMENTS).where(COMMENTS.c.number == 4096).values(state="REMOVED", content=None))
        connection.execute(update(ARTICLES).where(ARTICLES.c.number == 5120).values(title="Lists of lists"))
        connection.execute(delete(ARTICLES).where(ARTICLES.c.number == 6144))
        connection.execute(delete(USERS))
        search.index(connection, [1024, 5120, 6144], ["alice"], [2048, 4096])

    await run(write, 1024, "Redis", content="Elasticsearch, redis")
    await run(comment, 2048, "zookeeper")
    await run(comment, 4096, "kubernetes lists", article=3072)
    await run(write, 5120, "Postgres lists")
    await run(write, 6144, "Memcached lists")
    await run(register, "alice")
    before = await run(counted_words)
    assert (before["redis"], before["lists"], before["zookeeper"]) == (1, 3, 1)
    await run(hide)

    assert await run(counted_words) == {"lists": 1, "of": 1}
    for query in ("redsi", "elatsicsearch", "zookeper", "kubernets", "postgers", "memcachd", "alcie"):
        assert await run(proposed, query) is None, query


async def test_words_of_what_was_just_deleted_are_not_proposed(run):  # S1
    await run(write, 1024, "Redis")

    assert await run(spelling.suggestion, "redsi", Search(parse("redsi")), frozenset({1024})) is None


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(1, 4), SENTENCES | ANY_TEXT, st.sampled_from(["VISIBLE", "REMOVED"]))))
def test_words_are_counted_as_texts_change(engines, steps):
    def change(connection: Connection) -> None:
        for place, written, state in steps:
            number = 1024 * place
            connection.execute(delete(ARTICLES).where(ARTICLES.c.number == number))
            connection.execute(delete(ARTICLE_GROUPS).where(ARTICLE_GROUPS.c.number == number))
            write(connection, number, printable(written), state=state)
        counted = counted_words(connection)
        vocabulary.count_again(connection)
        assert counted_words(connection) == counted

    engines.write(change)
