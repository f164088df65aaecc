"""
Roles of moderators and admins, `moderationLog`, which has all that they did, and their actions as nodes. A role is for
a place, which is the whole site or a group.

The fixture `token` is a session token of the user vera. Codes such as M1 name rows of docs/behaviours.md.
"""

import pytest

from resolvers.sent import PAGE
from schema.schema import SCHEMA
from store import annulments, bans, keys, moderation, roles
from store.events import Event, EventKind
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.engine.sample import until
from tests.schema.moderators import signed_in
from tests.schema.subscribers import subscribed
from tests.store.reading import everything, numbers, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

ACTION = """id kind at moderator { username karma } subjectId subject { __typename id } group { name }
  reason note expiresAt role reverts { id } revertedBy { id }"""
GRANT = f"""mutation($input: GrantRoleInput!) {{ grantRole(input: $input) {{
  changed action {{ {ACTION} }} userErrors {{ __typename code message field }}
  query {{ viewer {{ username }} }} }} }}"""
REVOKE = GRANT.replace("GrantRole", "RevokeRole").replace("grantRole", "revokeRole")
LOG = f"""query($group: String, $subjectId: ID, $first: Int, $after: String, $last: Int, $before: String) {{
  moderationLog(group: $group, subjectId: $subjectId, first: $first, after: $after, last: $last, before: $before) {{
    totalCount pageInfo {{ hasNextPage hasPreviousPage endCursor }} nodes {{ {ACTION} }} edges {{ cursor }} }} }}"""
DONE = """subscription($group: String, $subjectId: ID) {
  moderated(group: $group, subjectId: $subjectId) { id kind note subjectId reverts { revertedBy { id } } } }"""
REMOVE = """mutation($input: RemoveContentInput!) {
  removeContent(input: $input) { action { id } userErrors { code } } }"""
REVERT = f"""mutation($input: RevertModerationInput!) {{ revertModeration(input: $input) {{
  changed action {{ {ACTION} }} userErrors {{ code message field }} }} }}"""
NOTE = "query($id: ID!) { node(id: $id) { ... on ModerationAction { id note reason } } }"
PLACE = """{ group(name: "show") { viewerCanModerate moderators { totalCount nodes { username } } }
  user(username: "bob") { roles { role group { name } grantedAt } } }"""


@pytest.fixture
async def admin(store, token) -> str:
    """The token of vera, an admin."""
    await roles.grant(store.site, OPERATOR, "vera", Role.ADMIN, group=None, reason="the first")
    return token


async def test_admin_grants_and_revokes_a_role(store, ask, admin, bob, clock):
    given = {"userId": "user:bob", "role": "MODERATOR", "group": "Show", "reason": "a good eye"}
    granted = (await ask(GRANT, admin, input=given))["data"]["grantRole"]
    again = (await ask(GRANT, admin, input=given))["data"]["grantRole"]
    meanwhile = (await ask(PLACE))["data"]
    revoked = (await ask(REVOKE, admin, input=given))["data"]["revokeRole"]

    assert granted["action"] | {"id": ""} == {
        "id": "", "kind": "GRANT_ROLE", "at": "2016-08-04T11:52:00.000Z", "moderator": {"username": "vera", "karma": 0},
        "subjectId": "user:bob", "subject": {"__typename": "User", "id": "user:bob"}, "group": {"name": "show"},
        "reason": "a good eye", "note": None, "expiresAt": None, "role": "MODERATOR", "reverts": None,
        "revertedBy": None,
    }  # fmt: skip
    assert (granted["changed"], granted["userErrors"]) == (True, [])
    assert granted["query"] == {"viewer": {"username": "vera"}}
    assert (again["changed"], again["action"]) == (False, granted["action"])
    assert meanwhile == {
        "group": {"viewerCanModerate": False, "moderators": {"totalCount": 1, "nodes": [{"username": "bob"}]}},
        "user": {"roles": [{"role": "MODERATOR", "group": {"name": "show"}, "grantedAt": "2016-08-04T11:52:00.000Z"}]},
    }
    assert (revoked["changed"], revoked["action"]["kind"]) == (True, "REVOKE_ROLE")
    assert revoked["action"]["role"] == "MODERATOR"
    assert (await ask(PLACE))["data"]["user"] == {"roles": []}


