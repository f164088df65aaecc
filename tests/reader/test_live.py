"""What happens in one browser is seen in another, which asks for nothing."""

import asyncio
from itertools import count
from time import monotonic

import pytest
from playwright.async_api import Route, expect

from tests.reader.conftest import GRAPHQL, log_out, opened
from tests.reader.lines import button, expect_votes, line, titles
from tests.servers import PATIENCE

GROUPS = (f"live-{number}" for number in count(1))  # a new one for each test


@pytest.fixture
def group() -> str:
    return next(GROUPS)


async def test_vote_is_shown_in_another_browser_within_a_second_and_ranks_move(visit, site, group):
    alice, bob = site.member("alice"), site.member("bob")
    for title in ("First posted", "Second posted"):
        site.post(alice, title, groups=[group])
    here, there = await visit(bob), await visit()
    await opened(here, f"/group/{group}")
    await opened(there, f"/group/{group}")
    await visit.subscribed(there, "rankingChanged")
    assert await titles(there) == ["Second posted", "First posted"]

    seconds = []
    for votes, order in [(2, ["First posted", "Second posted"]), (1, ["Second posted", "First posted"])] * 3:
        await button(line(here, "First posted")).click()
        started = monotonic()
        await expect_votes(line(there, "First posted"), votes)
        await expect(there.locator("main ol > li h2 a")).to_have_text(order)
        seconds.append(monotonic() - started)
        await expect(line(there, order[0])).to_have_attribute("data-rank", "1")
        await here.evaluate("document.activeElement.blur()")
        await here.mouse.move(1, 1)  # away from the rows, which wait while one points at them
        await expect(here.locator("main ol > li h2 a")).to_have_text(order)
    assert min(seconds) < 1


async def test_vote_moves_the_top_of_a_period_in_another_browser(visit, site, group):
    alice, bob = site.member("alice"), site.member("bob")
    lower, _ = [site.post(alice, title, groups=[group]) for title in ("Posted before", "Posted after")]
    page = await visit()
    await opened(page, f"/group/{group}?top=week")
    await visit.subscribed(page, "articlesChanged")
    assert await titles(page) == ["Posted after", "Posted before"]

    site.vote(bob, lower)

    await expect(page.locator("main ol > li h2 a")).to_have_text(["Posted before", "Posted after"])
    await expect(line(page, "Posted before")).to_have_attribute("data-rank", "1")


async def test_votes_are_shown_in_every_list_in_another_browser(visit, site, group):
    alice, bob = site.member("alice"), site.member("bob")
    title = f"In every list of {group}"
    article = site.post(alice, title, groups=[group])
    for number in range(30):
        site.post(bob, f"Newer {number}", groups=[group])
    pages = []
    for path in (f"/group/{group}?page=2", f"/user/{alice.username}", "/feed", f"/search?q={group}&order=NEWEST"):
        visit.frames.clear()
        page = await visit(alice)
        await opened(page, path)
        await visit.subscribed(page, "articlesChanged")
        pages.append(page)

    site.vote(bob, article)

    for page in pages:
        await expect_votes(line(page, title), 2, "UP")


@pytest.mark.parametrize("order", ["TIME", "HOT", "ACTIVE"])
async def test_number_of_comments_changes_in_a_ranking_in_another_browser(visit, site, group, order):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Commented on in a list", groups=[group])
    pages = []
    for path in (f"/group/{group}?order={order}", "/?order=TIME"):
        visit.frames.clear()
        page = await visit()
        await opened(page, path)
        await visit.subscribed(page, "rankingChanged")
        pages.append(page)

    for said in ("1 comment", "2 comments"):
        site.comment(bob, article, f"It makes {said}")

        for page in pages:
            row = line(page, "Commented on in a list").first
            await expect(row.get_by_role("link", name=said, exact=True)).to_be_visible()


