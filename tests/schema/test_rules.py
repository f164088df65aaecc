"""
The rules of a site, which it has in a file. A text or a vote that breaks one is refused with the code RULE, the name of
the rule and its numbers; or a text is held, so that it is pending until a moderator approves it.

The fixture `token` is a session token of the user vera. Codes such as M10 name rows of docs/behaviours.md.
"""

import asyncio
from functools import partial

import pytest

from resolvers.context import Context
from schema.schema import SCHEMA
from store import comment_moderation, flags, roles
from store.articles import Draft
from store.flags import FlagReason
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered
from tests.schema.moderators import signed_in
from tests.schema.subscribers import POSTED
from tests.store.reading import everything, post, verified
from tests.store.rule_files import set_rules

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

ERRORS = "userErrors { code message field rule params { name value } }"
POST = f"""mutation($title: String! = "a title", $link: URL, $content: String = "a text", $key: String) {{
  post(input: {{title: $title, link: $link, content: $content, idempotencyKey: $key}}) {{
    article {{ id state }} replayed heldBy {ERRORS} }} }}"""
COMMENT = f"""mutation($id: ID!, $content: String! = "a text", $key: String) {{
  comment(input: {{articleId: $id, content: $content, idempotencyKey: $key}}) {{
    comment {{ id state content }} replayed heldBy {ERRORS} }} }}"""
EDIT = f"""mutation($id: ID!, $title: String, $content: String) {{
  editArticle(input: {{articleId: $id, title: $title, content: $content}}) {{
    article {{ title content }} heldBy {ERRORS} }} }}"""
EDIT_COMMENT = f"""mutation($id: ID!, $content: String!) {{
  editComment(input: {{commentId: $id, content: $content}}) {{ comment {{ content }} heldBy {ERRORS} }} }}"""
VOTE = f"""mutation($id: ID!, $value: VoteValue!) {{
  vote(input: {{articleId: $id, value: $value}}) {{ changed {ERRORS} }} }}"""
VOTE_ON_COMMENT = f"""mutation($id: ID!, $value: VoteValue!) {{
  voteOnComment(input: {{commentId: $id, value: $value}}) {{ changed {ERRORS} }} }}"""
FLAG = f"mutation($id: ID!) {{ flag(input: {{subjectId: $id, reason: SPAM}}) {{ changed {ERRORS} }} }}"
REGISTER = f"""mutation($name: String!) {{
  register(input: {{username: $name, password: "correct horse"}}) {{ token {ERRORS} }} }}"""
DAY = 86_400  # seconds
LEAST = "least_age_days = 2\nleast_karma = 3"


@pytest.fixture
def ruled(store, tmp_path):
    """`ruled(text)` gives the site the rules of a file."""
    return partial(set_rules, store, tmp_path)


@pytest.fixture
async def moderator(store):
    """The token of a moderator of the site, sam."""
    return await signed_in(store, "sam", Role.MODERATOR)


def without_counts(redis):
    """
    All keys, without the counts of attempts within a limit: one that was counted and taken back leaves an expiry.
    """
    return {key: value for key, value in everything(redis).items() if not key.startswith("tried:")}


def assert_unchanged(before, after):
    """Nothing was added or changed. Keys by which a double click is known may expire, on a busy machine."""
    assert {key: value for key, value in after.items() if before.get(key) != value} == {}
    assert {key for key in before.keys() - after.keys() if not key.startswith(("posted:", "commented:"))} == set()


async def payload(ask, query, token, **variables):
    """The value of the only root field of a query, which has no errors."""
    answer = await ask(query, token, **variables)
    assert "errors" not in answer
    ((_, found),) = answer["data"].items()
    return found


async def refusal(ask, query, token, **variables):
    """The rule, the field and the numbers of the only refusal."""
    (error,) = (await payload(ask, query, token, **variables))["userErrors"]
    assert error["code"] == "RULE"
    assert error["message"]
    return error["rule"], error["field"], {each["name"]: each["value"] for each in error["params"]}


async def assert_accepted(ask, query, token, **variables):
    found = await payload(ask, query, token, **variables)
    assert (found["userErrors"], found.get("heldBy")) == ([], None)
    return found


