"""
Coerces variables and arguments as graphql-core does, and converts arguments as Strawberry does. To coerce is to check a
value, such as JSON of a request, against its GraphQL type, and to fill in defaults. To convert is to make of a coerced
value what a resolver gets, such as an instance of an input class.

Both libraries look at the types for every request. Here this is done once, when an operation is compiled. If a variable
does not fit, graphql-core coerces all of them, and has the right message.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import strawberry
from graphql import (
    FieldNode,
    GraphQLBoolean,
    GraphQLError,
    GraphQLField,
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
    VariableNode,
    coerce_input_value,
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_non_null_type,
    is_required_input_field,
    print_ast,
)

from engine.bridge import (
    Convert,
    GraphQLVariableSignature,
    StrawberryArgument,
    StrawberryField,
    VariableValues,
    VariableValueSource,
    coerce_default_value,
    converter,
    get_argument_values,
    get_variable_signature,
    get_variable_values,
    input_is_nested_too_deeply,
)
from engine.compiler.plan import Arguments, NotCompilable

# Values of these types are taken as they are if they have this class; all others are left to graphql-core.
PLAIN: dict[GraphQLType, type] = {GraphQLString: str, GraphQLID: str, GraphQLInt: int, GraphQLBoolean: bool}
MAX_BITS = 31  # of an Int, without its sign
Coerce = Callable[[Any], Any]  # returns Undefined if a value does not fit


class VariableArgument(NamedTuple):
    """
    An argument that the document gives as a variable. `name` is its name in Python, `variable` that of the variable.
    `default` is used where a request does not give the variable: the argument with its default value, or empty if there
    is none.
    """

    name: str
    variable: str
    default: Arguments
    convert: Convert
    is_nullable: bool


class ResolverArguments(NamedTuple):
    """
    Arguments of a resolver that the schema declares for a field (`engine.compiler.resolvers`): those that are the same
    in each execution, those given as a variable, and functions for literals that contain variables (`mixed`).
    """

    constant: Arguments
    variables: tuple[VariableArgument, ...]
    mixed: tuple[Callable[[VariableValues], Arguments], ...]

    @property
    def is_constant(self) -> bool:
        return not self.variables and not self.mixed

    def values(self, variables: VariableValues) -> Arguments:
        """
        Raises:
            GraphQLError: the values do not fit; graphql-core has the right message.
        """
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


class CoreArguments(NamedTuple):
    """
    Arguments as graphql-core gives them to the resolver that Strawberry made for it. They are never constant: that
    resolver may change what it is given, so each execution makes them anew.
    """

    definition: GraphQLField
    node: FieldNode
    is_constant: bool = False

    def values(self, variables: VariableValues) -> Arguments:
        return get_argument_values(self.definition, self.node, variables)


def resolver_arguments(
    schema: strawberry.Schema, own: StrawberryField, definition: GraphQLField, node: FieldNode
) -> ResolverArguments:
    """
    The arguments of one field of an operation: `own` is Strawberry's field, `definition` that of graphql-core, and
    `node` is the field in the document.

    Raises:
        GraphQLError: a literal does not fit.
    """
    given = {argument.name.value: argument for argument in node.arguments or ()}
    constant: dict[str, Any] = {}
    variables, mixed = [], []
    for argument in own.arguments:
        name = schema.config.name_converter.from_argument(argument)
        single = GraphQLField(definition.type, {name: definition.args[name]})
        convert = converter(schema, argument.type)
        coerced = partial(_coerced, single, node, name, argument, convert)
        written = given[name].value if name in given else None
        if isinstance(written, VariableNode) and not argument.is_maybe:
            default = _default(single, node, name, argument, convert)
            nullable = not is_non_null_type(definition.args[name].type)
            variables.append(VariableArgument(argument.python_name, written.name.value, default, convert, nullable))
        elif written is not None and "$" in print_ast(written):
            mixed.append(coerced)
        else:
            constant.update(coerced(variables=None))
    return ResolverArguments(constant, tuple(variables), tuple(mixed))


def _coerced(
    single: GraphQLField,
    node: FieldNode,
    name: str,
    argument: StrawberryArgument,
    convert: Convert,
    variables: VariableValues | None,
) -> Arguments:
    """The argument by its Python name; empty if it has no value. `single` is the field with this argument only."""
    values = get_argument_values(single, node, variables)
    if name not in values:
        return {}
    is_converted = values[name] is not None or argument.is_maybe
    return {argument.python_name: convert(values[name]) if is_converted else None}


def _default(
    single: GraphQLField, node: FieldNode, name: str, argument: StrawberryArgument, convert: Convert
) -> Arguments:
    """An argument whose variable is not given. The variable of a required argument always is."""
    try:
        return _coerced(single, FieldNode(name=node.name), name, argument, convert, variables=None)
    except GraphQLError:
        return {}


class Variable(NamedTuple):
    """A variable that an operation declares, and how its values are coerced."""

    name: str
    signature: GraphQLVariableSignature
    coerce: Coerce
    is_optional: bool


class InputField(NamedTuple):
    """A field of an input object; `out_name` is its key in a coerced value, `default` is Undefined if it has none."""

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
            NotCompilable: the given values do not fit.
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
        """As `coerced`, by graphql-core itself."""
        values = get_variable_values(self._schema, self._definitions, given)
        if isinstance(values, list):
            raise NotCompilable("variables")
        return values


def _coercer(type_: GraphQLInputType, within: frozenset[GraphQLInputType] = frozenset()) -> Coerce:
    """
    A function that coerces values of a type; `within` are the input objects around it.

    It leaves to graphql-core: lists, scalars of the schema, and input objects that contain themselves, are one-of, have
    a Python type of their own (`out_type`), or have a list or an object as the default of a field.
    """
    null = Undefined if is_non_null_type(type_) else None
    named = get_nullable_type(type_)
    if kind := PLAIN.get(named):
        return partial(_plain, kind, null)
    if is_enum_type(named):
        return partial(_member, {name: named.coerce_input_value(name) for name in named.values}, null)
    if is_input_object_type(named) and named not in within and not named.is_one_of:
        parts = [_input_field(name, field, within | {named}) for name, field in named.fields.items()]
        if named.out_type is GraphQLInputObjectType.out_type and not any(
            type(part.default) in (list, dict) for part in parts
        ):
            return partial(_input_object, parts, null)
    return partial(_in_general, type_)


def _input_field(name: str, field: GraphQLInputField, within: frozenset[GraphQLInputType]) -> InputField:
    coerce = _coercer(field.type, within)
    return InputField(name, field.out_name or name, coerce, is_required_input_field(field), coerce_default_value(field))


# The functions below are a `Coerce` with their first arguments bound by `partial`. `null` is what null is coerced to:
# None, or Undefined if the type does not allow it.
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


def _input_object(parts: Sequence[InputField], null: Any, value: Any) -> Any:
    """Coerces an object field by field. Undefined if a part does not fit, is missing, or is not known."""
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
    """Coerces a value by graphql-core."""
    return Undefined if input_is_nested_too_deeply(value, type_) else coerce_input_value(value, type_)


def _variable(schema: GraphQLSchema, definition: VariableDefinitionNode) -> Variable:
    signature = get_variable_signature(schema, definition)
    assert isinstance(signature, GraphQLVariableSignature), "the operation is valid"
    is_optional = not is_non_null_type(signature.type) and definition.default_value is None
    return Variable(signature.name, signature, _coercer(signature.type), is_optional)
