"""A site with files of its own, in the browser: theme, logo, pages and the sentence on the front page."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from server.branding import themes
from server.branding.files import PAGES
from tests.reader.conftest import SHIFTS, html_replaced, opened, opened_without_data, settled
from tests.reader.scene import TEXT
from tests.reader.site import serving_sample

LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><circle cx="1" cy="1" r="1"/></svg>'

WIDE_LOGO = LOGO.replace("0 0 2 2", "0 0 24 4")
WIDTHS = (320, 360, 375, 414, 600, 768, 840, 900, 1024, 1280, 1440)
# Pairs of things in the header that overlap, and whether something is wider than the window.
OVERLAPS = """() => {
  const things = [...document.querySelectorAll("header :is(.site, nav, search, .account :is(a, button))")];
  const boxes = things.map((each) => [each.textContent || each.localName, each.getBoundingClientRect()]);
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const pairs = boxes.flatMap(([name, box], index) =>
    boxes.slice(index + 1).filter(([, other]) => overlap(box, other)).map(([other]) => `${name}, ${other}`));
  return document.documentElement.scrollWidth > innerWidth ? [...pairs, "too wide"] : pairs;
}"""

# Shows in the header that 120 things wait for moderators.
BADGE = """() => {
  const badge = document.createElement('span');
  badge.className = 'unseen';
  badge.textContent = '120';
  document.querySelector('header .desk').append(badge);
}"""


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A served site with a long name, a wide logo and all pages."""
    folder = tmp_path_factory.mktemp("named")
    files = folder / "site"
    files.mkdir()
    (files / "logo.svg").write_text(WIDE_LOGO)
    for name in PAGES:
        (files / f"{name}.md").write_text("A sentence.")
    with serving_sample(folder, site_name="Die Teetrinkergemeinschaft") as site:  # German, as its words are long
        yield site


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("viewer", ["visitor", "member"])
async def test_header_and_footer_have_room_at_all_widths(visit, named, language, viewer):
    page = await visit(named.member("longname") if viewer == "member" else None, base_url=f"{named.url}/")
    await opened(page, f"/?lang={language}")
    found = []
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 700})
        found += [f"{width}: {each}" for each in await page.evaluate(OVERLAPS)]
        lines = (await page.locator("header").bounding_box())["height"] // 40
        found += [f"{width}: more lines"] if lines > (1 if width >= 832 else 2 if width >= 375 else 3) else []

    assert found == []


async def test_long_name_of_the_site_has_the_room_beside_the_links_of_a_phone(visit, named):
    page = await visit(base_url=f"{named.url}/")
    await opened(page, "/groups")
    rooms = {}
    for width in (320, 390, 600):
        await page.set_viewport_size({"width": width, "height": 700})
        name = await page.locator("header .site").bounding_box()
        link = await page.get_by_role("link", name="Log in").bounding_box()
        rooms[width] = link["x"] - (name["x"] + name["width"])

    assert [width for width, room in rooms.items() if not 0 < room < 16] == [], rooms


@pytest.mark.parametrize("is_moderator", [False, True])
async def test_wide_username_is_whole_on_desktops(visit, named, is_moderator):
    member = named.member("W" * 14)
    if is_moderator:
        named.moderate(member)
    page = await visit(member, base_url=f"{named.url}/")
    await opened(page, "/?lang=de")
    name = page.locator("header .account bdi")

    for width in (1200, 1280, 1920):
        await page.set_viewport_size({"width": width, "height": 700})
        assert await name.evaluate("(name) => name.scrollWidth - name.clientWidth") == 0
        assert await page.evaluate(OVERLAPS) == []
        assert (await page.locator("header").bounding_box())["height"] < 70


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [320, 360, 375, 832, 1280])
async def test_header_of_a_moderator_has_the_lines_of_the_html(visit, named, language, width):
    """Also on the first visit with a browser, which knows nothing of roles yet, and with a badge of three digits."""
    moderator = named.member("moderator-wi")
    named.moderate(moderator)
    page = await visit(moderator, base_url=f"{named.url}/", viewport={"width": width, "height": 740})
    send_data = await opened_without_data(page, f"/?lang={language}")
    before = await page.locator("#root header").bounding_box()
    await page.evaluate(SHIFTS)
    await send_data()
    await settled(page)
    await expect(page.locator("header .desk")).to_be_visible()

    assert await page.locator("#root header").bounding_box() == before
    # the name of the site gives way to a wide logo when that is loaded
    assert await page.evaluate("new Promise((done) => setTimeout(() => done(window.shifts), 100))") < 0.02
    assert await page.evaluate(OVERLAPS) == []
    assert before["height"] < (70 if width >= 832 else 100 if width >= 375 else 140)
    await page.evaluate(BADGE)
    assert await page.evaluate(OVERLAPS) == []


