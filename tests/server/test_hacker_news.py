"""
The API in the shape of Hacker News': each path, what is never shown, and what requests cost.

Codes such as L10 name rows of docs/behaviours.md.
"""

import json
from functools import partial

import httpx
import pytest

from server.hacker_news import MAX_KIDS
from server.markdown_html import TEXT_LENGTH
from store import flags, keys, log
from store.articles import Draft
from store.flags import FlagReason
from store.ranking.formulas import Policy
from store.records import Vote
from store.store import Store
from tests.conftest import registered
from tests.server import in_process

POSTED_AT = 1_470_311_520  # what the clock of these tests shows, in unix seconds
HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(2)) ![y](https://tracker.example/) <img src=x onerror=alert(3)>"
)
LINK = "https://example.com/"
LISTS = ["topstories", "newstories", "beststories", "askstories", "showstories"]
NO_ITEMS = [  # ids in an address that are those of no item
    "1", "0", "-1", "01", "9007199254740991", "9007199254740992", "9" * 5000, "1e3", "1.0", "0x10", "abc", " 1", "1 ",
    "%31", "%00", "%F0%9F%A6%8A", "\u0663", "null", "article:1", "..", "'", '"', "1%0A", "%C3%28",
]  # fmt: skip
NO_USERS = ["nobody", "%00", "a" * 3000, "%F0%9F%A6%8A", "a b", "..", "user:alice"]
OTHER_PATHS = [
    "maxitem.json/",
    "item/1",
    "item/1/2.json",
    "item/.json",
    "unknown.json",
    "",
    "item/1%2F2.json",
    "user.json",
]
WRITING = ["POST", "PUT", "PATCH", "DELETE"]
FEW_POINTS = {"rate_limits": "on", "rate_address_points": 100, "rate_address_points_back": 1e-6}
serving = partial(in_process.serving, path="/hn/v0/")


@pytest.fixture
async def http(redis_url, store):
    async with serving(redis_url) as http:
        yield http


@pytest.fixture
def read(http):
    """The JSON of a path, which is there."""

    async def read(path):
        response = await http.get(path)
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json; charset=utf-8")
        return json.loads(response.content)

    return read


async def posted(store, poster, title="A title", link=None, content="", groups=()):
    draft = Draft(title, link or ("" if content else LINK), content, tuple(groups))
    return (await store.articles.post(poster, draft)).article.number


async def commented(store, article, poster, parent=None, content="An answer."):
    return (await store.comments.post(article, parent=parent, poster=poster, content=content)).comment.number


async def test_user_has_the_text_about_them_as_html(store, alice, read):
    assert "about" not in await read("user/Alice.json")
    await store.users.edit_profile(alice, {"about": "I write *Lua* <b>"})

    assert (await read("user/Alice.json"))["about"] == "<p>I write <em>Lua</em> &lt;b&gt;</p>\n"


async def test_story_with_a_link_has_the_fields_of_the_original(store, alice, bob, read):
    number = await posted(store, alice, "Ask & tell <now>", "https://example.com/?a=1&b=2")
    await store.articles.vote(number, bob, Vote.UP)
    answer = await commented(store, number, bob)
    reply = await commented(store, number, alice, answer)

    assert await read(f"item/{number}.json") == {
        "by": "Alice",
        "descendants": 2,
        "id": number,
        "kids": [answer],
        "score": 2,
        "time": POSTED_AT,
        "title": "Ask &amp; tell &lt;now&gt;",
        "type": "story",
        "url": "https://example.com/?a=1&b=2",
    }
    assert await read(f"item/{answer}.json") == {
        "by": "bob",
        "id": answer,
        "kids": [reply],
        "parent": number,
        "text": "<p>An answer.</p>\n",
        "time": POSTED_AT,
        "type": "comment",
    }
    assert (await read(f"item/{reply}.json"))["parent"] == answer


async def test_markdown_is_rendered_and_html_in_it_is_text(store, alice, read):
    number = await posted(
        store, alice, HOSTILE[:200], content=f"# Head\n\n*Some* [link](https://example.com)\n\n{HOSTILE}"
    )
    comment = await commented(store, number, alice, content=HOSTILE)

    story, answer = await read(f"item/{number}.json"), await read(f"item/{comment}.json")

    assert story["text"].startswith("<h1>Head</h1>\n<p><em>Some</em> <a href=")
    assert "url" not in story
    assert "<" not in story["title"]
    for text in (story["text"], answer["text"]):
        assert "&lt;script&gt;" in text
        assert "<script" not in text
        assert "<img" not in text
        assert 'href="javascript' not in text


