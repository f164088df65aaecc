"""
The Redis keys that several modules write: their kinds, and the patterns of their parts. Other kinds are declared beside
the commands that write them. A partition is one share of the data, all on one server. That of a user has the user's
own keys and articles; comments are in the partition of their article. A number is 1,024 times a sequence plus a slot.
The sequence is higher in each later post of a partition; the slot decides in which partition it is.

Called with a partition and the parts of its key, a kind gives the text: `article(0, 1024)` is `article:{0}:1024`.
With "" as the last part it gives what such keys begin with, as scripts take it that append the part.
"""

from binascii import crc_hqx
from secrets import choice
from string import ascii_lowercase, digits

from store.kinds import NEW_LOG, Backup, Check, Kind, Member, Text
from store.ranking.formulas import ORDERS

SLOTS = 1024
CACHED = ("article:{", "comment:{", "user:{", "action:{", "place:{")  # prefixes of the keys that processes cache
CACHED_VOTERS = ("voted:{",)  # likewise: of the names of those who voted up
CACHED_VOTES = (*CACHED_VOTERS, "downvoted:{", "annulled:{")  # likewise: of the votes of single users


def slot(name: str) -> int:
    """
    Which of 1 024 shares a user or a group falls in: CRC16 (XMODEM, as in Redis Cluster) of the folded name. Modulo the
    number of partitions, it is the partition.
    """
    return crc_hqx(name.lower().encode(), 0) % SLOTS


def slot_of_number(number: str) -> int:
    """The slot of the poster of an article, by the number of the article or of one of its comments."""
    return int(number) % SLOTS


def member(number: int) -> str:
    """An article's number as a member of sorted sets: with a fixed width, so that text order is number order."""
    return f"{number:016d}"


def member_of(number: str) -> str:
    """The member of a number, as in keys."""
    return member(int(number))


def number_of(member: str) -> str:
    """The number of a member, as in keys."""
    return str(int(member))


def pseudonym(name: str) -> str:
    """A random name to replace that of a deleted user. Its slot is the same, as the numbers of the articles have it."""
    while slot(found := "~" + "".join(choice(ascii_lowercase + digits) for _ in range(12))) != slot(name):
        pass
    return found


NUMBER = Text("N", r"[1-9][0-9]{0,15}", slot_of_number)  # of an article, a comment or an action of a moderator
USERNAME = Text("NAME", r"(?:[a-z0-9_-]{2,20}|~[a-z0-9]{12})", slot, is_folded=True)  # or a pseudonym
OWNER = Text("NAME", USERNAME.pattern, is_folded=True)  # a user, in a key that is in the partition of an article
GROUP = Text("NAME", r"[a-z0-9][a-z0-9_-]{0,49}")
PLACE = Text("NAME", GROUP.pattern, slot)  # a group, in a key that is in the group's own partition
ORDER = Text("ORDER", f"(?:{'|'.join(ORDERS)})")
LISTING = Text("LISTING", rf"(?:group:{GROUP.pattern}:)?{ORDER.pattern}(?::since:(?:0|[1-9][0-9]{{0,15}}))?")
TIME = Text("TIME", "(?:0|[1-9][0-9]{0,15})")  # unix milliseconds
SCOPE = Text(  # which actions of moderators an index has
    "SCOPE", rf"(?:all|group:{GROUP.pattern}|(?:article|comment|ban):{NUMBER.pattern}|user:{USERNAME.pattern})"
)
ROLE_SCOPE = Text("SCOPE", rf"(?:site|group:{GROUP.pattern})")  # where a role holds
DIGEST = Text("DIGEST", "[0-9a-f]{64}")  # a SHA-256

