"""
Home: the viewer's own front page, and what they choose for it.

A fault of a page, such as an error in its console, fails a test unless `faults` expects or ignores it.

Codes such as H1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import re

from playwright.async_api import expect

from tests.reader.conftest import PHONE, opened, until
from tests.reader.lines import line, titles

LOST = "ERR_|WebSocket|request failed"  # faults while the network is lost
FOLLOW_GROUP = "mutation($group: String!) { followGroup(input: {group: $group}) { changed userErrors { message } } }"


def follow_group(site, member, group):
    site.ask(FOLLOW_GROUP, member, group=group)


async def test_name_of_the_site_leads_members_home_and_others_to_the_front_page(visit, page, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Of a followed group", groups=["home-followed"])
    site.post(writer, "Of another group", groups=["home-another"])
    follow_group(site, member, "home-followed")
    own = await visit(member)
    await opened(own, "/groups")

    await own.locator("header .site").click()
    await expect(own).to_have_url(f"{site.url}/home")
    await expect(own.get_by_role("link", name="1 group that you follow")).to_be_visible()
    assert await titles(own) == ["Of a followed group"]

    await own.get_by_role("link", name="All", exact=True).click()
    await expect(own).to_have_url(f"{site.url}/")
    await expect(own.get_by_role("article")).to_have_count(30)
    await opened(page, "/groups")
    await page.locator("header .site").click()
    await expect(page).to_have_url(f"{site.url}/")


async def test_home_has_orders_periods_and_pages(visit, site):
    member, writer = site.member("reader"), site.member("writer")
    posted = [site.post(writer, f"Number {number}", groups=["home-paged"]) for number in range(31)]
    follow_group(site, member, "home-paged")
    site.vote(member, posted[0])
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    first = await titles(page)
    assert first == [f"Number {number}" for number in range(30, 0, -1)]

    await page.keyboard.press("n")
    await expect(page.get_by_role("article")).to_have_count(1)
    assert await titles(page) == ["Number 0"]
    await page.keyboard.press("p")
    await expect(page.get_by_role("article")).to_have_count(30)
    assert await titles(page) == first
    await page.locator(".more-orders summary").click()
    await page.get_by_role("link", name="Votes The most votes of all time.").click()
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Number 0")
    await page.get_by_role("link", name="Top of the day").click()
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Number 0")
    await page.get_by_role("link", name="Next").click()
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(page).to_have_url(re.compile("top=day"))


async def test_home_without_groups_is_the_whole_site(visit, site, page):
    member = site.member("reader")
    own = await visit(member)
    await opened(own, "/home")
    await expect(own.get_by_text("You follow no groups yet")).to_be_visible()
    await expect(own.get_by_role("article")).to_have_count(30)
    await opened(page, "/home")
    await expect(page.get_by_role("main").get_by_role("link", name="Log in")).to_be_visible()


async def test_home_is_live(visit, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "There before", groups=["home-live"])
    follow_group(site, member, "home-live")
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    await visit.subscribed(page, "articlePosted")
    await visit.subscribed(page, "articlesChanged")

    site.post(writer, "Of another group", groups=["home-live-not"])
    posted = site.post(writer, "Come since", groups=["home-live"])
    await expect(page.locator("main ol > li h2 a")).to_have_text(["Come since", "There before"])
    await visit.subscribed(page, posted)
    site.vote(member, posted)
    await expect(page.locator("main .count").first).to_have_text("2")


async def test_article_of_the_next_page_rises_to_the_first(visit, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    posted = [site.post(writer, f"Rising {number}", groups=["home-rising"]) for number in range(31)]
    follow_group(site, member, "home-rising")
    page = await visit(member)
    await opened(page, "/home?order=VOTES")
    await expect(line(page, "Rising 0")).to_have_count(0)
    await visit.subscribed(page, posted[0])

    site.vote(member, posted[0])
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Rising 0")
    await expect(page.get_by_role("article")).to_have_count(30)


async def test_pages_of_home_keep_their_order_while_one_reads_on(visit, site):  # H1
    member, writer = site.member("reader"), site.member("writer")
    posted = [site.post(writer, f"Pinned {number}", groups=["home-pinned"]) for number in range(61)]
    follow_group(site, member, "home-pinned")
    page = await visit(member)
    await opened(page, "/home?order=VOTES")
    seen = await titles(page)
    await page.keyboard.press("n")
    await expect(line(page, seen[0])).to_have_count(0)
    await expect(page.get_by_role("article")).to_have_count(30)
    seen += await titles(page)

    site.vote(member, posted[0])  # it is the first now
    await page.keyboard.press("n")
    await expect(page.get_by_role("article")).to_have_count(1)
    assert sorted([*seen, *await titles(page)]) == sorted(f"Pinned {number}" for number in range(61))


async def test_home_goes_on_after_the_places_that_are_kept(visit, site):  # H1
    """A reader's first page keeps the places of 200 articles, so that later pages neither repeat nor leave out any."""
    member, writer = site.member("reader"), site.member("writer")
    for number in range(211):
        site.post(writer, f"Deep {number}", groups=["home-deep"])
    follow_group(site, member, "home-deep")
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    for number in range(180, -1, -30):
        await page.keyboard.press("n")
        await expect(page.locator("main ol > li h2 a").first).to_have_text(f"Deep {number}")

    await expect(page.get_by_role("article")).to_have_count(1)
    await page.keyboard.press("p")
    await expect(page.locator("main ol > li h2 a").first).to_have_text("Deep 30")


