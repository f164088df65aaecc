"""
The log of moderation as HTML, for those who run no scripts: what `reader/src/pages/LogPage.tsx` shows, in its words.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from server import documents
from server.reader.rendering import render_template
from server.reader.translations import words_of
from server.words.words import Words

PAGE_SIZE = 25  # actions
LOG = f"""query LogPage($group: String, $subject: ID, $after: String) {{
  moderationLog(group: $group, subjectId: $subject, first: {PAGE_SIZE}, after: $after) {{
    pageInfo {{ hasNextPage endCursor }}
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
SUBJECT = "<subject/>"  # where the texts have the name of what an action is about


async def moderation_log(request: Request) -> str:
    """
    The page of the log that the address names by `group`, `subject` and `after`. One query reads it, as everybody.

    Raises:
        HTTPException: those of `documents.query`.
    """
    given = {name: request.query_params.get(name) or None for name in ("group", "subject", "after")}
    log = (await documents.query(request, LOG, given))["moderationLog"]
    info = log["pageInfo"]
    kept = {name: value for name, value in given.items() if value}
    words = words_of(request)
    return render_template(
        words,
        "log.html",
        is_whole=not (given["group"] or given["subject"]),
        actions=[(action, *said_of(words, action)) for action in log["nodes"]],
        next=f"log?{urlencode(kept | {'after': info['endCursor']})}" if info["hasNextPage"] else "",
    )


def said_of(words: Words, action: Mapping[str, Any]) -> tuple[str, str]:
    """What a moderator did: the words before and after the name of what it is about."""
    group, until = action["group"], action["expiresAt"]
    place = words("place-group", group=group["name"]) if group else words("place-site")
    end = words("end-until", until=f"{until[:16].replace('T', ' ')} UTC") if until else words("end-for-good")
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