store = Kind(
    "store",
    "hash",
    parts=None,
    holds="number of partitions, good_votes (how many votes make an article good), weights, orders: what the indexes "
    "are built with; version of links, active, recent, homes: that there are the indexes of links, of articles by "
    "their newest comment, of recent comments, and those that the front pages of users need; log: a random text that "
    "tells this log from others; archived: the id of the archive in the database",
    written_by="opening, verify, reindex, restore, archive",
    backup=Backup.COPIED,
    record="ranking",
)
article = Kind(
    "article",
    "hash",
    parts=(NUMBER,),
    holds="title, link, link_digest, content, poster, time, up, down, imported, groups, edited, comments, active, "
    "state, locked, notified, away (1: not in inboxes, as it is not visible), held_by (the rule that holds it, "
    "after a space why), written (when a comment of it was edited, deleted or moderated last)",
    written_by="post, edit, regroup, vote, delete, comment, import, archive, unarchive",
    backup=Backup.COPIED,
    record="article",
    check=Check.ARTICLE,
)
ARTICLE = Member("[0-9]{16}", named=article, text=member_of, part=number_of)  # of lists of articles
voted = Kind(
    "voted",
    "set",
    parts=(NUMBER,),
    holds="usernames of those who voted up",
    lifetime="until a minute after voting closes",
    written_by="post, comment, vote, delete, import",
    backup=Backup.COPIED,
    record="article",
    check=Check.VALUE,
)
downvoted = Kind(
    "downvoted",
    "set",
    parts=(NUMBER,),
    holds="usernames of those who voted down",
    lifetime="until a minute after voting closes",
    written_by="vote, delete",
    backup=Backup.COPIED,
    record="article",
    check=Check.VALUE,
)
annulled = Kind(
    "annulled",
    "hash",
    parts=(NUMBER,),
    holds="votes on an article or a comment that do not count, by username: the value, and the numbers of the actions "
    "that hold it",
    lifetime="while there are any",
    written_by="annulVotes, banUser, revertModeration, vote, delete",
    backup=Backup.COPIED,
    record="annulled",
    check=Check.ANNULLED,
)
comment = Kind(
    "comment",
    "hash",
    parts=(NUMBER,),
    holds="article, parent, depth, poster, slot (of the poster), content, time, up, down, imported, edited, state, "
    "replies (how many), path (its place in `tree`), moves (of earlier versions: as in `moved`), notified, bare (1: "
    "hidden and without visible descendants, so in no thread), away (1: not in lists and inboxes, as its article is "
    "not visible), held_by (the rule that holds it, after a space why)",
    written_by="comment, and all commands on comments",
    backup=Backup.COPIED,
    record="comment",
    check=Check.COMMENT,
)
tree = Kind(
    "tree",
    "zset",
    parts=(NUMBER,),
    holds="the comments of an article in the lexical order of their branch paths, with which descendants are counted",
    lifetime="while it has comments",
    written_by="comment, delete",
    backup=Backup.DERIVED,
    record="comment",
    rebuilt_from="the comments",
    check=Check.MEMBERS,
)
comments = Kind(
    "comments",
    "zset",
    parts=(USERNAME,),
    holds="the numbers of a user's visible comments by time; older than the newest 100 only until the database has "
    "them",
    lifetime="while the user has comments",
    written_by="comment, delete, remove, approve",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.COMMENTS,
)
unlisted = Kind(
    "unlisted",
    "zset",
    parts=(USERNAME,),
    holds="the numbers of a user's comments that are pending or removed, or whose article is not visible, by time",
    lifetime="while the user has such comments",
    written_by="remove, approve, delete",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.COMMENTS,
)
held_comments = Kind(
    "heldcomments",
    "zset",
    parts=(USERNAME,),
    holds="the numbers of a user's comments that are pending or removed, by time",
    lifetime="while the user has such comments",
    written_by="remove, approve, delete",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.COMMENTS,
)
inbox = Kind(
    "inbox",
    "zset",
    parts=(USERNAME,),
    holds="what notifies a user, by time: number, reply, mention or moderation, and article, comment or action; the "
    "newest 1,000",
    lifetime="while the user has notifications",
    written_by="post, edit, comment, delete, all commands of moderators",
    backup=Backup.DERIVED,
    rebuilt_from="the articles, comments and actions",
    check=Check.INBOX,
)
deleted = Kind(
    "deleted",
    "zset",
    parts=(),
    holds="numbers of deleted articles and comments that the database may still have, by the time of their entries in "
    "the log: a search leaves them out",
    lifetime="until the database has removed them",
    written_by="delete, the mirror, the trimming of the log",
)
sequence = Kind(
    "sequence",
    "string",
    parts=(),
    holds="the sequence in the last number given to a post or a comment",
    written_by="post, comment",
    backup=Backup.COPIED,
    record="sequences",
    rebuilt_from="the articles",
    check=Check.PARTITION,
)
index = Kind(
    "index",
    "zset",
    parts=(ORDER,),
    holds="article numbers by the value of an order: one index for each order, whose name begins the key",
    written_by="post, vote, delete, import",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
    names=ORDERS,
)
pin = Kind(
    "pin",
    "zset",
    parts=(LISTING, TIME),
    holds="the first 1,000 places of a listing at an instant, for the next pages",
    lifetime="10 minutes",
    written_by="pin",
    rebuilt_from="a listing",
)
ranking = Kind(
    "ranking",
    "hash",
    parts=(),
    holds="the orders that scripts write, and the weights of groups that have their own",
    written_by="reindex, ranking set",
    backup=Backup.COPIED,
    record="ranking",
)
next_group = Kind(
    "coming",
    "zset",
    parts=(GROUP, ORDER),
    holds="an index of a group by its new weights, while it is built",
    lifetime="until it replaces the index of the group",
    written_by="reindex, then the same as the index of the group",
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)
group = Kind(
    "group",
    "zset",
    parts=(GROUP, ORDER),
    holds="the same as an index of the whole site, for one group",
    lifetime="while it has articles",
    written_by="post, vote, regroup, delete, import",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)
