"""GraphQL on the wire: HTTP, WebSocket and streams for any Strawberry schema. Nothing here knows an article."""

from server.wire.clients import Client, Context, Tally
from server.wire.documents import read_trusted_documents
from server.wire.endpoint import Endpoint
from server.wire.errors import Code
from server.wire.limits import Limits
from server.wire.observers import Observation, Observer
from server.wire.rates import Rates, Subject

__all__ = [
    "Client",
    "Code",
    "Context",
    "Endpoint",
    "Limits",
    "Observation",
    "Observer",
    "Rates",
    "Subject",
    "Tally",
    "read_trusted_documents",
]
