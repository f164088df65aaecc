"""The limits of a server, set up from its settings: of documents, requests, connections, and what a client may do."""

from caches import POOL
from database.words import parse
from engine import Client, Limits, RateLimiter
from engine.limits.cost import PageSize, Weights
from engine.limits.rate_limiter import BUCKET_SIZE, RatePolicy
from resolvers import changes
from resolvers.arguments import SIZES
from resolvers.rate_limits import RateLimit, WriteRates
from resolvers.search import QUERY_LENGTH
from server.http.connections import ConnectionLimiter
from server.http.unread_output import UnreadOutput
from server.settings import Settings
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.ranking.snapshots import MAX_POSITIONS
from store.records import INSTANTS
from store.threads import MAX_PLACES
from store.validation import (
    COMMENT_LENGTH,
    CONTENT_LENGTH,
    GROUP_LENGTH,
    IDEMPOTENCY_KEY_LENGTH,
    LINK_LENGTH,
    TITLE_LENGTH,
)

# Points are the unit of cost: the rate limits take them from a client, see `rate_limiter`.
SEARCH_POINTS = 50  # the least cost of a search
WORD_POINTS = 10  # the cost of each word of its query, if that is more in all


def search_points(query: str) -> int:
    """The points of a search by a query. One that is too long costs the least, as its resolver refuses it."""
    words = sum(len(phrase) for phrase in parse(query)) if len(query) <= QUERY_LENGTH else 0
    return max(SEARCH_POINTS, WORD_POINTS * words)


# Each computes a password hash, so a request may have one of them only.
PASSWORD_MUTATIONS = frozenset({"register", "logIn", "changePassword", "deleteUser", "editAccount"})
# What the parts of a document cost in points, by type and field or by argument. `lists`, `pages` and `sizes` say how
# many items of a list are counted: a number that is given here, or the size of the page that is asked for.
WEIGHTS = Weights(
    long_texts={
        ("Article", "content"): CONTENT_LENGTH // 10_000,  # a point for each 10,000 characters that it may have
        ("Comment", "content"): COMMENT_LENGTH // 10_000,
        ("Group", "about"): 1,
        ("Comment", "descendantCount"): 1,  # counted in the store
        ("SearchEdge", "excerpt"): 2,
        ("SearchConnection", "suggestion"): SEARCH_POINTS,
        ("Query", "linkTitle"): 100,  # reads a page of another server
    },
    true_arguments={
        "pinned": MAX_POSITIONS // 10,  # the listing is copied: a position costs a tenth of one that is shown
        ("Article", "thread", "pinned"): 10,  # copies nothing
    },
    given_arguments={"since": 25},  # finding the places of such a page takes longer than reading their articles
    string_costs={"query": search_points},
    largest_page=SIZES[-1],
    lists={
        ("Comment", "ancestors"): 100,  # there may be 1,000
        ("VotingRing", "annulledMembers"): 100,
        ("VotingRing", "members"): 100,
        ("VotingRing", "moves"): 20,
    },
    pages={("Article", "thread"): PageSize(default=50, largest=MAX_PLACES)},
    sizes={"limit": PageSize(default=changes.DEFAULT_LIMIT, largest=changes.LIMITS[-1])},
)
# A 25th of the pool of caches is for the buckets of rate limits, each with the points that one client has left: so no
# flood of other things evicts a bucket.
BUCKETS_SHARE = 25
ADDRESS_FACTOR = 2  # an address has twice the points of a user, if the settings do not say how many
JSON_BYTES = 12  # of a character in JSON, at most: an escaped surrogate pair
OTHER_CHARACTERS = 1_000  # of a request beside its document and texts: names, ids, punctuation


def max_request_bytes() -> int:
    """The size of the largest valid request: one that posts an article with all texts at their limits, escaped."""
    groups = GROUPS_PER_ARTICLE * GROUP_LENGTH
    texts = TITLE_LENGTH + LINK_LENGTH + CONTENT_LENGTH + groups + IDEMPOTENCY_KEY_LENGTH
    return JSON_BYTES * (texts + Limits().characters + OTHER_CHARACTERS)


def document_limits(settings: Settings) -> Limits:
    is_open = settings.introspection == "on"
    return Limits(
        exclusive=PASSWORD_MUTATIONS | {"logInWithToken"},  # this one may wait for the keys of an issuer
        introspection=is_open,
        weights=WEIGHTS,
        answer=settings.max_answer,
    )


def connection_limiter(settings: Settings) -> ConnectionLimiter:
    is_limited = settings.rate_limits == "on"
    max_connections = settings.max_address_connections if is_limited else None
    max_unread = settings.max_address_unread if is_limited else None
    return ConnectionLimiter(
        max_connections=settings.max_connections,
        max_per_address=max_connections,
        trusted_proxies=settings.proxies,
        unread_output=UnreadOutput(max_per_connection=settings.max_unread, max_per_address=max_unread),
        ipv6_prefix=settings.ipv6_prefix,
    )


def rate_limiter(settings: Settings) -> RateLimiter | None:
    """The limits by cost points: of each user, address and server key. None if rate limits are off."""
    if settings.rate_limits == "off":
        return None
    points, refill = settings.rate_points, settings.rate_points_back
    policies = {
        "user": RatePolicy(points, refill=refill, setting="UPVOTE_RATE_POINTS"),
        "address": RatePolicy(
            settings.rate_address_points or ADDRESS_FACTOR * points,
            refill=settings.rate_address_points_back or ADDRESS_FACTOR * refill,
            setting="UPVOTE_RATE_ADDRESS_POINTS",
        ),
        "key": RatePolicy(
            settings.rate_key_points, refill=settings.rate_key_points_back, setting="UPVOTE_RATE_KEY_POINTS"
        ),
    }
    bucket_bytes = POOL.total // BUCKETS_SHARE
    rates = RateLimiter(
        policies,
        max_buckets=bucket_bytes // BUCKET_SIZE,
        ipv6_prefix=settings.ipv6_prefix,
        user_of=lambda identified: identified.username.lower(),
    )
    POOL.reserve("buckets", rates, bucket_bytes)
    return rates


def rate_limit(rates: RateLimiter, client: Client) -> RateLimit:
    """What is left of a client's points, as the field `rateLimit` of the schema gives it."""
    status = rates.status(client)
    reset_at = min(round(status.reset_at * 1000), INSTANTS[-1])
    return RateLimit(status.limit, status.remaining, round(status.refill), reset_at)


def write_rates(settings: Settings) -> WriteRates | None:
    """The limits of how often a client posts, comments, registers and so on. None if rate limits are off."""
    if settings.rate_limits == "off":
        return None
    return WriteRates(
        posts=settings.rate_posts,
        posts_a_day=settings.rate_posts_a_day,
        registrations=settings.rate_registrations,
        comments=settings.rate_comments,
        comments_a_day=settings.rate_comments_a_day,
        removals=settings.rate_removals,
        flags_a_day=settings.rate_flags_a_day,
        mails=settings.rate_mails,
        mails_a_day=settings.rate_mails_a_day,
    )
