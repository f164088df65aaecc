"""
The front page as HTML, for browsers that run no scripts. tests/reader/test_first_paint.py compares it with what the
reader, the script of the site, shows.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.reader.front_page import ARTICLES_PER_PAGE
from server.reader.rendering import ago
from server.words.files import built_in_entries
from server.words.languages import languages
from store.articles import Draft
from store.ranking.formulas import Order
from store.records import Vote
from tests.server.pages import HOSTILE, canonical, metas, read, serving

ENGLISH = languages({}, "en").named(code=None)
COMPONENTS = Path(__file__).parents[2] / "reader" / "src" / "components"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def ranked(page):
    """The rank and the title of each article."""
    return [(line["data-rank"], line.h2.a.text) for line in page.select("#root .articles .line")]


def test_orders_are_those_of_the_reader():
    [source] = re.findall(r"const ALL: [^=]*= \[(.*?)\];", (COMPONENTS / "Orders.tsx").read_text(), re.DOTALL)
    size = re.search(r"ARTICLES_PER_PAGE = (\d+)", (COMPONENTS / "RankedArticles.tsx").read_text())

    assert sorted(re.findall(r'"(\w+)"', source)) == sorted(order.name for order in Order)
    assert {f"order-{order.name.lower()}-what" for order in Order} <= built_in_entries("en").keys()
    assert int(size[1]) == ARTICLES_PER_PAGE


async def test_page_has_its_articles_with_ranks_votes_and_links(http, store, alice, bob):
    linked = (
        await store.articles.post(alice, Draft("Linked", "https://www.example.org/?a=1&b=2", groups=["a-b"]))
    ).article
    await store.articles.post(alice, Draft("Written", content="text"))
    await store.comments.post(linked.number, parent=None, poster=bob, content="a comment")
    await store.articles.vote(linked.number, bob, Vote.UP)

    page = await read(http, "/?order=VOTES")

    assert ranked(page) == [("1", "Linked"), ("2", "Written")]
    first, second = page.select(".line")
    assert first.h2.a["href"] == "https://www.example.org/?a=1&b=2"
    assert [each.text for each in first.select(".host, .count, .details a")] == [
        "2", "example.org", "Alice", "1 comment", "a-b",
    ]  # fmt: skip
    assert [link["href"] for link in first.select(".details a")] == [
        "user/Alice", f"article/{linked.number}", "group/a-b",
    ]  # fmt: skip
    assert second.h2.a["href"] == second.select(".details > a")[1]["href"]
    assert all(button.has_attr("disabled") for button in page.select("button"))
    assert [link["href"] for link in page.select("[aria-current]")] == ["./", "?order=VOTES"]
    assert page.select_one("header .site").text == "Votes & Co"


async def test_pages_lead_to_each_other(http, store, alice):
    for number in range(2 * ARTICLES_PER_PAGE + 1):
        await store.articles.post(alice, Draft(f"Title {number}", content="text"))

    pages = [await read(http, f"/?order=TIME&page={number}") for number in (1, 2, 3)]

    assert [len(ranked(page)) for page in pages] == [ARTICLES_PER_PAGE, ARTICLES_PER_PAGE, 1]
    assert ranked(pages[2]) == [("61", "Title 0")]
    assert pages[1].title.text == "New articles, page 2 · Votes & Co"
    assert canonical(pages[1]) == ["?order=TIME&page=2"]
    assert [[link["href"] for link in page.select(".pager a")] for page in pages] == [
        ["?order=TIME&page=2"],
        ["?order=TIME", "?order=TIME&page=3"],
        ["?order=TIME&page=2"],
    ]


async def test_site_without_articles_says_so(http):
    page = await read(http, "/")

    assert page.select_one("main .empty").text == "There are no articles here yet."
    assert page.select(".pager") == []


async def test_hostile_titles_stay_texts(http, store, alice):
    await store.articles.post(alice, Draft(HOSTILE, 'https://example.org/"><script>'))

    page = await read(http, "/")

    assert ranked(page) == [("1", HOSTILE)]
    assert page.select("#root script") == []
    assert page.select_one(".line h2 a")["href"].startswith("https://example.org/")


@pytest.mark.parametrize(
    "query", ["order=NONSENSE", "order=", "order=hot", "page=0", "page=-1", "page=x", "page=1000000"]
)
async def test_what_is_no_ranking_is_not_found(http, query):
    page = await read(http, f"/?{query}", status=404)

    assert (page.title.text, metas(page)["robots"], canonical(page)) == ("Not found · Votes & Co", "noindex", [])
    assert page.select_one("#root h1").text == "Not found"


async def test_page_after_the_last_is_not_for_search_engines(http, store, alice):
    await store.articles.post(alice, Draft("A title", content="text", groups=("show",)))
    for path in ("/?page=2", "/group/show?page=2"):
        page = await read(http, path)

        assert (page.select(".line"), metas(page)["robots"], canonical(page)) == ([], "noindex", [])


async def test_orders_that_the_store_does_not_keep_have_no_page(redis_url):
    async with serving(redis_url, orders="HOT,TIME") as http:
        page, other = await read(http, "/"), await read(http, "/?order=TIME")
        await read(http, "/?order=SCORE", status=404)

        redirected = await http.get("/?order=HOT")

    assert page.title.text == "Votes & Co"
    assert [link["href"] for link in page.select(".lists a")] == ["./", "?order=TIME", "good"]
    assert metas(page)["upvote-orders"] == "HOT TIME"
    assert (canonical(page), canonical(other)) == (["./"], ["?order=TIME"])
    assert redirected.status_code == 307


async def test_front_page_is_by_hot_and_shows_four_orders(http, store, alice):
    await store.articles.post(alice, Draft("A title", content="text"))

    page, other = await read(http, "/"), await read(http, "/?order=VOTES")

    assert page.title.text == "Votes & Co"
    assert [link.text for link in page.select(".tabs > li > a")][:4] == ["Hot", "New", "Active", "Best"]
    assert [link.b.text for link in page.select(".more-orders a")] == ["Score", "Votes", "Controversial", "Gravity"]
    assert [link.span.text for link in page.select(".more-orders a")] == [
        ENGLISH(f"order-{order}-what") for order in ("score", "votes", "controversial", "gravity")
    ]
    assert (page.summary.text, other.summary.text, other.summary["class"]) == ("More", "Votes", ["current"])
    assert metas(page)["upvote-shown-orders"] == "4"


@pytest.mark.parametrize(
    ("sent", "address"),
    [
        ("/?order=TIME", "./"),
        ("/?order=TIME&page=2", "./?page=2"),
        ("/?a=%26&order=TIME&a=2", "./?a=%26&a=2"),
    ],
)
async def test_order_of_the_front_page_is_not_in_its_address(redis_url, sent, address):
    async with serving(redis_url, front_order="TIME", site_orders="SCORE,BEST") as http:
        redirected, page = await http.get(sent), await read(http, "/")

    assert (redirected.status_code, redirected.headers["location"]) == (307, address)
    assert page.h1.text == "New articles"
    assert [link.text for link in page.select(".tabs > li > a")][:3] == ["New", "Score", "Best"]
    assert [link["href"] for link in page.head.select("[rel=alternate][type]")] == [
        "atom.xml?order=TIME",
        "rss.xml?order=TIME",
    ]
    assert metas(page)["upvote-shown-orders"] == "3"


async def test_links_to_feeds_name_the_order_of_the_front_page_or_of_their_group(redis_url, store, alice):
    await store.articles.post(alice, Draft("A title", content="text", groups=["show"]))
    async with serving(redis_url, front_order="TIME") as http:
        found = {
            path: [link["href"] for link in (await read(http, path)).select("[href*='rss.xml']")]
            for path in ("/groups", "/group/show?order=HOT", "/group/show?top=day", "/user/alice")
        }

    assert found == {
        "/groups": ["rss.xml?order=TIME"] * 2,
        "/group/show?order=HOT": ["group/show/rss.xml?order=HOT", "rss.xml?order=TIME"] * 2,
        "/group/show?top=day": ["group/show/rss.xml?order=TIME", "rss.xml?order=TIME"] * 2,
        "/user/alice": ["user/Alice/rss.xml", "rss.xml?order=TIME"] * 2,
    }


async def test_store_without_hot_shows_its_first_order(redis_url):
    async with serving(redis_url, orders="VOTES,SCORE,BEST") as http:
        page, feed = await read(http, "/"), await http.get("/rss.xml")

    assert page.h1.text == "Top articles"
    assert [link.text for link in page.select(".tabs > li > a")][:3] == ["Score", "Best", "Votes"]
    assert page.select(".more-orders") == []
    assert feed.status_code == 200


async def test_client_without_points_gets_the_page_without_articles(redis_url, store, alice):
    await store.articles.post(alice, Draft("A title", content="text"))
    async with serving(redis_url, rate_limits="on", rate_address_points=200, rate_address_points_back=1e-6) as http:
        whole = await read(http, "/")
        while (response := await http.get("/")).status_code == 200:
            pass
        empty = await read(http, "/", status=429)

    assert ranked(whole) == [("1", "A title")]
    assert ranked(empty) == []
    assert empty.title.text == "Votes & Co"
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59.9), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(days=29), "29 days ago"),
        (timedelta(days=364), "12 months ago"),
        (timedelta(days=730), "2 years ago"),
    ],
)
def test_age_is_said_as_the_reader_says_it(age, text):
    assert ago(ENGLISH, NOW - age, NOW) == text
