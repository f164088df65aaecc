"""
Groups: what is written about them, which are listed, and which take articles.

The fixture `token` is a session token of the user vera.
"""

import pytest

from store import roles
from store.moderation_records import Role
from store.roles import OPERATOR
from store.store import Store
from tests.schema.conftest import Ask
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

GROUP = "query($name: String!) { group(name: $name) { id name title about articles { totalCount } } }"
GROUPS = "{ groups { totalCount nodes { name title } } }"
PAGE = "{ articles(first: 25) { nodes { title groups { name } } } }"
PAGE_WITH_TITLES = "{ articles(first: 25) { nodes { title groups { name title about } } } }"
POST = """mutation($groups: [String!]) {
  post(input: {title: "a title", content: "text", groups: $groups}) {
    article { groups { name title } } userErrors { code field message } } }"""
REGROUP = """mutation($id: ID!, $add: [String!]) {
  regroupArticle(input: {articleId: $id, add: $add}) { article { id } userErrors { code field } } }"""

EDIT = """mutation($input: EditGroupInput!) { editGroup(input: $input) {
  group { name title about } userErrors { code field message } query { groups { totalCount } } } }"""
CHANGES = """subscription { changes(kinds: ["group_edited"]) { kind subjectId actorId fields { name value } } }"""


@pytest.fixture
async def store(redis_url, partitions, clock):
    """A store that takes articles into listed groups only, and caches nothing."""
    store = await Store.open(redis_url, partitions=partitions, clock=clock, cached_keys=0, only_listed_groups=True)
    yield store
    await store.close()


async def test_texts_of_a_group_are_shown(store, ask: Ask):
    await store.groups.add("lua", {"title": "Lua and its kin", "about": "Small *languages*."})

    assert (await ask(GROUP, name="LUA"))["data"]["group"] == {
        "id": "group:lua",
        "name": "lua",
        "title": "Lua and its kin",
        "about": "Small *languages*.",
        "articles": {"totalCount": 0},
    }
    listed = "query($name: String!) { group(name: $name) { isListed } }"
    assert [(await ask(listed, name=name))["data"]["group"]["isListed"] for name in ("lua", "show")] == [True, False]
    unknown = (await ask(GROUP, name="show"))["data"]["group"]
    assert (unknown["title"], unknown["about"]) == (None, None)


async def test_changed_texts_show_in_the_next_answer(store, ask: Ask):
    await store.groups.add("lua", {"title": "Lua"})
    before = (await ask(GROUP, name="lua"))["data"]["group"]["title"]
    await store.groups.add("lua", {"title": "Lua and its kin"})

    assert (before, (await ask(GROUP, name="lua"))["data"]["group"]["title"]) == ("Lua", "Lua and its kin")


async def test_listed_groups_are_in_the_list_of_groups_once(store, ask: Ask, alice):
    await store.groups.add("lua", {"title": "Lua"})
    await store.groups.add("ask")
    await post(store, alice, groups=["lua"])

    nodes = [{"name": "ask", "title": None}, {"name": "lua", "title": "Lua"}]
    assert (await ask(GROUPS))["data"]["groups"] == {"totalCount": 2, "nodes": nodes}

    await store.groups.remove("ask")
    assert (await ask(GROUPS))["data"]["groups"] == {"totalCount": 1, "nodes": nodes[1:]}


async def test_groups_that_are_not_listed_are_refused_with_their_paths(store, ask: Ask, token, redis):
    await store.groups.add("lua")
    posted = (await ask(POST, token, groups=["lua"]))["data"]["post"]
    assert (posted["article"], posted["userErrors"]) == ({"groups": [{"name": "lua", "title": None}]}, [])
    before = everything(redis)

    refused = (await ask(POST, token, groups=["lua", "show"]))["data"]["post"]
    (error,) = refused["userErrors"]
    assert (refused["article"], error["code"], error["field"]) == (None, "INVALID", ["input", "groups"])
    assert error["message"].startswith("the group show is not listed")
    (article,) = (await ask("{ articles { nodes { id } } }"))["data"]["articles"]["nodes"]
    regrouped = (await ask(REGROUP, token, id=article["id"], add=["show"]))["data"]["regroupArticle"]
    assert regrouped == {"article": None, "userErrors": [{"code": "INVALID", "field": ["input", "add"]}]}
    assert everything(redis) == before


