"""Benchmarks, most of which no other test runs, import only names that exist."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "bench").glob("*.py"))
# the packages of the project
ROOMS = {"archive", "caches", "database", "engine", "resolvers", "schema", "server", "store"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_imported_names_are_there(file):
    imports = [each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.ImportFrom)]
    names = [(str(each.module), alias.name) for each in imports for alias in each.names]
    assert [name for name in names if name[0].split(".")[0] in ROOMS and not is_there(*name)] == []


def is_there(module: str, name: str) -> bool:
    loaded = import_module(module)
    return hasattr(loaded, name) or (hasattr(loaded, "__path__") and find_spec(f"{module}.{name}") is not None)
