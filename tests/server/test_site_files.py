"""What operators make their own: a theme, a logo, pages, a picture and security.txt, and what is wrong with them."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from server.branding import backups, files, themes
from server.branding.checks import WrongFile
from server.cli.backup_file import BrokenBackup, CheckedBackup
from server.configured import files_of
from server.settings import Settings, WrongSetting
from tests.server import in_process
from tests.server.commands import ROOT, run
from tests.server.conftest import serving as running_server
from tests.server.pages import BROWSER, HOSTILE, metas, read

LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><circle r="1"/></svg>\n'
ABOUT = "# About *us*\n\nA site for **gardeners**.\n\nMore [words](https://example.com).\n"


def security_txt(expires):
    return f"Contact: mailto:security@example.com\nExpires: {expires.isoformat()}\n"


def links_of(part):
    return [(link["href"], link.text.strip()) for link in part.find_all("a")]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


@pytest.fixture
def serving(redis_url, folder, store):
    return lambda **settings: in_process.serving(redis_url, headers=BROWSER, site_dir=folder, **settings)


async def test_site_without_files_has_the_defaults(serving):
    async with serving(public_url="https://example.com") as http:
        page = await read(http, "/")
        card = metas(page)["og:image"].removeprefix("https://example.com")

        assert (await http.get(card)).headers["Content-Type"] == "image/png"
        assert (await http.get("/favicon.ico")).headers["Content-Type"] == "image/svg+xml"
        assert (await http.get("/.well-known/security.txt")).status_code == 404
        assert (await http.get("/about")).status_code == 404
        assert page.find(class_="welcome") is None
        assert [link["href"] for link in page.find_all("link", rel="stylesheet") if "site/" in link["href"]] == []


async def test_files_of_the_site_are_in_its_pages(serving, folder):
    (folder / "theme.css").write_text(":root {\n  --accent: #123456;\n  --measure: 50rem;\n}\n")
    (folder / "logo.svg").write_text(LOGO)
    (folder / "about.md").write_text(ABOUT)
    (folder / "security.txt").write_text(security_txt(datetime.now(UTC) + timedelta(days=1)))
    async with serving() as http:
        page, about = await read(http, "/"), await read(http, "/about")
        theme = page.find("link", href=re.compile("^site/theme-"))["href"]

        assert "--accent:#123456" in (await http.get(f"/{theme}")).text
        assert (await http.get(f"/{page.find('header').img['src']}")).text == LOGO
        assert page.find(class_="welcome").text == "A site for gardeners. About"
        assert metas(page)["description"] == "A site for gardeners."
        assert about.h1.text == "About us"
        assert about.find("a", href="https://example.com").text == "words"
        assert about.find("script", type="module") is None
        assert about.footer.find("a", href="about").text == "About"
        assert links_of(about.footer) == links_of(page.footer)
        assert links_of(about.header) == [*links_of(page.header), ("log-in", "Log in"), ("register", "Register")]
        assert (await http.get("/.well-known/security.txt")).text.startswith("Contact: mailto:security@example.com")


async def test_page_of_the_operator_offers_no_registration_on_a_closed_site(serving, folder):
    (folder / "about.md").write_text(ABOUT)
    async with serving(registration="closed") as http:
        about = await read(http, "/about")

    assert [path for path, _ in links_of(about.header)][-2:] == ["post", "log-in"]


async def test_page_of_the_operator_has_links_within_the_site(serving, folder):
    within = ["rules", "/group/ask?order=TIME", "/", "#the-end", "/rules#the-end"]
    elsewhere = ["https://example.com/a", "//example.com/b"]
    written = "\n".join(f"[a]({link})" for link in within + elsewhere)
    (folder / "about.md").write_text(f"# About us\n\n{written}\n\n## The *end*\n")
    async with serving() as http:
        about, german = await read(http, "/about"), await read(http, "/about?lang=de")

    assert [page.find("link", rel="canonical")["href"] for page in (about, german)] == ["about", "about"]
    assert about.find_all(hreflang=True) == german.find_all(hreflang=True) == []
    assert [each.get("lang") for each in (german.html, german.h1, german.select_one(".markdown"))] == ["de", "en", "en"]
    shown = about.select("main .markdown a")
    assert about.h1.text == "About us"
    paths = ["rules", "./group/ask?order=TIME", "./", "about#the-end", "./rules#the-end"]
    assert [link["href"] for link in shown] == paths + elsewhere
    assert {" ".join(link["rel"]) for link in shown} == {"noopener"}
    assert about.find(id="the-end").text == "The end"
    assert german.select("main .markdown a")[3]["href"] == "about?lang=de#the-end"


async def test_page_of_the_operator_runs_nothing(serving, folder):
    (folder / "rules.md").write_text(
        f"# {HOSTILE}\n\n{HOSTILE}\n\n[a](javascript:alert(1)) ![b](https://example.com/b.png)\n"
    )
    async with serving() as http:
        page = await read(http, "/rules")

    assert [script["src"].startswith("./reader/theme-") for script in page.find_all("script")] == [True]
    assert page.main.find_all(["meta", "img", "script"]) == []
    assert [link.get("href") for link in page.main.find_all("a")] == [None, "https://example.com/b.png"]


async def test_drawing_opened_by_itself_runs_nothing(serving):
    async with serving() as http:
        policy = (await http.get("/site/logo.svg")).headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "sandbox" in policy


async def test_manifest_and_search_lead_to_the_site(serving):
    async with serving(site_name="Ours & Co", public_url="https://example.com/news") as http:
        manifest = (await http.get("/site/manifest.webmanifest")).json()
        search = (await http.get("/opensearch.xml")).text

    assert (manifest["name"], manifest["start_url"]) == ("Ours & Co", "../")
    assert "<ShortName>Ours &amp; Co</ShortName>" in search
    assert 'template="https://example.com/news/search?q={searchTerms}"' in search


async def test_search_is_named_in_the_language_of_the_site(serving):
    async with serving(site_name="Wir & Co", site_language="de") as http:
        search = (await http.get("/opensearch.xml")).text

    assert "<Description>Suche: Wir &amp; Co</Description>" in search


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "theme.css",
            ":root {\n  --acent: #fff;\n}",
            "theme.css:2: there is no variable --acent; the default stands in",
        ),
        ("theme.css", ":root {\n\n  --ink: url(x);\n}", "theme.css:3: --ink is not a colour"),
        ("theme.css", ":root {\n  --ink: #000;\n", "theme.css:2: `}` is missing"),
        ("theme.css", "/* a\n */ body { color: red }", "theme.css:2: `:root {` is missing"),
        ("theme.css", ":root { --sans: a}</style>; }", "theme.css:1: `:root {` is missing"),
        ("logo.svg", "<svg xmlns='http://www.w3.org/2000/svg'>\n<g>\n</svg>", "logo.svg:3: it is not XML"),
        ("logo.svg", "<svg xmlns='http://www.w3.org/2000/svg'>\n<script/></svg>", "logo.svg:2: <script> would run"),
        ("logo.svg", "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "logo.svg:1: it declares a document type"),
        ("logo.svg", "<html/>", "logo.svg:1: its root is not <svg"),
        ("rules.md", "one\n\udcff", "rules.md:2: it is not UTF-8; the page is left out"),
        ("rules.md", " \n", "rules.md: it is empty; the page is left out"),
        ("card.png", "no picture", "card.png: it is not a PNG; the default stands in"),
        ("favicon.png", "\udc89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10", "favicon.png: it is damaged or cut off"),
        ("security.txt", "Contact: mailto:a@example.com\n", "security.txt: it has no Expires; the page is left out"),
        ("security.txt", security_txt(datetime(2020, 1, 1, tzinfo=UTC)), "security.txt:2: it has expired"),
        ("security.txt", "# ours\nmail us\n", "security.txt:2: it is not like `Contact"),
        ("security.txt", "Contact: a@example.com\n", "security.txt:1: Contact is not a URI like"),
        ("security.txt", "# ours\nPolicy: http://example.com\n", "security.txt:2: Policy is not a URI like https:"),
        ("security.txt", "Expires: 2030-01-01\nexpires: 2031-01-01\n", "security.txt:2: expires is there already, on"),
        ("legal.md", "x" * 200_001, "legal.md: it has more than 200,000 bytes"),
        (
            "rule.md",
            "a",
            "rule.md: nothing uses it; the files of a site are theme.css, logo.svg, favicon.png, card.png, "
            "security.txt, about.md, rules.md, privacy.md, legal.md, words.ftl, LANGUAGE.ftl",
        ),
    ],
)
def test_broken_file_is_told_and_the_default_stands_in(folder, name, content, fault):
    (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))

    found = files.read(folder)

    assert [line.startswith(f"{folder}/{fault}") for line in found.faults] == [True], found.faults
    assert found.theme is None
    assert not found.has_logo
    assert found.card.body == (files.DEFAULTS / "card.png").read_bytes()
    assert (dict(found.pages), found.security) == ({}, None)


def test_signed_security_txt_is_taken_as_it_is(folder):
    signed = f"""-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

