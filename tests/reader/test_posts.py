"""
Articles of a member: to post, edit, regroup and delete them.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.

Codes such as M10 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import json
import re

import pytest
from playwright.async_api import Page, expect

from tests.reader.conftest import UNDERLINED, opened
from tests.reader.site import Member, Site

ARTICLE = "query($id: ID!) { article(id: $id) { title link content groups { name } } }"


async def test_article_is_posted_once_by_a_double_click(visit, site, axe):
    member = site.member()
    page = await visit(member)
    await opened(page, "/post")
    assert await axe(page) == []

    await fill(page, Title="A title of one's own", Text="With *text*.", Groups="Own, others  own")
    await page.get_by_role("button", name="Post", exact=True).dblclick()

    await expect(page.get_by_role("heading", name="A title of one's own")).to_be_focused()
    await expect(page.locator("main em")).to_have_text("text")
    assert await page.locator("main .group").all_inner_texts() == ["others", "own"]
    assert article_count(site, member) == 1
    await opened(page, "/post")
    await expect(page.get_by_label("Title")).to_have_value("")


async def test_link_that_was_posted_before_is_named(visit, site):
    link = "https://example.com/posted/twice"
    before = site.post(site.member(), "Posted with this link before", link=link)
    page = await visit(site.member())
    await opened(page, "/post")

    await fill(page, Title="The second of two", Link=link)
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_text("The same link was posted before")).to_be_visible()
    await page.get_by_role("link", name="Posted with this link before").click()
    await expect(page).to_have_url(re.compile(site.path(before)))
    await expect(page.get_by_text("The same link was posted before")).to_have_count(0)


async def test_article_that_a_rule_holds_waits_for_a_moderator(visit, site):  # M10
    member = site.member()
    page = await visit(member)
    await opened(page, "/post")

    await fill(page, Title="Held by a rule", Text="Text.")
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_text("Your article waits for a moderator.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Held by a rule")).to_be_focused()
    await expect(page.get_by_text("The article takes no comments yet.")).to_be_visible()
    held = "article:" + page.url.rpartition("/")[2]
    assert site.ask(ARTICLE, member, id=held)["article"]["title"] == "Held by a rule"
    assert site.ask(ARTICLE, id=held)["article"] is None


async def test_article_that_a_rule_refuses_says_why_and_keeps_the_text(visit, site):  # M10
    page = await visit(site.member())
    await opened(page, "/post")

    await fill(page, Title="Refused by a rule", Text="Text.")
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_label("Title")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_text("The text has words that this site does not take.")).to_be_visible()
    await expect(page.get_by_label("Title")).to_have_value("Refused by a rule")


async def test_refused_values_stand_at_their_fields_and_are_kept(visit, site, axe):
    page = await visit(site.member())
    await opened(page, "/post")

    await fill(page, Title="  ", Link="ftp://example.com", Groups="good b@d")
    await page.get_by_role("button", name="Post", exact=True).click()

    for field, reason in (("Title", "title"), ("Link", "http"), ("Groups", "b@d")):
        await expect(page.get_by_label(field)).to_have_attribute("aria-invalid", "true")
        await expect(page.locator(".field", has=page.get_by_label(field)).locator(".refusal")).to_contain_text(reason)
    await expect(page.get_by_label("Link")).to_be_focused()  # the first of them
    await expect(page.get_by_label("Groups")).to_have_value("good b@d")
    assert await axe(page) == []


async def test_title_that_is_too_long_is_told_and_not_cut(visit, site, axe):
    member = site.member()
    page = await visit(member)
    await opened(page, "/post")
    title = page.get_by_label("Title")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

    await fill(page, Title="An \N{SLICE OF PIZZA}" + "x" * 308, Text="Text.")
    await expect(title).to_have_value("An \N{SLICE OF PIZZA}" + "x" * 308)
    await expect(title).to_have_attribute("aria-invalid", "true")
    await expect(title).to_have_accessible_description("312 of 300 characters At most 300 characters.")
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(title).to_be_focused()
    assert await axe(page) == []
    assert asked == []
    for _ in range(12):
        await page.keyboard.press("Backspace")
    await expect(title).to_have_accessible_description("300 of 300 characters")
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("An \N{SLICE OF PIZZA}" + "x" * 296)


async def test_text_that_is_too_long_is_told_before_it_is_sent(visit, site):
    page = await visit(site.member())
    await opened(page, "/post")
    text = page.get_by_label("Text")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

    await fill(page, Title="With a long text", Text="x" * 40_000 + "\n")
    await expect(text).to_have_accessible_description(
        re.compile(r"40,001 of 40,000 characters At most 40,000 characters\.$")
    )
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(text).to_be_focused()
    assert asked == []
    await page.keyboard.press("Backspace")
    await expect(text).to_have_accessible_description(re.compile(r"40,000 of 40,000 characters$"))


@pytest.mark.parametrize("is_edit", [False, True], ids=["post", "edit"])
async def test_what_is_typed_after_a_refusal_stays_in_its_field(visit, site, is_edit):
    member = site.member()
    page = await visit(member)
    await opened(page, f"{site.path(site.post(member, 'Before'))}/edit" if is_edit else "/post")
    title, text = page.get_by_label("Title"), page.get_by_label("Text")

    await fill(page, Title="x" * 301)
    await text.press_sequentially("One")
    await expect(text).to_be_focused()
    await fill(page, Title="", Groups="b@d")
    await page.get_by_role("button", name="Save" if is_edit else "Post", exact=True).click()
    await expect(title).to_be_focused()
    await title.press_sequentially("A title")
    await text.press_sequentially(", two")

    await expect(text).to_have_value("One, two")
    await expect(title).to_have_value("A title")


async def test_refusal_of_a_field_goes_when_the_field_is_changed(visit, site):
    page = await visit(site.member())
    await opened(page, "/post")
    title, link = page.get_by_label("Title"), page.get_by_label("Link")
    await fill(page, Link="ftp://example.com")
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(title).to_have_accessible_description(re.compile("this one 0"))

    await fill(page, Title="x" * 299)

    await expect(title).to_have_accessible_description("299 of 300 characters")
    await expect(title).to_have_attribute("aria-invalid", "false")
    await expect(link).to_have_attribute("aria-invalid", "true")
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(link).to_be_focused()


async def test_draft_of_an_article_outlives_a_reload_and_a_failing_network(visit, site, faults):
    page = await visit(site.member())
    await opened(page, "/post")
    await fill(page, Title="Not yet posted", Text="Half of it")
    await page.reload()
    await expect(page.get_by_label("Title")).to_have_value("Not yet posted")

    await page.route("**/graphql", lambda route: route.abort("connectionreset"))
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(page.get_by_role("alert").get_by_text("The server cannot be reached.")).to_be_visible()
    await expect(page.get_by_label("Text")).to_have_value("Half of it")
    await faults.expect("ERR_CONNECTION_RESET")
    await page.unroute("**/graphql")
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_role("heading", name="Not yet posted")).to_be_focused()


async def test_post_whose_answer_was_lost_is_not_posted_twice(visit, site, faults):
    member = site.member()
    page = await visit(member)
    await opened(page, "/post")
    await fill(page, Title="Answer lost", Text="But it arrived.")

    async def lose(route):
        await route.fetch()
        await route.abort("connectionreset")

    await page.route("**/graphql", lose)
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
    await page.unroute("**/graphql")
    await page.reload()
    await page.get_by_role("button", name="Post", exact=True).click()

    await expect(page.get_by_role("heading", name="Answer lost")).to_be_visible()
    assert article_count(site, member) == 1
    await faults.expect("ERR_CONNECTION_RESET")


async def test_bookmark_fills_the_form(visit, site):
    page = await visit(site.member())

    await opened(page, "/post?title=From+elsewhere&link=https://example.com/&group=show")

    await expect(page.get_by_label("Title")).to_have_value("From elsewhere")
    await expect(page.get_by_label("Link")).to_have_value("https://example.com/")
    await expect(page.get_by_label("Groups")).to_have_value("show")


async def test_bookmark_fills_the_form_beside_a_draft_which_stays(visit, site):
    page = await visit(site.member())
    await opened(page, "/post")
    await fill(page, Title="Not yet posted")

    await opened(page, "/post?title=From+elsewhere")
    await expect(page.get_by_label("Title")).to_have_value("From elsewhere")
    await opened(page, "/post")

    await expect(page.get_by_label("Title")).to_have_value("Not yet posted")


async def test_article_is_edited_and_regrouped(visit, site, axe):
    member = site.member()
    article = site.post(member, "Before", content="before", groups=["stays", "goes"])
    page = await visit(member)
    await opened(page, "/groups")
    await opened(page, site.path(article))

    await page.get_by_role("link", name="Edit").click()
    await expect(page.get_by_label("Title")).to_have_value("Before")
    assert await axe(page) == []
    await fill(page, Title="After", Link="https://example.com/after", Text="", Groups="stays comes")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("heading", name="After")).to_be_visible()
    await expect(page.locator("main .details")).to_contain_text("edited")
    assert site.ask(ARTICLE, id=article)["article"] == {
        "title": "After",
        "link": "https://example.com/after",
        "content": None,
        "groups": [{"name": "comes"}, {"name": "stays"}],
    }
    await page.go_back()
    await expect(page.get_by_role("heading", name="Groups")).to_be_visible()


async def test_only_the_poster_may_edit_an_article(visit, site):
    article = site.post(site.member(), "Of another user")
    page = await visit(site.member())

    await opened(page, f"{site.path(article)}/edit")

    await expect(page.get_by_text("Only its poster may edit")).to_be_visible()
    await opened(page, site.path(article))
    await expect(page.get_by_role("link", name="Edit")).to_have_count(0)


async def test_article_is_deleted_when_confirmed(visit, site, axe):
    member = site.member()
    article = site.post(member, "To be deleted")
    page = await visit(member)
    await opened(page, site.path(article))

    await page.get_by_role("button", name="Delete", exact=True).click()
    assert await axe(page) == []
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("button", name="Delete", exact=True)).to_be_focused()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()

    await expect(page.get_by_text("Your article is deleted.")).to_be_visible()
    await expect(page).to_have_url(f"{site.url}/")
    await expect(page.locator("h1")).to_be_focused()
    await expect(page.get_by_role("link", name="To be deleted")).to_have_count(0)
    assert site.ask(ARTICLE, id=article)["article"] is None


async def test_article_is_deleted_once_however_often_that_is_confirmed(visit, site):
    member = site.member()
    article = site.post(member, "Deleted with a double click")
    page = await visit(member)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    await opened(page, site.path(article))

    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).dblclick()

    await expect(page.get_by_text("Your article is deleted.")).to_be_visible()
    assert sum("DeleteArticle" in each for each in sent) == 1


def article_count(site: Site, member: Member) -> int:
    query = "query($name: String!) { user(username: $name) { articles { totalCount } } }"
    return site.ask(query, name=member.username)["user"]["articles"]["totalCount"]


async def fill(page: Page, **fields: str) -> None:
    """Fill fields of the form, by their labels."""
    for label, value in fields.items():
        await page.get_by_label(label).fill(value)


async def test_link_that_was_posted_before_is_told_while_it_is_typed(visit, site, axe):
    link = "https://example.com/typed/twice"
    before = site.post(site.member(), "Known before it was typed", link=link)
    site.comment(site.member(), before, "One.")
    page = await visit(site.member())
    await opened(page, "/post")

    await page.get_by_label("Link").press_sequentially(f"{link}?utm_source=x")

    note = page.get_by_role("status").filter(has_text="1 comment")
    await expect(note).to_contain_text("Known before it was typed")
    await expect(note.get_by_role("link")).to_have_css(*UNDERLINED)
    assert await axe(page) == []
    await page.get_by_label("Link").fill("https://example.com/typed/never")
    await expect(note).to_have_count(0)


async def test_edited_article_is_not_told_as_posted_before(visit, site):
    member, link = site.member(), "https://example.com/edited/twice"
    before = site.post(site.member(), "The first of two that are edited", link=link)
    page = await visit(member)
    await opened(page, f"{site.path(site.post(member, 'The second that is edited', link=link))}/edit")
    note = page.get_by_role("status").filter(has_text="0 comments")

    await expect(note.get_by_role("link")).to_have_attribute("href", site.path(before))

    await page.get_by_label("Link").fill(f"{link}/of-nobody")
    await expect(note).to_have_count(0)


async def test_title_of_the_page_behind_a_link_is_proposed_where_none_is_written(visit, site):
    """The answer about the page is made here, as the server asks only pages of the public Internet."""

    async def answer(route):
        is_about_title = "linkTitle" in (route.request.post_data or "")
        await (route.fulfill(json={"data": {"linkTitle": "<b>A page</b>"}}) if is_about_title else route.fallback())

    page = await visit(site.member())
    await page.route("**/graphql", answer)
    await opened(page, "/post")
    await page.get_by_label("Link").fill("https://example.com/with/a/title")
    proposed = page.get_by_role("button", name="Take this title")
    await expect(proposed).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(proposed).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_label("Title")).to_be_focused()  # it stands below what it is taken from
    await proposed.click()

    await expect(page.get_by_label("Title")).to_have_value("<b>A page</b>")
    await expect(page.get_by_label("Title")).to_be_focused()  # the button is gone
    await expect(page.get_by_text("The page calls itself")).to_have_count(0)


@pytest.mark.parametrize("title", ["A page", None])
async def test_page_says_while_it_waits_for_the_title_of_a_link(visit, site, title):
    """The answer about the page is made here, as the server asks only pages of the public Internet."""
    may_answer = asyncio.Event()

    async def answer(route):
        if "linkTitle" not in (route.request.post_data or ""):
            return await route.fallback()
        await may_answer.wait()
        await route.fulfill(json={"data": {"linkTitle": title}})

    page = await visit(site.member())
    await page.route("**/graphql", answer)
    await opened(page, "/post")
    await page.get_by_label("Link").fill("https://example.com/slow")
    waiting = page.get_by_role("status").get_by_text("Asking the page for its title")
    await expect(waiting).to_be_visible()
    may_answer.set()

    await expect(waiting).to_have_count(0)
    await expect(page.get_by_role("button", name="Take this title")).to_have_count(0 if title is None else 1)


async def test_groups_are_completed_and_texts_previewed(visit, site, axe):
    site.post(site.member(), "In two groups", groups=["completing", "compilers"])
    page = await visit(site.member())
    await opened(page, "/post")
    groups = page.get_by_label("Groups", exact=True)

    await groups.press_sequentially("Other, comp")
    names = page.get_by_role("group", name="Completions").get_by_role("button")
    await expect(names).to_have_text(["compilers", "completing"])
    await names.nth(1).click()
    await expect(groups).to_have_value("other, completing ")
    await expect(names).to_have_count(0)
    await page.get_by_label("Text").fill("It is *here*.")
    await page.get_by_text("Preview").click()
    await expect(page.locator("details.preview em")).to_have_text("here")
    assert await axe(page) == []


async def test_groups_are_completed_by_the_keyboard(visit, site):
    site.post(site.member(), "In groups of keys", groups=["keyed-one", "keyed-two"])
    page = await visit(site.member())
    await opened(page, "/post")
    groups = page.get_by_label("Groups", exact=True)
    names = page.get_by_role("group", name="Completions").get_by_role("button")

    await groups.press_sequentially("keyed")
    await expect(names).to_have_count(2)
    for key, focused in (("Down", names.nth(0)), ("Down", names.nth(1)), ("Up", names.nth(0)), ("Up", groups)):
        await page.keyboard.press(f"Arrow{key}")
        await expect(focused).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")

    await expect(groups).to_have_value("keyed-one ")
    await expect(groups).to_be_focused()
    await expect(page.locator("[aria-invalid=true]")).to_have_count(0)  # nothing was sent


async def test_groups_beyond_the_first_hundred_are_completed(visit, site):
    """The answers are made here: more groups would change other tests."""
    names = [f"group-{number}" for number in range(100, 200)], ["washington", "youth"]
    asked: list[str | None] = []

    async def answer(route):
        request = json.loads(route.request.post_data or "{}")
        if "GroupNames" not in request.get("query", ""):
            return await route.fallback()
        asked.append(after := request["variables"].get("after"))
        nodes = [{"__typename": "Group", "id": f"group:{name}", "name": name} for name in names[after == "100"]]
        info = {"__typename": "PageInfo", "hasNextPage": not after, "endCursor": None if after else "100"}
        groups = {"__typename": "GroupConnection", "nodes": nodes, "pageInfo": info}
        await route.fulfill(json={"data": {"groups": groups}})

    page = await visit(site.member())
    await page.route("**/graphql", answer)
    await opened(page, "/post")
    found = page.get_by_role("group", name="Completions").get_by_role("button")

    await page.get_by_label("Groups", exact=True).press_sequentially("d")
    await expect(found).to_have_count(0)
    await page.get_by_label("Groups", exact=True).fill("you")
    await expect(found).to_have_text(["youth"])
    await page.get_by_label("Groups", exact=True).fill("youth wash")
    await expect(found).to_have_text(["washington"])

    assert asked == [None, "100"]
