"""
Pages of articles as HTML, for browsers that run no scripts, with data for search engines. A page has less than 200,000
bytes. tests/reader/test_replacement.py compares them with the pages that the reader, the script of the site, shows.
"""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from archive import leaving as archived_leaving
from server.reader.articles import COMMENTS_PER_PAGE, ORDERS, cut_to
from server.reader.rendering import json_in_html
from server.reader.texts import rendered
from server.reader.threads import DEEPEST
from store import article_moderation, comment_moderation, leaving
from store.articles import Draft
from store.records import ContentState, Vote
from store.roles import OPERATOR
from store.threads import CommentOrder
from tests.conftest import registered
from tests.server.pages import HOSTILE, canonical, read, serving
from tests.store.held import set_comment_state

SOURCES = Path(__file__).parents[2] / "reader" / "src"


@pytest.fixture
async def number(store, alice):
    """The number of an article."""
    return (
        await store.articles.post(alice, Draft("A title", "https://www.example.org/", "*Words*", ["show"]))
    ).article.number


@pytest.fixture
def comment(store, number):
    """A function that posts a comment on the article, and returns its number."""

    async def comment(poster, text, parent=None):
        return (await store.comments.post(number, parent=parent, poster=poster, content=text)).comment.number

    return comment


def comments_of(page):
    """The level of each comment, its text, and what the link to the comment that it answers says, if there is one."""
    return [
        (
            row["data-level"],
            row.select_one(".markdown, p.absent").text.strip(),
            next((name.text for name in row.select(".parent bdi")), None),
        )
        for row in page.select(".thread .comment:not(.more)")
    ]


def posting(page):
    """The data for search engines: a DiscussionForumPosting of schema.org, in JSON-LD."""
    return json.loads(page.find("script", type="application/ld+json").string)


def test_orders_and_sizes_are_those_of_the_reader():
    thread = (SOURCES / "components" / "Thread.tsx").read_text()
    size = re.search(r"COMMENTS_PER_PAGE = (\d+)", (SOURCES / "useThread.ts").read_text())
    deepest = re.search(r"--deepest: (\d+)", (SOURCES / "components" / "thread.css").read_text())

    [source] = re.findall(r"const ORDERS: [^=]*= \[([^\]]*)\]", thread)

    assert tuple(re.findall(r'"(\w+)"', source)) == ORDERS
    assert set(ORDERS) == {order.name for order in CommentOrder}
    assert (int(size[1]), int(deepest[1])) == (COMMENTS_PER_PAGE, DEEPEST)


async def test_article_has_its_comments(http, store, number, comment, alice, bob):
    first = await comment(bob, "I *agree*")
    second = await comment(alice, "Thanks", first)
    await store.articles.vote(number, bob, Vote.UP)

    page = await read(http, f"/article/{number}")

    root = page.find(id="root")
    assert [(row["data-level"], row.select_one(".markdown").text.strip()) for row in root.select(".comment")] == [
        ("0", "I agree"),
        ("1", "Thanks"),
    ]
    assert root.select_one(f"#comment-{second} .parent")["href"] == f"article/{number}/comment/{first}"
    assert root.select_one(f"#comment-{second} .badge").text == "poster"
    assert root.select_one(f"#comment-{first} .badge") is None
    assert root.select_one(".about-article .count").text == "2"
    assert root.select_one(".about-article ~ .markdown em").text == "Words"
    assert root.select_one("#comments").text == "2 comments"
    assert [link["href"] for link in root.select(".comments > nav a")][:2] == [
        f"article/{number}",
        f"article/{number}?order=VOTES",
    ]
    assert root.select_one(".hint a")["href"] == f"log-in?next=%2Farticle%2F{number}"
    assert all(button.has_attr("disabled") for button in root.select("button"))
    assert root.select("[style], [onclick]") == []


async def test_search_engines_get_the_article_with_its_comments(http, store, number, comment, bob):
    posted = await comment(bob, "I *agree* </script>")
    removed = await comment(bob, "Rude")
    await comment_moderation.remove(store.site, OPERATOR, removed, group=None, reason="Rude")

    found = posting(await read(http, f"/article/{number}"))

    assert (found["@type"], found["headline"], found["text"]) == ("DiscussionForumPosting", "A title", "Words")
    assert found["author"] == {"@type": "Person", "name": "Alice", "url": "user/Alice"}
    assert found["sharedContent"] == {"@type": "WebPage", "url": "https://www.example.org/"}
    assert found["datePublished"] == "2016-08-04T11:52:00.000Z"
    assert [(each["text"], each["author"]["name"], each["url"]) for each in found["comment"]] == [
        ("I agree </script>", "bob", f"article/{number}/comment/{posted}")
    ]


