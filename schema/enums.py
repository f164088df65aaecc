"""The store's enums as clients see them, with a description of every value."""

from enum import Enum

import strawberry

from store.ranking.formulas import Order
from store.records import Vote


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


def describe(enum: type[Enum], name: str, description: str, **values: str) -> None:
    """Make an enum part of the schema; unlike Strawberry's decorator, this leaves its definition where it belongs."""
    definition = strawberry.enum(enum, name=name, description=description).__strawberry_definition__  # type: ignore[attr-defined]  # set by strawberry.enum
    for value in definition.values:
        value.description = values.pop(value.name)


describe(
    Order,
    "ArticleOrder",
    "What a listing is ordered by, highest first; equal articles the later posted first.",
    SCORE="Posting time plus the worth of a vote for each vote: 200 votes make up for a day.",
    TIME="Newest first.",
    VOTES="Most votes first.",
    HOT="Reddit's hot: ten times the votes make up for 12.5 hours.",
    BEST="The lower bound of the Wilson interval of the share of upvotes: sure to be liked, of whatever age.",
    CONTROVERSIAL="Many votes, evenly divided between up and down.",
    GRAVITY="Hacker News: votes against age, exact at every read. Cursors keep the instant of the first page.",
)
describe(
    Vote,
    "VoteValue",
    "A vote on an article.",
    UP="One vote more.",
    DOWN="One vote less.",
    NONE="No vote, or the vote taken back.",
)
describe(
    UserErrorCode,
    "UserErrorCode",
    "Why a mutation was refused.",
    UNAUTHENTICATED="Nobody is logged in, or the session has ended: log in first.",
    FORBIDDEN="This is not yours to change.",
    NOT_FOUND="Nothing has this id.",
    INVALID="A value breaks a rule; `field` says which value.",
    VOTING_CLOSED="The article was posted longer ago than the voting window.",
    USERNAME_TAKEN="Somebody has this name already, in any case of letters.",
    BAD_CREDENTIALS="There is no such name and password.",
    RATE_LIMITED="Too often: try again later.",
    SELF_FOLLOW="Nobody follows themselves.",
    IDEMPOTENCY_MISMATCH="The same idempotency key came with other input.",
)