groups = Kind(
    "groups",
    "zset",
    parts=(),
    holds="names of the groups that have articles in this partition, and of the listed ones whose place is here; all "
    "scores are 0",
    written_by="post, regroup, delete, import, editing a group",
    backup=Backup.DERIVED,
    rebuilt_from="the articles and places",
    check=Check.PARTITION,
)
place = Kind(
    "place",
    "hash",
    parts=(PLACE,),
    holds="what was written about a group: created, listed (when an admin made the group), title, about",
    written_by="editing a group",
    backup=Backup.COPIED,
    record="place",
    check=Check.VALUE,
)
user = Kind(
    "user",
    "hash",
    parts=(USERNAME,),
    holds="name (as written), password (argon2id), joined, karma (of articles), comment_karma, seen, inbox_seen, "
    "inbox_dropped (the time of the newest notification that left a full inbox), roles, bans, upvoters (ten of those "
    "who have upvoted the user), flag_outcomes (of the last ten flags: the number of the thing, + upheld or - "
    "overruled), display_name, about, avatar_url, older_comments (the time up to which comments are in no list, "
    "as the database has them), first_admin (1: the link of the first administrator was not printed yet)",
    written_by="register, seen, editProfile, and all commands that change karma, notify or moderate",
    backup=Backup.COPIED,
    record="user",
    check=Check.USER,
)
action = Kind(
    "action",
    "hash",
    parts=(NUMBER,),
    holds="what a moderator did: kind, at, moderator, subject, group, reason, note, until, texts (1: a ban that "
    "removes them), votes (1: it annuls votes), from, to (when these were cast), ban (with which a text is removed), "
    "before (the state that it has found), held_by (the rule that held what it approves), role, reverts, reverted_by, "
    "notified; of votes that it annuls: annulled (how many it holds), total, reaches (votes before are untouched), "
    "annulment (done, restoring or restored), kept (1: its revert has left them annulled)",
    written_by="all commands of moderators",
    backup=Backup.COPIED,
    record="action",
    check=Check.ACTION,
)
actions = Kind(
    "actions",
    "zset",
    parts=(SCOPE,),
    holds="numbers of the actions of moderators by time: all, those of a group, those about an article, a comment or a "
    "user, and the removals of texts with a ban",
    written_by="all commands of moderators",
    backup=Backup.DERIVED,
    rebuilt_from="the actions",
    check=Check.ACTIONS,
)
moderators = Kind(
    "moderators",
    "zset",
    parts=(ROLE_SCOPE,),
    holds="usernames of those who have a role in the whole site, or in a group, by the time of its grant",
    lifetime="while there are any",
    written_by="grant, revoke",
    backup=Backup.DERIVED,
    rebuilt_from="the roles of users",
    check=Check.MODERATORS,
)
timeline = Kind(
    "timeline",
    "zset",
    parts=(USERNAME,),
    holds="the numbers of a user's articles by time",
    written_by="post, delete, import",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)
