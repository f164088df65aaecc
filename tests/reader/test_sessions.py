"""
Log in, register, log out and change the password.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import asyncio
import json
import re

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.reader.conftest import GRAPHQL, PHONE, log_out, opened, set_cookie
from tests.reader.site import PASSWORD, Member, Site
from tests.servers import PATIENCE

LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { token userErrors { message } } }"


async def test_registration_leads_back_to_where_it_was_asked_for(page):
    await opened(page, "/groups")
    await page.get_by_role("link", name="Register").click()
    await send(page, "Register", "newcomer", PASSWORD)

    await expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await expect(page).to_have_url(re.compile("/groups$"))
    await expect(account(page)).to_contain_text("newcomer")
    await expect(page.get_by_text("You are logged in as newcomer.")).to_be_visible()


async def test_refused_registration_says_why_at_each_field(page):
    await opened(page, "/register")
    await send(page, "Register", "a b", "short")

    name, password = page.get_by_label("Name", exact=True), page.get_by_label("Password")
    await expect(name).to_be_focused()
    await expect(name).to_have_accessible_description(re.compile("A username is 2 to 20 of"))
    await expect(password).to_have_accessible_description(re.compile("A password has 8 to 128 characters"))
    await expect(name).to_have_value("a b")


async def test_taken_name_is_refused(page, scene):
    await opened(page, "/register")
    await send(page, "Register", scene.alice.username.upper(), PASSWORD)

    await expect(page.get_by_label("Name", exact=True)).to_have_accessible_description(re.compile("is taken"))


async def test_log_in_survives_a_reload_and_log_out_does_not_come_back(page, scene, site):
    await opened(page, "/log-in")
    await send(page, "Log in", scene.bob.username, PASSWORD)
    await expect(account(page)).to_contain_text(scene.bob.username)
    await page.reload()
    await expect(account(page)).to_contain_text(scene.bob.username)
    (cookie,) = await page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert (await session_of(page)).keys() == {"username", "began"}
    assert cookie["value"] not in await page.evaluate(
        "document.cookie + JSON.stringify([localStorage, sessionStorage])"
    )

    await log_out(page)
    await expect(account(page).get_by_role("link", name="Log in")).to_be_focused()
    await page.reload()

    await expect(account(page)).to_contain_text("Log in")
    assert await session_of(page) is None
    assert await page.context.cookies() == []
    assert site.live.ask("{ viewer { id } }", cookie["value"])["data"]["viewer"] is None


async def test_wrong_password_is_refused(page, scene):
    await opened(page, "/log-in")
    await send(page, "Log in", scene.bob.username, "wrong horse")

    await expect(page.get_by_role("alert")).to_contain_text("No such name and password.")
    await expect(page.get_by_label("Name", exact=True)).to_have_value(scene.bob.username)


@pytest.mark.parametrize("next", ["//example.com/", "/\\example.com", "https://example.com/", "javascript:alert(1)"])
async def test_log_in_leads_to_no_other_site(page, scene, site, next):
    await opened(page, f"/log-in?next={next}")
    await send(page, "Log in", scene.bob.username, PASSWORD)

    await expect(account(page)).to_contain_text(scene.bob.username)
    await expect(page).to_have_url(f"{site.url}/")


async def test_password_managers_know_the_fields(visit, page, scene):
    await opened(page, "/log-in")
    assert await purposes(page) == ["username", "current-password"]
    await opened(page, "/register")
    assert await purposes(page) == ["username", "new-password"]
    page = await visit(scene.bob)
    await opened(page, "/settings")
    passwords = await purposes(page, page.get_by_role("region", name="Change the password"))
    assert passwords == ["username", "current-password", "new-password"]


async def test_changed_password_ends_other_sessions(visit, site):
    member = site.member("changer")
    page = await visit(member)
    elsewhere = await visit(Member(member.username, log_in(site, member, PASSWORD)))
    await opened(elsewhere, "/inbox")

    await opened(page, "/settings")
    await page.get_by_label("Current password").fill(PASSWORD)
    await page.get_by_label("New password").fill("another horse")
    await page.get_by_role("button", name="Change the password").click()
    await expect(page.get_by_text("Your password is changed.")).to_be_visible()
    await expect(page.get_by_label("New password")).to_have_value("")
    await expect(page.get_by_role("button", name="Change the password")).to_be_focused()
    await elsewhere.reload()

    await expect(elsewhere.get_by_text("Your session has ended.")).to_be_visible()
    await expect(elsewhere.get_by_role("main").get_by_role("link", name="Log in")).to_be_visible()
    await expect(account(page)).to_contain_text(member.username)
    assert log_in(site, member, "another horse")


async def test_wrong_current_password_changes_nothing(visit, site):
    member = site.member("keeper")
    page = await visit(member)
    await opened(page, "/settings")
    await page.get_by_label("Current password").fill("wrong horse")
    await page.get_by_label("New password").fill("another horse")
    await page.get_by_role("button", name="Change the password").click()

    current = page.get_by_label("Current password")
    await expect(current).to_have_accessible_description("This is not your current password.")
    await expect(current).to_be_focused()
    section = page.get_by_role("region", name="Change the password")
    await expect(section.get_by_role("alert")).to_have_text("")
    assert log_in(site, member, PASSWORD)


async def test_log_in_that_does_not_reach_the_server_can_be_repeated(page, scene, faults):
    await opened(page, "/log-in")
    await page.route("**/graphql", lambda route: route.abort())
    await send(page, "Log in", scene.bob.username, PASSWORD)
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    await page.unroute("**/graphql")
    await page.get_by_role("button", name="Log in").click()

    await expect(account(page)).to_contain_text(scene.bob.username)
    await faults.expect("request failed|ERR_FAILED")


async def test_log_out_that_does_not_reach_the_server_says_so(visit, scene, faults):
    page = await visit(scene.carol)
    await opened(page, "/groups")
    await page.route("**/graphql", lambda route: route.abort())
    await log_out(page)

    await expect(page.get_by_text("You are still logged in. The server cannot be reached.")).to_be_visible()
    await expect(account(page)).to_contain_text(scene.carol.username)
    await faults.expect("request failed|ERR_FAILED")


async def test_settings_show_what_every_page_shows(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    site.comment(bob, site.post(alice, "Answered before"), "An answer")
    page = await visit(alice)

    await opened(page, "/settings")

    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()


async def test_all_tabs_have_the_session(visit, scene):
    page = await visit()
    await opened(page, "/groups")
    other = await page.context.new_page()
    await opened(other, "/log-in")
    await send(other, "Log in", scene.bob.username, PASSWORD)

    await expect(account(page)).to_contain_text(scene.bob.username)


async def test_tab_follows_another_user_of_the_same_browser(visit, site, faults):
    """
    No other tab tells the page that the cookie is now of another user: it learns this as the server refuses a request
    with the cookie of another user than the page shows.
    """
    alice, bob = site.member("alice"), site.member("bob")
    page = await visit(alice)
    await opened(page, "/inbox")
    await visit.subscribed(page, "notification")
    await set_cookie(page, bob)
    site.comment(alice, site.post(bob, "Of the other user"), "An answer")

    await page.get_by_role("link", name="Feed").click()

    await expect(page.get_by_text(f"You are logged in as {bob.username}.")).to_be_visible()
    await expect(account(page)).to_contain_text(bob.username)
    await expect(page.get_by_role("link", name="Inbox 1 new")).to_be_visible()
    assert (await session_of(page))["username"] == bob.username
    await faults.expect("status of 401")


async def test_token_of_an_earlier_version_is_removed(visit, site):
    page = await visit()
    await page.goto("./healthz")
    kept = json.dumps({"token": site.member().token, "username": "somebody"})
    await page.evaluate("(value) => localStorage.setItem('upvote-session', value)", kept)

    await opened(page, "/groups")

    await expect(account(page)).to_contain_text("Log in")
    assert await session_of(page) is None


async def test_session_says_its_program_in_the_language_of_the_page(visit, site):
    member = site.member()
    page = await visit()
    await opened(page, "/log-in?next=/settings")
    await send(page, "Log in", member.username, PASSWORD)
    await expect(page.get_by_text("Chrome on Linux")).to_be_visible()
    await opened(page, "/settings?lang=de")

    await expect(page.get_by_text("Chrome unter Linux")).to_be_visible()


async def test_sessions_are_listed_and_ended_from_elsewhere(visit, site, axe):
    member = site.member("traveller")
    for _ in range(2):
        log_in(site, member, PASSWORD)
    page = await visit(viewport=PHONE)
    await opened(page, "/log-in?next=/settings")
    await send(page, "Log in", member.username, PASSWORD)
    elsewhere = await visit(member)
    await opened(elsewhere, "/inbox")
    await visit.subscribed(elsewhere, "notification")

    lines = page.get_by_role("main").get_by_role("listitem")
    await expect(lines).to_have_count(4)
    own = lines.filter(has_text="this browser")
    await expect(own).to_contain_text("Chrome on Linux")
    await expect(own.get_by_role("button")).to_have_count(0)
    assert await axe(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await lines.get_by_role("button", name="Log out there").first.focus()
    await page.keyboard.press("Enter")
    await expect(lines).to_have_count(3)
    await expect(page.get_by_role("heading", name="Where you are logged in")).to_be_focused()
    await page.get_by_role("button", name="Log out everywhere else").click()

    await expect(lines).to_have_count(1)
    await expect(page.get_by_text("You are logged out everywhere else.")).to_be_visible()
    await expect(page.get_by_role("button", name="Log out everywhere else")).to_have_count(0)
    await elsewhere.reload()
    await expect(elsewhere.get_by_text("Your session has ended.")).to_be_visible()


async def test_settings_show_the_second_of_two_changes_that_come_at_once(visit, site):
    """The list is read anew after each, though the answer to the first is still on its way."""
    member = site.member("doubler")
    for _ in range(2):
        log_in(site, member, PASSWORD)
    page = await visit(member)
    await opened(page, "/settings")
    lines = page.get_by_role("main").get_by_role("listitem")
    await expect(lines).to_have_count(3)
    answered, asked_again, let_go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        if "SettingsPage" not in (route.request.post_data or ""):
            return await route.continue_()
        if answered.is_set():
            asked_again.set()
            return await route.continue_()
        answer = await route.fetch()
        answered.set()
        await let_go.wait()
        await route.fulfill(response=answer)

    await page.route(GRAPHQL, hold)
    buttons = lines.get_by_role("button", name="Log out there")
    await buttons.nth(0).click()
    await answered.wait()
    await buttons.nth(1).click()
    await asyncio.wait_for(asked_again.wait(), PATIENCE)
    let_go.set()

    await expect(lines).to_have_count(1)


async def send(page: Page, name: str, username: str, password: str) -> None:
    """Fill the form to log in or to register, and press its button `name`."""
    await page.get_by_label("Name", exact=True).fill(username)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("main").get_by_role("button", name=name).click()


def account(page: Page):
    """The header, which shows who is logged in."""
    return page.get_by_role("banner")


async def session_of(page: Page):
    """What the page keeps of the session: the username and when it began; None without a session."""
    return await page.evaluate("JSON.parse(localStorage.getItem('upvote-session'))")


async def purposes(page: Page, part: Locator | None = None) -> list[str]:
    """What password managers are told of each field."""
    inputs = (part or page.get_by_role("main")).locator("input")
    return await inputs.evaluate_all("all => all.map((each) => each.autocomplete)")


def log_in(site: Site, member: Member, password: str) -> str:
    """Open another session of a member, and return its token."""
    return site.ask(LOG_IN, input={"username": member.username, "password": password})["logIn"]["token"]
