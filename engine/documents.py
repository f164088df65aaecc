"""
GraphQL documents: finds persisted documents by id; parses and validates all documents, and caches their operations.
Executes nothing.

A request may send the id of a document, such as its SHA-256, instead of its text, if the server knows the document: it
is *persisted*. A server may be limited to a list of trusted documents, which its operator has deployed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from sys import getsizeof

import orjson
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

from caches import Cache, Pool
from engine.bridge import STRAWBERRY_RULES, ValidationAbortedError, core_schema
from engine.errors import Code, Refused, error_entry
from engine.limits.cost import Cost, cost_of
from engine.limits.documents import Limits, fragments_of

MAX_ERRORS = 20  # that validation reports
MAX_NUMBER_LENGTH = 1_000  # characters; Python refuses to convert a number of 4,301 digits
# A longer number has a run of this many digits: sign, point and exponent divide it into four parts at most.
DIGIT_RUN = re.compile(rf"[0-9]{{{MAX_NUMBER_LENGTH // 4}}}")
RULES = (*specified_rules, *STRAWBERRY_RULES)
NODE_SIZE = 260  # bytes of a node of a document, with its position and its part of the cost
OPERATION_SIZE = 2_000  # bytes of an operation without its document
OPERATION_MICROSECONDS = 3_000  # to parse, validate and compile an operation
DOCUMENT_MICROSECONDS = 300  # to ask for a document that is not known any more, and to receive it
NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)  # takes the place of all tokens of a document: see `drop_tokens`


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Operation:
    """
    One operation of a valid document, which may be executed any number of times.

    `key` is its key in the cache: the text of the document, and the name by which a request selected the operation.
    `size` is its memory in bytes, `digest` the SHA-256 of the text. `name` is its own name in the document, `kind`
    query, mutation or subscription. `cost` is its cost in points.
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
    is_query: bool
    is_subscription: bool


class Operations:
    """Finds the operations of a schema by document text and operation name, and caches them."""

    def __init__(self, schema: strawberry.Schema, limits: Limits, pool: Pool) -> None:
        self._schema = core_schema(schema)
        self._hide_suggestions = schema.config.disable_field_suggestions or not limits.introspection
        self._limits = limits
        self._rules = RULES if limits.introspection else (*RULES, NoSchemaIntrospectionCustomRule)
        self.cache: Cache[tuple[str, str | None], Operation] = pool.cache("operations", OPERATION_MICROSECONDS)

    def find(self, text: str, name: str | None) -> Operation:
        """
        Return the operation of this name; without a name, the only one of the document.

        Raises:
            Refused: the document is not valid for this schema, or has no such operation.
        """
        operation = self.cache.get((text, name))
        if operation is not None:
            return operation
        operation = self._parse_and_validate(text, name)
        self.cache.put((text, name), operation, operation.size)
        return operation

    def add_size(self, operation: Operation, more: int) -> None:
        """Add bytes to the size of an operation in the cache, for its compiled plans."""
        self.cache.grow(operation.key, operation, more)

    def _parse_and_validate(self, text: str, name: str | None) -> Operation:
        document = self._parse(text)
        self._limits.check(document)
        if DIGIT_RUN.search(text):
            refuse_long_numbers(document)
        node = select_operation(document, name)
        self._validate(document)
        cost = cost_of(self._schema, fragments_of(document), node, self._limits.weights)
        digest = sha256(text.encode()).hexdigest()
        size = OPERATION_SIZE + getsizeof(text) + NODE_SIZE * drop_tokens(document) + cost.memory
        return Operation(
            key=(text, name),
            size=size,
            text=text,
            digest=digest,
            document=document,
            node=node,
            cost=cost,
            name=node.name.value if node.name else None,
            kind=node.operation,
            is_query=node.operation is OperationType.QUERY,
            is_subscription=node.operation is OperationType.SUBSCRIPTION,
        )

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
            raise Refused(code, errors=[error_entry(error, own) for error, own in zip(errors, codes, strict=True)])


