"""Persisted documents: a request may name its document instead of sending it; a server may take trusted ones only."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from sys import getsizeof

from caches import SizedCache
from engine.errors import Code, Refused
from engine.json import decode
from engine.requests import GraphQLRequest


class Documents:
    """The documents known by an id: the trusted ones for ever, of those that clients sent the last ones."""

    def __init__(self, trusted: Mapping[str, str], only_trusted: bool, cache: SizedCache[str, str]) -> None:
        self._trusted = trusted
        self._trusted_texts = frozenset(trusted.values())
        self._only_trusted = only_trusted
        self._sent = cache

    def text(self, request: GraphQLRequest) -> str:
        """
        Return the text that a request sends or names.

        Raises:
            Refused: no document is known by this id, the id is another text's, or the text is not a trusted one.
        """
        if request.query is None:
            return self._named(request.document_id or "")
        if self._only_trusted and request.query not in self._trusted_texts:
            raise Refused(Code.DOCUMENT_NOT_TRUSTED, "only trusted documents are executed here")
        if request.document_id is not None and not self._matches(request.document_id, request.query):
            raise Refused(Code.BAD_REQUEST, "the document has another SHA-256 than its id says")
        return request.query

    def keep(self, request: GraphQLRequest) -> None:
        """Remember a document that was sent with its id, once it has proved valid, so that nothing else takes room."""
        identifier, text = request.document_id, request.query
        if identifier is None or text is None or identifier in self._trusted or identifier in self._sent:
            return
        self._sent.put(identifier, text, getsizeof(identifier) + getsizeof(text))

    def _named(self, identifier: str) -> str:
        text = self._trusted.get(identifier) or self._sent.get(identifier)
        if text is not None:
            return text
        code = Code.DOCUMENT_NOT_LISTED if self._only_trusted else Code.DOCUMENT_NOT_PERSISTED
        raise Refused(code, "no document is known by this id")

    def _matches(self, identifier: str, text: str) -> bool:
        return self._trusted.get(identifier) == text or sha256(text.encode()).hexdigest() == identifier


def read_trusted_documents(path: Path) -> dict[str, str]:
    """
    Read the persisted documents that graphql-codegen or Relay's compiler wrote: one JSON object of texts by hash.

    Raises:
        ValueError: the file is something else.
    """
    try:
        documents = decode(path.read_bytes())
    except Refused as refused:
        raise ValueError(f"{path}: {refused.errors[0]['message']}") from None
    if not isinstance(documents, dict) or not all(isinstance(text, str) for text in documents.values()):
        raise ValueError(f"{path}: not an object of documents by their hashes")
    return {identifier.removeprefix("sha256:"): text for identifier, text in documents.items()}