async def test_search_engines_get_the_tree_of_comments(http, store, number, comment, alice, bob):
    """What Google wants of a DiscussionForumPosting is there, whatever became of comments and of who wrote them."""
    linked = (await store.articles.post(alice, Draft("Only a link", "https://example.org"))).article.number
    first = await comment(await registered(store, "carol"), "First")
    gone = await comment(bob, "Gone", first)
    answer = await comment(alice, "An *answer* to what is gone", gone)
    await comment(bob, "***", answer)
    rude = await comment(bob, "Rude")
    await comment(alice, "An answer to rudeness", rude)
    await store.comments.delete(gone, bob)
    await comment_moderation.remove(store.site, OPERATOR, rude, group=None, reason="Rude")
    leaver = await leaving.begin(store.site, "carol", password_hash="", removes_texts=False)
    await archived_leaving.settle(store, None, leaver)
    for voter in (bob, await registered(store, "dave")):
        await store.articles.vote(number, voter, Vote.DOWN)

    found = posting(await read(http, f"/article/{number}?order=OLDEST"))
    of_link = posting(await read(http, f"/article/{linked}"))

    assert tree_of(found) == [("First", [("An answer to what is gone", [("***", [])])]), ("An answer to rudeness", [])]
    assert found["comment"][0]["author"] == {"@type": "Person", "name": "[deleted]"}
    assert of_link["text"] == "Only a link"
    for each in (found, of_link):
        check_posting(each)


def tree_of(written):
    return [(each["text"], tree_of(each)) for each in written.get("comment", [])]


def check_posting(found):
    """
    Check what Google documents of a posting in a forum: required are author, time and text of each text in it, and of
    what is optional the types of schema.org.
    """
    assert (found["@context"], found["@type"]) == ("https://schema.org", "DiscussionForumPosting")
    assert found["headline"]
    assert [each["@type"] for each in found["interactionStatistic"]] == ["InteractionCounter"] * 2
    assert {each["interactionType"] for each in found["interactionStatistic"]} == {
        "https://schema.org/LikeAction",
        "https://schema.org/CommentAction",
    }
    assert all(each["userInteractionCount"] >= 0 for each in found["interactionStatistic"])
    known = {"@context", "headline", "sharedContent", "interactionStatistic"}
    check_written({key: value for key, value in found.items() if key not in known})


def check_written(written):
    required = {"@type", "url", "author", "datePublished", "text"}
    assert required <= written.keys() <= required | {"dateModified", "comment"}
    assert written["text"].strip()
    assert written["author"]["@type"] == "Person"
    assert written["author"]["name"].strip()
    assert written["author"].get("url", "").startswith("user/") == (written["author"]["name"] != "[deleted]")
    assert datetime.fromisoformat(written["datePublished"]).tzinfo == UTC
    for each in written.get("comment", []):
        assert each["@type"] == "Comment"
        assert each["url"].startswith("article/")
        check_written(each)


async def test_addresses_for_search_engines_are_absolute_if_a_setting_says_so(redis_url, number):
    async with serving(redis_url, public_url="https://example.com/news") as http:
        found = posting(await read(http, f"/article/{number}"))

    assert found["url"] == f"https://example.com/news/article/{number}"
    assert found["author"]["url"] == "https://example.com/news/user/Alice"


async def test_comments_follow_in_the_order_of_the_address(http, number, comment, bob):
    for text in ("one", "two", "three"):
        await comment(bob, text)

    newest = await read(http, f"/article/{number}?order=NEWEST")
    oldest = await read(http, f"/article/{number}?order=OLDEST")
    unknown = await read(http, f"/article/{number}?order=NONSENSE")

    assert [text for _, text, _ in comments_of(newest)] == ["three", "two", "one"]
    assert [text for _, text, _ in comments_of(oldest)] == ["one", "two", "three"]
    assert newest.select_one(".comments > nav [aria-current]").text == "Newest"
    assert unknown.select_one(".comments > nav [aria-current]").text == "Best"
    assert canonical(newest) == canonical(unknown) == [f"article/{number}"]


