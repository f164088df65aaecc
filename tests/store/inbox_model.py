"""
A plain model of inboxes: whom texts, which are articles and comments, notify, and what is left when they are deleted.
A notification is a reply to a text of the user, or a mention of the name. Random changes are made in a store and in the
model, and their inboxes are compared.
"""

import random
from dataclasses import dataclass, field

from store import inboxes
from store.articles import Draft
from store.errors import Refusal
from store.inboxes import InboxPage
from store.listings import Window
from store.notifications import Notification, NotificationKind
from store.records import Position
from store.store import Store
from tests.store.reading import read

PEOPLE = ("Alice", "bob", "Carol", "dave")
MOST_MENTIONS = 3  # of one text, over all its edits


@dataclass
class Text:
    """An article or a comment, which answers another text."""

    type: str
    number: int
    poster: str
    article: "Text | None" = None
    parent: "Text | None" = None
    notified: dict[str, tuple[str, int]] = field(default_factory=dict)  # kind and time, by name

    @property
    def is_article(self) -> bool:
        return self.type == "article"


class InboxModel:
    """`texts` are those that are not deleted. `seen` has, by user, time and number of the last notification seen."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.seen: dict[str, tuple[int, int]] = {}

    def post(self, text: Text, mentioned: list[str], now: int) -> None:
        self.texts.append(text)
        if text.parent:
            self._notify(text, text.parent.poster, "reply", now)
        self.edit(text, mentioned, now)

    def edit(self, text: Text, mentioned: list[str], now: int) -> None:
        for name in list(dict.fromkeys(mentioned))[:MOST_MENTIONS]:
            if sum(kind == "mention" for kind, _ in text.notified.values()) < MOST_MENTIONS:
                self._notify(text, name, "mention", now)

    def delete(self, text: Text) -> None:
        self.texts = [each for each in self.texts if text not in (each, each.article)]

    def mark(self, name: str, position: tuple[int, int]) -> None:
        """Mark notifications as seen up to a time and number, but never beyond the newest one."""
        if newest := self.inbox(name)[:1]:
            self.seen[name] = max(self.seen.get(name, (0, 0)), min(position, newest[0][:2]))

    def inbox(self, name: str) -> list[tuple[int, int, str, str]]:
        """Time, number, kind and type of each notification, newest first."""
        found = [
            (text.notified[name][1], text.number, text.notified[name][0], text.type)
            for text in self.texts
            if name in text.notified
        ]
        return sorted(found, reverse=True)

    def unseen(self, name: str) -> int:
        """How many notifications are newer than the last one seen."""
        return sum(each[:2] > self.seen.get(name, (0, 0)) for each in self.inbox(name))

    def _notify(self, text: Text, name: str, kind: str, now: int) -> None:
        if name != text.poster and name not in text.notified:
            seen, _ = self.seen.get(name, (0, 0))
            text.notified[name] = (kind, max(now, seen + 1))  # a late one counts as unseen: nobody has seen it


async def act(store: Store, model: InboxModel, chance: random.Random) -> None:
    """Make a random change in the store and in the model."""
    clock = store.site.clock
    clock.advance(chance.choice((0, 0.001, 1)))  # type: ignore[attr-defined]
    who, now, turn = chance.choice(PEOPLE), clock(), chance.random()  # `turn` chooses what is done
    mentioned = chance.choices((*PEOPLE, "nobody"), k=chance.randrange(6))
    content = f"{' '.join(f'@{name.upper()}' for name in mentioned)} {chance.random()}"
    text = chance.choice(model.texts) if model.texts else None
    if text is None or turn < 0.15:
        article = (await store.articles.post(who, Draft("a title", content=content))).article
        model.post(Text("article", article.number, who), mentioned, now)
    elif turn < 0.55:
        article = text.article or text
        parent = None if text.is_article else text.number
        comment = (await store.comments.post(article.number, parent=parent, poster=who, content=content)).comment
        model.post(Text("comment", comment.number, who, article, text), mentioned, now)
    elif turn < 0.75:
        if text.is_article:
            await store.articles.edit(text.number, text.poster, {"content": content})
        else:
            await store.comments.edit(text.number, text.poster, content)
        model.edit(text, mentioned, now)
    elif turn < 0.9:
        delete = store.articles.delete if text.is_article and turn < 0.78 else store.comments.delete
        try:
            await delete(text.number, text.poster)
            model.delete(text)
        except Refusal:
            assert text.is_article  # the command that deletes comments refuses an article
    elif found := model.inbox(who):
        after_all = (now + 1_000, 5)
        time, number, *_ = chance.choice([*found, after_all])
        await store.inboxes.mark_seen(who, Position(float(time), f"{number:016d}"))
        model.mark(who, (time, number))


async def check(store: Store, model: InboxModel) -> None:
    """Compare all inboxes with the model, page by page."""
    for name in PEOPLE:
        for unseen_only in (False, True):
            expected = model.inbox(name)[: model.unseen(name) if unseen_only else None]
            for upwards in (False, True):
                assert await walked(store, name, size=3, upwards=upwards, unseen_only=unseen_only) == expected
        page = await page_of(store, name)
        assert (page.total, page.unseen) == (len(model.inbox(name)), model.unseen(name))
        assert [each.is_seen for each in page.notifications] == [
            place >= page.unseen for place in range(len(page.notifications))
        ]
        numbers = [number for _, number, *_ in model.inbox(name)]
        (found,) = await read(store, inboxes.find(store.site, name, [*numbers, 1]))
        assert [found[number] for number in numbers] == list(page.notifications)[: len(numbers)]
        assert 1 not in found


async def page_of(store: Store, name: str, window: Window | None = None, unseen_only: bool = False) -> InboxPage:
    (page,) = await read(store, inboxes.page(store.site, name, window or Window(1_000), unseen_only=unseen_only))
    return page


async def walked(
    store: Store, name: str, size: int, upwards: bool, unseen_only: bool
) -> list[tuple[int, int, str, str]]:
    """All notifications of an inbox, page by page; how many are before each page is checked."""
    found: list[Notification] = []
    beyond = None
    while True:
        page = await page_of(store, name, Window(size, upwards, beyond), unseen_only)
        notifications = list(page.notifications)
        found = [*notifications, *found] if upwards else [*found, *notifications]
        assert page.above == (page.total - len(found) if upwards else len(found) - len(notifications))
        if len(found) == page.total:
            return [(each.at, each.number, each.kind.value, each.type) for each in found]
        assert len(notifications) == size
        beyond = notifications[0 if upwards else -1].position


def kinds_of(page: InboxPage) -> list[tuple[NotificationKind, int]]:
    """Kind and number of each notification of a page."""
    return [(each.kind, each.number) for each in page.notifications]
