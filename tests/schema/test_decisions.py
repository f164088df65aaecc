"""
The fields `removal` of articles and comments, and `lock` of articles: the action by which a moderator has hidden or
locked them.

Codes such as M4 name rows of docs/behaviours.md.
"""

import pytest

from store import article_moderation, comment_moderation, purges, reverts, roles
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

ACTION = "{ id kind reason moderator { username } }"
READ = f"query($id: ID!) {{ article(id: $id) {{ state removal {ACTION} isLocked lock {ACTION} }} }}"
HELD = f"{{ held {{ nodes {{ id removal {ACTION} }} }} }}"
THREAD = f"""query($id: ID!) {{ article(id: $id) {{ thread {{ nodes {{
  id state content removal {ACTION} }} }} }} }}"""
COMMENT = """mutation($article: ID!, $parent: ID, $text: String!) {
  comment(input: {articleId: $article, parentId: $parent, content: $text}) { comment { id } userErrors { code } } }"""
MODERATORS = """query($first: Int, $after: String) { siteModerators(first: $first, after: $after) {
  totalCount nodes { username roles { role group { name } } } pageInfo { endCursor hasNextPage } } }"""


@pytest.fixture
async def article(store, alice):
    return await post(store, alice, groups=["show", "ask"])


@pytest.fixture
async def owner(store, alice):
    """The token of the poster of `article`."""
    return (await store.sessions.open(alice)).token


def remove(store, number, reason, group=None):
    return article_moderation.remove(store.site, OPERATOR, number, group=group, reason=reason)


def shown_action(done):
    """A moderator's action as `ACTION` reads it."""
    action = done.action
    return {"id": action.id, "kind": action.kind.name, "reason": action.reason, "moderator": {"username": "operator"}}


async def test_removed_article_says_why(store, ask, article, owner):
    shown = (await ask(READ, owner, id=article.id))["data"]["article"]
    assert shown == {"state": "VISIBLE", "removal": None, "isLocked": False, "lock": None}
    first = await remove(store, article.number, "spam")
    await reverts.revert(store.site, OPERATOR, first.action.number, "a mistake")
    in_force = await remove(store, article.number, "spam after all")
    await article_moderation.lock(store.site, OPERATOR, article.number, group=None, reason="heated")

    found = (await ask(READ, owner, id=article.id))["data"]["article"]

    assert (found["state"], found["removal"]) == ("REMOVED", shown_action(in_force))
    assert (await ask(READ, id=article.id))["data"]["article"] is None
    assert (await ask(HELD, owner))["data"]["held"]["nodes"] == [{"id": article.id, "removal": shown_action(in_force)}]


async def test_purged_article_says_why(store, ask, article, owner):
    done = await purges.purge(store.site, OPERATOR, article.number, "an address")

    found = (await ask(READ, owner, id=article.id))["data"]["article"]
    assert (found["state"], found["removal"]) == ("REMOVED", shown_action(done))


async def test_article_out_of_a_group_is_not_removed(store, ask, article, owner):
    in_force = await remove(store, article.number, "spam")
    await remove(store, article.number, "not for this group", group="show")

    assert (await ask(READ, owner, id=article.id))["data"]["article"]["removal"] == shown_action(in_force)


async def test_locked_article_says_why_until_the_last_lock_is_reverted(store, ask, article):  # M4
    locked = await article_moderation.lock(store.site, OPERATOR, article.number, group=None, reason="heated")

    assert (await ask(READ, id=article.id))["data"]["article"]["lock"] == shown_action(locked)
    await reverts.revert(store.site, OPERATOR, locked.action.number, "calm again")
    assert (await ask(READ, id=article.id))["data"]["article"]["lock"] is None


async def test_removed_comment_says_why_to_everybody_in_its_thread(ask, store, article, owner):  # M2
    async def comment(text, parent=None):
        given = {"article": article.id, "text": text, "parent": parent}
        return (await ask(COMMENT, owner, **given))["data"]["comment"]["comment"]["id"]

    rude = await comment("rude")
    answer = await comment("an answer", rude)
    number = int(rude.partition(":")[2])
    removed = await comment_moderation.remove(store.site, OPERATOR, number, group="show", reason="be kind")

    nodes = (await ask(THREAD, id=article.id))["data"]["article"]["thread"]["nodes"]

    assert nodes == [
        {"id": rude, "state": "REMOVED", "content": None, "removal": shown_action(removed)},
        {"id": answer, "state": "VISIBLE", "content": "an answer", "removal": None},
    ]


async def test_reasons_of_a_visible_article_cost_no_round_trip(ask, article):
    plain = READ.replace(f"removal {ACTION}", "").replace(f"lock {ACTION}", "")

    async def trips(query):
        return (await ask(query, id=article.id))["extensions"]["stats"]["roundTrips"]

    await trips(READ)
    assert await trips(READ) == await trips(plain)


async def test_moderators_of_the_site_are_listed_page_by_page(store, ask, alice, bob, clock):
    given = ((alice, Role.ADMIN, None), (bob, Role.MODERATOR, None), (alice, Role.MODERATOR, "show"))
    for username, role, group in given:
        clock.advance(1)
        await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a reason")

    first = (await ask(MODERATORS, first=1))["data"]["siteModerators"]
    second = (await ask(MODERATORS, first=1, after=first["pageInfo"]["endCursor"]))["data"]["siteModerators"]

    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (2, True)
    assert first["nodes"] == [{"username": bob, "roles": [{"role": "MODERATOR", "group": None}]}]
    assert second["nodes"][0]["username"] == alice
    assert {"role": "ADMIN", "group": None} in second["nodes"][0]["roles"]


async def test_wrong_page_of_moderators_is_an_error(ask):
    (error,) = (await ask(MODERATORS, first=0))["errors"]

    assert (error["message"], error["extensions"]["code"]) == ("first is 1 to 100, not 0", "BAD_USER_INPUT")
