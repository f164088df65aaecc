"""
The log of moderation as HTML, for those who run no scripts: what `reader/src/pages/LogPage.tsx` shows, in its words.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from server import documents
from server.reader.rendering import render_template

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
WORDS = {  # what stands before and after the name of what an action is about
    "ANNUL_VOTES": ("annulled votes of", ""),
    "APPROVE": ("approved", ""),
    "BAN": ("banned", "from {place} {end}"),
    "GRANT_ROLE": ("made", "{role}"),
    "LOCK": ("locked", ""),
    "PURGE": ("deleted", "for good"),
    "REJECT_EDIT": ("rejected an edit of", ""),
    "REMOVE": ("removed", ""),
    "REVOKE_ROLE": ("took from", "the role of {role}"),
}
REVERTS = {
    "ANNUL_VOTES": ("restored votes of", ""),
    "APPROVE": ("took back the approval of", ""),
    "BAN": ("took back the ban of", "from {place}"),
    "GRANT_ROLE": WORDS["REVOKE_ROLE"],
    "LOCK": ("unlocked", ""),
    "REMOVE": ("restored", ""),
    "REVOKE_ROLE": ("made", "{role} again"),
}
OUT_OF_GROUP, BACK_INTO_GROUP = ("took", "out of {place}"), ("put", "back into {place}")
OTHER_REVERT = ("took back a decision about", "")


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
    return render_template(
        "log.html",
        is_whole=not (given["group"] or given["subject"]),
        actions=[(action, *words_of(action)) for action in log["nodes"]],
        next=f"log?{urlencode(kept | {'after': info['endCursor']})}" if info["hasNextPage"] else "",
    )


def words_of(action: Mapping[str, Any]) -> tuple[str, str]:
    """What a moderator did: the words before and after the name of what it is about."""
    kind, group, reverts = action["kind"], action["group"], action["reverts"]
    is_out_of_group = group is not None and action["subjectId"].startswith("article:")
    if kind == "REVERT":
        reverted = reverts["kind"] if reverts else ""
        is_put_back = reverted == "REMOVE" and is_out_of_group
        before, after = BACK_INTO_GROUP if is_put_back else REVERTS.get(reverted, OTHER_REVERT)
    else:
        before, after = OUT_OF_GROUP if kind == "REMOVE" and is_out_of_group else WORDS[kind]
    place = f"the group {group['name']}" if group else "this site"
    end = f"until {action['expiresAt'][:16].replace('T', ' ')} UTC" if action["expiresAt"] else "for good"
    role = "an admin" if action["role"] == "ADMIN" else f"a moderator of {place}"
    return before, after.format(place=place, end=end, role=role)
