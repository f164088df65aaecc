"""
How many bytes an answer has, counted while its values are completed: what is too large is refused before it is built.

A value that stands at many places of an answer is one object in memory, but each place is written.
"""

from collections.abc import Sequence
from typing import Any

from engine.errors import Code, Refused

MAX_ANSWER = 10_000_000  # bytes
PUNCTUATION = 3  # bytes around a value: quotes and a comma
ENCODED = 4_096  # characters of a column from which on its bytes are counted, and not its characters


class AnswerTooLarge(Refused):
    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(Code.ANSWER_TOO_LARGE, f"the answer is larger than {limit} bytes: ask for less at once")


class Budget:
    """The bytes of one answer, at most `limit`."""

    __slots__ = ("limit", "size")

    def __init__(self, limit: int = MAX_ANSWER) -> None:
        self.limit = limit
        self.size = 0

    def add(self, size: int) -> None:
        """
        Raises:
            AnswerTooLarge: this is more than the limit.
        """
        self.size += size
        if self.size > self.limit:
            raise AnswerTooLarge(self.limit)

    def add_texts(self, values: Sequence[str]) -> None:
        """Count texts in UTF-8, without what JSON has to escape."""
        characters = sum(map(len, values))
        self.add(characters + PUNCTUATION * len(values))
        if characters > ENCODED and not all(map(str.isascii, values)):
            self.add(sum([len(value.encode(errors="surrogatepass")) for value in values]) - characters)

    def add_data(self, data: Any) -> None:
        """Count the data of an answer that is there as dicts and lists."""
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
