"""
The words and phrases of a search query, and excerpts of texts with the matches marked.

In a parsed query, a word that ends with `~` finds its other forms, too, and one that ends with `*` is a prefix.
"""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from database import words as words_module
from database.words import (
    EXCERPT_LENGTH,
    LEAD,
    MATCH_END,
    MATCH_START,
    PHRASE_WORDS,
    QUERY_WORDS,
    excerpt,
    matches,
    parse,
)
from store.words import words

_, _, QUERIES = (Path(__file__).parents[2] / "docs" / "search.md").read_text().partition("## Queries")
# "c++", "c#" and ".net" as words: their symbols are replaced by letters that look like them
CPP, CSHARP, NET = "c\u1429\u1429", "c\u2d4c", "\ua4f8net"
TEXTS = st.text(st.characters()) | st.text(
    st.sampled_from("aAáß日本ー서ไทй\u0301\u200d\ufe0f👍🏽\"' .-\x00\ud800\ue000")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Redis in Action, 2nd ed.", ["redis", "in", "action", "2nd", "ed"]),
        ("node.js foo_bar don't", ["node", "js", "foo", "bar", "don", "t"]),
        ("C++, c#; .NET (.net) ASP.NET", [CPP, CSHARP, NET, NET, "asp", "net"]),
        (
            "g++-14 #1 i+ +1 c+++ a##b .network ..net #",
            ["g\u1429\u1429", "14", "1", "i", "1", "c", "a", "b", "network", "net"],
        ),
        ("Café CAFE\u0301 Straße ﬁn Ünï", ["cafe", "cafe", "strasse", "fin", "uni"]),
        ("Ёлка Москва Άνθρωπος", ["елка", "москва", "ανθρωποσ"]),
        ("日本語 テスト", ["日", "本", "語", "テ", "ス", "ト"]),
        ("か\u3099 が", ["が", "が"]),
        ("서울에서", ["서", "울", "에", "서"]),
        ("Redis入門", ["redis", "入", "門"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("हिन्दी", ["हिन्दी"]),
        ("שָׁלוֹם עֲלֵיכֶם", ["שלום", "עליכם"]),
        ("سَلَام", ["سلام"]),
        ("a\u200bb c\u200dd e\u00adf \u200fg", ["a", "b", "cd", "ef", "g"]),
        ("🎉👍🏽 ❤️", ["🎉", "👍", "❤"]),
        ("\x00 \ud800 \uffff !?", []),
        ("x" * 150, ["x" * 100]),
    ],
)
def test_words_have_no_case_and_no_accents_in_any_script(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ()),
        ("  ?! -- ", ()),
        ("Redis action", (("redis~",), ("action~*",))),
        ('say "in  action" "out', (("say~",), ("in", "action"), ("out~*",))),
        ("“in action”", (("in", "action"),)),
        ("«in action»", (("in", "action"),)),
        ('"" "a"b', (("a",), ("b",))),
        ("node.js 日本", (("node", "js~"), ("日", "本"))),
        ("nodejs vuejs", (("nodejs~",), ("vuejs~*",))),
        ('"nodejs" js', (("nodejs",), ("js",))),
        ("a A á", (("a",),)),
        ("a AND b OR NOT c* NEAR(d) title:e ^f", (("a",), ("and~",), ("b",), ("or",), ("not~",), ("c",),
         ("near", "d"), ("title", "e"), ("f",))),
        ("-word", (("word~*",),)),
        ("redis reds", (("redis~",), ("reds~*",))),
        ("redis in", (("redis~",), ("in",))),
        ("votes vote", (("votes~",),)),
        ('"vote" votes', (("vote",),)),
        ("c++ C#", ((CPP,), (CSHARP,))),
        ("in node.js9", (("in",), ("node", "js9*"))),
        ("self-hosted open-source", (("self", "hosted~"), ("open", "source~*"))),
    ],
)  # fmt: skip
def test_queries_have_words_and_quoted_phrases_and_no_other_syntax(query, expected):
    assert parse(query) == expected


