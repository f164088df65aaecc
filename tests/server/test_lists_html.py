"""
Lists of the site, of groups and of users as HTML, for browsers that run no scripts. tests/reader/test_replacement.py
compares them with those that the reader, the script of the site, shows.
"""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from resolvers.search import QUERY_LENGTH
from server.reader.avatars import fnv1a
from server.reader.cursors import CURSOR_PAGE
from server.reader.groups import MOST_GROUPS
from server.reader.lines import in_one_line, marked, unmarked
from server.reader.searches import KIND_TEXTS, MOST_MATCHES, ORDER_TEXTS, count_of
from server.reader.top_lists import PERIOD_HOURS, since_of
from server.words.languages import languages
from store import bans
from store.articles import Draft
from store.maintenance.import_stories import Story, import_batch
from store.records import Vote
from store.roles import OPERATOR
from tests.conftest import registered
from tests.server.pages import HOSTILE, canonical, metas, read, serving
from tests.servers import PATIENCE

SOURCES = Path(__file__).parents[2] / "reader" / "src"
LONG_AGO = "2016-01-01T00:00:00Z"


def titles(page):
    """The titles of the articles on a page, in their order."""
    return [line.h2.a.text for line in page.select("#root .articles .line")]


def links(page, selector):
    """The address and the text of each link that a CSS selector finds."""
    return [(each["href"], each.text) for each in page.select(selector)]


async def posted(store, poster, title, *groups):
    return (await store.articles.post(poster, Draft(title, content="text", groups=groups))).article.number


async def followed(http, page):
    """The page that the link to the next one leads to."""
    return await read(http, f"/{page.select_one('.pager a[rel=next]')['href']}")


def test_numbers_and_names_are_those_of_the_reader():
    cursors, groups = ((SOURCES / name).read_text() for name in ("cursors.ts", "components/Groups.tsx"))
    periods, search = ((SOURCES / name).read_text() for name in ("periods.ts", "pages/SearchPage.tsx"))

    assert int(re.search(r"CURSOR_PAGE = (\d+)", cursors)[1]) == CURSOR_PAGE
    assert int(re.search(r"MOST_GROUPS = (\d+)", groups)[1]) == MOST_GROUPS
    assert re.findall(r'period: "(\w+)", hours: ([\d*]+(?: \* \d+)?)', periods) == [
        (period, "24" if hours == 24 else f"{hours // 24} * 24") for period, hours in PERIOD_HOURS.items()
    ]
    assert dict(re.findall(r'kind: "(\w+)", name: "([^"]*)"', search)) == {k: v for k, v in KIND_TEXTS.items() if k}
    assert dict(re.findall(r'order: "(\w+)", name: "([^"]*)"', search)) == ORDER_TEXTS
    assert int(re.search(r"MOST_MATCHES = ([\d_]+)", search)[1]) == MOST_MATCHES
    assert int(re.search(r"QUERY_LENGTH = (\d+)", search)[1]) == QUERY_LENGTH


async def test_top_of_a_period_goes_on_from_its_last_article(http, store, alice, bob):
    numbers = [await posted(store, alice, f"Title {n}") for n in range(32)]
    await store.articles.vote(numbers[7], bob, Vote.UP)

    first = await read(http, f"/top/week?since={LONG_AGO}")
    second = await followed(http, first)

    assert titles(first)[0] == "Title 7"
    assert sorted(titles(first) + titles(second)) == sorted(f"Title {n}" for n in range(32))
    assert [line["data-rank"] for line in second.select(".line")] == ["31", "32"]
    assert links(second, ".pager a") == [("top/week", "← Previous")]
    assert links(first, ".lists [aria-current]") == [("top/week", "Week")]


@pytest.mark.parametrize("given", ["nonsense", "0001-01-01T00:00:00+14:00", ""])
def test_wrong_start_of_a_period_is_replaced_by_a_full_hour(given):
    since = datetime.fromisoformat(since_of("day", given))

    assert 86_400 <= (datetime.now(UTC) - since).total_seconds() < 90_000
    assert (since.minute, since.second, since.microsecond) == (0, 0, 0)


