"""Who reads the same: strangers, posters, moderators of this group and of another, admins, and others."""

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

READ = ("article", "article", "comment", "node", "nodes", "articles", "held", "moderationLog", "moderationQueue")
PENDING = 0.4  # share of the subscriptions about what is pending, where there is any
HIDDEN = 0.75  # share of the reads that are about what is not visible, where there is any


@dataclass(frozen=True)
class Viewing:
    """A document about an article or a comment, with its variables, and who reads it: who may read most comes first."""

    document: Document
    variables: dict[str, Any]
    viewers: list[User | None]


@dataclass(frozen=True)
class Subscribing:
    """A mutation with its input, beside subscriptions to an article; those who may read least are the first."""

    mutation: str
    given: dict[str, Any]
    article: Ref
    viewers: list[User | None]


def viewing(random: Random, model: Model, known: KnownValues) -> Viewing | None:
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
    """A write about an article, mostly a visible one that has comments, and mostly what a moderator does."""
    makers = random.sample((_about_pending, _to_pending), 2)
    if random.random() < PENDING and (about := makers[0](random, model, known) or makers[1](random, model, known)):
        return about
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


def _about_pending(random: Random, model: Model, known: KnownValues) -> Subscribing | None:
    """
    Of those who subscribe, only those who may read it do. An article that has comments is preferred, as few have any
    while they wait, and a comment of it is mostly removed.
    """
    pending = [each for each in model.articles.values() if each.state == "PENDING"]
    if not pending:
        return None
    comments = [each for each in model.comments.values() if each.article in pending and each.is_visible]
    if comments and random.random() < 0.7:
        comment = random.choice(comments)
        name, article, subject = "removeContent", comment.article, known.comments[comment.number]
    else:
        article = random.choice(pending)
        name, subject = random.choice(("approveContent", "removeContent")), known.articles[article.number]
    given = {"subjectId": subject, "reason": "looked at"}
    return Subscribing(name, given, known.articles[article.number], list(viewers(random, model, article)))


def _to_pending(random: Random, model: Model, known: KnownValues) -> Subscribing | None:
    """
    What makes an article wait that has comments: it was held, an approval has shown it, somebody has commented on it,
    and that approval is reverted.
    """
    shown = [each for each in model.articles.values() if each.is_visible and _approval_of_held(each)]
    if not shown:
        return None
    article = random.choice(shown)
    id, approval = known.articles[article.number], _approval_of_held(article)
    assert approval
    if any(each.article is article and each.is_visible for each in model.comments.values()):
        name, given = "revertModeration", {"actionId": known.actions[approval.number], "reason": "looked at again"}
    else:
        name, given = "comment", {"articleId": id, "content": f"anew {random.randint(1, 999)}"}
    return Subscribing(name, given, id, list(viewers(random, model, article))[::-1])


def _approval_of_held(article: Article) -> Action | None:
    """The approval that shows an article which waited, if that is the newest decision about it."""
    action = next(reversed([each for each in article.decisions if each.reverted_by is None]), None)
    return action if action and action.kind == "APPROVE" and action.before == "PENDING" else None


def _approval(random: Random, model: Model, known: KnownValues, comment: Comment) -> Subscribing:
    """Of a comment of which subscribers to its article have not heard, if it is held since it was posted."""
    given = {"subjectId": known.comments[comment.number], "reason": "it is fine"}
    id = known.articles[comment.article.number]
    return Subscribing("approveContent", given, id, list(viewers(random, model, comment))[::-1])


def _undone(model: Model, comments: Iterable[Comment]) -> list[int]:
    """Some actions about comments that stand."""
    actions = [
        each for comment in comments for each in comment.actions if each.kind == "REMOVE" and not each.reverted_by
    ]
    return [each.number for each in actions[-2:]]


def viewers(random: Random, model: Model, subject: Article | Comment) -> Iterator[User | None]:
    """One of each kind, if there is one."""
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
