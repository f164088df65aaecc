"""
The model's answers to GraphQL documents. The model is a server in plain Python, with which the soak test compares the
real one. Its executor completes every field and collects every error, also those that graphql-core leaves out below a
null.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from graphql import (
    BooleanValueNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    GraphQLNonNull,
    GraphQLObjectType,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    StringValueNode,
    VariableNode,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    parse,
)

from tests.soak.fields import OBJECT_FIELDS
from tests.soak.input_checks import BadInput
from tests.soak.mutations import PAYLOAD_FIELDS, mutate
from tests.soak.records import Action, Reading
from tests.soak.requests import SCHEMA, Request, SessionEnd, instant
from tests.soak.searches import ANYTHING, AnyText, Unordered

NAMES: dict[type, str] = {Action: "ModerationAction", Reading: "Comment"}  # of types whose class has another name
FIELDS: dict[str, dict[str, Callable[..., Any]]] = {**OBJECT_FIELDS, **PAYLOAD_FIELDS}


@dataclass
class Answer:
    """
    The data and the errors of an answer. `errors` has every possible error, as its path and code: the server may leave
    out some of those below the same null.

    `session_ended` is whether the answer says that the session has ended; None if it may say so.
    """

    data: Any
    errors: list[tuple[tuple[str | int, ...], str]]
    session_ended: bool | None = False


class Bubble(Exception):
    """A field that cannot be null is null: its parent, which `Execution` completes, becomes null."""


def answer(request: Request, text: str) -> Answer:
    document = parsed(text)
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    variables = dict(request.variables)
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        if name not in variables and definition.default_value is not None:
            variables[name] = literal(definition.default_value, {})
    execution = Execution(request, fragments, variables)
    try:
        data = execution.fields("Query" if operation.operation.value == "query" else "Mutation", [operation], None, ())
    except Bubble:
        data = None
    return Answer(data, execution.errors, request.session_ended())


@dataclass
class Execution:
    """Executes one document on the model."""

    request: Request
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    errors: list[tuple[tuple[str | int, ...], str]] = field(default_factory=list)
    _collected: dict[Any, Any] = field(default_factory=dict)

    def fields(self, type_name: str, nodes: list[Any], parent: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        """
        Every field of an object, also if one of them makes the object null. The server may not have come to the others
        then, so that these may not have read the viewer.
        """
        result, is_null, had_read_viewer = {}, False, self.request.has_read_viewer
        for key, (name, arguments, below, type_) in self._fields_of(type_name, nodes).items():
            if name == "__typename":
                result[key] = type_name
                continue
            here = (*path, key)
            try:
                value = self._value(type_name, name, parent, key, arguments)
            except BadInput as error:
                self.request.model.reached.count("errors in nested fields", len(path) > 0)
                self.errors.append((here, error.code))
                value = None
            try:
                result[key] = self._complete(type_, value, below, here)
            except Bubble:
                is_null = True
        if is_null:
            self.request.has_read_viewer = had_read_viewer
            raise Bubble
        return result

    def _value(self, type_name: str, name: str, parent: Any, key: str, arguments: dict[str, Any]) -> Any:
        if type_name == "Mutation" and key in self.request.undone:  # as the database did not answer
            return None
        if type_name == "Mutation":
            assigned = self.request.hints.get(key)  # tokens or numbers, by the server
            return mutate(self.request, name, arguments.get("input"), assigned)
        return FIELDS[type_name][name](self.request, parent, **arguments)

    def _complete(self, type_: Any, value: Any, nodes: list[Any], path: tuple[str | int, ...]) -> Any:
        if isinstance(type_, GraphQLNonNull):
            result = self._complete(type_.of_type, value, nodes, path)
            if result is None:
                raise Bubble
            return result
        if value is None or value is ANYTHING:  # which stands for any value
            return value
        if isinstance(value, BadInput):
            self.request.model.reached.count("errors of items")
            self.errors.append((path, "BAD_USER_INPUT"))
            return None
        try:
            if is_list_type(type_):
                items = [self._complete(type_.of_type, each, nodes, (*path, index)) for index, each in enumerate(value)]
                return Unordered(items, value.count_shown) if isinstance(value, Unordered) else items
            if is_leaf_type(type_):
                return WRITTEN.get(type_.name, _as_is)(value)
            return self.fields(_type_name(type_.name, value), nodes, value, path)
        except Bubble:
            return None

    def _fields_of(self, type_name: str, nodes: list[Any]) -> dict[str, Any]:
        """The fields of a selection by response name: name, arguments, selections and type. Cached for each level."""
        level = (type_name, *map(id, nodes))
        if level not in self._collected:
            grouped: dict[str, list[FieldNode]] = {}
            for node in nodes:
                self._collect(type_name, node.selection_set, grouped)
            self._collected[level] = {
                key: (found[0].name.value, self._arguments(found[0]), found, self._type(type_name, found[0]))
                for key, found in grouped.items()
            }
        found: dict[str, Any] = self._collected[level]
        return found

    def _collect(self, type_name: str, selections: Any, grouped: dict[str, list[FieldNode]]) -> None:
        for node in selections.selections:
            if not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                grouped.setdefault((node.alias or node.name).value, []).append(node)
                continue
            spread = self.fragments[node.name.value] if hasattr(node, "name") else node
            condition = spread.type_condition
            if condition is None or _applies(condition.name.value, type_name):
                self._collect(type_name, spread.selection_set, grouped)

    def _is_included(self, node: Any) -> bool:
        for directive in node.directives or ():
            condition = literal(directive.arguments[0].value, self.variables)
            if condition is not (directive.name.value == "include"):
                return False
        return True

    def _arguments(self, node: FieldNode) -> dict[str, Any]:
        given = {}
        for argument in node.arguments or ():
            is_missing = isinstance(argument.value, VariableNode) and argument.value.name.value not in self.variables
            if not is_missing:
                given[argument.name.value] = literal(argument.value, self.variables)
        return given

    def _type(self, type_name: str, node: FieldNode) -> Any:
        name = node.name.value
        return None if name == "__typename" else SCHEMA.type_map[type_name].fields[name].type  # type: ignore[union-attr]


def literal(node: Any, variables: Mapping[str, Any]) -> Any:
    match node:
        case VariableNode():
            return variables.get(node.name.value)
        case NullValueNode():
            return None
        case IntValueNode():
            return int(node.value)
        case FloatValueNode():
            return float(node.value)
        case BooleanValueNode() | StringValueNode() | EnumValueNode():
            return node.value
        case ListValueNode():
            return [literal(each, variables) for each in node.values]
        case ObjectValueNode():
            fields = {each.name.value: each.value for each in node.fields}
            is_given = {
                name: not isinstance(value, VariableNode) or value.name.value in variables
                for name, value in fields.items()
            }
            return {name: literal(value, variables) for name, value in fields.items() if is_given[name]}
    raise AssertionError(node)


def _applies(condition: str, type_name: str) -> bool:
    if condition == type_name:
        return True
    of_fragment, type_ = SCHEMA.type_map[condition], SCHEMA.type_map[type_name]
    return is_abstract_type(of_fragment) and SCHEMA.is_sub_type(of_fragment, cast(GraphQLObjectType, type_))


def _type_name(declared: str, value: Any) -> str:
    if declared in ("Node", "SearchResult", "Votable"):
        return "Group" if isinstance(value, str) else NAMES.get(type(value), type(value).__name__)
    if declared == "UserError":
        return {"VOTING_CLOSED": "VotingClosed", "BANNED": "Banned"}.get(value.code, "Refusal")
    return declared


@lru_cache(maxsize=2_000)
def parsed(text: str) -> DocumentNode:
    return parse(text, no_location=True)


def _as_is(value: Any) -> Any:
    return value


def _written_instant(value: int | SessionEnd | AnyText) -> str | SessionEnd | AnyText:
    return instant(value) if isinstance(value, int) else value


# how values of scalars are written; others are written as they are
WRITTEN: dict[str, Callable[[Any], Any]] = {"DateTime": _written_instant, "Float": float}