held = Kind(
    "held",
    "zset",
    parts=(USERNAME,),
    holds="the numbers of a user's articles that are pending or removed, by time",
    lifetime="while the user has some",
    written_by="remove, approve, revert, delete",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)
newest_posts = Kind(
    "posters",
    "zset",
    parts=(),
    holds="usernames by the time of their newest article",
    written_by="post, delete, import",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.PARTITION,
)
session = Kind(
    "session",
    "string",
    parts=(DIGEST,),
    holds="username of the session whose token has this SHA-256, when it ends, when it was used last, and the bans of "
    "the user",
    lifetime="UPVOTE_SESSION_TTL",
    written_by="sessions, register",
    backup=Backup.COPIED_BY_MOVE,
    record="session",
    check=Check.VALUE,
)
sessions = Kind(
    "sessions",
    "zset",
    parts=(USERNAME,),
    holds="the SHA-256 of a user's tokens, by when the sessions end",
    lifetime="UPVOTE_SESSION_TTL",
    written_by="sessions, register",
    backup=Backup.COPIED_BY_MOVE,
    record="session",
)
logins = Kind(
    "logins",
    "hash",
    parts=(USERNAME,),
    holds="by the SHA-256 of a user's tokens: the id of the session, when it was opened, and the family and system of "
    "the program",
    lifetime="UPVOTE_SESSION_TTL",
    written_by="sessions, register",
    backup=Backup.COPIED_BY_MOVE,
    record="session",
    check=Check.VALUE,
)
imported = Kind(
    "imported",
    "hash",
    parts=(),
    holds="number of each imported story and comment, by its id in the file",
    written_by="import",
    backup=Backup.COPIED,
    record="imported",
    check=Check.PARTITION,
)
numbered = Kind(
    "numbered",
    "zset",
    parts=(),
    holds="the sequence in the number of each imported story and comment, as member and as score",
    written_by="import",
    backup=Backup.DERIVED,
    rebuilt_from="imported",
    check=Check.PARTITION,
)
mark = Kind(
    "mark",
    "string",
    parts=(),
    holds="1: written after the writes that replicas have to confirm",
    lifetime="a second",
    written_by="every write, with UPVOTE_CONFIRMING_REPLICAS",
)
closed = Kind(
    "closed",
    "string",
    parts=(),
    holds="1: the partition takes no writes, because the store is being moved or was moved",
    lifetime="a minute; no limit once it was moved",
    written_by="move",
)
log = Kind(
    "log",
    "stream",
    parts=(),
    holds="an entry for each change, with the new values",
    lifetime="UPVOTE_LOG_SECONDS, and until all consumers have them",
    written_by="every script that changes an article, a user, a follow or a ranking",
    rebuilt_from=NEW_LOG,
)
logged = Kind(
    "logged",
    "hash",
    parts=(),
    holds="ids of the entries of the log with texts of an article or a comment, by its number, or of a user, by "
    "user:NAME",
    lifetime="as long as these entries",
    written_by="post, comment, edit, delete, import, editProfile",
    rebuilt_from=NEW_LOG,
)
archived = Kind(
    "archived",
    "hash",
    parts=(),
    holds="of the articles that are in the database only: how many, by group and user, and the greatest value by "
    "listing; how many removed ones, which no listing has; serial, marks: how often articles have left, come back or "
    "got other counts, and were marked in moving; recounted: the position in the log at which the database was known "
    "to have such counts; last_recounted: the last entry with some; conversations: 1 once one had comments",
    written_by="archive, unarchive, delete, reindex, verify, annulVotes, revertModeration",
    check=Check.PARTITION,
)
recounted = Kind(
    "recounted",
    "zset",
    parts=(),
    holds="numbers of archived articles and comments on which votes were annulled or restored, and of the articles of "
    "these, by the time of the entry of the log: nobody uses the counts of the database before it has this entry",
    lifetime="until another step after that",
    written_by="annulVotes, banUser, revertModeration",
)
events = Kind(
    "events",
    "channel",
    parts=(),
    holds="what changed: kind, number of the article or comment or 0, username or -, id of the log's entry, article of "
    "a comment, groups",
    written_by="every script that writes to the log",
)
vote_events = Kind(
    "voteevents",
    "channel",
    parts=(),
    holds="votes, as `events` has all other changes: processes without subscriptions do not listen to it",
    written_by="vote",
)
