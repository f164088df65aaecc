"""Turns the text of a document into an operation, parsed and validated once and then remembered. Executes nothing."""

import re
from dataclasses import dataclass
from hashlib import sha256
from sys import getsizeof

import strawberry
from graphql import (
    DocumentNode,
    FloatValueNode,
    GraphQLError,
    IntValueNode,
    Node,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    Token,
    TokenKind,
    Visitor,
    parse,
    specified_rules,
    validate,
    visit,
)
from graphql.validation.validate import ValidationAbortedError
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from caches import SizedCache
from engine.errors import Code, Refused, described
from engine.limits.cost import Cost
from engine.limits.documents import Limits, fragments_of
from engine.limits.pricing import cost_of

MAX_ERRORS = 20
LONGEST_NUMBER = 1_000  # characters; Python reads no number of 4,301 digits
LONG_NUMBER = re.compile(rf"[0-9]{{{LONGEST_NUMBER // 4}}}")  # there is one in each of them: between sign, point and e
RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)
NODE = 260  # bytes that a node of a document takes, with its position and what the cost is read out of
OVERHEAD = 2_000  # bytes of an operation beside its document
NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Operation:
    """
    One operation of a valid document, ready to be executed any number of times. `digest` is the text's SHA-256.

    `key` finds it in the cache, `size` is what it holds in bytes.
    """

    key: tuple[str, str | None]
    size: int

    text: str
    digest: str
    document: DocumentNode
    node: OperationDefinitionNode
    cost: Cost
    name: str | None
    kind: OperationType


class Operations:
    """The operations of a schema, by text and name; those used last are cached."""

    def __init__(
        self, schema: strawberry.Schema, limits: Limits, cache: SizedCache[tuple[str, str | None], Operation]
    ) -> None:
        # Strawberry parses and validates anew inside each execute(); the schema that graphql-core works on is private.
        self._schema = schema._schema
        self._hide_suggestions = schema.config.disable_field_suggestions
        self._limits = limits
        self._rules = RULES if limits.introspection else (*RULES, NoSchemaIntrospectionCustomRule)
        self._known = cache

    def find(self, text: str, name: str | None) -> Operation:
        """
        Return the operation of this name, or the only one.

        Raises:
            Refused: the text is no valid document of this schema, or has no such operation.
        """
        known = self._known.get((text, name))
        if known is not None:
            return known
        operation = self._read(text, name)
        self._known.put((text, name), operation, operation.size)
        return operation

    def used(self, operation: Operation) -> None:
        """Keep an operation longer that was used without being looked for."""
        self._known.get(operation.key)

    def grew(self, operation: Operation, more: int) -> None:
        """Count what was made for an operation, in bytes."""
        self._known.grow(operation.key, operation, more)

    def _read(self, text: str, name: str | None) -> Operation:
        document = self._parse(text)
        self._limits.check(document)
        if LONG_NUMBER.search(text):
            refuse_long_numbers(document)
        node = chosen(document, name)
        self._validate(document)
        cost = cost_of(self._schema, fragments_of(document), node, self._limits.weights)
        digest = sha256(text.encode()).hexdigest()
        size = OVERHEAD + getsizeof(text) + NODE * without_tokens(document) + cost.held_bytes
        own_name = node.name.value if node.name else None
        return Operation((text, name), size, text, digest, document, node, cost, own_name, node.operation)

    def _parse(self, text: str) -> DocumentNode:
        try:
            return parse(
                text,
                max_lexical_tokens=self._limits.tokens,
                max_comments=self._limits.tokens,
                max_source_length=self._limits.characters,
            )
        except GraphQLError as error:
            raise Refused(Code.UNPARSABLE_DOCUMENT, error) from None

    def _validate(self, document: DocumentNode) -> None:
        errors = validate(self._schema, document, self._rules, MAX_ERRORS, self._hide_suggestions)
        if errors:
            codes = [code_of(error) for error in errors]
            code = Code.INVALID_DOCUMENT if Code.INVALID_DOCUMENT in codes else Code.BAD_USER_INPUT
            raise Refused(code, errors=[described(error, own) for error, own in zip(errors, codes, strict=True)])


def chosen(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = [node for node in operations if name is None or (node.name and node.name.value == name)]
    if not found:
        reason = "the document has no operation" if name is None else f"the document has no operation {name!r}"
        raise Refused(Code.NO_SUCH_OPERATION, reason)
    if name is None and len(found) > 1:
        raise Refused(Code.NO_SUCH_OPERATION, "the document has several operations and `operationName` names none")
    return found[0]


def refuse_long_numbers(document: DocumentNode) -> None:
    finder = LongNumbers()
    visit(document, finder)
    if finder.found:
        reason = f"a number is longer than {LONGEST_NUMBER} characters"
        raise Refused(Code.BAD_USER_INPUT, *[GraphQLError(reason, node) for node in finder.found[:MAX_ERRORS]])


class LongNumbers(Visitor):
    """The numbers of a document that are too long for it to be validated."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[IntValueNode | FloatValueNode] = []

    def enter_int_value(self, node: IntValueNode, *_: object) -> None:
        if len(node.value) > LONGEST_NUMBER:
            self.found.append(node)

    def enter_float_value(self, node: FloatValueNode, *_: object) -> None:
        if len(node.value) > LONGEST_NUMBER:
            self.found.append(node)


def without_tokens(document: DocumentNode) -> int:
    """
    Drop the tokens of a valid document, and count its nodes.

    They are linked in both directions, so that they are never freed before a full garbage collection, and take as much
    memory as the nodes. Positions in errors are made of numbers.
    """
    waiting: list[Node] = [document]
    count = 0
    while waiting:
        node = waiting.pop()
        count += 1
        if node.loc:
            node.loc.start_token = node.loc.end_token = NO_TOKEN
        for key in node.keys:
            value = getattr(node, key, None)
            if isinstance(value, Node):
                waiting.append(value)
            elif isinstance(value, (list, tuple)):
                waiting += value
    return count


def code_of(error: GraphQLError) -> Code:
    """A literal that a custom scalar refused is bad input; everything else is a bad document."""
    # graphql-core points at what its own rules refuse, and passes on what a scalar's parser raised.
    passed_on = error.original_error is not None or not error.nodes
    is_input = passed_on and not isinstance(error, ValidationAbortedError)
    return Code.BAD_USER_INPUT if is_input else Code.INVALID_DOCUMENT
