"""
The log of moderation, lines that say why something is gone or closed, and what a banned user sees of the ban.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.

Codes such as M2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re
from itertools import pairwise

import pytest
from playwright.async_api import expect

from tests.reader.conftest import PHONE, log_out, opened
from tests.reader.site import Member

UNTIL = "2199-12-31T12:00:00Z"
NARROW = PHONE | {"width": 320}
ANSWER = "mutation($input: AnswerAppealInput!) { answerAppeal(input: $input) { userErrors { message } } }"
# The left and right sides of an element.
COLUMN = "(({{ left, right }}) => [left, right])(document.querySelector('{}').getBoundingClientRect())"
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def moderator(site) -> Member:
    member = site.member("mod")
    site.moderate(member)
    return member


async def test_log_is_read_by_everybody_and_notes_by_moderators(visit, page, site, moderator, axe):  # M9
    writer = site.member("writer")
    spam = site.post(writer, "An advertisement", groups=["logged"])
    removal = site.act(moderator, "removeContent", subjectId=spam, reason="Spam.", note="See the other one.")
    site.act(moderator, "banUser", userId=writer.id, group="logged", until=UNTIL, reason="Again.")
    site.act(moderator, "revertModeration", actionId=removal, reason="A mistake.")
    site.act(moderator, "lockArticle", articleId=spam, group="logged", reason="Heated.")
    await opened(page, "/groups")
    await page.get_by_role("contentinfo").get_by_role("link", name="Moderation log").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Moderation log")
    locked = page.get_by_role("article", name=f"{moderator.username} locked {spam}")
    await expect(locked).to_contain_text("locked An advertisement")
    await expect(locked).to_contain_text("Heated.")

    await locked.get_by_role("link", name="All about it").click()
    await expect(page.get_by_text(f"Only what is about {spam.replace(':', ' ')}")).to_be_visible()
    await expect(page.get_by_role("article")).to_have_count(3)
    removed = page.get_by_role("article", name=f"removed {spam}")
    await expect(removed).to_contain_text("Spam.")
    await expect(removed).to_contain_text(re.compile(f"Reverted by {moderator.username} just now: ?A mistake."))
    await expect(page.get_by_text("See the other one.")).to_have_count(0)
    await page.get_by_role("link", name="All of the log").click()
    await expect(page).to_have_url(re.compile("/log$"))

    await opened(page, "/log?group=logged")
    banned = page.get_by_role("article", name=f"banned {writer.id} from the group logged until December 31, 2199")
    await expect(banned.get_by_role("link", name=writer.username)).to_be_visible()
    for viewport in (PHONE, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate(FITS)
    own = await visit(moderator)
    await opened(own, f"/log?subject={spam}")
    await expect(own.get_by_role("article", name=f"removed {spam}")).to_contain_text("See the other one.")


async def test_log_has_pages_and_is_read_by_keyboard(page, site, moderator):
    article = site.post(site.member("writer"), "Locked and unlocked")
    for turn in range(13):
        lock = site.act(moderator, "lockArticle", articleId=article, reason=f"Reason {turn}.")
        site.act(moderator, "revertModeration", actionId=lock, reason="Calm.")
    await opened(page, f"/log?subject={article}")
    await expect(page.get_by_role("article")).to_have_count(25)

    await page.keyboard.press("n")
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(page).to_have_url(re.compile(rf"/log\?subject={article.replace(':', '%3A')}&after="))
    await page.keyboard.press("j")
    await expect(page.get_by_role("article")).to_be_focused()
    await page.keyboard.press("c")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Locked and unlocked")


async def test_new_action_waits_behind_a_button(visit, page, site, moderator):
    article = site.post(site.member("writer"), "Watched by somebody")
    await opened(page, f"/log?subject={article}")
    await expect(page.get_by_text("Moderators have done nothing here yet.")).to_be_visible()
    await visit.subscribed(page, "moderated")

    site.act(moderator, "lockArticle", articleId=article, reason="Heated.")

    await page.get_by_role("button", name="1 new action").click()
    await expect(page.get_by_role("article")).to_contain_text("Heated.")
    await expect(page.get_by_role("button", name="1 new action")).to_have_count(0)


async def test_log_says_what_is_wrong_with_its_address(page, faults):
    await opened(page, "/log?subject=group:lua")

    await expect(page.get_by_role("alert")).to_contain_text("subject is an article, a comment or a user")
    faults.ignore("status of 400")


async def test_removed_article_and_comment_say_why_where_they_stood(visit, page, site, moderator, axe, faults):  # M2
    writer, other = site.member("writer"), site.member("other")
    article = site.post(other, "Talked about", content="Text.")
    rude = site.comment(writer, article, "A rude text.")
    site.comment(other, article, "An answer.", parent=rude)
    lone = site.comment(writer, article, "A lone text.")
    own = site.post(writer, "To be removed", content="Text.")
    for subject, reason in ((rude, "Be kind."), (lone, "Shouting."), (own, "Advertising.")):
        site.act(moderator, "removeContent", subjectId=subject, reason=reason)

    await opened(page, site.path(article))
    stub = page.get_by_role("article", name="removed comment")
    await expect(stub).to_contain_text("This comment was removed by a moderator: Be kind.")
    await expect(page.get_by_role("main")).not_to_contain_text("A rude text.")
    assert await axe(page) == []
    await stub.get_by_role("link", name="What moderators did").click()
    await expect(page.get_by_role("article", name=f"removed {rude}")).to_contain_text("Be kind.")
    await page.goto(f".{site.path(article, lone)}")
    await expect(page.get_by_text("A moderator has removed this comment: Shouting.")).to_be_visible()

    page = await visit(writer)
    await opened(page, site.path(own))
    notice = page.locator(".notice")
    await expect(notice).to_contain_text("A moderator has removed this article: Advertising.")
    await expect(notice).to_contain_text("Only you and moderators see it.")
    await expect(page.get_by_role("main").get_by_role("link", name="Edit")).to_have_count(0)
    assert await axe(page) == []
    await opened(page, site.path(article, rude))  # in the thread of the article, all see a stub only
    mine = page.get_by_role("article", name=f"comment by {writer.username}")
    await expect(mine).to_contain_text("This comment was removed by a moderator: Be kind.")
    await expect(mine).to_contain_text("A rude text.")
    await expect(mine.get_by_role("button", name="Reply")).to_have_count(0)
    await expect(mine.get_by_role("button", name="Edit")).to_have_count(0)
    faults.ignore("410")  # the status of documents of what is removed


async def test_locked_article_says_why_in_place_of_voting_and_comments(visit, site, moderator, axe):  # M4
    article = site.post(site.member("writer"), "A heated one", content="Text.")
    page = await visit(site.member("reader"))
    await opened(page, site.path(article))
    await visit.subscribed(page, "articleChanged")
    await expect(page.get_by_label("Your comment")).to_be_visible()

    site.act(moderator, "lockArticle", articleId=article, reason="Calm down.")

    await expect(page.locator(".notice")).to_contain_text("This article is locked: Calm down. It takes no votes")
    await expect(page.get_by_text("The article is locked: it takes no comments.")).to_be_visible()
    await expect(page.get_by_label("Your comment")).to_have_count(0)
    vote = page.get_by_role("button", name="Vote up: A heated one")
    await expect(vote).to_have_attribute("aria-disabled", "true")
    await vote.click(force=True)  # for Playwright it is disabled
    await expect(page.get_by_text("The article is locked.", exact=True)).to_be_visible()
    assert await axe(page) == []


async def test_held_texts_are_found_from_the_own_page_and_appealed(visit, site, moderator, axe):
    writer = site.member("writer")
    article = site.post(writer, "Held back", content="Text.")
    answer = site.comment(writer, site.post(moderator, "Answered", content="Text."), "A held answer.")
    given = {"reason": "Not here."}
    removed = [site.act(moderator, "removeContent", subjectId=subject, **given) for subject in (article, answer)]
    page = await visit(writer)
    await opened(page, f"/user/{writer.username}")
    await page.get_by_role("link", name="Held texts").click()

    await expect(page.get_by_role("article")).to_have_count(2)
    held = page.get_by_role("article", name="Held back")
    await expect(held).to_contain_text("A moderator has removed it: Not here.")
    comment = page.get_by_role("article", name="Comment on Answered")
    await expect(comment).to_contain_text("A held answer.")
    await comment.get_by_role("button", name="Appeal").click()
    await comment.get_by_label("Your appeal").fill("It belongs here.")
    for viewport in (PHONE, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate(FITS)
    await comment.get_by_role("button", name="Send the appeal").click()
    await expect(page.get_by_role("status").get_by_text("Moderators will read your appeal.")).to_be_visible()
    await expect(comment).to_contain_text("You appealed just now: It belongs here. Moderators will read it.")
    await expect(comment.get_by_label("Your appeal")).to_have_count(0)
    site.ask(ANSWER, moderator, input={"actionId": removed[1], "text": "It does not."})
    await page.reload()
    await expect(comment).to_contain_text(f"{moderator.username} answered just now: It does not.")
    await held.get_by_role("link", name="Held back").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Held back")


async def test_banned_user_reads_on_every_page_why_and_appeals(visit, page, site, moderator, axe):  # M6
    banned = site.member("banned")
    site.act(moderator, "banUser", userId=banned.id, until=UNTIL, reason="Threats.", note="The third time.")
    await opened(page, f"/user/{banned.username}")
    await expect(page.locator(".notice")).to_have_text(re.compile(r"^Banned from this site\."))
    await opened(page, "/log-in?next=/groups")
    await page.get_by_label("Name", exact=True).fill(banned.username)
    await page.get_by_label("Password").fill(banned.password)
    await page.get_by_role("main").get_by_role("button", name="Log in").click()

    line = page.get_by_role("complementary", name="Your ban")
    await expect(line).to_contain_text(re.compile("You are banned from this site until December 31, 2199.*: Threats."))
    await expect(line).to_contain_text("You can read everything")
    await page.get_by_role("link", name="Feed", exact=True).click()
    await expect(line).to_be_visible()
    await opened(page, f"/user/{banned.username}")
    await expect(page.get_by_role("main").locator(".notice")).to_contain_text("until December 31, 2199")
    await expect(line).to_be_visible()
    assert await page.evaluate(COLUMN.format(".ban")) == await page.evaluate(COLUMN.format("main .notice"))
    await line.get_by_role("button", name="Appeal").click()
    for viewport in (PHONE, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate(FITS)
    await line.get_by_role("button", name="Send the appeal").click()
    await expect(line.get_by_label("Your appeal")).to_have_attribute("aria-invalid", "true")
    await line.get_by_label("Your appeal").fill("That was a quotation.")
    await line.get_by_role("button", name="Send the appeal").click()
    await expect(line).to_contain_text("You appealed just now: That was a quotation.")
    await log_out(page)
    await expect(line).to_have_count(0)


@pytest.mark.parametrize("width", [320, 360])
async def test_foot_of_a_phone_has_room_for_the_log(visit, scene, width):
    page = await visit(viewport=PHONE | {"width": width})
    await opened(page, "/groups")

    boxes = await page.evaluate(
        "[...document.querySelectorAll('footer > *')].map((each) => each.getBoundingClientRect().toJSON())"
    )
    assert all(one["right"] <= two["left"] or one["bottom"] <= two["top"] for one, two in pairwise(boxes)), boxes
    assert await page.evaluate(FITS)