def test_start_of_a_period_that_is_given_is_said_as_scripts_say_it():
    assert since_of("day", "2026-11-25T01:00:00+01:00") == "2026-11-25T00:00:00.000Z"


async def test_good_articles_are_all_or_those_of_a_day(http, store, alice, clock):
    await posted(store, alice, "Plain")
    await import_batch(
        store, [Story("1", "Good", link="https://example.com/", poster=alice, time=clock.now - 5, votes=300)]
    )

    whole, day, other = [await read(http, f"/good{query}") for query in ("", "?date=2016-08-04", "?date=2016-08-03")]

    assert (titles(whole), titles(day), titles(other)) == (["Good"], ["Good"], [])
    assert day.title.text == "Good articles of August 4, 2016 · Votes & Co"
    german = await read(http, "/good?date=2016-08-04&lang=de")
    assert german.title.text == "Gute Artikel vom 4. August 2016 · Votes & Co"
    assert other.select_one("main .empty").text == "No article has enough votes yet."
    assert canonical(day) == ["good?date=2016-08-04"]


@pytest.mark.parametrize(
    "path",
    ["/good?date=2016-8-4", "/good?date=x", "/group/show?top=year", "/group/show?page=0", "/user/nobody/comments"],
)
async def test_what_is_no_list_is_not_found(http, store, alice, path):
    await posted(store, alice, "A title", "show")

    assert (await read(http, path, status=404)).select_one("#root h1").text == "Not found"


@pytest.mark.parametrize("path", ["/group/Absent", "/comments?group=Absent"])
async def test_absent_group_is_made_by_posting_where_the_site_says_so(redis_url, path):
    async with serving(redis_url) as http:
        page, impossible = await read(http, path, status=404), await read(http, f"{path}!", status=404)
    async with serving(redis_url, groups="listed") as http:
        listed = await read(http, path, status=404)

    assert page.title.text == impossible.title.text == listed.title.text == "Not found · Votes & Co"
    assert links(page, "main a") == [("./", "front page"), ("post?group=absent", "post one")]
    assert links(listed, "main a") == links(impossible, "main a") == [("./", "front page")]
    assert impossible.select("main p")[1].text == "No group can have this name."
    assert listed.find("meta", attrs={"name": "upvote-groups"})["content"] == "listed"


@pytest.mark.parametrize("name", ["admin", "Ad_min", "votes-co"])  # the last is the name of the site
async def test_group_with_a_reserved_name_is_not_offered(redis_url, name):
    async with serving(redis_url) as http:
        page = await read(http, f"/group/{name}", status=404)

    assert links(page, "main a") == [("./", "front page")]
    reserved = page.find("meta", attrs={"name": "upvote-reserved-groups"})["content"].split(" ")
    assert {"admin", "votesco"} < set(reserved)


@pytest.mark.parametrize("path", ["/top/day?after=x", "/good?after=x", "/groups?after=x", "/user/alice?before=x"])
async def test_cursor_of_something_else_is_told(http, store, alice, path):
    assert (await read(http, path, status=400)).select("#root > *") == []


async def test_periods_need_the_order_of_votes(redis_url):
    async with serving(redis_url, orders="TIME") as http:
        page = await read(http, "/good")
        await read(http, "/top/day", status=404)
        await read(http, "/group/show?top=day", status=404)

    assert links(page, ".lists a") == [("./", "New"), ("good", "Good")]