async def test_users_who_are_no_admins_grant_and_revoke_nothing(store, ask, redis, token, bob):  # M1
    given = {"userId": "user:bob", "role": "ADMIN", "reason": "a reason"}
    before = everything(redis)
    for mutation, name in ((GRANT, "grantRole"), (REVOKE, "revokeRole")):
        refused = (await ask(mutation, token, input=given))["data"][name]
        nobody = (await ask(mutation, input=given))["data"][name]

        assert [(each["__typename"], each["code"]) for each in refused["userErrors"]] == [
            ("Refusal", "NOT_A_MODERATOR")
        ]
        assert [each["code"] for each in nobody["userErrors"]] == ["UNAUTHENTICATED"]
        assert (refused["action"], refused["changed"]) == (None, False)
    assert everything(redis) == before


async def test_last_admin_stays(ask, admin):
    given = {"userId": "user:vera", "role": "ADMIN", "reason": "a reason"}

    assert (await ask(REVOKE, admin, input=given))["data"]["revokeRole"]["userErrors"] == [
        {"__typename": "Refusal", "code": "INVALID", "message": "vera is the last admin", "field": ["input", "userId"]}
    ]


async def test_malformed_id_and_reason_are_refused(ask, admin):
    for given, field in (
        ({"userId": "bob", "reason": "a"}, "userId"),
        ({"userId": "user:vera", "reason": " "}, "reason"),
    ):
        (refused,) = (await ask(GRANT, admin, input=given | {"role": "MODERATOR"}))["data"]["grantRole"]["userErrors"]

        assert (refused["code"], refused["field"]) == ("INVALID", ["input", field])


async def test_viewer_can_moderate_by_a_role_of_the_site_or_of_the_group(store, ask, token):
    can = '{ a: group(name: "show") { viewerCanModerate } b: group(name: "ask") { viewerCanModerate } }'

    async def answers(viewer):
        return [each["viewerCanModerate"] for each in (await ask(can, viewer))["data"].values()]

    assert await answers(token) == await answers(None) == [False, False]
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group="show", reason="a reason")
    assert (await answers(token), await answers(None)) == ([True, False], [False, False])
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group=None, reason="a reason")
    assert await answers(token) == [True, True]


async def test_log_is_read_by_everybody_page_by_page(store, ask, alice, bob, clock):  # M9
    made = []
    for username, group in ((alice, None), (bob, "show"), (alice, "ask"), (bob, "ask")):
        clock.advance(1)
        done = await roles.grant(
            store.site, OPERATOR, username, Role.MODERATOR, group=group, reason=f"reason {len(made)}"
        )
        made.append(done.action.id)

    async def read(**given):
        found = (await ask(LOG, **given))["data"]["moderationLog"]
        return [each["id"] for each in found["nodes"]], found["totalCount"], found["pageInfo"]

    newest, total, info = await read(first=3)
    assert (newest, total, info["hasNextPage"], info["hasPreviousPage"]) == (made[:0:-1], 4, True, False)
    rest, total, info = await read(first=3, after=info["endCursor"])
    assert (rest, total, info["hasNextPage"], info["hasPreviousPage"]) == (made[:1], 4, False, True)
    assert (await read(last=2))[0] == [made[1], made[0]]
    assert (await read(group="ASK"))[:2] == ([made[3], made[2]], 2)
    assert (await read(subjectId="user:Alice"))[:2] == ([made[2], made[0]], 2)
    assert (await read(group="none"))[:2] == (await read(subjectId="article:1024"))[:2] == ([], 0)
    assert (await read(group="Ask", subjectId="user:Alice"))[:2] == ([made[2]], 1)
    assert (await read(group="show", subjectId="user:alice"))[:2] == ([], 0)
    assert (await read(group="no group", subjectId="user:alice"))[:2] == ([], 0)


