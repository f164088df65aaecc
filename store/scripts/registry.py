"""
The Lua scripts of the store, built from files. A script is a file in `commands`, `reads` or `verify`, found by its
name. A call of a script works in one partition, a share of the data.

The first comment lines of a file, its head, have lines that this module reads:

- `-- requires: prelude, log_entry` names files of `lib`. Their text, with that of the files that they require, comes
  before the text of this file: the server gets them as one script.
- `-- replies kept in case the call is sent again, by status: changed` names statuses, the first elements of replies. A
  command is sent again if its reply was lost; a second run of the script would then give another reply. So replies with
  such a status are kept for ten seconds, see `kept_answers`; `voted without part 3` keeps them without their third
  element, which is read anew. The last argument of the script is `kept_answers.new_call()`.
- `-- flags: allow-oom` is a flag of Redis: the script may run while the server is out of memory. It frees memory, or is
  needed for that.

The lines `-- from prelude: actor() -> username | false, now` are for readers only: they say which names the file takes
from which other one, as an import does, and what functions return, as their first lines say after `-->`. `python -m
tests.support.lua_names --write` renews them.

`KEY.article` in a script is one of its KEYS: the text `article:{3}:` in partition 3, to which the script appends a
number, or `log:{3}` of a kind with one key in each partition (see `kinds.script_key`). A script without such names is
called with KEYS in the order that its head says.
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
KEPT = re.compile(r"^-- replies kept[^:]*: (.+)$", re.MULTILINE)
KEY = re.compile(r"\bKEY\.([a-z]+)")  # the name of a kind of key


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
        """The command EVALSHA in a partition up to KEYS, which are those that the script names; a call appends ARGV."""
        keys = [kinds.script_key(name, partition) for name in self.key_names]
        return encoded(("EVALSHA", self.digest, len(keys), *keys))


def files_of(name: str, above: tuple[str, ...] = ()) -> list[str]:
    """
    The names of the files of a script, in their order: what a file requires, each once, then the file itself. `above`
    are the files that require it, from the script down.
    """
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
    """The first line of a script, such as `local KEY = {log = KEYS[1], user = KEYS[2]}`; "" without names."""
    keys = ", ".join(f"{name} = KEYS[{place}]" for place, name in enumerate(names, 1))
    return f"local KEY = {{{keys}}}\n" if names else ""
