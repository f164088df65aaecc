"""
Pages whose request for their data has failed. test_network.py counts the requests of each page.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import settled


@pytest.mark.parametrize("name", ["groups", "group", "user", "search", "feed", "inbox"])
async def test_page_can_be_asked_for_again(visit, scene, faults, name):
    page = await visit(scene.alice)
    await page.route("**/graphql", lambda route: route.abort(), times=1)
    await page.goto(scene.path(name))
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    await page.get_by_role("button", name="Try again").click()

    await settled(page)
    await expect(page.locator("main [data-keyboard-item]").first).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await faults.expect("request failed|ERR_FAILED")
