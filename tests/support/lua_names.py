"""
The names that a Lua file of the store takes from the files that it requires, as lines for its head.

    -- from comments: find_comment(number) -> fields by name | nil, note_written(article)
    -- from home_places: articles_left (that may still be read)

`python -m tests.support.lua_names --write` writes them to all files. They are for readers: the server ignores them.
What a function returns is said after `-->` in its first line; several values stand in parentheses.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from textwrap import wrap

from store.scripts.registry import FILES, files_of

WIDTH = 128  # characters of a line
TOKEN = re.compile(r"--[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*|\.{1,3}|[=~<>]=|[^\s\w]")
NAME = re.compile(r"[A-Za-z_]\w*")
KEYWORD = re.compile(
    "and|break|do|else|elseif|end|false|for|function|if|in|local|nil|not|or|repeat|return|then|true|until|while"
)
# what a file defines: fields of tables, as functions or constants; local functions; local values, with their comments
INNER = re.compile(r"^ *function ([\w.]+)(\([^)]*\)(?: -->.+)?)|^ *(\w+\.[A-Z_]+) = ", re.MULTILINE)
LOCAL_FUNCTION = re.compile(r"^local function (\w+)(\([^)]*\)(?: -->.+)?)", re.MULTILINE)
LOCAL_VALUES = re.compile(r"^local (?!function )(\w+(?:, \w+)*)[^\n]*?(?:-- (.+))?$", re.MULTILINE)
# the lines that are written here, with those that continue them
FROM_LINES = re.compile(r"^-- from \w+: .*\n(?:--   +\S.*\n)*", re.MULTILINE)


@cache
def names_of(file: str) -> dict[str, str]:
    """
    The names that a file gives those that require it, and how each is shown: a function with its arguments and what it
    returns, and a value with the comment of its line.
    """
    text = FILES[file].read_text()
    names = {name: name + _shown(signature) for name, signature in LOCAL_FUNCTION.findall(text)}
    for listed, meaning in LOCAL_VALUES.findall(text):
        given = [name.strip() for name in listed.split(",")]
        names |= {name: name for name in given}
        if meaning and len(given) == 1:
            names[given[0]] = f"{given[0]} ({meaning})"
    tables = names.keys() | {name for other in files_of(file)[:-1] for name in names_of(other)}
    for name, signature, constant in INNER.findall(text):
        if (name or constant).partition(".")[0] in tables:
            names[name or constant] = name + _shown(signature) if name else constant
    return names


def _shown(signature: str) -> str:
    """The arguments of a function and what it returns, from its first line."""
    return signature.replace(" --> ", " -> ")


@dataclass(slots=True)
class Scopes:
    """Goes through the tokens of a file, and finds the names that it uses and does not define."""

    tokens: list[str]
    scopes: list[set[str]] = field(default_factory=lambda: [set()])  # the names of each open block, the innermost last
    brackets: list[str] = field(default_factory=list)  # those that are open
    used: dict[str, None] = field(default_factory=dict)  # as a set that keeps its order
    loops: int = 0  # `for` whose `do` has not come yet: it has opened a scope already

    def read(self) -> list[str]:
        """The names in the order of their first use; `table.field` for a field of a name."""
        index = 0
        while index < len(self.tokens):
            index = self._step(index)
        return list(self.used)

    def _step(self, index: int) -> int:
        """Take the token at an index, and return the index of the next one to take."""
        token = self.tokens[index]
        if token == "local" and self.tokens[index + 1] != "function":
            names, index = self._list(index + 1)
            self.scopes[-1].update(names)
            return index
        if token == "function":
            return self._function(index)
        if token == "for":
            names, index = self._list(index + 1)
            self.scopes.append(set(names))
            self.loops += 1
            return index
        self._block(token)
        self._bracket(token)
        if NAME.fullmatch(token) and not KEYWORD.fullmatch(token):
            self._use(index)
        return index + 1

    def _block(self, token: str) -> None:
        """Open or close a scope where the token begins or ends a block."""
        if token == "do" and self.loops:
            self.loops -= 1
        elif token in ("do", "then", "repeat"):
            self.scopes.append(set())
        elif token in ("end", "until", "elseif", "else"):
            self.scopes.pop()
            if token == "else":
                self.scopes.append(set())

    def _bracket(self, token: str) -> None:
        if token in "{([":
            self.brackets.append(token)
        elif token in "})]":
            self.brackets.pop()

    def _list(self, index: int) -> tuple[list[str], int]:
        """The names that commas separate, from the token at an index on, and the index after them."""
        names = [self.tokens[index]]
        while self.tokens[index + 1] == ",":
            index += 2
            names.append(self.tokens[index])
        return names, index + 1

    def _function(self, index: int) -> int:
        """Note the name of a function, open the scope of its arguments, and return the index of its body."""
        after = index + 1
        while self.tokens[after] != "(":
            after += 1
        if after > index + 1:
            name = self.tokens[index + 1]
            if self.tokens[index - 1] == "local":
                self.scopes[-1].add(name)
            else:
                self._use(index + 1)
        end = self.tokens.index(")", after)
        self.scopes.append({token for token in self.tokens[after:end] if NAME.fullmatch(token)})
        return end + 1

    def _use(self, index: int) -> None:
        """Note the name at an index as used, unless the file defines it, or it is a field or a key of a table."""
        name, before = self.tokens[index], self.tokens[index - 1] if index else ""
        following = self.tokens[index + 1 : index + 3]
        is_field = before in (".", ":")
        is_key = self.brackets[-1:] == ["{"] and before in ("{", ",") and following[:1] == ["="]
        if is_field or is_key or any(name in scope for scope in self.scopes):
            return
        self.used[name] = None
        if following[:1] == ["."]:
            self.used[f"{name}.{following[1]}"] = None


def taken(file: str) -> dict[str, list[str]]:
    """What a file uses of those that it requires: the names, by the file that defines them."""
    text = FILES[file].read_text()
    used = Scopes([token for token in TOKEN.findall(text) if not token.startswith("--")]).read()
    required = files_of(file)[:-1]  # the last one is the file itself
    found = {other: [texts[name] for name in used if name in (texts := names_of(other))] for other in required}
    # a table is left out where its fields are named
    tables = {name.partition(".")[0] for names in found.values() for name in names if re.match(r"\w+\.", name)}
    shown = {other: [name for name in names if name.partition(" ")[0] not in tables] for other, names in found.items()}
    return {other: names for other, names in shown.items() if names}


def lines_of(file: str) -> str:
    """The lines for the head of a file."""
    return "".join(f"{line}\n" for other, names in taken(file).items() for line in _wrapped(other, names))


def _wrapped(other: str, names: list[str]) -> Iterator[str]:
    whole = [name.replace(" ", "\0") for name in names]  # a call stays on one line
    for line in wrap(f"-- from {other}: {', '.join(whole)}", WIDTH, subsequent_indent="--   ", break_long_words=False):
        yield line.replace("\0", " ")


def with_lines(file: str) -> str:
    """The text of a file with the right lines in its head: after `requires`."""
    text = FROM_LINES.sub("", FILES[file].read_text())
    lines = lines_of(file)
    return re.sub(r"(?m)^-- requires: .+\n", lambda found: found[0] + lines, text, count=1) if lines else text


def main() -> None:
    for file, path in sorted(FILES.items()):
        text = with_lines(file)
        if "--write" in sys.argv:
            path.write_text(text)
        else:
            print(f"{file}\n{lines_of(file)}")


if __name__ == "__main__":
    main()
