"""Schemas with extensions or settings of their own, cached operations, and their depth."""

import pytest
import strawberry
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig

from caches import SizedCache
from engine import Endpoint, Limits
from engine.documents import Operations
from engine.errors import Refused
from tests.engine.sample import CONTEXTS, SCHEMA, Query


def test_schema_with_extensions_is_not_served():
    schema = strawberry.Schema(Query, extensions=[SchemaExtension])

    with pytest.raises(ValueError, match="extensions"):
        Endpoint(schema, CONTEXTS.open, {})


def test_suggestions_are_hidden_if_the_schema_disables_them():
    schema = strawberry.Schema(Query, config=StrawberryConfig(disable_field_suggestions=True))

    with pytest.raises(Refused) as refused:
        operations(schema).find("{ helo }", None)

    assert refused.value.errors[0]["message"] == "Cannot query field 'helo' on type 'Query'."


def test_operation_is_parsed_once():
    known = operations(SCHEMA)

    assert known.find("{ hello }", None) is known.find("{ hello }", None)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("{ down { down { hello } } }", 3),
        ("{ down { ...A } } fragment A on Query { down { ...B } } fragment B on Query { hello }", 3),
        ("{ ... on Query { ... { down { hello } } } }", 2),
    ],
)
def test_depth_counts_fields_through_fragments(text, depth):
    assert operations(SCHEMA, depth).find(text, None)
    with pytest.raises(Refused, match="nested"):
        operations(SCHEMA, depth - 1).find(text, None)


def operations(schema, max_depth=9):
    return Operations(schema, Limits(depth=max_depth), SizedCache(100_000))
