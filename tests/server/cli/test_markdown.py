"""The import converts the HTML of texts of Hacker News to Markdown."""

import random
import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bench.conversations import text as text_of
from server.cli.markdown import CUT, markdown
from store.errors import Invalid
from tests.examples import examples

RENDERER = MarkdownIt("gfm-like", {"linkify": False})
TAG = re.compile("<[^>]*>")
SPECIAL = "*_`#>-+=|[]()<&;!~\\.:/0123 \n\tab"


def converted(html: str) -> str:
    return markdown(html, 10_000)[0]


def shown(html: str) -> str:
    """The text that a browser shows, without regard to white space and `>`, which quotations begin with."""
    return " ".join(unescape(TAG.sub(" ", html)).replace(">", " ").split())


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("One<p>two\nlines<p>three", "One\n\ntwo lines\n\nthree"),
        ("It&#x27;s <i>very</i> good &amp; &quot;cheap&quot;", "It's *very* good & \"cheap\""),
        ("a <i>b </i>c", "a *b* c"),
        ("<p><pre><code>  if x:\n      *y*\n\n  w\n</code></pre>\nthen", "```\nif x:\n    *y*\n\nw\n```\n\nthen"),
        ("<pre><code>```\nx\n</code></pre>", "````\n```\nx\n````"),
        (
            '<a href="https:&#x2F;&#x2F;a.example&#x2F;b_c" rel="nofollow">https:&#x2F;&#x2F;a.example&#x2F;b_c</a>',
            "<https://a.example/b_c>",
        ),
        ('<a href="https://example.com/a/long/path">https://example.com/a/lo...</a>', "<https://example.com/a/long/path>"),
        ('<a href="https://example.com/(x)">the page</a>', "[the page](<https://example.com/(x)>)"),
        ('<a href="javascript:alert(1)">press</a>', "press"),
        ("2 * 3 * 4, snake_case, a[0], `x`, \\n", "2 \\* 3 \\* 4, snake\\_case, a\\[0\\], \\`x\\`, \\\\n"),
        ("&lt;script&gt;alert(1)&lt;&#x2F;script&gt; &amp;lt; AT&amp;T", "\\<script>alert(1)\\</script> \\&lt; AT&T"),
        ("# no heading<p>- no item<p>+ none", "\\# no heading\n\n\\- no item\n\n\\+ none"),
        ("&gt; quoted<p>an answer<p>&gt;quoted <i>too</i>", "> quoted\n\nan answer\n\n> quoted *too*"),
        ("so:\n&gt; quoted\n&gt; again\nan\nanswer", "so:\n\n> quoted\n\n> again\n\nan answer"),
        ("&gt; # quoted<p>&gt; 1. quoted<p>&gt; &quot;quoted&quot;", "> \\# quoted\n\n> 1\\. quoted\n\n> \"quoted\""),
        ("&gt;&gt;&gt; 1<p>&gt;= 3<p>-&gt; x", "\\>>> 1\n\n\\>= 3\n\n-> x"),
        ("&gt;<p>&gt; &gt; twice", "\\>\n\n\\> > twice"),
        ("<pre><code>&gt; x\n&gt; y</code></pre>", "```\n> x\n> y\n```"),
        ("1. none<p>--- <p>#tag<p>-x", "1\\. none\n\n\\---\n\n#tag\n\n-x"),
        ("C++ a=b 1.5 <b>bold</b><img src=x onerror=y>", "C++ a=b 1.5 bold"),
        ("bell\x07 and \x85 next", "bell and next"),
        ("", ""),
        ("<p> <p>", ""),
    ],
)  # fmt: skip
def test_html_of_hacker_news_becomes_markdown(html, expected):
    assert converted(html) == expected


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text(SPECIAL, max_size=30), min_size=1, max_size=4))
def test_plain_text_is_shown_as_it_was_written(paragraphs):
    escaped = [part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for part in paragraphs]
    html = "<p>".join(escaped)

    assert shown(RENDERER.render(converted(html))) == shown(html)


@pytest.mark.parametrize("seed", range(30))
def test_markup_is_shown_as_it_was_written(seed):
    html = text_of(random.Random(seed))
    rendered = RENDERER.render(converted(html))

    assert shown(rendered) == shown(html)
    for tag in ("<i>", "<pre>", "<a "):
        assert rendered.count(tag.replace("<i>", "<em>")) == html.count(tag)


def test_long_text_ends_after_a_paragraph():
    html = "<p>".join(["one " * 30, "<i>two</i> " * 30, "three"])

    text, was_cut = markdown(html, 200)
    assert (text, was_cut) == ("one " * 29 + "one" + CUT, True)
    assert markdown(html, len(converted(html))) == (converted(html), False)


@pytest.mark.parametrize(
    ("html", "end"),
    [
        ("word " * 100, "word" + CUT),
        ("\\" * 100, "\\\\" + CUT),
        ("*" * 100, "\\*" + CUT),
        ("<pre><code>" + "x y\n" * 99, "\n```" + CUT),
        ("x" * 99, "x" + CUT),
    ],
)  # fmt: skip
def test_long_paragraph_is_cut(html, end):
    text, was_cut = markdown(html, 60)

    assert was_cut
    assert len(text) <= 60
    assert text.endswith(end)


def test_deep_nesting_is_refused():
    with pytest.raises(Invalid, match="nested too deeply"):
        converted("<i>" * 5_000 + "x")
    assert converted("<p>" * 5_000 + "x") == "x"
