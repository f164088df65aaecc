"""The variables of an operation as graphql-core coerces them: it does all of it, but what is taken just as it is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphql import (
    GraphQLBoolean,
    GraphQLID,
    GraphQLInt,
    GraphQLSchema,
    GraphQLString,
    GraphQLType,
    Undefined,
    VariableDefinitionNode,
    get_nullable_type,
    is_non_null_type,
)
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_variable_values

from server.wire.plans import Bail

PLAIN: dict[GraphQLType, type] = {GraphQLString: str, GraphQLID: str, GraphQLInt: int, GraphQLBoolean: bool}
MAX_BITS = 31  # of an Int


class Plain(NamedTuple):
    """A variable that is taken as it is, where its value is of one of these types."""

    name: str
    signature: GraphQLVariableSignature
    types: frozenset[type]
    is_optional: bool


class Signatures:
    """The variables that an operation declares."""

    def __init__(self, schema: GraphQLSchema, definitions: Sequence[VariableDefinitionNode]) -> None:
        self._schema = schema
        self._definitions = definitions
        plain = [_plain(schema, definition) for definition in definitions]
        self._plain = [each for each in plain if each]

    def coerced(self, given: dict[str, Any]) -> VariableValues:
        """
        Raises:
            Bail: they do not fit.
        """
        if len(self._plain) < len(self._definitions):
            return self._in_full(given)
        sources, coerced = {}, {}
        for name, signature, types, is_optional in self._plain:
            value = given.get(name, Undefined)
            kind = type(value)
            if kind in types and (kind is not int or value.bit_length() <= MAX_BITS):
                coerced[name] = value
            elif value is not Undefined or not is_optional:
                return self._in_full(given)
            sources[name] = VariableValueSource(signature, value)
        return VariableValues(sources, coerced)

    def _in_full(self, given: dict[str, Any]) -> VariableValues:
        values = get_variable_values(self._schema, self._definitions, given)
        if isinstance(values, list):
            raise Bail("variables")
        return values


def _plain(schema: GraphQLSchema, definition: VariableDefinitionNode) -> Plain | None:
    signature = get_variable_signature(schema, definition)
    assert isinstance(signature, GraphQLVariableSignature), "the operation is valid"
    is_required = is_non_null_type(signature.type)
    kind = PLAIN.get(get_nullable_type(signature.type))
    if kind is None:
        return None
    types = frozenset({kind} if is_required else {kind, type(None)})
    return Plain(signature.name, signature, types, not is_required and definition.default_value is None)