@pytest.mark.parametrize(
    ("rules", "rule", "content"),
    [
        ('[words]\nACTION = ["cheap pills"]', "words", "Chéap PILLS!"),
        ('[domains]\nACTION = ["spam.example"]', "domains", "see https://www.spam.example/"),
        (f'[links]\n{LEAST}\naction = "ACTION"', "links", "see https://good.example/"),
        ('[repeated_text]\naction = "ACTION"', "repeated_text", "a text that vera has posted before"),
    ],
)
class TestTexts:
    async def test_text_is_refused_and_nothing_changes(  # M10
        self, store, ask, token, alice, redis, ruled, moderator, rules, rule, content
    ):
        article = await post(store, alice)
        await payload(ask, POST, token, content="a text that vera has posted before", title=" ")
        await payload(ask, COMMENT, token, id=article.id, content="a text that vera has posted before")
        ruled(rules.replace("ACTION", "refuse"))
        if rule == "repeated_text":
            await assert_accepted(ask, COMMENT, token, id=article.id, content=content.upper(), key="counted")
        before = without_counts(redis)

        refused = [
            await refusal(ask, COMMENT, token, id=article.id, content=content, key="refused"),
            *([] if rule == "repeated_text" else [await refusal(ask, POST, token, content=content)]),
        ]

        assert {name for name, *_ in refused} == {rule}
        assert_unchanged(before, without_counts(redis))
        if rule == "links":
            assert refused[0][1:] == (
                ["input", "content"], {"least_age_days": "2", "least_karma": "3", "age_days": "0", "karma": "0"},
            )  # fmt: skip
        await assert_accepted(ask, COMMENT, moderator, id=article.id, content=content)

    async def test_text_is_held_from_the_start(  # M10
        self, store, ask, token, alice, ruled, moderator, listen, rules, rule, content
    ):
        article = await post(store, alice)
        subscriber = await listen(POSTED)
        ruled(rules.replace("ACTION", "hold"))
        if rule == "repeated_text":
            await assert_accepted(ask, COMMENT, token, id=article.id, content=content, key="first")

        held = await payload(ask, COMMENT, token, id=article.id, content=content, key="second")
        posted = await payload(ask, POST, token, content=content, title="a title", key="held")

        assert (held["heldBy"], held["comment"]["state"], held["userErrors"]) == (rule, "PENDING", [])
        assert held["comment"]["content"] == content
        if rule != "repeated_text":
            assert (posted["heldBy"], posted["article"]["state"]) == (rule, "PENDING")
            shown = (await store.articles.post(alice, Draft("a title", content="a text"))).article
            assert (await subscriber.value())["id"] == shown.id
        node = "query($id: ID!) { node(id: $id) { id } }"
        seen = [await ask(node, each, id=held["comment"]["id"]) for each in (None, token, moderator)]
        assert [each["data"]["node"] for each in seen] == [None, *[{"id": held["comment"]["id"]}] * 2]
        again = await payload(ask, COMMENT, token, id=article.id, content=content, key="second")
        assert (again["replayed"], again["comment"], again["heldBy"]) == (True, held["comment"], rule)
        assert await verified(store) == []


async def test_words_are_searched_in_title_link_and_content(ask, token, ruled):  # M10
    ruled('[words]\nrefuse = ["spam"]\n[domains]\nrefuse = ["bad.example"]')

    assert await refusal(ask, POST, token, title="Spam") == ("words", ["input", "title"], {})
    assert await refusal(ask, POST, token, content="spam") == ("words", ["input", "content"], {})
    assert await refusal(ask, POST, token, link="https://a.bad.example/") == ("domains", ["input", "link"], {})
    await assert_accepted(ask, POST, token, link="https://good.example/")


async def test_text_that_one_rule_holds_and_another_refuses_is_refused(ask, token, ruled):  # M10
    ruled('[words]\nhold = ["spam"]\n[domains]\nrefuse = ["bad.example"]')

    assert (await refusal(ask, POST, token, content="spam of bad.example"))[0] == "domains"


async def test_first_texts_are_held_until_some_have_stood_or_were_approved(  # M10
    store, ask, token, alice, clock, ruled, moderator
):
    article = await post(store, alice)
    ruled("[first_texts]\nhold = 2")
    comment = partial(payload, ask, COMMENT, token, id=article.id)

    first, second, third = [await comment(content=text) for text in ("a first", "a second", "a third")]
    assert [each["heldBy"] for each in (first, second, third)] == ["first_texts"] * 3

    await comment_moderation.approve(store.site, OPERATOR, int(first["comment"]["id"].removeprefix("comment:")))
    assert (await comment(content="one was approved"))["heldBy"] == "first_texts"
    await comment_moderation.approve(store.site, OPERATOR, int(second["comment"]["id"].removeprefix("comment:")))
    await assert_accepted(ask, COMMENT, token, id=article.id, content="two were approved")
    await assert_accepted(ask, COMMENT, moderator, id=article.id, content="of a moderator")


