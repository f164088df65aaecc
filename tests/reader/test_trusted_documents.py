"""
The reader, the pages of the site, on a server that executes trusted documents only: queries that it knows beforehand.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import opened, until
from tests.reader.lines import button, expect_votes
from tests.reader.scene import PAGES, create_scene
from tests.reader.site import serving_sample
from tests.server.conftest import serving

FOREIGN = {"query": "{ viewer { id } }"}


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """The scene, and a server of its data that executes trusted documents only."""
    folder = tmp_path_factory.mktemp("limited")
    with serving_sample(folder) as open_to_all:
        scene = create_scene(open_to_all)
    with serving(folder, only_trusted="on") as live:
        yield scene, live


async def test_pages_send_trusted_documents_only(visit, limited, faults):
    scene, live = limited
    page = await visit(scene.carol, base_url=live.url)
    received: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame))))
    for name in PAGES:
        await opened(page, scene.path(name))
        faults.ignore("status of (404|410)")
    await opened(page, scene.path("article"))
    await visit.subscribed(page, "commentPosted")
    await button(page.locator("main")).click()
    await expect_votes(page.locator("main"), 3, "UP")
    await page.get_by_role("textbox", name="Comment").fill("By a trusted mutation")
    await page.get_by_role("button", name="Comment", exact=True).click()

    await expect(page.get_by_role("article").get_by_text("By a trusted mutation")).to_be_visible()
    await until(lambda: any("connection_ack" in frame for frame in received), "a WebSocket")
    assert [frame for frame in received if '"error"' in frame] == []
    refused = live.post(FOREIGN)
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (403, "QUERY_NOT_IN_SAFELIST")
