"""
Rows of articles: small, aligned, and with targets as large as a thumb needs.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import DESKTOP, PHONE, PRELOAD, opened
from tests.reader.lines import line

LONG = "A title that goes on " * 8
# Of each row, in CSS pixels: its height and lower edge, where the poster's name begins, the least side of its buttons.
ROWS = """() => [...document.querySelectorAll('.articles > li')].map((row) => ({
  height: row.getBoundingClientRect().height,
  bottom: row.getBoundingClientRect().bottom,
  names: row.querySelector('.user').getBoundingClientRect().x,
  target: Math.min(...[...row.querySelectorAll('.votes button')].flatMap((button) => {
    const { width, height } = button.getBoundingClientRect();
    return [width, height];
  })),
}))"""


@pytest.mark.parametrize(("viewport", "tallest"), [(DESKTOP, 56), (PHONE, 96)], ids=["desktop", "phone"])
async def test_row_is_small_and_its_votes_are_not(visit, site, viewport, tallest):
    alice = site.member("alice-has-a-na")
    site.post(alice, LONG[:160], groups=["programming", "a-long-name-of-a-group", "show"])
    page = await visit(viewport=viewport)
    await opened(page, "/?order=TIME")

    rows = await page.evaluate(ROWS)

    assert len(rows) == 30
    assert max(row["height"] for row in rows) <= tallest
    assert len({row["names"] for row in rows}) == 1
    assert min(row["target"] for row in rows) >= 24
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_fifteen_stories_stand_in_900_px(visit):
    page = await visit(viewport={"width": 1280, "height": 900})
    await opened(page, "/")

    rows = await page.evaluate(ROWS)

    assert rows[14]["bottom"] <= 900


async def test_row_invites_to_discuss_and_does_not_repeat_the_group_of_the_page(visit, site):
    alice = site.member("alice")
    article = site.post(alice, "Nobody has answered", groups=["rows", "elsewhere"])
    page = await visit()
    await opened(page, "/group/rows")
    row = line(page, "Nobody has answered")

    await expect(row.locator(".group")).to_have_text(["elsewhere"])
    await row.get_by_role("link", name="discuss").click()
    await expect(page).to_have_url(f"{site.url}{site.path(article)}")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_titles_of_all_scripts_begin_where_their_details_do(visit, site, viewport):
    alice = site.member("alice")
    for title in ("שלום", "Peace"):
        site.post(alice, title, groups=["scripts"])
    page = await visit(viewport=viewport)
    await opened(page, "/group/scripts")

    # How far the beginning of each title is from that of the name below it.
    starts = """() => [...document.querySelectorAll('.articles > li')].map((row) => {
      const [first, name] = ['h2', '.user'].map((part) => {
        const range = document.createRange();
        range.selectNodeContents(row.querySelector(part));
        return Math.min(...[...range.getClientRects()].map(({ x }) => x));
      });
      return Math.abs(first - name);
    })"""

    assert max(await page.evaluate(starts)) < 4


async def test_groups_do_not_touch_the_lines_between_rows(visit, site):
    alice = site.member("alice")
    for title in ("Upper", "Lower"):
        site.post(alice, title, groups=["chips", "beside"])
    page = await visit()
    await opened(page, "/group/chips")
    # How far the painted part of a group's name is from the end of its row, and how high it is as a target.
    painted = """(group) => {
      const [{ bottom, height }, { clientHeight, clientTop }] = [group.getBoundingClientRect(), group];
      const isClipped = getComputedStyle(group).backgroundClip === 'padding-box';
      const row = group.closest('li').getBoundingClientRect();
      return { below: row.bottom - (isClipped ? bottom - clientTop : bottom), height };
    }"""

    found = await line(page, "Lower").locator(".group").evaluate(painted)

    assert found["below"] >= 2
    assert found["height"] >= 24


async def test_closed_vote_is_an_arrow_with_a_title(visit, site):
    page = await visit()
    await opened(page, "/top/month")
    closed = page.get_by_role("article").filter(has=page.get_by_title("Voting has closed")).first
    title = await closed.get_attribute("aria-label")

    await closed.locator(".details > a").nth(1).click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    await expect(page.get_by_title("Voting has closed").first).to_have_attribute("aria-disabled", "true")
    await expect(page.locator(".notice")).to_have_count(0)


async def test_closed_arrow_stays_grey_below_the_pointer(visit, site):
    page = await visit()
    await opened(page, "/top/month")
    arrows = page.get_by_title("Voting has closed")
    colour = "(arrow) => getComputedStyle(arrow).color"
    grey = await arrows.first.evaluate(colour)

    for arrow in (arrows.first, arrows.nth(1)):  # up and down
        await arrow.hover()
        assert await arrow.evaluate(colour) == grey


@pytest.mark.parametrize("path", ["/", "/top/month"])
async def test_counts_are_bold_and_in_tabular_figures(visit, path):
    page = await visit()
    await opened(page, path)

    style = await page.locator(".story .count").first.evaluate(
        "(count) => [getComputedStyle(count).fontVariantNumeric, getComputedStyle(count).fontWeight]"
    )

    assert style == ["tabular-nums", "600"]


async def test_click_on_a_closed_arrow_is_answered_for_a_moment(visit, site):
    page = await visit(site.member("voter"))
    await opened(page, "/top/month")

    await page.get_by_title("Voting has closed").first.click(force=True)

    await expect(page.get_by_role("status")).to_contain_text("Voting has closed.")
    await expect(page.locator(".status.problem")).to_have_count(0)  # which stays until it is dismissed


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "html"])
async def test_title_that_is_cut_is_whole_where_it_is_pointed_at(visit, site, faults, runs_scripts):
    alice = site.member("alice")
    title = LONG[:160].strip()
    site.post(alice, title)
    site.post(alice, title, content="A text.")
    page = await visit(java_script_enabled=runs_scripts)
    path = f"/user/{alice.username}"
    await (opened(page, path) if runs_scripts else page.goto(path))

    links = page.locator("main h2 a")

    await expect(links).to_have_count(2)
    assert await links.evaluate_all("all => all.map((each) => each.title)") == [title, title]
    await page.close()
    faults.ignore(PRELOAD)
