"""
The scripts of the store. A script is one Lua file, or several that are joined: those that change articles begin with
`prelude.lua`.
"""

from pathlib import Path

from store.client.connection import LuaScript

FOLDER = Path(__file__).parent
# what stands before a file, so that lists of files need not name it
NEEDED = {"prelude": ["formulas"], "notifications": ["notify"], "comments": ["notify", "notifications"]}


class Script(LuaScript):
    """`with_comments` says whether a script that begins with the prelude gets the keys of comments and inboxes, too."""

    def __init__(self, *files: str, is_read_only: bool = False) -> None:
        names = [name for file in files for name in (*NEEDED.get(file, ()), file)]
        super().__init__("".join((FOLDER / f"{name}.lua").read_text() for name in names), is_read_only=is_read_only)
        self.with_comments = "notifications" in names


FEED_PAGE = Script("feed_page", is_read_only=True)
ARTICLE_COUNT = Script("article_count", is_read_only=True)
VOTER_VOTES = Script("voter_votes", is_read_only=True)
LISTING_PAGE = Script("index_rank", "listing_page", is_read_only=True)
POSITION_RANKS = Script("index_rank", "position_ranks", is_read_only=True)
GRAVITY_PAGE = Script("gravity_classes", "gravity_index", "gravity_search", "gravity_page", is_read_only=True)
GRAVITY_RANK = Script("gravity_classes", "gravity_index", "gravity_rank", is_read_only=True)
SINCE_PAGE = Script("gravity_classes", "index_rank", "since_page", is_read_only=True)
MISSING_ARTICLES = Script("missing_articles", is_read_only=True)
ARCHIVABLE_ARTICLES = Script("archivable_articles", is_read_only=True)
LONG_TIMELINES = Script("long_timelines", is_read_only=True)
INBOX_PAGE = Script("inbox_page", is_read_only=True)
FIND_NOTIFICATIONS = Script("find_notifications", is_read_only=True)
THREAD_PAGE = Script("formulas", "branch_paths", "index_rank", "thread_siblings", "thread_page", is_read_only=True)
DESCENDANT_COUNTS = Script("branch_paths", "descendant_counts", is_read_only=True)
ANCESTORS = Script("ancestors", is_read_only=True)
IS_UNDER = Script("branch_paths", "is_under", is_read_only=True)

POST = Script("prelude", "idempotency", "log_text", "notifications", "article_indexes", "post")
VOTE = Script("prelude", "cast_vote", "vote")
EDIT = Script("prelude", "log_text", "notifications", "article_indexes", "edit")
DELETE = Script("prelude", "article_indexes", "branch_paths", "comments", "delete")
REGROUP = Script("prelude", "article_indexes", "regroup")
IMPORT_STORY = Script(
    *("prelude", "log_entry", "log_text", "article_indexes", "branch_paths", "comments", "import_story")
)
MARK_SEEN = Script("prelude", "log_entry", "mark_seen")
MARK_INBOX_SEEN = Script("prelude", "log_entry", "notifications", "mark_inbox_seen")
INDEX_LINK = Script("prelude", "article_indexes", "index_link")
FILL_INDEXES = Script("prelude", "fill_indexes")
ACTIVATE_INDEXES = Script("prelude", "activate_indexes")
ARCHIVE = Script("prelude", "article_indexes", "archive")
UNARCHIVE = Script("prelude", "article_indexes", "unarchive")
COMMENT = Script(
    *("prelude", "idempotency", "log_text", "article_indexes", "branch_paths", "comments", "comment_tree", "comment")
)
IMPORT_COMMENT = Script(
    *("prelude", "log_text", "article_indexes", "branch_paths", "comments", "comment_tree", "import_comment")
)
EDIT_COMMENT = Script("prelude", "log_text", "branch_paths", "comments", "edit_comment")
VOTE_ON_COMMENT = Script("prelude", "cast_vote", "branch_paths", "comments", "vote_on_comment")
DELETE_COMMENT = Script("prelude", "branch_paths", "comments", "comment_tree", "comment_removal", "delete_comment")
REMOVE_THREAD = Script("prelude", "branch_paths", "comments", "comment_tree", "comment_removal", "remove_thread")
PIN = Script("pin")
PIN_THREAD = Script("pin_thread")
LOG_RANKED = Script("log_entry", "log_ranked")
LOG_LAG = Script("log_lag", is_read_only=True)
TRIM_LOG = Script("trim_log")
MARK_MOVING = Script("mark_moving")

LEASE = Script("lease")
END_LEASE = Script("end_lease")

FOLLOW = Script("log_entry", "follow")
APPLY_EFFECT = Script("notify", "apply_effect")
CREATE_USER = Script("log_entry", "create_user")
REGISTER = Script("log_entry", "register")
OPEN_SESSION = Script("open_session")
RENEW_SESSION = Script("renew_session")
END_SESSION = Script("end_session")
CHANGE_PASSWORD = Script("log_entry", "change_password")
RATE_LIMIT = Script("rate_limit")
SERVER_KEY = Script("server_key")

VERIFY_ARTICLE = Script("prelude", "log_entry", "verify_prelude", "verify_article")
VERIFY_USER = Script("prelude", "log_entry", "verify_prelude", "verify_user")
VERIFY_MEMBERS = Script("prelude", "branch_paths", "comments", "log_entry", "verify_prelude", "verify_members")
VERIFY_KEY = Script("prelude", "branch_paths", "comments", "log_entry", "verify_prelude", "verify_key")
VERIFY_COMMENT = Script("prelude", "branch_paths", "comments", "log_entry", "verify_prelude", "verify_comment")
VERIFY_COUNTS = Script("prelude", "branch_paths", "comments", "log_entry", "verify_prelude", "verify_counts")
REBUILD_TREE = Script("prelude", "branch_paths", "comments", "comment_tree", "rebuild_tree")
