"""
Removes texts of what was deleted, and names of deleted users, from the bodies of messages that wait to be sent to
webhooks.

A message is about one change, an entry of the log of the store. Its body is {"type": the kind of the change, "data":
{"actorId", "subjectId", "fields": [{"name", "value"}, ...], ...}, ...}; values are texts.
"""

import re
from collections.abc import Mapping
from typing import Any

Body = Mapping[str, Any]

USER_DELETED = "user_deleted"  # the kind of the entry of such a deletion, which has the name and the pseudonym
TEXTS = frozenset({"title", "link", "content", "reason"})  # names of values that go with what is deleted
NAMES = frozenset({"poster", "followee", "name", "moderator"})  # names of values that are a username
# names of values that are words with usernames in them
MENTIONS = frozenset({"notified", "told", "of_article", "comments", "karma", "subject_id"})


def without_texts(body: Body) -> dict[str, Any]:
    """The body of a message without the texts of what was deleted."""
    data = body["data"]
    fields = [field for field in data["fields"] if field["name"] not in TEXTS]
    return {**body, "data": {**data, "fields": fields}}


def without_user(body: Body, name: str, pseudonym: str) -> dict[str, Any]:
    """
    The body of a message with the pseudonym of a deleted user in place of the name, and without the texts that the user
    has written. The message of the deletion itself stays as it is.
    """
    if body["type"] == USER_DELETED:
        return dict(body)
    own, word = f"user:{name.lower()}", re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    if body["data"]["actorId"] == own:
        body = without_texts(body)
    data = body["data"]
    ids = {id: f"user:{pseudonym}" if data[id] == own else data[id] for id in ("actorId", "subjectId")}
    fields = [{**field, "value": _replaced(field, name, word, pseudonym)} for field in data["fields"]]
    return {**body, "data": {**data, **ids, "fields": fields}}


def _replaced(field: Mapping[str, str], name: str, word: re.Pattern[str], pseudonym: str) -> str:
    """The value of a field with the pseudonym in place of the name, which `word` finds where it stands in a text."""
    value = field["value"]
    if field["name"] in NAMES and value.lower() == name.lower():
        return pseudonym
    if field["name"] in MENTIONS and not name.isdigit():  # else it may be a number of an article
        return word.sub(lambda _: pseudonym, value)
    return value
