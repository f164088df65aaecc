"""
What is on the screen stays in its place while a page loads.

`scene` is a conversation between members that puts something on every page.
"""

import asyncio
from itertools import pairwise

import pytest
from playwright.async_api import expect

from tests.reader.conftest import DESKTOP, PHONE, opened

MOST = 0.02  # the sum of all layout shifts, of which 0.1 still counts as good
# The left and right sides of what stands in the first line of the header.
HEADER = """[...document.querySelectorAll('header .site, header .account > *')].map((each) => {
  const { left, right } = each.getBoundingClientRect();
  return [left, right];
})"""
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) shifts.push([value, sources.map(({ node }) => node?.outerHTML?.slice(0, 80))]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["front page", "article", "group", "top of the day", "log in"])
async def test_nothing_moves_while_a_page_loads(visit, scene, viewport, name):
    page = await visit(viewport=viewport)
    await page.add_init_script(OBSERVE)

    async def answer_late(route):
        await asyncio.sleep(0.5)  # so that the page is painted without its content
        await route.continue_()

    await page.route("**/graphql", answer_late)
    await opened(page, scene.path(name))
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")

    shifts = await page.evaluate("shifts")
    assert sum(value for value, _ in shifts) < MOST, shifts


async def test_page_of_few_lines_does_not_move_when_it_has_its_data(visit, site):
    page = await visit(site.member(), viewport=PHONE)
    await page.add_init_script(OBSERVE)

    async def answer_late(route):
        await asyncio.sleep(0.5)
        await route.continue_()

    await page.route("**/graphql", answer_late)
    await opened(page, "/inbox")
    await expect(page.get_by_role("contentinfo")).to_be_visible()
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")

    shifts = await page.evaluate("shifts")
    assert sum(value for value, _ in shifts) < 0.01, shifts


# Where the parts of the first comment of a list are: the text about its article, the button of its menu, the comment
# that it answers, and its own text.
COMMENT_LINE = """['.on', '.more', '.answered', '.markdown'].map((each) =>
  document.querySelector(`main li ${each}`).getBoundingClientRect().toJSON())"""


@pytest.mark.parametrize(
    "title", ["Short", "A title that is almost as long as the line which it ends, and no longer", "Long " * 30]
)
@pytest.mark.parametrize(
    "viewport", [{"width": 320, "height": 640}, PHONE, DESKTOP], ids=lambda size: str(size["width"])
)
async def test_menu_of_a_comment_is_level_with_its_article_and_its_quotation_is_aligned_with_its_text(
    visit, site, viewport, title
):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, title, content="Text.")
    site.comment(bob, article, "An answer.", parent=site.comment(alice, article, "A question."))
    page = await visit(alice, viewport=viewport)
    await opened(page, "/inbox")

    on, more, answered, text = await page.evaluate(COMMENT_LINE)

    assert on["top"] < (more["top"] + more["bottom"]) / 2 < on["bottom"]
    assert more["left"] >= 0
    assert more["right"] <= viewport["width"]
    assert answered["left"] == text["left"]


@pytest.mark.parametrize("width", [320, 360, 390])
@pytest.mark.parametrize("name", ["Upvote", "A site with quite a long name"])
async def test_header_of_a_phone_has_room_for_the_inbox(visit, site, width, name):
    alice, bob = site.member("a-long-name"), site.member("bob")
    article = site.post(alice, "Answered often", content="Text.")
    for number in range(12):
        site.comment(bob, article, f"Answer {number}")
    page = await visit(alice, viewport=PHONE | {"width": width})
    await opened(page, "/groups")
    await expect(page.get_by_role("link", name="Inbox 12 new")).to_be_visible()
    await page.locator("header .site span").evaluate("(site, name) => { site.textContent = name }", name)

    boxes = await page.evaluate(HEADER)
    assert all(left[1] <= right[0] for left, right in pairwise(boxes)), boxes
    assert boxes[-1][1] <= width
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [320, 375])
async def test_nothing_in_the_header_of_a_phone_is_cut(visit, site, width):
    """German words and the badges of a moderator: signs leave the room to the name of the site."""
    moderator, bob = site.member("longest-name-of"), site.member("bob")
    site.moderate(moderator)
    site.comment(bob, site.post(moderator, "Answered", content="Text."), "Answer")
    page = await visit(moderator, viewport=PHONE | {"width": width})
    await opened(page, "/groups?lang=de")
    await expect(page.get_by_role("link", name="Posteingang 2 neu")).to_be_visible()

    cut = "all => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)"
    assert await page.locator("header :is(.site, .site span, nav a:not(.desk))").evaluate_all(cut) == []
    assert (
        await page.locator("header .account-menu bdi").evaluate("(name) => getComputedStyle(name).clipPath") != "none"
    )
    await page.get_by_role("button", name=moderator.username).click()
    assert await page.locator(".menu .whose, .menu bdi").evaluate_all(cut) == []
    await expect(page.locator(".menu .whose")).to_have_text(moderator.username)


@pytest.mark.parametrize(("width", "long"), [(320, "A site with a long name"), (375, "Die Teetrinkergemeinschaft")])
async def test_long_name_of_the_site_is_whole_on_a_phone(visit, site, width, long):
    page = await visit(site.member(), viewport=PHONE | {"width": width})
    await opened(page, "/groups?lang=de")
    header = page.locator("header")
    before = await header.bounding_box()
    await page.locator("header .site").evaluate("(site) => site.classList.add('long')")
    name = page.locator("header .site span")
    await name.evaluate("(name, long) => { name.textContent = long }", long)

    hidden = "({ scrollWidth: x, clientWidth: w, scrollHeight: y, clientHeight: h }) => [x - w, y - h]"
    assert await name.evaluate(hidden) == [0, 0]
    assert await header.bounding_box() == before


@pytest.mark.parametrize("width", [320, 480, 640, 831, 832, 1024, 1280])
async def test_search_is_wide_and_the_header_fits(visit, site, width):
    alice, bob = site.member("a-long-name"), site.member("bob")
    site.comment(bob, site.post(alice, "Answered", content="Text."), "Answer")
    page = await visit(alice, viewport=DESKTOP | {"width": width})
    await opened(page, "/groups")
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()

    lines = await page.evaluate(
        "new Set([...document.querySelectorAll('header > *')].map((each) => {"
        " const { top, bottom } = each.getBoundingClientRect(); return Math.round((top + bottom) / 2); })).size"
    )
    search = await page.locator("header search").bounding_box()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width >= 832:  # where the header begins to have one line
        assert lines == 1
    if width == 1280:
        assert search["width"] >= 320, search


@pytest.mark.parametrize("width", [320, 360])
async def test_links_of_the_header_of_a_phone_have_room_for_a_finger(visit, width):
    page = await visit(viewport=PHONE | {"width": width})
    await opened(page, "/groups")
    sides = """all => all.map((each) => {
      const { width, height } = each.getBoundingClientRect();
      return Math.min(width, height);
    })"""

    found = await page.locator("header :is(.site, nav a)").evaluate_all(sides)

    assert len(found) == 5
    assert min(found) >= 24  # CSS pixels, as WCAG 2.2 asks for
