"""
Edits that a rule of the site holds: what their poster sees, and what moderators do with them on their pages, the desk.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it. A rule of
the site holds texts with the words "held by a rule".

Codes such as M10 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

from playwright.async_api import Page, expect

from store import keys
from tests.reader.conftest import DESKTOP, opened
from tests.reader.site import Member, Site

EDIT = """mutation($input: EditArticleInput!) { editArticle(input: $input) { heldBy userErrors { message } } }"""
EDIT_COMMENT = (
    """mutation($input: EditCommentInput!) { editComment(input: $input) { heldBy userErrors { message } } }"""
)
ARTICLE = "query($id: ID!) { article(id: $id) { title content } }"
COMMENT = "query($id: ID!) { comment(id: $id) { content } }"
SMALLEST = {"width": 320, "height": 640}
INBOX = "{ inbox { notifications { nodes { kind subject { ... on ModerationAction { kind reason } } } } } }"


def edit(site: Site, by: Member, article: str, **changes: str) -> None:
    given = site.ask(EDIT, by, input={"articleId": article, **changes})
    assert given["editArticle"]["heldBy"] == "words"


def edit_comment(site: Site, by: Member, comment: str, content: str) -> None:
    given = site.ask(EDIT_COMMENT, by, input={"commentId": comment, "content": content})
    assert given["editComment"]["heldBy"] == "words"


def waiting(page: Page, name: str | re.Pattern[str]):
    """A line of the queue."""
    return page.get_by_role("article", name=name)


async def test_edits_that_wait_are_put_in_place_or_rejected_on_the_desk(visit, page, site, axe):  # M2, M10
    group = "waiting-edits"
    moderator, writer = site.member("moderator"), site.member("writer")
    site.moderate(moderator, group)
    article = site.post(writer, "An old title", content="An old text.", groups=[group])
    comment = site.comment(writer, article, "An old answer.")
    edit(site, writer, article, title="A new title, held by a rule")
    edit_comment(site, writer, comment, "A new answer, held by a rule.")
    desk = await visit(moderator)
    await opened(desk, f"/moderation?kind=pending&group={group}")

    await expect(desk.locator("main ol.items > li")).to_have_count(2)
    line, answer = waiting(desk, "An old title"), waiting(desk, re.compile("^Comment by writer"))
    await expect(line).to_contain_text("An edit waits for a moderator")
    await expect(line).to_contain_text("it has a word that is looked at first")
    await expect(line.get_by_role("group", name="The edit that waits")).to_contain_text("A new title, held by a rule")
    await expect(answer).to_contain_text("An old answer.")
    await expect(answer.get_by_role("group", name="The edit that waits")).to_contain_text("A new answer")
    for viewport in (DESKTOP, SMALLEST):
        await desk.set_viewport_size(viewport)
        assert await axe(desk) == []
        assert await desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await opened(page, site.path(article))
    await expect(page.get_by_role("heading", level=1)).to_contain_text("An old title")
    await expect(page.get_by_text("held by a rule")).to_have_count(0)

    await line.focus()
    await desk.keyboard.press("a")
    await expect(desk.get_by_text(re.compile("^Approved: "))).to_be_visible()
    await answer.get_by_role("button", name="Reject the edit: ").click()
    await expect(desk.get_by_role("dialog", name="Reject the edit: ")).to_be_visible()
    await desk.get_by_role("dialog").get_by_role("button", name="Reject").click()
    await expect(desk.get_by_label("Reason")).to_have_attribute("aria-invalid", "true")
    await desk.get_by_label("Reason").fill("It answers nothing.")
    await desk.get_by_role("dialog").get_by_role("button", name="Reject").click()
    await expect(desk.get_by_text("Rejected: the old text stays.")).to_be_visible()

    assert site.ask(ARTICLE, id=article)["article"] == {
        "title": "A new title, held by a rule", "content": "An old text.",
    }  # fmt: skip
    assert site.ask(COMMENT, id=comment)["comment"] == {"content": "An old answer."}
    told = site.ask(INBOX, writer)["inbox"]["notifications"]["nodes"]
    assert {"kind": "REJECT_EDIT", "reason": "It answers nothing."} in [each["subject"] for each in told]
    await opened(desk, f"/moderation?kind=pending&group={group}")
    await expect(desk.locator("main ol.items > li")).to_have_count(0)


async def test_edit_that_waits_is_seen_by_its_poster_and_on_the_page_of_the_thing(visit, page, site, axe):  # M2, M10
    moderator, writer, other = site.member("moderator"), site.member("writer"), site.member("other")
    site.moderate(moderator)
    article = site.post(writer, "Edited by its poster", content="An old text.")
    edit(site, writer, article, content="A new text, held by a rule.")
    own, desk, theirs = await visit(writer), await visit(moderator), await visit(other)
    await opened(own, site.path(article))
    notice = own.get_by_role("group", name="The edit that waits")
    await expect(notice).to_contain_text("Your edit waits for a moderator")
    await expect(notice).to_contain_text("Until then others read the old text.")
    await expect(notice).to_contain_text("A new text, held by a rule.")
    assert await axe(own) == []
    for each in (theirs, page):
        await opened(each, site.path(article))
        await expect(each.get_by_text("An old text.")).to_be_visible()
        await expect(each.get_by_role("group", name="The edit that waits")).to_have_count(0)

    await opened(desk, f"/moderation/{article}")
    await expect(desk.get_by_role("group", name="The edit that waits")).to_contain_text("A new text, held by a rule.")
    assert await axe(desk) == []
    await desk.get_by_role("button", name="Approve: Edited by its poster").click()
    await desk.get_by_role("dialog").get_by_role("button", name="Approve").click()
    await expect(desk.get_by_role("group", name="The edit that waits")).to_have_count(0)
    await expect(desk.get_by_role("main")).to_contain_text("A new text, held by a rule.")
    await opened(theirs, site.path(article))
    await expect(theirs.get_by_role("main")).to_contain_text("A new text, held by a rule.")


async def test_rule_that_holds_a_text_is_said_wherever_it_waits(visit, site, axe, faults):  # M10
    group = "held-by-rule"
    moderator, writer = site.member("moderator"), site.member("writer")
    site.moderate(moderator, group)
    article = site.post(writer, "A title, held by a rule", content="A text.", groups=[group])
    other = site.post(writer, "With an answer", content="A text.", groups=[group])
    comment = site.comment(writer, other, "An answer, held by a rule.")
    store = await site.open_store()
    number = int(comment.partition(":")[2])
    key = keys.comment(store.site.partition_of_article(number), number)
    # as after a hold by the check, a service that looks at texts
    await store.site.redis.run(("HSET", key, "held_by", "check it names a shop"))
    await store.close()
    desk, own = await visit(moderator), await visit(writer)
    by_rule, by_check = "it has a word that is looked at first", "the check of texts asks for a look"

    await opened(desk, f"/moderation?kind=pending&group={group}")
    await expect(waiting(desk, re.compile("^Comment by writer"))).to_contain_text(f"{by_check}: it names a shop")
    await opened(desk, f"/moderation/{article}")
    await expect(desk.get_by_role("status").filter(has_text="It is not shown")).to_contain_text(
        f"moderator: {by_rule}."
    )
    assert await axe(desk) == []
    await opened(desk, f"/moderation/{comment}")
    shown = desk.get_by_role("status").filter(has_text="It is not shown")
    await expect(shown).to_contain_text(f"moderator: {by_check}: it names a shop.")

    await opened(own, site.path(article))
    await expect(own.get_by_text(f"This article waits for a moderator: {by_rule}.")).to_be_visible()
    await opened(own, site.path(other, comment))
    await expect(own.get_by_text(f"This comment waits for a moderator: {by_check}.")).to_be_visible()
    await opened(own, "/held")
    for why in (by_rule, by_check):
        await expect(own.get_by_text(f"It waits for a moderator: {why}.")).to_be_visible()
    await expect(own.get_by_text("it names a shop")).to_have_count(0)
    faults.ignore("status of 404")  # the HTML of the server is that for strangers
