"""What moderators did, in the words of `reader/src/moderation.ts`: for everybody, and for the user whom it concerns."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from babel import Locale
from babel.dates import format_date, format_time

from server.words.words import Words

DONE = {  # the texts of what was done: "did-" before those for everybody, "said-" before those for the user
    "ANNUL_VOTES": ("did-annul", "said-annulled"),
    "APPROVE": ("did-approve", "said-approved"),
    "BAN": ("did-ban", "said-banned"),
    "GRANT_ROLE": ("did-grant", "said-granted"),
    "LOCK": ("did-lock", "said-locked"),
    "PURGE": ("did-purge", "said-purged"),
    "REJECT_EDIT": ("did-reject-edit", "said-edit-rejected"),
    "REMOVE": ("did-remove", "said-removed"),
    "REVOKE_ROLE": ("did-revoke", "said-revoked"),
}
REVERTED = {
    "ANNUL_VOTES": ("did-restore-votes", "said-restored-votes"),
    "APPROVE": ("did-disapprove", "said-disapproved"),
    "BAN": ("did-unban", "said-unbanned"),
    "GRANT_ROLE": ("did-revoke", "said-revoked"),
    "LOCK": ("did-unlock", "said-unlocked"),
    "REMOVE": ("did-restore", "said-restored"),
    "REVOKE_ROLE": ("did-role-again", "said-role-again"),
}
OUT_OF_GROUP = "did-out-of-group", "said-out-of-group"
BACK_IN_GROUP = "did-back-in-group", "said-back-in-group"
TOOK_BACK = "did-take-back", "said-took-back"
OF_ROLES = {"did-grant", "did-revoke", "did-role-again", "said-granted", "said-revoked", "said-role-again"}
THINGS = {"article": "thing-article", "comment": "thing-comment", "user": "thing-account"}
SUBJECT = "<subject/>"  # where the texts for everybody have the name of what an action is about
FIELDS = "kind expiresAt role subjectId group { name } reverts { kind }"  # of an action, which the texts need


def words_around(words: Words, action: Mapping[str, Any]) -> tuple[str, str]:
    """What a moderator did: the words before and after the name of what it is about."""
    before, _, after = words(_name_of(action, 0), **_given_of(words, action)).partition(SUBJECT)
    return before.strip(), after.strip()


def sentence_of(words: Words, action: Mapping[str, Any]) -> str:
    """What a moderator did, in a sentence for the user whom it concerns."""
    thing = words(THINGS[action["subjectId"].partition(":")[0]])
    return words(_name_of(action, 1), thing=thing, **_given_of(words, action))


def _given_of(words: Words, action: Mapping[str, Any]) -> dict[str, str]:
    group, until = action["group"], action["expiresAt"]
    place = words("place-group", group=group["name"]) if group else words("place-site")
    end = words("end-until", until=_full_time(words, until)) if until else words("end-for-good")
    role = words("role-admin") if action["role"] == "ADMIN" else words("role-moderator-of", place=place)
    return {"place": place, "end": end, "role": role}


def _name_of(action: Mapping[str, Any], whose: int) -> str:
    kind, reverts, group = action["kind"], action["reverts"], action["group"]
    is_out_of_group = group is not None and action["subjectId"].startswith("article:")
    if kind == "REVERT":
        reverted = reverts["kind"] if reverts else ""
        names = BACK_IN_GROUP if reverted == "REMOVE" and is_out_of_group else REVERTED.get(reverted, TOOK_BACK)
    else:
        names = OUT_OF_GROUP if kind == "REMOVE" and is_out_of_group else DONE[kind]
    # A role in a group is that of a moderator. Actions of an earlier version may not tell that of the site.
    is_some_role = names[whose] in OF_ROLES and action["role"] is None and group is None
    return f"{names[whose]}-some" if is_some_role else names[whose]


def _full_time(words: Words, instant: str) -> str:
    """As `utcTime` of `reader/src/times.ts`: only a browser knows the zone of its user."""
    at, locale = datetime.fromisoformat(instant), Locale.parse(words.language, sep="-")
    day, time = format_date(at, "long", locale), format_time(at, "short", locale=locale)
    text = locale.datetime_formats["long"].format(time, day).replace("'", "").replace("\u202f", " ")  # as browsers have it
    return f"{text} UTC"
