"""What the model answers instead of a result."""

from typing import Any


class Refused(Exception):
    """
    A refusal: its code, the path of the invalid value, and its other fields. `all` has the refusals of all such values.
    """

    def __init__(self, code: str, *path: str, **more: Any) -> None:
        super().__init__(code)
        self.code, self.path, self.more = code, ["input", *path] if path else None, more
        self.all = [self]
