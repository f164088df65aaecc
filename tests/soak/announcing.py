"""
Subscriptions to what is new for a viewer: articles, those in the feed, notifications, and how much waits for
moderators. The model of the server, with which the soak test compares the real one, says what they send.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.soak import appeals, flags, inboxes
from tests.soak.model import Model
from tests.soak.pages import PageArguments
from tests.soak.records import Article, Comment, User
from tests.soak.subscribing import SETTLING, Message, Subscriber, over_websocket
from tests.soak.variables import KnownValues

SUBSCRIPTIONS = {
    "articlePosted": "subscription { articlePosted { id title state poster { username } } }",
    "feedArticle": "subscription { feedArticle { id title state poster { username } } }",
    "notification": "subscription { notification { id kind isSeen } }",
    "moderationQueueChanged": "subscription { moderationQueueChanged }",
}
Messages = dict[str, list[Message]]


@dataclass(frozen=True)
class Write:
    """A mutation and its input."""

    mutation: str
    given: dict[str, Any]


@dataclass(frozen=True)
class State:
    """What a viewer has at one time: messages about articles and notifications, by number, and how much waits."""

    articles: dict[int, Message]
    feed: frozenset[int]  # numbers of the articles in the feed: those of users whom the viewer follows
    notifications: dict[int, Message]
    waiting: int | None  # texts and appeals in the queues of a moderator; None for others

    def after(self, before: "State") -> Messages:
        """What has to be sent after a change from the state before."""
        new = [number for number in self.articles if number not in before.articles]
        notified = {number: each for number, each in self.notifications.items() if number not in before.notifications}
        return {
            "articlePosted": [self.articles[number] for number in new],
            "feedArticle": [self.articles[number] for number in new if number in self.feed],
            "notification": [*notified.values()],
            "moderationQueueChanged": [self.waiting] if self.waiting != before.waiting else [],
        }


NOTHING = State(articles={}, feed=frozenset(), notifications={}, waiting=None)


@asynccontextmanager
async def subscribed(port: int, model: Model, tokens: Sequence[str | None]) -> AsyncIterator[list[Subscriber]]:
    """
    A subscriber for each token, to what its viewer may subscribe to. `begin` returns when the server has got the
    subscriptions; the server then counts what waits for moderators in two round trips, which take less than `SETTLING`.
    """
    async with AsyncExitStack() as stack:
        found = []
        for token in tokens:
            viewer = model.sessions.get(token) if token else None
            chosen = {name: SUBSCRIPTIONS[name] for name in _allowed(viewer)}
            found.append(await stack.enter_async_context(over_websocket(port, token, chosen)))
        for each in found:
            await each.begin(article="")
        await asyncio.sleep(SETTLING)
        yield found


def state(model: Model, viewer: User | None) -> State:
    """
    The state for a viewer now. Of articles it has those that were announced: one that was announced before is not sent
    again.
    """
    announced = [each for each in model.articles.values() if each.is_announced]
    told = inboxes.notifications(model, viewer) if viewer else ()
    return State(
        articles={each.number: _article(each) for each in announced},
        feed=frozenset(each.number for each in model.feed(viewer)) if viewer else frozenset(),
        notifications={each.subject.number: _notification(each) for each in told},
        waiting=_waiting(model, viewer) if viewer and viewer.roles else None,
    )


def write(random: Random, model: Model, known: KnownValues) -> Write:
    """A random write: mostly the approval of a text that was not announced yet."""
    texts: list[Article | Comment] = [*model.articles.values(), *model.comments.values()]
    new = [each for each in texts if each.state == "PENDING" and not each.is_announced]
    if new and random.random() < 0.7:
        return Write("approveContent", {"subjectId": known.id_of(random.choice(new)), "reason": "it is fine"})
    users = list(model.users.values())
    content = f"anew {random.randint(1, 999)}, @{random.choice(users).name}"
    visible = [each for each in model.visible() if model.takes_comments(each)]
    if not visible or random.random() < 0.4:
        return Write("post", {"title": f"anew {random.randint(1, 9_999)}", "content": content})
    id = known.id_of(random.choice(visible[-8:]))
    if random.random() < 0.5:
        return Write("flag", {"subjectId": id, "reason": "SPAM"})
    return Write("comment", {"articleId": id, "content": content})


def _allowed(viewer: User | None) -> Sequence[str]:
    if viewer is None:
        return ("articlePosted",)
    return [name for name in SUBSCRIPTIONS if viewer.roles or name != "moderationQueueChanged"]


def _waiting(model: Model, viewer: User) -> int:
    first = PageArguments(first=1)
    pages = [flags.queue(model, viewer, kind, group=None, paging=first) for kind in ("FLAGGED", "PENDING")]
    return sum(page.total for page in (*pages, appeals.queue(model, viewer, group=None, paging=first)) if page)


def _article(article: Article) -> Message:
    poster = {"username": article.poster.shown_name}
    return {"id": f"article:{article.number}", "title": article.title, "state": article.state, "poster": poster}


def _notification(each: inboxes.Notification) -> Message:
    id = f"notification:{each.user.lower}:{each.subject.number}"
    return {"id": id, "kind": each.notice.kind, "isSeen": each.is_seen}
