"""
Edits that a rule of the site holds: the old text stands for everybody until a moderator approves the new one. It is
vera who edits, with the session `token`. `listen` subscribes with a document of tests/schema/subscribers.py, such as
CHANGED, and `value()` of what it returns waits for the next value.

Codes such as M10 name rows of docs/behaviours.md.
"""

import asyncio
from functools import partial

import pytest

from store import flags, keys, reverts
from store.articles import Draft
from store.errors import Invalid
from store.flags import FlagReason
from store.held_edits import HELD_EDIT
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.conftest import registered
from tests.schema.moderators import QUEUE_CHANGED, signed_in
from tests.schema.subscribers import CHANGED, COMMENT_CHANGED
from tests.store.held import holding
from tests.store.reading import post, verified
from tests.store.rule_files import set_rules

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

ERRORS = "userErrors { code message rule }"
TEXTS = "heldEdit { title link content heldBy at }"
EDIT = f"""mutation($id: ID!, $title: String, $link: URL, $content: String) {{
  editArticle(input: {{articleId: $id, title: $title, link: $link, content: $content}}) {{
    article {{ id title link content editedAt {TEXTS} }} heldBy {ERRORS} }} }}"""
EDIT_COMMENT = f"""mutation($id: ID!, $content: String!) {{
  editComment(input: {{commentId: $id, content: $content}}) {{
    comment {{ id content editedAt {TEXTS} }} heldBy {ERRORS} }} }}"""
APPROVE = f"mutation($id: ID!) {{ approveContent(input: {{subjectId: $id}}) {{ changed action {{ id }} {ERRORS} }} }}"
REMOVE = f'mutation($id: ID!) {{ removeContent(input: {{subjectId: $id, reason: "r"}}) {{ changed {ERRORS} }} }}'
REJECT = f"""mutation($id: ID!) {{
  rejectEdit(input: {{subjectId: $id, reason: "an advertisement"}}) {{
    changed action {{ id kind reason }} {ERRORS} }} }}"""
DELETE = f"mutation($id: ID!) {{ deleteArticle(input: {{articleId: $id}}) {{ {ERRORS} }} }}"
DELETE_COMMENT = f"mutation($id: ID!) {{ deleteComment(input: {{commentId: $id}}) {{ {ERRORS} }} }}"
REGROUP = f"""mutation($id: ID!) {{
  regroupArticle(input: {{articleId: $id, add: ["show"], remove: ["go"]}}) {{ article {{ id }} {ERRORS} }} }}"""
QUEUE = f"""query($group: String) {{ moderationQueue(kind: PENDING, group: $group) {{ totalCount
  edges {{ heldBy since node {{ id {TEXTS} ... on Article {{ title }} ... on Comment {{ content }} }} }} }} }}"""
NODE = f"""query($id: ID!) {{ node(id: $id) {{
  ... on Article {{ title content state editedAt {TEXTS} }} ... on Comment {{ content state editedAt {TEXTS} }} }} }}"""
ONE_FLAG_HIDES = "[flags]\nhide_at = 1\nleast_age_days = 0\nleast_karma = 0\nleast_voters = 0\nlast_flags = 0"  # a rule
INBOX = "{ inbox { notifications { nodes { kind at subject { id } } } } }"
LATER = "2016-08-04T11:52:05.000Z"  # five seconds after the clock of tests begins


@pytest.fixture
def ruled(store, tmp_path):
    """`ruled(text)` gives the site a file of rules with this text, in TOML."""
    return partial(set_rules, store, tmp_path)


@pytest.fixture
async def moderator(store):
    """The token of a moderator of the whole site."""
    return await signed_in(store, "sam", Role.MODERATOR)


@pytest.fixture
async def article(store):
    return await post(store, "vera", groups=["go"])


@pytest.fixture
async def comment(store, article):
    return (await store.comments.post(article.number, parent=None, poster="vera", content="a text")).comment


async def payload(ask, query, token, **variables):
    """The value of the only root field of a query, which has no errors."""
    answer = await ask(query, token, **variables)
    assert "errors" not in answer
    ((_, found),) = answer["data"].items()
    return found


async def held(ask, token, subject, content="maybe"):
    """Edit an article or a comment to a content that the rule about words holds, and return the payload."""
    query = EDIT if subject.id.startswith("article") else EDIT_COMMENT
    found = await payload(ask, query, token, id=subject.id, content=content)
    assert (found["heldBy"], found["userErrors"]) == ("words", [])
    return found


