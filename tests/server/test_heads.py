"""
The <head> and the text of the site's pages, for clients that run no scripts, such as search engines.

Codes such as M2 name rows of docs/behaviours.md.
"""

import signal

import pytest

from store import article_moderation, comment_moderation, keys, purges, reverts
from store.articles import Draft
from store.records import ContentState
from store.roles import OPERATOR
from tests.server.pages import HOSTILE, canonical, metas, read, serving
from tests.servers import Server, running
from tests.store.held import set_article_state

OF_SITE = ["atom.xml?order=HOT", "rss.xml?order=HOT"]  # its feeds


@pytest.fixture
async def number(store, alice):
    """The number of an article."""
    draft = Draft("A *title*", "https://example.org/?a=1&b=2", "Some *words*\n\n<script>alert(1)</script>", ["show"])
    return (await store.articles.post(alice, draft)).article.number


def feeds(page):
    """The addresses of the RSS and Atom feeds that a page names."""
    return [link["href"] for link in page.head.find_all("link", rel="alternate", type=True)]


async def test_article_has_a_head_and_its_text(http, number):
    page = await read(http, f"/article/{number}")

    described = metas(page)
    assert [title.text for title in page.find_all("title")] == ["A *title* · Votes & Co"]
    assert described["application-name"] == described["og:site_name"] == "Votes & Co"
    assert described["description"] == described["og:description"] == "Some words <script>alert(1)</script>"
    assert (described["og:title"], described["og:type"]) == ("A *title*", "article")
    assert described["article:published_time"] == "2016-08-04T11:52:00.000Z"
    assert canonical(page) == [f"article/{number}"]
    assert feeds(page) == OF_SITE
    root = page.find(id="root")
    assert root.h1.a["href"] == "https://example.org/?a=1&b=2"
    assert root.h1.a.text == "A *title*"
    assert root.header.find("a", href="./").text == "Votes & Co"
    assert root.find("a", href="user/Alice").text == "Alice"
    assert root.find("a", href="group/show").text == "show"
    assert root.em.text == "words"
    assert root.script is None


async def test_article_without_text_is_described_by_its_host_and_poster(http, store, alice):
    posted = await store.articles.post(alice, Draft("A title", "https://example.org/path"))

    page = await read(http, f"/article/{posted.article.number}")

    assert metas(page)["description"] == "example.org, posted by Alice"


async def test_long_text_is_described_by_its_first_words(http, store, alice):
    posted = await store.articles.post(alice, Draft("A title", content="word " * 100))

    described = metas(await read(http, f"/article/{posted.article.number}"))["description"]

    assert described.endswith("word…")
    assert 190 < len(described) <= 200


async def test_group_about_which_something_is_written_has_its_title_and_text(http, store):
    """Also without articles; its feed is empty then."""
    await store.groups.add("lua", {"title": "Lua and its kin", "about": "Small *languages* only."})
    page = await read(http, "/group/lua")

    assert page.title.text == "Lua and its kin · Votes & Co"
    assert metas(page)["description"] == "Small languages only."
    assert canonical(page) == ["group/lua"]
    assert (await http.get("/group/lua/rss.xml")).status_code == 200


async def test_listed_group_without_articles_and_text_is_found(http, store):
    await store.groups.add("lua", {})
    page = await read(http, "/group/lua")

    assert page.title.text == "lua · Votes & Co"
    assert (await http.get("/group/lua")).status_code == (await http.get("/group/lua/rss.xml")).status_code == 200
    await store.groups.remove("lua")
    assert (await http.get("/group/lua")).status_code == (await http.get("/group/lua/rss.xml")).status_code == 404


async def test_comment_has_a_head_of_its_own(http, store, number, bob):
    posted = await store.comments.post(number, parent=None, poster=bob, content="I *agree*")
    comment = posted.comment.number

    page = await read(http, f"/article/{number}/comment/{comment}")

    assert page.title.text == "Comment on A *title* · Votes & Co"
    assert metas(page)["description"] == "I agree"
    assert canonical(page) == [f"article/{number}/comment/{comment}"]
    root = page.find(id="root")
    assert root.h1.find("a", href=f"article/{number}").text == "A *title*"
    assert root.find("a", href="user/bob").text == "bob"
    assert root.em.text == "agree"


@pytest.mark.parametrize(
    ("path", "title", "address", "feed_addresses"),
    [
        ("/", "Votes & Co", "./", OF_SITE),
        (
            "/?order=SCORE&x=y",
            "Top articles · Votes & Co",
            "?order=SCORE",
            ["atom.xml?order=SCORE", "rss.xml?order=SCORE"],
        ),
        ("/top/day", "Top of the day · Votes & Co", "top/day", OF_SITE),
        (
            "/group/SHOW",
            "show · Votes & Co",
            "group/show",
            ["group/show/atom.xml?order=HOT", "group/show/rss.xml?order=HOT", *OF_SITE],
        ),
        (
            "/group/show?order=BEST",
            "show · Votes & Co",
            "group/show?order=BEST",
            ["group/show/atom.xml?order=BEST", "group/show/rss.xml?order=BEST", *OF_SITE],
        ),
        (
            "/user/alice/comments",
            "Alice · Votes & Co",
            "user/Alice/comments",
            ["user/Alice/atom.xml", "user/Alice/rss.xml", *OF_SITE],
        ),
    ],
)
async def test_pages_have_titles_addresses_and_feeds(http, number, path, title, address, feed_addresses):
    page = await read(http, path)

    assert (page.title.text, canonical(page), feeds(page)) == (title, [address], feed_addresses)
    for feed in feed_addresses:
        assert (await http.get(f"/{feed}")).status_code == 200


