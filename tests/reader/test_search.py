"""
Search for articles, comments and users.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.reader.conftest import PRELOAD, UNDERLINED, opened, settled
from tests.reader.site import Site
from tests.server.conftest import serving


@pytest.fixture
def without_database(tmp_path) -> Iterator[Site]:
    with serving(tmp_path, database_url="none") as live:
        yield Site(live, tmp_path)


async def test_matches_are_marked_in_articles_and_comments(page, site):
    member = site.member("writer")
    article = site.post(member, "A zebrafinch <mark>sings</mark> & flies")
    site.comment(member, article, "Nobody has heard the ZEBRAFINCH, **never**.")
    site.wait_until_found("zebrafinch", 2)
    await opened(page, "/groups")
    await page.get_by_role("searchbox", name="Search").fill("zebrafinch")
    await page.get_by_role("searchbox", name="Search").press("Enter")

    await expect(page.get_by_text("2 matches.")).to_be_visible()
    await expect(page.locator("main mark")).to_have_text(["zebrafinch", "ZEBRAFINCH"])
    found = page.get_by_role("article", name="A zebrafinch <mark>sings</mark> & flies")
    await expect(found.locator("h2")).to_contain_text("A zebrafinch <mark>sings</mark> & flies")
    await found.get_by_role("button", name=re.compile("Vote down")).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "HTML"])
async def test_query_that_is_too_long_is_not_searched_for(visit, faults, has_script):
    page = await visit(java_script_enabled=has_script)
    await page.goto(f"/search?q={'a' * 600}")

    await expect(page.locator("main .empty")).to_have_text("The query is too long: it may have at most 500 characters.")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    await expect(page.get_by_text("This page needs JavaScript.")).to_have_count(0)
    await page.close()
    faults.ignore("status of 400")
    faults.ignore(PRELOAD)


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "HTML"])
async def test_title_with_more_than_one_space_is_shown_once(visit, site, faults, has_script):
    title = "Two  spaces of a pe\u0301trelbird"  # not composed, either
    site.post(site.member("writer"), title)
    site.wait_until_found("pétrelbird", 1)
    page = await visit(java_script_enabled=has_script)
    await page.goto("/search?q=pétrelbird")
    if has_script:
        await settled(page)

    found = page.locator("main .story")
    await expect(found.locator("h2 mark").first).to_have_text("pétrelbird")
    await expect(found.locator(".excerpt")).to_have_count(0)
    await page.close()
    faults.ignore(PRELOAD)


async def test_words_are_searched_for_without_scripts(visit, site, faults):
    site.post(site.member("writer"), "A hoopoebird & more")
    site.wait_until_found("hoopoebird", 1)
    page = await visit(java_script_enabled=False)
    await page.goto("/groups?lang=de")
    await page.get_by_role("searchbox", name="Suche").fill('"hoopoebird & more"')
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("article", name="A hoopoebird & more")).to_be_visible()
    await expect(page.get_by_role("searchbox", name="Suche")).to_have_value('"hoopoebird & more"')
    await page.close()
    faults.ignore(PRELOAD)


async def test_excerpts_of_contents_stand_below_the_title(page, site):
    member = site.member("writer")
    site.post(member, "Birds", content="Some sing, and the quetzalbird does not.")
    site.wait_until_found("quetzalbird", 1)
    await opened(page, "/search?q=quetzalbird")

    found = page.get_by_role("article", name="Birds")
    await expect(found.locator("h2")).to_have_text("Birds")
    await expect(found.locator(".excerpt")).to_have_text("Some sing, and the quetzalbird does not.")
    await expect(found.locator(".excerpt mark")).to_have_text("quetzalbird")


async def test_nearest_spelling_is_proposed_where_nothing_is_found(page, site):
    site.post(site.member("writer"), "The narwhalbird")
    site.wait_until_found("narwhalbird", 1)
    await opened(page, "/search?q=narhwalbird&kind=ARTICLE")

    await expect(page.get_by_role("status").filter(has_text="Nothing has")).to_contain_text("Did you mean narwhalbird?")
    await expect(page.get_by_role("link", name="narwhalbird", exact=True)).to_have_css(*UNDERLINED)
    await page.get_by_role("link", name="narwhalbird", exact=True).click()
    await expect(page.get_by_role("article", name="The narwhalbird")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"/search\?q=narwhalbird&kind=ARTICLE$"))


async def test_kinds_and_orders_are_kept_in_the_address(page, site):
    member = site.member("walrusfan")
    older = site.post(member, "The walrusfan journal")
    site.post(member, "Walrusfan again")
    site.comment(member, older, "A comment by a walrusfan.")
    site.vote(site.member("voter"), older)
    site.wait_until_found("walrusfan", 4)
    await opened(page, "/search?q=walrusfan")

    await expect(page.get_by_text("3 matches.")).to_be_visible()  # and the user apart
    await expect(page.get_by_role("region", name="Users").get_by_role("article")).to_have_count(1)
    await page.get_by_role("link", name="Users", exact=True).click()
    await expect(page.get_by_role("article", name=f"User {member.username}")).to_contain_text("karma")
    await expect(page.get_by_text("1 match.")).to_be_visible()
    await page.get_by_role("main").get_by_role("link", name="Comments", exact=True).click()
    await expect(page.get_by_role("article", name=f"Comment by {member.username}")).to_be_visible()
    await page.get_by_role("navigation", name="What to find").get_by_role("link", name="Articles").click()
    await page.get_by_role("link", name="Newest", exact=True).click()
    await expect(titles(page)).to_have_text(["Walrusfan again", "The walrusfan journal"])
    await page.get_by_role("link", name="Most votes").click()
    await expect(titles(page)).to_have_text(["The walrusfan journal", "Walrusfan again"])
    await expect(page).to_have_url(re.compile(r"\?q=walrusfan&kind=ARTICLE&order=VOTES$"))
    await page.reload()
    await expect(titles(page)).to_have_text(["The walrusfan journal", "Walrusfan again"])


async def test_first_users_stand_apart_with_a_link_to_all(page, site):
    for number in range(4):
        site.member(f"gecko{number}")
    site.wait_until_found("gecko", 4)
    await opened(page, "/search?q=gecko")

    await expect(page.get_by_text("No article and no comment has all of these words.")).to_be_visible()
    await expect(page.get_by_role("region", name="Users").get_by_role("article")).to_have_count(3)
    await page.get_by_role("link", name="All 4 users").click()
    await expect(page.get_by_text("4 matches.")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"/search\?q=gecko&kind=USER$"))


async def test_matches_have_pages(page, site):
    member = site.member("writer")
    for number in range(26):
        site.post(member, f"An okapi, number {number}")
    site.wait_until_found("okapi", 26)
    await opened(page, "/search?q=okapi&order=NEWEST")
    await expect(page.get_by_text("26 matches.")).to_be_visible()

    await page.get_by_role("link", name="Next").click()

    await expect(titles(page)).to_have_text(["An okapi, number 0"])
    await page.get_by_role("link", name="Previous").click()
    await expect(titles(page)).to_have_count(25)


async def test_search_for_nothing_and_without_matches_say_so(page):
    await opened(page, "/search")
    await expect(page.get_by_text("Type words into the search box.")).to_be_visible()
    await opened(page, "/search?q=nothinghasthisword")
    await expect(page.get_by_text("Nothing has all of these words.")).to_be_visible()


async def test_site_without_database_says_that_it_cannot_search(visit, without_database):
    page = await visit(base_url=without_database.url)
    await opened(page, "/search?q=anything")

    await expect(page.get_by_role("alert")).to_contain_text("The search is not available.")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("alert")).to_contain_text("The search is not available.")


def titles(page: Page):
    return page.locator("main ol > li h2 a")
