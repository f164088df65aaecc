"""
GraphQL for any Strawberry schema: HTTP, WebSocket and streams, limits, and a compiler for queries.

An application creates an `Endpoint` with its schema and a function that opens the context of an operation.
"""

from engine.documents import read_trusted_documents
from engine.endpoint import Endpoint
from engine.errors import Code
from engine.interfaces import BackendUsage, Context, Observation, Observer
from engine.limits.documents import Limits
from engine.limits.rate_limiter import BucketKey, RateLimiter
from engine.requests import Client

__all__ = [
    "BackendUsage",
    "BucketKey",
    "Client",
    "Code",
    "Context",
    "Endpoint",
    "Limits",
    "Observation",
    "Observer",
    "RateLimiter",
    "read_trusted_documents",
]
