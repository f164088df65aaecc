"""
The desk, which is the pages of moderators: the queue of what waits for them, and the page of one article, comment or
user, by keyboard, on phones, and in two browsers at once.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it. A rule of
the site holds texts with the words "held by a rule".

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re
from itertools import count, pairwise
from time import monotonic

import pytest
from playwright.async_api import Locator, Page, expect

from store.records import ContentState
from store.store import Store
from tests.reader.conftest import DESKTOP, PHONE, opened
from tests.reader.gateway import gateway
from tests.reader.site import Member, Site
from tests.store.held import set_article_state, set_comment_state

GROUPS = (f"desk-{number}" for number in count(1))  # a new one for each test
SMALLEST = {"width": 320, "height": 640}
LOG = """query($id: ID!) { moderationLog(subjectId: $id, first: 10) {
  nodes { kind moderator { username } reason note group { name } expiresAt } } }"""
STATE = "query($id: ID!) { article(id: $id) { state isLocked } }"
# The left and right sides of what stands in the first line of the header.
HEADER = """[...document.querySelectorAll('header .site, header .account > *')].map((each) => {
  const { left, right } = each.getBoundingClientRect();
  return [left, right];
})"""


@pytest.fixture
def group() -> str:
    return next(GROUPS)


@pytest.fixture
def moderator(site: Site) -> Member:
    member = site.member("moderator")
    site.moderate(member)
    return member


def item(page: Page, name: str) -> Locator:
    """A line of the queue."""
    return page.get_by_role("article", name=name, exact=True)


def log(site: Site, subject: str, by: Member | None = None) -> list[dict]:
    """The actions of moderators on an article, a comment or a user, newest first."""
    return site.ask(LOG, by, id=subject)["moderationLog"]["nodes"]


def flagged(site: Site, group: str, *titles: str) -> list[str]:
    """Articles of a new member in a group that another one has flagged, the last one first in the queue."""
    writer, flagger = site.member("writer"), site.member("flagger")
    articles = [site.post(writer, title, groups=[group]) for title in titles]
    for article in articles:
        site.flag(flagger, article, "SPAM", "The same text as yesterday")
    return articles


async def test_counts_of_the_queues_are_asked_for_once(visit, site, moderator, group):
    flagged(site, group, "Counted")
    page, asked = await visit(moderator), []
    page.on("request", lambda request: asked.append((request.post_data_json or {}).get("operationName")))
    await opened(page, "/moderation")
    await expect(item(page, "Counted")).to_be_visible()
    await item(page, "Counted").get_by_role("link", name="Counted").click()
    await expect(page.get_by_role("heading", name="Counted")).to_be_visible()

    assert asked.count("QueueCounts") == 1
    await visit.subscribed(page, "moderationQueueChanged")
    await page.go_back()
    await expect(page.get_by_role("link", name="Flagged 1")).to_be_visible()
    flagged(site, group, "Counted as well")
    await expect(page.get_by_role("link", name="Flagged 2")).to_be_visible()

    assert asked.count("QueueCounts") == 2  # by the header and the tabs, which show them both


async def test_count_beside_a_name_in_the_other_direction_is_in_one_piece(visit, site, moderator, group):
    flagged(site, group, "Counted from right to left")
    page = await visit(moderator)
    await opened(page, "/groups?lang=ar")

    count = page.locator("header .desk .unseen")
    await expect(count).to_be_visible()
    assert await count.evaluate("(each) => each.getClientRects().length") == 1


async def test_queue_says_what_waits_and_why(visit, site, axe, group, moderator):
    article, _ = flagged(site, group, "Flagged twice", "Flagged once")
    other = site.member("other")
    site.flag(other, article, "ABUSE")
    comment = site.comment(site.member("rude"), article, "A rude answer.")
    site.flag(other, comment, "OFF_TOPIC")
    page = await visit(moderator)
    await opened(page, f"/moderation?group={group}")

    await expect(page.locator("main ol.items > li")).to_have_count(3)
    twice = item(page, "Flagged twice")
    await expect(twice).to_contain_text("2 flags: 1 spam, 1 abuse")
    await expect(twice).to_contain_text("The same text as yesterday")
    await expect(twice.get_by_role("link", name=other.username)).to_be_visible()
    rude = page.get_by_role("article", name=re.compile("^Comment by rude"))
    await expect(rude).to_contain_text("A rude answer.")
    await expect(rude).to_contain_text("on Flagged twice")
    await expect(rude.get_by_role("button", name="Lock")).to_have_count(0)
    for viewport in (DESKTOP, PHONE, SMALLEST):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = await page.evaluate(HEADER)
    assert all(left[1] <= right[0] for left, right in pairwise(boxes)), boxes
    await page.emulate_media(color_scheme="dark")
    assert await axe(page) == []


async def test_moderator_works_through_the_queue_by_keyboard(visit, site, axe, group, moderator):
    kept, removed, locked = flagged(site, group, "To be approved", "To be removed", "To be locked")
    page = await visit(moderator)
    await opened(page, f"/moderation?group={group}")
    await expect(item(page, "To be approved")).to_be_visible()

    await page.keyboard.press("j")
    await expect(item(page, "To be locked")).to_be_focused()
    await page.keyboard.press("l")
    await expect(page.get_by_role("textbox", name="Reason")).to_be_focused()
    await page.keyboard.press("Enter")  # a line of the reason, not the form
    await page.get_by_role("button", name="Lock", exact=True).press("Enter")
    await expect(page.get_by_role("textbox", name="Reason")).to_be_focused()
    await expect(page.get_by_role("dialog")).to_contain_text("reason")
    await expect(page.get_by_role("textbox", name="Reason")).to_have_attribute("aria-invalid", "true")
    assert await axe(page) == []
    await page.keyboard.type("Said before.")
    await page.get_by_role("button", name="Lock", exact=True).press("Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(item(page, "To be locked")).to_be_focused()
    await page.keyboard.press("j")
    await page.keyboard.press("r")
    await expect(page.get_by_role("textbox", name="Reason")).to_be_focused()
    await page.keyboard.type("Advertising.")
    await page.keyboard.press("Tab")
    await page.keyboard.type("The third one.")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Removed.")).to_be_visible()
    await expect(item(page, "To be removed")).to_contain_text("This no longer waits.")
    await page.keyboard.press("j")
    await page.keyboard.press("a")
    await expect(page.get_by_text("Approved: To be approved.")).to_be_visible()
    await page.keyboard.press("k")
    await expect(item(page, "To be removed")).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(page).to_have_url(re.compile(f"/moderation/{removed}$"))
    await expect(page.get_by_role("status").filter(has_text="A moderator has removed it.")).to_be_visible()
    (removal,) = log(site, removed, moderator)
    assert (removal["kind"], removal["reason"], removal["note"]) == ("REMOVE", "Advertising.", "The third one.")
    assert [each["kind"] for each in log(site, kept)] == ["APPROVE"]
    assert site.ask(STATE, id=locked)["article"] == {"state": "VISIBLE", "isLocked": True}
    await page.go_back()
    await expect(page.locator("main ol.items > li")).to_have_count(1)
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_contain_text("approve what waits for moderators")


async def test_two_moderators_see_what_the_other_does_within_a_second(visit, site, group, moderator):
    titles = [f"Seen by two: {number}" for number in range(4)]
    *articles, last = flagged(site, group, *titles)
    other = site.member("other")
    site.moderate(other, group)
    here, there, thing = await visit(moderator), await visit(other), await visit(other)
    for page in (here, there):
        await opened(page, f"/moderation?group={group}")
        await expect(page.locator("main ol.items > li")).to_have_count(4)
    await opened(thing, f"/moderation/{last}")
    await expect(thing.get_by_role("button", name=f"Remove: {titles[3]}")).to_be_visible()
    for page in (here, there, thing):
        await visit.subscribed(page, "moderated")

    seconds = []
    for title, left in zip(titles[:3], (3, 2, 1), strict=True):
        await item(here, title).get_by_role("button", name="Approve").click()
        await expect(here.get_by_text(f"Approved: {title}.")).to_be_visible()
        started = monotonic()
        await expect(there.locator("main ol.items > li")).to_have_count(left)
        seconds.append(monotonic() - started)
    assert min(seconds) < 1  # the shortest, as a busy machine delays some
    await item(here, titles[3]).get_by_role("button", name="Remove").click()
    await here.get_by_label("Reason").fill("Advertising.")
    await here.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(here.get_by_role("dialog")).to_have_count(0)
    await expect(there.get_by_text("Nothing that is flagged waits.")).to_be_visible()
    await expect(thing.get_by_text("A moderator has removed it.")).to_be_visible()
    await expect(thing.get_by_role("article", name=f"{moderator.username}: removed it")).to_contain_text("Advertising.")
    await expect(there.get_by_role("link", name="Moderation", exact=True)).to_be_visible()
    await thing.get_by_role("button", name="Revert: removed it").click()
    await thing.get_by_label("Reason").fill("A mistake.")
    await thing.get_by_role("dialog").get_by_role("button", name="Revert").click()
    await expect(there.locator("main ol.items > li")).to_have_count(1)  # it waits again
    assert [each["kind"] for each in log(site, last)] == ["REVERT", "REMOVE"]
    assert [each["kind"] for each in log(site, articles[0])] == ["APPROVE"]


async def test_page_of_a_thing_has_all_that_a_moderator_needs(visit, site, axe, group, moderator):
    writer = site.member("writer")
    article = site.post(writer, "A thing with a history", content="Its text.", groups=[group])
    site.comment(site.member("reader"), article, "An answer to it.")
    site.post(writer, "Another text of the same writer")
    site.flag(site.member("flagger"), article, "ILLEGAL", "Stolen.")
    page = await visit(moderator)
    await opened(page, f"/moderation/{article}")

    await expect(page.get_by_role("heading", level=1)).to_contain_text("A thing with a history")
    for text in ("Its text.", "1 flag: 1 illegal", "Stolen.", "An answer to it.", "Another text of the same writer"):
        await expect(page.get_by_role("main")).to_contain_text(text)
    for viewport in (DESKTOP, PHONE, SMALLEST):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.keyboard.press("r")
    await page.get_by_label("Where").select_option(f"Out of the group {group}")
    await page.get_by_label("Reason").fill("It belongs elsewhere.")
    await page.get_by_label("Note").fill("Seen in May, too.")
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    removal = page.get_by_role("article", name=f"{moderator.username}: took it out of the group {group}")
    await expect(removal).to_contain_text("It belongs elsewhere.")
    await expect(removal).to_contain_text("Note: Seen in May, too.")
    await removal.get_by_role("button", name="Revert").click()
    await page.get_by_label("Reason").fill("It was right there.")
    await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
    await expect(removal).to_contain_text(f"reverted by {moderator.username}")
    await expect(removal.get_by_role("button")).to_have_count(0)
    assert [each["kind"] for each in log(site, article)] == ["REVERT", "REMOVE"]
    await page.get_by_role("button", name=f"Ban: {writer.username}").click()
    await page.get_by_label("How long").select_option("1 week")
    await page.get_by_role("textbox", name="Group").fill("not a group")
    await page.get_by_label("Reason").fill("Twice.")
    await page.get_by_role("dialog").get_by_role("button", name="Ban").click()
    await expect(page.get_by_role("textbox", name="Group")).to_have_attribute("aria-invalid", "true")
    await page.get_by_role("textbox", name="Group").fill("")
    await page.get_by_role("dialog").get_by_role("button", name="Ban").click()
    await expect(page.get_by_text(re.compile("^Banned from this site until"))).to_be_visible()
    (ban,) = log(site, writer.id)
    assert (ban["kind"], ban["reason"], ban["group"]) == ("BAN", "Twice.", None)
    assert ban["expiresAt"] is not None
    assert await axe(page) == []


async def test_page_of_a_comment_shows_it_in_its_thread(visit, site, axe, group):
    moderator, writer = site.member("moderator"), site.member("writer")
    site.moderate(moderator, group)
    article = site.post(writer, "An article above", groups=[group])
    above = site.comment(moderator, article, "What is answered.")
    comment = site.comment(writer, article, "A rude answer.", above)
    site.comment(moderator, article, "What answers it.", comment)
    site.flag(site.member("flagger"), comment, "ABUSE")
    page = await visit(moderator)
    await opened(page, f"/moderation/{comment}")

    await expect(page.get_by_text("1 flag: 1 abuse")).to_be_visible()
    await expect(page.locator(".thread article")).to_contain_text(
        ["What is answered.", "A rude answer.", "What answers it."]
    )
    await expect(page.locator(".thread article[aria-current]")).to_contain_text("A rude answer.")
    assert await axe(page) == []
    await page.get_by_role("button", name="Remove: ").click()
    await page.get_by_label("Reason").fill("Be kind.")
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_text("A moderator has removed it.")).to_be_visible()
    await expect(page.locator(".thread article[aria-current]")).to_contain_text("removed")
    await opened(page, f"/moderation/{writer.id}")
    await expect(page.get_by_role("link", name="An article above")).to_be_visible()
    assert await axe(page) == []


async def test_ban_by_another_moderator_is_seen_on_the_page_of_a_user(visit, site, moderator):
    banned = site.member("banned")
    page = await visit(moderator)
    await opened(page, f"/moderation/{banned.id}")
    await expect(page.get_by_text("No moderator has done anything about this user.")).to_be_visible()
    await visit.subscribed(page, "moderated")
    other = site.member("other")
    site.moderate(other)
    action = site.act(other, "banUser", userId=banned.id, reason="Threats.")

    await expect(page.get_by_text("Banned from this site for good.")).to_be_visible()
    await expect(
        page.get_by_role("article", name=f"{other.username}: banned them from this site for good")
    ).to_contain_text("Threats.")
    site.act(other, "revertModeration", actionId=action, reason="A mistake.")
    await expect(page.get_by_text("Banned from this site for good.")).to_have_count(0)


async def test_appeal_is_answered_or_granted(visit, site, axe, group):
    moderator, writer = site.member("moderator"), site.member("writer")
    site.moderate(moderator, group)
    other = site.member("other")
    site.moderate(other, group)
    articles = [site.post(writer, f"Removed unjustly: {number}", groups=[group]) for number in range(2)]
    removals = [site.act(moderator, "removeContent", subjectId=each, reason="Advertising.") for each in articles]
    here, there = await visit(moderator), await visit(other)
    for page in (here, there):
        await opened(page, "/moderation?kind=appeals")
        await expect(page.get_by_text("No appeal waits for an answer.")).to_be_visible()
        await visit.subscribed(page, "moderationQueueChanged")
    for number, removal in enumerate(removals, 1):
        site.act(writer, "appeal", actionId=removal, text="I am paid by nobody.")
        await expect(here.get_by_role("link", name=f"Appeals {number}")).to_be_visible()

    for page in (here, there):
        await expect(page.get_by_role("link", name="Appeals 2")).to_be_visible()
        await expect(page.locator("main ol.items > li")).to_have_count(2)
        await expect(page.locator("main ol.items > li").first).to_contain_text("I am paid by nobody.")
        line = page.get_by_role("article").filter(has_text="Removed unjustly: 0")
        await expect(line).to_contain_text("removed Removed unjustly: 0")
    assert await axe(here) == []
    await here.keyboard.press("j")
    await here.keyboard.press("a")
    await expect(here.get_by_role("textbox", name="Answer")).to_be_focused()
    await here.get_by_role("dialog").get_by_role("button", name="Answer").press("Enter")
    await expect(here.get_by_role("textbox", name="Answer")).to_have_attribute("aria-invalid", "true")
    await expect(here.get_by_role("textbox", name="Answer")).to_be_focused()
    await here.keyboard.type("It names a price.")
    await here.get_by_role("dialog").get_by_role("button", name="Answer").press("Enter")
    await expect(here.get_by_role("dialog")).to_have_count(0)
    await expect(there.locator("main ol.items > li")).to_have_count(1)
    await here.keyboard.press("j")
    await here.keyboard.press("r")
    await expect(here.get_by_role("textbox", name="Reason")).to_be_focused()
    await here.keyboard.type("They are right.")
    await here.get_by_role("dialog").get_by_role("button", name="Revert").press("Enter")
    await expect(there.get_by_text("No appeal waits for an answer.")).to_be_visible()
    await opened(there, f"/moderation/{articles[0]}")
    await expect(there.get_by_text("It names a price.")).to_be_visible()
    await expect(there.get_by_role("button", name="Answer: ")).to_have_count(0)
    assert [each["kind"] for each in log(site, articles[1])] == ["REVERT", "REMOVE"]


async def test_ban_removes_the_texts_of_the_user_if_that_is_asked_for(visit, site, group):
    moderator, spammer = site.member("moderator"), site.member("spammer")
    site.moderate(moderator, group)
    elsewhere = site.post(spammer, "Spam elsewhere")
    article = site.post(spammer, "Spam in the group", groups=[group])
    page = await visit(moderator)
    await opened(page, f"/moderation/{article}")
    await page.get_by_role("button", name=f"Ban: {spammer.username}").click()
    await page.get_by_label("Remove all their articles and comments there, too").check()
    await page.get_by_label("Reason").fill("Nothing but spam.")
    await page.get_by_role("dialog").get_by_role("button", name="Ban").click()

    await expect(page.get_by_role("article", name=re.compile(": removed"))).to_be_visible()
    assert [each["kind"] for each in log(site, spammer.id)] == ["BAN"]
    assert log(site, elsewhere) == []
    removal = page.get_by_role("article", name=re.compile(": removed"))
    await expect(removal.get_by_role("link", name="with a ban of its poster")).to_have_attribute(
        "href", f"/log?subject={spammer.id.replace(':', '%3A')}"
    )


async def test_moderator_of_a_group_who_takes_a_pending_article_out_of_it_is_told_so(visit, site, axe, group):  # M2
    moderator, other = site.member("moderator"), next(GROUPS)
    site.moderate(moderator, group)
    writer = site.member("writer")
    article = site.post(writer, "A title, held by a rule", content="A text.", groups=[group, other])
    page = await visit(moderator)
    await opened(page, f"/moderation/{article}")
    await page.get_by_role("button", name="Remove: ").click()
    await page.get_by_label("Reason").fill("It belongs elsewhere.")
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("Not in your groups")
    await expect(page.get_by_text("It was taken out of a group")).to_be_visible()
    await expect(page.get_by_role("article", name=re.compile("took it out of the group"))).to_be_visible()
    assert await axe(page) == []
    admin = site.member("admin")
    site.moderate(admin)
    site.act(admin, "removeContent", subjectId=article, reason="An advertisement.")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Removed")
    await page.get_by_role("link", name="what waits").click()
    await expect(page).to_have_url(re.compile("/moderation$"))


async def test_moderator_of_a_group_sees_its_queue_and_reasons_only(visit, site, group):
    moderator, elsewhere = site.member("moderator"), next(GROUPS)
    site.moderate(moderator, group)
    (article,) = flagged(site, group, "In the group")
    flagged(site, elsewhere, "In another group")
    page = await visit(moderator)
    await opened(page, "/moderation")

    await expect(page.get_by_role("link", name="Moderation 1 waiting")).to_be_visible()
    await expect(page.get_by_role("link", name="Flagged 1")).to_be_visible()
    await expect(page.locator("main ol.items > li")).to_have_count(1)
    await expect(item(page, "In the group")).to_contain_text("1 flag: 1 spam")
    await expect(page.get_by_text("The same text as yesterday")).to_have_count(0)
    await item(page, "In the group").get_by_role("button", name="Ban").click()
    await expect(page.get_by_label("Where").locator("option")).to_have_text([f"The group {group}"])
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await opened(page, f"/moderation?group={elsewhere}")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Only for moderators")
    assert log(site, article) == []


async def test_pending_things_are_approved_or_removed_in_their_tab(visit, page, site, axe, group, moderator):  # M2
    writer = site.member("writer")
    article, other = [site.post(writer, title, groups=[group]) for title in ("Held article", "Article with a thread")]
    comment = site.comment(site.member("rude"), other, "A held answer.")
    flagged(site, group, "Flagged, and not held")
    store = await Store.open(f"unix://{(site.folder / 'address').read_text()}")
    await set_article_state(store, int(article.partition(":")[2]), ContentState.PENDING)
    await set_comment_state(store, int(comment.partition(":")[2]), ContentState.PENDING)
    await store.close()
    desk, own = await visit(moderator), await visit(writer)
    await opened(desk, f"/moderation?group={group}")
    await expect(desk.locator("main ol.items > li")).to_have_count(1)
    await desk.get_by_role("link", name=re.compile("^Pending")).click()
    await expect(desk.locator("main ol.items > li")).to_have_count(2)
    await expect(item(desk, "Held article")).to_contain_text(re.compile(f"{writer.username}\\s*posted"))
    held = desk.get_by_role("article", name=re.compile("^Comment by rude"))
    await expect(held).to_contain_text("A held answer.")
    for viewport in (DESKTOP, SMALLEST):
        await desk.set_viewport_size(viewport)
        assert await axe(desk) == []
    await opened(own, "/held")
    await expect(own.get_by_role("main")).to_contain_text("Held article")
    await opened(page, f"/group/{group}")
    await expect(page.get_by_role("main")).to_contain_text("Article with a thread")
    await expect(page.get_by_role("main")).not_to_contain_text("Held article")

    await item(desk, "Held article").focus()
    await desk.keyboard.press("a")
    await expect(desk.get_by_text("Approved: Held article.")).to_be_visible()
    await held.focus()
    await desk.keyboard.press("r")
    await desk.keyboard.type("Rude.")
    await desk.get_by_role("button", name="Remove", exact=True).press("Enter")
    await expect(held).to_contain_text("This no longer waits.")
    await opened(desk, f"/moderation?kind=pending&group={group}")
    await expect(desk.locator("main ol.items > li")).to_have_count(0)
    await opened(page, f"/group/{group}")
    await expect(page.get_by_role("main")).to_contain_text("Held article")
    assert [each["kind"] for each in log(site, article)] == ["APPROVE"]
    assert [each["kind"] for each in log(site, comment)] == ["REMOVE"]


async def test_queue_does_not_move_while_one_points_at_it(visit, site, group, moderator):
    first, _ = flagged(site, group, "Below", "Pointed at")
    page = await visit(moderator)
    await opened(page, f"/moderation?group={group}")
    await visit.subscribed(page, "moderated")
    await item(page, "Pointed at").hover()
    flagged(site, group, "Flagged meanwhile")
    site.act(moderator, "removeContent", subjectId=first, reason="Advertising.")

    await expect(page.get_by_role("button", name="1 new thing")).to_be_visible()
    await expect(item(page, "Below")).to_contain_text("This no longer waits.")
    await expect(page.locator("main ol.items > li")).to_have_count(2)
    await page.mouse.move(1, 1)  # away from the things
    await expect(page.locator("main ol.items > li h2")).to_have_text(["Flagged meanwhile", "Pointed at"])


async def test_queue_has_what_was_flagged_while_the_network_was_lost(visit, site, group, moderator, faults):
    flagged(site, group, "Flagged before")
    async with gateway(site.url) as (network, url):
        page = await visit(moderator, base_url=url)
        await opened(page, f"/moderation?group={group}")
        await visit.subscribed(page, "moderated")
        network.cut()
        flagged(site, group, "Flagged meanwhile")
        network.restore()

        await expect(item(page, "Flagged meanwhile")).to_be_visible()
    faults.ignore("ERR_|WebSocket|status of 5")


@pytest.mark.parametrize("path", ["/moderation", "/moderation/article:1", "/moderation/user:alice"])
async def test_pages_are_for_moderators(visit, site, axe, path):
    for member in (None, site.member("stranger")):
        page = await visit(member)
        await opened(page, path)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Only for moderators")
        await expect(page.get_by_role("banner").get_by_role("link", name="Moderation")).to_have_count(0)
        assert await axe(page) == []


async def test_what_is_not_there_is_said_so(visit, moderator, faults):
    page = await visit(moderator)
    for path in ("/moderation/article:1", "/moderation/user:nobody-at-all", "/moderation?kind=odd", "/moderation/odd"):
        await opened(page, path)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    faults.ignore("status of 404")
