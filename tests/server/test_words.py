"""
The texts of the pages in each language: the built-in ones, and those that an operator puts in their place. Files of
texts are in the format Fluent.
"""

import re
from pathlib import Path

import pytest
from fluent.syntax import FluentParser, ast

from server.branding import backups, files
from server.branding.checks import WrongFile
from server.reader.rendering import CONSTANT, STRONG, TEMPLATES
from server.settings import Settings
from server.words.checks import own_entries
from server.words.files import FOLDER, built_in, built_in_entries, node_of, used_in
from server.words.languages import languages
from store.articles import Draft
from tests.server import in_process
from tests.server.commands import run
from tests.server.pages import BROWSER, read

ROOT = Path(__file__).parents[2]
READER = ROOT / "reader/src"
PYTHON = [ROOT / "server/reader", ROOT / "server/mails", ROOT / "server/words"]
LETTERS = re.compile(r"[^\W\d_]{2,}")
# What a reader sees or hears of a component: the text before the end of an element or alone on a line within one,
# attributes, sentences, and what is said.
SPOKEN = [
    re.compile(r">([^<>{}=;()`]*)</"),
    re.compile(r">\n\s*([A-Za-z][^<>{}=;()`\n]*)\n\s*<"),
    re.compile(
        r'\s(?:aria-label|title|label|hint|submit|placeholder|empty|reason|said|question|consequence)="([^"]*)"'
    ),
    re.compile(r'"([A-Z][a-z]+ [^"\n]*|[A-Z][a-z]+[.…])"'),
    re.compile(r'\bsay(?:Problem)?\(["`]([^"`]*)'),
]
# Names of texts that are put together: what they begin with, and where.
PUT_TOGETHER = {
    "order-": "the orders of articles",
    "part-": "the parts of a standing",
    "home-order-": "the same on a member's home",
    "comments-": "the orders of comments",
    "list-": "the lists of periods",
    "page-": "the operator's pages",
    "theme-": "light and dark",
    "queue-": "the queues of moderators",
    "state-": "the states of a comment",
    "reason-": "why something was flagged",
    "refused-": "codes, fields and rules of refusals",
}
OF_UNKNOWN_ROLES = {  # variants of texts about a role that cannot be named: the code adds -some to their names
    "did-grant-some",
    "did-revoke-some",
    "did-role-again-some",
    "said-granted-some",
    "said-revoked-some",
    "said-role-again-some",
}


@pytest.mark.parametrize("language", built_in())
def test_built_in_files_are_fluent(language):
    body = FluentParser().parse((FOLDER / f"{language}.ftl").read_text(encoding="utf-8")).body
    names = [each.id.name for each in body if isinstance(each, ast.Message)]

    assert [each.content for each in body if isinstance(each, ast.Junk)] == []
    assert names == list(built_in_entries(language))  # the reader that needs no parser finds the same, once


@pytest.mark.parametrize("language", built_in())
def test_languages_have_the_same_texts_with_the_same_parts(language):
    known, given = built_in_entries("en"), built_in_entries(language)
    parts = {name: (used_in(node_of(known[name])), used_in(node_of(text))) for name, text in given.items()}

    assert set(given) == set(known)
    assert [name for name, (one, other) in parts.items() if one.elements != other.elements] == []
    assert [
        name
        for name, (one, other) in parts.items()
        # English shows the message of the server, which is in English; other languages have texts of their own
        if one.variables != other.variables and not name.startswith(("refused", "request-failed"))
    ] == []


def test_each_text_is_used():
    sources = [*READER.rglob("*.ts"), *READER.rglob("*.tsx"), *TEMPLATES.iterdir()]
    sources += [path for folder in PYTHON for path in folder.rglob("*") if path.suffix in (".py", ".html")]
    sources.append(ROOT / "server/syndication.py")
    named = {name for path in sources for name in re.findall(r"[\"'`]([a-z][a-z0-9-]*)[\"'`]", path.read_text())}
    unused = [name for name in built_in_entries("en") if name not in named and name not in OF_UNKNOWN_ROLES]

    assert [name for name in unused if not name.startswith(tuple(PUT_TOGETHER))] == []


def test_components_have_no_texts_of_their_own():
    found = []
    for path in sorted(READER.rglob("*.tsx")):
        source = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*|graphql\(`.*?`\)", "", path.read_text(), flags=re.DOTALL)
        found += [(path.name, text) for pattern in SPOKEN for text in pattern.findall(source) if LETTERS.search(text)]

    assert found == []


def test_templates_have_no_texts_of_their_own():
    found = []
    for path in TEMPLATES.iterdir():
        html = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        spoken = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', html)
        texts = [*re.sub(r"<[^>]*>", " ", html).split("\n"), *spoken]
        found += [(path.name, text.strip()) for text in texts if LETTERS.search(text)]

    assert found == []


