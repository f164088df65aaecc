"""No document that is valid by the schema causes an internal error. The examples are the same in every run."""

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import from_schema, nodes

from schema.schema import FILE
from tests.examples import examples
from tests.server.conftest import REGISTER, serving

SCALARS = {
    "Date": st.dates().map(str).map(nodes.String) | st.text(max_size=9).map(nodes.String),
    "DateTime": st.datetimes().map(lambda at: nodes.String(f"{at.isoformat()}Z")),
    "URL": st.just("https://example.com/").map(nodes.String) | st.text(max_size=9).map(nodes.String),
}
DOCUMENTS = from_schema(FILE.read_text(), custom_scalars=SCALARS)
FIXED_EXAMPLES = settings(
    max_examples=examples(100),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("fuzzed")) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        with httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {token}"}) as client:
            yield client


@FIXED_EXAMPLES
@given(document=DOCUMENTS)
def test_random_valid_documents_cause_no_internal_error(client, document):
    response = client.post("/graphql", json={"query": document})

    assert response.status_code < 500
    errors = response.json().get("errors", [])
    assert "INTERNAL_SERVER_ERROR" not in [error["extensions"]["code"] for error in errors]
