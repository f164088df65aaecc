"""
The service that `UPVOTE_CHECK_URL` names, which is asked about each text: what it gets, what its answers do, and that
its faults stop nobody.

Codes such as M10 name rows of docs/behaviours.md.
"""

import asyncio
import logging
import socket
from collections import Counter
from time import monotonic

import pytest

from server.text_check import MAX_ANSWER, TextCheck
from store import roles, rules
from store.articles import Draft
from store.errors import RuleBroken
from store.moderation_records import Role
from store.records import ContentState
from store.roles import OPERATOR
from tests.server import checking
from tests.server.checking import SECRET, body, saying
from tests.server.commands import run
from tests.server.conftest import serving
from tests.store.rule_files import set_rules

TEXT = Draft("a title", "https://example.com/", "a text", ("ask",))
REGISTER = 'mutation { register(input: {username: "alice", password: "correct horse battery"}) { token } }'
POST = """mutation($title: String!) { post(input: {title: $title, content: "a text"}) {
  article { state } heldBy userErrors { code message rule params { name } } } }"""


@pytest.fixture
def service():
    with checking.service() as running:
        yield running


@pytest.fixture
def results():
    """How often a check had each result, by the words that metrics have for them."""
    return Counter()


@pytest.fixture
async def checked(store, service, results):
    """A store whose texts the service checks."""
    check = TextCheck(service.url, SECRET, lambda result: results.update([result]))
    object.__setattr__(store.site, "check", check)
    yield store
    await check.close()


async def test_new_and_edited_texts_are_sent_signed(checked, service, alice, bob, clock, results):
    posted = (await checked.articles.post(alice, TEXT)).article
    comment = (await checked.comments.post(posted.number, parent=None, poster=bob, content="an answer")).comment
    reply = (await checked.comments.post(posted.number, parent=comment.number, poster=bob, content="another")).comment
    await checked.articles.edit(posted.number, alice, {"title": "another title", "link": ""})
    await checked.comments.edit(reply.number, bob, "a better one")

    user = {"joinedAt": "2016-08-04T11:52:00.000Z", "karma": 0}
    of_alice, of_bob = {"user": {"username": "Alice", **user}}, {"user": {"username": "bob", **user}}
    under = {"articleId": posted.id}
    assert [each["data"] for each in service.asked] == [
        {"kind": "article", "title": "a title", "link": "https://example.com/", "content": "a text", "groups": ["ask"]}
        | of_alice,
        {"kind": "comment", "content": "an answer", **under, "parentId": None} | of_bob,
        {"kind": "comment", "content": "another", **under, "parentId": comment.id} | of_bob,
        {"kind": "article", "title": "another title", "link": "", "subjectId": posted.id} | of_alice,
        {"kind": "comment", "content": "a better one", "subjectId": reply.id} | of_bob,
    ]
    assert [each["type"] for each in service.asked] == ["text.posted"] * 3 + ["text.edited"] * 2
    assert len(set(service.ids)) == 5
    assert (service.forged, results) == (0, {"passed": 5})


async def test_text_is_held_or_refused_with_its_reason(checked, service, alice, results):  # M10
    service.answer = saying(action="hold", reason="it looks like an advertisement")
    held = await checked.articles.post(alice, TEXT)
    assert (held.article.state, held.held_by) == (ContentState.PENDING, "check")

    service.answer = saying(action="refuse", reason="it is an advertisement")
    with pytest.raises(RuleBroken, match=r"^it is an advertisement$") as refused:
        await checked.articles.post(alice, TEXT, "a key")
    assert (refused.value.rule, refused.value.params) == ("check", {})

    service.answer = saying(action="refuse")
    with pytest.raises(RuleBroken, match=r"^the text is not taken here$"):
        await checked.articles.edit(held.article.number, alice, {"title": "another"})
    assert results == {"held": 1, "refused": 2}


async def test_rules_and_service_together_say_what_is_stricter(checked, service, alice, tmp_path, results):
    set_rules(checked, tmp_path, '[words]\nhold = ["maybe"]\nrefuse = ["spam"]')
    with pytest.raises(RuleBroken) as by_rule:
        await checked.articles.post(alice, Draft("spam", content="a text"))
    assert (by_rule.value.rule, service.asked) == ("words", [])

    service.answer = saying(action="hold")
    assert (await checked.articles.post(alice, Draft("maybe", content="a text"))).held_by == "words"
    service.answer = saying(action="refuse")
    with pytest.raises(RuleBroken) as by_service:
        await checked.articles.post(alice, Draft("maybe", content="another"))
    assert by_service.value.rule == "check"


async def test_post_that_ends_during_the_check_counts_in_no_limit(checked, service, alice, tmp_path):
    set_rules(checked, tmp_path, "[[texts_a_day]]\nyounger_than_days = 1\nmost = 1")
    service.answer = checking.wait

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(checked.articles.post(alice, TEXT), 0.5)

    service.answer = checking.nothing
    assert (await checked.articles.post(alice, TEXT)).article


