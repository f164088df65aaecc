"""
Pages in German, and in a language that is written from right to left.

`scene` is a conversation between members that puts something on every page. A rule of the site refuses texts with the
words "refused by a rule".
"""

import re

import pytest
from playwright.async_api import expect

from tests.reader.conftest import GRAPHQL, PHONE, UNDERLINED, opened, settled

NAMES = ["front page", "article", "branch", "groups", "group", "user", "search", "inbox", "settings", "post", "log"]
# Words that only English has. Names and texts of users are left out.
ENGLISH = re.compile(r"\b(the|and|comments|Vote|Reply|More|Follow|Search|Settings|your|ago|joined|Log)\b")
# How far the words of the heading are from the right side of their place.
FROM_RIGHT = """() => {
  const [heading, range] = [document.querySelector('#root h1'), document.createRange()];
  range.selectNodeContents(heading);
  return heading.getBoundingClientRect().right - range.getBoundingClientRect().right;
}"""
# The texts of the page, without the names and texts of users and of the site.
TEXTS = """() => {
  const own = 'bdi, .markdown, h1, h2[dir], .excerpt, .host, .welcome, q, .site, [lang], code, kbd, option, title';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(own)) texts.push(walker.currentNode.data);
  return texts.filter((text) => text.trim());
}"""


def in_language(path, code):
    return f"{path}{'&' if '?' in path else '?'}lang={code}"


@pytest.mark.parametrize("name", NAMES)
async def test_german_page_is_whole_and_accessible(visit, scene, axe, name):
    page = await visit(scene.alice, reduced_motion="reduce")
    await opened(page, in_language(scene.path(name), "de"))

    assert await page.evaluate("document.documentElement.lang") == "de"
    assert [text for text in await page.evaluate(TEXTS) if ENGLISH.search(text)] == []
    found = await axe(page)
    await page.set_viewport_size(PHONE)
    assert found + await axe(page) == []


async def test_links_and_navigations_keep_the_language(visit, scene, site):
    page = await visit(scene.alice)
    await opened(page, "/?lang=de")
    await page.get_by_role("link", name="Gruppen").click()

    await expect(page).to_have_url(f"{site.url}/groups?lang=de")
    await expect(page).to_have_title("Gruppen · Upvote")
    links = await page.evaluate("[...document.querySelectorAll('#root a')].map((link) => link.getAttribute('href'))")
    assert [
        link for link in links if not re.search(r"lang=de$|\.xml(?:\?order=[A-Z]+)?$|^explorer$|^https?:", link)
    ] == []


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Good articles of November 1, 2026"), ("de", "Gute Artikel vom 1. November 2026")]
)
async def test_day_of_a_title_is_written_in_its_language(page, site, language, title):
    await page.goto(f"./good?date=2026-11-01&lang={language}")
    await expect(page).to_have_title(f"{title} · Upvote")  # the server's
    await settled(page)
    await expect(page.locator("#root h1")).to_have_text(title)
    await expect(page).to_have_title(f"{title} · Upvote")


async def test_refusals_and_ages_are_german(visit, scene):
    page = await visit(scene.alice)
    await opened(page, in_language("/post", "de"))
    await page.get_by_label("Titel").fill("x")
    await page.get_by_role("button", name="Abschicken").click()

    await expect(page.locator(".refusal").filter(has_text="Ein Link ist eine vollständige")).to_be_visible()
    await opened(page, in_language(scene.path("article"), "de"))
    await expect(page.locator("main time").first).to_have_text(re.compile("gerade eben|vor .* Min\\."))


async def test_edit_that_a_rule_refuses_says_which_in_german(visit, site):
    writer = site.member("writer")
    article = site.post(writer, "A rule in German")
    site.comment(writer, article, "Before the edit.")
    page = await visit(writer)
    await opened(page, f"/article/{article.partition(':')[2]}?lang=de")
    comment = page.locator(".thread .comment").first
    await comment.get_by_role("button", name="Bearbeiten").click()
    await comment.get_by_label("Kommentar bearbeiten").fill("This is refused by a rule.")
    await comment.get_by_role("button", name="Speichern").click()

    await expect(comment.locator(".refusal").filter(has_text="Der Text enthält Wörter")).to_be_visible()


async def test_html_of_the_server_is_that_of_the_script_in_german(visit, scene):
    page = await visit()
    await page.route(GRAPHQL, lambda route: None)
    await page.goto(in_language("/", "de"))
    texts = (
        "() => [...document.querySelectorAll('main nav a, main .details > a, main .count')].map((a) => a.textContent)"
    )
    before = await page.evaluate(texts)
    await page.unroute_all()
    await opened(page, in_language("/", "de"))

    assert before == await page.evaluate(texts)
    assert "Angesagt" in before


async def test_language_of_the_browser_is_offered_until_it_is_dismissed(visit, site):
    page = await visit(locale="de-AT")
    await opened(page, "/groups")
    offer = page.get_by_role("complementary")

    await expect(offer.get_by_role("link")).to_have_text("Diese Seite gibt es auch auf Deutsch.")
    await expect(offer.get_by_role("link")).to_have_css(*UNDERLINED)
    await offer.get_by_role("link").click()
    await expect(page).to_have_url(f"{site.url}/groups?lang=de")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Gruppen")
    await expect(offer).to_have_count(0)
    await opened(page, "/groups")
    await offer.get_by_role("button", name="Dismiss").click()
    await expect(offer).to_have_count(0)
    await opened(page, "/")
    await expect(offer).to_have_count(0)


async def test_page_from_right_to_left_is_turned(visit, scene, axe):
    page = await visit(scene.alice, reduced_motion="reduce")
    await opened(page, in_language("/groups", "ar"))
    site, account = [await page.locator(f"header .{name}").bounding_box() for name in ("site", "account")]

    assert await page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    assert site["x"] > account["x"]
    await expect(page.get_by_role("heading", level=1)).to_have_text("المجموعات")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await axe(page) == []


@pytest.mark.parametrize("path", ["/groups", "/group/scene"])
async def test_heading_of_a_page_from_right_to_left_stands_right(page, scene, path):
    await opened(page, in_language(path, "ar"))

    assert await page.evaluate(FROM_RIGHT) <= 1
