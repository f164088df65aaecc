"""
The tables. docs/database.md describes them, and what their columns mean, for people who ask with SQL.

Instants are unix milliseconds, in columns that end in `_ms`; each table has a view in which they are timestamps. The
`number` of an article, a comment or an action of a moderator is the one in its id. An archived article is in the
database only: it has left the store in Redis.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    false,
    text,
)

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite's own row numbers are of the type INTEGER only
REMOVED = text("state = 'REMOVED' AND NOT archived")  # removed articles that Redis still has, which may be archived


def _votes(name: str) -> Table:
    """The votes on articles or on comments: `value` is 1 or -1; `counts` is false for votes that are annulled."""
    return Table(
        name,
        METADATA,
        Column("number", NUMBER, primary_key=True, autoincrement=False),
        Column("voter", Text, primary_key=True),
        Column("value", SmallInteger, nullable=False),
        Column("cast_ms", NUMBER),
        Column("counts", Boolean, nullable=False),
        Index(f"{name}_by_voter", "voter", "number"),
        sqlite_with_rowid=False,
    )


ARTICLES = Table(
    "articles",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("poster", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("link", Text),
    Column("content", Text),
    Column("posted_ms", NUMBER, nullable=False),
    Column("edited_ms", NUMBER),
    Column("up", NUMBER, nullable=False),
    Column("down", NUMBER, nullable=False),
    Column("imported_votes", NUMBER, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("state", Text, nullable=False, server_default="VISIBLE"),
    Column("locked", Boolean, nullable=False, server_default=false()),
    # of an archived article with a conversation: `notified` has the users whom it has notified, `active_ms` is when the
    # newest comment was posted, `left_ms` when the article left Redis
    Column("notified", Text),
    Column("active_ms", NUMBER),
    Column("comment_count", NUMBER),
    Column("left_ms", NUMBER),
    # of an archived article that is removed: `held_by` is the rule that has held it, `unannounced` says that nobody
    # was told of it, as it has been held since it was posted
    Column("held_by", Text),
    Column("unannounced", Text),
    Index("articles_by_poster", "poster", "posted_ms"),
    Index("articles_by_time", "posted_ms"),
    Index("articles_removed", "posted_ms", "number", sqlite_where=REMOVED, postgresql_where=REMOVED),
)

# `place` is the index of a group among the groups of the article.
ARTICLE_GROUPS = Table(
    "article_groups",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Column("place", SmallInteger, nullable=False),
    Index("article_groups_by_name", "name", "number"),
    sqlite_with_rowid=False,
)

VOTES = _votes("votes")

USERS = Table(
    "users",
    METADATA,
    Column("username", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("joined_ms", NUMBER, nullable=False),
    Column("seen", Text),  # up to where the user has seen their feed: a time and a member of a timeline
    Column("display_name", Text),
    Column("about", Text),
    Column("avatar_url", Text),
    Index("users_by_name", "name", unique=True),
    sqlite_with_rowid=False,
)

FOLLOWS = Table(
    "follows",
    METADATA,
    Column("follower", Text, primary_key=True),
    Column("followee", Text, primary_key=True),
    Column("since_ms", NUMBER, nullable=False),
    Index("follows_by_followee", "followee", "follower"),
    sqlite_with_rowid=False,
)

GROUP_FOLLOWS = Table(
    "group_follows",
    METADATA,
    Column("follower", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("since_ms", NUMBER, nullable=False),
    Index("group_follows_by_name", "name", "follower"),
    sqlite_with_rowid=False,
)

# An edit is named by its entry in the log of a partition. Its texts are the new values; null is unchanged.
EDITS = Table(
    "edits",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("entry", Text, primary_key=True),
    Column("number", NUMBER, nullable=False),
    Column("editor", Text, nullable=False),
    Column("edited_ms", NUMBER, nullable=False),
    Column("title", Text),
    Column("link", Text),
    Column("content", Text),
    Index("edits_by_number", "number"),
)

# What is written about groups. `listed_ms` is since when a group is listed also without articles; null: it is not.
GROUP_TEXTS = Table(
    "group_texts",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("title", Text),
    Column("about", Text),
    Column("created_ms", NUMBER, nullable=False),
    Column("listed_ms", NUMBER),
    sqlite_with_rowid=False,
)

COMMENTS = Table(
    "comments",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("article", NUMBER, nullable=False),
    Column("parent", NUMBER),
    Column("depth", Integer, nullable=False),
    Column("poster", Text),
    Column("content", Text),
    Column("posted_ms", NUMBER, nullable=False),
    Column("edited_ms", NUMBER),
    Column("up", NUMBER, nullable=False),
    Column("down", NUMBER, nullable=False),
    Column("imported_votes", NUMBER, nullable=False),
    Column("state", Text, nullable=False),
    # of a comment whose article is archived; `path` is its place in the tree of comments (branch_paths.lua)
    Column("reply_count", NUMBER),
    Column("descendant_count", NUMBER),
    Column("path", Text),
    Column("notified", Text),
    Index("comments_by_article", "article", "parent", "number"),
    Index("comments_by_poster", "poster", "posted_ms"),
    Index("comments_by_time", "posted_ms", "number"),
)

COMMENT_VOTES = _votes("comment_votes")

COMMENT_EDITS = Table(
    "comment_edits",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("entry", Text, primary_key=True),
    Column("number", NUMBER, nullable=False),
    Column("editor", Text, nullable=False),
    Column("edited_ms", NUMBER, nullable=False),
    Column("content", Text, nullable=False),
    Index("comment_edits_by_number", "number"),
)

# `reverts` is the number of the action that this one reverts, `ban` that of the ban with which a text was removed.
MODERATION_ACTIONS = Table(
    "moderation_actions",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
    Column("moderator", Text, nullable=False),
    Column("subject_id", Text, nullable=False),
    Column("group_name", Text),
    Column("reason", Text, nullable=False),
    Column("expires_ms", NUMBER),
    Column("role", Text),
    Column("reverts", NUMBER),
    Column("ban", NUMBER),
    Index("moderation_actions_by_time", "at_ms"),
    Index("moderation_actions_by_subject", "subject_id", "at_ms"),
    Index("moderation_actions_by_reverted", "reverts"),
)

# For each partition of the store, a share of its data: the identity of its log, which is the stream of its changes, and
# the last entry of it that the tables have.
POSITIONS = Table(
    "positions",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("log", Text, nullable=False),
    Column("entry", Text, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
)

# When the newest article or comment with votes whose voters are unknown was posted: at most one row.
VOTE_GAPS = Table("vote_gaps", METADATA, Column("posted_ms", NUMBER, primary_key=True, autoincrement=False))

# The random id of the archive that the store has in this database: at most one row.
ARCHIVES = Table("archives", METADATA, Column("id", Text, primary_key=True))

# The process that last began to move articles of each partition, by a random token.
ARCHIVERS = Table(
    "archivers",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("token", Text, nullable=False),
)

# Articles that were archived in the last minute, a batch in each row: `numbers` has spaces between them. Redis may lose
# its last writes and so have them again.
ARCHIVED_BATCHES = Table(
    "archived_batches",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("partition", Integer, nullable=False),
    Column("numbers", Text, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
)

# The archive: docs/database.md leaves these out, as the formats of their values are internal. A row of `listings` is an
# index of a listing of archived articles, of `places` an article with its value in an index, and of `place_counts` the
# lower end of a range of an index and how many places it has: see `database/order_index`.
LISTINGS = Table(
    "listings",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("name", Text, nullable=False),
    Column("votes_class", Integer, nullable=False),
    Column("weights", Text, nullable=False),
    Column("size", NUMBER, nullable=False),
    Index("listings_by_name", "name", "votes_class", unique=True),
)

PLACES = Table(
    "places",
    METADATA,
    Column("listing", NUMBER, primary_key=True, autoincrement=False),
    Column("value", Double, primary_key=True, autoincrement=False),
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("extra", NUMBER),
    Index("places_by_number", "number", "listing"),
    sqlite_with_rowid=False,
)

PLACE_COUNTS = Table(
    "place_counts",
    METADATA,
    Column("listing", NUMBER, primary_key=True, autoincrement=False),
    Column("value", Double, primary_key=True, autoincrement=False),
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("size", NUMBER, nullable=False),
    sqlite_with_rowid=False,
)

# Webhooks: receivers, the cursor up to which the log was read for them (one row), and messages that wait to be sent. A
# receiver gets the `kinds` of changes, words with spaces between them; after `off_ms` it gets none, because of a
# `fault`. A message is about a `subject`, an id. It may be sent from `due_ms` on, and not while that is null.
WEBHOOKS = Table(
    "webhooks",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("url", Text, nullable=False),
    Column("kinds", Text, nullable=False),
    Column("allows_private", Boolean, nullable=False),
    Column("secret", Text, nullable=False),
    Column("old_secret", Text),
    Column("old_until_ms", NUMBER),
    Column("created_ms", NUMBER, nullable=False),
    Column("off_ms", NUMBER),
    Column("fault", Text),
    sqlite_autoincrement=True,
)

WEBHOOK_POSITION = Table(
    "webhook_position",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("cursor", Text, nullable=False),
)

WEBHOOK_MESSAGES = Table(
    "webhook_messages",
    METADATA,
    Column("number", NUMBER, primary_key=True),
    Column("hook", NUMBER, nullable=False),
    Column("subject", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("spooled_ms", NUMBER, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_ms", NUMBER),
    Column("fault", Text),
    Index("webhook_messages_by_subject", "subject", "hook", "number"),
    Index("webhook_messages_by_due", "hook", "due_ms", "number"),
    sqlite_autoincrement=True,
)

# What the last search for rings (users who vote for each other more than by chance) has found; for moderators, so
# without views. `database/rings.py` says what the columns mean.
RING_SEARCHES = Table(
    "ring_searches",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at_ms", NUMBER, nullable=False),
    Column("votes", NUMBER, nullable=False),
    Column("users", NUMBER, nullable=False),
)

RINGS = Table(
    "rings",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("votes", NUMBER, nullable=False),
    Column("expected", Double, nullable=False),
    Column("coverage", Double, nullable=False),
    Column("article_votes", NUMBER, nullable=False),
    Column("comment_votes", NUMBER, nullable=False),
    Column("moved", NUMBER, nullable=False),
)

RING_MEMBERS = Table(
    "ring_members",
    METADATA,
    Column("ring", NUMBER, primary_key=True, autoincrement=False),
    Column("username", Text, primary_key=True),
    Index("ring_members_by_name", "username"),
    sqlite_with_rowid=False,
)

RING_MOVES = Table(
    "ring_moves",
    METADATA,
    Column("ring", NUMBER, primary_key=True, autoincrement=False),
    Column("article", NUMBER, primary_key=True, autoincrement=False),
    Column("votes", NUMBER, nullable=False),
    Column("place", NUMBER, nullable=False),
    Column("new_place", NUMBER, nullable=False),
    sqlite_with_rowid=False,
)
