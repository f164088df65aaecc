"""The model of the soak, which reads random fields, knows each field of the schema."""

import pytest
from graphql import GraphQLObjectType

from tests.soak.answers import FIELDS
from tests.soak.requests import SCHEMA

# what the soak reads by other means, or never has
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
