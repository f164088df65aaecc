"""
The export of a user, a ZIP file with files of JSON lines, compared with what the model of the server knows. Only the
values in `KEYS` of each line are compared.
"""

import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zipfile import ZipFile

import httpx

from tests.soak import inboxes, issuers
from tests.soak.model import Model
from tests.soak.records import Article, Comment, User, vote_of
from tests.soak.saved import is_shown

PATIENCE = 60.0  # seconds
Lines = defaultdict[str, Counter[tuple[Any, ...]]]  # what is compared of the lines, by the name of the file

KEYS: Mapping[str, Callable[[dict[str, Any]], tuple[Any, ...]]] = {
    "account": lambda line: (line["username"], line["displayName"], line["about"], line["karma"], len(line["roles"])),
    "sessions": lambda line: (),  # their number only
    "articles": lambda line: (line["id"], line["title"], line["content"], line["state"], _edit(line), *_actions(line)),
    "comments": lambda line: (line["id"], line["content"], line["state"], _edit(line), *_actions(line)),
    "votes": lambda line: (line["subjectId"], line["value"]),
    "following": lambda line: (line["username"],),
    "followers": lambda line: (line["username"],),
    "saved": lambda line: (line["id"],),
    "groups": lambda line: (line["name"],),
    "hidden": lambda line: (line["id"],),
    "blocked": lambda line: (line["username"],),
    "inbox": lambda line: (line["kind"], line["subject"] and line["subject"]["id"], line["isSeen"]),
    "mails": lambda line: (line["email"], line["pendingEmail"], line["mailReplies"]),
    "flags": lambda line: (line["subjectId"], line["reason"], line["note"]),
    "identities": lambda line: (line["issuer"], line["id"]),
    "moderation": lambda line: (line["id"], line["kind"], line["reason"]),
}


async def export(port: int, token: str | None) -> Lines | int:
    """The lines of the export of a session, or the HTTP status of an answer without one."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        answer = await client.post(f"http://127.0.0.1:{port}/export", headers=headers)
    if answer.status_code != 200:
        return answer.status_code
    with ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name.removesuffix(".jsonl"): archive.read(name).splitlines() for name in archive.namelist()}
    lines = {name: Counter(_key(name, json.loads(line)) for line in found) for name, found in files.items()}
    return defaultdict(Counter, lines)


def expected(model: Model, viewer: User) -> Lines:
    """What the model knows of a user."""
    articles = [each for each in model.articles.values() if each.poster is viewer]
    comments = [each for each in model.comments.values() if each.poster is viewer]
    subjects: list[Article | Comment] = [*model.articles.values(), *model.comments.values()]
    told = [(each.notice.kind, repr(each.subject), each.is_seen) for each in inboxes.notifications(model, viewer)]
    flags = {each: each.flags[viewer] for each in subjects if viewer in each.flags}
    profile = viewer.profile.get("displayName"), viewer.profile.get("about")
    lines: dict[str, Counter[tuple[Any, ...]]] = {
        "account": Counter([(viewer.name, *profile, model.karma(viewer), len(viewer.roles))]),
        "sessions": Counter(() for each in model.sessions.values() if each is viewer),
        "articles": Counter((repr(each), each.title, each.content, each.state, *_held(each)) for each in articles),
        "comments": Counter((repr(each), each.content, each.state, *_held(each)) for each in comments),
        "votes": Counter(_votes(subjects, viewer)),
        "following": Counter((each.name,) for each in viewer.following),
        "followers": Counter((each.name,) for each in model.followers(viewer)),
        "inbox": Counter(told),
        "saved": Counter((repr(each),) for each in viewer.saved if is_shown(model, each)),
        "groups": Counter((name,) for name in viewer.groups),
        "hidden": Counter((repr(each),) for each in viewer.hidden if is_shown(model, each)),
        "blocked": Counter((each.name,) for each in viewer.blocked),
        "mails": Counter([(None, None, viewer.mail_replies)]),  # nobody has an address
        "flags": Counter((repr(each), flag.reason, flag.note) for each, flag in flags.items()),
        "identities": Counter((issuers.NAME, each) for each, of in model.identities.items() if of.user is viewer),
        "moderation": Counter((repr(each), each.kind, each.reason) for each in viewer.actions),
    }
    return defaultdict(Counter, lines)


def difference(expected: Lines, got: Lines) -> str | None:
    """The differences between exports; None if there are none."""
    wrong = {
        name: (got[name] - expected[name], expected[name] - got[name])
        for name in expected.keys() | got.keys() if got[name] != expected[name]
    }  # fmt: skip
    return f"lines that should not be there, and that are missing: {wrong}"[:2_000] if wrong else None


def _key(name: str, line: dict[str, Any]) -> tuple[Any, ...]:
    return KEYS[name](line) if name in KEYS else (str(line),)


def _actions(line: Mapping[str, Any]) -> Iterable[str]:
    return [each["id"] for each in line["moderation"]]


def _edit(line: Mapping[str, Any]) -> str | None:
    return line["heldEdit"] and line["heldEdit"]["content"]


def _held(text: Article | Comment) -> Iterable[str | None]:
    """The content of the edit that waits, and the actions about a text."""
    edited = text.held_edit and (text.held_edit.changes.get("content", text.content) or None)
    return [edited, *(repr(each) for each in text.actions)]


def _votes(subjects: Iterable[Article | Comment], viewer: User) -> Iterable[tuple[str, str]]:
    """The lines of a user's votes, also of those that do not count, but none on what was deleted."""
    for each in subjects:
        if each.poster is not None and (value := vote_of(each, viewer)) != "NONE":
            yield repr(each), value
