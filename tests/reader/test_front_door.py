"""
The front door: users log in at an issuer, an identity provider. The reader, the pages of the site, leads there, and
goes on with their session.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Route, expect

from tests.reader.conftest import PHONE, opened
from tests.server.conftest import Live, serving
from tests.server.issuers import issuing, provider
from tests.server.issuers.provider import Users


@asynccontextmanager
async def front_door(folder: Path, **settings: object) -> AsyncIterator[Live]:
    """A server with an issuer at which every browser logs in as Ada."""
    async with provider.running() as issuer:
        Users(issuer)  # its pages, which log in everybody
        file = issuing.written(folder, issuer.table(client_id="door"))
        with serving(folder / "data", issuers=file, **settings) as live:
            async with httpx.AsyncClient() as http, asyncio.timeout(20):
                # 303 leads to the issuer.
                while (await http.get(f"{live.url}/log-in/site")).status_code != 303:  # noqa: ASYNC110 - keys are fetched
                    await asyncio.sleep(0.1)
            yield live


async def test_front_door_leads_back_to_where_it_was_asked_for(browser, tmp_path):
    async with front_door(tmp_path, login_url="https://own.example/enter") as live:
        context = await browser.new_context(base_url=f"{live.url}/")
        page = await context.new_page()

        await page.goto("log-in?next=/groups")
        own = page.get_by_role("link", name="Log in at own.example")
        await expect(own).to_have_attribute("href", "https://own.example/enter")
        await page.get_by_role("link", name="Log in with site").click()

        await expect(page).to_have_url(re.compile("/groups$"))
        await expect(page.get_by_text("You are logged in as Ada.")).to_be_visible()
        await page.reload()
        await expect(page.locator(".account-menu")).to_be_visible()
        assert "eyJ" not in await page.evaluate("document.cookie + JSON.stringify([localStorage, sessionStorage])")
        await context.close()


async def test_own_page_to_log_in_leads_back_to_where_it_was_asked_for(browser, tmp_path):
    """That page knows one address of the reader only, `/log-in?entered=1`, which the documentation names."""
    async with front_door(tmp_path, login_url="https://own.example/enter", registration="closed") as live:
        context = await browser.new_context(base_url=f"{live.url}/")
        page = await context.new_page()

        async def own_page(route: Route) -> None:
            await route.fulfill(status=302, headers={"Location": f"{live.url}/log-in/site?next=/log-in?entered=1"})

        await context.route("https://own.example/**", own_page)
        await page.goto("register?next=/groups")
        await expect(page.get_by_text("Nobody can register on this site.")).to_be_visible()
        await page.get_by_role("link", name="Log in at own.example").click()

        await expect(page).to_have_url(re.compile("/groups$"))
        await expect(page.get_by_text("You are logged in as Ada.")).to_be_visible()
        await context.close()


@pytest.mark.parametrize("viewport", [None, PHONE])
async def test_site_without_passwords_leads_to_the_front_door_and_asks_for_none(browser, axe, tmp_path, viewport):
    async with front_door(tmp_path, passwords="off") as live:
        context = await browser.new_context(base_url=f"{live.url}/", viewport=viewport, reduced_motion="reduce")
        page = await context.new_page()
        for path in ("/register", "/forgot", "/reset", f"/reset#{'x' * 46}", "/log-in"):
            await opened(page, path)
            await expect(page.get_by_role("link", name="Log in with site")).to_be_visible()
            await expect(page.get_by_role("main").locator("input, form")).to_have_count(0)
            assert await axe(page) == []
        await opened(page, "/settings")
        await expect(page.get_by_role("link", name="Register")).to_have_count(0)
        await page.get_by_role("main").get_by_role("link", name="Log in").press("Enter")
        await page.get_by_role("link", name="Log in with site").press("Enter")
        await expect(page).to_have_url(re.compile("/settings$"))

        leaving = page.get_by_role("region", name="Delete the account")
        await expect(leaving).to_be_visible()
        await expect(page.locator("input[type=password]")).to_have_count(0)
        await leaving.get_by_role("button", name="Delete the account").press("Enter")
        await page.get_by_role("button", name="Delete my account").press("Enter")
        await expect(page.get_by_text("Your account is deleted.")).to_be_visible()
        assert [each for each in await context.cookies() if each["value"]] == []
        await context.close()


async def test_log_in_that_fails_leads_back_to_the_page_to_log_in(browser, axe, tmp_path):
    async with front_door(tmp_path) as live:
        page = await browser.new_page(base_url=f"{live.url}/")
        await opened(page, "/log-in/site/done?code=x&state=of-another-browser")

        await expect(page).to_have_url(re.compile("/log-in\\?failed=ended$"))
        await expect(page.get_by_text("has begun in another browser. Please begin again.")).to_be_visible()
        await expect(page.get_by_role("link", name="Log in with site")).to_be_visible()
        assert await axe(page) == []
        await page.close()


async def test_site_without_any_way_to_log_in_says_so(browser, tmp_path):
    with serving(tmp_path, passwords="off") as live:
        page = await browser.new_page(base_url=f"{live.url}/")
        await opened(page, "/log-in")
        await expect(page.get_by_text("Nobody can log in on these pages.")).to_be_visible()
        await expect(page.get_by_role("main").locator("input, form")).to_have_count(0)
        await page.close()
