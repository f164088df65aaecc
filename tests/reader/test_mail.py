"""
The address of a member, forgotten passwords and confirmations, on a site that sends mail to a real mail server.

Codes such as U6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.reader.conftest import DESKTOP, PHONE, opened, until
from tests.reader.site import PASSWORD, Member, Site, serving_sample
from tests.server.issuers import issuing
from tests.server.mailing import MailServer, mail_server
from tests.servers import free_port

ADDRESS = "mira@up.example"
EXCHANGE = "mutation($text: String!) { logInWithToken(input: {token: $text}) { token userErrors { message } } }"
CONFIRM = "mutation($text: String!) { confirmEmail(input: {token: $text}) { userErrors { message } } }"
LINK = re.compile(r"http://127\.0\.0\.1:\d+(/\S+)")


@pytest.fixture(scope="module")
def smtp() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, smtp: MailServer) -> Iterator[Site]:
    """A site that sends mail, and takes tokens of an issuer, whose users have no password here."""
    port = free_port()
    mail = {"smtp_url": smtp.url, "mail_from": "Up <up@up.example>", "public_url": f"http://127.0.0.1:{port}"}
    folder = tmp_path_factory.mktemp("mailing")
    secret = {"algorithms": ["HS256"], "jwks_file": None, "secrets": {"one": issuing.SECRET}}
    table = {name: value for name, value in (issuing.TABLE | secret).items() if value is not None}
    with serving_sample(folder, port=port, issuers=issuing.written(folder, table), **mail) as site:
        yield site


async def link_to(smtp: MailServer, address: str, kind: str) -> str:
    """The path of the link of the next mail to an address."""

    def found() -> list[str]:
        texts = [mail.text for mail in smtp.received if mail.to == address]
        return [path for text in texts for path in LINK.findall(text) if path.startswith(f"/{kind}#")]

    await until(lambda: found() != [], f"a mail to {address}")
    (path,) = found()
    smtp.received.clear()
    return path


def section(page: Page):
    """The part of the settings about mail."""
    return page.get_by_role("region", name="Mail", exact=True)


async def change_address(page: Page, address: str, password: str = PASSWORD) -> None:
    await section(page).get_by_label("Address", exact=True).fill(address)
    await section(page).get_by_label("Password, to change the address").fill(password)
    await section(page).get_by_label("Password, to change the address").press("Enter")


async def test_address_is_changed_confirmed_and_removed(visit, site, smtp):
    member = site.member()
    page = await visit(member)
    await opened(page, "/settings")
    await change_address(page, "no address")
    await expect(section(page).get_by_label("Address", exact=True)).to_have_accessible_description(
        re.compile("looks like name@example.com")
    )
    await change_address(page, ADDRESS, "wrong horse")
    await expect(section(page).get_by_label("Password, to change")).to_have_accessible_description(
        re.compile("not your current password")
    )
    await change_address(page, ADDRESS)
    await expect(section(page)).to_contain_text(f"{ADDRESS} is not confirmed yet")
    await expect(section(page).get_by_label("Password, to change")).to_have_value("")

    link = await link_to(smtp, ADDRESS, "confirm")
    visitor = await visit()
    await opened(visitor, link)
    await expect(visitor.get_by_role("heading", level=1)).to_have_text("Confirm an address")
    assert (site.ask("{ account { email } }", member))["account"]["email"] is None  # opening it changes nothing
    await visitor.get_by_role("button", name="Confirm the address").click()
    await expect(visitor.get_by_text("Your address is confirmed.")).to_be_visible()
    await expect(visitor).to_have_url(re.compile("/confirm$"))
    await opened(visitor, "/confirm")
    await expect(visitor.get_by_text("Something is missing in this link")).to_be_visible()

    await page.reload()
    await expect(section(page)).to_contain_text(f"Mails go to {ADDRESS}.")
    await change_address(page, "")
    await expect(section(page)).not_to_contain_text(ADDRESS)
    assert (site.ask("{ account { email } }", member))["account"]["email"] is None


async def test_who_has_no_password_leaves_by_a_link_in_a_mail(visit, site, smtp, axe):  # U6
    tokens = issuing.Tokens(key=issuing.SHARED, algorithm="HS256", now=time.time())
    token = tokens.token(name="ada", header={"kid": "one"})
    ada = Member("ada", site.ask(EXCHANGE, text=token)["logInWithToken"]["token"])
    page = await visit(ada, reduced_motion="reduce")
    await opened(page, "/settings")
    await expect(page.locator("input[type=password]")).to_have_count(0)
    leaving = page.get_by_role("region", name="Delete the account")
    await expect(leaving.get_by_role("button", name="Send me a link")).to_have_count(0)  # where would it go
    await section(page).get_by_label("Address", exact=True).fill(ADDRESS)
    await section(page).get_by_role("button", name="Change the address").press("Enter")
    site.ask(CONFIRM, ada, text=(await link_to(smtp, ADDRESS, "confirm")).partition("#")[2])
    await page.reload()

    await leaving.get_by_role("button", name="Send me a link by mail instead").press("Enter")
    await expect(page.get_by_text("A mail is on its way")).to_be_visible()
    link = await link_to(smtp, ADDRESS, "settings")
    await page.goto("about:blank")
    await opened(page, link)
    await expect(leaving).to_contain_text("The link in your mail has confirmed that it is you.")
    assert await axe(page) == []
    await leaving.get_by_role("button", name="Delete the account").press("Enter")
    async with page.expect_request(lambda request: "DeleteUser" in (request.post_data or "")) as sent:
        await page.get_by_role("button", name="Delete my account").press("Enter")
    assert link.partition("#")[2] in ((await sent.value).post_data or "")
    await expect(page.get_by_text("Your account is deleted.")).to_be_visible()


async def test_used_link_says_so(visit):
    page = await visit()
    await opened(page, f"/confirm#{'x' * 46}")
    await page.get_by_role("button", name="Confirm the address").click()

    await expect(page.get_by_role("alert")).not_to_be_empty()
    await expect(page.get_by_role("button", name="Confirm the address")).to_be_visible()


async def test_replies_are_chosen(visit, site):
    member = site.member()
    page = await visit(member)
    await opened(page, "/settings")
    await section(page).get_by_label("Mail me what arrives").select_option("Once a day")
    await section(page).get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await page.reload()

    await expect(section(page).get_by_label("Mail me what arrives")).to_have_value("DAILY")


@pytest.mark.parametrize("known", [True, False])
async def test_forgotten_password_is_asked_for_by_name(visit, site, known):
    name = site.member().username if known else "nobody-at-all"
    page = await visit()
    await opened(page, "/log-in")
    await page.get_by_role("link", name="Forgot the password?").click()
    await page.get_by_label("Name or address").fill(name)
    await page.get_by_label("Name or address").press("Enter")

    await expect(page.get_by_text("If there is such a user")).to_be_visible()


async def test_settings_with_mail_are_accessible(visit, site, axe):
    page = await visit(site.member(), reduced_motion="reduce")
    await opened(page, "/settings")
    await expect(section(page)).to_be_visible()
    found = []
    for theme in ("light", "dark"):
        for viewport in (DESKTOP, PHONE):
            await page.emulate_media(color_scheme=theme)
            await page.set_viewport_size(viewport)
            found += await axe(page)

    assert found == []


# The pages to which links of mails lead, also without a token, and the button of each that has one.
PAGES = {
    "/forgot": "Send me a link",
    f"/reset#{'x' * 46}": "Set the password",
    f"/confirm#{'x' * 46}": "Confirm the address",
    "/confirm": None,
    "/reset": None,
}


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_pages_of_links_are_accessible_and_work_by_the_keyboard(visit, axe, viewport):
    page = await visit(viewport=viewport, reduced_motion="reduce")
    for path, button in PAGES.items():
        await page.goto("about:blank")
        await opened(page, path)
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            assert (path, await axe(page)) == (path, [])
        if button:
            await tab_to(page, button)
            await page.keyboard.press("Enter")
            await expect(page.locator("main .refusal:not(:empty), [role=status]:not(:empty)").first).to_be_visible()
            assert (path, await axe(page)) == (path, [])


async def tab_to(page: Page, button: str) -> None:
    """Move the focus to a button by the Tab key only."""
    for _ in range(30):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == button:
            return
    pytest.fail(f"the Tab key does not reach {button!r}")
