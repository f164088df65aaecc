"""Whose trace an operation belongs to, and the spans that a collector gets of a running server."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from server.app import is_tracing_on, open_spans
from server.observability.logs import trace_id_of
from tests.server.conftest import REGISTER, serving
from tests.support.logs import digest

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "traced"}
PAGE = "query Page { articles { nodes { title } } }"


@pytest.mark.parametrize(
    ("traceparent", "expected"),
    [
        (f"00-{TRACE}-{PARENT}-01", TRACE),
        (f"00-{TRACE}-{PARENT}-00", TRACE),
        (f"cc-{TRACE}-{PARENT}-01-what-the-future-adds", TRACE),
        ("", None),
        (TRACE, None),
        (f"ff-{TRACE}-{PARENT}-01", None),
        (f"00-{'0' * 32}-{PARENT}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE.upper()}-{PARENT}-01", None),
    ],
)
def test_trace_id_is_read_from_traceparent(traceparent, expected):
    assert trace_id_of(traceparent) == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, False),
    ],
)
def test_spans_are_sent_only_if_the_variables_say_so(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert is_tracing_on() is expected


def test_without_opentelemetry_a_warning_says_so(monkeypatch, caplog):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.delitem(sys.modules, "server.observability.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)

    assert open_spans() is None
    assert caplog.messages == ["OTEL_ variables enable tracing, but opentelemetry.sdk.resources is not installed"]


@pytest.fixture
def collected(monkeypatch):
    """The requests that a collector has received. Servers that are started later send it their spans until they end."""
    requests = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        yield requests
        collector.shutdown()
        thread.join()


def spans_of(requests):
    return [
        span
        for request in requests
        for of_resource in request.resource_spans
        for of_scope in of_resource.scope_spans
        for span in of_scope.spans
    ]


def attributes_of(span):
    """The attributes of a span, without its errors."""
    values = {one.key: one.value for one in span.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items() if key != "upvote.errors"}


def errors_of(span):
    [errors] = [one.value.array_value.values for one in span.attributes if one.key == "upvote.errors"]
    return [error.string_value for error in errors]


def test_operation_is_a_span_of_its_callers_trace(tmp_path, collected):
    with serving(tmp_path) as live:
        cost = live.post({"query": PAGE}, SAMPLED | {"x-upvote-stats": "1"}).json()["extensions"]["stats"]
        [line] = live.logged(request_id="traced")
        live.stop()

    [span] = spans_of(collected)
    assert (span.name, span.kind) == ("query Page", Span.SPAN_KIND_SERVER)
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert attributes_of(span) == {
        "graphql.operation.type": "query",
        "graphql.operation.name": "Page",
        "upvote.document": digest(PAGE),
        "upvote.request_id": "traced",
        "upvote.round_trips": cost["roundTrips"],
        "upvote.commands": cost["commands"],
    }
    assert (errors_of(span), span.status.code) == ([], Status.STATUS_CODE_UNSET)
    assert line["trace_id"] == TRACE
    names = {one.key: one.value.string_value for one in collected[0].resource_spans[0].resource.attributes}
    assert names["service.name"] == "upvote"


def test_operation_begins_a_trace_where_none_is_given(tmp_path, collected):
    with serving(tmp_path) as live:
        live.post({"query": "mutation { __typename }"}, {"x-request-id": "untraced"})
        [line] = live.logged(request_id="untraced")
        live.stop()

    [span] = spans_of(collected)
    assert (span.name, span.parent_span_id) == ("mutation", b"")
    assert line["trace_id"] == span.trace_id.hex()


def test_span_has_the_status_error_for_faults_of_the_server_only(tmp_path, redis_url, redis, collected):
    with serving(tmp_path, redis_url=redis_url) as live:
        live.ask(REGISTER)
        live.ask("query Theirs { article(id: 1) { id } }")
        redis.set("score:{0}", "no index")
        live.ask("query Ours { articles { nodes { id } } }")
        live.stop()

    _, theirs, ours = spans_of(collected)
    assert (errors_of(theirs), theirs.status.code) == (["BAD_USER_INPUT"], Status.STATUS_CODE_UNSET)
    assert (errors_of(ours), ours.status.code) == (["UNAVAILABLE"], Status.STATUS_CODE_ERROR)


def test_span_that_the_caller_does_not_want_is_not_sent(tmp_path, collected):
    with serving(tmp_path) as live:
        live.post({"query": PAGE}, SAMPLED | {"traceparent": f"00-{TRACE}-{PARENT}-00"})
        [line] = live.logged(request_id="traced")
        live.stop()

    assert collected == []
    assert line["trace_id"] == TRACE