async def test_texts_without_a_flag_count_after_a_day(store, ask, token, alice, clock, ruled):  # M10
    stood = [await post(store, "vera"), await post(store, "vera")]
    article = await post(store, alice)
    ruled("[first_texts]\nhold = 2")
    held = await payload(ask, COMMENT, token, id=article.id, content="no day has passed")
    await flags.flag(store.site, alice, "article", stood[0].number, FlagReason.SPAM)
    token = await a_day_later(store, clock)
    flagged = await payload(ask, COMMENT, token, id=article.id, content="one of them is flagged")
    await flags.unflag(store.site, alice, "article", stood[0].number)

    await assert_accepted(ask, COMMENT, token, id=article.id, content="both have stood")
    assert [held["heldBy"], flagged["heldBy"]] == ["first_texts"] * 2


async def test_votes_downvotes_and_flags_take_age_and_karma(store, ask, token, alice, bob, clock, ruled):  # M10
    article, carol = await post(store, alice), await registered(store, "carol")
    comment = (await store.comments.post(article.number, parent=None, poster=alice, content="a text")).comment
    ruled(f"[votes]\nleast_age_days = 1\n[downvotes]\n{LEAST}\n[flagging]\nleast_karma = 1")
    up, down = partial(refusal, ask, VOTE, token, id=article.id), {"id": comment.id, "value": "DOWN"}
    assert await up(value="UP") == (
        "votes", None, {"least_age_days": "1", "least_karma": "0", "age_days": "0", "karma": "0"},
    )  # fmt: skip
    assert (await up(value="DOWN"))[0] == "votes"
    assert (await refusal(ask, FLAG, token, id=article.id))[0] == "flagging"
    await assert_accepted(ask, VOTE, token, id=article.id, value="NONE")
    token = await a_day_later(store, clock)
    await assert_accepted(ask, VOTE, token, id=article.id, value="UP")
    assert (await refusal(ask, VOTE_ON_COMMENT, token, **down))[0] == "downvotes"
    token = await a_day_later(store, clock)
    own = await post(store, "vera")
    assert (await refusal(ask, FLAG, token, id=article.id))[0] == "flagging"
    for voter in (alice, bob):
        await store.articles.vote(own.number, voter, Vote.UP)
    await assert_accepted(ask, FLAG, token, id=article.id)
    assert await refusal(ask, VOTE_ON_COMMENT, token, **down) == (
        "downvotes", None, {"least_age_days": "2", "least_karma": "3", "age_days": "2", "karma": "2"},
    )  # fmt: skip
    await store.articles.vote(own.number, carol, Vote.UP)

    await assert_accepted(ask, VOTE_ON_COMMENT, token, **down)


async def test_texts_of_a_day_have_a_limit_by_age(store, ask, token, alice, clock, ruled):  # M10
    article = await post(store, alice)
    ruled("[[texts_a_day]]\nyounger_than_days = 7\nmost = 3\n[[texts_a_day]]\nyounger_than_days = 1\nmost = 2")
    comment = partial(payload, ask, COMMENT, token, id=article.id)
    assert (await refusal_of(comment(content=" ")))["code"] == "INVALID"  # does not count
    first = await comment(content="a", key="a key")
    assert (await payload(ask, POST, token))["userErrors"] == []
    free_at = str(clock.now + DAY * 1000 + 1)

    assert await refusal(ask, COMMENT, token, id=article.id, content="c") == (
        "texts_a_day", None, {"most": "2", "younger_than_days": "1", "free_at": free_at},
    )  # fmt: skip
    again = await comment(content="a", key="a key")
    assert (again["replayed"], again["comment"], again["userErrors"]) == (True, first["comment"], [])
    token = await a_day_later(store, clock)
    for content in ("d", "e", "f"):
        await assert_accepted(ask, COMMENT, token, id=article.id, content=content)
    assert (await refusal(ask, POST, token, title="g"))[2]["most"] == "3"
    clock.advance(5 * DAY)
    token = await a_day_later(store, clock)
    for content in ("h", "i", "j", "k"):
        await assert_accepted(ask, COMMENT, token, id=article.id, content=content)


async def a_day_later(store, clock):
    """The token of a new session of vera, as the old one has ended."""
    clock.advance(DAY + 1)
    return (await store.sessions.open("vera")).token


async def refusal_of(mutation):
    """The only error of a payload that is awaited."""
    (error,) = (await mutation)["userErrors"]
    return error


