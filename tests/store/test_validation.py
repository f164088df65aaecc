"""
Which links, titles, contents and names are valid: what deceives readers is refused, such as invisible characters.

Codes such as A8 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import validation
from store.articles import Draft
from store.errors import Invalid


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad"])
def test_link_with_invisible_characters_is_refused(hidden):
    with pytest.raises(Invalid, match="invisible"):
        validation.link(f"https://example.com/{hidden}moc")


@pytest.mark.parametrize("who", ["alice:secret", "alice", ":secret", "", "a%40b:c", "example.com:80", "a@b"])
def test_link_with_a_username_or_password_is_refused(who):
    with pytest.raises(Invalid, match="no username and no password") as refusal:
        validation.link(f"HTTPS://{who}@example.com/")

    assert refusal.value.field == ("link",)


@pytest.mark.parametrize("tail", ["/@alice", "?mail=a@b.example", "#@", ":8080/a:b@c"])
def test_at_sign_behind_the_host_is_allowed(tail):
    assert validation.link(f"https://example.com{tail}") == f"https://example.com{tail}"


INVISIBLE = [
    "\u200b",
    "\ufeff",
    "\u00ad",
    "\u3164",
    "\u115f\u1160",
    "\uffa0",
    "\u200d",
    "\ufe0f",
    "\u2800",
    "\U000e0041",
]


@pytest.mark.parametrize("text", [*INVISIBLE, "\u200b \u200b"])
def test_invisible_title_is_refused(text):  # A8
    with pytest.raises(Invalid, match="only blanks and invisible") as refusal:
        validation.title(text)

    assert refusal.value.field == ("title",)


@pytest.mark.parametrize("control", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_title_that_changes_the_direction_of_text_is_refused(control):
    with pytest.raises(Invalid, match=f"direction of text: U\\+{ord(control):04X} at place 3") as refusal:
        validation.title(f"ab{control}cd")

    assert refusal.value.field == ("title",)


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
        "\u2764\ufe0f",  # a red heart
        "\u05e9\u05dc\u05d5\u05dd\u200f!",  # Hebrew with a right-to-left mark
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian with a zero-width non-joiner
        "\u2764\ufe0f\u200d",  # a heart and a joiner
        "\u05e9\u05dc\u05d5\u05dd C++\u200f",  # Hebrew, C++ and a right-to-left mark
        "\uac00\u3164",  # a Korean syllable and a filler
        "co\u00adoperation",  # with a soft hyphen
        "e\u0301",  # an e with a combining accent
    ],
)
def test_visible_title_keeps_its_invisible_characters(text):
    assert validation.title(text) == text


@pytest.mark.parametrize(
    "edge", ["\ufeff", "\u200b", "\u2060", "\u00ad", "\u180e", "\u3000", "\u2028", " \ufeff \u200b\n"]
)
def test_title_and_link_are_trimmed_of_what_nobody_sees(edge):  # A8
    for text in (f"{edge}a\ufeffb{edge}", f"{edge}a\ufeffb", f"a\ufeffb{edge}"):
        assert validation.title(text) == "a\ufeffb"
    assert validation.title(f"{edge}{'a' * 300}{edge}") == "a" * 300
    assert validation.link(f"{edge}https://example.com/{edge}") == "https://example.com/"
    with pytest.raises(Invalid) as refusal:
        validation.title(edge)
    assert refusal.value.field == ("title",)


@pytest.mark.parametrize("text", [" ", "\n\t\r\n", "\u2028", "\u3000", *INVISIBLE])
def test_content_of_blanks_is_refused(text):  # A8
    with pytest.raises(Invalid, match="only blanks and invisible") as refusal:
        validation.content(text)

    assert refusal.value.field == ("content",)
    with pytest.raises(Invalid):
        Draft("a title", "https://example.com/", text).checked()


@pytest.mark.parametrize("scheme", ["javascript", "data", "vbscript", "file", "JaVaScRiPt", "java\tscript", " data"])
def test_link_with_an_executable_scheme_is_refused(scheme):
    with pytest.raises(Invalid):
        validation.link(f"{scheme}://example.com/%0aalert(1)")


@pytest.mark.parametrize("name", ["\u0430lice", "al\u0131ce", "\uff41lice", "alice\u200b", "ALI\u212aE"])
def test_name_that_looks_like_another_is_refused(name):
    with pytest.raises(Invalid):
        validation.username(name)
    with pytest.raises(Invalid):
        validation.group(name, "groups")
