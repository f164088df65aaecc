"""People who write comments on one article through GraphQL, and the documents that they send."""

import random

from tests.support.refusals import WHY

PEOPLE = ("alice", "bob", "carol", "dave")
SHOWN = """fragment Shown on Comment { id depth votes upvotes downvotes viewerVote content state editedAt replyCount
  descendantCount poster { username } parent { id } ancestors { id } article { id commentCount } }"""
COMMENT = (
    """mutation($input: CommentInput!) {
  comment(input: $input) { replayed comment { ...Shown } userErrors { ...Why } } }"""
    + WHY
    + SHOWN
)
EDIT = (
    """mutation($input: EditCommentInput!) {
  editComment(input: $input) { comment { ...Shown } userErrors { ...Why } } }"""
    + WHY
    + SHOWN
)
DELETE = (
    """mutation($input: DeleteCommentInput!) {
  deleteComment(input: $input) { deletedCommentId userErrors { ...Why } } }"""
    + WHY
)
VOTE = (
    """mutation($input: VoteOnCommentInput!) {
  voteOnComment(input: $input) { changed comment { ...Shown } userErrors { ...Why } } }"""
    + WHY
    + SHOWN
)
READ = "query($id: ID!) { comment(id: $id) { ...Shown } }" + SHOWN
KARMA = "query($name: String!) { user(username: $name) { karma } }"


class Community:
    """
    People who are logged in, and what they do. `tokens` has their session tokens by username; `article` is the id of
    alice's article. Without a name in `tokens`, a request is anonymous.
    """

    def __init__(self, ask, tokens, article):
        self._ask, self.tokens, self.article = ask, tokens, article

    async def run(self, mutation, who, **input):
        """The payload of a mutation."""
        answer = await self._ask(mutation, self.tokens.get(who), input=input)
        assert "errors" not in answer, answer
        (payload,) = answer["data"].values()
        return payload

    async def comment(self, who, parent=None, content=None, **input):
        """Post a comment on the article, or a reply to the comment with the id `parent`."""
        above = {"parentId": parent} if parent else {}
        text = content or f"a text {random.random()}"  # the same text again would be taken for a double click
        payload = await self.run(COMMENT, who, articleId=self.article, content=text, **above, **input)
        assert payload["userErrors"] == []
        return payload["comment"]

    async def read(self, id, who=None):
        return (await self._ask(READ, self.tokens.get(who), id=id))["data"]["comment"]

    async def karma(self, name):
        return (await self._ask(KARMA, name=name))["data"]["user"]["karma"]

    async def refusals(self, mutation, who, **input):
        """Why a mutation is refused: the code of each error, and the field of the input that it names, or None."""
        payload = await self.run(mutation, who, **input)
        assert not [value for name, value in payload.items() if name != "userErrors" and value]
        return [(error["code"], error["field"] and error["field"][1]) for error in payload["userErrors"]]