def test_repeated_words_of_a_query_count_once():
    assert parse('redis action "in action" REDIS "in action"') == (("redis~",), ("in", "action"))
    assert parse(f'"{"a " * 248}"') == (("a",) * PHRASE_WORDS,)  # of 500 characters, as many as a query may have
    assert parse(f'"{"a b " * 20}"') == (("a", "b") * (PHRASE_WORDS // 2),)
    assert parse('"b c" "a b c d" "c e"') == (("a", "b", "c", "d"), ("c", "e"))


def test_long_queries_are_searched_by_their_first_words_in_phrases_of_bounded_length():
    many = [str(number) for number in range(100)]

    assert parse(" ".join(many)) == tuple((word,) for word in many[:QUERY_WORDS])
    assert parse(f'x "{" ".join(many)}"') == (
        ("x",),
        tuple(many[:PHRASE_WORDS]),
        tuple(many[PHRASE_WORDS : QUERY_WORDS - 1]),
    )
    assert parse(" ".join(f"{number}.{number}" for number in many)) == tuple(
        (word, word) for word in many[: QUERY_WORDS // 2]
    )


@given(query=st.text(st.sampled_from('ab ."日'), max_size=120))
def test_query_finds_its_own_text_whatever_is_left_out(query):
    phrases = parse(query)

    assert matches(phrases, [query])
    assert sum(map(len, phrases)) <= QUERY_WORDS
    assert all(len(phrase) <= PHRASE_WORDS for phrase in phrases)


@given(text=TEXTS)
def test_words_are_letters_digits_and_symbols(text):
    for word in words(text):
        assert {unicodedata.category(character)[0] for character in word} <= set("LMNS")
        assert word == word.strip()
        assert words(word) == [word]


@given(query=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_excerpt_marks_what_matches_and_nothing_else(query, texts):
    phrases = parse(query)
    found = excerpt(phrases, texts)

    assert len(found) <= EXCERPT_LENGTH + LEAD + len(phrases) * 2 + sum(
        len(part) for part in found.split(MATCH_START)[1:]
    )
    outside, *parts = found.split(MATCH_START)
    for part in parts:
        marked, end, _ = part.partition(MATCH_END)
        assert end and MATCH_END not in part[len(marked) + 1 :]
        assert any(matches([phrase], [marked]) for phrase in phrases)
    assert MATCH_END not in outside
    if phrases and matches(phrases, texts[:1]) and len(texts[0]) < EXCERPT_LENGTH:
        assert parts


def shown(query: str, *texts: str) -> str:
    """An excerpt of some texts, with brackets around each match."""
    return excerpt(parse(query), texts).replace(MATCH_START, "[").replace(MATCH_END, "]")


def test_excerpt_marks_both_writings_of_a_name():
    assert shown("nodejs", "Node.js, nodejs, and the js of a node") == "[Node.js], [nodejs], and the js of a node"
    assert shown("node.js", "NodeJS and Node") == "[NodeJS] and Node"


def test_excerpt_marks_whole_words_of_a_prefix():
    assert shown("postgres", "PostgreSQL, and postgres") == "[PostgreSQL], and [postgres]"
    assert (
        shown("postgres tun", "Postgres tuning, and mistuned PostgreSQL")
        == "[Postgres] [tuning], and mistuned PostgreSQL"
    )


def test_excerpt_is_of_the_text_with_the_most_phrases():
    assert shown("redis action", "Redis in Action", "redis redis") == "[Redis] in [Action]"
    assert shown("redis lists", "Redis in Action", "Lists of\n redis,  and sets") == "[Lists] of [redis], and sets"
    assert shown("redis", "Redis", "redis redis") == "[Redis]"
    assert shown("nothing", "A title", "content") == "A title"


def test_excerpt_reads_a_text_only_until_all_phrases_are_found(monkeypatch):
    read, split = [], words_module.folded_words
    monkeypatch.setattr(words_module, "folded_words", lambda text: read.append(len(text)) or split(text))

    assert shown("a b", "title", "a b " * 10_000).startswith("[a] [b] [a]")
    assert sum(read) < 1_000
    read.clear()
    assert shown("a b", "title", "x " * 10_000 + "a y b " + "x " * 10_000).count("[") == 2
    assert 20_000 < sum(read) < 2 * 20_000 + 1_000


def test_excerpt_of_a_long_text_is_around_its_matches():
    text = f"{'one two three ' * 50}Café, das 日本語 ist Cafe\u0301{' four five six' * 50} cafe"

    found = shown("cafe 日本 本語", "", text)

    assert "three [Café], das [日本語] ist [Café] four" in found
    assert found[0] == found[-1] == "…"
    assert len(found) <= EXCERPT_LENGTH + len("…[][][]…")


def test_excerpt_marks_words_without_spaces_near():
    assert shown("y", f"{'x' * 900} y {'z' * 900}").startswith("…[y] zzz")
    assert shown("x" * 150, f"{'a ' * 200}{'X' * 400}").endswith(f"a [{'X' * 400}]")


def test_all_matches_of_an_excerpt_are_marked():
    found = shown("redis the", "", f"{'the ' * 500}redis and the lists")

    assert found.endswith("[the] [the] [redis] and [the] lists")
    assert "the" not in found.replace("[the]", "")


def test_excerpt_of_a_text_that_matches_throughout_is_one_match():
    found = shown("日本 本日", "", "日本" * 1_000)

    assert found.startswith("[日本日本") and found.endswith("日本]…")
    assert found.count("[") == 1


def test_characters_that_mark_matches_are_left_out_of_texts():
    assert shown("b", "a\ue000b\ue001c") == "a [b] c"


def test_phrases_stand_in_one_text():
    assert matches(parse('"b c"'), ["a b c", ""])
    assert not matches(parse('"b c"'), ["a b", "c"])
    assert matches(parse("b c"), ["a b", "c"])
    assert not matches(parse("b d"), ["a b", "c"])


def test_queries_of_the_documentation_find_what_it_says():
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", QUERIES, re.MULTILINE)

    assert len(rows) == 15
    for query, found, other in rows:
        assert all(matches(parse(query), [text]) for text in found.split(", ")), query
        assert not any(matches(parse(query), [text]) for text in other.split(", ")), query
