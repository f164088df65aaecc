"""
Coerces the variables of an operation as graphql-core does.

Their types are examined once. If a value does not fit, graphql-core coerces all of them, and has the right message.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from graphql import (
    GraphQLBoolean,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLSchema,
    GraphQLString,
    GraphQLType,
    Undefined,
    VariableDefinitionNode,
    coerce_input_value,
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_non_null_type,
    is_required_input_field,
)
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import (
    VariableValues,
    VariableValueSource,
    get_variable_values,
    input_is_nested_too_deeply,
)
from graphql.utilities.coerce_input_value import coerce_default_value

from engine.compiler.plan import NotCompilable

PLAIN: dict[GraphQLType, type] = {GraphQLString: str, GraphQLID: str, GraphQLInt: int, GraphQLBoolean: bool}
MAX_BITS = 31  # of an Int


Coerce = Callable[[Any], Any]  # returns Undefined if a value does not fit


class Variable(NamedTuple):
    name: str
    signature: GraphQLVariableSignature
    coerce: Coerce
    is_optional: bool


class Part(NamedTuple):
    """A field of an input object; `default` is Undefined if it has none."""

    name: str
    out_name: str
    coerce: Coerce
    is_required: bool
    default: Any


class VariableCoercion:
    """The variables that an operation declares."""

    def __init__(self, schema: GraphQLSchema, definitions: Sequence[VariableDefinitionNode]) -> None:
        self._schema = schema
        self._definitions = definitions
        self._variables = [_variable(schema, definition) for definition in definitions]

    def coerced(self, given: dict[str, Any]) -> VariableValues:
        """
        Raises:
            NotCompilable: they do not fit.
        """
        sources, coerced = {}, {}
        for name, signature, coerce, is_optional in self._variables:
            value = given.get(name, Undefined)
            sources[name] = VariableValueSource(signature, value)
            if value is not Undefined:
                coerced[name] = value = coerce(value)
            if value is Undefined and (name in given or not is_optional):
                return self._in_full(given)
        return VariableValues(sources, coerced)

    def _in_full(self, given: dict[str, Any]) -> VariableValues:
        values = get_variable_values(self._schema, self._definitions, given)
        if isinstance(values, list):
            raise NotCompilable("variables")
        return values


def _coercer(type_: GraphQLInputType, within: frozenset[GraphQLInputType] = frozenset()) -> Coerce:
    """A function that coerces values of a type; `within` are the input objects around it."""
    null = Undefined if is_non_null_type(type_) else None
    named = get_nullable_type(type_)
    if kind := PLAIN.get(named):
        return partial(_plain, kind, null)
    if is_enum_type(named):
        return partial(_member, {name: named.coerce_input_value(name) for name in named.values}, null)
    if is_input_object_type(named) and named not in within and not named.is_one_of:
        parts = [_part(name, field, within | {named}) for name, field in named.fields.items()]
        if named.out_type is GraphQLInputObjectType.out_type and not any(
            type(part.default) in (list, dict) for part in parts
        ):
            return partial(_object, parts, null)
    return partial(_in_general, type_)


def _part(name: str, field: GraphQLInputField, within: frozenset[GraphQLInputType]) -> Part:
    coerce = _coercer(field.type, within)
    return Part(name, field.out_name or name, coerce, is_required_input_field(field), coerce_default_value(field))


def _plain(kind: type, null: Any, value: Any) -> Any:
    if value is None:
        return null
    if type(value) is not kind or (type(value) is int and value.bit_length() > MAX_BITS):
        return Undefined
    return value


def _member(members: Mapping[str, Any], null: Any, value: Any) -> Any:
    if value is None:
        return null
    return members.get(value, Undefined) if type(value) is str else Undefined


def _object(parts: Sequence[Part], null: Any, value: Any) -> Any:
    if type(value) is not dict:
        return null if value is None else Undefined
    coerced, known = {}, 0
    for name, out_name, coerce, is_required, default in parts:
        if name in value:
            known += 1
            part = coerce(value[name])
            if part is Undefined:
                return Undefined
            coerced[out_name] = part
        elif is_required:
            return Undefined
        elif default is not Undefined:
            coerced[out_name] = default
    return coerced if known == len(value) else Undefined


def _in_general(type_: GraphQLInputType, value: Any) -> Any:
    return Undefined if input_is_nested_too_deeply(value, type_) else coerce_input_value(value, type_)


def _variable(schema: GraphQLSchema, definition: VariableDefinitionNode) -> Variable:
    signature = get_variable_signature(schema, definition)
    assert isinstance(signature, GraphQLVariableSignature), "the operation is valid"
    is_optional = not is_non_null_type(signature.type) and definition.default_value is None
    return Variable(signature.name, signature, _coercer(signature.type), is_optional)
