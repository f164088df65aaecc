"""
The HTML in which the server sends a page is replaced by what the script of the page draws, once that has its data.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import DESKTOP, PHONE, SHIFTS, html_replaced, opened_without_data, settled

# Replaces ages, such as "5 minutes ago": they change while a test runs, and so do the widths of their lines.
NO_AGES = """document.querySelectorAll('#root time').forEach((time) => {
  time.was = time.textContent;
  time.textContent = 'an age';
})"""
AGES_AGAIN = "document.querySelectorAll('#root time').forEach((time) => (time.textContent = time.was))"
# What is in the page and where: a text for each link, button, and element of the content, with its text and its box.
PARTS = """() => {
  return [...document.querySelectorAll('#root :is(header .site, header nav a, header search *, footer a, main *)')]
  .filter((each) => !each.closest('noscript') && each.tagName !== 'path' && !each.matches('.announcement, .arrivals'))
  .map((each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    const box = [x, y + scrollY, width, height].map(Math.round).join(' ');
    const text = each.children.length ? '' : each.textContent;
    return `${each.tagName} ${each.getAttribute('class') ?? ''} ${each.href ?? ''} ${text} ${box}`;
  });
}"""
# How far the page is scrolled, and where in the window the third comment is.
PLACE = """() => ({
  y: scrollY, top: document.querySelectorAll('#root .comment')[2].getBoundingClientRect().top
})"""
# Which link has the focus, and where it is in the window.
FOCUSED = "() => [document.activeElement.href, Math.round(document.activeElement.getBoundingClientRect().top)]"
DRAWN = [  # names of pages of scene.py; not the front page, for whose data the script waits before it draws
    "article",
    "branch",
    "top of the day",
    "good",
    "groups",
    "group",
    "top of a group",
    "user",
    "comments of a user",
    "followers of a user",
    "comments",
    "comments of a group",
    "search",
    "absent article",
    "removed article",
    "removed comment",
    "branch of a removed comment",
    "log",
    "log of a group",
]
# Begins the sum of layout shifts, `window.shifts`, anew.
FORGET_SHIFTS = """() => new Promise((resolve) => setTimeout(() => resolve(window.shifts = 0), 100))"""


async def replaced(page):
    """Wait until the script has replaced the HTML of the server."""
    await expect(page.locator(".account:empty")).to_have_count(0)
    await html_replaced(page)
    await settled(page)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", DRAWN)
async def test_script_draws_what_the_html_has(visit, scene, faults, name, viewport):
    page = await visit(viewport=viewport, timezone_id="Asia/Kolkata")
    send_data = await opened_without_data(page, scene.path(name))
    assert await page.evaluate(SHIFTS) < 0.01
    await page.evaluate(NO_AGES)
    before = await page.evaluate(PARTS)
    await page.evaluate(AGES_AGAIN)  # else lines would move when the script draws them
    await page.evaluate(FORGET_SHIFTS)  # those of the ages are the test's own
    await send_data()
    await replaced(page)

    assert await page.evaluate("window.shifts") < 0.01
    await page.evaluate(NO_AGES)
    assert await page.evaluate(PARTS) == before
    assert len(before) > 11
    faults.ignore("status of (404|410)")


@pytest.mark.parametrize("name", ["front page", "article", "group"])
async def test_focus_moves_to_the_equal_element(visit, scene, name):
    page = await visit(scene.carol, viewport={"width": 800, "height": 300})
    send_data = await opened_without_data(page, scene.path(name))
    link = page.locator("#root main .details .user").first
    await link.focus()
    before = await page.evaluate(FOCUSED)
    await send_data()
    await replaced(page)

    assert await page.evaluate(FOCUSED) == before
    await expect(link).to_be_focused()
    await page.keyboard.press("j")
    await expect(page.locator("main [data-keyboard-item]:focus")).to_have_count(1)


async def test_html_is_replaced_once_the_focus_has_an_equal(visit, scene):
    page = await visit()
    send_data = await opened_without_data(page, scene.path("article"))
    await page.evaluate("document.querySelector('#root main .details .user').href = 'user/nobody-has-this'")
    await page.locator("#root main .details .user").first.focus()
    await send_data()
    await drawn_beside(page)

    await expect(page.locator("#root .account:empty")).to_have_count(1)
    await page.keyboard.press("Tab")
    await replaced(page)
    await expect(page.locator("#root main .about-article .details a").nth(1)).to_be_focused()


async def test_search_that_is_typed_stays_while_the_html_is_replaced(visit, scene):
    page = await visit()
    send_data = await opened_without_data(page, scene.path("article"))
    box = page.locator("#root").get_by_role("searchbox")
    await box.press_sequentially("two wo")
    await send_data()
    await drawn_beside(page)

    await box.press_sequentially("rds")
    await expect(page.locator("#root .account:empty")).to_have_count(1)
    await page.keyboard.press("Tab")
    await replaced(page)
    await expect(box).to_have_value("two words")


async def test_link_that_is_pressed_is_followed(visit, scene):
    """Pressing it gives it the focus, and it is followed when it is released: until then it stays."""
    page = await visit()
    send_data = await opened_without_data(page, scene.path("article"))
    await page.locator("#root main .details .user").first.hover()
    await page.mouse.down()
    await send_data()
    await drawn_beside(page)
    await page.mouse.up()

    await page.wait_for_url("**/user/*")


async def test_html_stays_while_something_in_it_is_selected(visit, scene):
    page = await visit()
    send_data = await opened_without_data(page, scene.path("article"))
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('main .markdown p'))")
    await send_data()
    await drawn_beside(page)

    await expect(page.locator("#root .account:empty")).to_have_count(1)
    assert "emphasis" in await page.evaluate("getSelection().toString()")
    await page.evaluate("getSelection().removeAllRanges()")
    await replaced(page)


@pytest.mark.parametrize("is_member", [False, True], ids=["visitor", "member"])
async def test_what_is_read_stays_where_it_is(visit, scene, is_member):
    """Also for a member, whose page has a form above the comments that the HTML does not have."""
    page = await visit(scene.carol if is_member else None, viewport={"width": 800, "height": 300})
    send_data = await opened_without_data(page, scene.path("article"))
    await page.evaluate("window.scrollTo(0, document.querySelectorAll('.comment')[2].offsetTop - 20)")
    before = await page.evaluate(PLACE)
    await send_data()
    await replaced(page)

    assert before["y"] > 200
    assert abs((await page.evaluate(PLACE))["top"] - before["top"]) < 2


@pytest.mark.parametrize("leave", ["a button", "a key"])
async def test_selection_ends_when_the_user_goes_on(visit, scene, leave):
    page = await visit()
    send_data = await opened_without_data(page, scene.path("article"))
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('main .markdown p'))")
    await send_data()
    await drawn_beside(page)

    if leave == "a button":
        await page.locator("#root .votes .up").first.click(force=True)  # it is disabled
    else:
        await page.keyboard.press("Tab")
    await replaced(page)


async def drawn_beside(page):
    """Wait until the script has drawn its page, which is not seen while the HTML is not replaced."""
    await page.wait_for_selector(".beside main .thread .comment:not(:has(.plain))", state="attached")
    await page.wait_for_timeout(300)
