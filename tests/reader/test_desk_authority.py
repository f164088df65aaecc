"""
Buttons of the desk, the pages of moderators, that the server would always refuse are not shown: who acts on whom.

Codes such as M5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

from playwright.async_api import expect

from tests.reader.conftest import opened
from tests.reader.site import Site

REVERT = re.compile("^Revert: ")


def flagged(site: Site, by, title: str, groups: list[str]) -> str:
    article = site.post(by, title, groups=groups)
    site.flag(site.member("flagger"), article)
    return article


async def test_own_text_and_those_of_a_same_or_higher_role_have_no_buttons(visit, site, axe):  # M5
    group = "desk-authority"
    moderator, fellow = site.member("moderator"), site.member("fellow")
    for each in (moderator, fellow):
        site.moderate(each, group)
    own = flagged(site, moderator, "Of oneself", [group])
    theirs = flagged(site, fellow, "Of a fellow", [group])
    flagged(site, site.member("writer"), "Also elsewhere", [group, f"{group}-2"])
    page = await visit(moderator)
    await opened(page, f"/moderation?group={group}")

    line = page.get_by_role("article", name="Of oneself")
    await expect(line).to_contain_text("It is your own: other moderators decide about it.")
    await expect(line.get_by_role("button")).to_have_count(0)
    line = page.get_by_role("article", name="Of a fellow")
    await expect(line).to_contain_text("Its poster has the same role here or a higher one")
    await expect(line.get_by_role("button")).to_have_count(0)
    line = page.get_by_role("article", name="Also elsewhere")
    await expect(line.get_by_role("button")).to_have_text(["Remove", "Ban"])  # from this group
    assert await axe(page) == []
    await opened(page, f"/moderation/{own}")
    await expect(page.get_by_text("It is your own: other moderators decide about it.")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^(Approve|Remove|Lock|Ban)"))).to_have_count(0)
    await opened(page, f"/moderation/{theirs}")
    await expect(page.get_by_text("You cannot ban this user, who has the same role or a higher one.")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^(Approve|Remove|Lock|Ban)"))).to_have_count(0)


async def test_only_what_one_may_revert_has_a_button_for_it(visit, site):  # M5
    group = "desk-reverts"
    of_site, of_group = site.member("site-mod"), site.member("group-mod")
    site.moderate(of_site)
    site.moderate(of_group, group)
    writer = site.member("writer")
    article = site.post(writer, "Removed in two ways", groups=[group, f"{group}-2"])
    site.act(of_group, "removeContent", subjectId=article, group=group, reason="It belongs elsewhere.")
    site.act(of_site, "removeContent", subjectId=article, reason="Advertising.")
    site.act(of_site, "banUser", userId=writer.id, group=group, reason="Again.")
    site.act(of_site, "banUser", userId=writer.id, reason="And again.")
    here, there = await visit(of_site), await visit(of_group)

    for page, shown in ((here, 2), (there, 1)):
        await opened(page, f"/moderation/{writer.id}")
        await expect(page.get_by_role("article", name=re.compile(": banned them"))).to_have_count(2)
        await expect(page.get_by_role("button", name=REVERT)).to_have_count(shown)
    await opened(here, f"/moderation/{article}")
    await expect(here.locator("[aria-labelledby='actions']").get_by_role("button", name=REVERT)).to_have_count(2)
    await opened(there, f"/moderation/{article}")
    await expect(there.get_by_role("heading", level=1)).to_have_text("Removed")
    await there.get_by_role("button", name=REVERT).click()  # of what was taken out of the group
    await there.get_by_label("Reason").fill("A mistake.")
    await there.get_by_role("dialog").get_by_role("button", name="Revert").click()
    await expect(there.get_by_role("article", name=re.compile("put it back"))).to_be_visible()


async def test_nobody_is_asked_to_answer_their_own_appeal(visit, site):  # M5
    admin, other = site.member("admin"), site.member("other")
    for each in (admin, other):
        site.moderate(each, role="ADMIN")
    article = site.post(admin, "Of an admin")
    removal = site.act(other, "removeContent", subjectId=article, reason="Advertising.")
    site.act(admin, "appeal", actionId=removal, text="It is none.")
    own, others = await visit(admin), await visit(other)

    for page, shown in ((own, ["Revert"]), (others, ["Answer", "Revert"])):
        await opened(page, "/moderation?kind=appeals")
        line = page.get_by_role("article").filter(has_text="Of an admin")
        await expect(line.get_by_role("button")).to_have_text(shown)