class PersistedDocuments:
    """
    Documents by id: the trusted ones, and in a cache those that clients have sent with an id.

    The methods take ids without the prefix `sha256:`. In the file of trusted documents ids may have this prefix.
    """

    def __init__(self, trusted: Mapping[str, str], only_trusted: bool, pool: Pool) -> None:
        self._trusted = {without_prefix(document_id): text for document_id, text in trusted.items()}
        self._trusted_texts = frozenset(trusted.values())
        self._only_trusted = only_trusted
        self._cache: Cache[str, str] = pool.cache("documents", DOCUMENT_MICROSECONDS)

    def text(self, query: str | None, document_id: str | None) -> str:
        """
        Return the document that a request contains, or that its id names.

        Raises:
            Refused: the id is unknown or belongs to another document, or the document is not trusted.
        """
        if query is None:
            return self._named(document_id or "")
        if self._only_trusted and query not in self._trusted_texts:
            raise Refused(Code.DOCUMENT_NOT_TRUSTED, "only trusted documents are executed here")
        if document_id is not None and not self._matches(document_id, query):
            raise Refused(Code.BAD_REQUEST, "the SHA-256 of the document differs from its id")
        return query

    def store(self, query: str, document_id: str) -> None:
        """Cache a document under its id. Call it for valid documents only, so that invalid ones take no room."""
        if document_id not in self._trusted and document_id not in self._cache.entries:
            self._cache.put(document_id, query, getsizeof(document_id) + getsizeof(query))

    def _named(self, document_id: str) -> str:
        text = self._trusted.get(document_id) or self._cache.get(document_id)
        if text is not None:
            return text
        if self._only_trusted:
            raise Refused(Code.DOCUMENT_NOT_LISTED, "no document has this id")
        raise Refused(Code.DOCUMENT_NOT_PERSISTED, "PersistedQueryNotFound")  # after this text urql sends the document

    def _matches(self, document_id: str, text: str) -> bool:
        return self._trusted.get(document_id) == text or sha256(text.encode()).hexdigest() == document_id


def read_trusted_documents(path: Path) -> dict[str, str]:
    """
    Read the manifest of graphql-codegen or Relay's compiler: a JSON object of documents by hash.

    Raises:
        ValueError: the file is not such a manifest.
    """
    try:
        documents = orjson.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(documents, dict) or not all(isinstance(text, str) for text in documents.values()):
        raise ValueError(f"{path}: not an object of documents by their hashes")
    return documents


def without_prefix(document_id: str) -> str:
    """`sha256:HASH`, the form in GraphQL over HTTP, and `HASH` name the same document."""
    return document_id.removeprefix("sha256:")


def select_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """The operation of a document with a name; without a name, the only one."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = [node for node in operations if name is None or (node.name and node.name.value == name)]
    if not found:
        reason = "the document has no operation" if name is None else f"the document has no operation {name!r}"
        raise Refused(Code.NO_SUCH_OPERATION, reason)
    if name is None and len(found) > 1:
        raise Refused(Code.NO_SUCH_OPERATION, "the document has several operations and `operationName` names none")
    return found[0]


def refuse_long_numbers(document: DocumentNode) -> None:
    finder = LongNumberFinder()
    visit(document, finder)
    if finder.found:
        reason = f"a number is longer than {MAX_NUMBER_LENGTH} characters"
        raise Refused(Code.BAD_USER_INPUT, *[GraphQLError(reason, node) for node in finder.found[:MAX_ERRORS]])


class LongNumberFinder(Visitor):
    """Finds the numbers of a document that are too long to convert, which validation would do."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[IntValueNode | FloatValueNode] = []

    def enter_int_value(self, node: IntValueNode, *_: object) -> None:
        if len(node.value) > MAX_NUMBER_LENGTH:
            self.found.append(node)

    def enter_float_value(self, node: FloatValueNode, *_: object) -> None:
        if len(node.value) > MAX_NUMBER_LENGTH:
            self.found.append(node)


def drop_tokens(document: DocumentNode) -> int:
    """
    Remove the tokens of a valid document, and return the number of its nodes.

    Tokens take as much memory as the nodes. They reference each other in cycles, which only a full garbage collection
    frees. Error positions do not need them.
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
    """A literal that a custom scalar rejects is bad input; every other error means an invalid document."""
    # graphql-core's own rules set `nodes` and no original error; an exception of a scalar's parser is passed on.
    is_from_scalar = error.original_error is not None or not error.nodes
    is_input = is_from_scalar and not isinstance(error, ValidationAbortedError)
    return Code.BAD_USER_INPUT if is_input else Code.INVALID_DOCUMENT