async def test_group_has_its_text_its_orders_and_its_articles(http, store, alice, bob):
    await store.groups.add("show", {"title": "Show and <tell>", "about": "What *you* made."})
    for number in range(31):
        await posted(store, alice, f"Title {number}", "show", "ask")
    await store.follows.follow_group(bob, "show")

    page = await read(http, "/group/SHOW?order=TIME")
    second = await followed(http, page)

    assert (page.h1.text, page.title.text) == ("Show and <tell>", "Show and <tell> · Votes & Co")
    assert metas(page)["description"] == "What you made."
    assert [each.text for each in page.select(".profile > span")] == ["show", "31 articles", "1 follower"]
    assert page.select_one("section.about em").text == "you"
    assert (titles(page)[0], titles(second)) == ("Title 30", ["Title 0"])
    assert {each.text for each in page.select(".groups-of a")} == {"ask"}
    assert links(page, "[aria-label=Orders] [aria-current]") == [("group/show?order=TIME", "New")]
    assert links(page, "[aria-label=Top] a")[0] == ("group/show?top=day", "Day")
    assert links(second, ".pager a") == [("group/show?order=TIME", "← Previous")]


async def test_later_page_of_a_list_is_not_for_search_engines(http, store, alice):
    for number in range(CURSOR_PAGE + 1):
        await posted(store, alice, f"Title {number}", f"group-{number}")

    page = await read(http, "/user/alice")
    second = await followed(http, page)

    assert (canonical(page), canonical(second)) == (["user/Alice"], [])
    assert metas(second)["robots"] == "noindex"


async def test_page_of_a_group_has_its_number_in_the_title(http, store, alice):
    for number in range(31):
        await posted(store, alice, f"Title {number}", "show")

    page = await read(http, "/group/show?page=2")

    assert (page.title.text, page.select_one("h1").text) == ("show, page 2 · Votes & Co", "show, page 2")
    assert canonical(page) == ["group/show?page=2"]


async def test_top_of_a_group_keeps_its_period_on_the_next_page(http, store, alice):
    for number in range(31):
        await posted(store, alice, f"Title {number}", "show")

    page = await read(http, f"/group/show?top=month&since={LONG_AGO}")
    second = await followed(http, page)

    assert canonical(page) == canonical(second) == ["group/show"]
    assert len(titles(page)) == 30 and len(titles(second)) == 1
    assert links(second, "[aria-label=Top] [aria-current]") == [("group/show?top=month", "Month")]


async def test_groups_by_name(http, store, alice):
    assert (await read(http, "/groups")).select_one("main .empty").text.startswith("There are no groups yet.")
    for number in range(MOST_GROUPS + 1):
        await store.groups.add(f"group-{number:03}", {})
    await posted(store, alice, "A title", "group-000")

    page = await read(http, "/groups")
    second = await followed(http, page)

    assert len(page.select(".groups li")) == MOST_GROUPS
    assert page.select_one(".groups li").text == "group-0001 article, 0 followersFollow"
    assert [each.text for each in second.select(".groups .group")] == ["group-100"]


async def test_user_has_articles_comments_and_followers(http, store, alice, bob):
    number = await posted(store, alice, HOSTILE)
    await store.comments.post(number, parent=None, poster="alice", content="A *comment*")
    await store.follows.follow(bob, "alice")
    await store.users.edit_profile("Alice", {"display_name": "Alice <A.>", "about": "I *write*."})

    articles, comments, followers, following = [
        await read(http, f"/user/alice{part}") for part in ("", "/comments", "/followers", "/following")
    ]

    assert titles(articles) == [HOSTILE]
    assert articles.select("#root script") == []
    assert (articles.h1.text, articles.select_one(".profile bdi").text) == ("Alice", "Alice <A.>")
    assert articles.select_one("section.about em").text == "write"
    assert comments.select_one(".items .markdown em").text == "comment"
    assert comments.select_one(".items .on a").text == HOSTILE
    assert links(followers, ".people a") == [("user/bob", "bob")]
    assert following.select_one("main .empty").text == "Follows nobody yet."
    assert [each.text for each in articles.select(".lists a")] == ["Articles", "Comments", "1 follower", "0 following"]
    assert [canonical(page) for page in (comments, followers)] == [["user/Alice/comments"], ["user/Alice/followers"]]


