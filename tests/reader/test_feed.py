"""
The feed and the inbox: what is new, announced and seen.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import re

from playwright.async_api import expect

from tests.reader.conftest import log_out, opened
from tests.reader.lines import titles


async def test_visitor_is_told_to_log_in_and_comes_back(page, scene):
    for path, title in {"/feed": "Feed", "/inbox": "Inbox", "/settings": "Settings"}.items():
        await opened(page, path)
        await page.get_by_role("main").get_by_role("link", name="Log in").click()
        await page.get_by_label("Name", exact=True).fill(scene.carol.username)
        await page.get_by_label("Password").fill(scene.carol.password)
        await page.get_by_role("main").get_by_role("button", name="Log in").click()

        await expect(page.get_by_role("heading", level=1)).to_have_text(title)
        await expect(page).to_have_url(re.compile(f"{path}$"))
        await log_out(page)


async def test_feed_marks_what_is_not_seen(visit, site):
    writer, reader = site.member("writer"), site.member("reader")
    site.follow(reader, writer)
    site.post(writer, "Seen soon")
    page = await visit(reader)
    await opened(page, "/feed")
    await expect(page.get_by_text("1 not seen")).to_be_visible()
    await expect(page.get_by_role("img", name="New")).to_have_count(1)

    await page.get_by_role("button", name="Mark all as seen").click()

    await expect(page.get_by_role("img", name="New")).to_have_count(0)
    await expect(page.get_by_role("button", name="Mark all as seen")).to_have_count(0)
    await expect(page.get_by_role("heading", name="Feed")).to_be_focused()
    site.post(writer, "Not seen yet")
    await page.reload()
    await expect(page.locator("li", has_text="Not seen yet").get_by_role("img", name="New")).to_be_visible()
    await expect(page.get_by_role("img", name="New")).to_have_count(1)


async def test_new_articles_of_the_feed_are_announced_and_not_pushed_in(visit, site):
    writer, reader = site.member("writer"), site.member("reader")
    site.follow(reader, writer)
    site.post(writer, "There already")
    page = await visit(reader)
    await opened(page, "/feed")
    await visit.subscribed(page, "feedArticle")
    site.post(writer, "First of the new")
    site.post(writer, "Second of the new")

    show = page.get_by_role("button", name="2 new articles")
    await expect(show).to_be_visible()
    assert await titles(page) == ["There already"]
    await show.click()
    await expect(page.locator("main ol > li h2 a")).to_have_text(
        ["Second of the new", "First of the new", "There already"]
    )
    await expect(show).to_have_count(0)
    await expect(page.get_by_role("heading", name="Feed")).to_be_focused()


async def test_empty_feed_and_inbox_say_what_comes_there(visit, site):
    page = await visit(site.member("nobody"))
    await opened(page, "/feed")
    await expect(page.get_by_text("Follow people")).to_be_visible()
    await opened(page, "/inbox")
    await expect(page.get_by_text("Replies to you")).to_be_visible()


async def test_inbox_shows_replies_and_mentions_until_they_are_seen(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "An article of alice")
    answer = site.comment(alice, article, "A comment of alice")
    site.comment(bob, article, "To the *article*.")
    site.comment(bob, article, "To the comment.", parent=answer)
    site.post(bob, "An article for alice", content=f"See this, @{alice.username}.")
    page = await visit(alice)
    await opened(page, "/groups")
    await expect(page.get_by_role("link", name="Inbox 3 new")).to_be_visible()
    await page.get_by_role("link", name="Inbox 3 new").click()

    items = page.locator("main ol.items > li")
    await expect(items).to_have_count(3)
    mention = items.filter(has_text=f"{bob.username} mentioned you")
    await expect(mention.get_by_role("link", name="An article for alice")).to_be_visible()
    await expect(items.filter(has_text=f"{bob.username} replied to your comment")).to_contain_text("To the comment.")
    reply = items.filter(has_text=f"{bob.username} replied to your article")
    await expect(reply.locator("em")).to_have_text("article")
    await expect(reply.get_by_role("link", name="An article of alice")).to_be_visible()
    await expect(page.get_by_role("img", name="New")).to_have_count(3)
    await page.get_by_role("button", name="Mark all as seen").click()
    await expect(page.get_by_role("img", name="New")).to_have_count(0)
    await expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
    await expect(items).to_have_count(3)


async def test_inbox_quotes_what_was_answered_and_takes_the_answer(visit, site, axe):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Talked about")
    own = site.comment(alice, article, "What alice had said. " + "word " * 60)
    reply = site.comment(bob, article, "An objection.", parent=own)
    page = await visit(alice)
    await opened(page, "/inbox")
    item = page.locator("main ol.items > li", has_text="An objection.")
    await expect(item.locator(".answered")).to_have_text(re.compile(r"^What alice had said\. (word )+\w*…$"))
    await expect(item.get_by_role("img", name="New")).to_be_visible()

    await page.keyboard.press("j")
    await page.keyboard.press("r")
    await expect(item.get_by_label(f"Reply to {bob.username}")).to_be_focused()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await expect(item.get_by_role("button", name="Reply: ")).to_be_focused()
    await page.keyboard.press("r")
    await page.keyboard.type("A concession.")
    await page.keyboard.press("Control+Enter")

    await expect(item.get_by_role("link", name="Your reply")).to_be_focused()
    await expect(item.get_by_role("img", name="New")).to_have_count(0)  # what is answered is seen
    await expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
    replies = "query($id: ID!) { comment(id: $id) { replyCount } }"
    assert site.ask(replies, id=reply)["comment"]["replyCount"] == 1
    await page.keyboard.press("Enter")
    await expect(page.locator("article[aria-current]")).to_contain_text("A concession.")


async def test_answers_of_the_inbox_are_as_small_as_those_of_a_thread(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered in few words", content="Text.")
    site.comment(bob, article, "Yes.")
    page = await visit(alice)
    sizes = []
    for path in (site.path(article), "/inbox"):
        await opened(page, path)
        sizes.append(await page.get_by_role("button", name="Reply: ").bounding_box())

    assert [(box["width"], box["height"]) for box in sizes[1:]] == [(box["width"], box["height"]) for box in sizes[:1]]


async def test_unread_are_counted_where_there_is_no_page(visit, site, faults):
    alice, bob = site.member("alice"), site.member("bob")
    site.comment(bob, site.post(alice, "Unread", content="Text."), "An answer.")
    page = await visit(alice)
    for path in ("/absent", "/?order=ABSENT", "/top/year", "/good?date=never", "/article/0", "/group/ask?order=ABSENT"):
        await opened(page, path)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    faults.ignore("status of 404")


async def test_what_cannot_be_answered_has_no_form_in_the_inbox(visit, site):
    alice, bob, moderator = site.member("alice"), site.member("bob"), site.member("moderator")
    site.moderate(moderator)
    article = site.post(alice, "To be locked")
    site.comment(bob, article, "The last word.")
    site.act(moderator, "lockArticle", articleId=article, reason="Enough.")
    page = await visit(alice)
    await opened(page, "/inbox")

    await expect(page.locator("main ol.items > li", has_text="The last word.")).to_be_visible()
    await expect(page.get_by_role("button", name="Reply: ")).to_have_count(0)


async def test_opened_notification_and_those_before_it_are_seen_in_all_tabs(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered thrice")
    for number in range(3):
        site.comment(bob, article, f"Answer {number}")
    page = await visit(alice)
    other, inbox = await page.context.new_page(), await page.context.new_page()
    await opened(other, "/groups")
    for each in (page, inbox):
        await opened(each, "/inbox")
        await expect(each.get_by_role("link", name="Inbox 3 new")).to_be_visible()

    second = page.locator("main ol.items > li", has_text="Answer 1")
    await second.get_by_role("link", name=bob.username).click()
    await expect(page.get_by_role("link", name="Inbox 3 new")).to_be_visible()
    await page.go_back()
    await second.get_by_role("link", name="Answered thrice").click()

    await expect(page).to_have_url(re.compile("/comment/"))
    for each in (page, other, inbox):
        await expect(each.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    await expect(inbox.get_by_role("img", name="New")).to_have_count(1)
    await expect(inbox.locator("li", has_text="Answer 2").get_by_role("img", name="New")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()


async def test_notification_that_is_opened_in_a_new_tab_or_by_a_key_is_seen(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered twice")
    for number in range(2):
        site.comment(bob, article, f"Answer {number}")
    page = await visit(alice)
    await opened(page, "/inbox")

    older = page.locator("main ol.items > li", has_text="Answer 0")
    await older.get_by_role("link", name="Answered twice").click(button="middle")
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    await page.keyboard.press("k")
    await page.keyboard.press("c")

    await expect(page).to_have_url(re.compile("/comment/"))
    await expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()


async def test_page_does_not_move_when_the_header_shows_what_is_new(visit, site):
    member, other = site.member(), site.member()
    article = site.post(member, "Answered")
    page = await visit(member)
    await opened(page, "/")
    await visit.subscribed(page, "notification")
    height = await page.locator("header").evaluate("(header) => header.offsetHeight")

    site.comment(other, article, "An answer.")
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    assert await page.locator("header").evaluate("(header) => header.offsetHeight") == height


async def test_new_notifications_are_counted_in_the_header_and_announced(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Watched by alice")
    page = await visit(alice)
    await opened(page, "/groups")
    await visit.subscribed(page, "notification")
    site.comment(bob, article, "The first.")
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    await page.get_by_role("link", name="Inbox 1 new").click()
    items = page.locator("main ol.items > li")
    await expect(items).to_have_count(1)

    site.comment(bob, article, "The second.")

    show = page.get_by_role("button", name="1 new notification")
    await expect(show).to_be_visible()
    await expect(items).to_have_count(1)
    await expect(page.get_by_role("link", name="Inbox 2 new")).to_be_visible()
    await show.click()
    await expect(items).to_have_count(2)
    await expect(page.get_by_role("link", name="Inbox 2 new")).to_be_visible()
