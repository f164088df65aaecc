"""What is on the screen stays in its place while a page loads."""

import asyncio

import pytest

from tests.reader.conftest import DESKTOP, PHONE, opened

MOST = 0.02  # the sum of all layout shifts, of which 0.1 still counts as good
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) shifts.push([value, sources.map(({ node }) => node?.outerHTML?.slice(0, 80))]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["front page", "article", "group", "top of the day", "log in"])
async def test_nothing_moves_while_a_page_loads(visit, scene, viewport, name):
    page = await visit(viewport=viewport)
    await page.add_init_script(OBSERVE)

    async def answer_late(route):
        await asyncio.sleep(0.5)  # so that the page is painted without its content
        await route.continue_()

    await page.route("**/graphql", answer_late)
    await opened(page, scene.path(name))
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")

    shifts = await page.evaluate("shifts")
    assert sum(value for value, _ in shifts) < MOST, shifts