async def queue(ask, token, group=None):
    """What waits: the id of each article and comment, and the rule that holds it."""
    found = await payload(ask, QUEUE, token, group=group)
    assert found["totalCount"] == len(found["edges"])
    return [(each["node"]["id"], each["heldBy"]) for each in found["edges"]]


async def inbox(ask, token):
    """The kind, the time and the id of the subject of each notification."""
    nodes = (await payload(ask, INBOX, token))["notifications"]["nodes"]
    return [(each["kind"], each["at"], each["subject"]["id"]) for each in nodes]


async def test_old_text_stands_for_everybody_until_the_edit_is_approved(  # M10
    store, ask, token, ruled, moderator, article, listen, clock
):
    ruled('[words]\nhold = ["maybe"]')
    mentioned = {name: await signed_in(store, name) for name in ("bert", "cleo", "dora")}
    changed = await listen(CHANGED, id=article.id)
    waiting = await listen(QUEUE_CHANGED, moderator)
    clock.advance(2)

    content = f"maybe {' '.join(f'@{name}' for name in mentioned)}"
    edited = await payload(ask, EDIT, token, id=article.id, title="new", content=content, link="https://new.example/")

    texts = {"title": "new", "link": "https://new.example/", "content": content, "heldBy": "words"}
    texts |= {"at": "2016-08-04T11:52:02.000Z"}
    assert (edited["heldBy"], edited["userErrors"]) == ("words", [])
    old = {"id": article.id, "title": article.title, "link": article.link, "content": article.content, "editedAt": None}
    assert edited["article"] == old | {"heldEdit": texts}
    shown = {"title": article.title, "content": article.content, "state": "VISIBLE", "editedAt": None}
    readers = ((moderator, texts), (token, texts), (mentioned["bert"], None), (None, None), (moderator, texts))
    for reader, edit in readers:
        assert await payload(ask, NODE, reader, id=article.id) == shown | {"heldEdit": edit}
    (edge,) = (await payload(ask, QUEUE, moderator))["edges"]
    assert edge == {
        "heldBy": "words", "since": texts["at"],
        "node": {"id": article.id, "title": article.title, "heldEdit": texts},
    }  # fmt: skip
    assert await waiting.value() == 1
    assert [await inbox(ask, each) for each in mentioned.values()] == [[]] * 3
    assert await verified(store) == []

    clock.advance(3)
    approved = await payload(ask, APPROVE, moderator, id=article.id)

    assert (approved["changed"], approved["userErrors"]) == (True, [])
    assert (await changed.value())["title"] == "new"  # and nothing before
    assert await waiting.value() == 0
    now = {"title": "new", "content": content, "state": "VISIBLE", "editedAt": LATER, "heldEdit": None}
    for reader in (moderator, token, mentioned["bert"], None):
        assert await payload(ask, NODE, reader, id=article.id) == now
    assert [await inbox(ask, each) for each in mentioned.values()] == [[("MENTION", LATER, article.id)]] * 3
    assert await inbox(ask, token) == [("MODERATION", LATER, approved["action"]["id"])]
    found = await ask('{ articlesByLink(link: "https://new.example/") { nodes { id } } }')
    assert found["data"]["articlesByLink"]["nodes"] == [{"id": article.id}]
    assert await queue(ask, moderator) == []
    again = await payload(ask, APPROVE, moderator, id=article.id)
    assert (again["changed"], again["action"]) == (False, approved["action"])
    assert await verified(store) == []


async def test_old_comment_stands_for_everybody_until_the_edit_is_approved(  # M10
    store, ask, token, ruled, moderator, article, comment, listen, clock
):
    ruled('[words]\nhold = ["maybe"]')
    mentioned = {name: await signed_in(store, name) for name in ("bert", "cleo", "dora")}
    changed = await listen(COMMENT_CHANGED, id=article.id)
    clock.advance(2)

    content = f"maybe {' '.join(f'@{name}' for name in mentioned)}"
    edited = await held(ask, token, comment, content)

    texts = {"title": None, "link": None, "content": content, "heldBy": "words", "at": "2016-08-04T11:52:02.000Z"}
    assert edited["comment"] == {"id": comment.id, "content": "a text", "editedAt": None, "heldEdit": texts}
    shown = {"content": "a text", "state": "VISIBLE", "editedAt": None}
    for reader, edit in ((moderator, texts), (token, texts), (mentioned["bert"], None), (None, None)):
        assert await payload(ask, NODE, reader, id=comment.id) == shown | {"heldEdit": edit}
    assert await queue(ask, moderator) == [(comment.id, "words")]
    assert await verified(store) == []

    clock.advance(3)
    approved = await payload(ask, APPROVE, moderator, id=comment.id)

    assert (approved["changed"], approved["userErrors"]) == (True, [])
    assert (await changed.value())["content"] == content
    now = {"content": content, "state": "VISIBLE", "editedAt": LATER, "heldEdit": None}
    for reader in (moderator, token, mentioned["bert"], None):
        assert await payload(ask, NODE, reader, id=comment.id) == now
    assert [await inbox(ask, each) for each in mentioned.values()] == [[("MENTION", LATER, comment.id)]] * 3
    assert await inbox(ask, token) == [("MODERATION", LATER, approved["action"]["id"])]
    assert await queue(ask, moderator) == []
    assert await verified(store) == []


