"""
Annulled votes on the pages of moderators.

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

import pytest
from playwright.async_api import expect

from store import keys
from tests.reader.conftest import opened
from tests.reader.site import Member, Site


@pytest.fixture
def moderator(site: Site) -> Member:
    member = site.member("moderator")
    site.moderate(member)
    return member


def votes(site: Site, article: str) -> int:
    return site.ask("query($id: ID!) { article(id: $id) { votes } }", id=article)["article"]["votes"]


async def test_votes_of_a_user_are_annulled_and_count_again(visit, site, axe, moderator):  # M7, M8
    writer, voter = site.member("writer"), site.member("voter")
    articles = [site.post(writer, f"Voted up by a friend: {number}") for number in range(2)]
    for article in articles:
        site.vote(voter, article)
    page = await visit(moderator)
    await opened(page, f"/moderation/{voter.id}")
    await page.get_by_role("button", name=f"Annul votes: {voter.username}").click()
    await expect(page.get_by_label("Which votes")).to_have_value("")
    assert await axe(page) == []
    await page.get_by_role("textbox", name="Reason").fill("Votes for friends.")
    await page.get_by_role("dialog").get_by_role("button", name="Annul").click()

    line = page.get_by_role("article", name=f"{moderator.username}: annulled votes of them")
    await expect(line).to_contain_text("2 votes do not count.")
    assert [votes(site, each) for each in articles] == [1, 1]
    await line.get_by_role("button", name="Revert: ").click()
    await page.get_by_role("textbox", name="Reason").fill("They are no friends.")
    await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
    await expect(line).to_contain_text("The votes count again.")
    assert [votes(site, each) for each in articles] == [2, 2]


async def test_ban_from_the_site_annuls_votes_which_may_stay_annulled(visit, site, moderator):
    writer, voter = site.member("writer"), site.member("voter")
    article = site.post(writer, "Voted up by a friend")
    site.vote(voter, article)
    page = await visit(moderator)
    await opened(page, f"/moderation/{voter.id}")
    await page.get_by_role("button", name=f"Ban: {voter.username}").click()
    await page.get_by_label("Annul all their votes, if the ban is from the whole site").check()
    await page.get_by_role("textbox", name="Reason").fill("Votes for friends.")
    await page.get_by_role("dialog").get_by_role("button", name="Ban").click()
    line = page.get_by_role("article", name=re.compile(": banned them from this site until"))
    await expect(line).to_contain_text("1 vote does not count.")
    await line.get_by_role("button", name="Revert: ").click()
    await page.get_by_label("Leave their votes annulled").check()
    await page.get_by_role("textbox", name="Reason").fill("Let them write again.")
    await page.get_by_role("dialog").get_by_role("button", name="Revert").click()

    await expect(page.get_by_text("Banned from this site")).to_have_count(0)
    await expect(line).to_contain_text("1 vote does not count.")
    assert votes(site, article) == 1

    await line.get_by_role("button", name="Revert: annulled votes of them").click()
    await expect(page.get_by_label("Leave their votes annulled")).to_have_count(0)
    await page.get_by_role("textbox", name="Reason").fill("They are no friends.")
    await page.get_by_role("dialog").get_by_role("button", name="Revert").click()

    await expect(line).to_contain_text("The votes count again.")
    await expect(line.get_by_role("button", name="Revert: ")).to_have_count(0)
    await expect(page.get_by_role("article", name=f"{moderator.username}: restored votes of them")).to_have_count(1)
    assert votes(site, article) == 2


async def test_how_far_an_annulment_reaches_back_is_said_where_the_server_does_not_know_all_votes(
    visit, site, moderator
):  # M7
    writer, voter = site.member("writer"), site.member("voter")
    site.vote(voter, site.post(writer, "Voted up by a friend"))
    action = site.act(moderator, "annulVotes", userId=voter.id, reason="Votes for friends.")
    page = await visit(moderator, timezone_id="UTC")
    await opened(page, f"/moderation/{voter.id}")
    line = page.get_by_role("article", name=f"{moderator.username}: annulled votes of them")
    await expect(line).to_contain_text("1 vote does not count.")
    await expect(line).not_to_contain_text("untouched")

    store = await site.open_store()
    number = int(action.partition(":")[2])
    key = keys.action(store.site.partition_of_article(number), number)
    await store.site.redis.run(("HSET", key, "reaches", 1_772_442_744_000))  # as without a database
    await store.close()
    await page.reload()
    await expect(line).to_contain_text("Votes that were cast before March 2, 2026 at 9:12 AM may be untouched")
