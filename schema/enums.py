"""Enums of the schema. Those of the store get their descriptions here: types import them from this module."""

from enum import Enum

import strawberry

from resolvers.search import SearchKind, SearchOrder
from store.flags import FlagReason, Queue
from store.leaving import DeletedTexts
from store.mailboxes import MailFrequency
from store.moderation_records import AnnulmentState, ModerationKind, Role
from store.notifications import NotificationKind
from store.offers import Registration
from store.ranking.formulas import Order
from store.records import ContentState, Vote
from store.threads import CommentOrder

__all__ = [
    "AnnulmentState",
    "CommentOrder",
    "ContentState",
    "DeletedTexts",
    "FlagReason",
    "MailFrequency",
    "ModerationKind",
    "NotificationKind",
    "Order",
    "Registration",
    "Role",
    "SearchKind",
    "SearchOrder",
    "UserErrorCode",
    "Vote",
]


class UserErrorCode(Enum):
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    INVALID = "invalid"
    VOTING_CLOSED = "voting closed"
    USERNAME_TAKEN = "username taken"
    BAD_CREDENTIALS = "bad credentials"
    RATE_LIMITED = "rate limited"
    SELF_FOLLOW = "self follow"
    IDEMPOTENCY_MISMATCH = "idempotency mismatch"
    LOCKED = "locked"
    BANNED = "banned"
    NOT_A_MODERATOR = "not a moderator"
    ALREADY_REVERTED = "already reverted"
    RULE = "rule"
    NOT_OFFERED = "not offered"
    BAD_TOKEN = "bad token"


def describe(enum: type[Enum], name: str, description: str, **values: str) -> None:
    """Add an enum to the schema. Unlike Strawberry's decorator, this can describe an enum of another module."""
    definition = strawberry.enum(enum, name=name, description=description).__strawberry_definition__  # type: ignore[attr-defined]  # set by strawberry.enum
    for value in definition.values:
        value.description = values.pop(value.name)


