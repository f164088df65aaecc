"""
The page that stands for an article or a comment that a moderator has removed: the elements, classes and texts of
`reader/src/components/RemovalPage.tsx`, with the reason that the public log has.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from server import documents
from server.reader.frames import render_page

REMOVAL = """query RemovalHead($id: ID!) {
  moderationLog(subjectId: $id, first: 10) { nodes { kind reason subjectId group { name } revertedBy { id } } }
}"""


async def removed_page(request: Request, *subject_ids: str) -> str:
    """
    The HTML of a page that says why an article or a comment is gone: the first of those with these ids that moderators
    have removed. "" if they have removed none. One query for each id, until one is found.

    Raises:
        HTTPException: what `documents.query` raises.
    """
    for subject_id in subject_ids:
        log = (await documents.query(request, REMOVAL, {"id": subject_id}))["moderationLog"]
        if removal := removal_in(log["nodes"]):
            type = subject_id.partition(":")[0]
            return render_page(request, "removed.html", removal=removal, type=type)
    return ""


def removal_in(actions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """
    The action that has removed an article or a comment; None if it is not removed. `actions` are the newest ones on it,
    the newest first.
    """
    decision = next(filter(is_decision, actions), None)
    return None if decision is None or decision["kind"] == "APPROVE" else decision


def is_decision(action: Mapping[str, Any]) -> bool:
    """
    Whether an action decides if an article or a comment is removed: it was not reverted, and is no removal from a group
    only.
    """
    is_out_of_group = action["group"] is not None and action["subjectId"].startswith("article:")
    decides = action["kind"] in ("PURGE", "APPROVE") or (action["kind"] == "REMOVE" and not is_out_of_group)
    return decides and action["revertedBy"] is None
