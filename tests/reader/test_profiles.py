"""
What users write about themselves, and links by which passwords are chosen and people invited.

Codes such as U5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Route, expect

from tests.reader.conftest import DESKTOP, PHONE, opened
from tests.reader.site import PASSWORD, Site, serving_sample
from tests.server.conftest import Live, serving

EDIT = "mutation($input: EditProfileInput!) { editProfile(input: $input) { userErrors { message } } }"
HOST = "pictures.example"
PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"

# Addresses that look as if they were on the host whose pictures are allowed.
FOREIGN = [
    "http://elsewhere.example/a.svg",
    f"http://www.{HOST}/a.svg",
    f"http://{HOST}.elsewhere.example/a.svg",
    f"http://{HOST}:81/a.svg",
    f"http://elsewhere.example/{HOST}/a.svg",
    f"http://{HOST}@elsewhere.example/a.svg",
]
# Whether the page can load a picture.
LOADS = """url => new Promise((done) => {
  const image = new Image();
  image.onload = () => done(true);
  image.onerror = () => done(false);
  image.src = url;
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that shows pictures from one host, with a first administrator, `boss`."""
    with serving_sample(tmp_path_factory.mktemp("profiles"), avatar_hosts=HOST, admin="boss") as site:
        yield site


def boss_link(live: Live) -> str:
    """The link to set the first administrator's password: the second word of the first line that the server prints."""
    return live.printed[0].split()[1]


async def test_profile_is_edited_and_shown(visit, site, axe):
    member = site.member()
    page = await visit(member, reduced_motion="reduce")
    await opened(page, "/settings")
    form = page.get_by_role("region", name="Profile")
    await form.get_by_label("Name as people read it").fill("Moderator")
    await form.get_by_role("button", name="Save the profile").click()
    await expect(form.get_by_label("Name as people read it")).to_have_accessible_description(re.compile("is reserved"))
    await form.get_by_label("Name as people read it").fill("Vera V.")
    await form.get_by_label("About you").fill("I write *Lua*. <b>x</b>")
    await form.get_by_label("About you").press("Tab")
    await form.get_by_role("button", name="Save the profile").press("Enter")
    await expect(page.get_by_text("Your profile is changed.")).to_be_visible()

    found = []
    for path in ("/settings", f"/user/{member.username}"):
        await opened(page, path)
        for viewport in (DESKTOP, PHONE):
            await page.set_viewport_size(viewport)
            found += await axe(page)
    assert found == []
    about = page.get_by_role("region", name=f"About {member.username}")
    await expect(about.locator("em")).to_have_text("Lua")
    await expect(about.locator("b")).to_have_count(0)
    await expect(page.get_by_text("Vera V.")).to_be_visible()


async def test_picture_is_shown_from_an_allowed_host_and_else_drawn(browser, site):
    asked: list[dict[str, str]] = []

    async def picture(route: Route) -> None:
        asked.append(route.request.headers)
        await route.fulfill(body=PIXEL, content_type="image/svg+xml")

    member = site.member()
    page = await browser.new_page(base_url=site.url)
    await page.context.route(re.compile(r"//(pictures|elsewhere)\.example"), picture)
    for host, shown in ((HOST, "img"), ("elsewhere.example", "svg"), (f"{HOST}.elsewhere.example", "svg")):
        site.ask(EDIT, member, input={"avatarUrl": f"http://{host}/me.svg"})
        await opened(page, f"/user/{member.username}")
        await expect(page.locator(f"{shown}.avatar")).to_be_visible()
        await expect(page.locator(".avatar")).to_have_count(1)

    assert len(asked) == 1
    assert "referer" not in asked[0]
    await page.close()


async def test_policy_of_the_page_lets_pictures_of_the_named_hosts_load_and_no_others(browser, site):
    """Also those that a page would ask for by mistake: it is the browser that refuses."""
    asked: list[str] = []

    async def picture(route: Route) -> None:
        asked.append(route.request.url)
        await route.fulfill(body=PIXEL, content_type="image/svg+xml")

    page = await browser.new_page(base_url=site.url)
    await page.context.route(re.compile(r"\.example[:/]"), picture)
    for path in ("/", "/settings", "/no-such-page"):
        response = await page.goto(path)
        (sources,) = re.findall("img-src ([^;]*)", response.headers["content-security-policy"])
        assert sources == f"'self' data: {HOST}"
        loaded = [url for url in (f"http://{HOST}/a.svg", *FOREIGN) if await page.evaluate(LOADS, url)]
        assert loaded == [f"http://{HOST}/a.svg"]

    assert set(asked) == {f"http://{HOST}/a.svg"}
    await page.close()


async def test_link_of_the_first_administrator_sets_a_password(visit, site, axe):  # U5
    token = urlsplit(boss_link(site.live)).fragment
    page = await visit(reduced_motion="reduce")
    await opened(page, f"/reset#{token}")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Choose a password")
    await expect(page.get_by_role("main")).to_contain_text("For the account boss.")
    assert await axe(page) == []
    await page.get_by_label("New password").fill("short")
    await page.get_by_label("New password").press("Enter")
    await expect(page.get_by_label("New password")).to_have_accessible_description(re.compile("8 to 128"))
    await page.get_by_label("New password").fill(PASSWORD)
    await page.get_by_label("New password").press("Enter")

    await expect(page.get_by_text("You are logged in as boss.")).to_be_visible()
    assert token not in page.url
    again = await visit()
    await opened(again, f"/reset#{token}")
    await again.get_by_label("New password").fill(PASSWORD)
    await expect(again.get_by_role("main")).not_to_contain_text("boss")
    await again.get_by_role("button", name="Set the password").click()
    await expect(again.get_by_role("alert")).to_contain_text("This link was used")
    await opened(again, "/reset")
    await expect(again.get_by_text("Something is missing in this link")).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_who_is_invited_by_an_admin_registers(browser, axe, tmp_path, viewport):
    with serving(tmp_path, registration="invited", admin="boss") as live:
        options = {"base_url": f"{live.url}/", "viewport": viewport, "reduced_motion": "reduce"}
        boss, guest, late = [await (await browser.new_context(**options)).new_page() for _ in range(3)]
        await opened(guest, "/register")
        await expect(guest.get_by_text("Only who is invited can register")).to_be_visible()

        await opened(boss, f"/reset#{urlsplit(boss_link(live)).fragment}")
        await boss.get_by_label("New password").fill(PASSWORD)
        await boss.get_by_label("New password").press("Enter")
        await expect(boss.get_by_text("You are logged in as boss.")).to_be_visible()
        await opened(boss, "/moderation/roles")
        await boss.get_by_role("button", name="Make a link").press("Enter")
        shown = boss.get_by_label("Link of the invitation")
        await expect(shown).to_have_accessible_description(re.compile("It is shown only now, and good until"))
        assert await axe(boss) == []
        assert await boss.evaluate("document.documentElement.scrollWidth <= innerWidth")
        link = await shown.input_value()
        assert link.startswith(f"{live.url}/register#")

        await guest.goto("about:blank")
        for page, name in ((guest, "carol"), (late, "dave")):
            await page.goto(link)
            await page.get_by_label("Name", exact=True).fill(name)
            await page.get_by_label("Password").fill(PASSWORD)
            await page.get_by_label("Password").press("Enter")
        await expect(guest.get_by_text("You are logged in as carol.")).to_be_visible()
        await expect(late.get_by_role("alert")).to_contain_text("This link was used")
        await opened(guest, "/moderation/roles")
        await expect(guest.get_by_role("heading", name="The whole site")).to_be_visible()
        await expect(guest.get_by_role("button", name="Make a link")).to_have_count(0)
        for page in (boss, guest, late):
            await page.context.close()