async def test_log_of_a_subject_in_a_group_is_paged_both_ways(store, ask, alice, bob, clock):  # M9
    made = []
    for _ in range(3):
        for group in ("ask", "show", None):
            for change in (roles.grant, roles.revoke):
                clock.advance(1)
                done = await change(store.site, OPERATOR, alice, Role.MODERATOR, group=group, reason="a reason")
                made += [done.action.id] if group == "ask" else []
        await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group="ask", reason="another user")
    forward, backward, after, before = [], [], None, None
    for n in range(3):
        given = {"group": "ask", "subjectId": "user:alice", "first": 2, "after": after}
        page = (await ask(LOG, **given))["data"]["moderationLog"]
        forward += [each["id"] for each in page["nodes"]]
        info = page["pageInfo"]
        assert (page["totalCount"], info["hasPreviousPage"], info["hasNextPage"]) == (6, n > 0, n < 2)
        after = info["endCursor"]
    for _ in range(3):
        given = {"group": "ask", "subjectId": "user:alice", "last": 2, "before": before}
        page = (await ask(LOG, **given))["data"]["moderationLog"]
        backward = [each["id"] for each in page["nodes"]] + backward
        before = page["edges"][0]["cursor"]

    assert forward == backward == made[::-1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"group": "show", "subjectId": "group:show"}, "a subject is an article, a comment or a user, not group:show"),
        ({"subjectId": "group:show"}, "a subject is an article, a comment or a user, not group:show"),
        ({"first": 0}, "first is 1 to 100, not 0"),
    ],
)
async def test_wrong_arguments_of_the_log_are_errors(ask, alice, given, message):
    (error,) = (await ask(LOG, **given))["errors"]

    assert (error["message"], error["extensions"]["code"]) == (message, "BAD_USER_INPUT")


async def test_cursor_of_another_list_is_refused(store, ask, bob):
    await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group="show", reason="a reason")
    cursor = (await ask(LOG))["data"]["moderationLog"]["pageInfo"]["endCursor"]

    (error,) = (await ask(LOG, group="show", after=cursor))["errors"]
    assert error["message"] == "this cursor belongs to another listing"


async def test_subject_is_null_once_it_is_gone(store, ask, redis, bob):
    action = (await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group="show", reason="a reason")).action
    redis.delete(keys.user(store.site.partition_of_user("bob"), "bob"))
    (found,) = (await ask(LOG))["data"]["moderationLog"]["nodes"]

    assert (found["id"], found["subject"], found["subjectId"]) == (action.id, None, "user:bob")


async def test_unknown_action_is_null(ask, alice):
    assert (await ask(NOTE, id=f"action:{keys.SLOTS * 7}"))["data"] == {"node": None}
    assert (await ask(NOTE, id="action:x"))["errors"][0]["message"] == "this is not a valid id: action:x"


async def test_note_is_for_moderators_of_the_place(store, ask, redis, token, alice, bob):  # M9
    """A moderator reads it first and strangers second, and the other way round, by `node` and in the log."""
    article = await post(store, alice, groups=["show"])
    action = noted(redis, store.site.partition_of_article(article.number), article)
    tokens = {name: (await store.sessions.open(name)).token for name in ("Alice", "bob")}
    log = "{ moderationLog { nodes { note } } }"

    async def notes(viewer):
        found = await ask(NOTE, viewer, id=action), await ask(log, viewer)
        assert [each.get("errors") for each in found] == [None, None]
        return [found[0]["data"]["node"]["note"], found[1]["data"]["moderationLog"]["nodes"][0]["note"]]

    assert await notes(token) == await notes(None) == [None, None]
    made = await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group="show", reason="a reason")
    await roles.grant(store.site, OPERATOR, "bob", Role.MODERATOR, group="ask", reason="a reason")
    log = f'{{ moderationLog(subjectId: "{article.id}") {{ nodes {{ note }} }} }}'
    for _ in range(2):
        assert await notes(token) == ["for us", "for us"]
        assert await notes(None) == await notes(tokens["Alice"]) == await notes(tokens["bob"]) == [None, None]
    await roles.revoke(store.site, OPERATOR, "vera", Role.MODERATOR, group="show", reason="a reason")
    assert made.changed
    assert await notes(token) == [None, None]