async def test_long_text_is_cut_as_in_feeds(store, alice, read):
    number = await posted(store, alice, content="some *words* " * 3_000)

    text = (await read(f"item/{number}.json"))["text"]

    assert text.endswith("…</p>\n")
    assert TEXT_LENGTH - 20 < len(text.replace("<em>", "*").replace("</em>", "*")) < TEXT_LENGTH + 20


async def test_kids_are_ranked_and_as_many_as_a_page_of_a_thread_has(store, alice, bob, read, monkeypatch):
    number = await posted(store, alice)
    first, second, third = [await commented(store, number, alice, content=f"Answer {each}") for each in range(3)]
    await store.comments.vote(first, bob, Vote.UP)
    await store.comments.vote(third, bob, Vote.DOWN)
    below = [await commented(store, number, bob, parent=first, content=f"Reply {each}") for each in range(2)]

    assert (await read(f"item/{number}.json"))["kids"] == [first, second, third]
    assert sorted((await read(f"item/{first}.json"))["kids"]) == below
    assert MAX_KIDS == 500
    monkeypatch.setattr("server.hacker_news.MAX_KIDS", 2)
    assert (await read(f"item/{number}.json"))["kids"] == [first, second]


async def test_deleted_comment_keeps_its_place_without_its_text(store, alice, bob, read):
    number = await posted(store, alice)
    answer = await commented(store, number, bob)
    reply = await commented(store, number, alice, answer)
    await store.comments.delete(answer, bob)

    kept = {"id": answer, "kids": [reply], "parent": number, "time": POSTED_AT, "type": "comment", "deleted": True}
    assert await read(f"item/{answer}.json") == kept
    assert (await read(f"item/{number}.json"))["descendants"] == 1
    await store.comments.delete(reply, alice)
    assert await read(f"item/{answer}.json") is None
    await store.articles.delete(number, alice)
    assert await read(f"item/{number}.json") is None


@pytest.mark.parametrize("state", ["removed", "pending"])
async def test_text_that_only_moderators_may_read_is_not_shown(store, alice, read, redis, state):
    number = await posted(store, alice, "A secret", "https://secret.example/", "A secret")
    comment = await commented(store, number, alice, content="A secret")
    partition = store.site.partition_of_article(number)
    redis.hset(keys.comment(partition, comment), "state", state)
    redis.hset(keys.article(partition, number), "state", state)

    assert await read(f"item/{number}.json") is None
    assert await read(f"item/{comment}.json") is None


async def test_item_that_does_not_exist_is_null(read):
    assert {id: await read(f"item/{id}.json") for id in NO_ITEMS} == dict.fromkeys(NO_ITEMS)


async def test_other_paths_are_404(http):
    assert [(await http.get(path)).status_code for path in OTHER_PATHS] == [404] * len(OTHER_PATHS)


async def test_user_has_karma_and_what_they_have_posted(store, alice, bob, read, clock):
    first = await posted(store, alice)
    clock.advance(1)
    answer = await commented(store, first, alice)
    clock.advance(1)
    second = await posted(store, alice, "Another")
    await store.articles.vote(second, bob, Vote.UP)

    profile = {"created": POSTED_AT, "id": "Alice", "karma": 1, "submitted": [second, answer, first]}
    assert await read("user/Alice.json") == await read("user/aLICE.json") == profile
    assert await read("user/bob.json") == {"created": POSTED_AT, "id": "bob", "karma": 0, "submitted": []}


async def test_user_that_does_not_exist_is_null(read, alice):
    assert {name: await read(f"user/{name}.json") for name in NO_USERS} == dict.fromkeys(NO_USERS)


async def test_lists_have_their_orders_and_groups(store, alice, bob, read, clock):
    old = await posted(store, alice, "Old", groups=["ask"])
    clock.advance(3600)
    new = await posted(store, alice, "New", groups=["show", "other"])
    for voter in (bob, "carol"):
        await store.articles.vote(old, voter, Vote.UP)

    lists = {name: await read(f"{name}.json") for name in LISTS}

    assert lists["newstories"] == [new, old]
    assert lists["beststories"] == [old, new]
    assert sorted(lists["topstories"]) == [old, new]
    assert (lists["askstories"], lists["showstories"]) == ([old], [new])
    assert await read("jobstories.json") == []


async def test_lists_have_several_pages_and_a_limit(store, alice, read):
    numbers = [await posted(store, alice, f"Title {each}", groups=["show"]) for each in range(520)][::-1]

    assert await read("newstories.json") == numbers[:500]
    assert len(await read("showstories.json")) == 200
    assert await read('newstories.json?orderBy="$key"&limitToFirst=130') == numbers[:130]
    assert await read("newstories.json?limitToFirst=0") == []
    for wrong in ("-1", "9e9", "", "%F0%9F%A6%8A", "501"):
        assert await read(f"newstories.json?limitToFirst={wrong}") == numbers[:500]


