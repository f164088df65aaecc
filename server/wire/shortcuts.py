"""
Shorter ways for graphql-core, which executes what no plan does. The answers stay its own, to the byte.

A plain attribute that is a leaf is read and written at once, and whatever is unusual about it is left to graphql-core.
A resolver of a field without extensions is called without what Strawberry puts around it for their sake.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import strawberry
from graphql import GraphQLObjectType, GraphQLResolveInfo, MiddlewareManager, get_nullable_type, is_leaf_type
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField
from strawberry.types.fields.resolver import StrawberryResolver

PLAIN = frozenset({str, int, float, bool})

Grouped = dict[str, list[FieldDetails]]


class Unusual(Exception):
    """Graphql-core knows what to do."""


class Leaf(NamedTuple):
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    is_nullable: bool

    def of(self, source: Any) -> Any:
        value = self.read(source)
        if value is None and self.is_nullable:
            return None
        if type(value) not in PLAIN or (written := self.write(value)) is None:
            raise Unusual
        return written


class Part(NamedTuple):
    """The fields that are asked of the objects of one type: those that are leaves, and all others."""

    whole: Grouped  # as long as it is kept, no other can have its identity
    leaves: list[tuple[str, Leaf]]
    others: Grouped


class Shortcuts(MiddlewareManager):
    """The shortcuts of a schema: to leaves, by type and field; to resolvers, as graphql-core asks for them."""

    def __init__(self, schema: strawberry.Schema) -> None:
        super().__init__()
        self._leaves: dict[str, dict[str, Leaf]] = {}
        self._resolvers: dict[Any, Callable[..., Any]] = {}
        for type_ in schema._schema.type_map.values():
            if isinstance(type_, GraphQLObjectType) and type_ is not schema._schema.subscription_type:
                self._leaves[type_.name] = {"__typename": Leaf(partial(named, type_.name), str, False)}
                self._add(schema, type_)

    def get_field_resolver(self, field_resolver: Callable[..., Any]) -> Callable[..., Any]:
        return self._resolvers.get(field_resolver, field_resolver)

    def part(self, parent: GraphQLObjectType, whole: Grouped) -> Part:
        known = self._leaves.get(parent.name, {})
        names = {key: details[0].node.name.value for key, details in whole.items()}
        leaves = [(key, known[name]) for key, name in names.items() if name in known]
        return Part(whole, leaves, {key: whole[key] for key, name in names.items() if name not in known})

    def _add(self, schema: strawberry.Schema, type_: GraphQLObjectType) -> None:
        for name, field in type_.fields.items():
            own = field.extensions.get("strawberry-definition")
            if type(own) is not StrawberryField or own.extensions or schema.schema_converter.exception_handlers:
                continue
            leaf: Any = get_nullable_type(field.type)
            if own.base_resolver:
                self._resolvers[field.resolve] = Resolver.of(schema, own, own.base_resolver)
            elif is_leaf_type(leaf) and schema.config.default_resolver is getattr:
                read, is_nullable = attrgetter(own.python_name), leaf is field.type
                self._leaves[type_.name][name] = Leaf(read, leaf.coerce_output_value, is_nullable)


class ShortExecutor(StrawberryGraphQLCoreExecutionContext):
    """Where a leaf is not at once what it should be, all fields of its object are graphql-core's."""

    def __init__(self, *given: Any, shortcuts: Shortcuts, **options: Any) -> None:
        super().__init__(*given, **options)
        self._shortcuts = shortcuts
        self._parts: dict[int, Part] = {}

    def execute_fields(
        self, parent_type: GraphQLObjectType, source: Any, path: Path | None, grouped: Grouped, position: Any
    ) -> AwaitableOrValue[dict[str, Any]]:
        part = self._parts.get(id(grouped))
        if part is None:
            part = self._parts[id(grouped)] = self._shortcuts.part(parent_type, grouped)
        results: dict[str, Any] = dict.fromkeys(grouped)
        try:
            for key, leaf in part.leaves:
                results[key] = leaf.of(source)
        except Exception:
            return super().execute_fields(parent_type, source, path, grouped, position)
        if not part.others:
            return results
        others = super().execute_fields(parent_type, source, path, part.others, position)
        return results | others if isinstance(others, dict) else updated(results, others)


@dataclass(frozen=True, slots=True)
class Resolver:
    """What Strawberry calls in the end, with what it gives it: the source by these names, and the info by that."""

    schema: strawberry.Schema
    own: StrawberryField
    function: Callable[..., Any]
    is_method: bool
    sources: tuple[str, ...]
    info: str | None

    @classmethod
    def of(cls, schema: strawberry.Schema, own: StrawberryField, resolver: StrawberryResolver[Any]) -> "Resolver":
        taken = (resolver.root_parameter, resolver.parent_parameter)
        sources = tuple(parameter.name for parameter in taken if parameter)
        info = resolver.info_parameter.name if resolver.info_parameter else None
        return cls(schema, own, resolver, bool(resolver.self_parameter), sources, info)

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


async def updated(results: dict[str, Any], others: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    return results | await others
