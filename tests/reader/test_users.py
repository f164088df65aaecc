"""
The pages of a user, and following.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import json
import re

import pytest
from bs4 import BeautifulSoup
from playwright.async_api import Locator, Page, expect

from tests.reader.conftest import PRELOAD, opened
from tests.reader.lines import titles
from tests.reader.site import Member

PROFILE = "query($name: String!) { user(username: $name) { karma viewerIsFollowing followers { totalCount } } }"


async def test_user_page_shows_karma_articles_and_comments(page, site, scene):
    await opened(page, f"/user/{scene.alice.username}")
    karma = site.ask(PROFILE, name=scene.alice.username)["user"]["karma"]
    await expect(page.locator(".profile")).to_contain_text(f"{karma} karma")
    await expect(page.locator(".profile")).to_contain_text("Joined")
    assert len(await titles(page)) == 2

    await opened(page, f"/user/{scene.bob.username}")
    await page.get_by_role("main").get_by_role("link", name="Comments", exact=True).click()
    comments = page.get_by_role("article", name=f"Comment by {scene.bob.username}")
    await expect(comments).to_have_count(4)
    await expect(comments.first).to_contain_text("And this answers it.")
    await comments.first.get_by_role("link", name="Ask HN: What is on every page?").click()
    await expect(page).to_have_url(re.compile(r"/article/\d+/comment/\d+$"))


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "html"])
async def test_reply_has_the_beginning_of_what_it_answers(visit, site, faults, runs_scripts):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered by a reply", content="Text.")
    said = site.comment(alice, article, "I **say**\n\n- one\n- two  \nthree " + "and so on " * 50)
    lost = site.comment(alice, article, "To be deleted")
    site.comment(bob, article, "Answers what is lost", lost)
    site.comment(bob, article, "Answers it", said)
    site.comment(bob, article, "Answers the article")
    site.delete(alice, lost)
    page = await visit(java_script_enabled=runs_scripts)
    path = f"/user/{bob.username}/comments"
    await (opened(page, path) if runs_scripts else page.goto(path))
    quotes = page.locator(".items > li .answered a")

    await expect(quotes).to_have_count(2)
    text = await quotes.first.text_content()
    assert text.startswith("I say one two three and so on and") and text.endswith("…") and len(text) <= 200
    await expect(quotes.last).to_have_text("Deleted")
    await quotes.first.click()
    await expect(page).to_have_url(f"{site.url}{site.path(article, said)}")
    await page.close()
    faults.ignore(PRELOAD)


async def test_followers_and_following_are_listed(page, scene):
    await opened(page, f"/user/{scene.alice.username}")
    await page.get_by_role("link", name="2 followers").click()
    await expect(page.locator(".people .user")).to_have_text([scene.carol.username, scene.bob.username])

    await page.locator(".people .user").first.click()
    await page.get_by_role("link", name="1 following").click()

    await expect(page.locator(".people .user")).to_have_text([scene.alice.username])


async def test_follow_is_shown_at_once_and_counted(visit, site):
    star, fan = site.member("star"), site.member("fan")
    page = await visit(fan)
    await opened(page, f"/user/{star.username}")
    waiting = []
    await page.route("**/graphql", lambda route: waiting.append(route))
    follow = follow_button(page, star)
    await follow.click()
    await expect(follow).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("link", name="1 follower", exact=True)).to_be_visible()
    assert site.ask(PROFILE, by=fan, name=star.username)["user"]["viewerIsFollowing"] is False
    async with page.expect_response("**/graphql"):
        await waiting.pop().continue_()
    await page.unroute("**/graphql")
    await page.reload()
    await expect(follow).to_have_attribute("aria-pressed", "true")

    async with page.expect_response("**/graphql"):
        await follow.click()
    await expect(follow).to_have_attribute("aria-pressed", "false")
    await expect(page.get_by_role("link", name="0 followers")).to_be_visible()
    await page.reload()
    await expect(follow).to_have_attribute("aria-pressed", "false")


async def test_list_of_followers_has_a_new_one_and_loses_an_old_one(visit, site):
    star, first, fan = site.member("star"), site.member("first"), site.member("fan")
    site.follow(first, star)
    page = await visit(fan)
    await opened(page, f"/user/{star.username}/followers")
    names = page.locator(".people .user")
    await expect(names).to_have_text([first.username])

    await follow_button(page, star).click()
    await expect(names).to_have_text([fan.username, first.username])
    await follow_button(page, star).click()
    await expect(names).to_have_text([first.username])


async def test_follow_that_does_not_reach_the_server_is_taken_back(visit, site, faults):
    star, fan = site.member("star"), site.member("fan")
    page = await visit(fan)
    await opened(page, f"/user/{star.username}")
    await page.route("**/graphql", lambda route: route.abort())
    follow = follow_button(page, star)
    await follow.click()

    await expect(page.get_by_text(f"You do not follow {star.username}. The server cannot be reached.")).to_be_visible()
    await expect(follow).to_have_attribute("aria-pressed", "false")
    await expect(page.get_by_role("link", name="0 followers")).to_be_visible()
    await faults.expect("request failed|ERR_FAILED")


async def test_visitor_who_follows_is_asked_to_log_in_and_comes_back(page, scene):
    await opened(page, f"/user/{scene.alice.username}/comments")
    await follow_button(page, scene.alice).click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    await page.get_by_label("Name", exact=True).fill(scene.carol.username)
    await page.get_by_label("Password").fill(scene.carol.password)
    await page.get_by_role("main").get_by_role("button", name="Log in").click()
    await expect(page).to_have_url(re.compile(f"/user/{scene.alice.username}/comments$"))
    follow = follow_button(page, scene.alice)
    await expect(follow).to_have_attribute("aria-pressed", "true")


async def test_own_page_has_no_button_to_follow(visit, scene):
    page = await visit(scene.alice)
    await opened(page, f"/user/{scene.alice.username.upper()}")

    await expect(page.get_by_role("heading", level=1)).to_have_text(scene.alice.username)
    await expect(page.get_by_role("button", name=re.compile("Follow"))).to_have_count(0)


async def test_articles_of_a_user_have_pages(page, site):
    member = site.member("writer")
    for number in range(26):
        site.post(member, f"Number {number}")
    await opened(page, f"/user/{member.username}")
    first = await titles(page)
    await page.get_by_role("link", name="Next").click()
    await expect(page.locator("main ol > li h2 a")).to_have_text(["Number 0"])

    await page.get_by_role("link", name="Previous").click()

    await expect(page.locator("main ol > li h2 a")).to_have_text(first)
    await expect(page.get_by_role("link", name="Previous")).to_have_count(0)


async def test_absent_user_is_not_found(page, faults):
    await page.goto("/user/nobody-has-this")

    await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    faults.ignore("404")


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "html"])
async def test_name_of_deleted_users_leads_nowhere(visit, site, scene, faults, runs_scripts):
    page = await visit(java_script_enabled=runs_scripts)
    for path in (scene.path("group"), scene.path("article"), f"/article/{scene.short.partition(':')[2]}"):
        await (opened(page, path) if runs_scripts else page.goto(path))

        await expect(page.locator("main span.user", has_text="[deleted]").first).to_be_visible()
        await expect(page.get_by_role("link", name="[deleted]", exact=True)).to_have_count(0)
    await page.close()
    faults.ignore(PRELOAD)


async def test_search_engines_get_no_address_of_deleted_users(page, scene):
    read = page.context.request
    html = await (await read.get(f"/article/{scene.short.partition(':')[2]}")).text()
    posting = json.loads(BeautifulSoup(html, "html.parser").find("script", type="application/ld+json").string)

    assert posting["author"] == {"@type": "Person", "name": "[deleted]"}


def follow_button(page: Page, member: Member) -> Locator:
    return page.get_by_role("button", name=re.compile(f"Follow(ing)? {member.username}"))
