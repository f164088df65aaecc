"""Class names: each belongs to one module, so that a name says which class is meant."""

import ast
from collections import defaultdict
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
# the packages of the project
ROOMS = ("archive", "caches", "engine", "schema", "resolvers", "database", "store", "server")


def test_no_class_name_has_several_owners():
    """Except that a type of the schema may have the name of the class of `store` or `resolvers` that it shows."""
    shown = {name for name, modules in owners("schema").items() if len(modules) == 1}
    data, everywhere = owners("resolvers", "store"), owners(*ROOMS)
    shared = {name for name, modules in everywhere.items() if len(modules) > 1}
    related = {name for name in shared & shown if len(everywhere[name]) == 2 and len(data[name]) == 1}

    assert shared - related == set()


def owners(*rooms: str) -> dict[str, set[Path]]:
    """The modules that define a class of each name."""
    found: dict[str, set[Path]] = defaultdict(set)
    for path in chain(*((ROOT / room).rglob("*.py") for room in rooms)):
        if "node_modules" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    found[node.name].add(path)
    return found
