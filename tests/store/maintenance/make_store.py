"""
Writes a small store with the code of an earlier version: run this in a working tree of that version.

    cd TREE && PYTHONPATH=. python THIS_FILE FOLDER

Then `FOLDER` has `appendonlydir` (of a data folder), `backup`, and `answers.json`: queries, and what that version
answered. Tests of upgrades open these folders with the code of today. `stores/0.1.0` is of the tag `before-house`;
`stores/61f5b97` is of that commit, the last before records of backups were classes.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from redis import Redis

from tests.server.commands import environment
from tests.server.conftest import HEADER, serving

CENTURY = 100 * 365 * 86_400  # seconds
EXPIRES_AT = 4_102_444_800_000  # of each key that would expire before a test reads it: 2100, in unix milliseconds
LIMITS = {"rate_limits": "on", "rate_points": 1_000_000}  # points enough for all requests
SETTINGS = {"partitions": 2, "voting_window": CENTURY, "session_ttl": CENTURY, "good_votes": 2, **LIMITS}
# Below the HEADER: id, title, url, points, comments, author, created_at.
STORIES = """1,A map of rivers,https://maps.example/rivers,30,1,Marlow,2016-08-01T10:00:00Z
2,Ask HN: Which map?,,12,1,pim,2016-08-02T10:00:00Z
3,Another map,https://maps.example/another,3,1,Marlow,2016-08-03T10:00:00Z
"""
# Variables: n username or count, t title or text, g group or groups, k idempotency key, v vote, c cursor, o order,
# p pinned.
REGISTER = 'mutation($n: String!) { register(input: {username: $n, password: "correct horse"}) { token } }'
POST = """mutation($t: String!, $g: [String!], $k: String) {
  post(input: {title: $t, link: "https://example.com/", groups: $g, idempotencyKey: $k}) {
    replayed article { id } userErrors { message } } }"""
VOTE = "mutation($id: ID!, $v: VoteValue!) { vote(input: {articleId: $id, value: $v}) { userErrors { message } } }"
FOLLOW = "mutation($id: ID!) { followUser(input: {userId: $id}) { changed } }"
MARK = "mutation($c: String!) { markFeedSeen(input: {through: $c}) { feed { unseenCount } userErrors { message } } }"
EDIT = 'mutation($id: ID!) { editArticle(input: {articleId: $id, content: "edited"}) { article { editedAt } } }'
DELETE = "mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { deletedArticleId } }"
COMMENT = """mutation($id: ID!, $parent: ID, $t: String!) {
  comment(input: {articleId: $id, parentId: $parent, content: $t}) { comment { id } userErrors { message } } }"""
VOTE_ON_COMMENT = "mutation($id: ID!) { voteOnComment(input: {commentId: $id}) { userErrors { message } } }"
DELETE_COMMENT = "mutation($id: ID!) { deleteComment(input: {commentId: $id}) { deletedCommentId } }"
FIELDS = """{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node {
  id title content groups { name } link postedAt editedAt poster { username } upvotes downvotes viewerVote isGood
  isVotingOpen voters { nodes { username } } } } }"""
PLACES = "{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } }"
LISTING = "query($o: ArticleOrder, $g: String, $n: Int, $c: String, $p: Boolean) {"
LISTING += " articles(order: $o, group: $g, first: $n, after: $c, pinned: $p) %s }"
FEED = f"query($c: String) {{ feed {{ seenThrough unseenCount articles(first: 2, after: $c) {PLACES} }} }}"
PERSON = """%s: user(username: "%s") { username joinedAt karma articles { nodes { id } }
  following { nodes { username } } followers { nodes { username } } }"""
PEOPLE = "\n".join(PERSON % (name, name) for name in ("alice", "bob", "carol", "Marlow", "pim"))
PEOPLE = f"{{ viewer {{ username }} groups {{ nodes {{ name articles(first: 3) {{ nodes {{ id }} }} }} }} {PEOPLE} }}"
THREAD = """query($id: ID!) { article(id: $id) { commentCount thread(first: 100) { totalCount edges { node {
  id depth content state poster { username } upvotes downvotes viewerVote replyCount descendantCount } } } } }"""
INBOX = """{ inbox { unseenCount notifications { totalCount edges { cursor node {
  id kind at subject { id } actor { username } } } } } }"""
QUERIES = {"articles": LISTING % FIELDS, "places": LISTING % PLACES, "feed": FEED, "people": PEOPLE}
QUERIES |= {"thread": THREAD, "inbox": INBOX}
ORDERS = ("SCORE", "TIME", "VOTES", "HOT", "BEST")


def main(folder: Path) -> None:
    data = folder / "work"
    with serving(data, **SETTINGS) as live:
        tokens, discussed = fill(live, folder, data)
        prolong(data)
        answers = ask(live, tokens, discussed)
        prolong(data)
        run(data, "backup", folder / "backup")
    lines = ",\n".join(json.dumps(answer, separators=(",", ":")) for answer in answers)
    head = json.dumps({"tokens": tokens, "queries": QUERIES}, indent=1).removesuffix("\n}")
    (folder / "answers.json").write_text(f'{head},\n "answers": [\n{lines}\n]}}\n')
    shutil.copytree(data / "appendonlydir", folder / "appendonlydir")
    shutil.rmtree(data)


def run(data: Path, *arguments: object) -> None:
    """Run a command of `upvote` on a data folder."""
    settings = environment(data_dir=data, **SETTINGS)
    subprocess.run([sys.executable, "-m", "server", *map(str, arguments)], env=settings, check=True)


def fill(live, folder: Path, data: Path) -> tuple[dict[str, str], str]:
    """The tokens of users by name, and the id of an article with comments."""
    tokens = {name: live.ask(REGISTER, n=name)["data"]["register"]["token"] for name in ("alice", "bob", "carol")}
    stories = folder / "stories.csv"
    stories.write_text(HEADER + STORIES)
    run(data, "import", stories)
    stories.unlink()
    posted = []
    for number, poster in enumerate(("alice", "bob", "alice", "carol", "bob", "alice", "alice", "bob", "carol")):
        groups = [["show"], ["ask"], ["show", "ask"], []][number % 4]
        reply = live.ask(POST, tokens[poster], t=f"article {number}", g=groups, k="a key" if number == 0 else None)
        posted.append((reply["data"]["post"]["article"]["id"], poster))
    for number, (id, _) in enumerate(posted):
        for voter, token in tokens.items():
            value = ("UP", "DOWN", "UP", "NONE")[(number + len(voter)) % 4]
            live.ask(VOTE, token, id=id, v=value)
    rewrite_append_only_file(data)
    live.ask(EDIT, tokens["alice"], id=posted[2][0])
    live.ask(DELETE, tokens["carol"], id=posted[8][0])
    for follower, followee in (("carol", "alice"), ("carol", "bob"), ("bob", "alice")):
        live.ask(FOLLOW, tokens[follower], id=f"user:{followee}")
    cursor = live.ask(FEED, tokens["carol"])["data"]["feed"]["articles"]["pageInfo"]["endCursor"]
    live.ask(MARK, tokens["carol"], c=cursor)
    run(data, "ranking", "set", "show", "vote_score=5000", "hot_seconds=9000", "gravity_age=1.2")
    discuss(live, tokens, posted[0][0])
    return tokens, posted[0][0]


def discuss(live, tokens: dict[str, str], article: str) -> None:
    """Comment on an article, vote on comments, and delete one that has a reply."""
    parent = None
    for number, commenter in enumerate(("bob", "carol", "alice", "carol")):
        reply = live.ask(COMMENT, tokens[commenter], id=article, parent=parent, t=f"text {number} @alice @bob")
        parent = reply["data"]["comment"]["comment"]["id"]
        live.ask(VOTE_ON_COMMENT, tokens["alice"], id=parent)
        if number == 0:
            first = parent
    live.ask(DELETE_COMMENT, tokens["bob"], id=first)


def rewrite_append_only_file(data: Path) -> None:
    """Let the data folder have a base file and a file of later writes."""
    with client(data) as redis:
        redis.bgrewriteaof()
        while redis.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.1)


def client(data: Path) -> Redis:
    return Redis.from_url(f"unix://{(data / 'address').read_text().strip()}", decode_responses=True)


def prolong(data: Path) -> None:
    """Let all keys live until `EXPIRES_AT`."""
    with client(data) as redis:
        for key in redis.scan_iter():
            if 0 < redis.pexpiretime(key) < EXPIRES_AT:
                redis.pexpireat(key, EXPIRES_AT)


def ask(live, tokens: dict[str, str], discussed: str) -> list[dict]:
    """Send queries to the running server. `discussed` is the id of an article with comments."""
    answers: list[dict] = []

    def asked(query: str, name: str | None = None, **variables: object) -> dict:
        reply = live.ask(QUERIES[query], name and tokens[name], **variables)
        assert "errors" not in reply, reply
        answers.append({"query": query, "viewer": name, "variables": variables, "data": reply["data"]})
        return reply["data"]

    asked("articles", "alice", o="TIME", n=20)
    for group in (None, "show", "ask"):
        for order in ORDERS:
            page = asked("places", o=order, g=group, n=4)["articles"]["pageInfo"]
            asked("places", o=order, g=group, n=4, c=page["endCursor"])
    for group in (None, "show"):
        for variables in ({"o": "GRAVITY"}, {"o": "SCORE", "p": True}, {"o": "GRAVITY", "p": True}):
            first = live.ask(QUERIES["places"], g=group, n=3, **variables)["data"]["articles"]["pageInfo"]
            asked("places", g=group, n=3, c=first["endCursor"], **variables)
    feed = asked("feed", "carol")["feed"]["articles"]["pageInfo"]
    asked("feed", "carol", c=feed["endCursor"])
    asked("feed", "bob")
    asked("people", "carol")
    asked("thread", "alice", id=discussed)
    for name in ("alice", "bob"):
        asked("inbox", name)
    return answers


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