async def test_count_in_home_tells_the_place_by_its_order(visit, site):
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Placed", groups=["home-placed"])
    site.post(writer, "Above it on the site", groups=["home-placed-not"])
    follow_group(site, member, "home-placed")
    page = await visit(member)
    await opened(page, "/home?order=TIME")

    await line(page, "Placed").locator(".count").click()
    await expect(page.get_by_role("tooltip").filter(has_text="Place 2 by New on the whole site")).to_be_visible()
    assert await line(page, "Placed").get_attribute("data-rank") == "1"


async def test_article_is_hidden_by_its_menu_and_comes_back(visit, site, axe):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Kept", groups=["home-hiding"])
    site.post(writer, "Unwanted", groups=["home-hiding"])
    follow_group(site, member, "home-hiding")
    page = await visit(member)
    await opened(page, "/home?order=TIME")
    below = await line(page, "Kept").bounding_box()
    await hide(page, "Unwanted")
    await expect(line(page, "Hidden: Unwanted")).to_be_visible()
    assert await line(page, "Kept").bounding_box() == below
    await expect(page.get_by_role("button", name="Undo: hide Unwanted")).to_be_focused()
    assert hidden(site, member) == ["Unwanted"]
    assert await axe(page) == []

    await page.keyboard.press("Enter")
    await expect(line(page, "Unwanted")).to_be_focused()
    await expect(page.get_by_text("Not hidden any more: Unwanted.")).to_be_visible()
    assert hidden(site, member) == []

    await hide(page, "Unwanted")
    await opened(page, "/home?order=TIME")
    assert await titles(page) == ["Kept"]
    assert await page.get_by_role("article").count() == 1


async def test_what_is_hidden_in_a_shared_list_can_be_undone_in_the_status_line(visit, site):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Seen enough", groups=["home-shared"])
    page = await visit(member)
    await opened(page, "/group/home-shared")
    await hide(page, "Seen enough")
    await expect(page.get_by_text("Hidden from your home and feed: Seen enough.")).to_be_visible()
    await expect(line(page, "Seen enough")).to_be_visible()
    assert hidden(site, member) == ["Seen enough"]

    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(page.get_by_text("Not hidden any more: Seen enough.")).to_be_visible()
    assert hidden(site, member) == []


async def test_article_is_hidden_from_the_feed(visit, site):  # H2
    member, star = site.member("reader"), site.member("star")
    site.follow(member, star)
    site.post(star, "Not in the feed")
    page = await visit(member)
    await opened(page, "/feed")
    await hide(page, "Not in the feed")
    await expect(line(page, "Hidden: Not in the feed")).to_be_visible()

    await opened(page, "/feed")
    await expect(page.get_by_text("There is nothing here yet.")).to_be_visible()


async def test_hidden_page_lists_what_is_hidden_and_takes_it_out(visit, page, site, axe):  # H2
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Once hidden", groups=["home-hidden"])
    own = await visit(member, viewport=PHONE | {"width": 320})
    await opened(own, "/group/home-hidden")
    await hide(own, "Once hidden")
    await expect(own.get_by_text("Hidden from your home and feed: Once hidden.")).to_be_visible()
    await opened(own, f"/user/{member.username}")
    await own.get_by_role("link", name="Hidden", exact=True).click()
    await expect(own.get_by_role("heading", level=1)).to_have_text("Hidden")
    assert await axe(own) == []
    assert await own.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await own.get_by_role("button", name="Do not hide: Once hidden").press("Enter")
    await expect(own.get_by_role("button", name="Hide again: Once hidden")).to_be_focused()
    assert hidden(site, member) == []
    await opened(own, "/hidden")
    await expect(own.get_by_text("Nothing is hidden.")).to_be_visible()
    await opened(page, "/hidden")
    await expect(page.get_by_text("for you alone")).to_be_visible()


