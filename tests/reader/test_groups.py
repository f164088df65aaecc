"""
The list of groups, and the pages of a group.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import re

import pytest
from playwright.async_api import expect

from tests.reader.conftest import html_replaced, opened, opened_without_data, settled
from tests.reader.lines import expect_votes, line, titles

GO = "(path) => history.pushState(null, '', path)"  # the script follows it, as it does a link
FOLLOW_GROUP = 'mutation { followGroup(input: {group: "emptied"}) { changed userErrors { message } } }'
REGROUP = "mutation($input: RegroupArticleInput!) { regroupArticle(input: $input) { userErrors { message } } }"


async def test_groups_are_listed_by_name_and_lead_to_their_articles(page, scene):
    await opened(page, "/groups")
    names = await page.locator(".groups .group").all_text_contents()
    assert names == sorted(names)
    assert {"ask", "scene", "show"} <= set(names)

    await page.get_by_role("main").get_by_role("link", name="scene").click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("scene")
    await expect(page.locator("main ol > li h2 a")).to_have_count(4)


async def test_groups_are_opened_by_keys(page, scene):
    await opened(page, "/groups")
    second = await page.locator(".groups .group").nth(1).text_content()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.locator("[data-keyboard-item]:focus")).to_contain_text(second)
    await page.keyboard.press("o")

    await expect(page.get_by_role("heading", level=1)).to_have_text(second)


async def test_each_order_of_a_group_is_that_of_the_server(page, site, scene):
    await opened(page, "/group/ask")
    query = 'query($order: ArticleOrder) { group(name: "ask") { articles(order: $order) { nodes { title } } } }'
    for order, name in {"TIME": "New", "VOTES": "Votes", "BEST": "Best", "SCORE": "Score"}.items():
        orders = page.get_by_role("navigation", name="Orders")
        if name in ("Votes", "Score"):
            await orders.locator("summary").click()
        await orders.get_by_role("link", name=re.compile(f"^{name}")).click()
        wanted = [each["title"] for each in site.ask(query, order=order)["group"]["articles"]["nodes"]]

        await expect(page.locator("main ol > li h2 a")).to_have_text(wanted)


async def test_top_of_a_period_has_only_what_was_posted_in_it(page, site):
    member = site.member("poster")
    site.post(member, "Posted today", groups=["periods"])
    await opened(page, "/group/periods")
    for name in ("Top of the day", "Top of the week", "Top of the month"):
        await page.get_by_role("link", name=name, exact=True).click()

        await expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
        await expect(page.locator("main ol > li h2 a")).to_have_text(["Posted today"])


async def test_pages_of_a_group_follow_each_other(page, site):
    member = site.member("poster")
    for number in range(31):
        site.post(member, f"Number {number}", groups=["paged"])
    await opened(page, "/group/paged?order=TIME")
    first = await titles(page)
    await page.get_by_role("link", name="Next").click()

    await expect(page.locator("main ol > li h2 a")).to_have_text(["Number 0"])
    await expect(page.get_by_role("article")).to_have_attribute("data-rank", "31")
    await expect(page.get_by_role("heading", level=1)).to_have_text("paged, page 2")
    await page.go_back()
    await expect(page.locator("main ol > li h2 a")).to_have_text(first)


async def test_ranking_of_a_group_is_live(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    older, _ = [site.post(alice, f"{title} of the live group", groups=["live"]) for title in ("First", "Second")]
    page = await visit()
    await opened(page, "/group/live")
    await visit.subscribed(page, "rankingChanged")
    assert await titles(page) == ["Second of the live group", "First of the live group"]

    site.vote(bob, older)

    await expect(page.locator("main ol > li h2 a")).to_have_text(
        ["First of the live group", "Second of the live group"]
    )
    await expect_votes(line(page, "First of the live group"), 2)


@pytest.mark.parametrize("path", ["/group/", "/comments?group="])
async def test_absent_group_is_not_found_and_its_first_article_makes_it(visit, site, faults, path):
    page, name = await visit(site.member()), f"new-{path[1]}"
    send_data = await opened_without_data(page, f"{path}{name}")
    html = await page.locator("#root main").inner_text()
    await send_data()
    await settled(page)

    await expect(page).to_have_title("Not found · Upvote")
    assert await page.locator("#root main").inner_text() == html
    assert f"The group {name} begins with its first article: post one." in html
    await page.get_by_role("link", name="post one").click()
    await page.get_by_label("Title").fill("The first one")
    await page.get_by_label("Link").fill(f"https://example.com/{name}")
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("The first one")
    await opened(page, f"{path}{name}")
    await expect(page.get_by_role("heading", level=1)).not_to_have_text("Not found")
    faults.ignore("status of 404")


async def test_group_with_a_reserved_name_is_not_offered(visit, site, faults):
    page = await visit(site.member())
    send_data = await opened_without_data(page, "/group/ad-min")
    html = await page.locator("#root main").inner_text()
    await send_data()
    await settled(page)

    assert await page.locator("#root main").inner_text() == html
    await expect(page.get_by_role("link", name="post one")).to_have_count(0)
    await opened(page, "/comments")
    for name, offers in (("Admin", 0), ("administration", 1)):  # the script alone makes these pages
        await page.evaluate(GO, f"/group/{name}")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        await expect(page.get_by_role("link", name="post one")).to_have_count(offers)
    faults.ignore("status of 404")


async def test_page_of_a_followed_group_stays_when_it_has_no_articles_any_more(visit, site, faults):
    member = site.member()
    article = site.post(member, "The only one", groups=["emptied"])
    site.ask(FOLLOW_GROUP, member)
    site.ask(REGROUP, member, input={"articleId": article, "remove": ["emptied"]})
    page = await visit(member)
    await opened(page, "/group/emptied")

    await expect(page.get_by_text("There are no articles here yet.")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("follow", re.IGNORECASE))).to_be_visible()
    faults.ignore("status of 404")


async def test_name_that_no_group_can_have_is_told(page, faults):
    await opened(page, "/group/a%20b!")
    await expect(page.get_by_text("No group can have this name.")).to_be_visible()
    faults.ignore("status of 404")


async def test_comments_of_a_group_that_does_not_exist_are_not_found(page, faults):
    for name in ("nobody-posts-here", "a%20b!"):
        await opened(page, f"/comments?group={name}")
        await html_replaced(page)

        await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        await expect(page).to_have_title("Not found · Upvote")
    faults.ignore("status of 404")


async def test_group_is_found_in_any_case_of_letters(page, scene):
    await opened(page, "/group/SCENE")

    await expect(page.get_by_role("heading", level=1)).to_have_text("scene")
    await expect(page).to_have_title(re.compile("scene"))


async def test_moderator_writes_about_a_group_and_all_read_it(visit, site, axe):
    moderator, reader = site.member(), site.member()
    site.post(reader, "In a place", groups=["place"])
    site.moderate(moderator, "place")
    page = await visit(moderator)
    await opened(page, "/group/place")
    await page.get_by_role("button", name="Edit the group").click()
    await page.get_by_label("Title").fill("A place of its own")
    await page.get_by_label("What belongs here").fill("Only *places*.")
    assert await axe(page) == []
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("A place of its own")
    await expect(page.locator(".about em")).to_have_text("places")
    await expect(page.get_by_role("button", name="Edit the group")).to_be_focused()

    other = await visit(reader)
    await opened(other, "/group/place")
    await expect(other.get_by_role("heading", level=1)).to_have_text("A place of its own")
    await expect(other.locator(".about em")).to_have_text("places")
    await expect(other.get_by_role("button", name="Edit the group")).to_have_count(0)
    assert await axe(other) == []


async def test_text_of_a_group_that_is_refused_is_kept(visit, site):
    moderator = site.member()
    site.post(moderator, "In a group", groups=["refusing"])
    site.moderate(moderator, "refusing")
    page = await visit(moderator)
    await opened(page, "/group/refusing")
    await page.get_by_role("button", name="Edit the group").click()
    await page.get_by_label("Title").fill("a\u202eb")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_label("Title")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_label("Title")).to_be_focused()
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_label("Title")).to_have_count(0)
    await expect(page.get_by_role("heading", level=1)).to_have_text("refusing")
