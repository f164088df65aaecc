"""
The size of a result, counted while values are completed, so that a result that is too large is never encoded.

A value that occurs many times in a result takes memory once, but is encoded each time.
"""

from collections.abc import Sequence
from typing import Any

from engine.errors import Code, Refused

MAX_ANSWER = 10_000_000  # bytes
PUNCTUATION = 3  # bytes around a value: quotes and a comma
MIN_CHARACTERS = 4_096  # from here on the UTF-8 bytes of texts are counted, and not their characters


class AnswerTooLarge(Refused):
    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(Code.ANSWER_TOO_LARGE, f"the answer is larger than {limit} bytes: ask for less at once")


class Budget:
    """Counts the bytes of one result, at most `limit`."""

    __slots__ = ("limit", "size")

    def __init__(self, limit: int = MAX_ANSWER) -> None:
        self.limit = limit
        self.size = 0

    def add(self, size: int) -> None:
        """
        Raises:
            AnswerTooLarge: the size exceeds the limit.
        """
        self.size += size
        if self.size > self.limit:
            raise AnswerTooLarge(self.limit)

    def add_texts(self, values: Sequence[str]) -> None:
        """Count texts in UTF-8, without JSON's escapes."""
        characters = sum(map(len, values))
        self.add(characters + PUNCTUATION * len(values))
        if characters > MIN_CHARACTERS and not all(map(str.isascii, values)):
            self.add(sum([len(value.encode(errors="surrogatepass")) for value in values]) - characters)

    def add_data(self, data: Any) -> None:
        """Count the data of a result, as dicts and lists."""
        waiting = [data]
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind is str:
                self.add(len(value) + PUNCTUATION if value.isascii() else len(value.encode(errors="surrogatepass")))
            elif kind is dict:
                self.add(sum(map(len, value)) + PUNCTUATION * len(value))
                waiting.extend(value.values())
            elif kind is list:
                waiting.extend(value)