async def test_pages_of_comments_lead_to_each_other(http, number, comment, bob):
    for each in range(COMMENTS_PER_PAGE + 2):
        await comment(bob, f"comment {each}")

    first = await read(http, f"/article/{number}?order=OLDEST")
    second = await read(http, "/" + first.select_one(".thread a[rel=next]")["href"])

    assert len(comments_of(first)) == COMMENTS_PER_PAGE
    assert [text for _, text, _ in comments_of(second)] == [
        f"comment {COMMENTS_PER_PAGE}",
        f"comment {COMMENTS_PER_PAGE + 1}",
    ]
    assert second.select("a[rel=next]") == []
    assert second.select_one(".comments a[rel=prev]")["href"] == f"article/{number}?order=OLDEST"


async def test_hundred_comments_of_usual_length_are_on_one_page(http, number, comment, store):
    names = [await registered(store, f"somebody-{each}") for each in range(5)]
    above = None
    for each in range(COMMENTS_PER_PAGE + 1):
        text = f"{each} " + "Some words &\n\n" * 10 + "that make a comment as long as many are. " * 5
        above = await comment(names[each % 5], text, above if each % 8 else None)

    response = await http.get(f"/article/{number}?order=OLDEST")

    assert len(comments_of(BeautifulSoup(response.text, "html.parser"))) == COMMENTS_PER_PAGE
    assert len(response.content) < 200_000


async def test_search_engines_get_the_whole_texts_of_all_comments(http, number, comment, store):
    names = [await registered(store, f"somebody-{each}") for each in range(5)]
    texts = [f"{each} " + " ".join(["some words *of* a text &"] * (each % 20)) for each in range(COMMENTS_PER_PAGE)]
    for each, text in enumerate(texts):
        await comment(names[each % 5], text)

    response = await http.get(f"/article/{number}?order=OLDEST")

    found = posting(BeautifulSoup(response.text, "html.parser"))
    assert [each["text"] for each in found["comment"]] == [text.replace("*", "").strip() for text in texts]
    assert len(response.content) < 200_000


async def test_comments_that_do_not_fit_are_left_out_for_search_engines(http, number, comment, bob):
    texts = [f"{each} " + "word " * (700 if each % 10 == 3 else 20) for each in range(COMMENTS_PER_PAGE)]
    for text in texts:
        await comment(bob, text)

    response = await http.get(f"/article/{number}?order=OLDEST")

    page = BeautifulSoup(response.text, "html.parser")
    found = [each["text"] for each in posting(page)["comment"]]
    shown = [text.strip() for text in texts[: len(comments_of(page))]]
    assert [text for text in shown if text in found] == found  # whole, and in their order
    assert {text for text in shown if len(text) < 200} <= set(found)
    assert COMMENTS_PER_PAGE * 0.9 <= len(found) < len(shown)
    assert 190_000 < len(response.content) < 200_000


async def test_data_for_search_engines_makes_no_long_page(http, number, comment, bob):
    for each in range(COMMENTS_PER_PAGE):
        await comment(bob, f"{each} " + "<" * 195)

    response = await http.get(f"/article/{number}?order=OLDEST")

    found = posting(BeautifulSoup(response.text, "html.parser"))["comment"]
    assert [each["text"] for each in found] == [f"{each} " + "<" * 195 for each in range(len(found))]
    assert 10 < len(found) < COMMENTS_PER_PAGE
    assert 190_000 < len(response.content) < 200_000


def test_text_of_an_article_is_cut_until_it_fits():
    text = "<" * 3_000 + "word " * 3_000

    for size in (10_000, 20_000, 32_000):
        data = {"headline": "A title", "text": text}
        made = cut_to(size, data)
        assert size - 4_000 < len(made.encode()) <= size
        assert json.loads(made) == data  # `cut_to` has cut the text in `data`
    assert cut_to(100, {"headline": "x" * 300}) == json_in_html({"headline": "x" * 300})
    assert 180 < len(json.loads(cut_to(100, {"text": text}))["text"]) <= 200


@pytest.mark.parametrize("language", ["", "?lang=de"])
async def test_long_article_with_long_comments_fits_into_a_page(http, store, alice, bob, language):
    number = (await store.articles.post(alice, Draft("Title", content="<" * 9_000))).article.number
    for each in range(30):
        await store.comments.post(number, parent=None, poster=bob, content=f"{each} " + "@alice & " * 500)

    response = await http.get(f"/article/{number}{language}")

    assert posting(BeautifulSoup(response.text, "html.parser"))["text"].startswith("<<<")
    assert 150_000 < len(response.content) < 200_000


