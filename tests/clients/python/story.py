"""
Posts, reads and votes with the client that ariadne-codegen generates, and prints the results for tests.

    python story.py URL CLOSED

URL is that of the endpoint, CLOSED the id of an article on which voting is closed.
"""

import json
import sys

from upvote_client import Client, PostInput, RegisterInput

URL, CLOSED = sys.argv[1:]


def registered(username: str) -> Client:
    with Client(URL) as client:
        token = client.register(RegisterInput(username=username, password="correct horse")).session.token
    return Client(URL, headers={"Authorization": f"Bearer {token}"})


with registered("python-poster") as client:
    posts = [PostInput(title=title, content="To be voted on.", groups=["python"]) for title in ("First", "Second")]
    first, second = (client.post(post).post.article for post in posts)

with registered("python-voter") as client:
    page = client.page("python").articles
    following = client.page("python", page.page_info.end_cursor).articles
    vote = client.vote(first.id, "DOWN").vote
    (refusal,) = client.vote(CLOSED).vote.user_errors

seen = {
    "titles": [node.title for node in page.nodes + following.nodes],
    "in order": first.posted_at <= second.posted_at,
    "vote": [vote.article.votes, vote.article.viewer_vote],
    "refused": [type(refusal).__name__, refusal.code, refusal.closed_at.isoformat()],
}
print(json.dumps(seen))
