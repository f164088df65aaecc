"""
Compares the answers of the server with those of its model: all data, and of errors their codes and the nulls that they
caused. Where the model does not know a value exactly, its answer has an object that equals several: `Between`,
`Unordered`, `ANYTHING` or `Rank`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import isclose
from typing import Any

from tests.soak.answers import Answer
from tests.soak.pages import Position
from tests.soak.searches import ANYTHING, Between, Unordered
from tests.soak.standings import Rank

BAD_USER_INPUT, UNAVAILABLE = "BAD_USER_INPUT", "UNAVAILABLE"
Path = tuple[str | int, ...]  # response names and indexes in lists that lead to a value of an answer
# stores the cursor at a path with the position that it has by the model, and returns what is wrong with it
CheckCursor = Callable[[Path, str, Position], str | None]


def difference(
    expected: Answer, answered: dict[str, Any], check_cursor: CheckCursor, unavailable: Collection[Path] = ()
) -> str | None:
    """
    The first difference between an answer of the server and the model's; None if there is none. What is below
    `unavailable` paths is not compared.
    """
    if "data" not in answered:
        return f"no data: {answered}"[:1_000]
    if unavailable:
        expected = without(expected, unavailable)
        errors = [each for each in answered["errors"] if not _is_below(each["path"], unavailable)]
        answered = answered | {"errors": errors}
    wrong = _errors(expected, answered) or _extensions(expected, answered)
    return next(_data(expected.data, answered["data"], path=(), check_cursor=check_cursor), None) or wrong


def unanswered(answered: dict[str, Any]) -> frozenset[Path]:
    """The paths of the nulls of an answer that are null because the database does not answer."""
    errors = [(tuple(each["path"]), "") for each in answered.get("errors", ()) if _is_unavailable(each)]
    return frozenset(at_nulls(answered["data"], errors)) if "data" in answered else frozenset()


def without(expected: Answer, paths: Collection[Path]) -> Answer:
    """The model's answer with nulls at these paths, and without the errors below."""
    data = expected.data
    for path in paths:
        data = _with_null(data, path)
    errors = [each for each in expected.errors if not _is_below(each[0], paths)]
    return replace(expected, data=data, errors=errors)


def _with_null(data: Any, path: Path) -> Any:
    if not path or data is None:
        return None
    copied = dict(data) if isinstance(data, dict) else list(data)
    copied[path[0]] = _with_null(data[path[0]], path[1:])
    return copied


def _is_below(path: Iterable[str | int], above: Collection[Path]) -> bool:
    below = tuple(path)
    return any(below[: len(each)] == each for each in above)


def _is_unavailable(error: dict[str, Any]) -> bool:
    return bool(error["extensions"]["code"] == UNAVAILABLE)


def _data(expected: Any, got: Any, path: Path, check_cursor: CheckCursor) -> Iterator[str]:
    if isinstance(expected, Position):
        wrong = check_cursor(path, got, expected) if isinstance(got, str) else f"{got!r} is no cursor"
        if wrong:
            yield f"{written(path)}: {wrong}"
    elif isinstance(expected, dict) and isinstance(got, dict):
        if list(expected) != list(got):
            yield f"{written(path)}: fields {list(got)}, expected {list(expected)}"
        for name, value in expected.items():
            yield from _data(value, got.get(name), (*path, name), check_cursor)
    elif isinstance(expected, Unordered) and isinstance(got, list):
        yield from _unordered(expected, got, path, check_cursor)
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield f"{written(path)}: {len(got)} items for {len(expected)}: {got!r:.600}, expected {expected!r:.600}"
        for index, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from _data(one, other, (*path, index), check_cursor)
    elif not is_same(expected, got):
        yield f"{written(path)}: {got!r:.600}, expected {expected!r:.600}"


def _unordered(expected: Unordered, got: list[Any], path: Path, check_cursor: CheckCursor) -> Iterator[str]:
    if expected.count_shown != len(got):
        yield f"{written(path)}: {len(got)} items for {expected.count_shown}: {got!r:.600}, of {expected!r:.600}"
    unmatched = list(expected)
    for index, item in enumerate(got):
        same = [each for each in unmatched if not list(_data(each, item, (*path, index), check_cursor))]
        if not same:
            yield f"{written((*path, index))}: {item!r:.600}, expected one of {unmatched!r:.1000}"
        unmatched = [each for each in unmatched if each is not same[0]] if same else unmatched


def is_same(expected: Any, got: Any) -> bool:
    if isinstance(expected, float) and isinstance(got, int | float) and not isinstance(got, bool):
        return isclose(expected, got, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(expected, Between):
        return bool(expected == got)
    return bool(expected == got) and isinstance(expected, bool) == isinstance(got, bool)


def _errors(expected: Answer, answered: dict[str, Any]) -> str | None:
    right = at_nulls(expected.data, expected.errors)
    found_errors = [(tuple(each.get("path", ())), each["extensions"]["code"]) for each in answered.get("errors", ())]
    got = at_nulls(answered["data"], found_errors)
    for path in right.keys() | got.keys():
        if got.get(path) == {BAD_USER_INPUT} and _is_in_anything(expected.data, path):
            continue
        if not got.get(path):
            return f"{written(path)}: no error, expected {sorted(right[path])}"
        if not got[path] <= right.get(path, set()):
            expected_codes = sorted(right.get(path, set()))
            return f"{written(path)}: errors {sorted(got[path])}, expected {expected_codes}: {str(answered)[:2_000]}"
    return None


def _is_in_anything(expected: Any, path: Path) -> bool:
    """
    Whether the model has `ANYTHING` above a value: there it does not know what the fields below answer. So a cursor in
    their arguments may be one of another listing.
    """
    with suppress(LookupError, TypeError):  # the model has no such value
        for step in path:
            if expected is ANYTHING:
                return True
            expected = expected[step]
    return False


def _extensions(expected: Answer, answered: dict[str, Any]) -> str | None:
    """Compare what `extensions` says about the session. What it says about expired pins of listings is not modelled."""
    session = answered.get("extensions", {}).get("session")
    allowed = {True: ["ended"], False: [None], None: ["ended", None]}[expected.session_ended]
    return None if session in allowed else f"extensions: session {session!r}, expected one of {allowed}"


def at_nulls(data: Any, errors: Iterable[tuple[Path, str]]) -> dict[Path, set[str]]:
    """The codes of errors by the path of the null that they caused. The server may report any one of several."""
    codes: dict[Path, set[str]] = defaultdict(set)
    for path, code in errors:
        value, depth = data, 0
        while value is not None and depth < len(path):
            value = value[path[depth]]
            depth += 1
        codes[path[:depth]].add(code)
    return codes


def is_between(got: Any, before: Any, after: Any) -> bool:
    """Whether each value is that before or that after a write, as a read that overlaps the write may see either."""
    if before is ANYTHING or after is ANYTHING:
        return True
    if isinstance(before, Position) or isinstance(after, Position):
        return got is None or isinstance(got, str)
    if isinstance(before, Rank) or isinstance(after, Rank):
        return got is None or (isinstance(got, int) and got > 0)
    if isinstance(got, dict):
        if (before is None) != (after is None):
            return True  # it is deleted while it is read, and the model has no value for what is below it then
        either = [each for each in (before, after) if isinstance(each, dict) and each.keys() == got.keys()]
        return bool(either) and all(is_between(got[name], either[0][name], either[-1][name]) for name in got)
    if isinstance(got, list):
        return True  # the places of a listing and the articles in them are read one after the other
    return is_same(before, got) or is_same(after, got)


def written(path: Path) -> str:
    return ".".join(map(str, path)) or "data"
