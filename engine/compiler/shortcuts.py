"""
What stands in for fields where graphql-core executes: values that are there at once, and resolvers called directly.

A plain attribute is read, and what a schema says of itself depends on nobody.
Another resolver of a field without extensions is called without what
Strawberry puts around it for their sake.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import strawberry
from graphql import GraphQLField, GraphQLObjectType, GraphQLResolveInfo, MiddlewareManager, introspection_types
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField
from strawberry.types.fields.resolver import StrawberryResolver

Of = Callable[[Any], Any]


class Shortcuts(MiddlewareManager):
    """A schema's: `values` by type and field; resolvers by what they stand for, as graphql-core asks for them."""

    def __init__(self, schema: strawberry.Schema) -> None:
        super().__init__()
        self.values: dict[tuple[str, str], Of] = {}
        self._resolvers: dict[Any, Callable[..., Any]] = {}
        self._schema = schema
        if schema.schema_converter.exception_handlers:
            return
        for type_ in schema._schema.type_map.values():
            if isinstance(type_, GraphQLObjectType) and type_ is not schema._schema.subscription_type:
                self.values[type_.name, "__typename"] = partial(named, type_.name)
                for name, field in type_.fields.items():
                    self._add(type_.name, name, field)

    def get_field_resolver(self, field_resolver: Callable[..., Any]) -> Callable[..., Any]:
        return self._resolvers.get(field_resolver, field_resolver)

    def _add(self, type_name: str, name: str, field: GraphQLField) -> None:
        if type_name in introspection_types and field.resolve and not field.args:
            self.values[type_name, name] = partial(without_info, field.resolve)
        own = field.extensions.get("strawberry-definition")
        if type(own) is not StrawberryField or own.extensions:
            return
        resolver = own.base_resolver
        if resolver:
            self._resolvers[field.resolve] = Resolver.of(self._schema, own, resolver)
        if resolver is None and self._schema.config.default_resolver is getattr:
            self.values[type_name, name] = attrgetter(own.python_name)


@dataclass(frozen=True, slots=True)
class Resolver:
    """What Strawberry calls in the end, with what it gives it: the source by these names, and the info by that."""

    schema: strawberry.Schema
    own: StrawberryField
    function: Any
    is_method: bool
    sources: tuple[str, ...]
    info: str | None

    @classmethod
    def of(cls, schema: strawberry.Schema, own: StrawberryField, resolver: StrawberryResolver[Any]) -> "Resolver":
        taken = (resolver.root_parameter, resolver.parent_parameter)
        sources = tuple(parameter.name for parameter in taken if parameter)
        info = resolver.info_parameter.name if resolver.info_parameter else None
        return cls(schema, own, resolver.wrapped_func, bool(resolver.self_parameter), sources, info)

    def __call__(self, source: Any, raw: GraphQLResolveInfo[Any], **given: Any) -> Any:
        config = self.schema.config
        info = config.info_class(_raw_info=raw, _field=self.own)
        if given:
            registry = self.schema.schema_converter.scalar_registry
            given = convert_arguments(given, self.own.arguments, registry, config, info)
        for name in self.sources:
            given[name] = source
        if self.info:
            given[self.info] = info
        return self.function(source, **given) if self.is_method else self.function(**given)


def named(name: str, source: Any) -> str:
    return name


def without_info(resolve: Callable[[Any, Any], Any], source: Any) -> Any:
    return resolve(source, None)