async def test_pages_of_a_user_lead_to_each_other(http, store, alice):
    for number in range(CURSOR_PAGE + 1):
        await posted(store, alice, f"Title {number}")

    first = await read(http, "/user/alice")
    second = await followed(http, first)
    back = await read(http, f"/{second.select_one('.pager a[rel=prev]')['href']}")

    assert (len(titles(first)), titles(second), titles(back)) == (CURSOR_PAGE, ["Title 0"], titles(first))


async def test_banned_user_has_a_notice(http, store, alice):
    await bans.ban(store.site, OPERATOR, "alice", group=None, until=None, reason="noise")

    assert (await read(http, "/user/alice")).select_one("p.notice").text == (
        "Banned from this site. What moderators did"
    )


async def test_pictures_come_from_hosts_that_the_site_allows(redis_url, store, alice):
    await store.users.edit_profile("Alice", {"avatar_url": "https://pictures.example/a.png"})
    async with serving(redis_url) as plain, serving(redis_url, avatar_hosts="pictures.example") as allowing:
        drawn, shown = [await read(http, "/user/alice") for http in (plain, allowing)]

    assert shown.select_one("img.avatar")["src"] == "https://pictures.example/a.png"
    assert drawn.select("img") == []
    assert 3 <= len(drawn.select("svg.avatar rect")) <= 25


@pytest.mark.parametrize(("text", "expected"), [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)])
def test_hash_of_drawn_pictures_is_fnv1a(text, expected):
    """The vectors of draft-eastlake-fnv."""
    assert fnv1a(text) == expected


async def test_comments_of_the_site_and_of_a_group(http, store, alice, bob):
    asked, shown = await posted(store, alice, "Asked", "ask"), await posted(store, alice, "Shown", "show")
    await store.comments.post(asked, parent=None, poster=bob, content="on asked")
    await store.comments.post(shown, parent=None, poster=bob, content="on *shown*")

    page, of_group = await read(http, "/comments"), await read(http, "/comments?group=show")

    assert [each.text.strip() for each in page.select(".items .markdown")] == ["on shown", "on asked"]
    assert [each.text.strip() for each in of_group.select(".items .markdown")] == ["on shown"]
    assert canonical(of_group) == ["comments?group=show"]
    assert (await http.get("/comments?group=absent", headers={"Accept": "text/html"})).status_code == 404
    assert links(of_group, ".filter a")[-1] == ("group/show/comments/rss.xml", "RSS")


async def test_long_comments_make_no_long_page(http, store, alice):
    number = await posted(store, alice, "A title")
    for each in range(CURSOR_PAGE):
        await store.comments.post(
            number, parent=None, poster=alice, content=f"{each}\n\n" + "a *word* & more\n\n" * 500
        )

    response = await http.get("/comments")
    texts = BeautifulSoup(response.text, "html.parser").select(".items .markdown")

    assert len(texts) == CURSOR_PAGE
    assert len(response.content) <= 200_000
    assert [text.em is not None for text in texts] == sorted((text.em is not None for text in texts), reverse=True)
    assert texts[0].em and texts[-1].text.startswith("0 a word & more")


@pytest.mark.parametrize("path", ["/comments", "/user/Alice/comments"])
async def test_markup_in_texts_makes_no_long_page(http, store, alice, path):
    """All that is told of a comment may be of characters that HTML escapes, also what it answers."""
    number, answered = await posted(store, alice, "&<>\"'" * 60), None
    for each in range(CURSOR_PAGE + 1):
        content = "&<>\"'" * 1_998 + str(each)
        posting = await store.comments.post(number, parent=answered, poster=alice, content=content)
        answered = answered or posting.comment.number

    response = await http.get(path)

    assert response.status_code == 200
    assert 150_000 < len(response.content) <= 200_000
    assert len(BeautifulSoup(response.text, "html.parser").select(".items .markdown")) == CURSOR_PAGE


