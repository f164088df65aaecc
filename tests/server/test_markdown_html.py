"""Markdown of articles and comments as HTML and as plain text."""

import re
from html import unescape
from itertools import accumulate

import pytest

from server.markdown_html import MAX_DEPTH, MAX_HTML, cut, text_of, to_html

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&colon;alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "<javascript:alert(1)>",
    '[a](https://example.com "x\\" onclick=\\"alert(1)")',
    "![a](https://example.com/a.png)",
    "[a](/logout)",
    "[a](//evil.example)",
    "```<script>\n</code></pre><script>\n```",
    "| <b onclick=alert(1)> |\n|-|\n| <iframe src=x> |",
]
GROWING = {  # markup that becomes much more HTML, or deep HTML
    "references": f"[a]: https://example.com/{'x' * 5_000}\n\n" + "[a]" * 20_000,
    "short references": "[a]: /x\n\n" + "[a] " * 20_000,
    "table": "|" * 101 + "\n" + "|-" * 100 + "|\n" + "|\n" * 20_000,
    "narrow table": "|" * 11 + "\n" + "|-" * 10 + "|\n" + "|\n" * 20_000,
    "table in a quote": "> " + "|" * 21 + "\n> " + "|-" * 20 + "|\n" + "> |\n" * 20_000,
    "tables": "a|b\n-|-\n\n" * 5_000,
    "lazy quotes": ">" * 100 + "a\n" + "a\n" * 20_000,
    "quotes in quotes": ">" * 40_000,
    "quotes of lists": "> - > - > - > - > - a\na\n" * 2_000,
    "emphasis in emphasis": "*a **b " * 700 + "b** a*" * 700,
    "links": "[a](b)" * 7_000,
    "open links": "[a](" * 10_000,
    "images": "![[]()" * 7_000,
    "entities": '&amp;"<' * 5_000,
    "backticks": "".join("a" + "`" * length for length in range(1, 300)),
    "headings": "#\n" * 20_000,
}


def test_markdown_is_rendered():
    html = to_html(
        '# A *title*\n\n1. `a < b`\n2. ~~old~~ [new](https://example.com/?a=1&b=2 "the title")\n\n|a|\n|-|\n|b|'
    )

    assert "<h1>A <em>title</em></h1>" in html
    assert "<code>a &lt; b</code>" in html
    assert "<del>old</del>" in html
    assert 'href="https://example.com/?a=1&amp;b=2"' in html
    assert 'rel="nofollow ugc noopener noreferrer"' in html
    assert "<td>b</td>" in html


def test_html_is_text_within_paragraphs():
    assert to_html("<div>\n*one*\n\ntwo <i>") == "<p>&lt;div&gt;\n<em>one</em></p>\n<p>two &lt;i&gt;</p>\n"


@pytest.mark.parametrize("markdown", HOSTILE)
def test_hostile_markdown_has_no_element_or_link_that_acts(markdown):
    html = to_html(markdown)

    tags = re.findall(r"<([a-z0-9]+)([^>]*)>", html)
    assert html.strip()
    assert {name for name, _ in tags} <= {"a", "p", "pre", "code", "table", "thead", "tbody", "tr", "th", "td"}
    assert [attributes for _, attributes in tags if re.search(r"\son\w+=", re.sub(r'"[^"]*"', '""', attributes))] == []
    assert [link for link in re.findall(r'href="([^"]*)"', html) if not link.startswith("https://example.com")] == []


@pytest.mark.parametrize("name", GROWING)
def test_html_is_bounded_whatever_the_markup(name):
    text = GROWING[name][:10_000]

    html = to_html(text)

    assert 5_000 < len(html) <= MAX_HTML
    assert max(accumulate(-1 if end else 1 for end in re.findall("<(/?)(?!br|hr)[a-z]", html))) <= MAX_DEPTH


def test_markup_that_becomes_too_large_or_too_deep_is_shown_as_it_was_written():
    for name in ("short references", "quotes in quotes", "emphasis in emphasis"):
        text = GROWING[name][:10_000]

        assert unescape(to_html(text)) == f"<pre>{text}</pre>\n"


def test_nesting_that_people_write_is_kept():
    quoted = to_html("> " * 20 + "quoted")
    listed = to_html("\n".join("  " * depth + "- item" for depth in range(20)))

    assert (quoted.count("<blockquote>"), quoted.count("quoted")) == (20, 1)
    assert (listed.count("<ul>"), listed.count("item")) == (20, 20)


def test_plain_text_has_no_markup():
    html = to_html("# Title\n\nSome *words* & [a link](https://example.com) <b>\n\n- one\n- two\n\n```\ncode < 1\n```")

    assert text_of(html, 200) == "Title Some words & a link <b> one two code < 1"


def test_plain_text_of_dense_markup_ends_before_an_incomplete_element():
    html = to_html("*a* & [b](https://example.com) " * 100)

    for length in range(10, 60):
        assert set(text_of(html, length)) <= set("a&b …")


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("short", 5, "short"),
        ("some words here", 12, "some words…"),
        ("some words here", 11, "some words…"),
        ("x" * 30, 10, "x" * 9 + "…"),
        ("", 5, ""),
    ],
)
def test_long_text_is_cut_at_a_word(text, length, expected):
    assert cut(text, length) == expected
    assert len(cut(text, length)) <= length