async def test_votes_on_an_article_and_a_comment_are_shown_on_its_page_in_another_browser(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Voted on in two browsers", content="Text.")
    site.comment(alice, article, "Voted on too")
    here, there = await visit(bob), await visit()
    await opened(here, site.path(article))
    await opened(there, site.path(article))
    await visit.subscribed(there, "commentChanged")

    for page_part in (lambda page: page.locator("main"), lambda page: page.get_by_role("article").last):
        seconds = []
        for votes, own in [(2, "UP"), (1, "NONE")] * 2:
            await button(page_part(here)).click()
            started = monotonic()
            await expect(page_part(there).locator(".count").first).to_have_text(str(votes))
            seconds.append(monotonic() - started)
            await expect_votes(page_part(here), votes, own)
        assert min(seconds) < 1


async def test_new_comment_is_announced_and_shown_only_when_asked_for(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Commented on elsewhere", content="Text.")
    first = site.comment(alice, article, "It is here already")
    page = await visit(alice)
    await opened(page, site.path(article))
    await expect(page.get_by_text("It is here already")).to_be_visible()
    await visit.subscribed(page, "commentPosted")

    site.comment(bob, article, "A new answer", first)
    announced = page.get_by_role("button", name="1 new comment")
    await expect(announced).to_be_visible()
    await expect(page.get_by_text("A new answer")).to_have_count(0)
    site.comment(bob, article, "Another one")
    announced = page.get_by_role("button", name="2 new comments")
    await expect(announced).to_be_visible()
    await announced.click()

    await expect(page.get_by_text("A new answer")).to_be_visible()
    await expect(page.get_by_text("Another one")).to_be_visible()
    await expect(page.get_by_role("button", name="new comment")).to_have_count(0)


async def test_page_does_not_say_beside_the_first_comment_that_there_is_none(visit, site):
    article = site.post(site.member("alice"), "Without comments", content="Text.")
    page = await visit()
    await opened(page, site.path(article))
    await expect(page.get_by_text("There are no comments yet.")).to_be_visible()
    await visit.subscribed(page, "commentPosted")

    site.comment(site.member("bob"), article, "The first answer")

    await expect(page.get_by_role("button", name="1 new comment")).to_be_visible()
    await expect(page.get_by_text("There are no comments yet.")).to_be_hidden()


async def test_notification_is_counted_in_the_header(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered elsewhere", content="Text.")
    page = await visit(alice)
    await opened(page, "/")
    await expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
    await visit.subscribed(page, "notification")

    site.comment(bob, article, "An answer")
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    site.comment(bob, article, "Another answer")
    await expect(page.get_by_role("link", name="Inbox 2 new")).to_be_visible()


async def test_theme_and_session_are_those_of_all_tabs(visit, site):
    alice = site.member("alice")
    page = await visit(alice)
    other = await page.context.new_page()
    for each in (page, other):
        await opened(each, "/")

    for theme, color in (("dark", "rgb(22, 21, 19)"), ("light", "rgb(251, 250, 247)")):
        await page.get_by_role("button", name=f"Use the {theme} theme").click()
        await expect(other.get_by_role("button", name=f"Use the {theme} theme")).to_have_count(0)
        await expect(other.locator("html")).to_have_css("background-color", color)

    await log_out(page)

    await expect(other.get_by_role("link", name="Log in")).to_be_visible()
    await expect(other.get_by_role("button", name=alice.username)).to_have_count(0)


async def test_change_while_the_queue_is_read_again_is_not_missed(visit, site, group):
    """Neither by a change that comes before the answer, nor by an answer that comes after a newer one."""
    moderator, writer = site.member("moderator"), site.member("writer")
    site.moderate(moderator, group)
    articles = [site.post(writer, f"Removed unjustly: {number}", groups=[group]) for number in range(2)]
    removals = [site.act(moderator, "removeContent", subjectId=each, reason="Advertising.") for each in articles]
    page = await visit(moderator)
    await opened(page, "/moderation?kind=appeals")
    await visit.subscribed(page, "moderationQueueChanged")
    await page.wait_for_load_state("networkidle")
    held, released = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        if "QueueCounts" not in (route.request.post_data or "") or held.is_set():
            await route.continue_()
            return
        answer = await route.fetch()
        held.set()
        await released.wait()
        await route.fulfill(response=answer)

    await page.route(GRAPHQL, hold)
    site.act(writer, "appeal", actionId=removals[0], text="I am paid by nobody.")
    async with asyncio.timeout(PATIENCE):
        await held.wait()
    site.act(writer, "appeal", actionId=removals[1], text="I am paid by nobody.")

    await expect(page.get_by_role("link", name="Appeals 2")).to_be_visible()
    async with page.expect_response(lambda answer: "QueueCounts" in (answer.request.post_data or "")):
        released.set()
    await asyncio.sleep(0.5)
    await expect(page.get_by_role("link", name="Appeals 2")).to_be_visible()
