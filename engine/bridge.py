"""
The bridge to graphql-core and Strawberry: what the engine uses of them beyond their documented interfaces.

A new version of either library changes this module only. `tests/test_private_names.py` lists the names.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING
from functools import partial
from typing import Any, TypeAlias

import strawberry
from graphql import ExecutionResult, GraphQLField, GraphQLObjectType, GraphQLSchema
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, collect_fields, collect_subfields
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import (
    VariableValues,
    VariableValueSource,
    get_argument_values,
    get_variable_values,
    input_is_nested_too_deeply,
)
from graphql.pyutils import Path
from graphql.type.definition import GraphQLResolveInfoHelpers
from graphql.utilities.coerce_input_value import coerce_default_value
from graphql.validation.validate import ValidationAbortedError
from strawberry.execution import optimized_is_awaitable
from strawberry.relay import GlobalID
from strawberry.scalars import is_scalar
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule
from strawberry.types.arguments import StrawberryArgument, convert_argument
from strawberry.types.base import StrawberryList, StrawberryMaybe, StrawberryOptional, get_object_definition
from strawberry.types.enum import StrawberryEnumDefinition, has_enum_definition
from strawberry.types.field import StrawberryField

__all__ = [
    "STRAWBERRY_RULES",
    "Convert",
    "Executor",
    "FieldDetails",
    "FragmentDetails",
    "GraphQLResolveInfoHelpers",
    "GraphQLVariableSignature",
    "Path",
    "StrawberryArgument",
    "StrawberryField",
    "ValidationAbortedError",
    "VariableValueSource",
    "VariableValues",
    "attribute_of",
    "coerce_default_value",
    "collect_fields",
    "collect_subfields",
    "converter",
    "core_schema",
    "declared_field",
    "get_argument_values",
    "get_variable_signature",
    "get_variable_values",
    "has_own_executor",
    "has_resolver",
    "input_is_nested_too_deeply",
    "optimized_is_awaitable",
    "origin_of",
]

STRAWBERRY_RULES = (MaybeNullValidationRule, OneOfInputValidationRule)  # of validation, beside those of graphql-core
# In a schema of graphql-core that Strawberry made: the key in the `extensions` of a type or field for Strawberry's own.
DEFINITION = "strawberry-definition"

Convert: TypeAlias = Callable[[Any], Any]  # makes the Python object that a resolver gets of a coerced input value


def core_schema(schema: strawberry.Schema) -> GraphQLSchema:
    """The schema of graphql-core that Strawberry made."""
    return schema._schema


def has_own_executor(schema: strawberry.Schema) -> bool:
    return schema.execution_context_class is not StrawberryGraphQLCoreExecutionContext


def declared_field(field: GraphQLField) -> Any:
    """The field of Strawberry that a field of graphql-core was made from; None for those of introspection."""
    return field.extensions.get(DEFINITION)


def origin_of(type_: GraphQLObjectType) -> type:
    """The class that a GraphQL type was made from."""
    origin: type = type_.extensions[DEFINITION].origin
    return origin


def has_resolver(field: StrawberryField) -> bool:
    """Whether a field is more than an attribute of its object."""
    return field.base_resolver is not None


def attribute_of(field: StrawberryField) -> str:
    """The attribute that a field without a resolver returns."""
    return field.python_name


def converter(schema: strawberry.Schema, type_: Any, within: frozenset[type] = frozenset()) -> Convert:
    """
    A function that converts coerced values of an input type as Strawberry does, for example dicts to instances of an
    input class. It is called for values that are not null; for a `Maybe` (Strawberry's type of an argument that may be
    left out) also for null.

    `within` are the input types around it: one that contains itself is left to Strawberry's own function.
    """
    while type(type_) is StrawberryOptional:
        type_ = type_.of_type
    if _is_leaf(schema, type_):
        return _unchanged
    if type(type_) is StrawberryList:
        return partial(_each, converter(schema, type_.of_type, within))
    definition = get_object_definition(type_)
    if definition and definition.is_input and definition.from_input is None and definition.origin not in within:
        within |= {definition.origin}
        types = {field: field.resolve_type(type_definition=definition) for field in definition.fields}
        if not any(isinstance(each, StrawberryMaybe) for each in types.values()):
            name_of = schema.config.name_converter.from_field
            parts = {
                name_of(field): (field.python_name, converter(schema, each, within)) for field, each in types.items()
            }
            defaults = {field.python_name: None for field in types if _has_no_default(field)}
            return partial(_converted_object, definition.origin, defaults, parts)
    convert: Convert = partial(
        convert_argument, type_=type_, scalar_registry=schema.schema_converter.scalar_registry, config=schema.config
    )
    return convert


def _is_leaf(schema: strawberry.Schema, type_: Any) -> bool:
    """Whether Strawberry takes values of a type as they were coerced: an enum or a scalar."""
    is_enum = isinstance(type_, StrawberryEnumDefinition) or has_enum_definition(type_)
    return is_enum or (type_ is not GlobalID and is_scalar(type_, schema.schema_converter.scalar_registry))


def _has_no_default(field: StrawberryField) -> bool:
    return field.default_value is MISSING and field.default_factory is MISSING


def _unchanged(value: Any) -> Any:
    return value


def _each(convert: Convert, values: list[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _converted_object(
    type_: Callable[..., Any],
    defaults: Mapping[str, Any],
    parts: Mapping[str, tuple[str, Convert]],
    value: Mapping[str, Any],
) -> Any:
    """
    An instance of an input class. `defaults` has None for each attribute without a default; `parts` has, by the name of
    a field in GraphQL, the name of its attribute and how its value is converted.
    """
    given = dict(defaults)
    for name, part in value.items():
        python_name, convert = parts[name]
        given[python_name] = None if part is None else convert(part)
    return type_(**given)


class Executor(StrawberryGraphQLCoreExecutionContext):
    """
    graphql-core's executor with two additions. It calls `before_await` before it awaits a value of a field. When
    `execute` ends, it cancels background tasks, and gives coroutines that were never awaited to `dispose`; graphql-core
    keeps them.
    """

    def __init__(
        self,
        *given: Any,
        before_await: Callable[[], object] | None,
        dispose: Callable[[list[Any]], object],
        **options: Any,
    ) -> None:
        super().__init__(*given, **options)
        self._before_await = before_await
        self._dispose_of = dispose
        self._track_awaitables()

    async def execute(self, *, serially: bool | None = None) -> ExecutionResult:
        try:
            result: Any = self.execute_operation(serially)
            return result if isinstance(result, ExecutionResult) else await result
        finally:
            self._finish()

    def build_per_event_executor(self, payload: Any) -> "Executor":
        executor: Executor = super().build_per_event_executor(payload)  # type: ignore[assignment]  # a copy of this
        executor._track_awaitables()
        return executor

    async def with_abort_signal(self, awaitable: Awaitable[Any]) -> Any:
        """Called by graphql-core for every awaitable value."""
        if self._before_await is not None:
            self._before_await()
        return await awaitable

    def complete_list_item_value(self, item: Any, results: list[Any], *rest: Any) -> bool:
        is_awaitable = super().complete_list_item_value(item, results, *rest)
        if is_awaitable:
            self._awaitables.append(results[-1])
        return is_awaitable

    def complete_awaitable_list_item_value(self, *given: Any) -> Awaitable[Any]:  # type: ignore[override]  # it is awaited
        value = super().complete_awaitable_list_item_value(*given)
        self._awaitables.append(value)
        return value

    def _track_awaitables(self) -> None:
        self._awaitables: list[Any] = []  # values that graphql-core awaits later
        self.background_futures = set()
        self.is_awaitable = self._is_awaitable  # type: ignore[assignment]  # it returns bool, not TypeGuard

    def _is_awaitable(self, value: Any) -> bool:
        """Return and record whether a value is awaitable: graphql-core calls this before it awaits one."""
        if not optimized_is_awaitable(value):
            return False
        self._awaitables.append(value)
        return True

    def _finish(self) -> None:
        """Cancel graphql-core's background tasks first: they may still start other coroutines."""
        futures = list(self.background_futures)
        if not futures:
            self._release()
            return
        for future in futures:
            future.cancel()
        gather(*futures, return_exceptions=True).add_done_callback(lambda _: self._release())

    def _release(self) -> None:
        """
        Free what was read for a response as soon as it is made: graphql-core's executor is in a cycle of references,
        and the garbage collector counts objects, whatever the size of their texts.
        """
        self._dispose_of(self._awaitables)
        self._awaitables.clear()
        self.context_value = None
