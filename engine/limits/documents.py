"""How much a document may ask for. It is counted before it is validated, because validating may be the attack."""

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
from engine.limits.answer_size import MAX_ANSWER
from engine.limits.cost import INTROSPECTION, Weights

USUAL = Weights()


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What a document may have at most, how many seconds an answer may take, and how large it may be.

    `once` names root fields of which a mutation may have only one in all;
    `fields` counts those of fragments wherever they are spread; `comparisons` those pairs that answer under one name,
    which validation compares with each other.
    """

    tokens: int = 2_000
    characters: int = 20_000
    depth: int = 12
    introspection_depth: int = 16  # what the standard query needs, and two more
    aliases: int = 30
    root_fields: int = 20
    directives: int = 50
    mutations: int = 5
    once: frozenset[str] = frozenset()
    fields: int = 5_000
    comparisons: int = 5_000
    cost: int = 10_000
    weights: Weights = USUAL
    seconds: float = 8.0
    answer: int = MAX_ANSWER  # bytes
    introspection: bool = True

    def check(self, document: DocumentNode) -> None:
        """
        Look at a document that was parsed and no more.

        Raises:
            Refused: it asks for too much.
        """
        self._check_counts(document)
        survey = Survey(self, fragments_of(document))
        for node in document.definitions:
            if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
                survey.look_at(node)

    def check_cost(self, points: int) -> None:
        """
        Look at the estimated cost of an operation.

        Raises:
            Refused: it is too much.
        """
        if points > self.cost:
            raise Refused(Code.TOO_COSTLY, f"the operation may cost {points} points, more than {self.cost}")

    def _check_counts(self, document: DocumentNode) -> None:
        aliases = directives = 0
        for node in nodes_of(document):
            aliases += isinstance(node, FieldNode) and node.alias is not None
            directives += len(getattr(node, "directives", None) or ())
        refuse_beyond(self.aliases, aliases, "aliases")
        refuse_beyond(self.directives, directives, "directives")


class Group(NamedTuple):
    """Selections that are merged into one level of an answer."""

    sets: Sequence[SelectionSetNode]
    limit: int


@dataclass
class Survey:
    """Walks the levels of a document's answers from the top, and stops at the first limit."""

    limits: Limits
    fragments: dict[str, FragmentDefinitionNode]
    counts: Counter[str] = field(default_factory=Counter)

    def look_at(self, definition: OperationDefinitionNode | FragmentDefinitionNode) -> None:
        top, limit = self._fields([definition.selection_set]), self.limits.introspection_depth
        if isinstance(definition, OperationDefinitionNode):
            self._check_root(definition.operation, top)
            limit = self.limits.depth  # a fragment has that of where it is spread
        groups, depth = self._below(top, limit), 1
        while groups:
            depth += 1
            groups = [below for group in groups for below in self._level(group, depth)]

    def _check_root(self, kind: OperationType, top: dict[str, list[FieldNode]]) -> None:
        refuse_beyond(self.limits.root_fields, len(top), "root fields")
        if kind is OperationType.MUTATION:
            refuse_beyond(self.limits.mutations, len(top), "mutations")
            single = sum(nodes[0].name.value in self.limits.once for nodes in top.values())
            refuse_beyond(1, single, f"mutations of {', '.join(sorted(self.limits.once))}")

    def _level(self, group: Group, depth: int) -> list[Group]:
        if depth > group.limit:
            raise too_much(f"fields are nested more than {group.limit} deep")
        return self._below(self._fields(group.sets), group.limit)

    def _below(self, fields: dict[str, list[FieldNode]], limit: int) -> list[Group]:
        groups = []
        for nodes in fields.values():
            sets = [node.selection_set for node in nodes if node.selection_set]
            if sets:
                is_introspection = nodes[0].name.value in INTROSPECTION
                groups.append(Group(sets, self.limits.introspection_depth if is_introspection else limit))
        return groups

    def _fields(self, sets: Sequence[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """The fields of a level by the names they answer under, those of fragments among them."""
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
        """Each fragment once, as when a level is executed: cycles and repetitions add nothing."""
        waiting: list[SelectionNode] = [node for one in sets for node in one.selections]
        spread: set[str] = set()
        while waiting:
            node = waiting.pop()
            if isinstance(node, FieldNode):
                yield node
                continue
            if isinstance(node, FragmentSpreadNode):
                below: Node | None = None if node.name.value in spread else self.fragments.get(node.name.value)
                spread.add(node.name.value)
            else:
                below = node
            waiting += below.selection_set.selections if below else ()  # type: ignore[attr-defined]  # both have one


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def nodes_of(document: DocumentNode) -> Iterator[Node]:
    """All nodes that may have an alias or a directive, in no order."""
    waiting: list[Node] = list(document.definitions)
    while waiting:
        node = waiting.pop()
        yield node
        below: SelectionSetNode | None = getattr(node, "selection_set", None)
        variables: Iterable[Node] = getattr(node, "variable_definitions", None) or ()
        waiting += [*(below.selections if below else ()), *variables]


def refuse_beyond(limit: int, count: int, what: str) -> None:
    if count > limit:
        raise too_much(f"the document has more than {limit} {what}")


def too_much(reason: str) -> Refused:
    return Refused(Code.TOO_MUCH, reason)
