"""
Fields made from resolvers.

A resolver says what a field does, in records; the field adds what GraphQL needs: descriptions, and the types of
arguments that records do not know. Arguments are described once, by name.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Annotated, Any

import strawberry
from strawberry.types.unset import UNSET

from resolvers.context import Context
from schema.scalars import Date

Info = strawberry.Info[Context, object]

ARGUMENTS = {
    "first": "How many from the start, 1 to 100.",
    "after": "Go on after this cursor of the same listing.",
    "last": "How many from the end, 1 to 100; excludes `first`.",
    "before": "Go back from this cursor of the same listing; goes with `last`.",
    "page": "The page by number, counted from 1, of the usual size or of `first`; excludes the cursors.",
    "order": "What to order by.",
    "pinned": "Whether the order stands still for who reads on: its first 1,000 places, for 10 minutes.",
    "group": "Only articles of this group.",
    "unseen_only": "Only articles newer than the mark.",
    "date": "Only articles posted on this UTC day.",
    "id": "The id of a node, such as `article:1541`, `user:alice` or `group:programming`.",
    "ids": "At most 100 ids.",
    "name": "The group's name, in any case of letters.",
    "username": "The user's name, in any case of letters.",
    "input": "What to do.",
}
TYPES: dict[str, Any] = {"id": strawberry.ID, "ids": list[strawberry.ID], "date": Date | None}


def field_of(resolver: Callable[..., Any], description: str, *, is_lasting: bool = False) -> Any:
    """
    The field of every parent that a batch resolver resolves: the parents of a tick go to it together.

    A resolver without a context looks at nothing but the parents. One that `is_lasting` looks at the context, but only
    at what stays as it is as long as the process lives.
    """
    parameters = list(signature(resolver).parameters.values())
    if len(parameters) == 1:
        resolve = _alone(resolver)
    else:
        resolve = _batched(resolver) if iscoroutinefunction(resolver) else _at_once(resolver)
    if is_lasting:
        resolve.is_lasting = True  # type: ignore[attr-defined]  # for whoever compiles operations
    return _field(resolve, parameters[2:], description)


def root_field(resolver: Callable[..., Awaitable[Any]], description: str) -> Any:
    """The field of a resolver that needs no parent."""
    return _field(_rooted(resolver), list(signature(resolver).parameters.values())[1:], description)


def command_field(command: Callable[..., Awaitable[Any]], input: type | None, description: str) -> Any:
    """The field of a mutation, which takes one input if any."""
    parameters = [] if input is None else [Parameter("input", Parameter.KEYWORD_ONLY, annotation=input)]
    return _field(_rooted(command), parameters, description)


def subscription_field(resolver: Callable[..., AsyncIterator[Any]], description: str) -> Any:
    """The field of a resolver that gives a value for every event."""

    def subscribe(root: object, info: Info, **arguments: Any) -> AsyncIterator[Any]:
        return resolver(info.context, **arguments)

    parameters = list(signature(resolver).parameters.values())[1:]
    return strawberry.subscription(resolver=_described(subscribe, parameters), description=description)


def _batched(resolver: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return info.context.resolve(resolver, root, arguments)

    resolve.batch = resolver  # type: ignore[attr-defined]  # for whoever compiles operations
    return resolve


def _alone(resolver: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    def resolve(root: object, info: Info) -> Any:
        return resolver([root])[0]

    resolve.batch_alone = resolver  # type: ignore[attr-defined]  # for whoever compiles operations
    return resolve


def _at_once(resolver: Callable[..., Any]) -> Callable[..., Any]:
    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return resolver([root], info.context, **arguments)[0]

    resolve.batch = resolver  # type: ignore[attr-defined]  # for whoever compiles operations
    return resolve


def _rooted(resolver: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return resolver(info.context, **arguments)

    resolve.root = resolver  # type: ignore[attr-defined]  # for whoever compiles operations
    return resolve


def _field(resolve: Callable[..., Any], arguments: Sequence[Parameter], description: str) -> Any:
    return strawberry.field(resolver=_described(resolve, arguments), description=description)


def _described(resolve: Callable[..., Any], arguments: Sequence[Parameter]) -> Callable[..., Any]:
    """The same function, with the signature that Strawberry reads a field's arguments from."""
    root = Parameter("root", Parameter.POSITIONAL_OR_KEYWORD)
    info = Parameter("info", Parameter.KEYWORD_ONLY, annotation=Info)
    resolve.__signature__ = Signature([root, info, *map(_argument, arguments)])  # type: ignore[attr-defined]  # see above
    return resolve


def _argument(parameter: Parameter) -> Parameter:
    described = strawberry.argument(description=ARGUMENTS[parameter.name])
    return parameter.replace(
        kind=Parameter.KEYWORD_ONLY,
        annotation=Annotated[TYPES.get(parameter.name, parameter.annotation), described],
        default=UNSET if parameter.default is None else parameter.default,
    )
