"""The printed schema, compared with the committed contract."""

from graphql import GraphQLInputObjectType, GraphQLObjectType, GraphQLScalarType, build_schema
from graphql.type import is_enum_type, is_interface_type, is_introspection_type, is_specified_scalar_type

from schema import schema

SCHEMA = build_schema(schema.text())


def test_schema_file_is_the_printed_schema():
    assert schema.FILE.read_text() == schema.text(), "renew it: .venv/bin/upvote schema > schema/schema.graphql"


def test_every_type_field_argument_and_value_has_a_description():
    missing = []
    for name, type in SCHEMA.type_map.items():
        if is_introspection_type(type) or is_specified_scalar_type(type):
            continue
        missing += [] if type.description else [name]
        if is_enum_type(type):
            missing += [f"{name}.{value}" for value, each in type.values.items() if not each.description]
        if isinstance(type, GraphQLObjectType | GraphQLInputObjectType) or is_interface_type(type):
            for field_name, field in type.fields.items():
                missing += [] if field.description else [f"{name}.{field_name}"]
                arguments = getattr(field, "args", {})
                missing += [f"{name}.{field_name}({each})" for each, arg in arguments.items() if not arg.description]

    assert missing == []


def test_custom_scalars_have_a_specified_by_url():
    custom = [type for type in SCHEMA.type_map.values() if isinstance(type, GraphQLScalarType)]
    urls = {type.name: type.specified_by_url for type in custom if not is_specified_scalar_type(type)}

    assert set(urls) == {"Date", "DateTime", "URL"}
    assert all(urls.values())
