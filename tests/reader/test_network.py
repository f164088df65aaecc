"""
Slow, failing and returning networks and servers, reloads, and the history of the browser.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import asyncio
import re
from datetime import datetime, timedelta

import pytest
from playwright.async_api import Page, Request, expect

from tests.reader.conftest import Visits, opened, settled, until
from tests.reader.gateway import gateway
from tests.reader.lines import expect_votes, line, titles
from tests.reader.scene import PAGES
from tests.reader.site import PASSWORD, Member, Site
from tests.server.conftest import serving
from tests.servers import free_port

# The text of a page without ages, which grow meanwhile.
CONTENT = """() => {
  const main = document.querySelector('main').cloneNode(true);
  for (const time of main.querySelectorAll('time')) time.remove();
  return main.textContent;
}"""
LOST = "ERR_|WebSocket|status of 5"  # faults while the network is lost


@pytest.mark.parametrize("name", PAGES)
async def test_page_takes_one_request_and_is_the_same_after_a_reload(visit, scene, faults, name):
    page = await visit(scene.alice)
    asked: list[str] = []
    page.on("request", lambda request: asked.extend(operation(request)))
    await opened(page, scene.path(name))
    before = await page.evaluate(CONTENT)

    await page.reload()
    await settled(page)

    await page.wait_for_function(f"(before) => ({CONTENT})() === before", arg=before)
    assert asked == asked[:1] * 2
    faults.ignore("status of (404|410)")


def operation(request: Request) -> list[str]:
    """The name of the GraphQL operation of a request, if it is one."""
    return [request.post_data_json["operationName"]] if request.method == "POST" else []


async def test_back_and_forward_restore_the_scroll_position(visit, scene):
    page = await visit(scene.alice, viewport={"width": 800, "height": 400})
    await opened(page, "/?order=TIME")
    last = page.locator("main ol > li").last
    await last.scroll_into_view_if_needed()
    await page.wait_for_function("() => scrollY > 500")
    before = await page.evaluate("scrollY")

    await last.get_by_role("link", name=re.compile("comment|discuss")).click()
    await expect(page).to_have_url(re.compile("/article/"))
    await settled(page)
    assert await page.evaluate("scrollY") == 0
    await page.go_back()

    await expect(page).to_have_url(re.compile(r"order=TIME$"))
    await page.wait_for_function(f"() => Math.abs(scrollY - {before}) < 5")
    await page.go_forward()
    await expect(page).to_have_url(re.compile("/article/"))
    await page.wait_for_function("() => scrollY < 5")


async def test_link_is_opened_in_a_new_tab(visit, scene):
    page = await visit(scene.alice)
    await opened(page, f"/user/{scene.alice.username}")
    link = page.locator("main ol > li").last.get_by_role("link", name="comment")

    async with page.context.expect_page() as opening:
        await link.click(modifiers=["ControlOrMeta"])
    tab = await opening.value
    await settled(tab)

    await expect(tab.locator("h1")).to_have_text("Ask HN: What is on every page?")
    await expect(tab.get_by_role("link", name=scene.alice.username).first).to_be_visible()
    await expect(page).to_have_url(re.compile("/user/"))


async def test_page_arrives_over_a_slow_network_and_says_that_it_is_loading(visit, scene):
    page = await visit(scene.alice)
    session = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 20_000}
    await session.send("Network.emulateNetworkConditions", slow)

    await page.goto(scene.path("article"), wait_until="commit")

    # looks at each frame: `expect` looks once a second in the end, and the text may be there for less
    await page.wait_for_function("() => document.querySelector('.loading')?.textContent === 'Loading…'")
    await expect(page.locator("h1")).to_have_text("Ask HN: What is on every page?")


async def test_subscriptions_come_back_after_the_network_and_nothing_is_doubled(visit, site, faults):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Watched over a failing network", content="Text.")
    async with gateway(site.url) as (network, url):
        page = await visit(alice, base_url=url)
        await opened(page, site.path(article))
        await visit.subscribed(page, "commentPosted")
        for _ in range(2):
            visit.frames[page].clear()
            network.cut()
            await asyncio.sleep(0.5)
            network.restore()
            await visit.subscribed(page, "commentPosted")
        site.vote(bob, article)
        await expect(page.locator("main .count").first).to_have_text("2")
        site.comment(bob, article, "After the network came back")

        await page.get_by_role("button", name="1 new comment").click()
        await expect(page.get_by_text("After the network came back")).to_have_count(1)
        await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    faults.ignore(LOST)


async def test_lost_connection_is_tried_again_at_once_when_the_network_is_back(visit, site, faults):
    """The page's clock stands still, so no pause ends by itself."""
    article = site.post(site.member(), "Read in a tunnel", content="Text.")
    async with gateway(site.url) as (network, url):
        page = await visit(site.member(), base_url=url)
        await page.clock.install()
        await opened(page, site.path(article))
        await visit.subscribed(page, "commentPosted")
        await page.clock.pause_at(datetime.now() + timedelta(hours=1))
        visit.frames[page].clear()
        network.cut()
        await asyncio.sleep(0.5)
        network.restore()
        assert visit.frames[page] == []

        await page.evaluate("dispatchEvent(new Event('online'))")

        await visit.subscribed(page, "commentPosted")
    faults.ignore(LOST)


