"""
Steps of a random history in which several viewers read the same, or subscribe to it: strangers, posters, moderators of
this group and of another, admins, and others. Each has to get what they may read. A text is an article or a comment; a
pending, or held, one waits for a moderator.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.soak.documents import Document, DocumentGenerator
from tests.soak.history import Ref
from tests.soak.inputs import VariableGenerator
from tests.soak.model import Model
from tests.soak.records import Action, Article, Comment, User
from tests.soak.variables import KnownValues

# root fields that are read
READ = ("article", "article", "comment", "node", "nodes", "articles", "held", "moderationLog", "moderationQueue")
# share of the steps with subscriptions to any article, and of those about a comment below an article that waits for a
# moderator, or what leads there
SUBSCRIBED, BENEATH = 0.008, 0.03
PENDING = 0.4  # share of the subscriptions about what is pending, where there is any
HIDDEN = 0.75  # share of the reads that are about what is not visible, where there is any


@dataclass(frozen=True)
class Viewing:
    """A document about an article or a comment, with its variables, and who reads it: None stands for a stranger."""

    document: Document
    variables: dict[str, Any]
    viewers: list[User | None]


@dataclass(frozen=True)
class Subscribing:
    """A mutation with its input, an article by its id, and who subscribes to it; None stands for a stranger."""

    mutation: str
    given: dict[str, Any]
    article: Ref
    viewers: list[User | None]


def viewing(random: Random, model: Model, known: KnownValues) -> Viewing | None:
    """A random document about a text that exists, mostly one that is hidden from some."""
    subject = _subject(random, model)
    if subject is None:
        return None
    article = subject.article if isinstance(subject, Comment) else subject
    document = DocumentGenerator(random).query(random.choices(READ, k=random.choice((1, 1, 2))))
    generator = VariableGenerator(random, model, known, subject.poster)
    values = generator.variables(document)
    ids = {"articleId": known.articles[article.number]}
    if isinstance(subject, Comment):
        ids |= {"commentId": known.comments[subject.number], "under": known.comments[subject.number]}
    about = [*ids.values()][:2]
    for slot in document.slots:
        if slot.kind in ids:
            values[slot.name] = ids[slot.kind]
        elif slot.kind == "nodeId":
            values[slot.name] = random.choice(about)
        elif slot.kind == "nodeIds":
            values[slot.name] = [*about, *(values.get(slot.name) or ())]
        elif slot.kind == "cursor":
            values[slot.name] = None
    return Viewing(document, values, list(viewers(random, model, subject)))


def subscribing(random: Random, model: Model, known: KnownValues) -> Subscribing | None:
    """A write beside subscriptions; mostly None, because it takes long."""
    if random.random() < SUBSCRIBED:
        return _about_article(random, model, known)
    return _beneath_pending(random, model, known) if random.random() < BENEATH else None


def _about_article(random: Random, model: Model, known: KnownValues) -> Subscribing | None:
    """A write about an article, mostly a visible one that has comments, and mostly what a moderator does."""
    pending = [each for each in model.articles.values() if each.state == "PENDING"]
    if pending and random.random() < PENDING:
        article = random.choice(pending)
        name, id = random.choice(("approveContent", "removeContent")), known.articles[article.number]
        given = {"subjectId": id, "reason": "looked at"}
        return Subscribing(name, given, id, list(viewers(random, model, article)))
    articles = [each for each in model.articles.values() if model.takes_comments(each)]
    comments = [each for each in model.comments.values() if each.article in articles and not each.is_stub]
    held = [each for each in comments if each.state == "PENDING"]
    if held and random.random() < PENDING:
        return _approval(random, model, known, random.choice(held))
    article = random.choice(comments).article if comments else random.choice(articles) if articles else None
    if article is None:
        return None
    own = [each for each in comments if each.article is article]
    id, reason = known.articles[article.number], "out of place"
    writes = [
        ("removeContent", {"subjectId": id, "reason": reason}),
        ("lockArticle", {"articleId": id, "reason": reason}),
        ("vote", {"articleId": id, "value": random.choice(("UP", "DOWN", "NONE"))}),
        ("comment", {"articleId": id, "content": f"anew {random.randint(1, 999)}"}),
        *(("removeContent", {"subjectId": known.comments[each.number], "reason": reason}) for each in own[-2:]),
        *(
            ("revertModeration", {"actionId": known.actions[number], "reason": reason})
            for number in _undone(model, own)
        ),
    ]
    name, given = random.choice(writes)
    return Subscribing(name, given, id, list(viewers(random, model, article))[::-1])


def _beneath_pending(random: Random, model: Model, known: KnownValues) -> Subscribing | None:
    """
    What moderators do about a comment of a pending article, or what leads there: an article that was held, and shown by
    an approval, gets a comment, and then the approval is reverted. Few articles that wait have comments otherwise.
    """
    comments = [each for each in model.comments.values() if each.is_visible]
    pending = [each for each in comments if each.article.state == "PENDING"]
    shown = [(each, action) for each in model.visible() if (action := _approval_of_held(each))]
    if pending:
        comment = random.choice(pending)
        article, name = comment.article, "removeContent"
        given = {"subjectId": known.comments[comment.number], "reason": "out of place"}
    elif shown:
        article, approval = random.choice(shown)
        name, given = "revertModeration", {"actionId": known.actions[approval.number], "reason": "looked at again"}
        if not any(each.article is article for each in comments):
            name = "comment"
            given = {"articleId": known.articles[article.number], "content": f"anew {random.randint(1, 999)}"}
    else:
        return None
    return Subscribing(name, given, known.articles[article.number], list(viewers(random, model, article))[::-1])


def _approval_of_held(article: Article) -> Action | None:
    """The approval that has shown an article which had waited; None if none has."""
    action = next(reversed([each for each in article.decisions if each.reverted_by is None]), None)
    return action if action and action.kind == "APPROVE" and action.before == "PENDING" else None


def _approval(random: Random, model: Model, known: KnownValues, comment: Comment) -> Subscribing:
    """The approval of a held comment: if it is held since it was posted, subscribers have not heard of it before."""
    given = {"subjectId": known.comments[comment.number], "reason": "it is fine"}
    id = known.articles[comment.article.number]
    return Subscribing("approveContent", given, id, list(viewers(random, model, comment))[::-1])


def _undone(model: Model, comments: Iterable[Comment]) -> list[int]:
    """The numbers of some removals of comments by moderators that were not reverted."""
    actions = [
        each for comment in comments for each in comment.actions if each.kind == "REMOVE" and not each.reverted_by
    ]
    return [each.number for each in actions[-2:]]


def viewers(random: Random, model: Model, subject: Article | Comment) -> Iterator[User | None]:
    """A viewer of each kind, if there is one: those who may read most come first, and a stranger (None) last."""
    groups = subject.article.groups if isinstance(subject, Comment) else subject.groups
    users = random.sample(list(model.users.values()), len(model.users))
    others = [each for each in users if each is not subject.poster]
    kinds = [
        [each for each in others if each.is_admin],
        [each for each in others if each.moderates_site and not each.is_admin],
        [each for each in others if each.moderates(groups) and not each.moderates_site],
        [each for each in users if each is subject.poster],
        [each for each in others if each.roles and not each.moderates(groups)],
        [each for each in others if not each.roles],
    ]
    yield from (kind[0] for kind in kinds if kind)
    yield None


def _subject(random: Random, model: Model) -> Article | Comment | None:
    comments = [each for each in model.comments.values() if not each.is_stub]
    subjects: list[Article | Comment] = [*model.articles.values(), *comments]
    hidden: list[Article | Comment] = [each for each in model.articles.values() if not each.is_visible]
    if not hidden or random.random() < 0.5:
        hidden = [each for each in comments if not each.is_shown]
    chosen = hidden if hidden and random.random() < HIDDEN else subjects
    return random.choice(chosen) if chosen else None
