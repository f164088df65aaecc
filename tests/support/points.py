"""Requests that take points, by which rate limits count the cost of requests, and the points that are left."""

import re

from tests.server.conftest import REGISTER

PAGE = {"query": "{ articles(first: 40) { nodes { id } } }"}  # 41 points
SMALL = {"query": "{ articles(first: 1) { nodes { id } } }"}  # 2 points
# settings with which the buckets of points are practically not refilled
SLOW_REFILL = {"rate_points_back": 0.001, "rate_address_points_back": 0.001, "rate_limits": "on"}
# the header RateLimit: kind of bucket, points that are left, and seconds until it is full
LIMIT = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')


def registered(live, username):
    """Register a user and return the token of the session."""
    return live.ask(REGISTER.replace("alice", username))["data"]["register"]["token"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def points_left(answer):
    """The kind of bucket that a request took from, and the points that are left."""
    kind, remaining, _ = LIMIT.fullmatch(answer.headers["ratelimit"]).groups()
    return kind, int(remaining)
