"""Limits of documents: whatever exceeds one is refused before validation."""

import json
from unittest.mock import patch

import pytest
from graphql import get_introspection_query

from caches import Pool
from engine import Limits
from engine.documents import Operations
from engine.errors import Refused
from tests.engine.messages import initialise, receive, subscribe
from tests.engine.sample import SCHEMA
from tests.support.answers import code

CIRCULAR = "{ ...A } fragment A on Query { down { ...B } } fragment B on Query { down { ...A } }"


def repeated(text, count, between=" "):
    """So many copies of a text, in each of which its number takes the place of #."""
    return between.join(text.replace("#", str(number)) for number in range(count))


def fragments(count, body):
    return repeated(f"fragment F# on Query {{ {body} }}", count)


def operations(**limits):
    return Operations(SCHEMA, Limits(**limits), Pool(1_000_000))


AT_LIMIT = [  # documents that are just allowed
    "{ " + repeated("a#: hello", 20) + " }",
    "{ " + repeated("down {", 10, "") + repeated("a#: hello", 30) + repeated("}", 10, "") + "}",
    "{ " + repeated("down {", 11, "") + "hello" + repeated("}", 11, "") + "}",
    "{ " + repeated("hello @skip(if: false)", 50) + " }",
    "mutation { " + repeated("a#: change", 5) + " }",
    "{ " + repeated("hello", 100) + " }",
    repeated("query Q# { hello }", 20),
]
BEYOND = {  # documents that are refused, and what the message says about the limit
    "{ " + repeated("a#: hello", 31) + " }": "30 aliases",
    "{ down { " + repeated("a#: hello", 31) + " } }": "30 aliases",
    "{ " + repeated("a#: hello", 21) + " }": "20 root fields",
    "{ ...A ...B } fragment A on Query {"
    + repeated("a#: hello", 11)
    + "} fragment B on Query {"
    + repeated("b#: hello", 11)
    + "}": "20 root fields",
    "{ " + repeated("down {", 12, "") + "hello" + repeated("}", 12, "") + "}": "12 deep",
    "{ hello " + "@skip(if: false) " * 51 + " }": "50 directives",
    "query Q(" + repeated("$v#: Int @a", 51) + ") { hello }": "50 directives",
    "mutation { " + repeated("a#: change", 6) + " }": "5 mutations",
    "query A { hello } mutation B { " + repeated("a#: change", 6) + " }": "5 mutations",
    CIRCULAR: "12 deep",
    "{ down { " + repeated("hello", 490) + " } }": "comparisons",
    "{ " + repeated("down { hello }", 200) + " }": "comparisons",
    "{ " + repeated("...F#", 110) + " } " + fragments(110, "hello"): "comparisons",
    "{ " + repeated("a: hello a: whoami", 330) + " }": "aliases",
}


@pytest.mark.parametrize("text", AT_LIMIT, ids=lambda text: text[:40])
def test_document_at_a_limit_is_allowed(text):
    assert operations().find(text, "Q0" if "Q0" in text else None)


@pytest.mark.parametrize(("text", "limit"), BEYOND.items(), ids=lambda value: value[:40])
def test_document_beyond_a_limit_is_refused_before_it_is_validated(text, limit):
    with patch("engine.documents.validate") as validate, pytest.raises(Refused, match=limit) as refused:
        operations().find(text, "A" if "query A" in text else None)

    assert refused.value.code == "DOCUMENT_LIMIT_EXCEEDED"
    validate.assert_not_called()


def test_fragments_that_spread_each_other_twice_count_once_in_a_level():
    """Without counting each fragment once, there would be 2^100 fields."""
    text = "{ ...F0 } " + repeated("fragment F# on Query { ...G# ...G# }", 100)
    text = text.replace("...G99 ...G99", "hello")
    for number in range(99):
        text = text.replace(f"G{number} ", f"F{number + 1} ")

    assert operations().find(text, name=None)


def test_fragments_that_double_the_fields_of_each_level_are_refused():
    steps = repeated("fragment F# on Query { a: down { ...G# } b: down { ...G# } }", 11)
    for number in range(10):
        steps = steps.replace(f"G{number} ", f"F{number + 1} ")

    with pytest.raises(Refused, match="5 fields"):
        operations(fields=5).find("{ ...F0 } " + steps.replace("...G10", "hello"), name=None)


def test_exclusive_mutations_are_allowed_once_in_a_request():
    once = operations(exclusive=frozenset({"change"}))

    assert once.find("mutation { change }", name=None)
    with pytest.raises(Refused, match="more than 1 mutations of change"):
        once.find("mutation { change b: change }", name=None)


def test_standard_introspection_is_within_the_limits():
    every = get_introspection_query(
        specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True
    )

    assert operations().find(every, name=None)


def test_circular_introspection_is_refused():
    nested = "fields { type { " * 4
    with pytest.raises(Refused) as refused:
        operations().find("{ __schema { types { " + nested + "name" + " } }" * 4 + " } } }", name=None)

    assert refused.value.errors[0]["message"] == "Maximum introspection depth exceeded"


@pytest.mark.parametrize("text", ["{ __schema { queryType { name } } }", '{ __type(name: "Query") { name } }'])
def test_introspection_can_be_switched_off(text):
    off = operations(introspection=False)

    assert off.find("{ __typename }", name=None)
    with pytest.raises(Refused) as refused:
        off.find(text, name=None)
    assert "introspection has been disabled" in refused.value.errors[0]["message"]


def test_no_names_are_suggested_where_introspection_is_off():
    with pytest.raises(Refused) as refused:
        operations(introspection=False).find("{ helo }", name=None)

    assert refused.value.errors[0]["message"] == "Cannot query field 'helo' on type 'Query'."


async def test_limits_apply_to_http_and_websocket(ask, http, socket):
    text = next(iter(BEYOND))
    posted = await ask(text)
    got = await http.get("", params={"query": text})
    await initialise(socket)
    await subscribe(socket, text)
    received = await receive(socket)

    assert (posted.status_code, code(posted)) == (400, "DOCUMENT_LIMIT_EXCEEDED")
    assert (got.status_code, code(got)) == (200, "DOCUMENT_LIMIT_EXCEEDED")
    assert (received["type"], received["payload"]) == ("error", json.loads(posted.content)["errors"])