async def test_page_reads_texts_of_groups_only_if_it_asks_for_them(store, ask: Ask, alice):
    """It reads each group once, and all of them in one round trip."""
    names = ["ask", "lua", "show"]
    for name in names:
        await store.groups.add(name, {"title": name.upper(), "about": "about it"})
    for _ in range(5):
        await post(store, alice, groups=names)
    await ask(PAGE_WITH_TITLES)  # connects and loads the script
    plain, titled = [(await ask(query))["extensions"]["stats"] for query in (PAGE, PAGE_WITH_TITLES)]

    assert plain == {"roundTrips": 2, "commands": store.site.partitions + 5}
    assert titled == {"roundTrips": 3, "commands": store.site.partitions + 5 + len(names)}
    (*_, last) = (await ask(PAGE_WITH_TITLES))["data"]["articles"]["nodes"]
    assert last["groups"] == [{"name": name, "title": name.upper(), "about": "about it"} for name in names]


async def test_moderator_edits_a_group_and_sees_it_at_once(store, ask: Ask, token):
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group="lua", reason="a reason")
    texts = {"title": "Lua", "about": "Small *languages*."}
    edited = (await ask(EDIT, token, input={"group": "Lua", **texts}))["data"]["editGroup"]
    changed = (await ask(EDIT, token, input={"group": "lua", "title": None}))["data"]["editGroup"]

    assert edited == {"group": {"name": "lua", **texts}, "userErrors": [], "query": {"groups": {"totalCount": 0}}}
    assert changed["group"] == {"name": "lua", "title": None, "about": "Small *languages*."}


async def test_edit_by_an_admin_makes_the_group(store, ask: Ask, token):
    await roles.grant(store.site, OPERATOR, "vera", Role.ADMIN, group=None, reason="a reason")
    edited = (await ask(EDIT, token, input={"group": "lua", "title": "Lua"}))["data"]["editGroup"]
    posted = (await ask(POST, token, groups=["lua"]))["data"]["post"]

    assert edited["query"] == {"groups": {"totalCount": 1}}
    assert posted["article"] == {"groups": [{"name": "lua", "title": "Lua"}]}


async def test_edit_is_refused_with_its_code_and_all_faults(store, ask: Ask, token, redis):
    before = everything(redis)
    given = {"group": "lua", "title": "Lua"}
    others = (await ask(EDIT, token, input=given))["data"]["editGroup"]
    nobodys = (await ask(EDIT, input=given))["data"]["editGroup"]
    malformed = (await ask(EDIT, token, input={"group": "a:b", "title": "x" * 101, "about": " "}))["data"]["editGroup"]

    assert everything(redis) == before
    assert [(each["code"], each["field"]) for each in others["userErrors"]] == [("NOT_A_MODERATOR", ["input", "group"])]
    assert [(each["code"], each["field"]) for each in nobodys["userErrors"]] == [("UNAUTHENTICATED", None)]
    assert [(each["code"], each["field"][1]) for each in malformed["userErrors"]] == [
        ("INVALID", "group"),
        ("INVALID", "title"),
        ("INVALID", "about"),
    ]


async def test_edit_is_a_change_that_is_sent(store, listen, clock):
    key = await store.server_keys.create("shop")
    subscriber = await listen(CHANGES, server_key=key)
    await store.groups.add("lua", {"title": "Lua"})

    change = await subscriber.value()
    assert (change["kind"], change["subjectId"], change["actorId"]) == ("group_edited", "group:lua", "user:operator")
    at = str(clock.now)
    values = {"created": at, "listed": at, "title": "Lua", "about": ""}
    assert {field["name"]: field["value"] for field in change["fields"]} == values
