"""Why an article stands where it does: told where one points at its count, focuses or presses it."""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened
from tests.reader.lines import line

TOLD = "[role=tooltip]"


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
    assert await second.locator(f"{TOLD} rect.gain").count() == 1
    assert await axe(page) == []
    await page.mouse.move(1, 1)
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