async def test_lists_use_another_order_where_the_store_does_not_keep_the_usual_one(redis_url):
    async with serving(redis_url, orders="VOTES") as http:
        store = await Store.open(redis_url, Policy())
        number = await posted(store, await registered(store, "alice"), groups=["ask", "show"])
        answers = [(await http.get(f"{name}.json")).json() for name in [*LISTS, "maxitem", "updates"]]
        await store.close()

    assert answers == [[number]] * 5 + [number, {"items": [number], "profiles": ["alice"]}]


async def test_empty_site_has_empty_lists(read):
    assert [await read(f"{name}.json") for name in LISTS] == [[]] * 5
    assert await read("maxitem.json") == 0
    assert await read("updates.json") == {"items": [], "profiles": []}


async def test_largest_item_and_updates_are_the_newest(store, alice, bob, read, clock):
    first = await posted(store, alice)
    clock.advance(1)
    second = await posted(store, alice, "Another")
    before = await read("maxitem.json")
    clock.advance(1)
    answer = await commented(store, first, bob)

    assert (before, await read("maxitem.json")) == (second, answer)
    changed = await read("updates.json")
    assert changed["items"] == sorted([first, second, answer], reverse=True)
    assert sorted(changed["profiles"]) == ["Alice", "bob"]


async def test_answers_to_comments_are_the_largest_item_and_in_updates(store, alice, bob, read, clock):
    number = await posted(store, alice)
    above, replies = await commented(store, number, alice), []
    for _ in range(5):
        clock.advance(60)
        await posted(store, alice, "Another")
        clock.advance(60)
        replies.append(await commented(store, number, bob, above))
        assert await read("maxitem.json") == replies[-1]

    assert set(replies) < set((await read("updates.json"))["items"])
    await log.trim(store.site, kept_ms=-1, max_entries=0)  # whatever the age of its entries
    assert await read("maxitem.json") == replies[-1]
    later = await read("updates.json")
    assert replies[-1] in later["items"]
    assert sorted(later["profiles"]) == ["Alice", "bob"]


async def test_the_comment_before_a_deleted_newest_one_is_the_largest_item(store, alice, bob, read, clock):  # L10
    number = await posted(store, alice)
    above, replies = await commented(store, number, alice), []
    for _ in range(3):
        clock.advance(60)
        replies.append(await commented(store, number, bob, above))
    largest = []
    for each in replies[::-1]:
        largest.append(await read("maxitem.json"))
        await store.comments.delete(each, bob)

    assert largest == replies[::-1]
    assert await read("maxitem.json") == above
    assert (await read("updates.json"))["items"] == [above, number]


async def leave_updates(store, poster, clock):
    """Make all that is posted leave the updates: as many are newer as these have, and the log is emptied."""
    for number in range(20):
        clock.advance(1)
        newest = await posted(store, poster, f"Newer {number}")
        for content in ("one", "two", "three"):
            await commented(store, newest, poster, content=content)
    await log.trim(store.site, kept_ms=-1, max_entries=0)  # whatever the age of its entries


async def test_votes_and_edits_are_in_updates_and_what_is_deleted_is_not(store, alice, bob, read, clock):
    carol = await registered(store, "carol")
    old = [await posted(store, alice, f"Title {each}") for each in range(3)]
    answer = await commented(store, old[0], alice)
    await leave_updates(store, carol, clock)
    assert not {*old, answer} & set((await read("updates.json"))["items"])
    await store.articles.vote(old[0], bob, Vote.UP)
    await store.articles.edit(old[1], alice, {"title": "Edited"})
    await store.articles.edit(old[2], alice, {"title": "Edited"})
    await store.articles.delete(old[2], alice)
    await store.comments.vote(answer, bob, Vote.UP)

    changed = await read("updates.json")

    assert {*old, answer} & set(changed["items"]) == {old[0], old[1], answer}
    assert sorted(changed["profiles"]) == ["Alice", "carol"]


async def test_private_entries_of_the_log_are_not_in_updates(store, alice, bob, read, clock):
    carol = await registered(store, "carol")
    old = [await posted(store, alice, f"Title {each}") for each in range(2)]
    answer = await commented(store, old[0], alice)
    await leave_updates(store, carol, clock)
    before = await read("updates.json")
    await flags.flag(store.site, bob, "article", old[0], FlagReason.SPAM)
    await flags.flag(store.site, bob, "comment", answer, FlagReason.SPAM)
    await flags.flag(store.site, bob, "article", old[1], FlagReason.SPAM)
    await flags.unflag(store.site, bob, "article", old[1])

    assert await read("updates.json") == before
    assert not {*old, answer} & set(before["items"])