def test_constant_texts_of_templates_are_known():
    names = {name for path in TEMPLATES.iterdir() for name in CONSTANT.findall(path.read_text(encoding="utf-8"))}

    assert names
    assert names - set(built_in_entries("en")) == set()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


@pytest.fixture
def serving(redis_url, folder, store):
    return lambda **settings: in_process.serving(redis_url, headers=BROWSER, site_dir=folder, **settings)


async def test_texts_of_the_operator_take_the_place_of_built_in_ones(serving, folder):
    (folder / "words.ftl").write_text("-thing = threads\nnav-all = All { -thing }\nno-articles = Nothing <here> yet\n")
    found = files.read(folder)
    assert found.faults == (f"{folder}/words.ftl:3: no-articles has no element <here>; the rest of the file is used",)

    (folder / "words.ftl").write_text('-thing = { "{{" } 7\nnav-all = All & { -thing }\n')
    async with serving() as http:
        page = await read(http, "/")
        words = (await http.get(f"/{page.find('meta', attrs={'name': 'upvote-words'})['content']}")).text

    assert page.find("nav", attrs={"aria-label": "Site"}).a.text == "All & {{ 7"
    assert "nav-all = All & { -thing }" in words
    assert "nav-all = All\n" not in words


@pytest.mark.parametrize(
    ("body", "line", "fault"),
    [
        (b"vote-up = Up\nvote-upp = Up\n", 2, "there is no text vote-upp"),
        (b"# a comment\n\nvote-up Up\n", 3, 'it is not Fluent: Expected token: "="'),
        (b"vote-up = { $x }", 1, "vote-up has no variable $x"),
        (b"vote-up = <b>Up</b>", 1, "vote-up has no element <b>"),
        (b"vote-up = { vote-upp }", 1, "vote-up: 'vote-upp'"),
        (b"vote-up = { -up }", 1, "vote-up: '-up'"),
        (b"vote-up = { -up }\n-up = { -down }\n-down = { -up }\n", 1, "vote-up refers to itself"),
        (b"votes = { NUMBR($count) }", 1, "votes: 'NUMBR'"),
        (b"vote-up =\n    .title = Up\n", 1, "vote-up has no text"),
    ],
)
def test_broken_texts_are_told_with_their_line(body, line, fault):
    entries, faults = own_entries("words.ftl", body + b"\nnav-all = Everything\n")

    assert [(each.line, each.reason) for each in faults] == [(line, fault)]
    assert entries["nav-all"] == "nav-all = Everything"
    assert fault.partition(" ")[0] not in entries


@pytest.mark.parametrize(
    ("name", "body", "line", "fault"),
    [
        ("words.ftl", b"", 0, "it is empty"),
        ("words.ftl", b"vote-up = \xff", 1, "it is not UTF-8"),
        ("xx.ftl", b"vote-up = x", 0, "there is no language xx"),
    ],
)
def test_file_that_cannot_be_read_is_refused(name, body, line, fault):
    with pytest.raises(WrongFile) as raised:
        own_entries(name, body)

    assert (raised.value.line, raised.value.reason) == (line, fault)


def test_text_that_is_gone_after_an_upgrade_leaves_the_translation(folder):
    (folder / "fr.ftl").write_text("gone = Adieu\nvote-up = Pour\nvote-down = { -contre }\n-contre Contre\n")
    found = files.read(folder)
    words = languages(found.words, "fr").named(code=None)

    assert (words("vote-up"), words("vote-down")) == ("Pour", "Vote down")
    assert [line.removeprefix(f"{folder}/") for line in found.faults] == [
        "fr.ftl:1: there is no text gone; the rest of the file is used",
        "fr.ftl:3: vote-down: '-contre'; the rest of the file is used",
        'fr.ftl:4: it is not Fluent: Expected token: "="; the rest of the file is used',
    ]


def test_each_fault_of_a_file_is_told(folder):
    (folder / "words.ftl").write_text("vote-upp = Up\nvote-up\nvotes = { $x }\nvote-down = { -down }\n")
    (folder / "fr.ftl").write_text("\n".join(f"none-{number} = x" for number in range(30)))

    lines = [line.removeprefix(f"{folder}/").partition(";")[0] for line in files.read(folder).faults]

    assert lines[:10] == [f"fr.ftl:{number + 1}: there is no text none-{number}" for number in range(10)]
    assert lines[10:] == [
        "fr.ftl: and 20 more",
        "words.ftl:1: there is no text vote-upp",
        'words.ftl:2: it is not Fluent: Expected token: "="',
        "words.ftl:3: votes has no variable $x",
        "words.ftl:4: vote-down: '-down'",
    ]