@pytest.mark.parametrize("path", ["/inbox", "/search?q=a", "/log-in", "/article/1/edit"])
async def test_pages_of_a_visitor_are_not_for_search_engines(http, path):
    page = await read(http, path)

    assert (page.title.text, metas(page)["robots"], canonical(page)) == ("Votes & Co", "noindex", [])


@pytest.mark.parametrize(
    "path",
    [
        "/article/1",
        "/article/0",
        "/article/007",
        f"/article/{'9' * 40}",
        "/user/nobody",
        "/group/unknown",
        "/group/show?order=NONSENSE",
        "/group/show?page=x",
        "/group/show?top=year",
        "/user/alice/unknown",
        "/unknown",
    ],
)
async def test_what_does_not_exist_is_not_found(http, number, path):
    page = await read(http, path, status=404)

    assert page.find(id="root")
    assert page.title.text == "Not found · Votes & Co"
    assert (metas(page)["robots"], canonical(page)) == ("noindex", [])


async def test_comment_under_another_article_is_moved_and_an_absent_one_not_found(http, store, number, alice, bob):
    other = (await store.articles.post(alice, Draft("Other", content="text"))).article.number
    comment = (await store.comments.post(number, parent=None, poster=bob, content="a comment")).comment.number

    moved = await http.get(f"/article/{other}/comment/{comment}")
    paths = [f"{number}/comment/{comment + 1}", f"{number}/comment/0"]
    pages = [await read(http, f"/article/{path}", status=404) for path in paths]

    target = moved.url.join(moved.headers["location"]).path
    assert (moved.status_code, target) == (308, f"/article/{number}/comment/{comment}")
    assert [page.title.text for page in pages] == ["Not found · Votes & Co"] * 2


async def test_removed_article_says_why_and_tells_search_engines_that_it_is_gone(http, store, number, bob):  # M2
    comment = (await store.comments.post(number, parent=None, poster=bob, content="a comment")).comment.number
    from_group = await article_moderation.remove(store.site, OPERATOR, number, group="show", reason="Not here")
    assert from_group.changed and (await read(http, f"/article/{number}")).title.text == "A *title* · Votes & Co"
    removed = await article_moderation.remove(
        store.site, OPERATOR, number, group=None, reason=HOSTILE, note="a secret note"
    )

    for path in (f"/article/{number}", f"/article/{number}/comment/{comment}"):
        page = await read(http, path, status=410)
        assert page.title.text == "Removed · Votes & Co"
        assert (metas(page)["robots"], canonical(page)) == ("noindex", [])
        main = page.find(id="root").main
        assert main.h1.text == "Removed"
        assert main.q.text == HOSTILE
        assert "A moderator has removed this article" in main.text
        assert main.find("a", href="./").text == "front page"
        log = main.find("a", href=f"log?subject=article%3A{number}")["href"]
        assert f"article {number}" in (await read(http, f"/{log}")).find(id="root").ol.li.text
        for text in ("A *title*", "Some ", "a comment", "example.org", "secret"):
            assert text not in str(page)
    await reverts.revert(store.site, OPERATOR, removed.action.number, "A mistake")
    assert (await read(http, f"/article/{number}")).title.text == "A *title* · Votes & Co"


async def test_removed_comment_says_why(http, store, number, bob):  # M2
    comment = (await store.comments.post(number, parent=None, poster=bob, content="a bad word")).comment.number
    path = f"/article/{number}/comment/{comment}"
    removed = await comment_moderation.remove(store.site, OPERATOR, comment, group=None, reason="Rude")

    page = await read(http, path, status=410)
    assert page.title.text == "Removed · Votes & Co"
    assert "A moderator has removed this comment: Rude What moderators did" in page.find(id="root").text
    assert "a bad word" not in str(page)
    await comment_moderation.approve(store.site, OPERATOR, comment)
    assert removed.changed and (await read(http, path)).title.text == "Comment on A *title* · Votes & Co"


