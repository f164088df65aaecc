"""
Why an article stands where it does: told where one points at its count, focuses or presses it.

The key j goes to the next article, y tells why it stands there, and u votes it up. `scene` is a conversation between
members that puts something on every page.
"""

import re

import pytest
from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened, opened_without_data, settled
from tests.reader.lines import line

TOLD = "[role=tooltip]"  # the box that tells the place of an article and why


def posted(site, group):
    """Post "GROUP first" and "GROUP second"; returns a member who has not voted on them."""
    alice, bob = site.member("alice"), site.member("bob")
    for name in ("first", "second"):
        site.post(alice, f"{group} {name}", groups=[group])
    return bob


async def test_pointer_that_rests_on_the_count_is_told_the_terms(visit, site, axe):
    posted(site, "why")
    page = await visit()
    await opened(page, "/group/why?order=SCORE")
    second = line(page, "why first")  # the later one stands above it

    await second.get_by_role("button", name="1 vote", exact=True).hover()

    await expect(second.locator(TOLD)).to_contain_text("Place 2 by Score in why")
    await expect(second.locator(TOLD)).to_contain_text("votes+7 min 12 sec")  # a vote is worth 432 seconds
    await expect(second.locator(TOLD)).to_contain_text("1 more vote passes the one above.")
    # the bar has a part for each term: only that of the votes raises the place, that of the age lowers it
    assert await second.locator(f"{TOLD} rect.gain").count() == 1
    assert await axe(page) == []
    await page.mouse.move(1, 1)  # away from the votes
    await expect(page.locator(TOLD)).to_have_count(0)


async def test_what_is_told_follows_the_votes(visit, site):
    bob = posted(site, "whynow")
    page = await visit(bob)
    await opened(page, "/group/whynow?order=VOTES")
    shown = page.get_by_role("article").nth(1)
    title = await shown.get_attribute("aria-label")
    row = line(page, title)
    await row.get_by_role("button", name="1 vote", exact=True).focus()
    await page.keyboard.press("y")
    await expect(row.locator(TOLD)).to_contain_text("Place 2 by Votes in whynow")

    await page.keyboard.press("u")

    await expect(row.locator(TOLD)).to_contain_text("Place 1 by Votes in whynow")
    await expect(row.locator(TOLD)).to_contain_text("upvotes+2")
    await expect(row.locator(TOLD)).to_contain_text("It is the first.")
    await page.keyboard.press("Escape")
    await expect(page.locator(TOLD)).to_have_count(0)


async def test_focus_by_the_keyboard_is_enough(visit, scene):
    page = await visit()
    await opened(page, "/")
    count = page.get_by_role("article").first.locator(".count")
    await page.get_by_role("article").first.get_by_role("button", name="Vote up").focus()

    await page.keyboard.press("Tab")

    await expect(count).to_be_focused()
    await expect(page.locator(TOLD)).to_contain_text("Place 1 by Hot")
    described = await count.get_attribute("aria-describedby")
    assert described == await page.locator(TOLD).get_attribute("id")
    await page.keyboard.press("Tab")
    await expect(page.locator(TOLD)).to_have_count(0)


@pytest.mark.parametrize("path", ["article", "front page"])
async def test_finger_that_presses_is_told_and_the_box_fits_a_phone(visit, scene, path):
    page = await visit(viewport=PHONE, has_touch=True)
    await opened(page, scene.path(path))
    count = page.locator("main button.count").first

    await count.tap()

    await expect(page.locator(TOLD)).to_contain_text("by Hot")
    box = await page.locator(TOLD).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]


@pytest.mark.parametrize("way", ["Escape", "j", "a click"])
async def test_box_that_the_key_has_opened_closes(visit, scene, way):
    page = await visit()
    await opened(page, "/")
    await page.keyboard.press("j")
    await page.keyboard.press("y")
    await expect(page.locator(TOLD)).to_contain_text("Place 1 by Hot")

    if way == "a click":
        await page.mouse.click(1, 1)  # beside what is told
    else:
        await page.keyboard.press(way)

    await expect(page.locator(TOLD)).to_have_count(0)


async def test_one_box_is_open_at_most(visit, scene):
    page = await visit()
    await opened(page, "/")
    await page.keyboard.press("j")
    await page.keyboard.press("y")
    await expect(page.locator(TOLD)).to_contain_text("Place 1 by Hot")

    await page.locator("main .count").nth(9).hover()

    await expect(page.locator(TOLD)).to_contain_text("Place 10 by Hot")


async def test_escape_closes_the_box_of_a_pointer(visit, scene):
    page = await visit()
    await opened(page, "/")
    await page.locator("main .count").first.hover()
    await expect(page.locator(TOLD)).to_contain_text("Place 1 by Hot")

    await page.keyboard.press("Escape")

    await expect(page.locator(TOLD)).to_have_count(0)


@pytest.mark.parametrize("size", [(1280, 900), (320, 568)], ids=["desktop", "small phone"])
async def test_box_is_above_its_count_where_the_window_ends(visit, scene, size):
    width, height = size
    page = await visit(viewport={"width": width, "height": height})
    await opened(page, "/?lang=de")
    count = page.locator("main .count").nth(20)
    await count.evaluate("(count) => scrollTo(0, count.getBoundingClientRect().bottom + scrollY - innerHeight + 10)")

    await count.click()

    await expect(page.locator(f"{TOLD} dl")).to_be_visible()
    box, below = await page.locator(TOLD).bounding_box(), await count.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= below["y"] + 1


# lists that no order of the store has: of a period, of a search, of a user
OTHER_LISTS = ["/top/month", "/good", "/search?q={word}", "/user/{username}", "/group/whynot?top=day"]
# of each count of votes in the page its element and its place
COUNTS = """() => [...document.querySelectorAll('main .story .count')].map((count) => {
  const { x, y, width, height } = count.getBoundingClientRect();
  return [count.tagName, x, y + scrollY, width, height].join(' ');
})"""


@pytest.mark.parametrize("path", OTHER_LISTS)
async def test_list_that_is_no_ranking_tells_no_places(visit, site, path):
    alice = site.member("alice")
    word = f"why{alice.username.replace('-', '')}"  # of this article only: others may be found while the page opens
    site.post(alice, f"Why not {word}", groups=["whynot"])
    site.wait_until_found(word, 1)
    page = await visit()

    send_data = await opened_without_data(page, path.format(word=word, username=alice.username))
    served = await page.evaluate(COUNTS)
    await send_data()
    await settled(page)

    assert served
    assert await page.evaluate(COUNTS) == served
    await expect(page.locator("main span.count").first).to_have_attribute("title", re.compile("vote"))
    await expect(page.locator("main button.count")).to_have_count(0)
