"""GraphQL on the wire: HTTP, WebSocket and streams for any Strawberry schema. Nothing here knows an article."""

from engine.clients import BackendUsage, Client, Context
from engine.documents.persisted_documents import read_trusted_documents
from engine.endpoint import Endpoint
from engine.errors import Code
from engine.limits.documents import Limits
from engine.limits.rate_limiter import Rates, Subject
from engine.observers import Observation, Observer

__all__ = [
    "BackendUsage",
    "Client",
    "Code",
    "Context",
    "Endpoint",
    "Limits",
    "Observation",
    "Observer",
    "Rates",
    "Subject",
    "read_trusted_documents",
]
