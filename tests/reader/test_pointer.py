"""A list does not move while one points at it: a click, a tap or a key hits what was pointed at, whatever others do."""

import re
from itertools import count
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.reader.conftest import DESKTOP, PHONE, opened, settled
from tests.reader.lines import button, expect_votes, line, titles
from tests.reader.site import Member, Site
from tests.servers import until

GROUPS = (f"pointed{number}" for number in count(1))  # a new one for each test
# Lists of the articles of a group, whose name takes the place of {}.
RANKINGS = ["/?order=TIME", "/group/{}", "/group/{}?order=TIME", "/group/{}?order=HOT", "/group/{}?top=day"]
DELETE = "mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { deletedArticleId userErrors { message } } }"
EDIT = "mutation($input: EditArticleInput!) { editArticle(input: $input) { userErrors { message } } }"
SEARCH = "query($words: String!) { search(query: $words) { totalCount } }"
VOTED = "query($name: String!) { user(username: $name) { articles(first: 50) { nodes { title viewerVote } } } }"
# What the rows of a list are, and where.
PLACES = """() => [...document.querySelectorAll('main ol > li')].map((row) => {
  const { x, y } = row.getBoundingClientRect();
  return `${row.querySelector('article').id || row.querySelector('article').ariaLabel} at ${x}, ${y + scrollY}`;
})"""


@pytest.fixture
def group() -> str:
    return next(GROUPS)


async def point_at(page: Page, target: Locator) -> None:
    """Move the pointer to the middle of an element, where it rests."""
    await target.scroll_into_view_if_needed()
    box = await target.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def click_there(page: Page) -> None:
    """Click where the pointer rests."""
    await page.mouse.down()
    await page.mouse.up()


async def point_at_nothing(page: Page) -> None:
    await page.evaluate("document.activeElement.blur()")
    await page.mouse.move(1, 1)


def post_three(site: Site, group: str) -> tuple[Member, list[str]]:
    """Three articles of a group, named `GROUP 0` to `GROUP 2`: their poster and their ids."""
    alice = site.member("alice")
    return alice, [site.post(alice, f"{group} {number}", groups=[group]) for number in range(3)]


def voted(site: Site, member: Member, poster: Member) -> list[str]:
    """The titles of a poster's articles that a member has voted up."""
    nodes: list[dict[str, Any]] = site.ask(VOTED, member, name=poster.username)["user"]["articles"]["nodes"]
    return [node["title"] for node in nodes if node["viewerVote"] == "UP"]


def move_up(site: Site, article: str) -> None:
    """Let three new members vote for an article."""
    for _ in range(3):
        site.vote(site.member("voter"), article)


@pytest.mark.parametrize("path", RANKINGS)
async def test_click_hits_what_was_pointed_at_while_others_post_and_vote(visit, site, group, path):
    alice, articles = post_three(site, group)
    bob = site.member("bob")
    page = await visit(bob)
    await opened(page, path.format(group))
    await visit.subscribed(page, "articlesChanged" if "top" in path else "rankingChanged")
    await point_at(page, button(line(page, f"{group} 1")))
    before, shown = await page.evaluate(PLACES), await titles(page)

    site.post(alice, f"{group} 3", groups=[group])
    move_up(site, articles[0])

    await expect_votes(line(page, f"{group} 0"), 4)
    await expect(page.get_by_role("button", name="1 new article")).to_be_visible()
    assert await page.evaluate(PLACES) == before
    await click_there(page)
    await expect_votes(line(page, f"{group} 1"), 2, "UP")
    until(lambda: voted(site, bob, alice) == [f"{group} 1"])
    assert await titles(page) == shown
    await point_at_nothing(page)
    await expect(line(page, f"{group} 3")).to_be_visible()
    await expect(page.get_by_role("button", name="1 new article")).to_have_count(0)


