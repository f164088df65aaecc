"""
The reader, the pages of the site, behind a proxy that strips a path prefix, and a site without the reader.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import re
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import expect

from tests.reader.conftest import opened, settled
from tests.reader.gateway import gateway
from tests.reader.lines import button, expect_votes, line
from tests.reader.scene import PAGES
from tests.server.conftest import serving

PREFIX = "/community"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def test_all_pages_work_behind_a_prefix(visit, site, scene, faults):
    async with gateway(site.url, PREFIX) as (proxy, url):
        page = await visit(scene.alice, base_url=url)
        for name in PAGES:
            await opened(page, scene.path(name))
            links = await page.evaluate("[...document.links].map(({ href }) => href)")
            inside = [link for link in links if urlsplit(link).netloc == urlsplit(url).netloc or site.url in link]
            assert inside, name
            assert [link for link in inside if not f"{link}/".startswith(url)] == [], name
    faults.ignore("status of (404|410)")
    assert set(proxy.outside_prefix) <= {"/favicon.ico"}  # Chromium asks for it on pages of plain text


async def test_flows_work_behind_a_prefix(visit, site):
    alice, bob, carol = site.member("alice"), site.member("bob"), site.member("carol")
    article = site.post(alice, "Behind a prefix", content="Text.", groups=["prefix"])
    async with gateway(site.url, PREFIX) as (proxy, url):
        page = await visit(base_url=url)
        await opened(page, "/group/prefix")
        await button(line(page, "Behind a prefix")).click()
        await expect(page).to_have_url(f"{url}log-in?next=%2Fgroup%2Fprefix")
        await page.get_by_label("Name", exact=True).fill(bob.username)
        await page.get_by_label("Password").fill(bob.password)
        await page.locator("main").get_by_role("button", name="Log in").click()
        await expect(page).to_have_url(f"{url}group/prefix")
        await button(line(page, "Behind a prefix")).click()
        await expect_votes(line(page, "Behind a prefix"), 2, "UP")
        await visit.subscribed(page, "rankingChanged")
        site.vote(carol, article)
        await expect_votes(line(page, "Behind a prefix"), 3, "UP")

        await line(page, "Behind a prefix").get_by_role("link", name="Behind a prefix").click()
        await expect(page).to_have_url(f"{url}{site.path(article)[1:]}")
        await page.reload()
        await settled(page)
        await expect(page.locator("h1")).to_have_text("Behind a prefix")
        await page.go_back()
        await expect(page).to_have_url(f"{url}group/prefix")
        assert await page.get_by_role("banner").get_by_role("link").first.get_attribute("href") == f"{PREFIX}/home"
        await expect(line(page, "Behind a prefix")).to_be_visible()
    assert set(proxy.outside_prefix) <= {"/favicon.ico"}  # Chromium asks for it on pages of plain text


@pytest.fixture(scope="module")
def without_reader(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("off"), reader="off", database_url="none") as live:
        yield live


async def test_site_without_the_reader_shows_the_explorer(visit, without_reader):
    page = await visit(base_url=without_reader.url)

    await page.goto(".")

    await expect(page).to_have_url(f"{without_reader.url}/explorer")
    await expect(page.locator(".graphiql-query-editor")).to_be_visible()


@pytest.mark.parametrize("path", [path for path in PAGES.values() if path != "/" and not path.startswith("/?")])
def test_site_without_the_reader_has_none_of_its_pages(without_reader, path):
    named = re.sub(r"{\w+}", "1", path)
    answer = httpx.get(f"{without_reader.url}{named}", headers=HTML)

    assert answer.status_code == 404
