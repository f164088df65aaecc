"""
Mentions: names of users after an @ in a text in Markdown, such as @bob. Links, code and mail addresses have none.

Codes such as C8 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import time

import pytest

from store.mentions import find

LONG = 40_000  # characters of the longest content


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@Bob and @bob, @carol!", ["bob", "carol"]),
        ('(@bob) "@carol" cc:@dave, >@erin: @bob\'s', ["bob", "carol", "dave", "erin"]),
        ("**@bob** _@carol_ __@dave_x__ ~~@erin~~", ["bob", "carol", "dave_x", "erin"]),
        ("> @bob", ["bob"]),
        ("# @bob\n* @carol\n| @dave |", ["bob", "carol", "dave"]),
        ("你好@bob你好", ["bob"]),
        ("@bob-the_2nd.", ["bob-the_2nd"]),
        ("@" + "b" * 20, ["b" * 20]),
        ("[@bob] and arr[@carol]", ["bob", "carol"]),
        ("[a note](see @bob)", ["bob"]),
        ("<@bob> a < @carol", ["bob", "carol"]),
    ],
)
def test_names_after_an_at_sign_are_mentions(text, names):  # C8
    assert find(text, limit=10) == names


@pytest.mark.parametrize(
    "text",
    [
        "alice@bob.com, a.b+c_@bob.com, josé@bob.com, a-@bob",
        "@bob@example.org",
        "\\@bob",
        "@a, @" + "b" * 21 + ", @, @@bob, @bobé",
        "[@bob](https://example.com) [@bob][1] [x](/@bob) [x](<a @bob> '@bob') [x](a(b)c \"@bob\")",
        "https://example.com/@bob?to=,@bob www.example.com/(@bob example.com/@bob <mailto:x@bob>",
        "<a title='@bob'>",
        "`@bob` and ``a ` @bob ``, `a\\`, `\n@bob`",
        "```\n@bob\n```",
        "~~~ py\n@bob\n~~\n@bob",
        "> ```\n> @bob\n> ```",
        "- ```\n  @bob\n  ```",
        "code:\n\n    @bob\n\n\t@bob",
    ],
)
def test_names_in_links_code_and_addresses_are_no_mentions(text):  # C8
    assert find(text, limit=10) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("```\n@bob\n~~~\n```\n@carol", "carol"),
        ("`@bob``@carol ``` @dave", "bob"),
        ("`\n\n@carol `", "carol"),
        ("\\`@carol` `@bob`", "carol"),
        ("- an item\n\n    @carol", "carol"),
        ("a line\n    @carol", "carol"),
        ("[`]`](/@bob) @carol", "carol"),
        ("[![@bob](/a)](/@bob) @carol", "carol"),
    ],
)
def test_code_and_links_end_where_markdown_ends_them(text, name):
    assert name in find(text, limit=10)


def test_first_mentions_count_and_each_name_once():
    assert find("@aa @bb @AA @cc @dd", limit=3) == ["aa", "bb", "cc"]
    assert find("@aa", limit=0) == []


@pytest.mark.parametrize(
    "part",
    [
        *("[](", "](", "[", "]", "`", "``a`", "\\`", " ", "@", "_", "@a_", "<a", "://", "www.", "~", ">", "- ", "\t"),
        *("[](a ", "[](<", "[]((", '[](a "', "[][", "@ab ", "\n", "\n    ", "```\n", "``` `\n", "[](a\n", "[[](a)"),
    ],
)
@pytest.mark.parametrize("frame", ["@x{}", "@ab []({}", "{}]@x", "{})@x"])
def test_time_is_in_proportion_to_the_length_of_a_text(part, frame):
    """A quadratic search takes seconds for these."""
    text = frame.format(part * (LONG // len(part)))
    started_at = time.process_time()
    find(text, limit=10)

    assert time.process_time() - started_at < 0.5
