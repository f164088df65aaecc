"""Benchmarks, most of which no other test runs, import only names that are there."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "bench").glob("*.py"))
ROOMS = {"archive", "caches", "database", "engine", "resolvers", "schema", "server", "store"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_imported_names_are_there(file):
    for statement in ast.walk(ast.parse(file.read_text())):
        if isinstance(statement, ast.ImportFrom) and str(statement.module).split(".")[0] in ROOMS:
            module = import_module(str(statement.module))
            for each in statement.names:
                if not hasattr(module, each.name):  # else it is a module
                    import_module(f"{statement.module}.{each.name}")
