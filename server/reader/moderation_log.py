"""The page of the log of moderation, what moderators did and why: `reader/src/pages/LogPage.tsx` as HTML."""

from starlette.requests import Request

from server import documents
from server.reader.cursors import ARGUMENTS, PAGE_INFO, VARIABLES, neighbours, page_of
from server.reader.frames import render_page
from server.reader.moderation_texts import ACTION_FIELDS, words_around
from server.reader.translations import words_of

LOG = f"""query LogHtml($group: String, $subject: ID, {VARIABLES}) {{
  moderationLog(group: $group, subjectId: $subject, {ARGUMENTS}) {{
    {PAGE_INFO}
    nodes {{
      {ACTION_FIELDS} at reason moderator {{ username }} ban {{ subjectId }} reverts {{ ban {{ subjectId }} }}
      revertedBy {{ reason at moderator {{ username }} }}
      subject {{ ... on Article {{ title }} ... on Comment {{ article {{ id title }} }} }}
    }}
  }}
}}"""
FILTERS = {  # the texts of what is shown, by whether a group and a subject are named
    (False, False): "",
    (True, False): "log-only-in",
    (False, True): "log-only-about",
    (True, True): "log-only-about-in",
}


async def moderation_log(request: Request) -> str:
    """
    The page of the log that the address names by `group`, `subject` and a cursor. One query reads it, without the
    session of the request.

    Raises:
        HTTPException: what `documents.query` raises.
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
        actions=[(action, *words_around(words, action)) for action in log["nodes"]],
        **neighbours("log", log["pageInfo"], {"group": group, "subject": subject}),
    )
