"""How pages ask for their data: in one request, and again if it has failed."""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import opened, settled

PAGES = [
    "front page",
    "top of the day",
    "groups",
    "group",
    "user",
    "comments of a user",
    "search",
    "feed",
    "inbox",
    "post",
]


@pytest.mark.parametrize("name", [*PAGES, "article", "branch"])
async def test_page_takes_one_request(visit, scene, name):
    page = await visit(scene.alice)
    requests = []
    page.on("request", lambda request: request.url.endswith("/graphql") and requests.append(request.post_data))
    await opened(page, scene.path(name))
    await page.wait_for_load_state("networkidle")

    assert len(requests) == 1, requests


@pytest.mark.parametrize("name", ["groups", "group", "user", "search", "feed", "inbox"])
async def test_page_can_be_asked_for_again(visit, scene, faults, name):
    page = await visit(scene.alice)
    await page.route("**/graphql", lambda route: route.abort(), times=1)
    await page.goto(scene.path(name))
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    await page.get_by_role("button", name="Try again").click()

    await settled(page)
    await expect(page.locator("main [data-item]").first).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await faults.expect("request failed|ERR_FAILED")
