"""The layers of docs/architecture.md: imports go one way, and some packages are imported in some layers only."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import schema

ROOT = Path(__file__).parents[1]
LAYERS = ["server", "engine", "schema", "resolvers", "archive", "database", "store", "caches"]
MAY_IMPORT = {
    "server": {"engine", "schema", "resolvers", "archive", "database", "store", "caches"},
    "engine": {"caches"},
    "schema": {"resolvers", "store", "caches", "engine"},
    "resolvers": {"archive", "database", "store", "caches"},
    "archive": {"database", "store", "caches"},
    "database": {"store", "caches"},
    "store": {"caches"},
    "caches": set(),
}
ONLY_IN = {
    "starlette": {"server", "engine"},
    "uvicorn": {"server", "engine"},
    "strawberry": {"schema", "engine", "resolvers"},
    "sqlalchemy": {"database"},
    "alembic": {"database"},
    "psycopg": {"database"},
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(layer: str) -> list[Path]:
    return [path for path in sorted((ROOT / layer).rglob("*.py")) if "node_modules" not in path.parts]


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_one_way(layer):
    foreign = set(LAYERS) - MAY_IMPORT[layer] - {layer}

    assert modules(layer)
    assert [
        (path.name, name) for path in modules(layer) for name in imports(path) if name.split(".")[0] in foreign
    ] == []


def test_engine_does_not_mention_upvote():
    words = re.compile(r"upvote|article|poster|\bvotes?\b|redis|valkey", re.IGNORECASE)

    assert [path.name for path in modules("engine") if words.search(path.read_text())] == []


@pytest.mark.parametrize("layer", ["resolvers", "archive"])
def test_functions_import_nothing(layer):
    functions = [
        (path.name, node.name)
        for path in modules(layer)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(isinstance(part, ast.Import | ast.ImportFrom) for part in ast.walk(node))
    ]

    assert functions == []


@pytest.mark.parametrize("layer", LAYERS)
def test_packages_are_imported_in_their_layers_only(layer):
    found = []
    for path in modules(layer):
        for name in imports(path):
            package = name.split(".")[0]
            if layer not in ONLY_IN.get(package, {layer}):
                found.append((path.name, name))
            if package == "strawberry" and layer == "resolvers" and not name.startswith("strawberry.dataloader"):
                found.append((path.name, name))

    assert found == []


def test_tests_do_not_import_each_other():
    """What several tests use is in `tests/support`, or in a module of their folder."""
    found = {path: [name for name in imports(path) if ".test_" in name] for path in modules("tests")}

    assert found
    assert [(path.name, names) for path, names in found.items() if names] == []


def test_redis_client_imports_nothing_of_the_rest_of_the_store():
    client = modules("store/client")

    assert client
    assert [
        (path.name, name)
        for path in client
        for name in imports(path)
        if name.split(".")[0] in LAYERS and not name.startswith(("store.client.", "caches."))
    ] == []


@pytest.mark.parametrize(
    "module", ["server.app", "server.settings", "server.cli.main", "database.database", "archive.maintenance"]
)
def test_sqlalchemy_is_not_imported_before_a_database_is_opened(module):
    program = (
        f"import sys, {module}; print([name for name in ('sqlalchemy', 'alembic', 'psycopg') if name in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True).stdout == "[]\n"


def test_redis_packages_are_imported_by_the_redis_client_only():
    client = set(modules("store/client"))
    others = [path for layer in LAYERS for path in modules(layer) if path not in client]

    assert [
        (path.name, name) for path in others for name in imports(path) if name.split(".")[0] in ("redis", "hiredis")
    ] == []


@pytest.mark.parametrize("layer", ["engine", "schema", "resolvers", "archive", "database", "store", "caches"])
def test_environment_is_read_in_the_server_only(layer):
    readers = [path.name for path in modules(layer) if "environ" in path.read_text() or "getenv" in path.read_text()]

    assert readers == []


def test_resolvers_do_not_import_types():
    assert [name for path in modules("resolvers") for name in imports(path) if name.split(".")[0] == "schema"] == []


def test_schema_imports_only_resolver_declarations_of_the_engine():
    used = {name for path in modules("schema") for name in imports(path) if name.startswith("engine")}

    assert {name.rpartition(".")[0] for name in used} == {"engine.compiler.resolvers"}


def test_schema_is_imported_from_this_project():
    assert Path(schema.__file__).parent == ROOT / "schema"


def test_kinds_alone_make_texts_of_keys():
    """A kind of keys is declared once, as a `Kind`, which makes their texts, such as "user:{0}:alice"; no others do."""
    key_in_python, key_in_lua = re.compile(r"[a-z]+:\{\{"), re.compile(r"\"[a-z]+:\{")
    python = [path for layer in LAYERS for path in modules(layer) if key_in_python.search(path.read_text())]
    scripts = [path for path in (ROOT / "store" / "scripts").rglob("*.lua") if key_in_lua.search(path.read_text())]

    assert python == []
    assert scripts == []
