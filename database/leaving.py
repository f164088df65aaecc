"""
Replaces the names of deleted users in all rows by pseudonyms. Mentions in texts of others stay.

All of it may be repeated. The mirror, which copies the changes of the store in Redis from its log, may still write a
name from an entry that is older than the deletion; it replaces the name again when it comes to the entry of the
deletion.
"""

from typing import TYPE_CHECKING, Any

from database import search
from database.statements import Statement

if TYPE_CHECKING:
    from database.statements import Connection

AT_ONCE = 500  # articles, comments or votes in a transaction

OF_POSTER = "SELECT number FROM {} WHERE poster = :name LIMIT :most"
OF_VOTER = "SELECT number FROM {} WHERE voter = :name LIMIT :most"
REPLACE_POSTER = "UPDATE {} SET poster = :pseudonym WHERE number IN :numbers"
REPLACE_EDITOR = "UPDATE {} SET editor = :pseudonym WHERE number IN :numbers"
# if a text has a vote of the name and one of the pseudonym, the name's is the newer one
REMOVE_OTHER_VOTE = "DELETE FROM {} WHERE voter = :pseudonym AND number IN :numbers"
REPLACE_VOTER = "UPDATE {} SET voter = :pseudonym WHERE voter = :name AND number IN :numbers"
# Of articles and of comments: the statement that finds some by the name, those that replace it there, and the argument
# of `search.index` for their numbers.
TEXTS = [
    (
        Statement(OF_POSTER.format(table)),
        [
            Statement(REPLACE_POSTER.format(table), "numbers"),
            Statement(REPLACE_EDITOR.format(edits), "numbers"),
        ],
        index,
    )
    for table, edits, index in (("articles", "edits", "numbers"), ("comments", "comment_edits", "comments"))
]
# Likewise the votes on articles and on comments, which are not searched.
VOTES = [
    (
        Statement(OF_VOTER.format(table)),
        [Statement(text.format(table), "numbers") for text in (REMOVE_OTHER_VOTE, REPLACE_VOTER)],
    )
    for table in ("votes", "comment_votes")
]
# Of articles and of comments: those that have notified a user, and the update of `notified`.
NOTIFYING = [
    (
        Statement(f"SELECT number, notified FROM {table} WHERE notified LIKE :pattern"),
        Statement(f"UPDATE {table} SET notified = :notified WHERE number = :number"),
    )
    for table in ("articles", "comments")
]
OTHERS = [
    Statement("DELETE FROM follows WHERE follower = :name"),
    Statement("DELETE FROM follows WHERE followee = :name"),
    Statement("DELETE FROM group_follows WHERE follower = :name"),
    Statement("DELETE FROM users WHERE username = :folded"),
    Statement("UPDATE ring_members SET username = :pseudonym WHERE username = :name"),
    Statement("UPDATE moderation_actions SET moderator = :pseudonym WHERE moderator = :name"),
    Statement("UPDATE moderation_actions SET subject_id = :new_id WHERE subject_id = :old_id"),
]
SEARCHED = Statement("SELECT id FROM search_users WHERE username = :folded")
FORGET_SEARCHED = Statement("DELETE FROM search_users WHERE username = :folded")
# The listing of a user's archived articles, which Redis no longer has; nobody sees it any more. There are two, under
# the name and the pseudonym, if another article was archived meanwhile.
LISTING = "SELECT id FROM listings WHERE name = :{}"
OLD_LISTING, NEW_LISTING = Statement(LISTING.format("old_listing")), Statement(LISTING.format("new_listing"))
RENAME_LISTING = Statement("UPDATE listings SET name = :new_listing WHERE name = :old_listing")
REMOVE_LISTINGS = [
    Statement("DELETE FROM places WHERE listing IN :ids", "ids"),
    Statement("DELETE FROM place_counts WHERE listing IN :ids", "ids"),
    Statement("DELETE FROM listings WHERE id IN :ids", "ids"),
]


def replace_some(connection: "Connection", name: str, pseudonym: str) -> bool:
    """Replace a name, as written, in rows about at most `AT_ONCE` texts or votes. Returns whether none were left."""
    given: dict[str, Any] = {"name": name, "pseudonym": pseudonym, "folded": name.lower(), "most": AT_ONCE}
    for texts, statements, index in TEXTS:
        if numbers := list(texts.run(connection, given).scalars()):
            for statement in statements:
                statement.run(connection, given | {"numbers": numbers})
            search.index(connection, **{index: numbers})
            return False
    for votes, statements in VOTES:
        if numbers := list(votes.run(connection, given).scalars()):
            for statement in statements:
                statement.run(connection, given | {"numbers": numbers})
            return False
    _replace_others(connection, given)
    return True


def replace(connection: "Connection", name: str, pseudonym: str) -> None:
    """Replace a name, as written, in all rows."""
    while not replace_some(connection, name, pseudonym):
        pass


def _forget_notified(connection: "Connection", name: str) -> None:
    """
    Take a user out of those whom archived texts have notified, as replace_name.lua does in Redis. `name` is in lower
    case between colons, as in a word of `notified`: KIND:NAME:SLOT:TIME.
    """
    for select, update in NOTIFYING:
        for number, notified in select.run(connection, {"pattern": f"%{name}%"}).all():
            words = [word for word in notified.split() if name not in word]
            update.run(connection, {"number": number, "notified": " ".join(words) or None})


def _replace_others(connection: "Connection", given: dict[str, Any]) -> None:
    """Replace the name where a user has few rows, in all of them. `given` has the parameters of the statements."""
    given = given | {
        "old_id": f"user:{given['folded']}",
        "new_id": f"user:{given['pseudonym']}",
        "old_listing": f"timeline:{given['folded']}",
        "new_listing": f"timeline:{given['pseudonym']}",
    }
    _forget_notified(connection, f":{given['folded']}:")
    for statement in OTHERS:
        statement.run(connection, given)
    if SEARCHED.run(connection, given).first():
        search.index(connection, usernames=[given["folded"]])  # which removes it, as there is no such user
        FORGET_SEARCHED.run(connection, given)
    if NEW_LISTING.run(connection, given).first() is None:
        RENAME_LISTING.run(connection, given)
    elif ids := list(OLD_LISTING.run(connection, given).scalars()):
        for statement in REMOVE_LISTINGS:
            statement.run(connection, {"ids": ids})