async def test_hiding_without_the_network_says_so(visit, site, faults):
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Hidden offline", groups=["home-offline"])
    page = await visit(member)
    await opened(page, "/group/home-offline")
    await page.get_by_role("button", name="More: Hidden offline", exact=True).click()
    await expect(page.get_by_role("button", name="Hide", exact=True)).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Hide", exact=True).click()

    await expect(page.get_by_text("Not hidden: Hidden offline. You are offline.")).to_be_visible()
    assert hidden(site, member) == []
    await page.context.set_offline(False)
    faults.ignore(LOST)


async def test_group_is_followed_on_its_page_and_in_the_list(visit, page, site, axe):  # H1
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "To be followed", groups=["home-buttons"])
    own = await visit(member)
    await opened(own, "/group/home-buttons")
    await expect(own.get_by_text("0 followers")).to_be_visible()
    await own.get_by_role("button", name="Follow home-buttons").click()
    await expect(own.get_by_text("1 follower", exact=True)).to_be_visible()
    await until(lambda: followed(site, member) == ["home-buttons"], "the follow on the server")

    await opened(own, "/groups")
    row = own.locator(".groups li").filter(has_text="home-buttons")
    await expect(row).to_contain_text("1 article, 1 follower")
    assert await axe(own) == []
    await row.get_by_role("button", name="Following home-buttons").press("Enter")
    await expect(row.get_by_role("button", name="Follow home-buttons")).to_be_focused()
    await expect(row).to_contain_text("0 followers")
    await until(lambda: followed(site, member) == [], "its end on the server")
    await own.set_viewport_size(PHONE | {"width": 320})
    assert await axe(own) == []
    assert await own.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await opened(page, "/groups")
    await page.get_by_role("button", name="Follow home-buttons").click()
    await expect(page).to_have_url(re.compile("/log-in"))
    await expect(page.get_by_text("Log in to follow home-buttons.")).to_be_visible()


async def test_followed_group_without_articles_is_listed_and_left(visit, page, site, axe):  # H1
    member, writer = site.member("reader"), site.member("writer")
    last = site.post(writer, "The last one", groups=["home-ended"])
    follow_group(site, member, "home-ended")
    site.ask(
        "mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { userErrors { message } } }", writer, id=last
    )
    own = await visit(member, viewport=PHONE | {"width": 320})
    await opened(own, "/home")
    await own.get_by_role("link", name="1 group that you follow").click()
    await expect(own.get_by_role("heading", level=1)).to_have_text("Followed groups")
    await expect(own.locator(".groups li")).to_contain_text("0 articles, 1 follower")
    assert await axe(own) == []
    assert await own.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await own.keyboard.press("j")
    await own.keyboard.press("f")
    await expect(own.get_by_role("button", name="Follow home-ended")).to_be_visible()
    await until(lambda: followed(site, member) == [], "its end on the server")
    await opened(own, f"/user/{member.username}")
    await own.get_by_role("link", name="Followed groups", exact=True).click()
    await expect(own.get_by_text("You follow no groups.")).to_be_visible()
    await opened(page, "/followed")
    await expect(page.get_by_role("main").get_by_role("link", name="Log in")).to_be_visible()


async def test_follow_of_a_group_is_taken_back_without_the_network(visit, site, faults):
    member, writer = site.member("reader"), site.member("writer")
    site.post(writer, "Not to be followed", groups=["home-lost"])
    page = await visit(member)
    await opened(page, "/group/home-lost")
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Follow home-lost").click()

    await expect(page.get_by_text("You do not follow home-lost. You are offline.")).to_be_visible()
    await expect(page.get_by_role("button", name="Follow home-lost")).to_be_visible()
    await expect(page.get_by_text("0 followers")).to_be_visible()
    await page.context.set_offline(False)
    faults.ignore(LOST)


async def test_people_are_followed_in_lists_of_people(visit, site):
    member, star, other = site.member("reader"), site.member("star"), site.member("other")
    site.follow(other, star)
    page = await visit(member)
    await opened(page, f"/user/{star.username}/followers")
    await page.keyboard.press("j")
    await page.keyboard.press("f")

    await expect(page.get_by_role("button", name=f"Following {other.username}")).to_be_visible()
    query = "query($name: String!) { user(username: $name) { viewerIsFollowing } }"
    await until(lambda: site.ask(query, member, name=other.username)["user"]["viewerIsFollowing"], "the follow")
    site.wait_until_found(star.username, 1)
    await opened(page, f"/search?q={star.username}&kind=USER")
    await page.get_by_role("main").get_by_role("button", name=f"Follow {star.username}").click()
    await expect(page.get_by_role("button", name=f"Following {star.username}")).to_be_visible()