def test_file_without_a_right_text_is_told_and_those_of_other_languages_stay(folder):
    (folder / "fr.ftl").write_text("vote-up = Pour\n")
    (folder / "de.ftl").write_text("vote-up\n")
    (folder / "xx.ftl").write_text("vote-up = x\n")
    found = files.read(folder)

    assert list(found.words) == ["fr.ftl"]
    assert found.faults == (
        f'{folder}/de.ftl:1: it is not Fluent: Expected token: "="; the rest of the file is used',
        f"{folder}/xx.ftl: there is no language xx; the texts that come along stand in",
    )


def test_texts_are_in_backups(folder):
    (folder / "words.ftl").write_text("nav-all = Everything\n")
    given = backups.files_for_backup(Settings(site_dir=folder))

    assert list(given["site"]) == ["words.ftl"]


def test_text_that_a_language_lacks_is_english(folder):
    (folder / "fr.ftl").write_text("vote-up = Pour\n")
    words = languages(files.read(folder).words, "fr").named(code=None)

    assert (words("vote-up"), words("vote-down")) == ("Pour", "Vote down")
    assert words("votes", count=1234) == "1\u202f234 votes"


def test_names_in_texts_are_no_elements():
    words = languages({}, "en").named(code=None)

    assert words.html("karma-strong", karma=1, strong=STRONG) == "<strong>1</strong> karma"
    assert words.html("did-you-mean", link=STRONG[0]) == "Did you mean <strong>?"
    assert words.html("for-moderators", note="<strong/> & <b>", strong=STRONG) == (
        "<strong>For moderators:</strong> &lt;strong/&gt; &amp; &lt;b&gt;"
    )


async def test_address_names_the_language(serving, store, alice):
    await store.articles.post(alice, Draft("A title", "https://example.com", groups=["show"]))
    async with serving(public_url="https://example.com") as http:
        german, english = await read(http, "/groups?lang=de"), await read(http, "/groups")
        unknown, same = await read(http, "/groups?lang=xx"), await read(http, "/groups?lang=en")

    assert (german.html["lang"], german.html["dir"], german.h1.text) == ("de", "ltr", "Gruppen")
    assert canonical(german) == "https://example.com/groups?lang=de"
    assert {page.html["lang"] for page in (english, unknown, same)} == {"en"}
    assert {canonical(page) for page in (english, unknown, same)} == {"https://example.com/groups"}
    for page in (german, english):
        links = page.find_all("link", hreflang=True)
        assert {link["hreflang"]: link["href"] for link in links} == {
            "en": "https://example.com/groups",
            "de": "https://example.com/groups?lang=de",
            "x-default": "https://example.com/groups",
        }
    assert german.find("meta", attrs={"name": "upvote-site-language"})["content"] == "en"
    assert "auf Deutsch" in english.find("meta", attrs={"name": "upvote-languages"})["content"]


async def test_links_of_a_page_keep_its_language(serving, store, alice):
    draft = Draft("A title", "https://example.com/?a=b", "by @alice", ["show"])
    number = (await store.articles.post(alice, draft)).number
    async with serving() as http:
        paths = (f"/article/{number}?lang=de", "/?order=TIME&lang=de", "/log?lang=de")
        pages = [await read(http, path) for path in paths]
        plain = await read(http, f"/article/{number}")
    links = {link["href"] for page in pages for link in page.body.find_all("a")}
    inner = {link for link in links if not link.startswith("https:") and not re.search(r"\.xml|explorer$", link)}

    assert {link for link in inner if not re.search("[?&]lang=de$", link)} == set()
    assert {"./?lang=de", "group/show?lang=de", "?order=TIME&lang=de"} <= links
    assert {"https://example.com/?a=b", "rss.xml?order=HOT", "explorer"} <= links
    assert not any("lang=" in link["href"] for link in plain.body.find_all("a"))


async def test_site_has_a_language_of_its_own(serving):
    async with serving(site_language="de") as http:
        page, other = await read(http, "/groups"), await read(http, "/groups?lang=en")

    assert (page.html["lang"], canonical(page)) == ("de", "groups")
    assert (other.html["lang"], canonical(other), other.h1.text) == ("en", "groups?lang=en", "Groups")


async def test_page_is_right_to_left_where_its_language_is(serving, folder):
    (folder / "ar.ftl").write_text("groups-title = المجموعات\nfollow-name = متابعة { $name }\n")
    async with serving() as http:
        page = await read(http, "/groups?lang=ar")
        words = (await http.get(f"/{page.find('meta', attrs={'name': 'upvote-words'})['content']}")).text

    assert (page.html["lang"], page.html["dir"], page.h1.text) == ("ar", "rtl", "المجموعات")
    assert "groups-title = المجموعات" in words


def test_language_without_texts_stops_the_start(tmp_path):
    done = run("serve", data_dir=tmp_path, port=0, site_language="fr")
    wanted = tmp_path / "site" / "fr.ftl"

    assert done.returncode == 2
    assert done.stderr == f"upvote: UPVOTE_SITE_LANGUAGE=fr: {wanted} with its texts is missing or broken\n"


def canonical(page):
    return page.find("link", rel="canonical")["href"]