{security_txt(datetime.now(UTC) + timedelta(days=1))}-----BEGIN PGP SIGNATURE-----

iHUEARYKAB0WIQS=
=njUN
-----END PGP SIGNATURE-----
"""
    (folder / "security.txt").write_text(signed)

    found = files.read(folder)

    assert (found.security, found.faults) == (signed.encode(), ())


@pytest.mark.parametrize(
    ("sides", "width"),
    [
        ('viewBox="0 0 24 4"', 120),
        ('viewBox="-1,-1, 10,20"', 10),
        ('width="30" height="10" viewBox="0 0 1 1"', 60),
        ('width="30mm" height="10mm"', 60),
        ('width="3em" height="10px" viewBox="0 0 1 1"', 20),
        ('width="100%" height="100%" viewBox="0 0 1 1"', 20),
        ('width="1.2.3" height="1"', 40),
        ('viewBox="0 0 0 10"', 40),
        ('viewBox="0 0 nan 10"', 40),
        ('viewBox="0 0 inf 10"', 2000),
        ("", 40),
    ],
)
def test_logo_has_the_width_that_browsers_give_it(folder, sides, width):
    (folder / "logo.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {sides}/>')

    assert files.read(folder).logo_width == width


def test_each_fault_of_a_theme_is_told(folder):
    (folder / "theme.css").write_text(
        "body { color: red }\n:root {\n  --acent: #fff;\n  --ink #000;\n  --line: #eee;\n"
        "  --quiet: url(x);\n}\n:root {\n  --paper: 1;"
    )

    found = files.read(folder)

    assert [line.removeprefix(f"{folder}/theme.css:")[:30] for line in found.faults] == [
        "1: `:root {` is missing: a the",
        "3: there is no variable --acen",
        "4: it is not like `--accent: #",
        "6: --quiet is not a colour, su",
        "9: --paper is not a colour, su",
        "9: `}` is missing; the default",
    ]
    assert found.theme is None


def test_missing_folder_that_a_setting_names_stops_the_start(tmp_path):
    with pytest.raises(WrongSetting, match="absent: there is no such folder"):
        files_of(Settings(site_dir=tmp_path / "absent"))
    assert files_of(Settings(data_dir=tmp_path)).faults == ()


@pytest.mark.parametrize("name", themes.names())
def test_built_in_theme_is_valid(name):
    css = run("theme", name).stdout.encode()

    assert b"--accent:" in themes.stylesheet(css)
    assert run("theme").stdout.split() == themes.names()


@pytest.mark.parametrize("name", themes.names())
@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_built_in_theme_has_enough_contrast(name, side):
    css = (ROOT / "reader/src/styles.css").read_text() + (themes.THEMES / f"{name}.css").read_text()
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    colours = {variable: luminance(sides[side]) for variable, *sides in pairs}

    assert set(colours) == set(themes.COLOURS)
    for text in ("ink", "quiet", "accent", "down", "problem"):
        for ground in ("paper", "raised"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)  # WCAG 2, level AA
    for text in ("accent", "problem"):
        assert contrast(colours[text], colours[f"{text}-soft"]) >= 4.5, text


def luminance(colour):
    """The relative luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """The contrast ratio of WCAG 2, from two luminances."""
    lighter, darker = max(one, other), min(one, other)
    return (lighter + 0.05) / (darker + 0.05)


