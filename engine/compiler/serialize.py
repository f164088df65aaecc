"""Serializes columns of scalars and enums: unchanged where their types are right already, else one by one."""

from collections.abc import Callable, Mapping
from functools import partial
from math import isfinite
from typing import Any

from graphql import GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLLeafType, GraphQLString
from strawberry.execution import optimized_is_awaitable

from engine.compiler.plan import Column, NotCompilable

INTS = range(-(2**31), 2**31)


def serializer(type_: GraphQLLeafType) -> Callable[[Column], Column]:
    """Serializes a column without nulls; raises what the GraphQL type raises of a value that does not fit."""
    one_by_one = partial(_each, type_.coerce_output_value)
    if type_ in (GraphQLString, GraphQLID):
        return partial(_of_one_type, {str}, one_by_one)
    if type_ is GraphQLBoolean:
        return partial(_of_one_type, {bool}, one_by_one)
    if type_ is GraphQLInt:
        return partial(_ints, one_by_one)
    if type_ is GraphQLFloat:
        return partial(_floats, one_by_one)
    members = getattr(type_, "wrapped_cls", None)  # of an enum made by Strawberry
    if members:
        names = {id(member): type_.coerce_output_value(member) for member in members}
        return partial(_members, names, one_by_one)
    return one_by_one


def _each(serialize: Callable[[Any], Any], values: Column) -> Column:
    for value in dict(zip(map(type, values), values, strict=True)).values():
        if isinstance(value, Exception):  # that a resolver returned in place of a parent's value
            raise value
        if optimized_is_awaitable(value):
            raise NotCompilable("awaitable")
    serialized = list(map(serialize, values))
    if None in serialized:
        raise NotCompilable("null")
    return serialized


def _of_one_type(types: set[type], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= types else one_by_one(values)


def _ints(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    fits = set(map(type, values)) == {int} and min(values) in INTS and max(values) in INTS
    return values if fits else one_by_one(values)


def _members(names: Mapping[int, str], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    """By identity: hashing a member of an enum is slow."""
    found = list(map(names.get, map(id, values)))
    return found if all(found) else one_by_one(values)


def _floats(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= {float} and all(map(isfinite, values)) else one_by_one(values)
