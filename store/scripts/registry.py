"""
The scripts of the store. A script is a Lua file in `commands`, `reads` or `verify`, found by its name. In its text it
follows the files of `lib` that it requires, and they follow those that they require: `-- requires: prelude, log_entry`
in the head of a file. The lines `-- from prelude: actor(), now` after it are for readers: they say which names the file
takes from each other one, as an import does. `python -m tests.support.lua_names --write` renews them.

A script that says `KEY.article` gets the key `article` of a partition, or what all keys of that kind begin with there:
see `kinds.script_key`. Other scripts are called with KEYS in the order that their heads say.

`-- kept replies: changed` in the head of a script keeps its replies with this status for a moment, see
`kept_answers`: those that would be other ones if the script ran a second time. Its last argument is
`kept_answers.new_call()`.

`-- flags: allow-oom` in the head of a script lets it run while the store is out of memory: it frees memory, or what
does needs it.
"""

import re
from functools import lru_cache
from pathlib import Path

from store import kept_answers, kinds
from store.client.connection import EncodedCommand, LuaScript, encoded
from store.keys import SLOTS

FILES = {path.stem: path for path in Path(__file__).parent.glob("*/*.lua")}
HEAD = re.compile(r"(?:--.*\n)*")
REQUIRED = re.compile(r"^-- requires: (.+)$", re.MULTILINE)
FLAGS = re.compile(r"^-- flags: (.+)$", re.MULTILINE)
KEPT = re.compile(r"^-- kept replies: (.+)$", re.MULTILINE)
KEY = re.compile(r"\bKEY\.([a-z]+)")


class Script(LuaScript):
    """
    The script of a file, by its name without the suffix. Those in the folder `reads` change nothing.

    Raises:
        LookupError: there is no such file, or a file requires one that is missing.
        ValueError: files require each other.
    """

    def __init__(self, name: str) -> None:
        text = "".join(FILES[each].read_text() for each in files_of(name))
        self.key_names = tuple(dict.fromkeys(KEY.findall(text)))
        self.body = _key_table(self.key_names) + text
        statuses = _in_head(name, KEPT)
        text = _shebang(name) + (kept_answers.kept(self.body, statuses) if statuses else self.body)
        super().__init__(text, is_read_only=FILES[name].parent.name == "reads")
        self.keeps_answers = bool(statuses)
        self.beginning = lru_cache(maxsize=SLOTS)(self._beginning)

    def _beginning(self, partition: int) -> EncodedCommand:
        """The command in a partition without its arguments. Its KEYS are those that the script names."""
        keys = [kinds.script_key(name, partition) for name in self.key_names]
        return encoded(("EVALSHA", self.digest, len(keys), *keys))


def files_of(name: str, above: tuple[str, ...] = ()) -> list[str]:
    """The files of a script, in their order: what a file requires, each once, then the file. `above` require it."""
    if name in above:
        raise ValueError(f"scripts require each other: {' -> '.join((*above, name))}")
    if name not in FILES:
        raise LookupError(f"there is no script {name}" + (f", which {above[-1]} requires" if above else ""))
    required = [each for named in _required(name) for each in files_of(named, (*above, name))]
    return [*dict.fromkeys(required), name]


def _required(name: str) -> list[str]:
    listed = _in_head(name, REQUIRED)
    return listed.split(", ") if listed else []


def _shebang(name: str) -> str:
    """The line that begins a script with flags."""
    flags = _in_head(name, FLAGS)
    return f"#!lua flags={flags}\n" if flags else ""


def _in_head(name: str, line: re.Pattern[str]) -> str:
    """What a line in the head of a file says; "" if there is none."""
    head = HEAD.match(FILES[name].read_text())
    found = line.search(head[0]) if head else None
    return found[1] if found else ""


def _key_table(names: tuple[str, ...]) -> str:
    """The line of a script that gives it KEYS by name."""
    keys = ", ".join(f"{name} = KEYS[{place}]" for place, name in enumerate(names, 1))
    return f"local KEY = {{{keys}}}\n" if names else ""