async def test_user_is_blocked_on_their_page_and_unblocked_on_the_page_of_all(visit, page, site, axe):  # H2
    member, other = site.member("reader"), site.member("other")
    site.post(other, "Of the blocked", groups=["home-blocking"])
    follow_group(site, member, "home-blocking")
    site.follow(member, other)
    own = await visit(member, viewport=PHONE | {"width": 320})
    await opened(own, f"/user/{other.username}")
    await own.get_by_role("button", name=f"Block {other.username}").press("Enter")
    await expect(own.get_by_text("Nobody else learns of it.")).to_be_visible()
    await expect(own.get_by_role("button", name=f"Blocked {other.username}")).to_be_focused()
    await expect(own.get_by_role("link", name="0 followers")).to_be_visible()
    await expect(own.get_by_role("button", name=f"Follow {other.username}")).to_have_count(0)
    assert await axe(own) == []
    await opened(own, "/home")
    await expect(own.get_by_text("There are no articles here yet.")).to_be_visible()

    await opened(own, f"/user/{member.username}")
    await own.get_by_role("link", name="Blocked", exact=True).click()
    await expect(own.get_by_role("heading", level=1)).to_have_text("Blocked")
    assert await axe(own) == []
    await own.get_by_role("button", name=f"Blocked {other.username}").click()
    await expect(own.get_by_text(f"You block {other.username} no more.")).to_be_visible()
    await opened(own, "/blocked")
    await expect(own.get_by_text("You block nobody.")).to_be_visible()
    await opened(page, "/blocked")
    await expect(page.get_by_text("for you alone")).to_be_visible()


async def test_comments_of_the_blocked_are_folded_and_replies_stay(visit, page, site, axe):  # H2
    member, other = site.member("reader"), site.member("other")
    article = site.post(member, "Answered by the blocked", content="Text.")
    comment = site.comment(other, article, "Said by the blocked")
    site.comment(member, article, "Answered by another", comment)
    site.ask("mutation($id: ID!) { blockUser(input: {userId: $id}) { userErrors { message } } }", member, id=other.id)
    own = await visit(member)
    await opened(own, site.path(article))
    folded = own.get_by_role("article", name=f"comment by {other.username}")
    await expect(own.get_by_text("Answered by another")).to_be_visible()
    await expect(folded).to_contain_text(f"You block {other.username}.")
    await expect(own.get_by_text("Said by the blocked")).to_have_count(0)
    assert await axe(own) == []

    await folded.get_by_role("button", name="Show the text").press("Enter")
    await expect(own.get_by_text("Said by the blocked")).to_be_visible()
    await folded.get_by_role("button", name="Hide the text").press("Enter")
    await expect(own.get_by_text("Said by the blocked")).to_have_count(0)
    await visit.subscribed(own, "commentPosted")
    site.comment(other, article, "Said since")
    await own.get_by_role("button", name="1 new comment").click()
    await expect(own.get_by_text(f"You block {other.username}.")).to_have_count(2)
    await expect(own.get_by_text("Said since")).to_have_count(0)

    await opened(own, "/comments")
    await expect(own.get_by_text("Answered by another")).to_be_visible()
    await expect(own.get_by_text("Said since")).to_have_count(0)
    assert await axe(own) == []
    newest = own.get_by_role("article", name=f"comment by {other.username}").filter(has_text="You block").first
    await newest.get_by_role("button", name="Show the text").press("Enter")
    await expect(own.get_by_text("Said since")).to_be_visible()
    await opened(own, f"/user/{other.username}/comments")
    await expect(own.get_by_text("Said by the blocked")).to_be_visible()

    for path in (site.path(article), "/comments"):
        await opened(page, path)
        await expect(page.get_by_text("Said by the blocked")).to_be_visible()


async def hide(page, title):
    """Choose "Hide" in the menu of an article, by the keyboard."""
    await line(page, title).focus()
    await page.keyboard.press("m")
    await page.get_by_role("button", name="Hide", exact=True).press("Enter")


def hidden(site, member):
    """The titles of the articles that a member has hidden."""
    found = site.ask("{ home { hidden { nodes { title } } } }", member)
    return [each["title"] for each in found["home"]["hidden"]["nodes"]]


def followed(site, member):
    """The names of the groups that a member follows."""
    found = site.ask("{ home { groups { nodes { name } } } }", member)
    return [each["name"] for each in found["home"]["groups"]["nodes"]]