async def test_name_of_the_site_is_cut_at_its_end_in_languages_from_right_to_left(visit, named):
    page = await visit(base_url=f"{named.url}/", viewport={"width": 900, "height": 740})
    await opened(page, "/?lang=ar")
    name = page.locator("header .site span")

    assert await name.evaluate("(name) => getComputedStyle(name).direction") == "ltr"


@pytest.fixture(scope="module", params=['width="96" height="16"', 'viewBox="0 0 24 4"', ""])
def with_logo(request, tmp_path_factory):
    """A served site, and how wide its logo is: with sides, with a box, and with neither."""
    folder = tmp_path_factory.mktemp("logo")
    (folder / "site").mkdir()
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" {request.param}><path d="M0 0h9"/></svg>'
    (folder / "site" / "logo.svg").write_text(drawing)
    with serving_sample(folder) as site:
        yield site, 120 if request.param else 40


async def test_logo_has_its_place_before_it_is_loaded(visit, with_logo):
    site, width = with_logo
    page = await visit(base_url=f"{site.url}/")
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/site/logo-*", held.put)
    await page.goto("./groups", wait_until="commit")
    route = await held.get()
    name, logo = page.locator("#root header .site span"), page.locator("#root header .logo")
    await settled(page)
    before = await name.bounding_box()
    await route.continue_()
    await logo.evaluate("(image) => image.decode()")

    assert await name.bounding_box() == before
    assert (await logo.bounding_box())["width"] == width
    await page.unroute("**/site/logo-*")


async def test_focused_search_of_a_moderator_covers_the_links_of_a_phone(visit, named):
    moderator = named.member("moderator-wi")
    named.moderate(moderator)
    page = await visit(moderator, base_url=f"{named.url}/", viewport={"width": 320, "height": 740})
    await opened(page, "/?lang=en")
    await expect(page.locator("header .desk")).to_be_visible()
    header, box = page.locator("header"), page.get_by_role("searchbox")
    before = await header.bounding_box()
    assert (await box.bounding_box())["width"] < 100
    await page.keyboard.press("/")

    assert (await box.bounding_box())["width"] > 270
    assert await header.bounding_box() == before


@pytest.fixture(scope="module", params=themes.names())
def own(request, tmp_path_factory):
    """A served site with each of the themes, a logo, and a page whose first sentence is on the front page."""
    folder = tmp_path_factory.mktemp("own")
    files = folder / "site"
    files.mkdir()
    (files / "theme.css").write_bytes((themes.THEMES / f"{request.param}.css").read_bytes())
    (files / "logo.svg").write_text(LOGO)
    (files / "about.md").write_text("# About us\n\nA site for gardeners.\n")
    with serving_sample(folder) as site:
        yield site


async def test_theme_has_no_fault_of_accessibility(visit, own, axe):
    alice = own.member("alice")
    article = own.post(alice, "With all that a text can have", content=TEXT, groups=["themes"])
    own.comment(alice, article, TEXT)
    page = await visit(base_url=f"{own.url}/", reduced_motion="reduce")
    found = []
    for path in ("/", "/about", "/search?q=the", "/groups", "/log-in", own.path(article)):
        await opened(page, path)
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            found += [f"{path}, {theme}: {line}" for line in await axe(page)]

    assert "\n".join(found) == ""


async def test_sentence_and_logo_stay_when_the_script_takes_over(visit, own):
    page = await visit(base_url=f"{own.url}/")
    await opened(page, "/")

    await expect(page.locator(".welcome")).to_have_text("A site for gardeners. About")
    assert await page.locator("header .logo").evaluate("image => image.naturalWidth > 0")
    await page.get_by_role("contentinfo").get_by_role("link", name="About").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("About us")


@pytest.mark.parametrize("is_member", [False, True], ids=["visitor", "member"])
async def test_page_of_the_operator_offers_visitors_to_log_in(visit, own, is_member):
    page = await visit(own.member() if is_member else None, base_url=f"{own.url}/")
    await page.goto("about")

    await expect(page.get_by_role("heading", level=1)).to_have_text("About us")
    await expect(page.get_by_role("banner").get_by_role("link", name="Log in")).to_have_count(0 if is_member else 1)


async def test_who_is_logged_in_gets_no_sentence(visit, own):
    page = await visit(own.member(), base_url=f"{own.url}/")
    await opened(page, "/")

    await expect(page.get_by_role("article")).to_have_count(30)
    await expect(page.locator(".welcome")).to_have_count(0)


async def test_sentence_is_not_shown_while_the_script_waits(visit, own):
    page = await visit(own.member(), base_url=f"{own.url}/")
    send_data = await opened_without_data(page, "/")
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#root .line h2'))")
    await send_data()

    await expect(page.locator(".beside article")).to_have_count(30)
    await expect(page.locator("#root .welcome")).to_be_hidden()
    await page.evaluate("getSelection().removeAllRanges()")
    await html_replaced(page)
    await expect(page.locator(".welcome")).to_have_count(0)
