"""
Fields made from resolvers.

A resolver takes and returns plain Python values and knows nothing of GraphQL. The field adds what GraphQL needs: its
description, those of its arguments, and GraphQL types for arguments such as ids. Arguments are described once, by name.

The engine compiles most operations to plans, which call a resolver for all parents at once. Other operations are
executed by graphql-core, which calls it for one parent at a time.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Annotated, Any

import strawberry
from strawberry.types.unset import UNSET

from engine.compiler.resolvers import RESOLVER, BatchResolver, DeclaredResolver, RootResolver
from resolvers.context import Context
from schema.scalars import Date, DateTime, Link

Info = strawberry.Info[Context, object]

ARGUMENTS = {
    "first": "The number of items from the start, 1 to 100.",
    "after": "Return items after this cursor of the same listing.",
    "last": "The number of items from the end, 1 to 100. Excludes `first`.",
    "before": "Return items before this cursor of the same listing. Requires `last`.",
    "page": "The number of the page, from 1. Its size is `first` or the default. Excludes cursors.",
    "order": "The order of the listing.",
    "pinned": "Whether to pin the order of the first 1,000 articles for 10 minutes, for the next pages: the listing "
    "has only these then.",
    "since": "Only articles posted at this instant or later. For the orders TIME and VOTES; keep it while you page on.",
    "group": "Only articles of this group, in any case of letters. There are none if no group has this name.",
    "unseen_only": "Only articles that are newer than the mark.",
    "link": "An absolute http or https URL.",
    "date": "Only articles posted on this UTC day.",
    "id": "The id of a node, such as `article:1541`, `comment:1542`, `user:alice`, `group:programming` or "
    "`action:1543`.",
    "ids": "At most 100 ids.",
    "subject_id": "Only what is about the article, comment or user with this id.",
    "article_id": "The id of an article, such as `article:1541`.",
    "name": "The name of the group, in any case of letters.",
    "username": "The name of the user, in any case of letters.",
    "kinds": "Only these kinds; all by default.",
    "limit": "The number of changes, 1 to 1,000.",
    "poster": "Only articles of this user, in any case of letters. There are none if no user has this name.",
    "under": "Only the comments below the comment with this id. There are none if it is no comment of this article.",
    "max_depth": "How many levels of replies to show below the first level: that of the answers to the article, or to "
    "`under`.",
    "query": "Words, and phrases in quotation marks; at most 500 characters.",
    "input": "The input of the mutation.",
}
GUARDS = {"permission_classes", "extensions"}  # options of `strawberry.field` that run around a resolver
TYPES: dict[str, Any] = {  # GraphQL types of arguments, by name, if a resolver's parameter has another type
    "id": strawberry.ID,
    "ids": list[strawberry.ID],
    "article_id": strawberry.ID,
    "subject_id": strawberry.ID | None,
    "date": Date | None,
    "link": Link,
    "since": DateTime | None,
    "under": strawberry.ID | None,
}


def field_of(
    resolver: Callable[..., Any],
    description: str,
    *,
    is_pure: bool = False,
    planned: Callable[..., Any] | None = None,
    arguments: Mapping[str, str] = ARGUMENTS,
    **options: Any,
) -> Any:
    """
    The field of a batch resolver: `resolver(parents, context, **arguments)`, which returns a value for each parent.

    A coroutine function is called once for all parents of a tick of the event loop.

    - `is_pure`: the value of a record is always the same, for every client.
    - `planned`: a function that plans call instead. It returns the same values where they are known, or else an
      awaitable of them, so that known values need no coroutine.
    - `arguments`: the descriptions of the arguments, by name.
    - `options`: those of `strawberry.field`, such as `deprecation_reason`.
    """
    _parents, _context, *parameters = signature(resolver).parameters.values()
    resolve = _batched(resolver) if iscoroutinefunction(resolver) else _at_once(resolver)
    batch = BatchResolver(planned or resolver, is_pure)
    return _field(resolve, parameters, description, batch, options, arguments)


def root_field(
    resolver: Callable[..., Awaitable[Any]],
    description: str,
    *,
    arguments: Mapping[str, str] = ARGUMENTS,
    **options: Any,
) -> Any:
    """The field of a resolver that needs no parent: `resolver(context, **arguments)`."""
    parameters = list(signature(resolver).parameters.values())[1:]
    return _field(_rooted(resolver), parameters, description, RootResolver(resolver), options, arguments)


def command_field(command: Callable[..., Awaitable[Any]], input: type | None, description: str, **options: Any) -> Any:
    """The field of a mutation. `input` is the type of its only argument; None if it has no argument."""
    parameters = [] if input is None else [Parameter("input", Parameter.KEYWORD_ONLY, annotation=input)]
    return _field(_rooted(command), parameters, description, RootResolver(command), options)


def subscription_field(
    resolver: Callable[..., AsyncIterator[Any]],
    description: str,
    *,
    arguments: Mapping[str, str] = ARGUMENTS,
    **options: Any,
) -> Any:
    """The field of a resolver that gives a value for every event."""

    def subscribe(root: object, info: Info, **given: Any) -> AsyncIterator[Any]:
        return resolver(info.context, **given)

    parameters = list(signature(resolver).parameters.values())[1:]
    described = _described(subscribe, parameters, arguments)
    return strawberry.subscription(resolver=described, description=description, **options)


def _batched(batch: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """The resolver of one parent for Strawberry, which waits for the parents of the same tick."""

    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return info.context.resolve(batch, root, arguments)

    return resolve


def _at_once(batch: Callable[..., Any]) -> Callable[..., Any]:
    """The resolver of one parent for Strawberry, if the batch resolver is a plain function."""

    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return batch([root], info.context, **arguments)[0]

    return resolve


def _rooted(resolver: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """The resolver for Strawberry of a root field, which has no parent."""

    def resolve(root: object, info: Info, **arguments: Any) -> Any:
        return resolver(info.context, **arguments)

    return resolve


def _as_coroutine_function(resolve: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """Strawberry takes asynchronous permissions and extensions only with coroutine functions."""

    async def awaited(root: object, info: Info, **arguments: Any) -> Any:
        return await resolve(root, info, **arguments)

    return awaited


def _field(
    resolve: Callable[..., Any],
    parameters: Sequence[Parameter],
    description: str,
    declared: DeclaredResolver,
    options: Mapping[str, Any],
    arguments: Mapping[str, str] = ARGUMENTS,
) -> Any:
    """
    A field of Strawberry. graphql-core calls `resolve` for each parent; a plan of the engine's compiler calls the
    function of `declared` for all parents at once.
    """
    if GUARDS & options.keys() and (isinstance(declared, RootResolver) or iscoroutinefunction(declared.function)):
        resolve = _as_coroutine_function(resolve)
    resolver = _described(resolve, parameters, arguments)
    return strawberry.field(resolver=resolver, description=description, metadata={RESOLVER: declared}, **options)


def _described(
    resolve: Callable[..., Any], parameters: Sequence[Parameter], arguments: Mapping[str, str] = ARGUMENTS
) -> Callable[..., Any]:
    """The same function, with the signature that Strawberry reads a field's arguments from."""
    root = Parameter("root", Parameter.POSITIONAL_OR_KEYWORD)
    info = Parameter("info", Parameter.KEYWORD_ONLY, annotation=Info)
    resolve.__signature__ = Signature([root, info, *(_argument(each, arguments[each.name]) for each in parameters)])  # type: ignore[attr-defined]  # see above
    return resolve


def _argument(parameter: Parameter, description: str) -> Parameter:
    described = strawberry.argument(description=description)
    type_ = TYPES.get(parameter.name, parameter.annotation)
    return parameter.replace(
        kind=Parameter.KEYWORD_ONLY,
        annotation=Annotated[type_ | None if parameter.default is None else type_, described],
        default=UNSET if parameter.default is None else parameter.default,
    )
