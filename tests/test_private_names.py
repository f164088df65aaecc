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
LAYERS = ("caches", "engine", "schema", "resolvers", "database", "store", "server")
PACKAGES = ("graphql", "hiredis", "redis", "strawberry", "uvicorn")
BOUNDED = ("graphql-core", "hiredis", "redis", "strawberry-graphql", "uvicorn")
DOCUMENTED = {  # modules whose public names may be used without a line in USES
    *("graphql", "hiredis", "strawberry", "strawberry.dataloader", "strawberry.relay", "strawberry.schema.config"),
    *("redis.asyncio.connection", "redis.exceptions", "uvicorn"),
}

USES = {  # our module: {"package.module" or "package.module:Class": the names that it uses of it}
    "engine/compiler/arguments.py": {
        "graphql.execution.get_variable_signature": "GraphQLVariableSignature get_variable_signature",
        "graphql.execution.values": (
            "VariableValueSource VariableValues get_argument_values get_variable_values input_is_nested_too_deeply"
        ),
        "graphql.utilities.coerce_input_value": "coerce_default_value",
        "strawberry.scalars": "is_scalar",
        "strawberry.schema.schema:Schema": "schema_converter",
        "strawberry.schema.schema_converter:GraphQLCoreConverter": "scalar_registry",
        "strawberry.types.arguments": "StrawberryArgument convert_argument",
        "strawberry.types.base": "StrawberryList StrawberryMaybe StrawberryOptional get_object_definition",
        "strawberry.types.enum": "StrawberryEnumDefinition has_enum_definition",
        "strawberry.types.field": "StrawberryField",
    },
    "engine/compiler/compile.py": {
        "graphql.execution.collect_fields": "FieldDetails FragmentDetails collect_fields collect_subfields",
        "graphql.execution.values": "VariableValues",
        "strawberry.schema.schema:Schema": "_schema",
        "strawberry.types.field": "StrawberryField",
        "strawberry.types.field:StrawberryField": "base_resolver python_name",
    },
    "engine/compiler/completion.py": {
        "strawberry.execution": "optimized_is_awaitable",
    },
    "engine/compiler/execution.py": {
        "graphql.execution.values": "VariableValues",
        "strawberry.execution": "optimized_is_awaitable",
        "strawberry.schema.schema": "StrawberryGraphQLCoreExecutionContext",
        "strawberry.schema.schema:Schema": "_schema execution_context_class",
        "strawberry.schema.schema:StrawberryGraphQLCoreExecutionContext": (
            "background_futures build_per_event_executor complete_awaitable_list_item_value "
            "complete_list_item_value execute_operation is_awaitable with_abort_signal"
        ),
    },
    "engine/compiler/plan.py": {
        "graphql.execution.values": "VariableValues",
    },
    "engine/compiler/resolvers.py": {
        "graphql.pyutils": "Path",
        "graphql.type.definition": "GraphQLResolveInfoHelpers",
        "strawberry.execution": "optimized_is_awaitable",
        "strawberry.types.field": "StrawberryField",
    },
    "engine/documents.py": {
        "graphql.validation.validate": "ValidationAbortedError",
        "strawberry.schema.schema:Schema": "_schema",
        "strawberry.schema.validation_rules.maybe_null": "MaybeNullValidationRule",
        "strawberry.schema.validation_rules.one_of": "OneOfInputValidationRule",
    },
    "engine/limits/cost.py": {
        "strawberry.types.field": "StrawberryField",
        "strawberry.types.field:StrawberryField": "base_resolver",
    },
    "schema/fields.py": {
        "strawberry.types.unset": "UNSET",
    },
    "schema/inputs.py": {
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
    "server/http_limits/cycle.py": {
        "uvicorn.protocols.http.flow_control": "HIGH_WATER_LIMIT",
        "uvicorn.protocols.http.flow_control:FlowControl": "pause_reading resume_reading write_paused",
        "uvicorn.protocols.http.httptools_impl": "HttpToolsProtocol RequestResponseCycle STATUS_LINE",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol": (
            "access_log access_logger expect_100_continue flow logger on_response_complete server_state"
        ),
        "uvicorn.protocols.http.httptools_impl:RequestResponseCycle": (
            "access_log access_logger chunked_encoding default_headers disconnected expected_content_length flow "
            "keep_alive logger message_event more_body on_response receive response_complete response_started scope "
            "send transport waiting_for_100_continue"
        ),
    },
    "server/http_limits/protocols.py": {
        "uvicorn.protocols.http.flow_control:FlowControl": "pause_reading resume_reading",
        "uvicorn.protocols.http.httptools_impl": "HttpToolsProtocol",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol": (
            "_should_upgrade _start_asgi_task _unset_keepalive_if_required app app_state client cycle "
            "expect_100_continue flow handle_websocket_upgrade headers logger loop on_body on_headers_complete "
            "on_message_begin on_message_complete on_response_complete parser pipeline scheme scope server "
            "server_state timeout_keep_alive timeout_keep_alive_handler timeout_keep_alive_task transport url"
        ),
        "uvicorn.protocols.websockets.websockets_sansio_impl": "WebSocketsSansIOProtocol",
        "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol": (
            "app_state client close_sent close_timeout conn frames handle_cont handle_ping handshake_complete "
            "queue send shutdown transport"
        ),
    },
    "store/client/connection.py": {
        "redis.asyncio.connection:AbstractConnection": "_reader _writer",
    },
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


def test_imports_of_undocumented_names_are_listed():
    paths = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if "node_modules" not in path.parts]
    found = {(str(path.relative_to(ROOT)), *name) for path in paths for name in imported(path)}

    assert found - set(NAMES) == set(), "add it to USES"


def test_packages_have_upper_bounds():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]

    for package in BOUNDED:
        assert [each for each in dependencies if re.match(rf"{package}\b.*<", each)], package
