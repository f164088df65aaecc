"""
The page that stands for an article or a comment that a moderator has removed: the elements, classes and texts of
`reader/src/components/Gone.tsx`, with the reason that the public log has.
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
    The HTML of the page that says why the first of some articles and comments that moderators have removed is gone;
    "" if they have removed none. A query for each until one is found.

    Raises:
        HTTPException: those of `documents.query`.
    """
    for subject_id in subject_ids:
        log = (await documents.query(request, REMOVAL, {"id": subject_id}))["moderationLog"]
        if removal := removal_in(log["nodes"]):
            type = subject_id.partition(":")[0]
            return render_page(request, "removed.html", removal=removal, type=type)
    return ""


def removal_in(actions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What removed a thing, among the newest actions on it, the newest first; None if it is not removed."""
    decision = next(filter(is_decision, actions), None)
    return None if decision is None or decision["kind"] == "APPROVE" else decision


def is_decision(action: Mapping[str, Any]) -> bool:
    """Whether an action that stands says whether a thing is removed; that an article left a group does not."""
    is_out_of_group = action["group"] is not None and action["subjectId"].startswith("article:")
    is_known = action["kind"] in ("PURGE", "APPROVE") or (action["kind"] == "REMOVE" and not is_out_of_group)
    return is_known and action["revertedBy"] is None