async def test_what_the_network_lost_is_asked_for_once_and_announced(visit, site, faults):
    alice, bob = site.member("alice"), site.member("bob")
    site.follow(alice, bob)
    article = site.post(alice, "Read on a train", content="Text.", groups=["train"])
    answer = site.comment(bob, article, "Before the tunnel")
    branch = site.comment(alice, article, "An answer", answer)
    paths = {
        site.path(article): "commentPosted",
        site.path(article, answer): "commentPosted",
        "/feed": "feedArticle",
        "/inbox": "notification",
        "/group/train": "rankingChanged",
    }
    async with gateway(site.url) as (network, url):
        pages, asked = await subscribed_tabs(visit, alice, url, paths)
        network.cut()
        site.vote(bob, article)
        site.comment(bob, article, "In the tunnel")
        site.comment(bob, article, "In the tunnel, to the answer", branch)
        site.post(bob, "Posted in the tunnel", groups=["train"])
        network.restore()

        await expect_announced(*pages)
        once = ["Missed"] * 2 + ["MissedArticles", "MissedChanges", "MissedNotifications"] + ["UnseenCount"] * 5
        assert sorted(asked) == once

        thread, below, _, inbox, _ = pages
        await thread.get_by_role("button", name="2 new comments").click()
        await expect(thread.get_by_text("In the tunnel")).to_have_count(2)
        await below.get_by_role("button", name="1 new comment").click()
        await expect(below.get_by_text("In the tunnel, to the answer")).to_be_visible()
        await inbox.get_by_role("button", name="2 new notifications").click()
        await expect(inbox.locator("ol.items > li")).to_have_count(3)
    faults.ignore(LOST)


async def test_votes_that_the_network_lost_are_shown_in_lists(visit, site, faults):
    alice, bob = site.member("alice"), site.member("bob")
    article, _ = [site.post(alice, title, groups=["tunnel"]) for title in ("Voted on meanwhile", "Newer")]
    paths = {f"/user/{alice.username}": "articlesChanged", "/group/tunnel?top=day": "articlesChanged"}
    async with gateway(site.url) as (network, url):
        (of_user, top), asked = await subscribed_tabs(visit, bob, url, paths)
        assert await titles(top) == ["Newer", "Voted on meanwhile"]
        network.cut()
        site.vote(bob, article)
        network.restore()

        await expect_votes(line(of_user, "Voted on meanwhile"), 2, "UP")
        await expect(top.locator("main ol > li h2 a")).to_have_text(["Voted on meanwhile", "Newer"])
        assert sorted(asked) == ["Group", "MissedChanges", "UnseenCount", "UnseenCount"]
    faults.ignore(LOST)


async def subscribed_tabs(
    visit: Visits, member: Member, url: str, paths: dict[str, str]
) -> tuple[list[Page], list[str]]:
    """A tab of one browser for each path, subscribed to its field, and the operations that they ask for from then."""
    first = await visit(member, base_url=url)
    pages = [first, *[await first.context.new_page() for _ in range(len(paths) - 1)]]
    asked: list[str] = []
    for page, (path, field) in zip(pages, paths.items(), strict=True):
        visit.frames[page].clear()
        page.on("request", lambda request: asked.extend(operation(request)))
        await opened(page, path)
        await visit.subscribed(page, field)
    asked.clear()
    return pages, asked


async def expect_announced(thread: Page, below: Page, feed: Page, inbox: Page, ranking: Page) -> None:
    """What came while the network was lost is announced or counted, and not pushed into any list but the ranking."""
    await expect(thread.get_by_role("button", name="2 new comments")).to_be_visible()
    await expect(thread.get_by_role("heading", name="4 comments")).to_be_visible()
    await expect_votes(thread.locator("main"), 2, "UP")
    await expect(below.get_by_role("button", name="1 new comment")).to_be_visible()
    await expect(feed.get_by_role("button", name="1 new article")).to_be_visible()
    await expect(inbox.get_by_role("button", name="2 new notifications")).to_be_visible()
    await expect(ranking.locator("main ol > li h2 a")).to_have_text(["Read on a train", "Posted in the tunnel"])
    for page in (thread, below, feed, inbox, ranking):
        await expect(page.get_by_role("link", name="Inbox 3 new")).to_be_visible()
    for page in (thread, below):
        await expect(page.get_by_text("In the tunnel")).to_have_count(0)
    assert await titles(feed) == ["Read on a train"]
    await expect(inbox.locator("ol.items > li")).to_have_count(1)


