"""
The export of a user: a zip archive with all that the site keeps about them, and nothing of others. `POST /export` sends
it to the user who is logged in.

`on_both` runs a test with SQLite and with PostgreSQL.

U7 is a row of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import io
import json
import zipfile
from contextlib import asynccontextmanager

import pytest

from database.database import CONSUMER
from store import log, roles
from store.roles import OPERATOR, Role
from tests.database.conftest import on_both
from tests.server import in_process
from tests.servers import PATIENCE

NAMES = ("alice", "bob", "carol", "mona")
REGISTER = 'mutation($name: String!) { done: register(input: {username: $name, password: "correct horse"}) { token } }'
POST = "mutation($input: PostInput!) { done: post(input: $input) { article { id } } }"
EDIT = "mutation($input: EditArticleInput!) { done: editArticle(input: $input) { userErrors { message } } }"
COMMENT = "mutation($input: CommentInput!) { done: comment(input: $input) { comment { id } } }"
EDIT_COMMENT = "mutation($input: EditCommentInput!) { done: editComment(input: $input) { userErrors { message } } }"
VOTE = "mutation($input: VoteInput!) { done: vote(input: $input) { userErrors { message } } }"
VOTE_ON_COMMENT = (
    "mutation($input: VoteOnCommentInput!) { done: voteOnComment(input: $input) { userErrors { message } } }"
)
FOLLOW = "mutation($input: FollowUserInput!) { done: followUser(input: $input) { userErrors { message } } }"
FLAG = "mutation($input: FlagInput!) { done: flag(input: $input) { userErrors { message } } }"
SAVE = "mutation($input: SaveInput!) { done: save(input: $input) { userErrors { message } } }"
REMOVE = "mutation($input: RemoveContentInput!) { done: removeContent(input: $input) { action { id } } }"
BAN = "mutation($input: BanUserInput!) { done: banUser(input: $input) { action { id } } }"
FOLLOW_GROUP = "mutation($input: FollowGroupInput!) { done: followGroup(input: $input) { userErrors { message } } }"
HIDE = "mutation($input: HideArticleInput!) { done: hideArticle(input: $input) { userErrors { message } } }"
BLOCK = "mutation($input: BlockUserInput!) { done: blockUser(input: $input) { userErrors { message } } }"
EDIT_PROFILE = "mutation($input: EditProfileInput!) { done: editProfile(input: $input) { userErrors { message } } }"
LOG_IN = 'mutation($name: String!) { done: logIn(input: {username: $name, password: "correct horse"}) { token } }'
APPEAL = "mutation($input: AppealInput!) { done: appeal(input: $input) { userErrors { message } } }"


class Site:
    """A site whose users act by GraphQL, and export their data. Each mutation above calls its field `done`."""

    def __init__(self, http):
        self.http, self.tokens = http, {}

    async def act(self, who, mutation, **variables):
        """Send a mutation as a user, and return the payload."""
        answer = await self.http.post(
            "/graphql", json={"query": mutation, "variables": variables}, headers=self.headers(who)
        )
        done = answer.json()["data"]["done"]
        assert not done.get("userErrors"), done
        return done

    async def join(self, name, mutation=REGISTER):
        """Register a user, or log one in by the mutation `LOG_IN`."""
        self.tokens.pop(name, None)
        self.tokens[name] = (await self.act(name, mutation, name=name))["token"]

    async def post(self, name, title, **more):
        return (await self.act(name, POST, input={"title": title, "content": f"text of {title}"} | more))["article"][
            "id"
        ]

    async def comment(self, name, article, content, **more):
        given = {"articleId": article, "content": content} | more
        return (await self.act(name, COMMENT, input=given))["comment"]["id"]

    def headers(self, name):
        return {"Authorization": f"Bearer {self.tokens[name]}"} if name in self.tokens else {}

    async def exported(self, name):
        """The export of a user: the lines of each file by its name, parsed, and the text of all files."""
        answer = await self.http.post("/export", headers=self.headers(name))
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip"), answer.text
        assert answer.headers["cache-control"] == "no-store"
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.testzip() is None
            texts = {each.removesuffix(".jsonl"): archive.read(each).decode() for each in archive.namelist()}
        return {each: list(map(json.loads, text.splitlines())) for each, text in texts.items()}, "".join(texts.values())


@asynccontextmanager
async def site_of(store, redis_url, database_url):
    async with in_process.serving(redis_url, database_url=database_url) as http:
        site = Site(http)
        for name in NAMES:
            await site.join(name)
        await roles.grant(store.site, OPERATOR, "mona", Role.ADMIN, group=None, reason="helps")
        yield site


@pytest.fixture
async def site(store, redis_url):
    """A site without a database."""
    async with site_of(store, redis_url, "none") as site:
        yield site


@pytest.fixture
async def recorded(store, redis_url, database_url):
    """A site with a database."""
    async with site_of(store, redis_url, database_url) as site:
        yield site


async def acted(site):
    """What alice did, beside others. Returns ids: of articles by their titles, of comments by names given here."""
    ids = {
        title: await site.post(name, title) for name, title in [("alice", "first"), ("alice", "second"), ("bob", "his")]
    }
    await site.act("alice", EDIT, input={"articleId": ids["first"], "title": "first, better"})
    await site.act("alice", EDIT, input={"articleId": ids["first"], "content": "new text"})
    ids["third"] = await site.post("carol", "third", groups=["lua"])
    ids["mine"] = await site.comment("alice", ids["his"], "my comment")
    await site.act("alice", EDIT_COMMENT, input={"commentId": ids["mine"], "content": "my edited comment"})
    ids["answer"] = await site.comment("bob", ids["his"], "words of bob", parentId=ids["mine"])
    ids["hers"] = await site.comment("carol", ids["first"], "words of carol, dear @alice")
    await site.act("alice", VOTE, input={"articleId": ids["his"], "value": "DOWN"})
    await site.act("alice", VOTE_ON_COMMENT, input={"commentId": ids["hers"]})
    await site.act("carol", VOTE, input={"articleId": ids["first"]})
    await site.act("alice", FOLLOW, input={"userId": "user:bob"})
    await site.act("carol", FOLLOW, input={"userId": "user:alice"})
    await site.act("alice", FLAG, input={"subjectId": ids["answer"], "reason": "ABUSE", "note": "my own note"})
    await site.act("alice", SAVE, input={"subjectId": ids["hers"]})
    await site.act("carol", SAVE, input={"subjectId": ids["first"]})
    await chosen(site, ids)
    await site.act("carol", FLAG, input={"subjectId": ids["second"], "reason": "SPAM", "note": "note of carol"})
    await site.act(
        "mona", REMOVE, input={"subjectId": ids["second"], "reason": "not for here", "note": "among moderators"}
    )
    await site.act("mona", REMOVE, input={"subjectId": ids["his"], "reason": "gone"})  # which hides alice's comment
    banned = await site.act("mona", BAN, input={"userId": "user:alice", "reason": "too loud", "note": "a secret"})
    await site.join("alice", LOG_IN)
    await site.act("alice", APPEAL, input={"actionId": banned["action"]["id"], "text": "I was not"})
    return ids


async def chosen(site, ids):
    """What alice has chosen for her home and says of herself, and what others have chosen about her."""
    await site.act("alice", EDIT_PROFILE, input={"displayName": "Alice A.", "about": "I read"})
    await site.act("alice", FOLLOW_GROUP, input={"group": "lua"})
    await site.act("alice", HIDE, input={"articleId": ids["third"]})
    await site.act("alice", BLOCK, input={"userId": "user:mona"})
    await site.act("carol", HIDE, input={"articleId": ids["first"]})
    await site.act("bob", BLOCK, input={"userId": "user:alice"})


async def check(site, ids, edits):
    """The export has what `acted` did; `edits` says whether the site keeps edits and instants of votes."""
    found, text = await site.exported("alice")

    (account,) = found["account"]
    assert (account["username"], account["karma"]) == ("alice", 1)
    assert (account["displayName"], account["about"]) == ("Alice A.", "I read")
    assert (found["groups"], found["hidden"]) == ([{"name": "lua"}], [{"id": ids["third"]}])
    assert [each["username"] for each in found["blocked"]] == ["mona"]
    (session,) = found["sessions"]  # the ban has ended the first
    assert session["agent"] == "python-httpx"
    articles = {each["id"]: each for each in found["articles"]}
    assert {id: (each["title"], each["content"], each["state"]) for id, each in articles.items()} == {
        ids["first"]: ("first, better", "new text", "VISIBLE"),
        ids["second"]: ("second", "text of second", "REMOVED"),
    }
    removal = articles[ids["second"]]["moderation"]
    assert [(each["kind"], each["reason"]) for each in removal] == [("REMOVE", "not for here")]
    (comment,) = found["comments"]
    assert (comment["id"], comment["content"], comment["state"]) == (ids["mine"], "my edited comment", "VISIBLE")
    assert comment["article"] == {"id": ids["his"]}
    assert {(each["subjectId"], each["value"]) for each in found["votes"]} == {
        *((ids[each], "UP") for each in ("first", "second", "mine", "hers")),
        (ids["his"], "DOWN"),
    }
    assert (found["following"], found["followers"]) == ([{"username": "bob"}], [{"username": "carol"}])
    assert {each["kind"] for each in found["inbox"]} == {"MODERATION", "REPLY"}
    (flag,) = found["flags"]
    assert (flag["subjectId"], flag["reason"], flag["note"]) == (ids["answer"], "ABUSE", "my own note")
    assert found["saved"] == [{"id": ids["hers"]}]
    (ban,) = found["moderation"]
    assert (ban["kind"], ban["reason"], ban["appeal"]["text"]) == ("BAN", "too loud", "I was not")
    if edits:
        first, second = articles[ids["first"]]["edits"]
        assert ([*first, first["title"]], [*second, second["content"]]) == (
            ["at", "title", "first, better"],
            ["at", "content", "new text"],
        )
        assert [each["content"] for each in comment["edits"]] == ["my edited comment"]
        assert all(each["castAt"] for each in found["votes"] if each["subjectId"] in (ids["his"], ids["hers"]))
    others = ("words of", "note of carol", "among moderators", "a secret", "argon2", "text of his", "text of third")
    assert [each for each in others if each in text] == []
    assert text.count("mona") == 1  # whom alice blocks


@on_both
async def test_export_has_all_that_is_kept_about_the_viewer_and_nothing_of_others(recorded, store):  # U7
    ids = await acted(recorded)
    await caught_up(store)
    await check(recorded, ids, edits=True)


async def test_export_without_a_database_has_what_redis_knows(site, store):  # U7
    await check(site, await acted(site), edits=False)


@pytest.mark.one_server
async def test_export_has_all_pages_of_a_long_list(site, store):  # U7
    for number in range(105):
        await site.post("alice", f"number {number}")
    found, _ = await site.exported("alice")
    assert sorted(int(each["title"].split()[1]) for each in found["articles"]) == list(range(105))
    assert len(found["votes"]) == 105


@pytest.mark.one_server
async def test_export_is_for_who_is_logged_in_and_once_an_hour(store, redis_url, clock):
    async with in_process.serving(redis_url, database_url="none", rate_limits="on") as http:
        site = Site(http)
        await site.join("alice")
        assert (await http.post("/export")).status_code == 401
        assert (await http.get("/export", headers=site.headers("alice"))).status_code == 405
        await site.exported("alice")
        again = await http.post("/export", headers=site.headers("alice"))
        assert again.status_code == 429
        assert 3500 < int(again.headers["retry-after"]) <= 3600


@pytest.mark.one_server
async def test_cookie_of_a_session_exports_only_from_pages_of_the_site(store, redis_url):  # U4
    async with in_process.serving(redis_url, database_url="none") as http:
        own = {"Origin": "http://up"}
        joined = REGISTER.replace("password:", "cookie: true, password:")
        await http.post("/graphql", json={"query": joined, "variables": {"name": "alice"}}, headers=own)
        assert http.cookies

        async def status(**headers):
            return (await http.post("/export", headers=headers)).status_code

        assert await status(Origin="http://elsewhere.example") == 401
        assert await status() == 401
        assert await status(**own, **{"X-Upvote-Viewer": "bob"}) == 401
        assert await status(**own, **{"X-Upvote-Viewer": "alice"}) == 200


async def caught_up(store):
    """Wait until the database has all that was written."""
    ends = await log.newest(store.site)
    async with asyncio.timeout(PATIENCE):
        while list((await log.positions(store.site)).get(CONSUMER, {}).values()) != ends:  # noqa: ASYNC110 - the mirror has no event for it
            await asyncio.sleep(0.02)
