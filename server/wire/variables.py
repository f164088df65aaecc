"""
The variables of an operation as graphql-core coerces them.

What is to be known of each is found out once. Plain values are taken as they are, others are coerced one by one; as
soon as anything does not fit, graphql-core does all of it, for it knows what is to be said.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphql import (
    GraphQLBoolean,
    GraphQLID,
    GraphQLInputType,
    GraphQLInt,
    GraphQLSchema,
    GraphQLString,
    GraphQLType,
    Undefined,
    VariableDefinitionNode,
    coerce_input_value,
    get_nullable_type,
    is_non_null_type,
)
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import (
    VariableValues,
    VariableValueSource,
    get_variable_values,
    input_is_nested_too_deeply,
)

from server.wire.plans import Bail

PLAIN: dict[GraphQLType, type] = {GraphQLString: str, GraphQLID: str, GraphQLInt: int, GraphQLBoolean: bool}
MAX_BITS = 31  # of an Int


class Variable(NamedTuple):
    """A variable; where its value is of one of the `plain` types it is taken as it is."""

    name: str
    signature: GraphQLVariableSignature
    plain: frozenset[type]
    is_optional: bool


class Signatures:
    """The variables that an operation declares."""

    def __init__(self, schema: GraphQLSchema, definitions: Sequence[VariableDefinitionNode]) -> None:
        self._schema = schema
        self._definitions = definitions
        self._variables = [_variable(schema, definition) for definition in definitions]

    def coerced(self, given: dict[str, Any]) -> VariableValues:
        """
        Raises:
            Bail: they do not fit.
        """
        sources, coerced = {}, {}
        for name, signature, plain, is_optional in self._variables:
            value = given.get(name, Undefined)
            kind = type(value)
            sources[name] = VariableValueSource(signature, value)
            if kind in plain and (kind is not int or value.bit_length() <= MAX_BITS):
                coerced[name] = value
            elif value is not Undefined:
                coerced[name] = _coerced(value, signature.type)
            elif not is_optional:
                return self._in_full(given)
        return self._in_full(given) if Undefined in coerced.values() else VariableValues(sources, coerced)

    def _in_full(self, given: dict[str, Any]) -> VariableValues:
        values = get_variable_values(self._schema, self._definitions, given)
        if isinstance(values, list):
            raise Bail("variables")
        return values


def _coerced(value: Any, type_: GraphQLInputType) -> Any:
    """A value that is not plain; undefined if it does not fit."""
    return Undefined if input_is_nested_too_deeply(value, type_) else coerce_input_value(value, type_)


def _variable(schema: GraphQLSchema, definition: VariableDefinitionNode) -> Variable:
    signature = get_variable_signature(schema, definition)
    assert isinstance(signature, GraphQLVariableSignature), "the operation is valid"
    is_required = is_non_null_type(signature.type)
    kind = PLAIN.get(get_nullable_type(signature.type))
    plain = frozenset() if kind is None else frozenset({kind} if is_required else {kind, type(None)})
    return Variable(signature.name, signature, plain, not is_required and definition.default_value is None)