async def test_pretty_json_has_lines(http, store, alice):
    number = await posted(store, alice)

    plain, pretty = await http.get(f"item/{number}.json"), await http.get(f"item/{number}.json?print=pretty")

    assert plain.text.count("\n") == 0
    assert pretty.text.startswith('{\n  "by": "Alice",\n')
    assert plain.json() == pretty.json()


async def test_known_answer_is_not_sent_again(http, store, alice):
    number = await posted(store, alice)
    first = await http.get(f"item/{number}.json")

    again = await http.get(f"item/{number}.json", headers={"If-None-Match": first.headers["etag"]})
    await store.articles.edit(number, alice, {"title": "Edited"})
    edited = await http.get(f"item/{number}.json", headers={"If-None-Match": first.headers["etag"]})

    assert first.headers["cache-control"] == "public, max-age=0, must-revalidate"
    assert (again.status_code, again.content) == (304, b"")
    assert (edited.status_code, edited.json()["title"]) == (200, "Edited")


async def test_pages_of_any_origin_may_read(http):
    simple = await http.get("maxitem.json", headers={"Origin": "https://any.example"})
    asked = {"Origin": "https://any.example", "Access-Control-Request-Method": "GET"}
    preflight = await http.options("maxitem.json", headers=asked | {"Access-Control-Request-Headers": "x-anything"})
    refused = await http.options("maxitem.json", headers=asked | {"Access-Control-Request-Method": "POST"})
    elsewhere = await http.get("http://up/healthz", headers={"Origin": "https://any.example"})

    assert simple.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in simple.headers
    assert (preflight.status_code, preflight.headers["access-control-allow-headers"]) == (200, "x-anything")
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in elsewhere.headers


async def test_allowed_origins_do_not_matter(redis_url):
    """Another setting lets pages of some origins use GraphQL; it has no say here."""
    async with serving(redis_url, allowed_origins="https://friend.example") as http:
        asked = {"Origin": "https://any.example", "Access-Control-Request-Method": "GET"}
        here = await http.options("maxitem.json", headers=asked)
        graphql = await http.options("http://up/graphql", headers=asked)

    assert (here.status_code, graphql.status_code) == (200, 400)


def test_head_has_the_headers_alone(live):
    head, get = (httpx.request(method, f"{live.url}/hn/v0/newstories.json") for method in ("HEAD", "GET"))

    assert (head.status_code, head.content) == (200, b"")
    assert [head.headers[name] for name in ("etag", "content-length")] == [get.headers["etag"], f"{len(get.content)}"]


async def test_lists_of_trusted_documents_do_not_matter(redis_url, tmp_path):
    (tmp_path / "documents.json").write_text("{}")
    async with serving(redis_url, only_trusted="on", trusted_documents=tmp_path / "documents.json") as http:
        assert (await http.get("topstories.json")).json() == []


async def test_nothing_can_be_written(http):
    statuses = [(await http.request(each, "item/1.json", json={})).status_code for each in WRITING]

    assert statuses == [405] * len(WRITING)


async def test_requests_cost_the_documented_points(redis_url, store, alice):
    """As in the table of docs/hacker-news.md: such as 15 points for an item, and more for one with two kids or more."""
    number = await posted(store, alice)
    costs = []
    async with serving(redis_url, rate_limits="on", rate_address_points_back=1e-6) as http:
        for kids in range(4):
            costs.append(await cost(http, f"item/{number}.json"))
            await commented(store, number, alice, content=f"{kids}")
        lists = [
            await cost(http, path) for path in ("topstories.json", "newstories.json?limitToFirst=30", "jobstories.json")
        ]
        others = [await cost(http, path) for path in ("user/alice.json", "maxitem.json", "updates.json", "item/0.json")]

    assert costs == [15, 15, 19, 20]
    assert lists == [515, 31, 0]
    assert others == [11, 4, 177, 0]


async def cost(http, path):
    """The points that a path costs, between two requests of 15 points."""
    before = points(await http.get("item/1.json"))
    await http.get(path)
    return before - points(await http.get("item/1.json")) - 15


async def test_client_without_points_waits(redis_url, store, alice):
    async with serving(redis_url, **FEW_POINTS) as http:
        answers = [await http.get("item/1.json", headers={"Origin": "https://any.example"}) for _ in range(20)]

    assert {answer.status_code for answer in answers} == {200, 429}
    assert int(answers[-1].headers["retry-after"]) > 0
    assert answers[-1].headers["access-control-allow-origin"] == "*"


def points(response):
    return int(response.headers["ratelimit"].split(";")[1].removeprefix("r="))