async def test_page_of_long_comments_has_less_than_200_000_bytes(http, number, comment, bob):
    texts = [f"{each:03} " + "<&> " * 2_000 for each in range(20)]
    for text in texts:
        await comment(bob, text)

    pages, path = [], f"/article/{number}?order=OLDEST"
    while path:
        response = await http.get(path)
        assert len(response.content) < 200_000
        pages.append(await read(http, path))
        link = pages[-1].select_one(".thread a[rel=next]")
        path = f"/{link['href']}" if link else ""

    assert len(pages) > 1
    assert [text[:3] for page in pages for _, text, _ in comments_of(page)] == [text[:3] for text in texts]


async def test_cursor_of_nothing_is_refused(http, number):
    page = await read(http, f"/article/{number}?after=nonsense", status=400)

    assert page.select("#root > *") == []


async def test_removed_deleted_and_pending_texts_are_not_shown(http, store, number, comment, alice, bob):
    removed, deleted = await comment(bob, "A rude text"), await comment(bob, "A deleted text")
    pending, lone = await comment(bob, "A pending text"), await comment(bob, "A lone text")
    for parent in (removed, deleted):
        await comment(alice, "an answer", parent)
    await comment_moderation.remove(store.site, OPERATOR, removed, group=None, reason="Be nice")
    for each in (deleted, lone):
        await store.comments.delete(each, bob)
    await set_comment_state(store, pending, ContentState.PENDING)

    response = await http.get(f"/article/{number}?order=OLDEST")
    page = await read(http, f"/article/{number}?order=OLDEST")

    for text in ("rude", "deleted text", "pending text", "lone"):
        assert text not in response.text
    assert comments_of(page) == [
        ("0", "This comment was removed by a moderator: Be nice What moderators did", None),
        ("1", "an answer", "removed"),
        ("0", "This comment was deleted.", None),
        ("1", "an answer", "deleted"),
    ]


async def test_locked_article_says_why(http, store, number, comment, bob):
    await comment(bob, "a comment")
    await article_moderation.lock(store.site, OPERATOR, number, group=None, reason=HOSTILE)

    page = await read(http, f"/article/{number}")

    assert page.select_one(".notice q").text == HOSTILE
    assert page.select_one(".hint").text == "The article is locked: it takes no comments."
    assert page.select(".action") == []


async def test_hostile_comments_stay_texts(http, number, comment, bob):
    texts = [HOSTILE, "[a](javascript:alert(1)) <img src=x onerror=alert(1)>", '<https://e.org/"onclick=x> ![](x)']
    for text in texts:
        await comment(bob, text)

    root = (await read(http, f"/article/{number}")).find(id="root")

    assert root.select("script, img, .markdown [onerror], .markdown [onclick], iframe, meta") == []
    assert [link["href"] for link in root.select(".markdown a") if not re.match("https?:|user/", link["href"])] == []


async def test_page_is_the_same_for_everybody(http, number):
    first = await http.get(f"/article/{number}")
    second = await http.get(
        f"/article/{number}", headers={"Cookie": "upvote-12345678=anything", "Authorization": "Bearer x"}
    )

    assert first.content == second.content
    assert first.headers["cache-control"] == second.headers["cache-control"]
    assert "Cookie" not in second.headers["vary"]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# Heading *it*", "<p><strong>Heading <em>it</em></strong></p>"),
        ("hi @bob, a@b.cc `@bob`", "user/bob"),
        (r"\@bob", "<p><span>@</span>bob</p>"),
        ("- [x] done", "<li>☑ done</li>"),
        ("[x](javascript:alert(1))", "<p>x</p>"),
        ('[x](https://e.org "title")', '<p><a href="https://e.org" rel="nofollow ugc noopener">x</a></p>'),
        ("[@bob](https://e.org/@bob>)", "https://e.org/@bob%3E"),
        ("<b>x</b> *and*", "<p>&lt;b&gt;x&lt;/b&gt; <em>and</em></p>"),
        ("<div>\n*one*\n\ntwo", "<p>&lt;div&gt;\n<em>one</em></p>\n<p>two</p>"),
        ("- <!-- @bob -->", '<li>&lt;!-- <a href="user/bob">@bob</a> --&gt;</li>'),
        ("`<b>` <https://e.org>", '<code>&lt;b&gt;</code> <a href="https://e.org" rel'),
        ("[x](https://e.org/a<b) [y](<https://e.org/c d>)", "e.org/c%20d"),
    ],
)
def test_text_is_what_the_reader_makes_of_it(markdown, html):
    found = rendered(markdown).html

    assert html in found
    assert found.count("user/bob") == html.count("user/bob")


def test_text_that_becomes_too_large_is_shown_as_it_was_written():
    found = rendered("<&" * 9_000)

    assert found.is_plain
    assert len(found.html) < 60_000