async def test_deleted_comment_is_in_no_list(http, store, alice, bob):
    number = await posted(store, alice, "A title")
    comment = (await store.comments.post(number, parent=None, poster=bob, content="gone")).comment
    await store.comments.post(number, parent=comment.number, poster=alice, content="stays")
    await store.comments.delete(comment.number, bob)

    assert [each.text.strip() for each in (await read(http, "/comments")).select(".items .markdown")] == ["stays"]


async def test_search_without_words_says_what_it_takes(http):
    page, box = await read(http, "/search"), (await read(http, "/groups?lang=de")).header.form

    fields = [(each["name"], each["value"]) for each in box.find_all("input")]
    assert (box["action"], fields) == ("search", [("q", ""), ("lang", "de")])
    assert page.select_one("main .empty").text.startswith("Type words into the search box.")
    assert metas(page)["robots"] == "noindex"


async def test_search_for_too_much_says_so(http):
    page = await read(http, f"/search?q={'a' * (QUERY_LENGTH + 1)}", 400)
    german = await read(http, f"/search?q={'a' * (QUERY_LENGTH + 1)}&lang=de", 400)

    assert page.select_one("main .empty").text == "The query is too long: it may have at most 500 characters."
    assert german.select_one("main .empty").text == "Die Suchanfrage ist zu lang: Sie darf höchstens 500 Zeichen haben."
    assert "This page needs JavaScript." not in page.text
    assert metas(page)["robots"] == "noindex"


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (0, "Nothing has all of these words."),
        (1, "1 match."),
        (2_500, "2,500 matches."),
        (10_000, "More than 10,000 matches."),
    ],
)
def test_number_of_matches_in_words(total, text):
    assert count_of(languages({}, "en").named(code=None), total) == text


def test_matches_are_marked_and_the_rest_is_escaped():
    """In the texts that a search returns, two characters for private use enclose each match."""

    assert marked("a <b> \ue000c&d\ue001 e") == "a &lt;b&gt; <mark>c&amp;d</mark> e"
    assert unmarked("a \ue000c&d\ue001") == "a c&d"
    assert in_one_line(" a \t e\u0301") == "a \u00e9"


async def test_search_finds_articles_comments_and_users(redis_url, tmp_path, store):
    async with serving(redis_url, database_url=f"sqlite:///{tmp_path}/site.db") as http:
        alice = await registered(store, "kestrel")
        number = await posted(store, alice, "A kestrel <hovers>")
        await store.comments.post(number, parent=None, poster=alice, content="The kestrel is a falcon")
        page = await found(http, 2)
        users = await read(http, f"/{dict((text, href) for href, text in links(page, '.filters a'))['Users']}")
        none = await read(http, "/search?q=kestrol")

    assert page.title.text == "Search: kestrel · Votes & Co"
    assert {each.text for each in page.select("mark")} == {"kestrel"}
    assert titles_of_matches(page) == {"A kestrel <hovers>"}
    assert [each["aria-label"] for each in page.select("section.people-found article")] == ["User kestrel"]
    assert page.select("section.people-found > a") == []
    assert [each["aria-label"] for each in users.select(".items article")] == ["User kestrel"]
    assert none.select_one(".found").text == "Nothing has all of these words. Did you mean kestrel?"
    assert links(none, ".found a") == [("search?q=kestrel", "kestrel")]


def titles_of_matches(page):
    return {each.text for each in page.select(".items .story h2 a")}


async def found(http, count):
    """The page of a search, once the database is open and has what was written."""
    async with asyncio.timeout(PATIENCE):
        while True:
            response = await http.get("/search?q=kestrel")
            page = BeautifulSoup(response.text, "html.parser")
            if response.status_code == 200 and len(page.select(".items > li")) == count:
                return page
            assert response.status_code in (200, 503)
            await asyncio.sleep(0.02)
