"""
A vote is shown at once, and taken back with the reason if the server does not count it.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.
"""

import asyncio

import pytest
from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened
from tests.reader.gateway import gateway
from tests.reader.lines import button, expect_votes, line
from tests.reader.site import serving_sample

WINDOW = 6  # seconds from posting to the end of voting


class Held:
    """Holds requests of mutations, here votes, back until `released` is set."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    async def __call__(self, route) -> None:
        if "mutation" in (route.request.post_data or ""):
            await self.released.wait()
        await route.continue_()


async def test_vote_on_a_deleted_article_is_taken_back(visit, site):
    alice, bob = site.member("alice"), site.member("bob")
    article = site.post(alice, "Deleted meanwhile")
    page, held = await visit(bob), Held()
    await page.route("**/graphql", held)
    await opened(page, f"/user/{alice.username}")
    site.ask("mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { deletedArticleId } }", alice, id=article)

    await button(line(page, "Deleted meanwhile")).click()
    await expect_votes(line(page, "Deleted meanwhile"), 2, "UP")
    held.released.set()

    await expect_votes(line(page, "Deleted meanwhile"), 1)
    await expect(page.get_by_role("status").filter(has_text="not counted")).to_be_visible()


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A site where voting closes after some seconds, and with few cost points."""
    limits = {"rate_limits": "on", "rate_points": 600, "rate_points_back": 1}
    with serving_sample(tmp_path_factory.mktemp("strict"), voting_window=WINDOW, **limits) as site:
        yield site


async def test_who_voted_up_is_read_in_the_menu_of_an_article(visit, page, site, axe):
    alice, bob, carol = (site.member(name) for name in ("alice", "bob", "carol"))
    article = site.post(alice, "Voted on by two")
    site.vote(bob, article)
    site.vote(carol, article, "DOWN")
    await opened(page, site.path(article))
    await page.get_by_role("button", name="More: Voted on by two").press("Enter")
    await page.get_by_role("button", name="Who voted up").press("Enter")

    dialog = page.get_by_role("dialog", name="Who voted up")
    await expect(dialog.get_by_role("listitem")).to_have_text([alice.username, bob.username])
    assert await axe(page) == []
    await page.set_viewport_size(PHONE)
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="More: Voted on by two")).to_be_focused()


async def test_voters_come_in_pages(page, site):
    listed = "{ articles(order: VOTES, first: 60) { nodes { id title voters(first: 1) { totalCount } } } }"
    most = next(each for each in site.ask(listed)["articles"]["nodes"] if each["voters"])  # voting is open
    await opened(page, site.path(most["id"]))
    await page.get_by_role("button", name=f"More: {most['title']}").click()
    await page.get_by_role("button", name="Who voted up").click()
    dialog = page.get_by_role("dialog")
    names = dialog.get_by_role("listitem")
    for shown in range(100, most["voters"]["totalCount"], 100):
        await expect(names).to_have_count(shown)
        await dialog.get_by_role("button", name="More", exact=True).press("Enter")
        await expect(names.nth(shown).get_by_role("link")).to_be_focused()

    await expect(names).to_have_count(most["voters"]["totalCount"])
    await expect(dialog.get_by_role("button", name="More", exact=True)).to_have_count(0)


@pytest.fixture(scope="module")
def discreet(tmp_path_factory):
    """A site that shows who voted up to moderators only."""
    with serving_sample(tmp_path_factory.mktemp("discreet"), voters="moderators") as site:
        yield site


@pytest.mark.parametrize("reader", ["visitor", "member", "moderator"])
async def test_only_moderators_read_who_voted_where_the_site_says_so(visit, discreet, reader):
    alice, bob = discreet.member("alice"), discreet.member("bob")
    article = discreet.post(alice, "Discreet", groups=["discreet"])
    if reader == "moderator":
        discreet.moderate(bob, "discreet")
    page = await visit(None if reader == "visitor" else bob, base_url=f"{discreet.url}/")
    await opened(page, discreet.path(article))
    async with page.expect_response("**/graphql"):
        await page.get_by_role("button", name="More: Discreet").click()

    shown = page.get_by_role("button", name="Who voted up")
    await expect(page.get_by_role("link", name="What moderators did")).to_be_visible()
    await expect(shown).to_have_count(1 if reader == "moderator" else 0)


async def test_vote_after_voting_has_closed_is_taken_back(visit, strict):
    alice, bob = strict.member("alice"), strict.member("bob")
    page = await visit(bob, base_url=strict.url)
    strict.post(alice, "Closes soon")
    await opened(page, f"/user/{alice.username}")
    await expect(button(line(page, "Closes soon"))).not_to_have_attribute("aria-disabled", "true")
    await asyncio.sleep(WINDOW)

    await button(line(page, "Closes soon")).click()

    await expect(page.get_by_role("status").filter(has_text="closed")).to_be_visible()
    await expect_votes(line(page, "Closes soon"), 1)


async def test_vote_beyond_the_rate_limit_is_taken_back_and_says_when(visit, strict, faults):
    alice, bob = strict.member("alice"), strict.member("bob")
    strict.post(alice, "Voted on too often")
    page = await visit(bob, base_url=strict.url)
    await opened(page, f"/user/{alice.username}")
    while "errors" not in strict.live.ask("{ articles(first: 100) { nodes { title poster { karma } } } }", bob.token):
        pass

    await button(line(page, "Voted on too often")).click()

    await expect(page.get_by_role("status").filter(has_text="Try again at")).to_be_visible()
    await expect_votes(line(page, "Voted on too often"), 1)
    await faults.expect("status of 429")


async def test_vote_while_the_server_is_gone_is_taken_back_and_can_be_repeated(visit, site, faults):
    alice, bob = site.member("alice"), site.member("bob")
    site.post(alice, "Voted on without a network")
    async with gateway(site.url) as (network, url):
        page = await visit(bob, base_url=url)
        await opened(page, f"/user/{alice.username}")
        article = line(page, "Voted on without a network")
        network.cut()

        await button(article).click()
        await expect(page.get_by_role("status").filter(has_text="cannot be reached")).to_be_visible()
        await expect_votes(article, 1)
        network.restore()
        await button(article).click()
        await expect_votes(article, 2, "UP")
        await page.reload()
        await expect_votes(article, 2, "UP")
    faults.ignore("ERR_|WebSocket")
