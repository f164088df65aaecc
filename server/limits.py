"""What the settings and the schema say of limits, in the terms of the wire."""

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from caches import CacheBudget
from engine import Limits, RateLimiter
from engine.limits.cost import Weights
from engine.limits.rate_limiter import BUCKET_SIZE
from resolvers.pagination import SIZES
from resolvers.rate_limits import WriteRates
from server.http_limits.connections import ConnectionLimiter
from server.http_limits.unread_answers import UnreadAnswers
from server.settings import Settings
from server.shared_rates import digest_of
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.ranking.snapshots import MAX_POSITIONS
from store.validation import CONTENT_LENGTH, GROUP_LENGTH, IDEMPOTENCY_KEY_LENGTH, LINK_LENGTH, TITLE_LENGTH

STATS_HEADER = "X-Upvote-Stats"  # asks for the cost of an execution

HASHING = frozenset({"register", "logIn", "changePassword"})  # each takes the time and memory of a password's hash

WEIGHTS = Weights(
    texts={("Article", "content"): CONTENT_LENGTH // 10_000},
    flags={"pinned": MAX_POSITIONS // 10},  # a place that is copied costs a tenth of one that is shown
    largest_page=SIZES[-1],
)

JSON_BYTES = 12  # of a character at most: an escape of two surrogates
REST = 1_000  # characters of a request beside its texts: names, ids, punctuation


def max_request() -> int:
    """How many bytes the largest request has that posts an article by the rules: its texts, escaped, and a document."""
    groups = GROUPS_PER_ARTICLE * GROUP_LENGTH
    texts = TITLE_LENGTH + LINK_LENGTH + CONTENT_LENGTH + groups + IDEMPOTENCY_KEY_LENGTH
    return JSON_BYTES * (texts + Limits().characters + REST)


def limits(settings: Settings) -> Limits:
    is_open = settings.introspection == "on"
    return Limits(exclusive=HASHING, introspection=is_open, weights=WEIGHTS, answer=settings.max_answer)


def limiter(settings: Settings) -> ConnectionLimiter:
    is_limited = settings.rate_limits == "on"
    max_connections = settings.max_address_connections if is_limited else None
    max_unread = settings.max_address_unread if is_limited else None
    unread_answers = UnreadAnswers(settings.max_unread, max_unread, settings.proxies)
    return ConnectionLimiter(settings.max_connections, max_connections, settings.proxies, unread_answers=unread_answers)


def rates(settings: Settings, budget: CacheBudget) -> RateLimiter | None:
    if settings.rate_limits == "off":
        return None
    rates = RateLimiter(settings.rate_points, settings.rate_points_back, digest_of=digest_of)
    rates.max_buckets = budget.share("buckets") // BUCKET_SIZE
    budget.measure("buckets", rates)
    return rates


def write_rates(settings: Settings) -> WriteRates | None:
    if settings.rate_limits == "off":
        return None
    return WriteRates(settings.rate_posts, settings.rate_posts_a_day, settings.rate_registrations)


def pages_of_others(settings: Settings) -> Middleware | None:
    """Browsers show an answer to pages of other origins only where it says so; unless any is allowed, none does."""
    if not settings.origins:
        return None
    headers = ["Authorization", "Content-Type", "X-Request-Id", STATS_HEADER, "traceparent"]
    exposed = ["ETag", "Retry-After", "X-Request-Id"]
    return Middleware(
        CORSMiddleware,
        allow_origins=settings.origins,
        allow_methods=["GET", "POST"],
        allow_headers=headers,
        expose_headers=exposed,
    )
