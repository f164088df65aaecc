"""
The tables. docs/database.md describes them for people who ask with SQL.

Instants are unix milliseconds, in columns that end in `_ms`; each table has a view in which they are timestamps.
"""

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, MetaData, SmallInteger, Table, Text, false

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite's own row numbers are of the type INTEGER only


def _votes(name: str) -> Table:
    """The votes on articles or on comments."""
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
    # of an archived article with a conversation; `left_ms` is when it left Redis
    Column("notified", Text),
    Column("active_ms", NUMBER),
    Column("comment_count", NUMBER),
    Column("left_ms", NUMBER),
    Index("articles_by_poster", "poster", "posted_ms"),
    Index("articles_by_time", "posted_ms"),
)

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
    Column("seen", Text),
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

# What is written about groups; `places` has the places of archived articles in listings.
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
    # of a comment whose article is archived
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

POSITIONS = Table(
    "positions",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("log", Text, nullable=False),
    Column("entry", Text, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
)

# The archive that the store has in this database: at most one row.
ARCHIVES = Table("archives", METADATA, Column("id", Text, primary_key=True))

# The process that last began to move articles of each partition.
ARCHIVERS = Table(
    "archivers",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("token", Text, nullable=False),
)

# Articles that were archived in the last minute, some in a row.
ARCHIVED_BATCHES = Table(
    "archived_batches",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("partition", Integer, nullable=False),
    Column("numbers", Text, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
)

# The archive: docs/database.md leaves these out, as the formats of their values are internal.
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

# Webhooks: receivers, the cursor up to which the log was read for them (one row), and messages that wait to be sent.
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

# What the last search for rings has found; for moderators, so without views.
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
