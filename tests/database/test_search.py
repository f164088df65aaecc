"""
Full-text search: what queries find, in which order, on SQLite and PostgreSQL alike.

Numbers of articles and comments are multiples of 1,024: the last ten bits of a number are a slot, here 0.

Codes such as S1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, text, update

from database import search
from database.database import Database
from database.engines import Engines
from database.search import FIRST_USER, Search, SearchKind, SearchOrder
from database.tables import ARTICLE_GROUPS, ARTICLES, COMMENTS, USERS
from database.words import matches, parse
from store.words import words
from tests.database.searched import (
    ANY_TEXT,
    ARTICLE,
    QUERIES,
    SENTENCES,
    comment,
    counted_words,
    printable,
    proposed,
    register,
    write,
)

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def run(each_database):
    """`await run(function, *arguments)` calls a function with a connection, in a transaction of each database."""
    return each_database.write


@pytest.fixture
def engines(database_url) -> Iterator[Engines]:
    opened = Engines.open(database_url)
    yield opened
    opened.close()


def found(connection: Connection, query: str, **search_for) -> list[int | str]:
    """What is found, in its order: the numbers of articles and comments, and the names of users."""
    result = search.find(connection, Search(parse(query), **search_for))
    assert result.places == sorted(result.places, reverse=True)
    assert {(type(value) in (int, float), type(id)) for value, id in result.places} <= {(True, int)}
    return [result.usernames[id] if id >= FIRST_USER else id for _, id in result.places]


def limit(monkeypatch, found: int, ranked: int) -> None:
    """Let a search find at most so many matches, and order so many of them by relevance."""
    monkeypatch.setattr(search, "MAX_FOUND", found)
    monkeypatch.setattr(search, "MAX_RANKED", ranked)


async def test_names_that_end_in_js_are_found_with_a_dot_and_without(run):  # S1
    for number, title in enumerate(["Learn Node.js", "Learn NodeJS", "Learn the js of a node", "JS: a node"], 1):
        await run(write, 1024 * number, title)

    for query in ("nodejs", "node.js", "Learn nodejs", "nodejs learn", "node.js learn"):
        assert sorted(await run(found, query)) == [1024, 2048], query
    assert await run(found, '"nodejs"') == [2048]
    assert await run(found, '"node.js"') == [1024]
    assert await run(found, "nodejs", kinds=frozenset({SearchKind.COMMENT})) == []


async def test_articles_are_found_by_words_of_title_and_content(run):  # S1
    await run(write, 1024, "Redis in Action", content="Lists, sets and <b>hashes</b>")
    await run(write, 2048, "Something else")

    for query in ("redis", "ACTION redis", "hashes in", '"in action"', '"sets and"', "in\x00action"):
        assert await run(found, query) == [1024], query
    for query in ('"redis action"', '"action lists"', "redis else", '"red"', "red action", "", "?!", '""'):
        assert await run(found, query) == [], query


async def test_last_word_is_a_prefix(run):  # S1
    await run(write, 1024, "PostgreSQL tuning")
    await run(write, 2048, "Tuning of engines", content="with postgres-like SQL")
    await run(comment, 3072, "See the PostgreSQL manual")
    await run(register, "postgresfan")

    assert set(await run(found, "postgres")) == {1024, 2048, 3072, "postgresfan"}
    assert await run(found, "tuning postgres") == [1024, 2048]
    assert await run(found, "postgres tun", group="show") == [2048]
    for query in ('"postgres tun"', "ostgres", "postgr manual", "po"):
        assert await run(found, query) == [], query
    assert await run(found, "sql man") == []
    assert await run(found, '"see the" postgr') == [3072]


async def test_words_find_their_other_forms(run):  # S1
    await run(write, 1024, "Votes counted", content="in studies of new databases")
    await run(comment, 2048, "Voting is studied")

    for query in (
        "vote count study",
        "voted counting",
        "counts studied database",
        "database new",
        "voting counted vote",
    ):
        assert await run(found, query) == [1024], query
    assert sorted(await run(found, "studying votes")) == [1024, 2048]
    for query in ('"vote counted"', "voter counted", "news databases", "organ votes", '"study" votes'):
        assert await run(found, query) == [], query


async def test_last_word_of_what_has_no_space_finds_its_other_forms(run):  # S1
    await run(write, 1024, "A self-hosted wiki")
    await run(write, 2048, "How to self-host", content="open source")
    await run(write, 3072, "Hosting your own self")

    for query in ("self-hosting", "self-hosted", "self-host"):
        assert sorted(await run(found, query)) == [1024, 2048], query
    assert await run(found, "open-sources how") == [2048]
    assert await run(found, "self-host wikis") == [1024]
    assert await run(found, '"self-hosting" to') == await run(found, "selfs-host to") == []


async def test_names_with_symbols_are_words(run):  # S1
    await run(write, 1024, "Learning C++")
    await run(write, 2048, "C and C# on .NET")

    assert await run(found, "c++") == await run(found, "learn c++") == await run(found, '"learning C++"') == [1024]
    assert await run(found, "c#") == await run(found, "c") == await run(found, ".net") == [2048]
    assert await run(found, "net") == await run(found, "c++ c#") == []


async def test_texts_without_spaces_are_found_by_their_parts(run):
    await run(write, 1024, "日本語のテスト")
    await run(write, 2048, "本日")

    assert await run(found, "日本") == [1024]
    assert sorted(await run(found, "本")) == [1024, 2048]
    assert await run(found, "テスト 日本語") == [1024]


async def test_long_texts_are_found_by_their_last_words(run):
    """A `tsvector` has 256 positions of a word, and none above 16,383."""
    long = " ".join(["的 一 是"] * 13_000)
    await run(write, 1024, "Chinese", content=f"{long}不在")
    await run(write, 2048, "a word", content="x" * 40_000)

    assert await run(found, "是不在") == [1024]
    assert await run(found, "是在") == []
    assert await run(found, "x" * 500) == [2048]


async def test_users_are_found_by_their_names(run):
    await run(register, "Alice", "bob_smith", "al-ice", "Alice-2")
    await run(write, 1024, "alice")

    assert await run(found, "ALICE", kinds=frozenset({SearchKind.USER}), order=SearchOrder.NEWEST) == [
        "Alice-2",
        "Alice",
    ]
    assert await run(found, "smith") == ["bob_smith"]
    assert await run(found, "al ice") == ["al-ice"]
    assert await run(found, "alice", kinds=frozenset({SearchKind.ARTICLE})) == [1024]
    assert await run(found, "alice", kinds=frozenset({SearchKind.COMMENT})) == []
    assert await run(found, "alice", kinds=frozenset()) == []
    assert set(await run(found, "alice")) == {1024, "Alice", "Alice-2"}


async def test_comments_are_found_by_their_words(run):
    await run(write, 1024, "Redis in Action", content="lists")
    await run(comment, 2048, "I read Redis in Action, too")
    await run(comment, 3072, "Lists of Redis?", poster="Carol")
    await run(comment, 4096, None, state="DELETED", poster=None)
    await run(register, "Redis")
    comments, everything = frozenset({SearchKind.COMMENT}), frozenset(SearchKind)

    assert await run(found, '"in action"', kinds=comments) == [2048]
    assert await run(found, "redis", kinds=comments, order=SearchOrder.NEWEST) == [3072, 2048]
    assert await run(found, "redis", kinds=everything - {SearchKind.USER}, order=SearchOrder.NEWEST) == [
        3072,
        2048,
        1024,
    ]
    assert await run(found, "redis", kinds=frozenset({SearchKind.ARTICLE})) == [1024]
    assert set(await run(found, "redis", kinds=comments | {SearchKind.USER})) == {"Redis", 3072, 2048}
    assert set(await run(found, "redis")) == {"Redis", 3072, 2048, 1024}
    assert (
        await run(found, "redis", poster="carol") == await run(found, "redis", poster="carol", kinds=comments) == [3072]
    )
    assert set(await run(found, "redis", group="show")) == {3072, 2048, 1024}
    assert await run(found, "redis", group="ask") == []


async def test_matches_say_which_are_comments(run):
    await run(write, 1024, "Redis")
    await run(comment, 2048, "Redis")

    result = await run(search.find, Search(parse("redis")))

    assert ({number for _, number in result.places}, result.comments) == ({1024, 2048}, {2048})


async def test_comments_are_ordered_among_the_others(run):
    await run(register, "Redis")
    await run(write, 1024, "redis", posted_ms=500, up=8, down=1, poster="Redis")
    await run(comment, 2048, "redis", posted_ms=600, up=12, down=2, poster="Redis")
    await run(comment, 3072, "redis", posted_ms=400, up=9, down=2)

    assert await run(found, "redis", order=SearchOrder.NEWEST) == ["Redis", 2048, 1024, 3072]
    assert await run(found, "redis", order=SearchOrder.VOTES) == ["Redis", 2048, 3072, 1024]  # karma 15, 10, 7, 7


async def test_many_comments_do_not_hide_an_article(run, monkeypatch):
    """As many comments as articles are ranked, and of all the first ones are found."""
    limit(monkeypatch, found=4, ranked=2)
    await run(write, 1024, "Redis", posted_ms=0)
    for number in range(2, 9):
        await run(comment, number * 1024, "redis and a lot of other words")

    assert await run(found, "redis") == [1024, 8192, 7168, 6144]


async def test_other_matches_take_the_places_of_deleted_ones(run, monkeypatch):
    limit(monkeypatch, found=4, ranked=2)
    for number in range(2, 9):
        await run(write, number * 1024, "redis", posted_ms=number)
    for number, article in ((9, 8), (10, 7), (11, 6)):
        await run(comment, number * 1024, "redis", posted_ms=number, article=article * 1024)

    for order in (SearchOrder.NEWEST, SearchOrder.RELEVANCE):
        deleted = frozenset({8192, 6144, 3072})  # which the index still has
        wanted = Search(parse("redis"), frozenset({SearchKind.ARTICLE}), order=order)
        kept = await run(search.find, wanted, deleted)
        assert [number for _, number in kept.places] == [7168, 5120, 4096, 2048]
        wanted = Search(parse("redis"), frozenset({SearchKind.COMMENT}), order=order)
        kept = await run(search.find, wanted, deleted)
        assert [number for _, number in kept.places] == [10240]
        assert kept.comments == {10240}


async def test_titles_weigh_more_than_content(run):
    await run(write, 1024, "Redis", content="this is about lists")
    await run(write, 2048, "Lists", content="this is about redis")
    for number in range(3, 9):
        await run(write, number * 1024, "other")

    assert await run(found, "redis") == [1024, 2048]
    assert await run(found, "lists") == [2048, 1024]


async def test_matches_are_ordered_by_time_and_by_votes(run):
    await run(register, "Redis", "redis_2")
    await run(write, 1024, "redis", posted_ms=5000, up=7, down=2)
    await run(write, 2048, "redis", posted_ms=500, up=8, down=1, poster="redis_2")
    await run(write, 3072, "redis", posted_ms=5000, up=1, down=9)

    assert await run(found, "redis", order=SearchOrder.NEWEST) == [3072, 1024, "redis_2", "Redis", 2048]
    assert await run(found, "redis", order=SearchOrder.VOTES) == [2048, "redis_2", 1024, "Redis", 3072]


async def test_matches_are_those_of_a_group_and_of_a_poster(run):
    await run(register, "Redis")
    await run(write, 1024, "redis", ["show", "ask-me_2"], poster="Alice")
    await run(write, 2048, "redis", ["show"], poster="bob")

    assert await run(found, "redis", group="show") == [2048, 1024]
    assert await run(found, "redis", group="ask-me_2") == [1024]
    assert await run(found, "redis", group="ask") == []
    assert await run(found, "redis", poster="alice", group="show") == [1024]
    assert await run(found, "redis", poster="alice", kinds=frozenset({SearchKind.USER})) == []
    assert await run(found, "show") == await run(found, "alice") == await run(found, "g/show") == []


async def test_index_follows_the_tables(run):
    await run(write, 1024, "Redis in Action")
    await run(comment, 2048, "Redis in Use")
    await run(register, "Alice")

    def change(connection):
        connection.execute(update(COMMENTS).values(content="Valkey, too"))
        connection.execute(update(ARTICLES).values(title="Valkey"))
        connection.execute(update(ARTICLE_GROUPS).values(name="ask"))
        search.index(connection, [1024], comments=[2048])

    def remove(connection):
        for table in (ARTICLES, COMMENTS, USERS):
            connection.execute(delete(table))
        search.index(connection, [1024, 4096], ["ALICE", "nobody"], [2048, 3072])

    await run(change)
    assert await run(found, "redis") == []
    assert await run(found, "valkey", group="ask") == [1024, 2048]
    await run(remove)
    assert await run(found, "valkey") == await run(found, "alice") == []


def index_everything_again(connection):
    for table in (search.INDEX, search.COMMENT_INDEX):
        connection.exec_driver_sql(f"DELETE FROM {table}")
    numbers, usernames, comments = (
        [value for (value,) in connection.exec_driver_sql(f"SELECT {column} FROM {table}")]
        for column, table in [("number", "articles"), ("username", "users"), ("number", "comments")]
    )
    search.index(connection, numbers, usernames, comments)


async def test_rebuilt_index_equals_the_running_one(run):
    await run(register, "Alice", "bob")
    for number in range(1, 600):
        await run(write, number * 1024, f"redis {number % 7} alice", [f"group-{number % 3}"])
    await run(comment, 600 * 1024, "alice 3", article=4096)

    searches = [(query, group) for query in ("redis", "alice 3", "bob") for group in (None, "group-1")]
    before = [await run(found, query, group=group) for query, group in searches]
    await run(index_everything_again)

    assert [await run(found, query, group=group) for query, group in searches] == before
    assert list(map(len, before)) == [599, 200, 87, 30, 1, 0]


async def test_newest_matches_are_found_of_too_many(run, monkeypatch):
    limit(monkeypatch, found=3, ranked=1)
    await run(register, "Redis")
    for number in range(1, 6):
        await run(write, number * 1024, "redis", posted_ms=-number)

    assert await run(found, "redis", order=SearchOrder.NEWEST) == ["Redis", 4096, 5120]


async def test_newest_matches_are_ranked_of_too_many(run, monkeypatch):
    limit(monkeypatch, found=5, ranked=3)
    for number, title in enumerate(("redis", "redis 2", "redis 3", "redis in action", "redis", "lists and redis"), 1):
        await run(write, number * 1024, title)

    assert await run(found, "redis") == [5120, 6144, 4096, 3072, 2048]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=ANY_TEXT, title=ANY_TEXT, order=st.sampled_from(SearchOrder))
def test_any_text_is_a_query(engines, query, title, order):  # S2
    def find(connection: Connection) -> None:
        connection.execute(delete(ARTICLES))
        connection.execute(delete(ARTICLE_GROUPS))
        write(connection, 1024, "title", content=printable(title))
        for phrases in (parse(query), parse(title)):
            result = search.find(connection, Search(phrases, order=order, group="show"))
            assert bool(result.places) == (phrases != () and matches(phrases, ["title", printable(title)]))

    engines.write(find)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(SENTENCES, SENTENCES), max_size=12), queries=st.lists(QUERIES, min_size=5, max_size=20))
def test_both_databases_find_what_matches(engines, texts, queries):
    def find(connection: Connection) -> None:
        connection.execute(delete(ARTICLES))
        connection.execute(delete(ARTICLE_GROUPS))
        connection.exec_driver_sql("DELETE FROM search_index")
        for place, (title, content) in enumerate(texts, 1):
            write(connection, place, title, content=content)
        for query in queries:
            expected = [n for n, text in enumerate(texts, 1) if parse(query) and matches(parse(query), text)]
            assert sorted(found(connection, query)) == expected, query

    engines.write(find)


async def test_upgrade_indexes_names_with_symbols_anew(each_database, run, database_url):
    """A database of version 15 or earlier has "c" for "C++": it is indexed again when it is opened."""
    await run(write, 1024, "Learning C++")
    await run(comment, 2048, "It compiles to .Net")
    await run(write_as_version_15)

    assert await run(found, "c++") == await run(found, ".net") == []
    later = Database(database_url)
    await later.open()

    assert await later.run(found, "c++") == [1024]
    assert await later.run(found, ".net") == [2048]
    assert await later.run(counted_words) == dict.fromkeys(words("learning c++ it compiles to .net"), 1)
    assert await later.run(proposed, "laerning") == "learning"
    assert await later.run(proposed, "comiples") == "compiles"
    await later.close()


def write_as_version_15(connection: Connection) -> None:
    """Index texts as version 15 of the database did, and make it one of that version."""
    article = search.Document(1024, title=["learning", "c"], content=[], tags=["g/show"])
    comment = search.Document(2048, title=[], content=["it", "compiles", "to", "net"], tags=[])
    old = [("search_index", article), ("search_comments", comment)]
    dialect = search.DIALECTS[connection.dialect.name]
    for table, document in old:
        connection.exec_driver_sql(
            dialect.remove.format(table=table, among=dialect.among), (dialect.keys([document.id]),)
        )
        connection.exec_driver_sql(dialect.put.format(table=table), dialect.row(document))
    connection.execute(text("DROP TABLE vote_gaps"))
    connection.execute(text("DROP INDEX articles_removed"))
    for column in ("notified", "active_ms", "comment_count", "left_ms", "held_by", "unannounced"):
        connection.execute(text(f"ALTER TABLE articles DROP COLUMN {column}"))
    for column in ("reply_count", "descendant_count", "path", "notified"):
        connection.execute(text(f"ALTER TABLE comments DROP COLUMN {column}"))
    connection.execute(text("UPDATE alembic_version SET version_num = 'v0015_rings'"))
    connection.execute(text("DROP TABLE search_words"))
    if connection.dialect.name == "sqlite":
        for table in ("search_vocabulary", "search_comment_vocabulary"):
            connection.execute(text(f"DROP TABLE {table}"))


async def test_newer_ones_of_equal_relevance_come_first_and_much_better_ones_still_before_them(run):
    year = 365 * 86_400_000 * 2 * 1024  # a number has twice the milliseconds of the posting time before its slot
    await run(write, year, "Redis")
    await run(write, 3 * year, "Redis")
    await run(write, 5 * year, "Lists", content=f"{'of many other words ' * 20} redis")
    await run(comment, 5 * year + 1024, "redis")

    assert await run(found, "redis", kinds=frozenset({SearchKind.ARTICLE})) == [3 * year, year, 5 * year]


async def test_known_searches_find_their_stories_first(run):  # S1
    """Of real titles, among which are all that share two words with a query."""
    titles = (DATA / "story-titles.txt").read_text().splitlines()
    await run(write_titles, titles)

    with (DATA / "known-searches.csv").open() as rows:
        known = list(csv.DictReader(rows))
    missed = []
    for each in known:
        first = [titles[number // 1024 - 1] for number in (await run(found, each["query"]))[:3]]
        missed += [] if each["title"] in first else [(each["query"], first)]
    assert len(known) == 50
    assert missed == []


def write_titles(connection: Connection, titles: Sequence[str]) -> None:
    """Add an article with each title, numbered by its line from 1 on, times 1,024."""
    numbers = [1024 * place for place in range(1, len(titles) + 1)]
    constants = ARTICLE | {"archived": False}
    connection.execute(
        insert(ARTICLES), [constants | {"number": n, "title": t} for n, t in zip(numbers, titles, strict=True)]
    )
    search.index(connection, numbers)