@pytest.mark.parametrize("kind", ["article", "comment"])
class TestEither:
    """Of an article and of a comment."""

    async def test_rejected_edit_is_dropped_and_the_poster_is_told(  # M10
        self, store, ask, token, ruled, moderator, article, comment, clock, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]')
        await held(ask, token, subject)
        clock.advance(5)

        rejected = await payload(ask, REJECT, moderator, id=subject.id)

        assert (rejected["changed"], rejected["userErrors"]) == (True, [])
        assert rejected["action"] | {"id": ""} == {"id": "", "kind": "REJECT_EDIT", "reason": "an advertisement"}
        assert (await payload(ask, NODE, token, id=subject.id))["content"] == subject.content
        assert (await payload(ask, NODE, token, id=subject.id))["heldEdit"] is None
        assert await queue(ask, moderator) == []
        assert await inbox(ask, token) == [("MODERATION", LATER, rejected["action"]["id"])]
        again = await payload(ask, REJECT, moderator, id=subject.id)
        assert (again["changed"], again["action"]) == (False, rejected["action"])
        with pytest.raises(Invalid, match="REJECT_EDIT cannot be reverted"):
            await reverts.revert(store.site, OPERATOR, int(rejected["action"]["id"].split(":")[1]), "r")
        assert await verified(store) == []

    async def test_only_others_who_moderate_the_place_reject(  # M5, M10
        self, store, ask, token, ruled, article, comment, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        elsewhere, here = [await signed_in(store, name, Role.MODERATOR, name) for name in ("show", "go")]
        ruled('[words]\nhold = ["maybe"]')
        await held(ask, token, subject)

        for reader in (token, elsewhere):
            for mutation in (REJECT, APPROVE):
                refused = await payload(ask, mutation, reader, id=subject.id)
                assert {each["code"] for each in refused["userErrors"]} == {"NOT_A_MODERATOR"}
        assert (await payload(ask, NODE, elsewhere, id=subject.id))["heldEdit"] is None
        assert await queue(ask, elsewhere) == []
        assert await queue(ask, here) == await queue(ask, here, "go") == [(subject.id, "words")]
        assert (await payload(ask, NODE, here, id=subject.id))["heldEdit"]["content"] == "maybe"
        assert (await payload(ask, REJECT, here, id=subject.id))["changed"]

    async def test_further_edit_replaces_the_one_that_waits(  # M10
        self, ask, token, ruled, moderator, article, comment, listen, store, clock, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]\nrefuse = ["spam"]')
        await held(ask, token, subject, "maybe")
        clock.advance(5)
        await held(ask, token, subject, "maybe not")
        edit = EDIT if kind == "article" else EDIT_COMMENT
        refused = await payload(ask, edit, token, id=subject.id, content="spam")
        assert [each["rule"] for each in refused["userErrors"]] == ["words"]
        found = await payload(ask, NODE, token, id=subject.id)
        assert (found["heldEdit"]["content"], found["heldEdit"]["at"]) == ("maybe not", LATER)
        assert await queue(ask, moderator) == [(subject.id, "words")]

        waiting = await listen(QUEUE_CHANGED, moderator)
        passed = await payload(ask, edit, token, id=subject.id, content="certainly")

        assert (passed["heldBy"], passed[kind]["content"], passed[kind]["heldEdit"]) == (None, "certainly", None)
        assert await waiting.value() == 0
        assert await queue(ask, moderator) == []
        assert not (await payload(ask, REJECT, moderator, id=subject.id))["changed"]
        assert await verified(store) == []

    async def test_text_that_is_removed_or_deleted_drops_its_edit(  # M10
        self, store, redis, ask, token, ruled, moderator, article, comment, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]')
        await held(ask, token, subject)
        await payload(ask, REMOVE, moderator, id=subject.id)
        assert await queue(ask, moderator) == []
        assert (await payload(ask, NODE, moderator, id=subject.id))["heldEdit"] is None
        await payload(ask, APPROVE, moderator, id=subject.id)
        assert (await payload(ask, NODE, token=None, id=subject.id))["content"] == subject.content
        await held(ask, token, subject)

        await payload(ask, DELETE if kind == "article" else DELETE_COMMENT, token, id=subject.id)

        assert await queue(ask, moderator) == await queue(ask, moderator, "go") == []
        assert not redis.exists(HELD_EDIT(store.site.partition_of_article(subject.number), subject.number))
        assert await verified(store) == []

    async def test_edit_waits_in_the_groups_that_its_article_has_now(  # M10
        self, store, ask, token, ruled, moderator, article, comment, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]')
        await held(ask, token, subject)

        await payload(ask, REGROUP, token, id=article.id)

        assert await queue(ask, moderator, "go") == []
        assert await queue(ask, moderator, "show") == await queue(ask, moderator) == [(subject.id, "words")]
        assert await verified(store) == []

    async def test_approval_protects_the_new_text_and_an_edit_ends_that(  # M6, M10
        self, store, ask, token, ruled, moderator, article, comment, clock, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        edit = EDIT if kind == "article" else EDIT_COMMENT
        ruled('[words]\nhold = ["maybe"]\n' + ONE_FLAG_HIDES)
        await held(ask, token, subject)
        await payload(ask, APPROVE, moderator, id=subject.id)
        clock.advance(1)
        flagger = await registered(store, "fred")

        shown = await flags.flag(store.site, flagger, kind, subject.number, FlagReason.SPAM)
        assert shown.subject is not None
        clock.advance(1)
        await payload(ask, edit, token, id=subject.id, content="certainly")
        hidden = await flags.flag(store.site, flagger, kind, subject.number, FlagReason.ABUSE)
        assert hidden.subject is None
        assert await queue(ask, moderator) == [(subject.id, None)]  # hidden by flags: by no rule that holds texts

        direct = await held(ask, token, subject)  # what is pending takes it at once
        assert (direct[kind]["content"], direct[kind]["heldEdit"]) == ("maybe", None)
        assert await queue(ask, moderator) == [(subject.id, "words")]
        assert await verified(store) == []

    async def test_edit_that_waits_while_flags_hide_the_text_is_in_the_queue_once(  # M6, M10
        self, store, ask, token, ruled, moderator, article, comment, clock, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]\n' + ONE_FLAG_HIDES)
        await held(ask, token, subject)
        flagger = await registered(store, "fred")
        await flags.flag(store.site, flagger, kind, subject.number, FlagReason.SPAM)
        assert await queue(ask, moderator) == [(subject.id, None)]
        assert await verified(store) == []

        rejected = await payload(ask, REJECT, moderator, id=subject.id)
        assert rejected["changed"]
        assert await queue(ask, moderator) == [(subject.id, None)]  # the text itself waits on
        assert await verified(store) == []

        await payload(ask, APPROVE, moderator, id=subject.id)
        assert await queue(ask, moderator) == []
        assert (await payload(ask, NODE, token=None, id=subject.id))["content"] == subject.content
        assert await verified(store) == []

    async def test_edits_approvals_and_rejections_at_once_leave_one_outcome(  # M10
        self, store, redis, ask, token, ruled, moderator, article, comment, kind
    ):
        subject = {"article": article, "comment": comment}[kind]
        ruled('[words]\nhold = ["maybe"]')
        edit = EDIT if kind == "article" else EDIT_COMMENT
        edits = [payload(ask, edit, token, id=subject.id, content=f"maybe {n}") for n in range(8)]
        decisions = [payload(ask, each, moderator, id=subject.id) for each in (APPROVE, REJECT) * 4]

        await asyncio.gather(*(each for pair in zip(edits, decisions, strict=True) for each in pair))

        found = await payload(ask, NODE, moderator, id=subject.id)
        waits = [(subject.id, "words")] if found["heldEdit"] else []
        assert await queue(ask, moderator) == waits
        assert found["content"] in {subject.content, *(f"maybe {n}" for n in range(8))}
        assert await verified(store) == []


async def test_edit_of_a_comment_leaves_the_groups_queue_with_its_article(
    store, ask, token, ruled, moderator, comment, article
):  # M10
    ruled('[words]\nhold = ["maybe"]')
    await held(ask, token, comment)

    await payload(ask, DELETE, token, id=article.id)

    assert await queue(ask, moderator, "go") == await queue(ask, moderator) == []
    assert await verified(store) == []


async def test_edit_that_waits_in_no_queue_is_found_and_put_there(  # M10
    store, redis, ask, token, ruled, moderator, article, comment
):
    ruled('[words]\nhold = ["maybe"]')
    for subject in (article, comment):
        await held(ask, token, subject)
    waits = await queue(ask, moderator)
    partition = store.site.partition_of_article(article.number)
    redis.delete(*(flags.QUEUE(partition, "pending", scope) for scope in ("all", "group:go")))

    assert len(await verified(store, repair=True)) == 4  # each of the two in both queues
    assert await queue(ask, moderator) == await queue(ask, moderator, "go") == waits
    assert await verified(store) == []


async def test_entry_of_an_edit_that_waits_has_nothing_of_its_text(store, redis, ask, token, ruled, article):  # M10
    ruled('[words]\nhold = ["maybe"]')
    partition = store.site.partition_of_article(article.number)
    last = redis.xinfo_stream(keys.log(partition))["last-generated-id"]

    await held(ask, token, article, "maybe a secret")

    ((_, fields),) = redis.xrange(keys.log(partition), f"({last}")
    assert fields["kind"] == "edit_held"
    assert "secret" not in str(fields)


async def test_text_that_the_check_holds_names_it_in_the_queue(store, ask, token, moderator, article):  # M10
    with holding(store):
        edited = await payload(ask, EDIT, token, id=article.id, content="a better text")

    assert edited["heldBy"] == "check"
    assert await queue(ask, moderator) == [(article.id, "check")]


async def test_rule_that_holds_a_text_is_known_until_it_is_approved(
    store, ask, token, ruled, moderator, article
):  # M10
    ruled('[words]\nhold = ["maybe"]')
    post_it = """mutation { post(input: {title: "maybe", content: "a", idempotencyKey: "k"}) {
      article { id state } heldBy replayed userErrors { code } } }"""
    answer = """mutation($id: ID!) { comment(input: {articleId: $id, content: "maybe", idempotencyKey: "k"}) {
      comment { id state } heldBy replayed userErrors { code } } }"""
    for query, kind in ((post_it, "article"), (answer, "comment")):
        first = await payload(ask, query, token, id=article.id)
        ruled("[flags]\nhide_at = 9")
        again = await payload(ask, query, token, id=article.id)

        assert (first["heldBy"], first["replayed"]) == ("words", False)
        assert again == first | {"replayed": True}
        assert await queue(ask, moderator) == [(first[kind]["id"], "words")]
        await payload(ask, APPROVE, moderator, id=first[kind]["id"])
        approved = await payload(ask, query, token, id=article.id)
        assert (approved["heldBy"], approved[kind]["state"]) == (None, "VISIBLE")
        ruled('[words]\nhold = ["maybe"]')
    assert await verified(store) == []


@pytest.mark.parametrize("kind", ["article", "comment", "edit"])
async def test_moderators_of_the_place_read_why_the_check_holds_a_text(store, ask, token, article, kind):
    of_site = await signed_in(store, "sam", Role.MODERATOR)
    of_group = await signed_in(store, "gus", Role.MODERATOR, "go")
    elsewhere, stranger = await signed_in(store, "eve", Role.MODERATOR, "lua"), await signed_in(store, "bert")
    with holding(store, "it names\na shop"):
        if kind == "article":
            posted = (await store.articles.post("vera", Draft("a title", content="a text", groups=("go",)))).article
        elif kind == "comment":
            posted = (
                await store.comments.post(article.number, parent=None, poster="vera", content="an answer")
            ).comment
        else:
            posted = (await store.articles.edit(article.number, "vera", {"title": "another"})).article

    rule = None if kind == "edit" else "check"  # then it is `heldBy` of the edit
    query = "query($id: ID!) { node(id: $id) { ... on Votable { heldBy heldReason } } }"
    for reader in (of_site, of_group):
        found = await payload(ask, query, reader, id=posted.id)
        assert found == {"heldBy": rule, "heldReason": "it names\na shop"}
    assert await payload(ask, query, token, id=posted.id) == {"heldBy": rule, "heldReason": None}
    for other in (elsewhere, stranger, None):
        found = await payload(ask, query, other, id=posted.id)
        assert found in (None, {"heldBy": None, "heldReason": None})
    assert await queue(ask, of_group, "go") == [(posted.id, "check")]
    assert await verified(store) == []

    await payload(ask, APPROVE, of_site, id=posted.id)
    assert await payload(ask, query, of_site, id=posted.id) == {"heldBy": None, "heldReason": None}
