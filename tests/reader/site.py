"""The site that browser tests look at: a served sample with articles, comments and users, and ways to add to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from server.cli.demo import SAMPLE, SAMPLE_COMMENTS
from server.cli.import_stories import ImportOptions, import_stories
from server.settings import Settings
from store.store import Store
from tests.server.commands import run
from tests.server.conftest import Live, serving
from tests.servers import until

PASSWORD = "correct horse"
NUMBERS = count(1)  # for names and links that are used once
REGISTER = "mutation($input: RegisterInput!) { register(input: $input) { token userErrors { message } } }"
POST = "mutation($input: PostInput!) { post(input: $input) { article { id } userErrors { message } } }"
COMMENT = "mutation($input: CommentInput!) { comment(input: $input) { comment { id } userErrors { message } } }"
VOTE = "mutation($input: VoteInput!) { vote(input: $input) { changed userErrors { message } } }"
VOTE_ON_COMMENT = """mutation($input: VoteOnCommentInput!) {
  voteOnComment(input: $input) { changed userErrors { message } } }"""
DELETE_COMMENT = "mutation($input: DeleteCommentInput!) { deleteComment(input: $input) { userErrors { message } } }"
DELETE_USER = """mutation($password: String!) {
  deleteUser(input: {currentPassword: $password}) { userErrors { message } } }"""
POSTER = "query($id: ID!) { article(id: $id) { poster { username } } }"
FOUND = "query($words: String!) { search(query: $words) { totalCount } }"
FLAG = "mutation($input: FlagInput!) { flag(input: $input) { changed userErrors { message } } }"
FOLLOW = "mutation($input: FollowUserInput!) { followUser(input: $input) { changed userErrors { message } } }"


@dataclass(frozen=True)
class Member:
    """A user with a session, whose token is `token`."""

    username: str
    token: str
    password: str = PASSWORD

    @property
    def id(self) -> str:
        return f"user:{self.username.lower()}"


@dataclass
class Site:
    """
    A served site. Tests share it: each makes the members and articles that it changes.

    `member` and the commands go through the API, so they cost a request each; ids are those of the API.
    """

    live: Live  # the server
    folder: Path  # of its data

    @property
    def url(self) -> str:
        return self.live.url

    def ask(self, query: str, by: Member | None = None, **variables: Any) -> dict[str, Any]:
        """The data of an answer that has no errors and no refusals."""
        answer = self.live.ask(query, by and by.token, **variables)
        assert "errors" not in answer, answer
        refusals = [each.get("userErrors") for each in answer["data"].values() if isinstance(each, dict)]
        assert not any(refusals), refusals
        return answer["data"]

    async def open_store(self) -> Store:
        """The store of the server, for what the API does not do; the caller closes it."""
        socket = (self.folder / "address").read_text()
        return await Store.open(f"unix://{socket}")

    def wait_until_found(self, words: str, count: int) -> None:
        """Wait until the database has what was posted with these words."""
        until(lambda: self.ask(FOUND, words=words)["search"]["totalCount"] >= count)

    def member(self, name: str = "member") -> Member:
        """A new user whose name begins with `name` (at most 14 characters) and is used by no other test."""
        username = f"{name}-{next(NUMBERS)}"
        given = self.ask(REGISTER, input={"username": username, "password": PASSWORD})
        return Member(username, given["register"]["token"])

    def post(self, by: Member, title: str, **fields: Any) -> str:
        """Post an article with a link, unless `link` or `content` is given, and return its id."""
        link = {} if {"link", "content"} & fields.keys() else {"link": f"https://example.com/{next(NUMBERS)}"}
        return self.ask(POST, by, input={"title": title} | link | fields)["post"]["article"]["id"]

    def comment(self, by: Member, article: str, content: str, parent: str | None = None) -> str:
        input = {"articleId": article, "content": content, "parentId": parent}
        return self.ask(COMMENT, by, input=input)["comment"]["comment"]["id"]

    def vote(self, by: Member, subject: str, value: str = "UP") -> None:
        """Vote on an article or a comment."""
        if subject.startswith("comment:"):
            self.ask(VOTE_ON_COMMENT, by, input={"commentId": subject, "value": value})
        else:
            self.ask(VOTE, by, input={"articleId": subject, "value": value})

    def delete(self, by: Member, comment: str) -> None:
        self.ask(DELETE_COMMENT, by, input={"commentId": comment})

    def leave(self, member: Member, kept: str) -> None:
        """Delete the member, and wait until the article `kept` no longer has the name."""
        self.ask(DELETE_USER, member, password=member.password)
        until(lambda: self.ask(POSTER, id=kept)["article"]["poster"]["username"] == "[deleted]")

    def follow(self, by: Member, other: Member) -> None:
        self.ask(FOLLOW, by, input={"userId": other.id})

    def log_out(self, member: Member) -> None:
        """End the session, and wait until requests notice it."""
        self.ask("mutation { logOut { userErrors { message } } }", member)
        until(lambda: self.live.ask("{ viewer { id } }", member.token)["data"]["viewer"] is None)

    def moderate(self, member: Member, group: str | None = None, role: str = "MODERATOR") -> None:
        """Give a member a role in a group, or in the whole site."""
        options = ["--group", group] if group else []
        done = run("role", "grant", member.username, role, *options, data_dir=self.folder)
        assert done.returncode == 0, done.stderr

    def flag(self, by: Member, subject: str, reason: str = "SPAM", note: str | None = None) -> None:
        self.ask(FLAG, by, input={"subjectId": subject, "reason": reason, "note": note})

    def act(self, by: Member, command: str, **input: Any) -> str:
        """Send a mutation of moderators, such as `removeContent`, or an appeal, and return the id of its action."""
        type = f"{command[0].upper()}{command[1:]}Input"
        query = (
            f"mutation($input: {type}!) {{ {command}(input: $input) {{ action {{ id }} userErrors {{ message }} }} }}"
        )
        return self.ask(query, by, input=input)[command]["action"]["id"]

    def path(self, article: str, comment: str | None = None) -> str:
        """The path of the page of an article, or of one branch of its thread."""
        branch = f"/comment/{comment.partition(':')[2]}" if comment else ""
        return f"/article/{article.partition(':')[2]}{branch}"


@contextmanager
def serving_sample(folder: Path, **settings: object) -> Iterator[Site]:
    """
    The sample of `upvote demo`: 60 articles of the last three weeks, 38 comments and 3 groups, and whoever voted.

    Imported users have no password: members log in.
    """
    options = ImportOptions(shift_to_now=True, with_voters=True)
    import_stories(Settings(data_dir=folder), [SAMPLE, SAMPLE_COMMENTS], options)
    with serving(folder, **settings) as live:
        yield Site(live, folder)
