"""
GraphQL for any Strawberry schema: HTTP, WebSocket and streams, limits, and a compiler for queries.

An application creates an `Endpoint` with its schema, a function that opens the context of an operation, and options.

Any schema is served without changes, except one with schema extensions, operation directives, incremental delivery or
an execution context class of its own. Queries, and mutations of one field, are compiled at their second execution. The
data is the same as that of Strawberry. If anything fails, graphql-core executes the operation and describes the errors.

What a schema can declare to be faster:

- Plain attributes need nothing: one attribute of all objects is read at once.
- A method with `@strawberry.field` is called once for each object, with its permissions and field extensions. It may be
  `async`. It may read `info.path` at root fields only; elsewhere graphql-core executes the operation.
- `metadata={RESOLVER: BatchResolver(function)}` (`engine.compiler.resolvers`) names a function that resolves the field
  for all objects of a level: `function(parents, context, **arguments)`. With `is_pure` a record, a Python object of the
  application, always has the same value for the field, for every client. With permissions or extensions the Strawberry
  resolver is called instead.
- `metadata={RESOLVER: RootResolver(function)}` names a coroutine function for a root field:
  `function(context, **arguments)`.
- A type with a static method `is_cacheable(record)` has immutable records: the JSON of their attributes and pure fields
  is cached as long as they are the same Python objects.

`is_type_of` has to decide by the class of an object. Introspection is always executed by graphql-core.
"""

from engine.clients import Client
from engine.documents import read_trusted_documents
from engine.endpoint import Endpoint, QueryResult
from engine.errors import Code, Refused
from engine.interfaces import BackendUsage, EventId, Observation, Observer, OperationContext, Options
from engine.limits.documents import Limits
from engine.limits.rate_limiter import BucketKey, RateLimiter

__all__ = [
    "BackendUsage",
    "BucketKey",
    "Client",
    "Code",
    "Endpoint",
    "EventId",
    "Limits",
    "Observation",
    "Observer",
    "OperationContext",
    "Options",
    "QueryResult",
    "RateLimiter",
    "Refused",
    "read_trusted_documents",
]