async def test_page_lives_on_when_the_server_is_restarted(visit, tmp_path, faults):
    port = free_port()
    with serving(tmp_path, port=port) as live:
        site = Site(live, tmp_path)
        alice, bob = site.member("alice"), site.member("bob")
        article = site.post(alice, "Before the restart", groups=["restart"])
        page = await visit(alice, base_url=site.url)
        await opened(page, "/group/restart")
        await visit.subscribed(page, "rankingChanged")
        visit.frames[page].clear()
    with serving(tmp_path, port=port) as live:
        site = Site(live, tmp_path)
        await visit.subscribed(page, "rankingChanged")
        site.vote(bob, article)
        await expect_votes(line(page, "Before the restart"), 2, "UP")
        site.post(bob, "After the restart", groups=["restart"])
        await expect(line(page, "After the restart")).to_be_visible()
        assert sorted(await titles(page)) == ["After the restart", "Before the restart"]
        await page.close()
    faults.ignore(LOST)


async def test_page_whose_file_failed_comes_with_the_network(page, faults):
    await opened(page, "/")
    await page.evaluate("window.isSamePage = true")
    await page.context.set_offline(True)

    await page.get_by_role("link", name="Groups").click()
    await expect(page.get_by_role("alert")).to_contain_text("This page could not be loaded.")
    await page.keyboard.press("?")
    await expect(page.get_by_text("The keys cannot be shown")).to_be_visible()
    await page.context.set_offline(False)

    await expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    await expect(page.locator("main .groups li").first).to_be_visible()
    assert await page.evaluate("window.isSamePage")
    faults.ignore(LOST)


async def test_list_that_failed_comes_with_the_network(page, faults):
    await opened(page, "/groups")
    await page.context.set_offline(True)
    await page.get_by_role("link", name="All", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("You are offline.")

    await page.context.set_offline(False)

    await expect(page.get_by_role("article")).to_have_count(30)
    await expect(page.get_by_role("alert")).to_have_count(0)
    faults.ignore(LOST)


async def test_page_whose_file_is_gone_is_opened_anew_once(page, faults):
    """After an update of the server, pages that are open ask for files of the version before."""
    asked: list[str] = []
    loads: list[Page] = []

    async def is_gone(route):
        asked.append(route.request.url)
        await route.fulfill(status=404)

    await opened(page, "/")
    page.on("load", lambda page: loads.append(page))
    await page.route("**/reader/pages-*", is_gone)
    await page.get_by_role("link", name="Groups").click()
    await until(lambda: len(loads) == 1, "the page to be opened anew")
    asked.clear()
    await until(lambda: len(asked) > 2, "other attempts")
    assert len(loads) == 1
    await page.unroute("**/reader/pages-*")

    await expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    faults.ignore("status of 404|ERR_|request failed")


async def test_subscriptions_wait_for_their_file(visit, site, faults):
    alice = site.member("alice")
    article = site.post(alice, "Watched late", content="Text with *emphasis*.")
    page = await visit()
    for name in ("socket", "RenderedMarkdown"):
        await page.route(f"**/reader/{name}-*", lambda route: route.abort())
    await page.goto(site.path(article))
    shown = page.locator("main .markdown").filter(visible=True)  # that of the server, or as it was written
    await expect(shown).to_have_text(re.compile(r"Text with \*?emphasis"))
    await faults.expect("socket-.*ERR_FAILED")
    await page.unroute_all()
    await page.evaluate("dispatchEvent(new Event('online'))")

    await expect(page.locator("main em")).to_have_text("emphasis")
    await visit.subscribed(page, "commentPosted")
    site.comment(alice, article, "Seen at once")
    await expect(page.get_by_role("button", name="1 new comment")).to_be_visible()
    faults.ignore("ERR_FAILED")


async def test_draft_survives_a_session_that_ended(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered without a session", content="Text.")
    page = await visit(bob)
    await opened(page, site.path(article))
    site.log_out(bob)

    await page.get_by_role("textbox", name="Comment").fill("A long answer")
    await page.get_by_role("button", name="Comment").click()
    await expect(page.get_by_role("status").filter(has_text="session has ended")).to_be_visible()
    await page.get_by_role("banner").get_by_role("link", name="Log in").click()
    await page.get_by_label("Name", exact=True).fill(bob.username)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.locator("main").get_by_role("button", name="Log in").click()

    await expect(page.get_by_role("textbox", name="Comment")).to_have_value("A long answer")
