"""Comments that are new since the last visit of an article: their mark, the way from one to the next, and lists."""

import json
import re

from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened
from tests.reader.lines import line


async def test_comments_since_the_last_visit_are_marked_and_reached_by_a_key(visit, site, axe):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Visited twice", content="text")
    first = site.comment(bob, article, "read before")
    page = await visit(alice)
    await opened(page, site.path(article))
    await expect(page.locator(".comment")).to_have_count(1)
    await expect(page.locator("[data-new]")).to_have_count(0)

    await opened(page, f"/user/{alice.username}")
    site.comment(bob, article, "a new answer", first)
    site.comment(bob, article, "a new comment")
    site.comment(alice, article, "one's own")
    await opened(page, site.path(article) + "?order=OLDEST")

    marked = page.locator("[data-new]")
    await expect(marked).to_have_count(2)
    await expect(marked.locator(".badge", has_text="new")).to_have_count(2)
    since = page.locator(".since-visit")
    await expect(since).to_contain_text("2 comments since your last visit")
    await expect(since.get_by_role("button", name="Next")).to_have_css("border-top-width", "1px")  # it looks like one
    assert await axe(page) == []
    for text in ("a new answer", "a new comment", "a new answer"):
        await page.keyboard.press("w")
        await expect(page.locator("[data-new]:focus")).to_contain_text(text)
    await page.get_by_role("link", name="Newest").click()
    await expect(marked).to_have_count(2)  # it is the same visit
    await page.reload()
    await expect(page.locator(".comment")).to_have_count(4)
    await expect(marked).to_have_count(0)


async def test_lists_count_what_is_new_of_visited_articles_only(visit, site, axe):
    alice, bob = site.member("alice"), site.member("bob")
    article, other = site.post(alice, "Visited once", content="text"), site.post(alice, "Never visited", content="text")
    page = await visit()
    await opened(page, site.path(article))

    await opened(page, f"/user/{alice.username}")
    await expect(line(page, "Visited once").locator(".new-comments")).to_have_count(0)
    for text in ("a new one", "another one"):
        site.comment(bob, article, text)
        site.comment(bob, other, text)
    await page.reload()

    await expect(line(page, "Visited once").get_by_role("link", name="2 comments, 2 new")).to_be_visible()
    await expect(line(page, "Never visited").get_by_role("link", name="2 comments", exact=True)).to_be_visible()
    assert await axe(page) == []
    await line(page, "Visited once").get_by_role("link", name="2 new").click()
    await expect(page.locator("[data-new]")).to_have_count(2)
    await page.go_back()
    await expect(line(page, "Visited once").get_by_role("link", name="2 comments", exact=True)).to_be_visible()


async def test_number_of_new_comments_is_not_cut_on_a_small_phone(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Visited from a train", content="text")
    page = await visit(viewport=PHONE | {"width": 320})
    await opened(page, site.path(article))
    await opened(page, f"/user/{alice.username}?lang=de")
    for number in range(12):
        site.comment(bob, article, f"answer {number}")
    await page.reload()
    link = line(page, "Visited from a train").get_by_role("link", name=re.compile("^12 Kommentare ?, 12 neu$"))

    await expect(link).to_be_visible()
    ends = await link.evaluate("""(link) => [link.querySelector('.new-comments'), link, link.parentElement]
      .map((each) => each.getBoundingClientRect().right)""")

    assert ends[0] <= ends[1] + 0.5 <= ends[2] + 1


async def test_at_most_500_visits_are_kept_and_what_is_stored_wrongly_is_ignored(visit, site):
    alice = site.member("alice")
    article = site.post(alice, "The latest of many", content="text")
    page = await visit()
    await opened(page, "/")
    # Of each article: its number, up to when its comments were seen, and how many there were.
    many = json.dumps([[str(number), 1, 0] for number in range(1_000_000, 1_000_600)])
    await page.evaluate("(many) => localStorage.setItem('upvote-visits', many)", many)
    await opened(page, site.path(article))

    await page.wait_for_function("() => JSON.parse(localStorage.getItem('upvote-visits')).length === 500")
    latest = await page.evaluate("() => JSON.parse(localStorage.getItem('upvote-visits')).at(-1)")
    assert latest[0] == article.removeprefix("article:")
    for wrong in ("{", "{}", "[[]]", "[1, null]"):
        await page.evaluate("(wrong) => localStorage.setItem('upvote-visits', wrong)", wrong)
        await opened(page, site.path(article))
        await expect(page.get_by_role("heading", level=1)).to_have_text("The latest of many")
