"""The log of moderation: `reader/src/pages/LogPage.tsx` as HTML."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from babel import Locale
from babel.dates import format_date, format_time
from starlette.requests import Request

from server import documents
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, neighbours, page_of
from server.reader.frames import render_page
from server.reader.translations import words_of
from server.words.words import Words

LOG = f"""query LogHtml($group: String, $subject: ID, {VARIABLES}) {{
  moderationLog(group: $group, subjectId: $subject, {ARGUMENTS}) {{
    {PAGE_INFO}
    nodes {{
      kind at reason expiresAt role subjectId moderator {{ username }} group {{ name }} reverts {{ kind }}
      revertedBy {{ reason at moderator {{ username }} }}
      subject {{ ... on Article {{ title }} ... on Comment {{ article {{ id title }} }} }}
    }}
  }}
}}"""
DONE = {  # the texts of what was done
    "ANNUL_VOTES": "did-annul",
    "APPROVE": "did-approve",
    "BAN": "did-ban",
    "GRANT_ROLE": "did-grant",
    "LOCK": "did-lock",
    "PURGE": "did-purge",
    "REJECT_EDIT": "did-reject-edit",
    "REMOVE": "did-remove",
    "REVOKE_ROLE": "did-revoke",
}
REVERTED = {
    "ANNUL_VOTES": "did-restore-votes",
    "APPROVE": "did-disapprove",
    "BAN": "did-unban",
    "GRANT_ROLE": "did-revoke",
    "LOCK": "did-unlock",
    "REMOVE": "did-restore",
    "REVOKE_ROLE": "did-role-again",
}
FILTERS = {  # the texts of what is shown, by whether a group and a subject are named
    (False, False): "",
    (True, False): "log-only-in",
    (False, True): "log-only-about",
    (True, True): "log-only-about-in",
}
SUBJECT = "<subject/>"  # where the texts have the name of what an action is about


async def moderation_log(request: Request) -> str:
    """
    The page of the log that the address names by `group`, `subject` and a cursor. One query reads it, as everybody.

    Raises:
        HTTPException: those of `documents.query`.
    """
    group, subject = (request.query_params.get(name) or None for name in ("group", "subject"))
    log = (await documents.query(request, LOG, {"group": group, "subject": subject, **page_of(request)}))[
        "moderationLog"
    ]
    words = words_of(request)
    type, _, name = (subject or "").partition(":")
    return render_page(
        request,
        "log.html",
        filter=FILTERS[group is not None, subject is not None],
        group=group or "",
        subject=words("thing-of-type", type=type, name=name),
        actions=[(action, *said_of(words, action)) for action in log["nodes"]],
        **neighbours("log", log["pageInfo"], {"group": group, "subject": subject}),
    )


def said_of(words: Words, action: Mapping[str, Any]) -> tuple[str, str]:
    """What a moderator did: the words before and after the name of what it is about."""
    group, until = action["group"], action["expiresAt"]
    place = words("place-group", group=group["name"]) if group else words("place-site")
    end = words("end-until", until=_full_time(words, until)) if until else words("end-for-good")
    role = words("role-admin") if action["role"] == "ADMIN" else words("role-moderator-of", place=place)
    before, _, after = words(_name_of(action), place=place, end=end, role=role).partition(SUBJECT)
    return before.strip(), after.strip()


def _name_of(action: Mapping[str, Any]) -> str:
    kind, reverts = action["kind"], action["reverts"]
    is_out_of_group = action["group"] is not None and action["subjectId"].startswith("article:")
    if kind == "REVERT":
        reverted = reverts["kind"] if reverts else ""
        is_put_back = reverted == "REMOVE" and is_out_of_group
        return "did-back-in-group" if is_put_back else REVERTED.get(reverted, "did-take-back")
    return "did-out-of-group" if kind == "REMOVE" and is_out_of_group else DONE[kind]


def _full_time(words: Words, instant: str) -> str:
    """As `fullTime` of `reader/src/times.ts`, but of UTC: only a browser knows the zone of its user."""
    at, locale = datetime.fromisoformat(instant), Locale.parse(words.language, sep="-")
    day, time = format_date(at, "long", locale), format_time(at, "short", locale=locale)
    return f"{locale.datetime_formats['long'].format(time, day).replace(chr(39), '')} UTC"
