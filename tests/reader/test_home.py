"""Home: the viewer's own front page, and what they choose for it."""

import re

from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened
from tests.reader.lines import line, titles

LOST = "ERR_INTERNET_DISCONNECTED|request failed|WebSocket"
FOLLOW_GROUP = "mutation($group: String!) { followGroup(input: {group: $group}) { changed userErrors { message } } }"


def follow_group(site, member, group):
    site.ask(FOLLOW_GROUP, member, group=group)


async def test_name_of_the_site_leads_members_home_and_all_to_the_site(visit, page, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Of a followed group", groups=["home-followed"])
    site.post(writer, "Of another group", groups=["home-another"])
    follow_group(site, member, "home-followed")
    own = await visit(member)
    await opened(own, "/groups")

    await own.locator("header .site").click()
    await expect(own).to_have_url(f"{site.url}/home")
    await expect(own.get_by_role("link", name="1 group that you follow")).to_be_visible()
    assert await titles(own) == ["Of a followed group"]

    await own.get_by_role("link", name="All", exact=True).click()
    await expect(own).to_have_url(f"{site.url}/")
    await expect(own.get_by_role("article")).to_have_count(30)
    await opened(page, "/groups")
    await page.locator("header .site").click()
    await expect(page).to_have_url(f"{site.url}/")


async def test_home_has_orders_periods_and_pages(visit, site):
    member, writer = site.member("reader"), site.member("writer")
    posted = [site.post(writer, f"Number {number}", groups=["home-paged"]) for number in range(31)]
    follow_group(site, member, "home-paged")
    site.vote(member, posted[0])
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    first = await titles(page)
    assert first == [f"Number {number}" for number in range(30, 0, -1)]

    await page.keyboard.press("n")
    await expect(page.get_by_role("article")).to_have_count(1)
    assert await titles(page) == ["Number 0"]
    await page.keyboard.press("p")
    await expect(page.get_by_role("article")).to_have_count(30)
    assert await titles(page) == first
    await page.get_by_role("link", name="Votes", exact=True).click()
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Number 0")
    await page.get_by_role("link", name="Top of the day").click()
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Number 0")
    await page.get_by_role("link", name="Next").click()
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(page).to_have_url(re.compile("top=day"))


async def test_home_without_groups_is_the_whole_site(visit, site, page):
    member = site.member("reader")
    own = await visit(member)
    await opened(own, "/home")
    await expect(own.get_by_text("You follow no groups yet")).to_be_visible()
    await expect(own.get_by_role("article")).to_have_count(30)
    await opened(page, "/home")
    await expect(page.get_by_role("main").get_by_role("link", name="Log in")).to_be_visible()


async def test_home_is_live(visit, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "There before", groups=["home-live"])
    follow_group(site, member, "home-live")
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    await visit.subscribed(page, "articlePosted")
    await visit.subscribed(page, "articlesChanged")

    site.post(writer, "Of another group", groups=["home-live-not"])
    posted = site.post(writer, "Come since", groups=["home-live"])
    await expect(page.locator("main ol > li h2 a")).to_have_text(["Come since", "There before"])
    await visit.subscribed(page, posted)
    site.vote(member, posted)
    await expect(page.locator("main .count").first).to_have_text("2")


async def test_article_is_hidden_by_its_menu_and_comes_back(visit, site, axe):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Kept", groups=["home-hiding"])
    site.post(writer, "Unwanted", groups=["home-hiding"])
    follow_group(site, member, "home-hiding")
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    await hide(page, "Unwanted")
    await expect(line(page, "Hidden: Unwanted")).to_be_visible()
    await expect(page.get_by_role("button", name="Undo: hide Unwanted")).to_be_focused()
    assert hidden(site, member) == ["Unwanted"]
    assert await axe(page) == []

    await page.keyboard.press("Enter")
    await expect(line(page, "Unwanted")).to_be_focused()
    await expect(page.get_by_text("Not hidden any more: Unwanted.")).to_be_visible()
    assert hidden(site, member) == []

    await hide(page, "Unwanted")
    await opened(page, "/home?order=TIME")
    assert await titles(page) == ["Kept"]
    assert await page.get_by_role("article").count() == 1


async def test_what_is_hidden_in_a_shared_list_can_be_undone_in_the_status_line(visit, site):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Seen enough", groups=["home-shared"])
    page = await visit(member)
    await opened(page, "/group/home-shared")
    await hide(page, "Seen enough")
    await expect(page.get_by_text("Hidden from your home and feed: Seen enough.")).to_be_visible()
    await expect(line(page, "Seen enough")).to_be_visible()
    assert hidden(site, member) == ["Seen enough"]

    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(page.get_by_text("Not hidden any more: Seen enough.")).to_be_visible()
    assert hidden(site, member) == []


async def test_hidden_page_lists_what_is_hidden_and_takes_it_out(visit, page, site, axe):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Once hidden", groups=["home-hidden"])
    own = await visit(member, viewport=PHONE | {"width": 320})
    await opened(own, "/group/home-hidden")
    await hide(own, "Once hidden")
    await expect(own.get_by_text("Hidden from your home and feed: Once hidden.")).to_be_visible()
    await opened(own, f"/user/{member.username}")
    await own.get_by_role("link", name="Hidden", exact=True).click()
    await expect(own.get_by_role("heading", level=1)).to_have_text("Hidden")
    assert await axe(own) == []
    assert await own.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await own.get_by_role("button", name="Do not hide: Once hidden").press("Enter")
    await expect(own.get_by_role("button", name="Hide again: Once hidden")).to_be_focused()
    assert hidden(site, member) == []
    await opened(own, "/hidden")
    await expect(own.get_by_text("Nothing is hidden.")).to_be_visible()
    await opened(page, "/hidden")
    await expect(page.get_by_text("for you alone")).to_be_visible()


async def test_hiding_without_the_network_says_so(visit, site, faults):
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Hidden offline", groups=["home-offline"])
    page = await visit(member)
    await opened(page, "/group/home-offline")
    await page.get_by_role("button", name="More: Hidden offline", exact=True).click()
    await expect(page.get_by_role("button", name="Hide", exact=True)).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Hide", exact=True).click()

    await expect(page.get_by_text("Not hidden: Hidden offline. You are offline.")).to_be_visible()
    assert hidden(site, member) == []
    await page.context.set_offline(False)
    faults.ignore(LOST)


async def hide(page, title):
    """By the keyboard: the menu of a line, then Hide."""
    await line(page, title).focus()
    await page.keyboard.press("m")
    await page.get_by_role("button", name="Hide", exact=True).press("Enter")


def hidden(site, member):
    found = site.ask("{ home { hidden { nodes { title } } } }", member)
    return [each["title"] for each in found["home"]["hidden"]["nodes"]]
