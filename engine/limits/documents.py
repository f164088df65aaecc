"""Limits of documents, checked before validation, because validating a large document may be the attack."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
)

from engine.errors import Code, Refused
from engine.limits.cost import INTROSPECTION, Weights

DEFAULT_WEIGHTS = Weights()
MAX_ANSWER = 10_000_000  # bytes of a result


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What a document may contain at most, how many points it may `cost` (see `engine.limits.cost`, to which `weights`
    gives the points of fields), how many `seconds` an execution may take, and how many bytes its `answer`, the result,
    may have.

    A mutation may have only one of the root fields named by `exclusive`. `fields` counts the fields of a fragment each
    time it is spread. `comparisons` counts pairs of fields with one response name, which validation compares.
    """

    tokens: int = 2_000
    characters: int = 20_000
    depth: int = 12  # levels of nested fields
    introspection_depth: int = 16  # the standard introspection query has 14
    aliases: int = 30
    root_fields: int = 20
    directives: int = 50
    mutations: int = 5  # root fields of a mutation
    exclusive: frozenset[str] = frozenset()
    fields: int = 5_000
    comparisons: int = 5_000
    cost: int = 10_000
    weights: Weights = DEFAULT_WEIGHTS
    seconds: float = 8.0
    answer: int = MAX_ANSWER  # bytes
    introspection: bool = True  # without it, errors suggest no names of the schema, either

    def check(self, document: DocumentNode) -> None:
        """
        Check a parsed document before it is validated.

        Raises:
            Refused: it exceeds a limit.
        """
        self._check_counts(document)
        checker = LimitChecker(self, fragments_of(document))
        for node in document.definitions:
            if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
                checker.check(node)

    def _check_counts(self, document: DocumentNode) -> None:
        aliases = directives = 0
        for node in nodes_of(document):
            aliases += isinstance(node, FieldNode) and node.alias is not None
            directives += len(getattr(node, "directives", None) or ())
        refuse_beyond(self.aliases, aliases, "aliases")
        refuse_beyond(self.directives, directives, "directives")


class SelectionLevel(NamedTuple):
    """Selection sets that are merged in the result, and how deep they may be nested."""

    sets: Sequence[SelectionSetNode]
    max_depth: int


@dataclass
class LimitChecker:
    """
    Walks a document level by level, as its result is nested, and stops at the first limit that it exceeds. `counts` has
    what was found so far, by its name in the error.
    """

    limits: Limits
    fragments: dict[str, FragmentDefinitionNode]
    counts: Counter[str] = field(default_factory=Counter)

    def check(self, definition: OperationDefinitionNode | FragmentDefinitionNode) -> None:
        """Check an operation, or a fragment on its own."""
        top, max_depth = self._fields([definition.selection_set]), self.limits.introspection_depth
        if isinstance(definition, OperationDefinitionNode):
            self._check_root(definition.operation, top)
            max_depth = self.limits.depth  # the depth of a fragment is checked where it is spread
        levels, depth = self._nested(top, max_depth), 1
        while levels:
            depth += 1
            levels = [nested for level in levels for nested in self._levels_below(level, depth)]

    def _check_root(self, kind: OperationType, top: dict[str, list[FieldNode]]) -> None:
        refuse_beyond(self.limits.root_fields, len(top), "root fields")
        if kind is OperationType.MUTATION:
            refuse_beyond(self.limits.mutations, len(top), "mutations")
            exclusive = sum(nodes[0].name.value in self.limits.exclusive for nodes in top.values())
            refuse_beyond(1, exclusive, f"mutations of {', '.join(sorted(self.limits.exclusive))}")

    def _levels_below(self, level: SelectionLevel, depth: int) -> list[SelectionLevel]:
        if depth > level.max_depth:
            raise too_much(f"fields are nested more than {level.max_depth} deep")
        return self._nested(self._fields(level.sets), level.max_depth)

    def _nested(self, fields: dict[str, list[FieldNode]], max_depth: int) -> list[SelectionLevel]:
        """The levels below these fields: one for each field that has a selection."""
        levels = []
        for nodes in fields.values():
            sets = [node.selection_set for node in nodes if node.selection_set]
            if sets:
                is_introspection = nodes[0].name.value in INTROSPECTION
                levels.append(SelectionLevel(sets, self.limits.introspection_depth if is_introspection else max_depth))
        return levels

    def _fields(self, sets: Sequence[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Return the fields of a level by response name, with those of fragments."""
        fields: dict[str, list[FieldNode]] = defaultdict(list)
        for node in self._spread(sets):
            same = fields[(node.alias or node.name).value]
            self.counts["fields"] += 1
            self.counts["comparisons of fields"] += len(same)
            same.append(node)
            refuse_beyond(self.limits.fields, self.counts["fields"], "fields")
            refuse_beyond(self.limits.comparisons, self.counts["comparisons of fields"], "comparisons of fields")
        return fields

    def _spread(self, sets: Sequence[SelectionSetNode]) -> Iterator[FieldNode]:
        """Yield the fields of a level. Each fragment is spread once, as in an execution, so cycles end."""
        waiting: list[SelectionNode] = [node for each in sets for node in each.selections]
        visited: set[str] = set()
        while waiting:
            node = waiting.pop()
            if isinstance(node, FieldNode):
                yield node
                continue
            if isinstance(node, FragmentSpreadNode):
                nested: Node | None = None if node.name.value in visited else self.fragments.get(node.name.value)
                visited.add(node.name.value)
            else:
                nested = node
            waiting += nested.selection_set.selections if nested else ()  # type: ignore[attr-defined]  # both have one


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def nodes_of(document: DocumentNode) -> Iterator[Node]:
    """Yield all nodes that may have an alias or a directive, in no particular order."""
    waiting: list[Node] = list(document.definitions)
    while waiting:
        node = waiting.pop()
        yield node
        selected: SelectionSetNode | None = getattr(node, "selection_set", None)
        variables: Iterable[Node] = getattr(node, "variable_definitions", None) or ()
        waiting += [*(selected.selections if selected else ()), *variables]


def refuse_beyond(limit: int, count: int, what: str) -> None:
    if count > limit:
        raise too_much(f"the document has more than {limit} {what}")


def too_much(reason: str) -> Refused:
    return Refused(Code.TOO_MUCH, reason)
