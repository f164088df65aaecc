"""Logging in at an issuer: the reader leads there, and goes on with the session in the cookie."""

import asyncio
import re

import httpx
from playwright.async_api import expect

from tests.server.conftest import serving
from tests.server.issuers import issuing, provider
from tests.server.issuers.provider import Users


async def test_front_door_leads_back_to_where_it_was_asked_for(browser, tmp_path):
    async with provider.running() as asked:
        Users(asked)
        file = issuing.written(tmp_path, asked.table(client_id="door"))
        with serving(tmp_path / "data", issuers=file, login_url="https://own.example/enter") as live:
            async with httpx.AsyncClient() as http, asyncio.timeout(20):
                while (await http.get(f"{live.url}/log-in/site")).status_code != 303:  # noqa: ASYNC110 - keys are fetched
                    await asyncio.sleep(0.1)
            context = await browser.new_context(base_url=f"{live.url}/")
            page = await context.new_page()

            await page.goto("log-in?next=/groups")
            own = page.get_by_role("link", name="Log in at own.example")
            await expect(own).to_have_attribute("href", "https://own.example/enter")
            await page.get_by_role("link", name="Log in with site").click()

            await expect(page).to_have_url(re.compile("/groups$"))
            await expect(page.get_by_text("You are logged in as Ada.")).to_be_visible()
            await page.reload()
            await expect(page.get_by_role("button", name="Log out", exact=True)).to_be_visible()
            assert "eyJ" not in await page.evaluate("document.cookie + JSON.stringify([localStorage, sessionStorage])")
            await context.close()
