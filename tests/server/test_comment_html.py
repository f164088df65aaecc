"""The page of a comment as HTML, which the server renders for browsers that run no scripts."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from server.reader.comment_page import NEAREST
from store.articles import Draft
from tests.server.pages import canonical, read

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def number(store, alice):
    return (await store.articles.post(alice, Draft("A title", content="Words"))).article.number


@pytest.fixture
def comment(store, number, clock):
    """A function that posts a comment on the article, each a second later, and returns its number."""

    async def post(poster, text, parent=None):
        clock.advance(1)
        return (await store.comments.post(number, parent=parent, poster=poster, content=text)).comment.number

    return post


def shown(page):
    """The level and the text of each comment."""
    return [
        (row["data-level"], row.select_one(".markdown").text.strip())
        for row in page.select("#root .comment:not(.more)")
    ]


def test_as_many_comments_above_as_the_script_shows():
    source = (ROOT / "reader/src/pages/CommentPage.tsx").read_text(encoding="utf-8")

    assert re.search(r"const NEAREST = (\d+);", source)[1] == str(NEAREST)


async def test_comment_has_what_it_answers_and_what_answers_it(http, number, comment, alice, bob):
    above = await comment(alice, "above")
    own = await comment(bob, "own", above)
    await comment(alice, "below", own)
    await comment(alice, "beside", above)

    page = await read(http, f"/article/{number}/comment/{own}")

    assert shown(page) == [("0", "above"), ("1", "own"), ("2", "below")]
    (current,) = page.select("#root [aria-current=true]")
    assert current["id"] == f"comment-{own}"
    assert page.select_one(f"#comment-{own} .parent")["href"] == f"article/{number}/comment/{above}"
    assert page.select_one("#root .comments > .details").text == "All 4 comments"
    assert [link["href"] for link in page.select("#root .comments > nav a")][1] == (
        f"article/{number}/comment/{own}?order=VOTES"
    )
    assert all(button.has_attr("disabled") for button in page.select("#root button"))


async def test_deep_comment_begins_with_the_nearest_above(http, number, comment, alice):
    numbers = [await comment(alice, "top")]
    for depth in range(1, NEAREST + 3):
        numbers.append(await comment(alice, f"depth {depth}", numbers[-1]))

    page = await read(http, f"/article/{number}/comment/{numbers[-1]}")

    assert shown(page) == [(str(level), f"depth {level + 2}") for level in range(NEAREST + 1)]
    assert page.select_one("#root .above").text == "2 comments above"
    assert page.select_one("#root .parent")["href"].endswith(f"/comment/{numbers[2]}")


async def test_long_comments_above_leave_space_for_the_comment(http, number, comment, alice):
    # 9,600 characters, and more than three times as many bytes of HTML
    numbers = [await comment(alice, "*a* " * 2_400)]
    for _ in range(NEAREST):
        numbers.append(await comment(alice, "*a* " * 2_400, numbers[-1]))

    response = await http.get(f"/article/{number}/comment/{numbers[-1]}")

    *above, own = BeautifulSoup(response.text, "html.parser").select("#root .comment .markdown")
    assert len(own.select("em")) == 2_400
    assert [len(each.text) <= 200 for each in above] == [True] * NEAREST
    assert len(response.content) < 200_000


async def test_answers_have_pages(http, number, comment, alice):
    own = await comment(alice, "own")
    for turn in range(101):
        await comment(alice, f"answer {turn}", own)

    first = await read(http, f"/article/{number}/comment/{own}?order=OLDEST")
    link = first.select_one("#root .more a[rel=next]")
    second = await read(http, f"/{link['href']}")

    assert len(shown(first)) == 101 and link.parent["data-level"] == "1"
    assert shown(second) == [("0", "own"), ("1", "answer 100")]
    assert second.select_one("#root a[rel=prev]")["href"] == f"article/{number}/comment/{own}?order=OLDEST"
    assert canonical(second) == [f"article/{number}/comment/{own}"]


async def test_large_answers_have_pages_below_a_comment_whose_page_is_nearly_full(http, number, comment, alice):
    # four bytes a character: as much as is shown of one above the comment, and as much as is shown at all
    large, largest = "\U0001f600" * 4_990, "\U0001f600" * 9_980
    own = None
    for _ in range(NEAREST):
        own = await comment(alice, large, own)
    own = await comment(alice, largest, own)
    answers = [await comment(alice, f"{largest} {turn}", own) for turn in range(2)]

    first = await http.get(f"/article/{number}/comment/{own}?order=OLDEST")
    page = BeautifulSoup(first.text, "html.parser")
    link = page.select_one("#root .more a[rel=next]")
    second = await read(http, f"/{link['href']}")

    assert len(first.content) < 200_000
    assert [page.select_one(f"#comment-{each}") is not None for each in answers] == [True, False]
    assert [second.select_one(f"#comment-{each}") is not None for each in answers] == [False, True]


async def test_comment_below_another_article_moves_to_its_own(http, store, number, comment, alice):
    other = (await store.articles.post(alice, Draft("Another title", content="Words"))).article.number
    own = await comment(alice, "own")

    for query in ("", "?order=NEWEST&lang=de"):
        moved = await http.get(f"/article/{other}/comment/{own}{query}")

        assert moved.status_code == 308
        assert moved.url.join(moved.headers["location"]) == f"http://up/article/{number}/comment/{own}{query}"
    page = await read(http, f"/article/{number}/comment/{own}?order=NEWEST")
    assert shown(page) == [("0", "own")]
    assert (await http.get(f"/article/{other}/comment/{2**40}")).status_code == 404