def test_variables_of_themes_are_those_of_the_pages():
    styles = (ROOT / "reader/src/styles.css").read_text()
    declared = re.findall(r"--([\w-]+):", styles[styles.index(":root {") : styles.index("}")])

    assert set(declared) == set(themes.VARIABLES)


@pytest.mark.parametrize("value", ["red}", "#12345", "url(https://example.com)", "light-dark(#fff)", "expression(1)"])
def test_value_that_is_no_colour_is_refused(value):
    with pytest.raises(WrongFile):
        themes.stylesheet(f":root {{ --ink: {value}; }}".encode())


def test_files_are_in_backups_and_restored_where_they_are_missing(tmp_path, folder, capsys):
    (folder / "about.md").write_text(ABOUT)
    (folder / "card.png").write_bytes(b"broken, and kept as it is")
    given = backups.files_for_backup(Settings(site_dir=folder))
    backup = CheckedBackup("b", tmp_path / "b", given, digest="", frames=0)
    other = tmp_path / "other" / "site"
    other.mkdir(parents=True)
    (other / "card.png").write_bytes(b"another one")

    backups.put_files(backups.files_in(backup), other)

    assert (other / "about.md").read_text() == ABOUT
    assert (other / "card.png").read_bytes() == b"another one"
    assert capsys.readouterr().err == f"kept {other / 'card.png'}, which is not as in the backup\n"


@pytest.mark.parametrize("files", [{"../evil.md": ""}, {"about.md": "?"}, {"about.md": 1}, ["about.md"], {"a": "YQ=="}])
def test_backup_with_other_files_is_refused(tmp_path, files):
    with pytest.raises(BrokenBackup):
        backups.files_in(CheckedBackup("b", tmp_path / "b", {"site": files}, digest="", frames=0))


@pytest.mark.parametrize("workers", [1, 2])
def test_start_ends_without_the_folder_that_a_setting_names(tmp_path, workers):
    done = run("serve", data_dir=tmp_path, port=0, site_dir=tmp_path / "absent", workers=workers)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"upvote: UPVOTE_SITE_DIR={tmp_path / 'absent'}: there is no such folder\n"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.slow
def test_fault_is_told_once_at_the_start(tmp_path, folder, workers):
    (folder / "theme.css").write_text(":root {\n  --acent: #fff;\n}")
    with running_server(tmp_path, workers=workers) as live:
        assert live.errors.read_text().count("theme.css:2: there is no variable --acent") == 1
