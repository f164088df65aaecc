"""A conversation between three members that puts something on every page, and the paths of all pages."""

from dataclasses import dataclass

from tests.reader.site import Member, Site

TEXT = """A paragraph with *emphasis*, **strong**, `code` and a [link](https://example.com/).

> A quotation.

- one
- two

```
a block of code
```
"""


# Pages that everybody may see, by what they show.
PUBLIC = {
    "front page": "/",
    "second page by SCORE": "/?order=SCORE&page=2",
    "newest": "/?order=TIME",
    "top of the day": "/top/day",
    "good": "/good",
    "groups": "/groups",
    "group": "/group/scene",
    "top of a group": "/group/ask?top=month",
    "user": "/user/{alice}",
    "comments of a user": "/user/{bob}/comments",
    "followers of a user": "/user/{alice}/followers",
    "comments": "/comments",
    "comments of a group": "/comments?group=scene",
    "log": "/log",
    "log of a group": "/log?group=scene",
    "roles": "/moderation/roles",
    "search": "/search?q=every+page",
    "article": "/article/{article}",
    "branch": "/article/{article}/comment/{comment}",
    "log in": "/log-in",
    "register": "/register",
    "forgot": "/forgot",
    "confirm": "/confirm#token",
    "reset": "/reset#token",
    "absent": "/absent",
    "absent article": "/article/1",
    "removed article": "/article/{removed}",
    "removed comment": "/article/{talk}/comment/{lone}",
    "branch of a removed comment": "/article/{talk}/comment/{rude}",
}
# Pages of a member; others are told to log in.
PRIVATE = {
    "home": "/home",
    "feed": "/feed",
    "inbox": "/inbox",
    "held": "/held",
    "followed groups": "/followed",
    "saved": "/saved",
    "hidden": "/hidden",
    "blocked": "/blocked",
    "post": "/post",
    "settings": "/settings",
}
PAGES = PUBLIC | PRIVATE


@dataclass(frozen=True)
class Scene:
    """
    `alice` has posted `article`. `bob` has answered in `comment`, mentioned her elsewhere and follows her; `carol` has
    replied to him. A moderator has removed the article `removed` and of `talk` the comments `lone` and `rude`, which
    has an answer. A user who was deleted has posted `short`, whose title is a short word, and answered in `article`.
    """

    alice: Member
    bob: Member
    carol: Member
    article: str  # its id, as below
    comment: str
    removed: str
    talk: str
    lone: str
    rude: str
    short: str

    def path(self, page: str) -> str:
        """The path of one of `PAGES`."""
        names = {"alice": self.alice.username, "bob": self.bob.username}
        ids = ("article", "comment", "removed", "talk", "lone", "rude")
        return PAGES[page].format(**names, **{name: getattr(self, name).partition(":")[2] for name in ids})


def create_scene(site: Site) -> Scene:
    """Register three members and let them post, comment, vote and follow."""
    alice, bob, carol = (site.member(name) for name in ("alice", "bob", "carol"))
    article = site.post(alice, "Ask HN: What is on every page?", content=TEXT, groups=["scene", "ask"])
    site.post(alice, "العنوان من اليمين إلى اليسار", groups=["scene"])
    comment = site.comment(bob, article, TEXT)
    reply = site.comment(carol, article, "A reply.", parent=comment)
    site.comment(bob, article, "A deeper reply.", parent=reply)
    site.comment(bob, article, f"A second thread, in which @{alice.username} is mentioned.")
    withdrawn = site.comment(carol, article, "This will be deleted.")
    site.comment(bob, article, "And this answers it.", parent=withdrawn)
    site.delete(carol, withdrawn)
    site.vote(bob, article)
    site.vote(carol, comment, "DOWN")
    moderator = site.member("moderator")
    site.moderate(moderator, "scene")
    removed = site.post(carol, "To be removed", groups=["scene"])
    site.act(moderator, "removeContent", subjectId=removed, reason="Advertising.", note="The third one.")
    talk = site.post(carol, "Talked about", content="A text.", groups=["scene"])
    lone, rude = site.comment(bob, talk, "A lone text."), site.comment(bob, talk, "A rude text.")
    site.comment(alice, talk, "An answer.", parent=rude)
    for comment_id in (lone, rude):
        site.act(moderator, "removeContent", subjectId=comment_id, reason="Be kind.")
    banned = site.member("banned")
    site.act(moderator, "banUser", userId=banned.id, group="scene", until="2199-12-31T22:00:00Z", reason="Advertising.")
    site.follow(bob, alice)
    site.follow(carol, alice)
    leaver = site.member("leaver")
    short = site.post(leaver, "Vi", groups=["scene"])
    site.comment(leaver, article, "From somebody who left.")
    site.leave(leaver, short)
    site.wait_until_found("every page", 1)
    return Scene(alice, bob, carol, article, comment, removed, talk, lone, rude, short)