async def test_pointer_that_rests_from_the_load_on_holds_the_list(visit, site, group):
    _, articles = post_three(site, group)
    page = await visit()
    await opened(page, f"/group/{group}")
    await point_at(page, line(page, f"{group} 1"))
    visit.frames[page].clear()
    await page.reload()
    await settled(page)
    await visit.subscribed(page, "rankingChanged")
    before = await page.evaluate(PLACES)

    move_up(site, articles[0])

    await expect(page.get_by_role("button", name="New order")).to_be_visible()
    assert await page.evaluate(PLACES) == before


async def test_list_asks_for_nothing_when_rows_move(visit, site, group):
    alice = site.member("alice")
    for number in range(30):
        site.post(alice, f"{group} {number}", groups=[group])
    page = await visit()
    asked: list[str] = []
    await opened(page, f"/group/{group}?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    page.on("request", lambda request: asked.append(request.post_data or ""))

    site.post(alice, f"{group} 30", groups=[group])

    await expect(line(page, f"{group} 30")).to_be_visible()
    await expect(line(page, f"{group} 0")).to_have_count(0)
    assert asked == []
    assert not any("articlesChanged" in frame for frame in visit.frames[page])


async def test_rows_move_a_second_after_the_pointer_has_left(visit, site, group):
    _, articles = post_three(site, group)
    page = await visit()
    await page.clock.install()
    await opened(page, f"/group/{group}")
    await visit.subscribed(page, "rankingChanged")
    await point_at(page, line(page, f"{group} 2"))
    shown = await titles(page)
    move_up(site, articles[0])
    await expect(page.get_by_role("button", name="New order")).to_be_visible()
    await page.clock.pause_at(await page.evaluate("Date.now() + 1000"))

    await point_at_nothing(page)
    await page.clock.run_for(900)
    assert await titles(page) == shown
    await page.clock.run_for(200)

    await expect(line(page, f"{group} 0")).to_have_attribute("data-rank", "1")
    await expect(page.get_by_role("button", name="New order")).to_have_count(0)


async def test_new_rows_are_shown_by_the_button_while_the_pointer_rests(visit, site, group):
    alice, _ = post_three(site, group)
    page = await visit()
    await opened(page, f"/group/{group}?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    await line(page, f"{group} 0").focus()
    for number in (3, 4):
        site.post(alice, f"{group} {number}", groups=[group])

    await page.get_by_role("button", name="2 new articles").click()

    await expect(page.locator("main ol > li h2 a")).to_have_text([f"{group} {number}" for number in (4, 3, 2, 1, 0)])
    await expect(page.get_by_role("heading", level=1)).to_be_focused()


@pytest.mark.parametrize("way", ["pointer", "keyboard"])
async def test_button_that_shows_new_rows_stays_while_one_points_at_it(visit, site, group, way):
    alice, _ = post_three(site, group)
    page = await visit()
    await opened(page, f"/group/{group}?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    if way == "pointer":
        await point_at(page, line(page, f"{group} 1"))
    else:
        await page.keyboard.press("j")
    site.post(alice, f"{group} 3", groups=[group])
    announced = page.get_by_role("button", name="1 new article")
    await expect(announced).to_be_visible()

    if way == "pointer":
        await point_at(page, announced)
    else:
        await page.keyboard.press("Shift+Tab")
        await expect(announced).to_be_focused()
    await page.wait_for_timeout(1_500)  # longer than a list is held after the last pointing

    await expect(line(page, f"{group} 3")).to_have_count(0)
    if way == "pointer":
        await click_there(page)
    else:
        await page.keyboard.press("Enter")
    await expect(line(page, f"{group} 3")).to_be_visible()
    await expect(announced).to_have_count(0)


# Of the button that shows new rows: whether its middle and its edges take clicks, and which share of the heights of
# links it covers.
COVERED = """() => {
  const { top, right, bottom, left } = document.querySelector('.arrivals button').getBoundingClientRect();
  const isHit = (y) => document.elementFromPoint((left + right) / 2, y).matches('.arrivals button');
  const shares = [...document.querySelectorAll('main a')].map((link) => {
    const box = link.getBoundingClientRect();
    const isBeside = box.left >= right || box.right <= left;
    return isBeside ? 0 : (Math.min(box.bottom, bottom) - Math.max(box.top, top)) / box.height;
  });
  return { isWhole: [top + 1, (top + bottom) / 2, bottom - 1].every(isHit), share: Math.max(...shares) };
}"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_button_that_shows_new_rows_is_pressed_on_all_of_it_and_leaves_links_free(visit, site, viewport):
    page = await visit(viewport=viewport, has_touch=viewport == PHONE, is_mobile=viewport == PHONE)
    site.post(site.member("alice"), "A title that is as wide as its row " * 4)
    await opened(page, "/?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    await page.get_by_role("article").first.focus()

    site.post(site.member("alice"), "New")

    await expect(page.get_by_role("button", name="1 new article")).to_be_visible()
    covered = await page.evaluate(COVERED)
    assert covered["isWhole"]
    assert covered["share"] <= (0 if viewport == DESKTOP else 0.5)


async def test_button_that_shows_new_rows_follows_the_view_and_does_not_appear_below_the_pointer(visit, site):
    page = await visit()
    await opened(page, "/?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    await page.locator("main ol > li").last.scroll_into_view_if_needed()
    await page.mouse.move(980, 20)  # to where the button would appear

    site.post(site.member("alice"), "New above all")

    announced = page.locator(".arrivals button")
    await expect(announced).to_have_text("1 new article")
    await expect(announced).to_be_hidden()
    await page.mouse.move(640, 300)
    await expect(announced).to_be_in_viewport()


async def test_key_hits_what_has_the_focus(visit, site, group):
    alice, articles = post_three(site, group)
    bob = site.member("bob")
    page = await visit(bob)
    await opened(page, f"/group/{group}")
    await visit.subscribed(page, "rankingChanged")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(line(page, f"{group} 1")).to_be_focused()
    before = await page.evaluate(PLACES)

    move_up(site, articles[0])
    await expect(page.get_by_role("button", name="New order")).to_be_visible()
    await page.wait_for_timeout(1_500)  # longer than a list is held after a key

    assert await page.evaluate(PLACES) == before
    await page.keyboard.press("u")
    until(lambda: voted(site, bob, alice) == [f"{group} 1"])


async def test_tap_hits_what_is_seen(visit, site, group):
    """A finger does not hover, so nothing tells what it is about to hit."""
    alice, articles = post_three(site, group)
    bob = site.member("bob")
    page = await visit(bob, viewport=PHONE, has_touch=True, is_mobile=True)
    await opened(page, f"/group/{group}")
    await visit.subscribed(page, "rankingChanged")
    up = await button(line(page, f"{group} 1")).bounding_box()
    assert up is not None

    site.post(alice, f"{group} 3", groups=[group])
    move_up(site, articles[0])
    await expect(page.get_by_role("button", name="1 new article")).to_be_visible()
    await page.wait_for_timeout(1_500)  # longer than a list is held after the last pointing
    await page.touchscreen.tap(up["x"] + up["width"] / 2, up["y"] + up["height"] / 2)

    await expect_votes(line(page, f"{group} 1"), 2, "UP")
    until(lambda: voted(site, bob, alice) == [f"{group} 1"])
    await page.get_by_role("button", name="1 new article").tap()
    await expect(line(page, f"{group} 0")).to_have_attribute("data-rank", "1")
    await expect(line(page, f"{group} 3")).to_be_visible()


async def test_row_that_has_left_its_list_stays_and_can_be_voted_on(visit, site, group):
    alice, bob = site.member("alice"), site.member("bob")
    last, *_ = [site.post(alice, f"{group} {number}", groups=[group]) for number in range(30)]
    page = await visit(bob)
    await opened(page, f"/group/{group}?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    await point_at(page, button(line(page, f"{group} 0")))
    before = await page.evaluate(PLACES)

    site.post(alice, f"{group} 30", groups=[group])
    await expect(page.get_by_role("button", name="1 new article")).to_have_count(1)
    await visit.subscribed(page, "articlesChanged")
    site.vote(site.member("voter"), last)

    await expect_votes(line(page, f"{group} 0"), 2)
    assert await page.evaluate(PLACES) == before
    await click_there(page)
    await expect_votes(line(page, f"{group} 0"), 3, "UP")
    assert voted(site, bob, alice) == [f"{group} 0"]
    await point_at_nothing(page)
    await expect(line(page, f"{group} 0")).to_have_count(0)


async def test_deleted_article_keeps_its_place_until_nothing_points_at_the_list(visit, site, group):
    alice, articles = post_three(site, group)
    bob = site.member("bob")
    page = await visit(bob)
    await opened(page, f"/group/{group}?order=TIME")
    await visit.subscribed(page, "rankingChanged")
    await point_at(page, button(line(page, f"{group} 1")))
    tops = "[...document.querySelectorAll('main ol > li')].map((row) => row.getBoundingClientRect().top)"
    before = await page.evaluate(tops)

    for article in articles[1:]:
        site.ask(DELETE, alice, id=article)

    await expect(page.get_by_role("article", name=f"Deleted: {group} 1")).to_be_visible()
    await expect(page.get_by_role("article", name=f"Deleted: {group} 2")).to_be_visible()
    assert await page.evaluate(tops) == before
    await click_there(page)
    await point_at_nothing(page)
    await expect(page.locator("main ol > li h2")).to_have_count(1)
    assert voted(site, bob, alice) == []


async def test_longer_title_moves_nothing_while_the_pointer_rests(visit, site, group):
    alice, articles = post_three(site, group)
    page = await visit(viewport=PHONE)
    await opened(page, f"/group/{group}")
    await visit.subscribed(page, "rankingChanged")
    await point_at(page, button(line(page, f"{group} 0")))
    tops = "[...document.querySelectorAll('main ol > li')].map((row) => row.getBoundingClientRect().top)"
    before = await page.evaluate(tops)

    site.ask(EDIT, alice, input={"articleId": articles[2], "title": f"{group} as long as four lines " * 4})
    site.vote(site.member("voter"), articles[2])

    await expect(page.get_by_role("article", name="as long as four lines")).to_be_visible()
    await page.evaluate("new Promise(requestAnimationFrame)")  # heights are kept in the frame that is painted
    assert await page.evaluate(tops) == before
    await point_at_nothing(page)
    await page.wait_for_function(f"(before) => {tops}[2] > before + 10", arg=before[2])


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("/group/{0}?order=TIME", "1 new article"),
        ("/user/{1}", "1 new article"),
        ("/feed", "1 new article"),
        ("/search?q={0}&order=NEWEST", "1 new match"),
        ("/user/{1}/comments", "1 new comment"),
    ],
)
async def test_list_that_is_read_again_below_the_pointer_stays(visit, site, group, path, new):
    """After a way back the list is shown as it was, and then read again."""
    alice, articles = post_three(site, group)
    for article in articles:
        site.comment(alice, article, f"Below {group}")
    until(lambda: site.ask(SEARCH, words=group)["search"]["totalCount"] == 6)
    page = await visit(alice)
    await opened(page, path.format(group, alice.username))
    await point_at(
        page, page.locator("main ol > li").nth(1).get_by_role("link", name=re.compile(f"{group}|comment")).last
    )
    before = await page.evaluate(PLACES)
    await click_there(page)
    await expect(page.get_by_role("heading", level=1)).to_contain_text(group)

    article = site.post(alice, f"{group} 3", groups=[group])
    site.comment(alice, article, "Another comment")
    until(lambda: site.ask(SEARCH, words=group)["search"]["totalCount"] == 7)
    await page.go_back()

    await expect(page.get_by_role("button", name=new)).to_be_visible()
    assert await page.evaluate(PLACES) == before
    await page.get_by_role("button", name=new).click()
    await expect(page.locator("main ol > li")).to_have_count(len(before) + 1)


async def test_announcement_of_the_feed_moves_nothing(visit, site):
    writer, reader = site.member("writer"), site.member("reader")
    site.follow(reader, writer)
    site.post(writer, "In the feed")
    page = await visit(reader)
    await opened(page, "/feed")
    await visit.subscribed(page, "feedArticle")
    await point_at(page, button(line(page, "In the feed")))
    before = await page.evaluate(PLACES)

    site.post(writer, "New in the feed")

    await expect(page.get_by_role("button", name="1 new article")).to_be_visible()
    assert await page.evaluate(PLACES) == before
    await click_there(page)
    await expect_votes(line(page, "In the feed"), 2, "UP")
    until(lambda: voted(site, reader, writer) == ["In the feed"])


async def below_first(page: Page) -> float:
    """How far the second row of a list is below what the first one contains, in pixels."""
    first, second = page.locator("main ol > li > article").first, page.locator("main ol > li").nth(1)
    boxes = await first.bounding_box(), await second.bounding_box()
    assert boxes[0] and boxes[1]
    return boxes[1]["y"] - boxes[0]["y"] - boxes[0]["height"]


@pytest.mark.parametrize("way", ["pointer", "keys"])
async def test_form_that_is_opened_in_a_row_makes_room_for_itself(visit, site, way):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Answered twice", content="Text.")
    for number in range(2):
        site.comment(bob, article, f"Answer {number}")
    page = await visit(alice)
    await opened(page, "/inbox")
    before, reply = await page.evaluate(PLACES), page.get_by_role("button", name="Reply: ").first
    await reply.focus()

    await (reply.click() if way == "pointer" else page.keyboard.press("r"))

    field = page.get_by_label(f"Reply to {bob.username}")
    await expect(field).to_be_focused()
    assert await below_first(page) >= 0
    await field.fill("line\n" * 20)  # the field grows with its text
    assert await below_first(page) >= 0
    await page.get_by_role("button", name="Cancel").click()
    await expect(field).to_have_count(0)
    assert await page.evaluate(PLACES) == before


async def test_text_of_the_blocked_that_is_shown_makes_room_for_itself(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Said by the blocked", content="Text.")
    for number in range(2):
        site.comment(bob, article, "Blocked.\n\n" * 9 + str(number))
    site.ask("mutation($id: ID!) { blockUser(input: {userId: $id}) { changed } }", alice, id=bob.id)
    page = await visit(alice)
    await opened(page, "/comments")

    await page.get_by_role("button", name="Show the text").first.click()

    await expect(page.get_by_role("button", name="Hide the text")).to_be_visible()
    assert await below_first(page) >= 0


async def test_thread_moves_nothing_when_comments_come_and_go(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Discussed", content="Text.")
    first, second = [site.comment(alice, article, f"Comment {number}\n\nof two lines") for number in range(2)]
    page = await visit(bob)
    await opened(page, f"{site.path(article)}?order=OLDEST")
    await visit.subscribed(page, "commentChanged")
    await point_at(page, button(page.locator("main ol > li").nth(1)))
    before = await page.evaluate(PLACES)

    site.delete(alice, first)
    site.comment(alice, article, "A third comment")

    await expect(page.get_by_role("button", name="1 new comment")).to_be_visible()
    await expect(page.get_by_text("This comment was deleted.")).to_be_visible()
    assert await page.evaluate(PLACES) == before
    await click_there(page)
    await expect_votes(page.locator("main ol > li").nth(1), 2, "UP")
    await point_at_nothing(page)
    await expect(page.get_by_text("This comment was deleted.")).to_have_count(0)
    assert (
        site.ask("query($id: ID!) { comment(id: $id) { viewerVote } }", bob, id=second)["comment"]["viewerVote"] == "UP"
    )


async def test_announcement_of_comments_follows_the_view_and_does_not_appear_below_the_pointer(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Discussed at length", content="Text.")
    for number in range(12):
        site.comment(alice, article, f"Comment {number}")
    page = await visit(bob)
    await opened(page, f"{site.path(article)}?order=OLDEST")
    await visit.subscribed(page, "commentPosted")
    await page.locator("main ol > li").last.scroll_into_view_if_needed()
    await page.mouse.move(640, 20)  # to where the button would appear

    site.comment(alice, article, "New")

    announced = page.locator(".announcement button")
    await expect(announced).to_have_text("1 new comment")
    await expect(announced).to_be_hidden()
    await page.mouse.move(640, 300)
    await expect(announced).to_be_in_viewport()
