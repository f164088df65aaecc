"""How a column of leaves is written: as it is where its types are what GraphQL wants, one by one where they are not."""

from collections.abc import Callable, Mapping
from functools import partial
from math import isfinite
from typing import Any

from graphql import GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLLeafType, GraphQLString

Column = list[Any]

INTS = range(-(2**31), 2**31)


def writer(type_: GraphQLLeafType) -> Callable[[Column], Column]:
    """What writes a column without nulls, and raises what the type raises of a value that it cannot write."""
    one_by_one = partial(_each, type_.coerce_output_value)
    if type_ in (GraphQLString, GraphQLID):
        return partial(_of_one_type, {str}, one_by_one)
    if type_ is GraphQLBoolean:
        return partial(_of_one_type, {bool}, one_by_one)
    if type_ is GraphQLInt:
        return partial(_ints, one_by_one)
    if type_ is GraphQLFloat:
        return partial(_floats, one_by_one)
    members = getattr(type_, "wrapped_cls", None)  # where Strawberry made an enum
    if members:
        names = {id(member): type_.coerce_output_value(member) for member in members}
        return partial(_members, names, one_by_one)
    return one_by_one


def _each(write: Callable[[Any], Any], values: Column) -> Column:
    for kind in set(map(type, values)):
        if issubclass(kind, Exception):  # what a resolver gave in place of a parent's value
            raise next(value for value in values if type(value) is kind)
    return list(map(write, values))


def _of_one_type(types: set[type], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= types else one_by_one(values)


def _ints(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    fits = set(map(type, values)) == {int} and min(values) in INTS and max(values) in INTS
    return values if fits else one_by_one(values)


def _members(names: Mapping[int, str], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    """By identity, for the hash of an enum's member is computed anew each time."""
    found = list(map(names.get, map(id, values)))
    return found if all(found) else one_by_one(values)


def _floats(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= {float} and all(map(isfinite, values)) else one_by_one(values)
