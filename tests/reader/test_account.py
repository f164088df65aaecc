"""
What the settings of a member have beside profile, password and mail: their data, and the way out.

Codes such as U6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import json
import re
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.async_api import Locator, Page, expect

from tests.reader.conftest import PHONE, log_in, opened
from tests.reader.site import PASSWORD, Member, Site
from tests.server.conftest import serving

LIGHT, DARK = "rgb(251, 250, 247)", "rgb(22, 21, 19)"  # the background


def leaving(page: Page) -> Locator:
    """The part of the settings in which members delete their accounts."""
    return page.get_by_role("region", name="Delete the account")


async def test_member_downloads_what_is_kept_about_them_once_an_hour(browser, tmp_path):  # U7
    with serving(tmp_path / "data", rate_limits="on") as live:
        member = Site(live, tmp_path).member()
        context = await browser.new_context(base_url=f"{live.url}/")
        page = await context.new_page()
        await log_in(page, member)
        await downloaded(page, member, tmp_path / "export.zip")

        await page.get_by_role("button", name="Download my data").click()
        await expect(page.get_by_text(re.compile("Too many requests. Try again at"))).to_be_visible()
        await context.close()


async def test_site_without_mail_asks_for_no_address_to_send_a_link_to(browser, tmp_path):
    with serving(tmp_path) as live:
        page = await browser.new_page(base_url=f"{live.url}/")
        await opened(page, "/forgot")
        await expect(page.get_by_text("This site sends no mail.")).to_be_visible()
        await expect(page.get_by_role("main").locator("input, form")).to_have_count(0)
        await page.close()


async def downloaded(page: Page, member: Member, file: Path) -> None:
    """Download the export of the member into a file, and look into it."""
    await opened(page, "/settings")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download my data").click()
    await expect(page.get_by_text("Your data is downloaded.")).to_be_visible()
    await (await download.value).save_as(file)
    assert (await download.value).suggested_filename == f"upvote-{member.username}.zip"
    with ZipFile(file) as archive:
        assert json.loads(archive.read("account.jsonl"))["username"] == member.username


@pytest.mark.parametrize("texts", ["They stay, without my name", "They are deleted, too"])
async def test_member_leaves_by_the_keyboard(visit, site, texts):  # U6
    member = site.member("leaver")
    article = site.post(member, "What is left")
    page = await visit(member)
    await opened(page, "/settings")
    tab = await page.context.new_page()
    await opened(tab, "/settings")
    password = leaving(page).get_by_label("Password")
    await leaving(page).get_by_label("My articles and comments").select_option(texts)
    await password.fill("wrong horse")
    await password.press("Enter")
    dialog = page.get_by_role("dialog", name="Delete your account?")
    await dialog.get_by_role("button", name="Delete my account").press("Enter")
    await expect(password).to_have_accessible_description(re.compile("not your current password"))
    assert site.ask("{ viewer { id } }", member)["viewer"]

    await password.fill(PASSWORD)
    await password.press("Enter")
    await expect(dialog).to_have_accessible_description(re.compile("cannot be undone"))
    await page.keyboard.press("Escape")
    await expect(password).to_be_focused()
    await password.press("Enter")
    await dialog.get_by_role("button", name="Delete my account").press("Enter")
    await expect(page.get_by_text("Your account is deleted.")).to_be_visible()

    await expect(page).to_have_url(re.compile(r":\d+/$"))
    await expect(tab.get_by_role("link", name="Log in").first).to_be_visible()
    assert await page.context.cookies() == []
    found = site.ask("query($id: ID!) { article(id: $id) { poster { username } } }", id=article)["article"]
    assert found == (None if texts == "They are deleted, too" else {"poster": {"username": "[deleted]"}})


async def test_theme_is_light_or_dark_or_that_of_the_system(visit, site):
    page = await visit(site.member())
    await opened(page, "/settings")
    themes = page.get_by_role("group", name="Theme")
    await expect(themes.get_by_label("As the system")).to_be_checked()

    for theme, colors in (("Light", (LIGHT, LIGHT)), ("Dark", (DARK, DARK)), ("As the system", (LIGHT, DARK))):
        await themes.get_by_label(theme).check()
        await page.reload()
        await expect(themes.get_by_label(theme)).to_be_checked()
        for system, color in zip(("light", "dark"), colors, strict=True):
            await page.emulate_media(color_scheme=system)
            await expect(page.locator("html")).to_have_css("background-color", color)

    await page.get_by_role("button", name="Use the light theme").click()
    await expect(themes.get_by_label("Light")).to_be_checked()


@pytest.mark.parametrize("viewport", [None, PHONE])
async def test_settings_and_the_question_are_accessible(visit, site, axe, viewport):
    page = await visit(site.member(), reduced_motion="reduce", **({"viewport": viewport} if viewport else {}))
    await opened(page, "/settings")
    await expect(leaving(page)).to_be_visible()
    assert await axe(page) == []
    await leaving(page).get_by_role("button", name="Delete the account").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert await axe(page) == []