async def test_texts_of_who_has_a_role_are_not_sent(checked, service, alice):
    await roles.grant(checked.site, OPERATOR, alice, Role.MODERATOR, group="lua", reason="helps")

    await checked.articles.post(alice, TEXT)

    assert service.asked == []


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (checking.wait, "late"),
        (checking.drip, "late"),
        (checking.hang_up, "unreachable"),
        (checking.speak_nonsense, "unreachable"),
        (body(b"", 500), "bad_answer"),
        (body(b'{"action": "refuse"}', 403), "bad_answer"),
        (body(b"", 302, location="/elsewhere"), "bad_answer"),
        (body(b""), "bad_answer"),
        (body(b"refuse"), "bad_answer"),
        (body(b"[]"), "bad_answer"),
        (body(b"null"), "bad_answer"),
        (body(b'{"action": "refuse"'), "bad_answer"),
        (body(b"\xff\xfe"), "bad_answer"),
        (body(b"not gzip", **{"content-encoding": "gzip"}), "unreachable"),
        (body(b" " * (MAX_ANSWER + 1)), "bad_answer"),
        (saying(action="remove"), "bad_answer"),
        (saying(action=["refuse"]), "bad_answer"),
        (saying(action="refuse", reason=3), "bad_answer"),
        (saying(action="refuse", reason="x" * 301), "bad_answer"),
        (saying(reason="spam"), "bad_answer"),
    ],
)
async def test_faults_of_the_service_stop_nobody(checked, service, alice, results, caplog, answer, result):
    caplog.set_level(logging.INFO, "upvote")
    service.answer = answer
    began = monotonic()

    first = await checked.articles.post(alice, TEXT, "first")
    took = monotonic() - began
    service.answer = checking.nothing
    await checked.articles.post(alice, TEXT, "second")

    assert (first.held_by, first.article.state) == (None, ContentState.VISIBLE)
    assert took < 2.5  # an answer is awaited for one second, and `wait` and `drip` take three
    assert results == {result: 1, "passed": 1}
    logged = [each.getMessage() for each in caplog.records if each.name == "upvote"]
    assert [each.split(":")[0] for each in logged] == ["UPVOTE_CHECK_URL", "UPVOTE_CHECK_URL answers again"]
    assert "texts are posted without this check" in logged[0]


async def test_service_that_is_away_is_logged_once(store, alice, results, caplog):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    check = TextCheck(url, SECRET, lambda result: results.update([result]))
    object.__setattr__(store.site, "check", check)

    posted = await asyncio.gather(*(store.articles.post(alice, TEXT, str(n)) for n in range(5)))
    await check.close()

    assert [each.article.state for each in posted] == [ContentState.VISIBLE] * 5
    assert results == {"unreachable": 5}
    assert len([each for each in caplog.records if each.name == "upvote"]) == 1


def test_server_asks_the_service_and_counts_what_it_says(service, tmp_path):  # M10
    with serving(tmp_path / "data", check_url=service.url, check_secret=SECRET) as live:
        token = live.post({"query": REGISTER}).json()["data"]["register"]["token"]

        def post(title):
            headers = {"Authorization": f"Bearer {token}"}
            return live.post({"query": POST, "variables": {"title": title}}, headers=headers).json()["data"]["post"]

        service.answer = saying(action="hold")
        held = post("first")
        service.answer = saying(action="refuse", reason="no advertisements")
        refused = post("second")
        service.answer = checking.nothing
        passed = post("third")
        metrics = live.metrics()

    assert (held["article"], held["heldBy"], held["userErrors"]) == ({"state": "PENDING"}, "check", [])
    assert (refused["article"], refused["userErrors"]) == (
        None, [{"code": "RULE", "message": "no advertisements", "rule": "check", "params": []}],
    )  # fmt: skip
    assert (passed["article"], passed["heldBy"]) == ({"state": "VISIBLE"}, None)
    counts = {
        result: metrics[f'upvote_text_checks_total{{result="{result}"}}'] for result in ("held", "refused", "passed")
    }
    assert counts == {"held": 1, "refused": 1, "passed": 1}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"check_url": "https://a.example"}, "UPVOTE_CHECK_SECRET: it is missing, as UPVOTE_CHECK_URL is set"),
        ({"check_url": "ftp://a.example"}, "UPVOTE_CHECK_URL: it is not a URL with http or https"),
        ({"check_url": "a.example"}, "UPVOTE_CHECK_URL: it is not a URL with http or https"),
        ({"check_secret": "x" * 40}, "UPVOTE_CHECK_SECRET: it is not whsec_ and 24 to 64 bytes in base64"),
        ({"check_secret": "whsec_c2hvcnQ="}, "UPVOTE_CHECK_SECRET: it is not whsec_ and 24 to 64 bytes in base64"),
        ({"check_secret": "whsec_###"}, "UPVOTE_CHECK_SECRET: it is not whsec_ and 24 to 64 bytes in base64"),
    ],
)
def test_wrong_settings_stop_the_start_and_show_no_secret(tmp_path, settings, reason):
    started = run("serve", port=0, data_dir=tmp_path / "data", **settings)

    assert (started.returncode, started.stdout, started.stderr) == (2, "", f"upvote: {reason}\n")


def test_rule_of_the_service_has_no_table():
    assert "check" not in rules.TABLES
