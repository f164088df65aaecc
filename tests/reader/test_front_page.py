"""
Lists of articles: orders, pages, votes, and ranks and times that change, by mouse and by keyboard.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest
from playwright.async_api import expect

from tests.reader.conftest import DESKTOP, GRAPHQL, PHONE, opened, until
from tests.servers import PATIENCE


def row(page, title):
    """The article with this title in a list."""
    return page.get_by_role("article", name=title)


def up_button(page, title):
    return row(page, title).get_by_role("button", name="Vote up")


async def test_front_page_takes_one_request(page):
    requests = []
    page.on("request", lambda request: request.method == "POST" and requests.append(request.post_data_json))

    await page.goto("/")
    await expect(page.get_by_role("article")).to_have_count(30)

    assert [each["operationName"] for each in requests] == ["FrontPage"]


async def test_orders_and_pages_have_addresses(page):
    await opened(page, "/")
    lists = page.get_by_role("navigation", name="Lists")
    for name, query in [
        ("New", r"\?order=TIME"),
        ("Hot", ""),
        ("Active", r"\?order=ACTIVE"),
        ("Best", r"\?order=BEST"),
    ]:
        await lists.get_by_role("link", name=name, exact=True).click()
        await expect(page).to_have_url(re.compile(rf"/{query}$"))
        await expect(page.get_by_role("heading", level=1, name=f"{name} articles")).to_be_focused()
        await expect(page.get_by_role("article")).to_have_count(30)

    await page.get_by_role("link", name="Next").click()

    await expect(page).to_have_url(re.compile(r"/\?order=BEST&page=2$"))
    await expect(page.get_by_role("article").first).to_have_attribute("data-rank", "31")
    await page.get_by_role("link", name="Previous").click()
    await expect(page).to_have_url(re.compile(r"/\?order=BEST$"))


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_other_orders_are_below_more(visit, axe, viewport):
    page = await visit(viewport=viewport)
    await opened(page, "/")
    more = page.locator(".more-orders")
    await expect(page.locator(".tabs").first.locator("> li > a")).to_have_text(["Hot", "New", "Active", "Best"])

    await more.get_by_text("More").press("Enter")
    await expect(more.get_by_role("link")).to_have_count(4)
    await expect(more.get_by_role("link", name="Votes The most votes of all time.")).to_contain_text(
        "The most votes of all time."
    )
    assert [each for each in await axe(page) if not each.startswith("target-size")] == []  # of what it covers in part
    await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await expect(more.get_by_role("link")).to_have_count(0)
    await expect(more.locator("summary")).to_be_focused()
    await page.keyboard.press("Enter")
    await more.get_by_role("link", name="Votes The most votes of all time.").click()

    await expect(page).to_have_url(re.compile(r"/\?order=VOTES$"))
    await expect(more.locator("summary")).to_have_text("Votes")
    await expect(more.get_by_role("link")).to_have_count(0)
    await more.locator("summary").click()
    await page.get_by_role("link", name="Groups").focus()
    await expect(more.get_by_role("link")).to_have_count(0)


async def test_top_of_a_period_and_good_articles_are_those_of_the_server(page, site):
    for period, days in [("day", 1), ("week", 7), ("month", 30)]:
        since = (datetime.now(UTC) - timedelta(days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        top = "query($since: DateTime) { articles(order: VOTES, since: $since, first: 3) { nodes { title } } }"
        titles = [node["title"] for node in site.ask(top, since=since)["articles"]["nodes"]]
        await page.goto(f"/top/{period}")
        await expect(page.get_by_role("heading", level=1)).to_have_text(f"Top of the {period}")
        for index, title in enumerate(titles):
            await expect(page.get_by_role("article").nth(index)).to_have_attribute("aria-label", title)

    await page.goto("/good")
    await expect(page.get_by_role("article").first).to_be_visible()
    newest = site.ask("{ frontPage(first: 1) { nodes { title postedAt } } }")["frontPage"]["nodes"][0]
    await page.get_by_label("Day (UTC)").fill(newest["postedAt"][:10])
    await expect(page).to_have_url(re.compile(rf"/good\?date={newest['postedAt'][:10]}$"))
    await expect(row(page, newest["title"])).to_be_visible()
    await expect(page.get_by_label("Day (UTC)")).to_be_focused()


async def test_top_of_a_period_ignores_invalid_parts_of_its_address(page):
    await opened(page, "/top/month?from=abc&since=yesterday")

    await expect(page.get_by_role("article").first).to_have_attribute("data-rank", "1")


async def test_good_articles_of_an_invalid_date_are_not_found(page, faults):
    for date in ("yesterday", "2026-02-30", "2026-2"):
        await page.goto(f"/good?date={date}")
        await faults.expect("status of 404")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Not found")


async def test_vote_is_shown_before_the_answer_and_counted_once(visit, site):
    member, other = site.member("voter"), site.member("poster")
    article = site.post(other, "A title to vote on")
    page = await visit(member)
    await opened(page, "/?order=TIME")
    await expect(row(page, "A title to vote on")).to_be_visible()
    held_requests = []
    await page.route(GRAPHQL, lambda route: held_requests.append(route))

    await up_button(page, "A title to vote on").dblclick()  # the second click of a double click does not take it back

    await expect(up_button(page, "A title to vote on")).to_have_attribute("aria-pressed", "true")
    await expect(row(page, "A title to vote on").get_by_role("button", name="2 votes", exact=True)).to_be_visible()
    assert votes(site, article) == 1
    assert [each.request.post_data_json["operationName"] for each in held_requests] == ["Vote"]
    for route in held_requests:
        await route.continue_()
    await page.unroute(GRAPHQL)
    await until(lambda: votes(site, article) == 2, "the vote")
    await page.reload()
    await expect(row(page, "A title to vote on").get_by_role("button", name="2 votes", exact=True)).to_be_visible()
    await expect(up_button(page, "A title to vote on")).to_have_attribute("aria-pressed", "true")


async def test_last_vote_counts_and_is_taken_back_by_the_same_button(visit, site):
    member, other = site.member("voter"), site.member("poster")
    article = site.post(other, "A title to vote on twice")
    page = await visit(member)
    await opened(page, "/?order=TIME")
    down = row(page, "A title to vote on twice").get_by_role("button", name="Vote down")

    await up_button(page, "A title to vote on twice").click()
    await down.click()
    await expect(
        row(page, "A title to vote on twice").get_by_role("button", name="0 votes", exact=True)
    ).to_be_visible()
    await expect(down).to_have_attribute("aria-pressed", "true")
    await page.wait_for_timeout(100)
    await down.click()

    await expect(row(page, "A title to vote on twice").get_by_role("button", name="1 vote", exact=True)).to_be_visible()
    await expect(down).to_have_attribute("aria-pressed", "false")
    await page.wait_for_load_state("networkidle")
    assert votes(site, article) == 1


async def test_vote_that_fails_is_taken_back_with_the_reason(visit, site, faults):
    member, other = site.member("voter"), site.member("poster")
    site.post(other, "A title without a server")
    page = await visit(member)
    await opened(page, "/?order=TIME")
    await expect(row(page, "A title without a server")).to_be_visible()
    await page.route(GRAPHQL, lambda route: route.abort())

    await up_button(page, "A title without a server").click()

    await expect(page.get_by_role("status").get_by_text("Your vote was not counted. The server")).to_be_visible()
    await expect(row(page, "A title without a server").get_by_role("button", name="1 vote", exact=True)).to_be_visible()
    await expect(up_button(page, "A title without a server")).to_have_attribute("aria-pressed", "false")
    await faults.expect("request failed|console error")


async def test_visitor_who_votes_is_asked_to_log_in(page, site):
    await page.goto("/")

    await page.get_by_role("button", name="Vote up").first.click()

    await expect(page).to_have_url(re.compile("/log-in$"))
    await expect(page.get_by_role("status")).to_contain_text("Log in to vote.")


async def test_votes_and_ranks_of_others_are_shown_as_they_happen(visit, site):
    voter, poster = site.member("voter"), site.member("poster")
    site.post(poster, "First of two")
    site.post(poster, "Second of two")
    page, other = await visit(), await visit(voter)
    for each in (page, other):
        await opened(each, "/?order=VOTES&page=1")  # a list that stays in the cache, and is not followed any more
        await opened(each, "/?order=TIME")
    await expect(row(page, "First of two")).to_have_attribute("data-rank", "2")

    await up_button(other, "First of two").click()

    await expect(row(page, "First of two").get_by_role("button", name="2 votes", exact=True)).to_be_visible()
    site.post(poster, "Third of two")
    await expect(row(page, "Third of two")).to_have_attribute("data-rank", "1")
    await expect(row(page, "First of two")).to_have_attribute("data-rank", "3")


async def test_times_go_on_while_the_page_is_open(page, site):
    site.post(site.member("poster"), "A title of this minute")
    await page.clock.install()
    await opened(page, "/?order=TIME")
    await expect(row(page, "A title of this minute").get_by_role("time")).to_have_text("just now")

    await page.clock.fast_forward("02:00")

    await expect(row(page, "A title of this minute").get_by_role("time")).to_have_text("2 minutes ago")


async def test_keys_move_vote_and_search(visit, site):
    member, other = site.member("keys"), site.member("poster")
    site.post(other, "A title for keys")
    page = await visit(member)
    await opened(page, "/?order=TIME")
    await expect(row(page, "A title for keys")).to_be_visible()

    await page.keyboard.press("j")
    await expect(page.get_by_role("article").first).to_be_focused()
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await page.keyboard.press("u")
    await expect(page.get_by_role("article").first.get_by_role("button", name="2 votes", exact=True)).to_be_visible()
    await page.keyboard.press("d")
    await expect(page.get_by_role("article").first.get_by_role("button", name="0 votes", exact=True)).to_be_visible()
    await page.keyboard.press("n")
    await expect(page).to_have_url(re.compile("page=2$"))


async def test_dialog_shows_the_keys_and_turns_them_off(page, axe):
    await opened(page, "/")
    await expect(page.get_by_role("article").first).to_be_visible()

    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    await expect(dialog.get_by_text("next article or comment")).to_be_visible()
    assert await dialog.locator("kbd").all_inner_texts() == list("jkocudrefmwxynp/?")
    assert await axe(page) == []
    await dialog.get_by_label("Use these keys").uncheck()
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).to_be_hidden()
    await page.keyboard.press("j")
    await expect(page.get_by_role("article").first).not_to_be_focused()

    await page.reload()
    await expect(page.get_by_role("article").first).to_be_visible()
    await page.keyboard.press("j")
    await expect(page.get_by_role("article").first).not_to_be_focused()


async def test_theme_follows_the_system_until_it_is_chosen(visit):
    page = await visit(theme="dark")
    await page.goto("/")
    assert await background(page) == "rgb(22, 21, 19)"

    await page.get_by_role("button", name="Use the light theme").click()
    assert await background(page) == "rgb(251, 250, 247)"
    await page.reload(wait_until="commit")
    await page.wait_for_selector("#root", state="attached")
    assert await background(page) == "rgb(251, 250, 247)"
    await page.get_by_role("button", name="Use the dark theme").click()

    assert await page.evaluate("localStorage.getItem('upvote-theme')") is None
    await page.emulate_media(color_scheme="light")
    assert await background(page) == "rgb(251, 250, 247)"


async def test_back_shows_the_list_where_it_was_left(visit):
    page = await visit(viewport=PHONE)
    await opened(page, "/")
    await expect(page.get_by_role("article")).to_have_count(30)
    next_page = page.get_by_role("link", name="Next")
    await next_page.scroll_into_view_if_needed()
    place = await page.evaluate("scrollY")

    await next_page.click()
    await expect(page).to_have_url(re.compile("page=2$"))
    await scrolled_to(page, 0)
    await page.go_back()

    await scrolled_to(page, place)
    await page.reload()
    await scrolled_to(page, place)


async def test_network_fault_is_explained_and_tried_again(page, faults):
    await page.route(GRAPHQL, lambda route: route.abort())
    await page.goto("/")
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    await faults.expect("request failed|console error")
    await page.unroute(GRAPHQL)

    await page.get_by_role("button", name="Try again").click()

    await expect(page.get_by_role("article")).to_have_count(30)
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_page_whose_file_cannot_be_loaded_says_so(page, faults):
    await page.clock.install()
    await opened(page, "/")
    await page.clock.pause_at(datetime.now() + timedelta(hours=1))  # so that it is not tried again by itself
    await page.route("**/reader/pages-*", lambda route: route.abort())

    await page.get_by_role("link", name="Top of the week").click()

    await expect(page.get_by_role("alert")).to_contain_text("This page could not be loaded.")
    await faults.expect("request failed|console error|uncaught")
    await page.route("**/top/week", lambda route: route.abort())
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
    await expect(page.get_by_role("alert").first).to_contain_text("This page could not be loaded.")
    faults.ignore("request failed|console error|uncaught")
    await page.unroute("**/top/week")
    await page.unroute("**/reader/pages-*")
    await page.get_by_role("button", name="Try again").click()
    await page.clock.resume()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Top of the week")


async def test_session_that_has_ended_says_so_and_keeps_the_page(visit, site):
    member = site.member("ended")
    page = await visit(member)
    await opened(page, "/")
    await expect(page.locator(".account-menu")).to_be_visible()
    site.ask("mutation { logOut { userErrors { message } } }", member)

    await page.get_by_role("link", name="New", exact=True).click()

    await expect(page.get_by_role("status")).to_contain_text("Your session has ended.")
    await expect(page.get_by_role("article")).to_have_count(30)
    await expect(page.locator(".account-menu")).to_have_count(0)
    assert await page.evaluate("localStorage.getItem('upvote-session')") is None


async def test_vote_with_a_session_that_has_ended_says_so(visit, site):
    member = site.member("ended")
    site.post(site.member("poster"), "A title after the end")
    page = await visit(member)
    await page.route_web_socket(re.compile("graphql"), lambda socket: None)  # subscriptions would notice the end first
    await opened(page, "/?order=TIME")
    await expect(row(page, "A title after the end")).to_be_visible()
    site.ask("mutation { logOut { userErrors { message } } }", member)

    await up_button(page, "A title after the end").click()

    await expect(page.get_by_role("status")).to_contain_text("not counted. Your session has ended. Log in again.")
    await expect(up_button(page, "A title after the end")).to_have_attribute("aria-pressed", "false")


async def scrolled_to(page, position):
    """Wait until the page is scrolled to a position, in CSS pixels."""
    deadline = monotonic() + PATIENCE
    while abs((seen := await page.evaluate("scrollY")) - position) >= 2:
        assert monotonic() < deadline, f"scrolled to {seen}, not to {position}"
        await asyncio.sleep(0.02)


async def background(page):
    return await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def votes(site, article):
    return site.ask("query($id: ID!) { article(id: $id) { votes } }", id=article)["article"]["votes"]
