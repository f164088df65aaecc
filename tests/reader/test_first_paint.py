"""
The HTML in which the server sends the front page, which is shown until the script of the page has its data.

All pages are of `site`, which has a sample of 60 articles, two pages of them. `scene` is a conversation between members
that puts something on every page. A fault of a page, such as an error in its console, fails a test unless `faults`
expects or ignores it.
"""

import pytest
from playwright.async_api import expect

from tests.reader.conftest import DESKTOP, GRAPHQL, PHONE, PRELOAD, opened_without_data
from tests.reader.gateway import gateway

TABLET = {"width": 800, "height": 1000}
# What is in the page and where: the parts of each line, the lists, the pager and the site's links. Each age is replaced
# by the same words, as one of thirty may have changed since the page was made; `datetime` is compared.
PARTS = """() => {
  document.querySelectorAll('main .line time').forEach((time) => (time.textContent = 'an age'));
  return [...document.querySelectorAll('header .site, header nav a, main nav a, main .line *')]
  .filter((each) => each.tagName !== 'path')
  .map((each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    const box = [x, y + scrollY, width, height].map(Math.round).join(' ');
    const address = each.matches('.site') ? '' : each.href ?? each.dateTime ?? ''; // the site's name leads members home
    return `${each.tagName} ${address} ${each.children.length ? '' : each.textContent} ${box}`;
  });
}"""


def enabled(page):
    """The buttons of votes that can be pressed: none in the HTML of the server, three an article in the script's."""
    return page.locator("main .votes button:enabled")


@pytest.mark.parametrize("viewport", [DESKTOP, TABLET, PHONE], ids=["desktop", "tablet", "phone"])
@pytest.mark.parametrize("path", ["/", "/?order=TIME", "/?order=VOTES&page=2"])
async def test_nothing_moves_when_the_script_takes_over(visit, scene, path, viewport):
    page = await visit(scene.alice, viewport=viewport)

    send_data = await opened_without_data(page, path)
    await expect(enabled(page)).to_have_count(0)
    before = await page.evaluate(PARTS)
    await send_data()
    await expect(enabled(page)).to_have_count(90)

    assert len(before) > 300
    assert await page.evaluate(PARTS) == before


async def test_front_page_is_read_without_scripts(visit, site, faults):
    page = await visit(java_script_enabled=False)
    await page.goto("/?order=TIME")

    await expect(page.get_by_role("heading", level=1)).to_have_text("New articles")
    await expect(page.get_by_role("button", name="Vote up")).to_have_count(0)  # they would do nothing
    await expect(page.locator("noscript p")).to_be_visible()
    await page.get_by_role("link", name="Next").click()
    await expect(page.locator("main .line").first).to_have_attribute("data-rank", "31")
    name = await page.locator("main .user").first.text_content()
    await page.locator("main .user").first.click()
    await expect(page).to_have_url(f"{site.url}/user/{name}")
    await page.close()
    faults.ignore(PRELOAD)


async def test_links_of_the_html_stay_below_a_prefix(visit, site):
    async with gateway(site.url, "/news") as (proxy, url):
        page = await visit(base_url=url)
        await page.route(GRAPHQL, lambda route: None)
        await page.goto("./?order=SCORE")
        links = await page.evaluate(
            "() => [...document.querySelectorAll('#root a:not([rel~=ugc])')].map((a) => a.href)"
        )
        await page.close()  # before the gateway, as it may be loading a picture

    assert len(links) > 60
    assert [link for link in links if not link.startswith(url)] == []
    assert proxy.outside_prefix == []


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_html_has_no_fault_of_accessibility(visit, scene, axe, theme):
    page = await visit(theme=theme)
    await page.route(GRAPHQL, lambda route: None)
    await page.goto("/?order=TIME")

    assert await axe(page) == []
    await expect(enabled(page)).to_have_count(0)


async def test_html_stays_while_the_server_does_not_answer(page):
    await page.route(GRAPHQL, lambda route: None)
    await page.goto("/")
    await page.wait_for_timeout(500)

    await expect(page.get_by_role("article")).to_have_count(30)
    await page.get_by_role("link", name="New", exact=True).click()
    await expect(page).to_have_title("New articles · Upvote")
