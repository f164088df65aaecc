"""RSS and Atom feeds, as the library feedparser reads them."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from functools import partial

import feedparser
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.syndication import EPOCH, FORBIDDEN, LENGTH, FeedEntry, WebFeed, atom, rss
from server.words.languages import languages
from store.articles import Draft
from store.records import Vote
from tests.examples import examples
from tests.server import in_process

FORMATS = ["rss.xml", "atom.xml"]
VERSIONS = {"rss.xml": "rss20", "atom.xml": "atom10"}
TYPES = {"rss.xml": "application/rss+xml", "atom.xml": "application/atom+xml"}
ENGLISH = languages({}, "en").named(code=None)
HOSTILE = '</title>]]><script>alert("1")</script> & &amp; <!-- 🦊 שלום'
URL = "https://example.com/news"
ATOM = "{http://www.w3.org/2005/Atom}"
serving = partial(in_process.serving, public_url=URL, site_name="Votes & Co")


@pytest.fixture
async def http(redis_url, store):
    async with serving(redis_url) as http:
        yield http


@pytest.fixture
async def articles(store, alice, bob, clock):
    """Two articles: a link in two groups, and a minute later a text by somebody else."""
    link = await store.articles.post(alice, Draft("A link", "https://example.org/?a=1&b=2", groups=["show", "ask"]))
    clock.advance(60)
    text = await store.articles.post(bob, Draft("A text", content="Some *words* <b>", groups=["show"]))
    return link.article.number, text.article.number


async def read(http, path, **headers):
    response = await http.get(path, headers=headers)
    assert response.status_code == 200, response.text
    feed = feedparser.parse(response.content, response_headers={"content-type": response.headers["content-type"]})
    assert not feed.bozo, feed.bozo_exception
    return response, feed


def parts(element, name):
    return [each.text for each in element.findall(name)]


@pytest.mark.parametrize("name", FORMATS)
async def test_feed_of_the_site_has_the_newest_articles_first(http, articles, name):
    response, feed = await read(http, f"/{name}")

    link, text = articles
    assert response.headers["content-type"] == TYPES[name]
    assert feed.version == VERSIONS[name]
    assert (feed.feed.title, feed.feed.link) == ("Votes & Co", f"{URL}/")
    assert {"rel": "self", "href": f"{URL}/{name}", "type": TYPES[name]} in feed.feed.links
    newest, oldest = feed.entries
    assert (newest.title, newest.link, newest.author) == ("A text", f"{URL}/article/{text}", "bob")
    assert (oldest.title, oldest.link, oldest.author) == ("A link", "https://example.org/?a=1&b=2", "Alice")
    assert [tag.term for tag in oldest.tags] == ["ask", "show"]
    assert newest.published_parsed[:6] == (2016, 8, 4, 11, 53, 0)
    assert newest.id == f"tag:example.com,2016-08-04:article:{text}"
    texts = [each.summary if name == "rss.xml" else each.content[0].value for each in feed.entries]
    text_of_link = f'<p><a href="{URL}/article/{link}">Comments</a></p>'
    assert texts == ["<p>Some <em>words</em> &lt;b&gt;</p>", text_of_link]
    comments = oldest.comments if name == "rss.xml" else next(e.href for e in oldest.links if e.rel == "replies")
    assert comments == f"{URL}/article/{link}"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("path", "title", "page"),
    [
        ("/group/ASK/", "ask · Votes & Co", "group/ask"),
        ("/user/alice/", "Alice · Votes & Co", "user/Alice"),
    ],
)
async def test_group_and_user_have_feeds_of_their_own(http, articles, name, path, title, page):
    _, feed = await read(http, path + name)

    assert (feed.feed.title, feed.feed.link) == (title, f"{URL}/{page}")
    assert {"rel": "self", "href": f"{URL}/{page}/{name}", "type": TYPES[name]} in feed.feed.links
    assert [entry.title for entry in feed.entries] == ["A link"]


@pytest.mark.parametrize("name", FORMATS)
async def test_each_order_has_a_feed(http, store, articles, clock, name):
    clock.advance(60)
    await store.articles.vote(articles[0], "bob", Vote.UP)

    for order in store.site.rankings.orders:
        _, feed = await read(http, f"/{name}?order={order.name}")
        _, group = await read(http, f"/group/show/{name}?order={order.name}")
        assert len(feed.entries) == len(group.entries) == 2
    _, feed = await read(http, f"/{name}?order=VOTES")
    assert [entry.title for entry in feed.entries] == ["A link", "A text"]
    assert (feed.feed.title, feed.feed.link) == ("Votes · Votes & Co", f"{URL}/?order=VOTES")


async def test_feed_of_a_user_is_newest_first_whatever_the_order(http, articles):
    _, feed = await read(http, "/user/alice/atom.xml?order=HOT")

    assert feed.feed.title == "Alice · Votes & Co"
    assert feed.feed.id == f"{URL}/user/Alice/atom.xml"


async def test_atom_has_what_rfc_4287_requires(http, articles):
    root = ET.fromstring((await http.get("/atom.xml")).content)

    assert [len(parts(root, ATOM + name)) for name in ("id", "title", "updated")] == [1, 1, 1]
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == 2
    for entry in entries:
        assert [len(parts(entry, ATOM + name)) for name in ("id", "title", "updated", "author")] == [1, 1, 1, 1]
        assert [link.get("rel") for link in entry.findall(f"{ATOM}link")] == ["alternate", "replies"]
        assert datetime.fromisoformat(entry.find(f"{ATOM}updated").text).tzinfo == UTC
    assert len({entry.find(f"{ATOM}id").text for entry in entries}) == 2


async def test_rss_has_what_its_specification_requires(http, articles):
    root = ET.fromstring((await http.get("/rss.xml")).content)

    assert (root.tag, root.get("version"), len(root)) == ("rss", "2.0", 1)
    assert [len(parts(root[0], name)) for name in ("title", "link", "description")] == [1, 1, 1]
    for item in root[0].findall("item"):
        assert [len(parts(item, name)) for name in ("title", "link", "guid", "pubDate", "comments")] == [1, 1, 1, 1, 1]
        assert item.find("guid").get("isPermaLink") == "false"
        assert item.find("pubDate").text.endswith(" GMT")


@settings(max_examples=examples(100))
@given(st.text(st.characters()), st.text(st.characters()))
def test_any_text_is_valid_xml(title, html):
    entry = FeedEntry(
        id="article:1",
        page="article/1",
        title=title,
        link=None,
        html=html or "-",
        posted_at=EPOCH,
        updated_at=EPOCH,
        poster="alice",
        groups=[title],
    )
    feed = WebFeed(site=URL, title=title, page=URL, url=URL, entries=[entry], words=ENGLISH)

    written = FORBIDDEN.sub("", title)
    for write, path in ((rss, "channel/item/title"), (atom, f"{ATOM}entry/{ATOM}title")):
        root = ET.fromstring(ET.tostring(write(feed), encoding="utf-8"))
        assert (root.findtext(path) or "") == written.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("name", FORMATS)
async def test_hostile_title_and_text_are_text(http, store, alice, redis, name):
    posted = await store.articles.post(alice, Draft(HOSTILE, content=f"{HOSTILE}\n\n[a](javascript:alert(1))"))
    redis.hset(f"article:{{0}}:{posted.article.number}", "title", f"{HOSTILE}\x00\x08\ufffe")

    response = await http.get(f"/{name}")

    root = ET.fromstring(response.content)
    item = root.find("channel/item") if name == "rss.xml" else root.find(f"{ATOM}entry")
    namespace, text = ("", "description") if name == "rss.xml" else (ATOM, "content")
    assert item.find(f"{namespace}title").text == HOSTILE
    assert "<script" not in item.find(f"{namespace}{text}").text
    assert "href" not in item.find(f"{namespace}{text}").text


@pytest.mark.parametrize("name", FORMATS)
async def test_empty_site_has_an_empty_feed(http, name):
    _, feed = await read(http, f"/{name}")

    assert (feed.feed.title, feed.entries) == ("Votes & Co", [])


@pytest.mark.parametrize("path", ["/group/unknown/rss.xml", "/group/no%20group/atom.xml", "/user/nobody/rss.xml"])
async def test_unknown_group_or_user_is_not_found(http, articles, path):
    assert (await http.get(path)).status_code == 404


async def test_unknown_order_is_refused_with_the_orders(http, articles):
    response = await http.get("/rss.xml?order=NEW")

    assert (response.status_code, response.text) == (
        400,
        "there is no such order; the orders are SCORE, TIME, VOTES, HOT, BEST, CONTROVERSIAL, GRAVITY, ACTIVE",
    )


async def test_feed_of_a_store_without_the_order_time_has_another(redis_url):
    async with serving(redis_url, orders="VOTES,HOT") as http:
        _, feed = await read(http, "/rss.xml")
        refused = await http.get("/rss.xml?order=TIME")

    assert feed.feed.link == f"{URL}/"
    assert (refused.status_code, refused.text) == (400, "there is no such order; the orders are VOTES, HOT")


@pytest.mark.parametrize("name", FORMATS)
async def test_unchanged_feed_is_not_sent_again(http, store, articles, name):
    response, _ = await read(http, f"/{name}")
    tag, date = response.headers["etag"], response.headers["last-modified"]

    for headers in ({"If-None-Match": tag}, {"If-Modified-Since": date}):
        again = await http.get(f"/{name}", headers=headers)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    await store.articles.edit(articles[0], "Alice", {"title": "A better link"})
    for headers in ({"If-None-Match": tag}, {"If-None-Match": tag, "If-Modified-Since": date}):
        assert (await http.get(f"/{name}", headers=headers)).status_code == 200
    assert date == "Thu, 04 Aug 2016 11:53:00 GMT"


async def test_feed_in_an_order_by_votes_has_no_date(http, articles):
    response, _ = await read(http, "/rss.xml?order=HOT")

    assert "last-modified" not in response.headers


async def test_feed_is_as_long_as_said_and_cuts_long_texts(http, store, alice):
    for number in range(LENGTH + 1):
        await store.articles.post(alice, Draft(f"Title {number}", content="word " * 2_000))

    _, feed = await read(http, "/atom.xml")

    assert len(feed.entries) == LENGTH
    assert 4_990 < len(feed.entries[0].content[0].value) <= 5_000 + len("<p></p>")
    assert feed.entries[0].content[0].value.endswith("word…</p>")


def test_feed_by_head_has_no_body(live):
    by_get, by_head = httpx.get(f"{live.url}/rss.xml"), httpx.head(f"{live.url}/rss.xml")

    assert (by_head.status_code, by_head.headers["content-type"], by_head.content) == (200, TYPES["rss.xml"], b"")
    assert by_head.headers["etag"] == by_get.headers["etag"]


async def test_feed_is_compressed_under_the_same_tag(http, store, alice):
    for number in range(3):
        await store.articles.post(alice, Draft(f"Title {number}", content="word " * 200))
    plain = await http.get("/rss.xml", headers={"Accept-Encoding": "identity"})
    packed = await http.get("/rss.xml", headers={"Accept-Encoding": "gzip"})
    again = await http.get("/rss.xml", headers={"If-None-Match": packed.headers["etag"]})

    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert (plain.text, plain.headers["etag"]) == (packed.text, packed.headers["etag"])
    assert again.status_code == 304


async def test_feed_costs_points(redis_url, articles):
    async with serving(redis_url, rate_limits="on", rate_address_points=1_000, rate_address_points_back=1e-6) as http:
        answers = [await http.get("/rss.xml") for _ in range(20)]

    statuses = [answer.status_code for answer in answers]
    assert statuses[0] == 200
    assert statuses[-1] == 429
    assert int(answers[-1].headers["retry-after"]) > 0


async def test_address_of_the_request_is_kept_from_shared_caches(redis_url, articles):
    async with serving(redis_url, public_url=None, cache_seconds=60) as http:
        by_host = await http.get("/rss.xml", headers={"Host": "a.example"})
        by_other = await http.get("/rss.xml", headers={"Host": '"><script>', "X-Forwarded-Host": "evil.example"})
    async with serving(redis_url, cache_seconds=60) as http:
        fixed = await http.get("/rss.xml", headers={"Host": "evil.example"})

    assert "http://a.example/article/" in by_host.text
    assert by_host.headers["cache-control"].startswith("private")
    assert "Host" in by_host.headers["vary"]
    assert "script>" not in by_other.text
    assert "evil.example" not in by_other.text + fixed.text
    assert fixed.headers["cache-control"] == "public, max-age=0, s-maxage=60, must-revalidate"


async def test_without_pages_there_are_no_feeds(redis_url, articles):
    async with serving(redis_url, public_url=None, reader="off") as http:
        missing = [(await http.get(path)).status_code for path in ("/rss.xml", "/sitemap.xml", "/robots.txt")]
    async with serving(redis_url, reader="off") as http:
        _, feed = await read(http, "/rss.xml")

    assert missing == [404, 404, 404]
    assert feed.entries[0].comments.startswith(f"{URL}/article/")


@pytest.mark.parametrize("name", FORMATS)
async def test_comments_have_a_feed(http, store, articles, alice, bob, clock, name):
    link, text = articles
    first = (await store.comments.post(link, parent=None, poster=bob, content="A *first* <b>")).comment
    clock.advance(60)
    second = (await store.comments.post(text, parent=None, poster=alice, content="second")).comment
    gone = (await store.comments.post(text, parent=second.number, poster=bob, content="gone")).comment
    await store.comments.delete(gone.number, bob)
    _, site = await read(http, f"/comments/{name}")
    _, group = await read(http, f"/group/Ask/comments/{name}")

    assert (site.feed.title, site.feed.link) == ("comments · Votes & Co", f"{URL}/comments")
    assert {"rel": "self", "href": f"{URL}/comments/{name}", "type": TYPES[name]} in site.feed.links
    pages = [f"{URL}/article/{text}/comment/{second.number}", f"{URL}/article/{link}/comment/{first.number}"]
    assert [each.link for each in site.entries] == pages
    assert [(each.title, each.author) for each in site.entries] == [("A text", "Alice"), ("A link", "bob")]
    assert site.entries[0].id == f"tag:example.com,2016-08-04:{second.id}"
    shown = site.entries[1].summary if name == "rss.xml" else site.entries[1].content[0].value
    assert shown == "<p>A <em>first</em> &lt;b&gt;</p>"
    assert (group.feed.title, [each.link for each in group.entries]) == ("ask · comments · Votes & Co", pages[1:])
    assert {"rel": "self", "href": f"{URL}/group/ask/comments/{name}", "type": TYPES[name]} in group.feed.links
    assert (await http.get(f"/group/unknown/comments/{name}")).status_code == 404


async def test_titles_are_in_the_language_of_the_site(redis_url, articles):
    async with serving(redis_url, site_language="de") as http:
        comments = feedparser.parse((await http.get("/comments/rss.xml")).content)
        votes = feedparser.parse((await http.get("/atom.xml?order=VOTES")).content)

    assert comments.feed.title.startswith("Kommentare · ")
    assert votes.feed.title.startswith("Stimmen · ")
    assert any(">Kommentare</a>" in each.content[0].value for each in votes.entries)