def test_fields_for_moderators_only_have_a_permission():
    """Other fields are also for somebody else, as `heldEdit` is for the poster, or refuse with a code."""
    guarded = {
        (name, field.python_name): [each.__name__ for each in field.permission_classes]
        for name, found in SCHEMA.schema_converter.type_map.items()
        for field in getattr(found.definition, "fields", ())
        if getattr(field, "permission_classes", None)
    }

    on_what_is_voted_on = {"flag_reasons": ["ModeratesAny"], "flags": ["ModeratesSite"]}
    assert guarded == {
        ("ModerationAction", "note"): ["ModeratesPlace"],
        ("User", "voting_ring"): ["ModeratesSite"],
        **{
            (name, field): classes
            for name in ("Article", "Comment", "Votable")
            for field, classes in on_what_is_voted_on.items()
        },
    }


def noted(redis, partition, article) -> str:
    """Write an action on an article, with a note for moderators, into its partition. Returns the id of the action."""
    number = article.number + 2 * keys.SLOTS  # not used yet, and of the same partition
    fields = {"kind": "lock", "at": article.posted_at, "moderator": "operator", "subject": article.id, "reason": "off"}
    redis.hset(keys.action(partition, number), mapping=fields | {"note": "for us"})
    for scope in ("all", article.id):
        redis.zadd(keys.actions(partition, scope), {keys.member(number): article.posted_at})
    return f"action:{number}"


async def test_revert_and_what_it_reverts_name_each_other(ask, admin, bob):  # M9
    given = {"userId": "user:bob", "role": "MODERATOR", "reason": "a good eye"}
    action = (await ask(GRANT, admin, input=given))["data"]["grantRole"]["action"]
    asked = {"actionId": action["id"], "reason": "a mistake", "note": "for us"}
    done = (await ask(REVERT, admin, input=asked))["data"]["revertModeration"]
    again = (await ask(REVERT, admin, input=asked))["data"]["revertModeration"]
    listed = (await ask(LOG))["data"]["moderationLog"]["nodes"]

    reverting = done["action"]
    assert (done["changed"], done["userErrors"]) == (True, [])
    assert (reverting["kind"], reverting["reverts"], reverting["note"]) == ("REVERT", {"id": action["id"]}, "for us")
    assert (action["role"], reverting["role"]) == ("MODERATOR", None)
    assert listed[:2] == [reverting | {"note": None}, action | {"revertedBy": {"id": reverting["id"]}}]
    assert again == {
        "changed": False, "action": None,
        "userErrors": [
            {
                "code": "ALREADY_REVERTED", "message": f"{action['id']} was reverted before",
                "field": ["input", "actionId"],
            }
        ],
    }  # fmt: skip


async def test_revert_of_others_and_of_malformed_ids_is_refused(store, ask, redis, token, alice):  # M9
    action = (await roles.grant(store.site, OPERATOR, "Alice", Role.ADMIN, group=None, reason="a reason")).action
    before = everything(redis)
    for id, viewer, code in (
        (action.id, token, "NOT_A_MODERATOR"), (action.id, None, "UNAUTHENTICATED"), ("article:1024", token, "INVALID"),
    ):  # fmt: skip
        (refused,) = (await ask(REVERT, viewer, input={"actionId": id, "reason": "a"}))["data"]["revertModeration"][
            "userErrors"
        ]
        assert refused["code"] == code
    assert everything(redis) == before


async def test_refused_revert_names_a_field_of_its_input(store, ask, admin):  # M9
    """A revert has no `userId` and no `group`, unlike the mutation that it reverts."""
    site = store.site
    carol = await signed_in(store, "carol", Role.MODERATOR)
    dave = await signed_in(store, "dave", Role.MODERATOR, "show")
    of_vera = await numbers(store, moderation.log(site, "user:vera"))
    annulled = await annulments.annul(site, OPERATOR, "carol", since=None, until=None, reason="a reason")
    banned = [
        (await bans.ban(site, OPERATOR, username, group=group, until=None, reason="a reason")).action
        for username, group in (("carol", "show"), ("dave", "tell"))
    ]
    for number, viewer, code in (
        (of_vera[0], admin, "INVALID"),  # she is the last admin
        (annulled.action.number, carol, "NOT_A_MODERATOR"),  # it is about her, and so is the first ban
        (banned[0].number, carol, "NOT_A_MODERATOR"),
        (banned[1].number, dave, "NOT_A_MODERATOR"),  # he moderates another group
    ):
        asked = {"actionId": f"action:{number}", "reason": "a reason"}
        (refused,) = (await ask(REVERT, viewer, input=asked))["data"]["revertModeration"]["userErrors"]

        assert (refused["code"], refused["field"]) == (code, ["input", "actionId"])


