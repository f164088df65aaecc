"""
What users see whose browser runs no scripts, and the addresses in the heads of pages under a path prefix.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it. `PRELOAD` is
that of a page whose scripts are off.
"""

from playwright.async_api import expect

from tests.reader.conftest import PHONE, PRELOAD, opened
from tests.reader.gateway import gateway

# The canonical address of a page, and those of its feeds.
ADDRESSES = """() =>
  [...document.querySelectorAll("link[rel=canonical], link[rel=alternate][type]")].map((link) => link.href)"""
# How far each count of votes begins from the side of the line that it is in.
STARTS = """() => [...document.querySelectorAll(".about-article .votes, .comment .votes")].map((votes) =>
  votes.getBoundingClientRect().left - votes.parentElement.getBoundingClientRect().left)"""
# The heights of the counts of votes in a list, if each has three digits.
COUNTS = """() => [...document.querySelectorAll('.story .count')].map((count) => {
  count.textContent = '999';
  return count.getBoundingClientRect().height;
})"""
TEXT = "Some *words*\n\n<img src=https://elsewhere.example/a.png>"


async def test_article_shows_its_text_without_scripts(visit, site, faults):
    member = site.member()
    number = site.post(member, "A title", link="https://example.com/a", content=TEXT).partition(":")[2]
    page = await visit(java_script_enabled=False)

    await page.goto(f"/article/{number}")

    await expect(page.get_by_role("heading", level=1)).to_have_text("A title example.com")
    await expect(page.get_by_role("link", name="A title")).to_have_attribute("href", "https://example.com/a")
    await expect(page.locator("em")).to_have_text("words")
    await page.get_by_role("link", name=member.username).click()
    assert page.url == f"{site.url}/user/{member.username}"
    await page.close()
    faults.ignore(PRELOAD)


async def test_counts_of_votes_begin_where_the_line_does_without_scripts(visit, site, faults):
    member = site.member()
    article = site.post(member, "A title")
    site.comment(member, article, "A comment")
    page = await visit(java_script_enabled=False, viewport=PHONE)
    await page.goto(site.path(article))

    assert await page.evaluate(STARTS) == [0, 0]
    await page.close()
    faults.ignore(PRELOAD)


async def test_count_and_name_of_the_site_are_in_one_line_on_a_small_phone_without_scripts(visit, site, faults):
    page = await visit(java_script_enabled=False, viewport=PHONE | {"width": 320})
    await page.goto("/?order=VOTES")

    heights = await page.evaluate(COUNTS)
    assert len(heights) == 30 and max(heights) < 20
    room = await page.evaluate("document.querySelector('header .site').getBoundingClientRect().width")
    await page.evaluate("document.querySelector('header .site span').textContent = 'The news of a town'")
    assert await page.evaluate("document.querySelector('header .site').getBoundingClientRect().width") > max(room, 150)
    await page.close()
    faults.ignore(PRELOAD)


async def test_titles_of_pages_are_the_same_with_scripts(visit, site, faults):
    member = site.member()
    article = site.post(member, "A <b>title</b>", groups=["titled"])
    comment = site.comment(member, article, "A comment").partition(":")[2]
    thread = f"/article/{article.partition(':')[2]}"
    own = ["/group/titled", "/group/titled?page=2", f"/user/{member.username}", thread, f"{thread}/comment/{comment}"]
    without, with_scripts = await visit(java_script_enabled=False), await visit()

    for path in ["/", "/?order=VOTES", "/good", "/groups", "/top/month", *own]:
        await without.goto(path)
        await opened(with_scripts, path)
        await expect(with_scripts).to_have_title(await without.title())
    await without.close()
    faults.ignore(PRELOAD)


async def test_addresses_of_a_head_are_right_under_a_prefix(visit, site):
    number = site.post(site.member(), "A title").partition(":")[2]
    async with gateway(site.url, "/news") as (proxy, url):
        page = await visit(base_url=url)
        await opened(page, f"/article/{number}")
        addresses = await page.evaluate(ADDRESSES)

        assert addresses == [
            f"{url}{path}" for path in (f"article/{number}", "atom.xml?order=HOT", "rss.xml?order=HOT")
        ]
        for feed in addresses[1:]:
            assert (await page.context.request.get(feed)).status == 200
    assert proxy.outside_prefix == []
