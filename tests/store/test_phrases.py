"""Phrases and domains, such as "casino bonus" or spam.example, that rules of a site search for in texts."""

from time import process_time

import pytest

from store.phrases import domain, has_domain, has_link, has_phrase, phrase


@pytest.mark.parametrize(
    "text",
    [
        "a Casino Bonus",
        "\uff23\uff21\uff33\uff29\uff2e\uff2f \uff42\uff4f\uff4e\uff55\uff53",
        "çasíno-bonus!",
        "cas\u00adino\nbo\u200dnus",
        "(casino)(bonus)",
        "c&#97;sino&nbsp;bonus",
        "x 赌场 y",
        "很多赌场的",
    ],
)
def test_phrase_is_found_in_any_form(text):
    assert has_phrase(("pills", "Casino bonus", "赌场"), text)


@pytest.mark.parametrize("text", ["", "casino", "bonus casino", "casinos bonus", "casino no bonus", "赌合场"])
def test_other_words_are_no_match(text):
    assert not has_phrase(("casino bonus", "赌场"), text)


@pytest.mark.parametrize(
    "text",
    [
        "https://spam.example/a?b=c",
        "http://WWW.Spam.Example:8080",
        "go to spam.example.",
        "[here](https://a.b.spam.example/)",
        "mail me@spam.example",
        "https://%73pam.example/",
        "https://sp\u200bam.example/",
        "https://spam。example/",
        "https://\uff53\uff50\uff41\uff4d\uff0eexample/",
        "https://user:password@spam.example",
        "[x](https://&#115;pam.example/)",
        "[x](https://spam&period;example/)",
        r"[x](https://spam\.example/)",
        "[x](https:&#47;&#47;spam&#x2e;example)",
        "https://bücher.example/",
        "https://xn--bcher-kva.example/",
        "https://a.b.c.d.e.f.g.h.i.j.k.l.m.spam.example/",
    ],
)
def test_domain_is_found_in_any_form(text):
    assert has_domain(("other.example", "spam.example", "BÜCHER.example"), text)


@pytest.mark.parametrize(
    "text", ["", "spam example", "https://nospam.example", "https://spam.example.org", "https://example/spam"]
)
def test_other_domains_are_no_match(text):
    assert not has_domain(("spam.example",), text)


# links in Markdown, with its escapes and other forms of an address without a scheme
HIDDEN_LINKS = [
    "[a](https:&#47;&#47;b.example)",
    "[a](https&colon;//b.example)",
    r"[a](https:\/\/b.example)",
    "[a]( //b.example)",
    "[a](<//b.example>)",
    "[a]: //b.example",
]


@pytest.mark.parametrize(
    "text", ["see https://a.example", "www.a.example", "HTTP://a", "[a](//b.example)", *HIDDEN_LINKS]
)
def test_link_is_found(text):
    assert has_link(text)


def test_text_without_a_link_has_none():
    assert not has_link("a.example is a name, and // a comment")


@pytest.mark.parametrize(("text", "reason"), [(" -!", "has no letter"), ("a " * 17, "has 17 words")])
def test_wrong_phrase_is_an_error(text, reason):
    with pytest.raises(ValueError, match=reason):
        phrase(text)


@pytest.mark.parametrize(
    "text", ["", "example", "https://a.example", "a.example/b", "*.example", ".a.example", "a b.c"]
)
def test_wrong_domain_is_an_error(text):
    with pytest.raises(ValueError, match="is no domain"):
        domain(text)


@pytest.mark.parametrize(
    "piece",
    ["a", "a ", "a.", "a.b", "%61.", "&#97;", "&", "\\", "](", "é.", "casino ", "https://", "-", "。", "\u0301", "ǆ"],
)
def test_time_is_in_proportion_to_the_text(piece):
    """Sixteen times the text takes less than a hundred times as long. If time grew with the square, it would be 256."""

    def time_of(length):
        text = (piece * length)[:length]
        began = process_time()
        for _ in range(3):
            has_phrase(("casino casino casino b", "a a a a a a a a a c"), text)
            has_domain(("spam.example",), text)
        return process_time() - began

    time_of(1_000)  # the first call is slower
    assert time_of(160_000) < 100 * max(time_of(10_000), 0.005)