async def test_actions_are_sent_as_they_are_done(store, ask, admin, alice, bob, listen):  # M9
    article, other = await post(store, alice, groups=["show"]), await post(store, bob)
    everything_done, of_group = await listen(DONE, admin), await listen(DONE, group="Show")
    of_article = await listen(DONE, subjectId=article.id)
    bobs = {"userId": "user:bob", "role": "MODERATOR", "group": "show", "reason": "a good eye"}
    granted = (await ask(GRANT, admin, input=bobs))["data"]["grantRole"]["action"]["id"]
    given = {"subjectId": article.id, "reason": "an advertisement", "note": "the third one"}
    removed = (await ask(REMOVE, admin, input=given))["data"]["removeContent"]["action"]["id"]
    await ask(REMOVE, admin, input=given | {"subjectId": other.id})
    given = {"actionId": removed, "reason": "a mistake"}
    reverted = (await ask(REVERT, admin, input=given))["data"]["revertModeration"]["action"]["id"]

    sent = [await everything_done.value() for _ in range(4)]
    assert [(each["kind"], each["subjectId"]) for each in sent] == [
        ("GRANT_ROLE", "user:bob"), ("REMOVE", article.id), ("REMOVE", other.id), ("REVERT", article.id),
    ]  # fmt: skip
    assert (sent[1]["id"], sent[1]["note"]) == (removed, "the third one")
    assert await of_group.value() == sent[0] | {"note": None}
    assert sent[0]["id"] == granted
    about = [await of_article.value() for _ in range(2)]
    assert about == [sent[1] | {"note": None}, {
        "id": reverted, "kind": "REVERT", "note": None, "subjectId": article.id,
        "reverts": {"revertedBy": {"id": reverted}},
    }]  # fmt: skip


async def test_missed_actions_are_sent_once(store, ask, live, admin, alice, listen, monkeypatch):  # M9
    article, other = await post(store, alice), await post(store, alice)
    subscriber = await listen(DONE, subjectId=article.id)
    lost = []
    with monkeypatch.context() as patched:
        patched.setattr(live.events, "receive", lost.append)
        for subject in (article, other):
            await ask(REMOVE, admin, input={"subjectId": subject.id, "reason": "an advertisement"})
        await until(lambda: sum(message.startswith("moderated ") for message in lost) == 2)
    for _ in range(2):
        live.events.dispatch(Event(EventKind.MISSED))
    removed = await subscriber.value()
    await ask(REVERT, admin, input={"actionId": removed["id"], "reason": "a mistake"})

    assert (removed["kind"], removed["subjectId"]) == ("REMOVE", article.id)
    assert (await subscriber.value())["kind"] == "REVERT"


async def test_more_missed_actions_than_a_page_has_are_sent_once(ask, live, admin, bob, listen, monkeypatch):  # M9
    """A ban that removes many texts has more events than a mailbox holds, which are missed then."""
    subscriber = await listen(DONE, subjectId="user:bob")
    with monkeypatch.context() as patched:
        patched.setattr(live.events, "receive", lambda message: None)
        given = {"userId": "user:bob", "role": "MODERATOR", "reason": "a good eye"}
        for number in range(PAGE + 2):
            await ask(GRANT, admin, input=given | {"group": f"g{number}"})
    live.events.dispatch(Event(EventKind.MISSED))

    sent = [(await subscriber.value())["id"] for _ in range(PAGE + 2)]
    assert len(set(sent)) == PAGE + 2


async def test_malformed_subject_of_actions_is_refused(url):
    async with subscribed(url, DONE, subjectId="alice") as subscriber:
        assert (await subscriber.refusal())[0] == "BAD_USER_INPUT"
