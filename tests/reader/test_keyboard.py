"""
Everything is done without a mouse: the focus is seen, and goes where a reader expects it.

`scene` is a conversation between members that puts something on every page.
"""

import re

from playwright.async_api import Page, expect

from tests.reader.conftest import opened
from tests.reader.lines import expect_votes, line

FOCUSED = "() => document.activeElement"
# Whether an element that has the focus shows it, by an outline or a shadow.
OUTLINE = """(element) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
}"""


async def tab_to(page: Page, name: str | re.Pattern[str], role: str = "link") -> None:
    """Press the tab key until an element has the focus; each on the way shows that it has it."""
    wanted = page.get_by_role(role, name=name).first
    for _ in range(100):
        await page.keyboard.press("Tab")
        focused = (await page.evaluate_handle(FOCUSED)).as_element()
        assert await focused.evaluate(OUTLINE), await focused.evaluate("(element) => element.outerHTML.slice(0, 200)")
        if await wanted.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"no tab leads to {name}")


async def test_skip_link_leads_to_the_content(visit, scene):
    page = await visit()
    await opened(page, "/")

    await page.keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await expect(page.locator(".skip")).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")

    assert await page.evaluate("document.activeElement.closest('main') !== null")


async def test_article_is_voted_on_and_opened_with_the_tab_key(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    site.post(alice, "Reached by the tab key", content="Text.")
    page = await visit(bob)
    await opened(page, f"/user/{alice.username}")

    await tab_to(page, "Vote up: Reached by the tab key", "button")
    await page.keyboard.press("Space")
    await expect_votes(line(page, "Reached by the tab key"), 2, "UP")
    await expect(page.get_by_role("button", name="Vote up: Reached by the tab key")).to_be_focused()
    await tab_to(page, "Reached by the tab key")
    await tab_to(page, "discuss")
    await page.keyboard.press("Enter")

    await expect(page).to_have_url(re.compile("/article/"))
    await expect(page.locator("h1")).to_be_focused()


async def test_comment_is_answered_with_the_keyboard(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered with the keyboard", content="Text.")
    site.comment(alice, article, "What do you think?")
    page = await visit(bob)
    await opened(page, site.path(article))
    await expect(page.get_by_text("What do you think?")).to_be_visible()

    await page.keyboard.press("j")
    await page.keyboard.press("r")
    await expect(page.get_by_role("textbox").last).to_be_focused()
    await page.keyboard.type("I think so too.")
    await page.keyboard.press("Control+Enter")

    await expect(page.locator("main").get_by_text("I think so too.")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Reply")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_text("I think so too.")).to_have_count(1)


async def test_focus_goes_to_the_field_that_is_wrong(visit):
    page = await visit()
    await opened(page, "/register")

    await page.get_by_label("Name", exact=True).fill("x")
    await page.get_by_label("Password").first.fill("correct horse")
    await page.keyboard.press("Enter")

    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")


async def test_less_motion_is_respected(visit, scene):
    page = await visit(reduced_motion="reduce")
    await opened(page, "/")

    moving = await page.evaluate("""[...document.querySelectorAll('*')].filter((element) => {
      const { transitionDuration, animationDuration } = getComputedStyle(element);
      return [transitionDuration, animationDuration].some((each) => parseFloat(each) > 0.01);
    }).length""")

    assert moving == 0
