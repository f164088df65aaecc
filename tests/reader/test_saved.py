"""
Save in the menu of each line, the page of what is saved, and the page of all comments.

Codes such as H5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened

SAVED = "{ home { saved { nodes { id } } } }"


def more(page, name):
    """The button that opens the menu of an article or a comment."""
    return page.get_by_role("button", name=f"More: {name}", exact=True)


async def test_line_is_saved_and_taken_out_again(visit, site, axe):  # H5
    reader, writer = site.member("reader"), site.member("writer")
    article = site.post(writer, "To be read later", groups=["saving"])
    comment = site.comment(writer, article, "Worth a thought")
    page = await visit(reader)
    await opened(page, "/group/saving")
    await more(page, "To be read later").click()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("Saved: To be read later.")).to_be_visible()
    await opened(page, f"/user/{writer.username}/comments")
    await more(page, f"comment by {writer.username}").click()
    await page.get_by_role("button", name="Save", exact=True).press("Enter")
    await expect(page.get_by_text(f"Saved: comment by {writer.username}.")).to_be_visible()
    assert [each["id"] for each in site.ask(SAVED, reader)["home"]["saved"]["nodes"]] == [comment, article]

    await opened(page, f"/user/{reader.username}")
    await page.get_by_role("link", name="Saved", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Saved")
    await expect(page.get_by_role("article")).to_have_count(2)
    assert await axe(page) == []
    await page.set_viewport_size(PHONE)
    assert await axe(page) == []
    await more(page, "To be read later").click()
    await page.get_by_role("button", name="Remove from saved").click()
    await expect(page.get_by_text("Not saved any more: To be read later.")).to_be_visible()
    await opened(page, "/saved")
    await expect(page.get_by_role("article")).to_have_count(1)


async def test_visitor_is_told_to_log_in(page, site):
    site.post(site.member("writer"), "Saved by nobody", groups=["saving-nothing"])
    await opened(page, "/group/saving-nothing")
    await more(page, "Saved by nobody").click()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page).to_have_url(re.compile("/log-in"))
    await expect(page.get_by_text("Log in to save.")).to_be_visible()
    await opened(page, "/saved")
    await expect(page.get_by_text("for you alone")).to_be_visible()


async def test_comments_page_is_live(visit, page, site, axe):
    writer = site.member("writer")
    article = site.post(writer, "Much discussed", groups=["comments-page"])
    first = site.comment(writer, article, "A first remark")
    await opened(page, "/groups")
    await page.get_by_role("contentinfo").get_by_role("link", name="Comments").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Comments")
    await expect(page.get_by_role("article").first).to_contain_text("A first remark")
    assert await axe(page) == []

    await opened(page, "/comments?group=comments-page")
    await visit.subscribed(page, "commentPosted")
    await expect(page.get_by_role("article")).to_have_count(1)
    site.comment(writer, article, "A second remark", first)
    await page.get_by_role("button", name="1 new comment").click()
    await expect(page.get_by_role("article")).to_have_count(2)
    await expect(page.get_by_role("article").first).to_contain_text("A second remark")
    await page.get_by_role("article").first.get_by_role("link", name="Much discussed").click()
    await expect(page).to_have_url(re.compile("/article/[0-9]+/comment/[0-9]+"))
