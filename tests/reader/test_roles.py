"""The page of roles and groups: for everybody to read, and for admins to change."""

from playwright.async_api import Page, expect

from tests.reader.conftest import DESKTOP, PHONE, opened
from tests.reader.site import Member, Site

NARROW = PHONE | {"width": 320}
ROLES = "query($name: String!) { user(username: $name) { roles { role group { name } } } }"
GROUP = "query($name: String!) { group(name: $name) { title } }"


def roles(site: Site, member: Member) -> list[dict]:
    return site.ask(ROLES, name=member.username)["user"]["roles"]


def section(page: Page, name: str):
    return page.get_by_role("region", name=name, exact=True)


# The names of groups begin with `a`, as the page shows the first 25 and other tests of this server make some.
async def test_admin_gives_and_takes_roles_with_a_reason(visit, site, axe):
    admin, member = site.member("admin"), site.member("helper")
    site.moderate(admin, role="ADMIN")
    site.post(member, "In a group", groups=["a-ruled"])
    page = await visit(admin)
    await opened(page, "/moderation/roles")
    await expect(section(page, "The whole site")).to_contain_text(f"{admin.username} is an admin")
    give = page.get_by_role("form", name="Give a role")

    await give.get_by_label("Name of the user").fill("nobody-at-all")
    await give.get_by_role("button", name="Give the role").click()
    await expect(give.locator(".refusal:not(:empty)").first).to_be_visible()
    assert await axe(page) == []
    await give.get_by_label("Name of the user").fill(member.username)
    await give.get_by_label("Group").fill("a-ruled")
    await give.get_by_label("Reason").fill("A good eye.")
    await give.get_by_role("button", name="Give the role").press("Enter")
    ruled = section(page, "a-ruled")
    await expect(ruled).to_contain_text(f"{member.username} is a moderator")
    assert roles(site, member) == [{"role": "MODERATOR", "group": {"name": "a-ruled"}}]

    take = ruled.get_by_role("button", name=f"Take the role of a moderator from {member.username}")
    await take.press("Enter")
    dialog = page.get_by_role("dialog", name="Take the role?")
    await expect(dialog).to_contain_text(f"{member.username} is a moderator of the group a-ruled.")
    await dialog.get_by_role("button", name="Take the role").click()
    await expect(dialog.get_by_label("Reason")).to_have_attribute("aria-invalid", "true")
    for viewport in (PHONE, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await dialog.get_by_label("Reason").fill("It was a try.")
    await dialog.get_by_role("button", name="Take the role").click()
    await expect(ruled).to_contain_text("No moderators of its own.")
    assert roles(site, member) == []
    await opened(page, "/log?group=a-ruled")
    await expect(page.get_by_role("article")).to_have_count(2)
    await expect(page.get_by_role("main")).to_contain_text("A good eye.")


async def test_last_admin_stays(visit, site):
    page = await visit(admin := site.member("admin"))
    site.moderate(admin, role="ADMIN")
    await opened(page, "/moderation/roles")
    others = section(page, "The whole site").get_by_role("button", name="Take the role of an admin from")
    for _ in range(await others.count() - 1):
        name = await others.evaluate_all(
            "(all, own) => all.map((each) => each.ariaLabel).find((label) => !label.endsWith(` ${own}`))",
            admin.username,
        )
        await take(page, name)
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
        await expect(page.get_by_role("dialog")).to_have_count(0)
    await take(page, f"Take the role of an admin from {admin.username}")

    await expect(page.get_by_role("dialog")).to_contain_text("is the last admin")


async def take(page: Page, name: str) -> None:
    """Take a role by the button with this name, with a reason."""
    await page.get_by_role("button", name=name, exact=True).click()
    await page.get_by_role("dialog").get_by_label("Reason").fill("A reason.")
    await page.get_by_role("dialog").get_by_role("button", name="Take the role").click()


async def test_admin_adds_a_group_and_edits_what_is_written_about_it(visit, site):
    admin = site.member("admin")
    site.moderate(admin, role="ADMIN")
    page = await visit(admin)
    await opened(page, "/moderation/roles")
    await page.get_by_role("button", name="Add a group").click()
    add = page.get_by_role("form", name="Add a group")
    await add.get_by_label("Name", exact=True).fill("No group!")
    await add.get_by_role("button", name="Add the group").click()
    await expect(add.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    await add.get_by_label("Name", exact=True).fill("added")
    await add.get_by_label("Title").fill("An added group")
    await add.get_by_role("button", name="Add the group").click()

    added = section(page, "added")
    await expect(added).to_contain_text("An added group")
    await expect(page.get_by_role("button", name="Add a group")).to_be_focused()
    await added.get_by_role("button", name="Edit the group").click()
    await added.get_by_label("Title").fill("Another title")
    await added.get_by_role("button", name="Save").click()
    await expect(added).to_contain_text("Another title")
    assert site.ask(GROUP, name="added")["group"]["title"] == "Another title"


async def test_others_read_who_has_which_role(visit, page, site):
    moderator, member = site.member("mod"), site.member("member")
    site.moderate(moderator, "a-read-by-others")
    site.post(member, "In it", groups=["a-read-by-others"])
    for reader in (page, await visit(moderator)):
        await opened(reader, "/moderation/roles")
        await expect(section(reader, "a-read-by-others")).to_contain_text(f"{moderator.username} is a moderator")
        await expect(reader.get_by_role("form", name="Give a role")).to_have_count(0)
        await expect(reader.get_by_role("button", name="Take the role")).to_have_count(0)
        await expect(reader.get_by_role("button", name="Add a group")).to_have_count(0)


async def test_group_is_found_by_its_name_though_many_come_before_it(visit, page, site, axe):
    moderator, member = site.member("mod"), site.member("member")
    site.moderate(moderator, "zz-late")
    for number in range(5):
        site.post(member, "In many", groups=[f"find-{number}-{each}" for each in range(5)])
    site.post(member, "In it", groups=["zz-late"])
    await opened(page, "/moderation/roles")
    await expect(section(page, "zz-late")).to_have_count(0)
    find = page.get_by_role("form", name="Find a group")
    await find.get_by_label("Name of the group").fill(" ZZ-Late ")
    await find.get_by_role("button", name="Find").press("Enter")
    await expect(section(page, "zz-late")).to_contain_text(f"{moderator.username} is a moderator")
    await expect(page.locator("section.place[aria-label]")).to_have_count(1)
    for viewport in (DESKTOP, NARROW):
        await page.set_viewport_size(viewport)
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    for name in ("nobody-is-here", "No group!"):
        await find.get_by_label("Name of the group").fill(name)
        await find.get_by_label("Name of the group").press("Enter")
        await expect(page.get_by_text("There is no group of this name.")).to_be_visible()
    await page.go_back()
    await page.go_back()
    await expect(find.get_by_label("Name of the group")).to_have_value("ZZ-Late")
    await page.get_by_role("link", name="All groups").click()
    await expect(page.locator("section.place[aria-label]")).to_have_count(25)
