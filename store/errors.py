"""
What can go wrong in the store.

    Refusal                     understood, and the answer is no; nothing was changed
    ├── Unauthenticated         log in first
    ├── Forbidden               not yours
    ├── NotFound                nothing has this id
    ├── Invalid                 a value breaks a rule
    ├── VotingClosed            posted longer ago than the voting window
    ├── UsernameTaken
    ├── BadCredentials          no such name, or another password
    ├── SelfFollow              nobody follows themselves
    ├── RateLimited             too often
    └── IdempotencyMismatch     the same key came with other input
    StoreError                  a fault
    ├── StoreUnavailable        Redis does not answer, or cannot write
    ├── StoreMismatch           the settings are not those that the store was made with
    └── RebuildOvertaken        somebody else began to rebuild the same
"""


class Refusal(Exception):
    """`field` is the path of the value that is at fault, within the input."""

    def __init__(self, message: str, *field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Unauthenticated(Refusal):
    def __init__(self) -> None:
        super().__init__("log in first")


class Forbidden(Refusal):
    pass


class NotFound(Refusal):
    pass


class Invalid(Refusal):
    pass


class VotingClosed(Refusal):
    """`closed_at` is in unix milliseconds."""

    def __init__(self, number: int, closed_at: int) -> None:
        super().__init__(f"voting on article:{number} closed", "articleId")
        self.closed_at = closed_at


class UsernameTaken(Refusal):
    def __init__(self, username: str) -> None:
        super().__init__(f"the name {username} is taken", "username")


class BadCredentials(Refusal):
    def __init__(self) -> None:
        super().__init__("no such name and password")


class SelfFollow(Refusal):
    def __init__(self) -> None:
        super().__init__("nobody follows themselves", "userId")


class RateLimited(Refusal):
    """`retry_at` is in unix milliseconds."""

    def __init__(self, retry_at: int) -> None:
        super().__init__("too often: try again later")
        self.retry_at = retry_at


class IdempotencyMismatch(Refusal):
    def __init__(self) -> None:
        super().__init__("this key was used with other input", "idempotencyKey")


class StoreError(Exception):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreMismatch(StoreError):
    pass


class RebuildOvertaken(StoreError):
    def __init__(self) -> None:
        super().__init__("somebody else has begun to rebuild the same: theirs goes on, this one was given up")