async def test_limits_hold_for_two_processes_at_once(  # M10
    store, redis_url, partitions, clock, token, alice, tmp_path
):
    other = await Store.open(redis_url, partitions=partitions, clock=clock)
    article = await post(store, alice)
    stores = (store, other)
    for each in stores:
        set_rules(each, tmp_path, "[[texts_a_day]]\nyounger_than_days = 1\nmost = 4\n[repeated_text]\nmost = 2")
    same = "the very same words, again and again"

    async def comment(number, content):
        context = Context(stores[number % 2], token)
        variables = {"id": article.id, "content": content, "key": f"{number} {content[:5]}"}
        answer = await SCHEMA.execute(COMMENT, variables, context)
        errors = answer.data["comment"]["userErrors"]
        return errors[0]["rule"] if errors else None

    repeated = await asyncio.gather(*(comment(n, same) for n in range(12)))
    others = await asyncio.gather(*(comment(n, f"text {n}") for n in range(12)))
    await other.close()

    assert sorted(map(str, repeated)).count("None") == 2
    assert set(repeated) <= {None, "repeated_text", "texts_a_day"}
    assert sorted(map(str, others)) == ["None"] * 2 + ["texts_a_day"] * 10


async def test_registrations_from_an_address_have_a_limit(store, ruled, clock):  # M10
    ruled("[registrations]\na_day = 2")

    async def register(name, address="192.0.2.1"):
        answer = await SCHEMA.execute(REGISTER, {"name": name}, Context(store, address=address))
        return [(each["rule"], each["code"]) for each in answer.data["register"]["userErrors"]]

    first = await asyncio.gather(*(register(f"user-{n}") for n in range(4)))

    assert sorted(first) == [[], [], [("registrations", "RULE")], [("registrations", "RULE")]]
    assert await register("another", "192.0.2.2") == []
    clock.advance(DAY + 1)
    assert await register("another") == [(None, "USERNAME_TAKEN")]
    assert [await register(f"later-{n}") for n in range(3)] == [[], [], [("registrations", "RULE")]]


async def test_edit_that_breaks_a_rule_changes_nothing(store, ask, token, redis, ruled, moderator):  # M10
    article = await post(store, "vera")
    comment = (await store.comments.post(article.number, parent=None, poster="vera", content="a text")).comment
    ruled('[words]\nrefuse = ["spam"]\n[[texts_a_day]]\nyounger_than_days = 9\nmost = 1')
    before = everything(redis)

    assert await refusal(ask, EDIT, token, id=article.id, title="spam") == ("words", ["input", "title"], {})
    assert (await refusal(ask, EDIT_COMMENT, token, id=comment.id, content="spam"))[0] == "words"
    assert everything(redis) == before
    await assert_accepted(ask, EDIT, token, id=article.id, title="a better title")
    await assert_accepted(ask, EDIT_COMMENT, token, id=comment.id, content="a better text")


async def test_pending_text_takes_an_edit_that_is_held(store, ask, token, alice, ruled):  # M10
    ruled('[words]\nhold = ["maybe"]\nrefuse = ["spam"]')
    article = (await payload(ask, POST, token, content="maybe"))["article"]
    shown = await post(store, alice)
    comment = (await payload(ask, COMMENT, token, id=shown.id, content="maybe"))["comment"]

    edited = await payload(ask, EDIT, token, id=article["id"], content="maybe not")
    answer = await payload(ask, EDIT_COMMENT, token, id=comment["id"], content="maybe not")

    assert (edited["article"]["content"], edited["heldBy"]) == ("maybe not", "words")
    assert (answer["comment"]["content"], answer["heldBy"]) == ("maybe not", "words")
    assert (await refusal(ask, EDIT, token, id=article["id"], content="spam"))[0] == "words"


async def test_without_rules_about_texts_a_comment_costs_the_same(store, ask, token, alice, ruled):
    article = await post(store, alice)
    plain = await ask(COMMENT, token, id=article.id, content="a", key="a")
    ruled("[flags]\nhide_at = 3")

    other = await ask(COMMENT, token, id=article.id, content="b", key="b")

    assert other["extensions"] == plain["extensions"]


async def test_whoever_may_not_write_is_told_so_before_any_rule(store, ask, token, alice, ruled):
    article = await post(store, alice)
    ruled('[words]\nrefuse = ["spam"]\n[votes]\nleast_karma = 1')

    for query, given in ((POST, {"title": "spam"}), (VOTE, {"id": article.id, "value": "UP"})):
        (error,) = (await payload(ask, query, token=None, **given))["userErrors"]
        assert (error["code"], error["rule"], error["params"]) == ("UNAUTHENTICATED", None, [])


async def test_role_in_a_group_exempts_from_rules_too(store, ask, token, ruled):
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group="lua", reason="helps")
    ruled('[words]\nrefuse = ["spam"]\n[first_texts]\nhold = 1')

    await assert_accepted(ask, POST, token, title="spam")
