"""
Arguments of fields, coerced as graphql-core and converted as Strawberry do it.

Both look at the types for every request. Here this is done once, when an operation is compiled; a variable then costs
little more than a look-up.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import partial
from typing import Any, NamedTuple, Protocol

import strawberry
from graphql import FieldNode, GraphQLError, GraphQLField, VariableNode, is_non_null_type, print_ast
from graphql.execution.values import VariableValues, get_argument_values
from strawberry.relay import GlobalID
from strawberry.scalars import is_scalar
from strawberry.types.arguments import StrawberryArgument, convert_argument
from strawberry.types.base import StrawberryList, StrawberryOptional, get_object_definition
from strawberry.types.enum import StrawberryEnumDefinition, has_enum_definition
from strawberry.types.field import StrawberryField

Convert = Callable[[Any], Any]
Arguments = Mapping[str, Any]


class VariableArgument(NamedTuple):
    """An argument given as a variable. `default` applies where the variable is not given."""

    name: str
    variable: str
    default: Arguments
    convert: Convert
    is_nullable: bool


class ResolverArguments(NamedTuple):
    """Arguments of a declared resolver: constants, variables, and literals that contain variables."""

    constant: Arguments
    variables: tuple[VariableArgument, ...]
    mixed: tuple[Callable[[VariableValues], Arguments], ...]

    def values(self, variables: VariableValues) -> Arguments:
        """
        Raises:
            GraphQLError: they do not fit; graphql-core has the right message.
        """
        if not self.variables and not self.mixed:
            return self.constant
        values, coerced = dict(self.constant), variables.coerced
        for name, variable, default, convert, is_nullable in self.variables:
            if variable not in coerced:
                values.update(default)
            elif (value := coerced[variable]) is not None:
                values[name] = convert(value)
            elif is_nullable:
                values[name] = None
            else:
                raise GraphQLError(f"{name} must not be null")
        for coerce in self.mixed:
            values.update(coerce(variables))
        return values


class FieldArguments(Protocol):
    def values(self, variables: VariableValues) -> Arguments: ...


class CoreArguments(NamedTuple):
    """Arguments as graphql-core gives them to the resolver that Strawberry made."""

    definition: GraphQLField
    node: FieldNode

    def values(self, variables: VariableValues) -> Arguments:
        return get_argument_values(self.definition, self.node, variables)


def resolver_arguments(
    schema: strawberry.Schema, own: StrawberryField, definition: GraphQLField, node: FieldNode
) -> ResolverArguments:
    """
    Raises:
        GraphQLError: a literal does not fit.
    """
    given = {argument.name.value: argument for argument in node.arguments or ()}
    constant: dict[str, Any] = {}
    variables, mixed = [], []
    for argument in own.arguments:
        name = schema.config.name_converter.from_argument(argument)
        alone = GraphQLField(definition.type, {name: definition.args[name]})
        convert = _converter(schema, argument.type)
        coerced = partial(_coerced, alone, node, name, argument, convert)
        written = given[name].value if name in given else None
        if isinstance(written, VariableNode):
            default = _default(alone, node, name, argument, convert)
            nullable = not is_non_null_type(definition.args[name].type)
            variables.append(VariableArgument(argument.python_name, written.name.value, default, convert, nullable))
        elif written is not None and "$" in print_ast(written):
            mixed.append(coerced)
        else:
            constant.update(coerced(None))
    return ResolverArguments(constant, tuple(variables), tuple(mixed))


def _coerced(
    alone: GraphQLField,
    node: FieldNode,
    name: str,
    argument: StrawberryArgument,
    convert: Convert,
    variables: VariableValues | None,
) -> Arguments:
    values = get_argument_values(alone, node, variables)
    if name not in values:
        return {}
    return {argument.python_name: values[name] if values[name] is None else convert(values[name])}


def _default(
    alone: GraphQLField, node: FieldNode, name: str, argument: StrawberryArgument, convert: Convert
) -> Arguments:
    """An argument whose variable is not given. The variable of a required argument always is."""
    try:
        return _coerced(alone, FieldNode(name=node.name), name, argument, convert, None)
    except GraphQLError:
        return {}


def _converter(schema: strawberry.Schema, type_: Any) -> Convert:
    """How Strawberry converts a coerced value that is not null."""
    while type(type_) is StrawberryOptional:
        type_ = type_.of_type
    if _is_leaf(schema, type_):
        return _unchanged
    if type(type_) is StrawberryList:
        return partial(_each, _converter(schema, type_.of_type))
    definition = get_object_definition(type_)
    if definition and definition.is_input and definition.from_input is None:
        parts = {
            schema.config.name_converter.from_field(field): (
                field.python_name,
                _converter(schema, field.resolve_type(type_definition=definition)),
            )
            for field in definition.fields
        }
        defaults = {field.python_name: None for field in definition.fields if _has_no_default(field)}
        return partial(_object, definition.origin, defaults, parts)
    convert: Convert = partial(
        convert_argument, type_=type_, scalar_registry=schema.schema_converter.scalar_registry, config=schema.config
    )
    return convert


def _is_leaf(schema: strawberry.Schema, type_: Any) -> bool:
    is_enum = isinstance(type_, StrawberryEnumDefinition) or has_enum_definition(type_)
    return is_enum or (type_ is not GlobalID and is_scalar(type_, schema.schema_converter.scalar_registry))


def _has_no_default(field: StrawberryField) -> bool:
    return field.default_value is MISSING and field.default_factory is MISSING


def _unchanged(value: Any) -> Any:
    return value


def _each(convert: Convert, values: list[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _object(
    type_: Callable[..., Any], defaults: Arguments, parts: Mapping[str, tuple[str, Convert]], value: Mapping[str, Any]
) -> Any:
    given = dict(defaults)
    for name, part in value.items():
        python_name, convert = parts[name]
        given[python_name] = None if part is None else convert(part)
    return type_(**given)