describe(
    Order,
    "ArticleOrder",
    "The order of a listing, highest first. Of equal articles the newer one comes first.",
    SCORE="Posting time plus a fixed time per vote: 200 votes are worth a day.",
    TIME="Newest first.",
    VOTES="Most votes first.",
    HOT="Reddit's hot: ten times as many votes are worth 12.5 hours.",
    BEST="The lower bound of the Wilson interval of the share of upvotes, independent of age.",
    CONTROVERSIAL="Many votes, evenly divided between upvotes and downvotes.",
    GRAVITY="Hacker News: votes divided by a power of age. Next pages use the age at the time of the first page.",
    ACTIVE="By the newest comment, newest first; articles without comments by the time of posting.",
)
describe(
    Vote,
    "VoteValue",
    "A vote on an article or a comment.",
    UP="An upvote.",
    DOWN="A downvote.",
    NONE="No vote; removes an earlier one.",
)
describe(
    NotificationKind,
    "NotificationKind",
    "Why a user is notified.",
    REPLY="A reply to an article or a comment of the user.",
    MENTION="A text that mentions the user, as `@alice`.",
    MODERATION="What a moderator did.",
)
describe(
    CommentOrder,
    "CommentOrder",
    "The order of replies to a comment or an article. Of equal ones the later is first, by OLDEST the earlier.",
    BEST="The lower bound of the Wilson interval of the share of upvotes, highest first.",
    VOTES="Most votes first.",
    NEWEST="Newest first.",
    OLDEST="Oldest first: NEWEST reversed.",
    CONTROVERSIAL="Many votes, evenly divided between upvotes and downvotes, first.",
)
describe(
    ContentState,
    "ContentState",
    "Whether an article or a comment is shown.",
    VISIBLE="Everybody may read it.",
    PENDING="It waits for a moderator; only its poster and moderators may read it.",
    REMOVED="A moderator has removed it; only its poster and moderators may read it.",
    DELETED="Its poster has deleted it. It stays, without content and poster, while it has replies.",
)
describe(
    Role,
    "Role",
    "What a user may do as a moderator.",
    ADMIN="Everything, and who has which role.",
    MODERATOR="Content, locks and bans, of the whole site or of a group.",
)
describe(
    ModerationKind,
    "ModerationKind",
    "What a moderator did.",
    REMOVE="Removed an article or a comment, or took an article out of a group.",
    APPROVE="Approved an article or a comment.",
    LOCK="Locked an article: it takes no votes and no comments.",
    BAN="Banned a user from the site or a group.",
    ANNUL_VOTES="Let votes of a user count no more.",
    GRANT_ROLE="Gave a user a role.",
    REVOKE_ROLE="Took a role from a user.",
    REVERT="Reverted an earlier action.",
    PURGE="Deleted a text for good.",
    REJECT_EDIT="Rejected an edit that a rule of the site held. The text stayed as it was.",
)
describe(
    AnnulmentState,
    "AnnulmentState",
    "How far an action is that annuls votes.",
    RUNNING="Votes are being annulled.",
    DONE="All of its votes count no more, and every read shows it.",
    RESTORING="It was reverted, and its votes are being restored.",
    RESTORED="It was reverted, and its votes count again in every read.",
)
describe(
    FlagReason,
    "FlagReason",
    "Why a user flags an article or a comment.",
    SPAM="It advertises, or was posted by a program.",
    ABUSE="It attacks somebody.",
    OFF_TOPIC="It does not belong here.",
    ILLEGAL="It breaks the law.",
    OTHER="For another reason, which the note says.",
)
describe(
    DeletedTexts,
    "DeletedTexts",
    "What becomes of the articles and comments of a user who is deleted.",
    KEEP="They stay, without a name.",
    REMOVE="They are deleted.",
)
describe(
    MailFrequency,
    "MailFrequency",
    "How often what arrives in the inbox is mailed.",
    NEVER="Not at all.",
    AT_ONCE="After two minutes, without what was seen meanwhile.",
    DAILY="Once a day.",
    WEEKLY="On Mondays.",
)
describe(
    Queue,
    "QueueKind",
    "Why things wait for moderators.",
    FLAGGED="Users have flagged them.",
    PENDING="They are not shown before a moderator approves them.",
)
describe(
    SearchKind,
    "SearchKind",
    "What a search finds.",
    ARTICLE="Articles, by their titles and contents.",
    COMMENT="Comments, by their contents.",
    USER="Users, by their names.",
)
describe(
    SearchOrder,
    "SearchOrder",
    "The order of matches.",
    RELEVANCE="The best matches first. A word in a title or a name counts more than one in content.",
    NEWEST="By the time of posting, or of registration, newest first.",
    VOTES="By the votes of an article or a comment, or the karma of a user, most first.",
)
describe(
    UserErrorCode,
    "UserErrorCode",
    "The reason why a mutation was refused.",
    UNAUTHENTICATED="Nobody is logged in, or the session has ended.",
    FORBIDDEN="The article or comment belongs to another user, or is not visible.",
    NOT_FOUND="No object has this id.",
    INVALID="A value is invalid; `field` names it.",
    VOTING_CLOSED="Voting on the article or comment has closed.",
    USERNAME_TAKEN="Another user has this name. Case of letters does not matter.",
    BAD_CREDENTIALS="The name or the password is wrong.",
    RATE_LIMITED="The rate limit was exceeded.",
    SELF_FOLLOW="You cannot follow yourself.",
    IDEMPOTENCY_MISMATCH="The idempotency key was used before with other input.",
    LOCKED="The article is locked and takes no votes and no comments, or it is too old for comments.",
    BANNED="A moderator has banned the viewer from the site or the group.",
    NOT_A_MODERATOR="Only moderators of the place may do this, and some things only admins. Also for one's own "
    "content, and for somebody of the same or a higher role.",
    ALREADY_REVERTED="The action was reverted before.",
    RULE="A rule of the site does not allow it; `rule` names it.",
    NOT_OFFERED="It is switched off on this site.",
    BAD_TOKEN="The token was used before, has expired, is unknown, or is not accepted.",
)
describe(
    Registration,
    "Registration",
    "Who may register.",
    OPEN="Everybody.",
    INVITED="Who has an invitation, which is good once.",
    CLOSED="Nobody.",
)
