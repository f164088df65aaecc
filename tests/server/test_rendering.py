"""The templates of the pages."""

import re

import pytest
from jinja2 import UndefinedError

from server.reader.rendering import TEMPLATES, constant, environment, render_template
from server.words.languages import languages
from tests.server.pages import HOSTILE

ENGLISH = languages({}, "en").named(code=None)


def test_templates_escape_texts():
    html = render_template(ENGLISH, "without_scripts.html", site=HOSTILE)

    assert "<main><p>This page needs JavaScript.</p></main>" in html
    assert html.count("</noscript>") == 1
    assert "<script" not in html
    assert "\"'>" not in html


def test_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="'site' is undefined"):
        render_template(ENGLISH, "without_scripts.html")


def test_only_the_html_of_texts_is_not_escaped():
    sources = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
    unescaped = {(name, value) for name, text in sources.items() for value in re.findall(r"(\w+) \| safe\b", text)}

    assert unescaped == {("site_page.html", "html")}
    assert [name for name, text in sources.items() if re.search(r"autoescape|\|safe", text)] == []
    assert environment(ENGLISH).autoescape is True


def test_text_is_no_instruction_of_a_template():
    made = environment(ENGLISH).from_string(constant("{{ 7 * 7 }} {% raw %} {# <b>"))

    assert made.render() == "&#123;&#123; 7 * 7 }} &#123;% raw %} &#123;# &lt;b&gt;"
