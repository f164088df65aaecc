"""
The model of the soak knows each field of the schema. The soak, which `make test-slow` runs, sends random operations and
compares the answers with those of its model.
"""

import pytest
from graphql import GraphQLObjectType

from tests.soak.answers import FIELDS
from tests.soak.requests import SCHEMA

# types that the soak does not select at random: it reads them by other means, or its servers have none of them
LEFT_OUT = {
    "Mutation", "Subscription", "Change", "ChangePage", "RankingChange", "RankingMove", "RateLimit",
    "VotingRing", "VotingRingMove",
}  # fmt: skip
LEFT_OUT_FIELDS = {("Banned", "id")}
TYPES = [
    each for name, each in SCHEMA.type_map.items()
    if isinstance(each, GraphQLObjectType) and not name.startswith("__") and name not in LEFT_OUT
]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_model_of_the_soak_knows_the_fields(type_: GraphQLObjectType):
    missing = type_.fields.keys() - FIELDS.get(type_.name, {}).keys()

    assert {(type_.name, name) for name in missing} <= LEFT_OUT_FIELDS
