"""GraphQL on the wire: HTTP, WebSocket and streams for any Strawberry schema. Nothing here knows an article."""

from server.wire.clients import Client, Context
from server.wire.documents import read_trusted_documents
from server.wire.endpoint import Endpoint

__all__ = ["Client", "Context", "Endpoint", "read_trusted_documents"]
