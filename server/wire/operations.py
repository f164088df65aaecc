"""Turns the text of a document into an operation, parsed and validated once and then remembered. Executes nothing."""

from dataclasses import dataclass

import strawberry
from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    parse,
    specified_rules,
    validate,
)
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from server.wire.errors import Code, Refused
from server.wire.recent import Recent

MAX_ERRORS = 20
RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation of a valid document, ready to be executed any number of times."""

    text: str
    document: DocumentNode
    node: OperationDefinitionNode

    @property
    def name(self) -> str | None:
        return self.node.name.value if self.node.name else None

    @property
    def kind(self) -> OperationType:
        return self.node.operation


class Operations:
    """The operations of a schema, by text and name; those seen last are kept, up to `capacity` characters of text."""

    def __init__(self, schema: strawberry.Schema, max_tokens: int, max_characters: int, capacity: int) -> None:
        # Strawberry parses and validates anew inside each execute(); the schema that graphql-core works on is private.
        self._schema = schema._schema
        self._hide_suggestions = schema.config.disable_field_suggestions
        self._max_tokens = max_tokens
        self._max_characters = max_characters
        self._known: Recent[tuple[str, str | None], Operation] = Recent(capacity)

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
        self._known.put((text, name), operation, len(text))
        return operation

    def _read(self, text: str, name: str | None) -> Operation:
        document = self._parse(text)
        node = chosen(document, name)
        self._validate(document)
        return Operation(text, document, node)

    def _parse(self, text: str) -> DocumentNode:
        try:
            return parse(
                text,
                max_lexical_tokens=self._max_tokens,
                max_comments=self._max_tokens,
                max_source_length=self._max_characters,
            )
        except GraphQLError as error:
            raise Refused(Code.UNPARSABLE_DOCUMENT, error) from None

    def _validate(self, document: DocumentNode) -> None:
        errors = validate(self._schema, document, RULES, MAX_ERRORS, self._hide_suggestions)
        if errors:
            raise Refused(code_of(errors), *errors)


def chosen(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = [node for node in operations if name is None or (node.name and node.name.value == name)]
    if not found:
        reason = "the document has no operation" if name is None else f"the document has no operation {name!r}"
        raise Refused(Code.NO_SUCH_OPERATION, reason)
    if name is None and len(found) > 1:
        raise Refused(Code.NO_SUCH_OPERATION, "the document has several operations and `operationName` names none")
    return found[0]


def code_of(errors: list[GraphQLError]) -> Code:
    """A literal that a custom scalar's parser refused is bad input; everything else is a bad document."""
    refused_by_scalar = all(
        error.original_error and not isinstance(error.original_error, GraphQLError) for error in errors
    )
    return Code.BAD_USER_INPUT if refused_by_scalar else Code.INVALID_DOCUMENT
