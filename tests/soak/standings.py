"""
The field `standing`: where an article stands in an order, its value there, and the votes that it lacks to the next
rank.

Part of the model: a server in plain Python, with which the soak test compares the real one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.soak import formulas
from tests.soak.input_checks import group_or_none
from tests.soak.records import Article
from tests.soak.requests import Request

FEW_UPVOTES, MOST_UPVOTES = 100, 2**31 - 1  # GraphQL has no greater integers


class Rank(int):
    """
    A number that depends on an article and on the entries above it. The server reads these one after the other, so that
    the number may be any where a write comes between.
    """


@dataclass(frozen=True)
class Standing:
    """
    Where an article stands. `value` is in seconds for orders by time; `terms` add up to it. `missing` are the upvotes
    that lift the article above the next one; None if none do.
    """

    order: str
    rank: Rank
    value: float
    terms: formulas.Terms
    missing: Rank | None


def standing(request: Request, article: Article, order: str | None = "SCORE", group: str | None = None) -> Any:
    order, name, model = order or "SCORE", group_or_none(group), request.model
    if not article.is_visible:
        return None
    if name is not None and name not in article.groups:
        return None
    listings, now = request.listings, model.now
    key = listings.key(order, article, now)
    entries = listings.articles(order, name, now)
    above = [each.key for each in entries if each.key > key]
    shown = key.value / 1000 if order in ("SCORE", "TIME", "ACTIVE") else key.value
    up, down = len(article.up), len(article.down)
    parts = formulas.terms(model.policy, order, article.posted_at, up, down, shown)
    missing = _missing(request, article, order, above[-1]) if above else None
    return Standing(order, Rank(len(above) + 1), shown, parts, None if missing is None else Rank(missing))


def _missing(request: Request, article: Article, order: str, goal: Any) -> int | None:
    """
    The upvotes that lift an article above the sort key `goal`; None if none do. In CONTROVERSIAL, upvotes beyond its
    downvotes lower it. Up to `FEW_UPVOTES` are tried one after the other, more are found by bisection.
    """
    policy, now, up, down = request.model.policy, request.model.now, len(article.up), len(article.down)

    def passes(more: int) -> bool:
        value = formulas.value(policy, order, article.posted_at, up + more, down, now)
        return (value, article.posted_at, article.number) > goal

    if order in ("TIME", "ACTIVE"):
        return None
    most = max(down - up, 0) if order == "CONTROVERSIAL" else MOST_UPVOTES
    for more in range(1, min(most, FEW_UPVOTES) + 1):
        if passes(more):
            return more
    low, high = FEW_UPVOTES, most
    if high <= low or not passes(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Standing": {
        "order": lambda request, standing: standing.order,
        "rank": lambda request, standing: standing.rank,
        "value": lambda request, standing: standing.value,
        "terms": lambda request, standing: standing.terms,
        "votesToNextRank": lambda request, standing: standing.missing,
    },
    "StandingTerm": {"name": lambda request, term: term[0], "value": lambda request, term: term[1]},
}
