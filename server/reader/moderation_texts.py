"""
Says what moderators did, with the texts that `reader/src/moderation.ts` uses: for everybody, and for the user whom an
action concerns. An action is one step of a moderator, such as a removal or a ban; a revert undoes an earlier action.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from babel import Locale
from babel.dates import format_date, format_time

from server.words.words import Words


class TextNames(NamedTuple):
    """The names of the two texts about an action: for everybody, and for the user whom it concerns."""

    for_everybody: str
    for_user: str


DONE = {  # by the kind of an action
    "ANNUL_VOTES": TextNames("did-annul", "said-annulled"),
    "APPROVE": TextNames("did-approve", "said-approved"),
    "BAN": TextNames("did-ban", "said-banned"),
    "GRANT_ROLE": TextNames("did-grant", "said-granted"),
    "LOCK": TextNames("did-lock", "said-locked"),
    "PURGE": TextNames("did-purge", "said-purged"),
    "REJECT_EDIT": TextNames("did-reject-edit", "said-edit-rejected"),
    "REMOVE": TextNames("did-remove", "said-removed"),
    "REVOKE_ROLE": TextNames("did-revoke", "said-revoked"),
}
REVERTED = {  # by the kind of the action that a revert undoes
    "ANNUL_VOTES": TextNames("did-restore-votes", "said-restored-votes"),
    "APPROVE": TextNames("did-disapprove", "said-disapproved"),
    "BAN": TextNames("did-unban", "said-unbanned"),
    "GRANT_ROLE": TextNames("did-revoke", "said-revoked"),
    "LOCK": TextNames("did-unlock", "said-unlocked"),
    "REMOVE": TextNames("did-restore", "said-restored"),
    "REVOKE_ROLE": TextNames("did-role-again", "said-role-again"),
}
OUT_OF_GROUP = TextNames("did-out-of-group", "said-out-of-group")
BACK_IN_GROUP = TextNames("did-back-in-group", "said-back-in-group")
TOOK_BACK = TextNames("did-take-back", "said-took-back")
OF_ROLES = (DONE["GRANT_ROLE"], REVERTED["GRANT_ROLE"], REVERTED["REVOKE_ROLE"])
THINGS = {"article": "thing-article", "comment": "thing-comment", "user": "thing-account"}
# Browsers write times without the quotation marks of Babel's patterns, and with plain spaces for its narrow ones.
AS_BROWSERS = {ord("'"): None, 0x202F: " "}
SUBJECT = "<subject/>"  # stands, in the texts for everybody, for the name of what an action is about
# what the texts need of an action
ACTION_FIELDS = "id kind expiresAt role subjectId group { name } reverts { kind revertedBy { id } }"


OF_SERVER = {  # the reasons that the server gives itself, and the names of the texts for them
    re.compile(r"removed with the ban action:\d+"): "with-ban",
    re.compile(r"the ban action:\d+ is reverted"): "with-ban-reverted",
    re.compile("named by UPVOTE_ADMIN at the first start"): "named-at-start",
    re.compile("by a command of the shell"): "by-shell",
    re.compile("all actions of this moderator since then are reverted"): "all-reverted",
    re.compile("it must not stay"): "must-not-stay",
}


def reason_words(words: Words, reason: str) -> str:
    """What is said instead of a reason that the server has given itself; "" for a moderator's reason."""
    return next((words(name) for pattern, name in OF_SERVER.items() if pattern.fullmatch(reason)), "")


def words_around(words: Words, action: Mapping[str, Any]) -> tuple[str, str]:
    """What a moderator did: the words before and after the name of what it is about."""
    before, _, after = words(_names_of(action).for_everybody, **_variables_of(words, action)).partition(SUBJECT)
    return before.strip(), after.strip()


def sentence_of(words: Words, action: Mapping[str, Any]) -> str:
    """What a moderator did, in a sentence for the user whom it concerns."""
    thing = words(THINGS[action["subjectId"].partition(":")[0]])
    return words(_names_of(action).for_user, thing=thing, **_variables_of(words, action))


def _variables_of(words: Words, action: Mapping[str, Any]) -> dict[str, str]:
    group, until = action["group"], action["expiresAt"]
    place = words("place-group", group=group["name"]) if group else words("place-site")
    end = words("end-until", until=_full_time(words, until)) if until else words("end-for-good")
    role = words("role-admin") if action["role"] == "ADMIN" else words("role-moderator-of", place=place)
    return {"place": place, "end": end, "role": role}


def _names_of(action: Mapping[str, Any]) -> TextNames:
    """The names of the texts about an action, by its kind, what it reverts, and its group."""
    kind, reverts, group = action["kind"], action["reverts"], action["group"]
    is_out_of_group = group is not None and action["subjectId"].startswith("article:")
    if kind == "REVERT":
        reverted = _reverted_kind(action, reverts) if reverts else ""
        names = BACK_IN_GROUP if reverted == "REMOVE" and is_out_of_group else REVERTED.get(reverted, TOOK_BACK)
    else:
        names = OUT_OF_GROUP if kind == "REMOVE" and is_out_of_group else DONE[kind]
    # Actions of an earlier version may not tell the role. In a group it can only be that of a moderator.
    if names in OF_ROLES and action["role"] is None and group is None:
        return TextNames(f"{names.for_everybody}-some", f"{names.for_user}-some")
    return names


def _reverted_kind(action: Mapping[str, Any], reverts: Mapping[str, Any]) -> str:
    """What a revert has undone. The second one of a ban has only restored votes that the first has left annulled."""
    first = reverts["revertedBy"]
    return "ANNUL_VOTES" if first and first["id"] != action["id"] else str(reverts["kind"])


def _full_time(words: Words, instant: str) -> str:
    """An instant in UTC, as `utcTime` of `reader/src/times.ts` writes it: only a browser knows the zone of its user."""
    at, locale = datetime.fromisoformat(instant), Locale.parse(words.language, sep="-")
    day, time = format_date(at, "long", locale), format_time(at, "short", locale=locale)
    text = locale.datetime_formats["long"].format(time, day).translate(AS_BROWSERS)
    return f"{text} UTC"
