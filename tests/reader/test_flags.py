"""
The menu of each line: Flag, the log, and for moderators a link to their desk.

Codes such as M5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

import pytest
from playwright.async_api import Page, expect

from tests.reader.conftest import DESKTOP, PHONE, opened
from tests.reader.lines import line
from tests.reader.site import PASSWORD, Member, Site

QUEUE = """query($group: String) { moderationQueue(group: $group) { edges {
  node { id } flags { reason note by { username } } } } }"""
NARROW = PHONE | {"width": 320}


def flags(site: Site, moderator: Member, subject: str, group: str) -> list[list[dict]]:
    """The flags of a thing, as the queue of a group shows them: one list of them, or no list if it is not there."""
    edges = site.ask(QUEUE, moderator, group=group)["moderationQueue"]["edges"]
    return [each["flags"] for each in edges if each["node"]["id"] == subject]


def more(page: Page, name: str):
    """The button that opens the menu of an article or a comment."""
    return page.get_by_role("button", name=f"More: {name}", exact=True)


async def test_article_is_flagged_and_the_flag_withdrawn_by_keyboard(visit, site, axe):  # M5
    moderator, writer, reader = site.member("mod"), site.member("writer"), site.member("reader")
    site.moderate(moderator)
    article = site.post(writer, "Flagged by keyboard", groups=["flagged"])
    page = await visit(reader)
    await opened(page, "/group/flagged")
    await page.keyboard.press("j")
    await page.keyboard.press("m")
    menu = page.get_by_role("list", name="Flagged by keyboard")
    await expect(menu.get_by_role("button", name="Flag…")).to_be_focused()
    await expect(more(page, "Flagged by keyboard")).to_have_attribute("aria-expanded", "true")
    await page.keyboard.press("Escape")
    await expect(menu).to_have_count(0)
    await expect(more(page, "Flagged by keyboard")).to_be_focused()

    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Flag it?")
    await expect(dialog).to_contain_text("Flagged by keyboard")
    for viewport in (DESKTOP, PHONE, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
    await dialog.get_by_role("radio", name="It does not belong here").check()
    await dialog.get_by_label("Note").fill("See the rules.")
    await dialog.get_by_role("button", name="Flag", exact=True).press("Enter")
    await expect(page.get_by_text("Thank you: moderators will look at it.")).to_be_visible()
    await expect(dialog).to_have_count(0)
    await expect(more(page, "Flagged by keyboard")).to_be_focused()
    told = [{"reason": "OFF_TOPIC", "note": "See the rules.", "by": {"username": reader.username}}]
    assert flags(site, moderator, article, "flagged") == [told]

    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    withdrawal = page.get_by_role("dialog", name="Withdraw your flag?")
    await expect(withdrawal).to_contain_text("It does not belong here.")
    assert await axe(page) == []
    await expect(withdrawal.get_by_role("button", name="Withdraw the flag")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Your flag is withdrawn.")).to_be_visible()
    assert flags(site, moderator, article, "flagged") == []

    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("radio", name="It advertises")).to_be_checked()
    await expect(page.get_by_role("button", name="Withdraw the flag")).to_have_count(0)


async def test_comment_is_flagged_in_its_thread_and_in_a_list(visit, site):
    moderator, writer, reader = site.member("mod"), site.member("writer"), site.member("reader")
    site.moderate(moderator)
    article = site.post(writer, "Flagged below", content="Text.", groups=["flagged-below"])
    comment = site.comment(writer, article, "A text to flag.")
    name = f"comment by {writer.username}"
    page = await visit(reader)

    async def send(path: str, button: str) -> None:
        await opened(page, path)
        await more(page, name).click()
        await page.get_by_role("button", name="Flag…").click()
        await page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
        await expect(page.get_by_role("dialog")).to_have_count(0)

    await send(site.path(article), "Flag")
    (told,) = flags(site, moderator, comment, "flagged-below")
    assert [each["reason"] for each in told] == ["SPAM"]
    await send(f"/user/{writer.username}/comments", "Withdraw the flag")
    assert flags(site, moderator, comment, "flagged-below") == []


async def test_refused_flag_says_why(visit, site):
    moderator, writer, reader = site.member("mod"), site.member("writer"), site.member("reader")
    site.moderate(moderator)
    article = site.post(writer, "Flagged too late")
    page = await visit(reader)
    await opened(page, f"/user/{writer.username}")
    await more(page, "Flagged too late").click()
    await page.get_by_role("button", name="Flag…").click()
    site.act(moderator, "removeContent", subjectId=article, reason="Removed meanwhile.")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Note").fill("A note to keep.")
    await dialog.get_by_role("button", name="Flag", exact=True).click()

    await expect(dialog.get_by_role("alert")).not_to_be_empty()
    await expect(dialog.get_by_label("Note")).to_have_value("A note to keep.")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_have_count(0)


async def test_menu_is_for_those_who_may(visit, page, site):
    moderator, writer = site.member("mod"), site.member("writer")
    site.moderate(moderator, "menus")
    article = site.post(writer, "With a menu", groups=["menus"])
    site.post(writer, "Elsewhere", groups=["no-menus"])
    path = f"/user/{writer.username}"

    async def items(page: Page, title: str) -> list[str]:
        await more(page, title).click()
        await expect(page.locator(".menu")).to_be_visible()  # it is loaded when it is asked for
        found = await line(page, title).locator(".menu li").all_inner_texts()
        await page.get_by_role("heading", level=1).click()
        await expect(page.locator(".menu")).to_have_count(0)
        return found

    own, theirs = await visit(writer), await visit(moderator)
    await opened(own, path)
    assert await items(own, "With a menu") == ["Save", "Hide", "What moderators did"]
    await opened(theirs, path)
    assert await items(theirs, "With a menu") == ["Flag…", "Save", "Hide", "What moderators did", "Moderate"]
    assert await items(theirs, "Elsewhere") == ["Flag…", "Save", "Hide", "What moderators did"]
    await more(theirs, "With a menu").click()
    await expect(theirs.get_by_role("link", name="Moderate")).to_have_attribute(
        "href", re.compile(f"/moderation/{article}$")
    )
    await opened(page, path)
    assert await items(page, "With a menu") == ["Flag…", "Save", "Hide", "What moderators did"]


async def test_visitor_who_flags_is_asked_to_log_in_and_comes_back(page, site):
    writer, reader = site.member("writer"), site.member("reader")
    site.post(writer, "Flagged by a visitor")
    await opened(page, f"/user/{writer.username}")
    await more(page, "Flagged by a visitor").click()
    await page.get_by_role("button", name="Flag…").click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    await expect(page.get_by_text("Log in to flag.")).to_be_visible()
    await page.get_by_label("Name", exact=True).fill(reader.username)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Log in").click()
    await expect(page).to_have_url(re.compile(f"/user/{writer.username}$"))


async def test_open_menu_begins_at_its_button(page, site):
    article = site.post(site.member("writer"), "Beside its button")
    for path in ("/?order=TIME", f"/article/{article.removeprefix('article:')}"):
        await opened(page, path)
        button = more(page, "Beside its button")
        await button.click()
        items = page.get_by_role("list", name="Beside its button")
        menu, opener = await items.bounding_box(), await button.bounding_box()

        assert menu["x"] == pytest.approx(opener["x"], abs=1)
        assert menu["y"] == pytest.approx(opener["y"] + opener["height"], abs=4)


async def test_open_menu_is_whole_and_on_the_screen(visit, site, axe):
    writer = site.member("writer")
    site.post(writer, "Below the menu")
    site.post(writer, "A title with a menu", groups=["a-group-with-quite-a-long-name"])
    for viewport in (DESKTOP, PHONE, NARROW):
        page = await visit(site.member("reader"), viewport=viewport)
        await opened(page, f"/user/{writer.username}")
        await more(page, "A title with a menu").click()
        box = await page.locator(".menu").bounding_box()
        last = page.locator(".menu li").last.get_by_role("link")

        found = [
            each for each in await axe(page) if not each.startswith("target-size")
        ]  # of buttons that the menu covers in part
        assert found == []
        assert box["x"] >= 0 and box["x"] + box["width"] <= viewport["width"]
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await last.click(timeout=5_000)  # nothing covers it
        await expect(page.get_by_role("heading", level=1)).to_have_text("Moderation log")