async def test_removed_comment_that_has_answers_keeps_its_place_and_them(http, store, number, bob, alice):  # M2
    comment = (await store.comments.post(number, parent=None, poster=bob, content="a bad word")).comment.number
    answer = (await store.comments.post(number, parent=comment, poster=alice, content="an answer")).comment.number
    await comment_moderation.remove(store.site, OPERATOR, comment, group=None, reason="Rude")

    page = await read(http, f"/article/{number}/comment/{comment}")
    assert page.title.text == "Comment on A *title* · Votes & Co"
    assert (metas(page)["robots"], canonical(page)) == ("noindex", [])
    removed, kept = page.find(id="root").select(".thread article")
    assert "This comment was removed by a moderator: Rude What moderators did" in removed.text
    assert (removed.select_one("h3").text, kept["id"]) == ("removed", f"comment-{answer}")
    assert "an answer" in kept.text
    assert "a bad word" not in str(page)
    await comment_moderation.remove(store.site, OPERATOR, answer, group=None, reason="Also rude")
    assert (await read(http, f"/article/{number}/comment/{comment}", status=410)).find(id="root").q.text == "Rude"


async def test_purged_and_pending_articles_do_not_show_what_they_had(http, store, redis, alice, number):
    pending = (await store.articles.post(alice, Draft("A waiting title", content="text"))).article.number
    await set_article_state(store, pending, ContentState.PENDING)
    await purges.purge(store.site, OPERATOR, number, "A secret of somebody")

    assert (await read(http, f"/article/{pending}", status=404)).title.text == "Not found · Votes & Co"
    page = await read(http, f"/article/{number}", status=410)
    assert page.find(id="root").q.text == "A secret of somebody"


async def test_hostile_texts_stay_texts(http, store, alice):
    posted = await store.articles.post(alice, Draft(HOSTILE, 'https://example.org/"><script>', HOSTILE))

    page = await read(http, f"/article/{posted.article.number}")

    described = metas(page)
    assert page.title.text == f"{HOSTILE} · Votes & Co"
    assert described["og:title"] == described["description"] == HOSTILE
    assert [script.get("type") for script in page.find_all("script") if not script.get("src")] == [
        "application/ld+json"
    ]
    assert page.find(id="root").script is None
    assert page.find("meta", attrs={"http-equiv": True}) is None
    assert page.find(id="root").h1.a.text == HOSTILE


@pytest.mark.parametrize(
    "text",
    [
        '[a](https://example.com "</noscript><b>injected</b>")',
        "[a](<https://example.com/</noscript><b>injected</b>>)",
        "<https://example.com/</NoScript><b>injected</b>>",
        "```</noscript>\n</noscript><b>injected</b>\n```",
    ],
)
async def test_text_of_a_comment_adds_no_elements(http, store, alice, number, text):
    posted = await store.comments.post(number, parent=None, poster=alice, content=text)

    response = await http.get(f"/article/{number}/comment/{posted.comment.number}")

    assert response.text.lower().count("</noscript") == 1  # that of the page
    assert "<b>" not in response.text


@pytest.mark.parametrize("link", ["https://[1", "javascript:alert(1)", "nonsense"])
async def test_stored_link_that_is_no_address_is_not_shown(http, redis, number, link):
    redis.hset(keys.article(0, number), "link", link)

    for path in ("/", f"/article/{number}", "/atom.xml"):
        response = await http.get(path)
        assert (response.status_code, link in response.text) == (200, False), path


async def test_page_does_not_contain_the_host_of_a_request(http, number):
    response = await http.get(f"/article/{number}", headers={"Host": "evil.example"})

    assert response.status_code == 200
    assert "evil.example" not in response.text


async def test_canonical_address_is_absolute_if_a_setting_gives_it(redis_url, store, number):
    async with serving(redis_url, public_url="https://example.com/news") as http:
        page, front = await read(http, f"/article/{number}"), await read(http, "/")

    assert canonical(page) == [f"https://example.com/news/article/{number}"]
    assert metas(page)["og:url"] == f"https://example.com/news/article/{number}"
    assert canonical(front) == ["https://example.com/news/"]


async def test_page_shows_what_everybody_sees_and_costs_the_points_of_a_query(redis_url, store, number):
    async with serving(redis_url, rate_limits="on", rate_address_points=1500, rate_address_points_back=1e-6) as http:
        pages = [await read(http, f"/article/{number}", Authorization="Bearer unknown") for _ in range(4)]
        response = await http.get(f"/article/{number}")

    assert [page.title.text for page in pages] == ["A *title* · Votes & Co"] * 4
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0
    assert response.headers["cache-control"] == "no-store"
    assert "<title>Votes &amp; Co</title>" in response.text
    assert "Content-Security-Policy" in response.headers


@pytest.mark.one_server
async def test_page_comes_while_the_store_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr("server.reader.heads.QUERY_TIMEOUT", 0.2)
    server = Server(tmp_path)
    with running(server):
        async with serving(server.url) as http:
            server.send(signal.SIGSTOP)
            page = await read(http, "/article/1", status=503)
            front = await read(http, "/", status=503)
            server.send(signal.SIGCONT)
            found = await http.get("/article/1")

    assert (page.title.text, front.title.text) == ("Votes & Co", "Votes & Co")
    assert page.find(id="root")
    assert found.status_code == 404
