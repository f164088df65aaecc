"""
Purges: texts that must not stay at all. An article or a comment is removed for good, and what is left is its hash with
`PURGED` in place of its text, in the store, the log and the database. Backups that were made before still have it.
"""

from store import comment_moderation, comments, removals, roles, validation
from store.errors import NotAModerator, NotFound
from store.moderation import Moderated, moderated
from store.roles import Authority
from store.scripts.registry import Script
from store.site import Site

PURGE = Script("purge")

PURGED = "[purged]"  # in place of the text


async def purge(site: Site, admin: Authority, number: int, reason: str) -> Moderated:
    """
    Replace the text of the article or comment with a number by `PURGED`, and remove it from everything that shows it,
    for good: it can be neither approved nor reverted. The entries of the log with its text, and its flags, are removed.

    One round trip. A comment takes more where `Comments.set_state` does, an article with comments also those of
    `removals.update_lists`. If it was purged before, nothing changes.

    Raises:
        NotAModerator: the actor is no admin.
        NotFound: there is no such article or comment in Redis, or it was deleted.
        Invalid: the reason breaks a rule.
        Banned: the actor is banned.
    """
    given = (site.partitions, number, validation.reason(reason), PURGED, comments.STUBS_AT_ONCE)
    # the number of a comment, too, tells the partition (share of the data) of its article
    status, *reply = await roles.run(site, PURGE, site.partition_of_article(number), admin, *given)
    match status:
        case "refused":
            raise NotAModerator("only admins purge texts")
        case "missing":
            raise NotFound(f"there is no article:{number} and no comment:{number}", "subjectId")
    *result, change, entry = reply
    done = moderated((status, *result))
    assert done.action
    if entry:
        await comment_moderation.notify(site, admin.username, number, done.action.id, entry)
    if change:
        await comments.apply_state(site, admin.username, number, change)
    if done.changed and done.action.subject_id.startswith("article:"):
        await removals.update_lists(site, number)  # takes them out of lists and inboxes, as the article is hidden
    return done
