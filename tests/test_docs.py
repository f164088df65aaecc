"""The documentation: the site builds, its links lead to existing pages, and its tables agree with the code."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from graphql import build_schema, parse

from database.database import SEARCH_TIMEOUT
from database.words import PHRASE_WORDS, QUERY_WORDS
from engine.endpoint import STATUSES
from engine.errors import Code
from engine.interfaces import Options
from engine.limits.cost import cost_of
from engine.limits.documents import Limits
from engine.websocket import CloseCode
from resolvers import changes
from resolvers.arguments import MAX_IDS, SIZES
from resolvers.search import QUERY_LENGTH
from resolvers.subscriptions import MOST_COMMENTS, MOST_PENDING
from schema.enums import UserErrorCode
from schema.schema import FILE, SCHEMA
from server import app, limits
from server.cli.main import COMMANDS, main
from server.http.connections import ConnectionLimiter
from server.http.slow_clients import SlowClients
from server.settings import PREFIX, Settings
from server.webhooks.messages import SENT_KINDS
from store import kinds, users
from store.log import PRIVATE
from store.ranking.formulas import FRONT_PAGE_SIZE, PAGE_SIZE, Order
from store.reserved_names import RESERVED
from store.threads import MAX_PLACES, CommentOrder

ROOT = Path(__file__).parents[1]
README, DOCS = ROOT / "README.md", ROOT / "docs"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
CODES = re.compile(r"  # ((?:[A-Z][0-9]{1,2}(?:[,:]? |$))+)$", re.MULTILINE)  # of behaviours, after a test's name
WORD = re.compile(r"[a-z]+|%")  # of a report, in which numbers may differ
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)")
FIRST_TABLE = re.compile(r"^\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
# what a page loads: the address of an element, or the attributes of a <link>
LOADED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?([^"'\s>]+)|<link\b([^>]*)>""")
FAR = re.compile(r"https?:|//")  # the beginning of an address on another host
# codes of errors that have no HTTP status: in streams and on WebSockets, or of a field that is null in an answer
WITHOUT_STATUS = {
    "CURSOR_GONE",
    "NOT_A_MODERATOR",
    "NOT_FOUND",
    "NOT_OFFERED",
    "SUBSCRIBER_TOO_SLOW",
    Code.TOO_MANY_OPERATIONS,
}
# codes, with their statuses, of answers that the HTTP server gives before the application gets the request
BEFORE_THE_APPLICATION = {Code.HEADERS_TOO_LARGE: {431, 414}, Code.TOO_MANY_CONNECTIONS: {503}, Code.TIMED_OUT: {408}}
LIMITS, CONNECTIONS, WEBSOCKET = Limits(), ConnectionLimiter(), Options()
FIXED = {  # limits that no setting changes: the text in the table of docs/errors.md, and the value
    "tokens": LIMITS.tokens,
    "characters": LIMITS.characters,
    "nested levels": LIMITS.depth,
    "nested levels of an introspection": LIMITS.introspection_depth,
    "aliases": LIMITS.aliases,
    "directives": LIMITS.directives,
    "root fields": LIMITS.root_fields,
    "mutations in one request": LIMITS.mutations,
    "`register`, `logIn`, `logInWithToken`, `changePassword`, `deleteUser` and `editAccount` in one request": 1,
    "fields, with those of each spread fragment": LIMITS.fields,
    "points of cost": LIMITS.cost,
    "bytes of a request's body, and of a WebSocket message": limits.max_request_bytes(),
    "bytes of a URL": CONNECTIONS.max_url_bytes,
    "bytes of all headers": CONNECTIONS.max_header_bytes,
    "headers": CONNECTIONS.max_headers,
    "seconds for an execution": LIMITS.seconds,
    "seconds for a search": SEARCH_TIMEOUT,
    "characters of a search query": QUERY_LENGTH,
    "words of a search query; the rest is ignored": QUERY_WORDS,
    "words of a phrase in a search query; a longer one is cut": PHRASE_WORDS,
    "seconds for a request to arrive": CONNECTIONS.request_seconds,
    "seconds that a client may read nothing of a response": SlowClients().seconds,
    "seconds that a connection may be idle": CONNECTIONS.idle_seconds,
    "seconds until `connection_init`": WEBSOCKET.init_timeout,
    "operations at a time on a WebSocket": WEBSOCKET.max_operations,
    "messages a second on a WebSocket; more wait": WEBSOCKET.max_messages,
    "articles that wait for a subscriber": MOST_PENDING,
    "comments that wait for a subscriber": MOST_COMMENTS,
    "failed log-ins on a name from an address in 15 minutes": users.FAILURES_OF_NAME_AND_ADDRESS,
    "failed log-ins from an address in 15 minutes": users.FAILURES_OF_ADDRESS,
    "failed log-ins on a name in 15 minutes": users.FAILURES_OF_NAME,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


def test_site_has_all_pages_and_loads_nothing_from_other_hosts(site):
    pages = sorted(site.rglob("*.html"))
    loaded = [address for page in pages for address in resources(page.read_text())]
    styles = [style.read_text() for style in site.rglob("*.css")]

    assert {page.parent.name for page in pages} >= {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert loaded
    assert [address for address in loaded if FAR.match(address)] == []
    assert [found for style in styles for found in re.findall(r"url\(\"?((?:https?:)?//[^)]*)", style)] == []


@pytest.mark.parametrize("link", ["absent.md", "orders.md#absent"])
def test_broken_link_fails_the_build(tmp_path, link):
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    with (tmp_path / "docs" / "index.md").open("a") as page:
        page.write(f"\n[Broken]({link})\n")

    built = build(tmp_path, tmp_path / "site")

    assert built.returncode == 1
    assert f"'{link}'" in built.stderr


@pytest.mark.parametrize("page", [README, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_links_of_pages_outside_the_site_lead_to_files(page):
    links = [link for link in LINK.findall(page.read_text()) if not FAR.match(link)]

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_readme_is_short_and_leads_to_every_page():
    text = README.read_text()

    assert text.count("\n") <= 250
    assert {DOCS / name for name in re.findall(r"\(docs/(\w[\w-]*\.md)\)", text)} == set(DOCS.glob("*.md"))
    assert max(image.stat().st_size for image in (DOCS / "images").iterdir()) < 100_000


def test_settings_table_is_complete():
    assert rows_of("settings.md") == settings_rows(), "renew it: python -m tests.test_docs --write"


def test_settings_that_are_named_exist():
    named = {name for page in PAGES for name in re.findall(rf"\b{PREFIX}[A-Z0-9_]+", page.read_text())}

    of_containers = {"UPVOTE_DOMAIN", "UPVOTE_UPSTREAM"}  # variables of deploy/compose.yaml and deploy/Caddyfile
    assert named
    assert named - of_containers <= {PREFIX + name.upper() for name in Settings.model_fields}


def test_key_table_has_the_declared_kinds():
    assert rows_of("redis.md") == key_rows(), "renew it: python -m tests.test_docs --write"


def test_command_table_is_complete():
    rows = table("run.md", "Commands", "command")

    assert {row[0].strip("`").split()[1] for row in rows} == COMMANDS.keys()


def test_orders_and_subscriptions_are_complete():
    subscriptions = build_schema(FILE.read_text()).subscription_type

    assert [row[0].strip("`") for row in table("orders.md", "Orders", "order")] == [order.name for order in Order]
    shown = {re.match(r"`(\w+)", row[0])[1] for row in table("live.md", "Live", "subscription")}
    assert subscriptions is not None
    assert shown == subscriptions.fields.keys()


def test_orders_of_comments_are_complete():
    rows = table("comments.md", "Orders", "`order`")

    assert [row[0].strip("`") for row in rows] == [order.name for order in CommentOrder]


def test_codes_of_refused_mutations_are_complete():
    codes = [row[0].strip("`") for row in table("errors.md", "Refused mutations", "`code`")]

    assert codes == sorted(code.name for code in UserErrorCode)


def test_codes_of_errors_are_complete_with_their_statuses():
    rows = table("errors.md", "Errors of requests and fields", "`extensions.code`")
    shown = {row[0].strip("`"): {int(status) for status in re.findall(r"\b\d{3}\b", row[1])} for row in rows}

    codes = {*map(str, Code), *app.CODES.values()}
    expected = {code: set(STATUSES.get(code, ())) | BEFORE_THE_APPLICATION.get(code, set()) for code in codes}
    assert shown == expected
    assert {code for code, statuses in shown.items() if not statuses} == WITHOUT_STATUS
    assert list(shown) == sorted(shown)


def test_each_behaviour_is_proved_by_a_test_that_names_it():
    rows = set(re.findall(r"^\| ([A-Z][0-9]+) \|", (DOCS / "behaviours.md").read_text(), re.MULTILINE))
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = {code for codes in CODES.findall(tests) for code in re.split("[,:]? ", codes)}

    assert rows
    assert rows - named == set(), "these rows have no test"
    assert named - rows == set(), "these codes have no row"


def test_kinds_of_webhooks_are_those_of_the_log_that_are_not_private():
    kinds = {kind.strip("`, ") for row in table("log.md", "Entries", "kind") for kind in row[0].split()}

    assert kinds >= PRIVATE
    assert kinds - PRIVATE == SENT_KINDS


def test_reserved_usernames_are_complete():
    _, _, listed = (DOCS / "errors.md").read_text().partition("make no difference:\n\n")

    assert set(re.findall(r"`([a-z]+)`", listed.partition("\n\n")[0])) == RESERVED


def test_limits_are_those_of_the_code_and_the_settings():
    titles = ("Documents", "Sizes and times", "Connections and subscriptions", "Rates")
    rows = [row for title in titles for row in table("errors.md", title, "limit")]
    settings = {PREFIX + name.upper(): value for name, value in with_derived_defaults(Settings())}

    assert {row[0] for row in rows if row[2] == "-"} == FIXED.keys()
    for name, value, setting in rows:
        expected = FIXED[name] if setting == "-" else settings[setting.strip("`")]
        assert float(value.replace(",", "")) == expected, name


def test_close_codes_are_complete():
    codes = [int(row[0]) for row in table("errors.md", "Connections and subscriptions", "close code")]

    assert codes == [1008, *sorted(CloseCode)]  # 1008 before the protocol begins


def test_page_sizes_are_those_of_the_code():
    rows = {row[0]: tuple(row[1:]) for row in table("errors.md", "Pages", "listing")}

    assert rows.pop("`nodes(ids:)`") == ("-", str(MAX_IDS))
    assert rows.pop("`changes(limit:)`") == (str(changes.DEFAULT_LIMIT), f"{changes.LIMITS[-1]:,}")
    assert rows.pop("`thread`") == (str(PAGE_SIZE), str(MAX_PLACES))
    assert rows.pop("`frontPage`") == (str(FRONT_PAGE_SIZE), str(SIZES[-1]))
    assert set(rows.values()) == {(str(PAGE_SIZE), str(SIZES[-1]))}


def test_costs_are_those_of_the_code():
    rows = table("errors.md", "Cost", "query")

    assert len(rows) >= 5
    for query, points in rows:
        operation = parse(query.strip("`")).definitions[0]
        cost = cost_of(SCHEMA._schema, fragments={}, operation=operation, weights=limits.WEIGHTS)
        assert cost.points({}) == int(points), query


def test_lab_report_of_the_sample_is_shown_on_the_page(capsys, monkeypatch):
    page = (DOCS / "vote-weight.md").read_text()
    (command,) = re.findall(r"^\.venv/bin/upvote (lab .+)$", page, re.MULTILINE)
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(ROOT)

    assert main(command.split()) == 0
    assert WORD.findall(capsys.readouterr().out) == WORD.findall(shown)


def test_make_has_the_targets_that_are_named():
    makefile = (ROOT / "Makefile").read_text()
    named = {name for page in PAGES for name in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE)}

    assert named >= {"serve", "demo", "docs", "test"}
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_make_docs_installs_the_packages_of_the_site_only(tmp_path):
    for name in ("Makefile", "pyproject.toml", *(path.name for path in ROOT.glob("requirements*.lock"))):
        shutil.copy(ROOT / name, tmp_path)
    done = subprocess.run(["make", "--dry-run", "docs"], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert re.findall(r"-r (\S+)", done.stdout) == ["requirements-docs.lock"]


def build(folder: Path, site: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def resources(html: str) -> list[str]:
    """The addresses that a browser loads with a page, without links and the canonical address."""
    found = []
    for source, link in LOADED.findall(html):
        relation, address = (re.search(rf'{name}=["\']?([^"\'\s>]+)', link) for name in ("rel", "href"))
        if source:
            found.append(source)
        elif relation and address and relation[1] not in ("canonical", "next", "prev"):
            found.append(address[1])
    return found


def table(page: str, title: str, first_column: str) -> list[list[str]]:
    """The rows of the table with this first column, in the section with this title."""
    section = re.split(rf"^#+ {re.escape(title)}$", (DOCS / page).read_text(), maxsplit=1, flags=re.MULTILINE)[1]
    _, found, rest = section.partition(f"| {first_column} |")
    assert found, f"{page} has no such table under {title}"
    rows = rest.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def settings_rows() -> list[str]:
    """The rows of the table in docs/settings.md."""
    return [
        f"| `{PREFIX}{name.upper()}` | {default(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]


def key_rows() -> list[str]:
    """The rows of the table in docs/redis.md, one for each kind of key that the store declares."""
    rows = []
    for kind in kinds.declared():
        key = kind() if kind.parts is None else kind("p", *(part.shown for part in kind.parts))
        key = key.replace(":name", ":NAME")  # keys have usernames in lower case
        cells = (kind.type, kind.holds, kind.lifetime, kind.written_by, kind.backup.value)
        rows.append(f"| `{key}` | {' | '.join(cells)} |")
    return rows


def rows_of(page: str) -> list[str]:
    """The rows of the first table of a page."""
    return FIRST_TABLE.search((DOCS / page).read_text())[1].splitlines()


def write() -> None:
    """Renew the tables of settings and keys."""
    for page, rows in (("settings.md", settings_rows()), ("redis.md", key_rows())):
        text = (DOCS / page).read_text()
        start, end = FIRST_TABLE.search(text).span(1)
        (DOCS / page).write_text(text[:start] + "\n".join(rows) + "\n" + text[end:])


def with_derived_defaults(settings: Settings) -> list[tuple[str, object]]:
    """The names and values of settings, also of those whose default follows from another one."""
    given = dict(settings)
    for name in ("rate_points", "rate_points_back"):  # an address has twice the points of a user
        given[name.replace("rate_", "rate_address_")] = 2 * given[name]
    return list(given.items())


def default(value: object) -> str:
    if value is None:
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__" and "--write" in sys.argv:
    write()
