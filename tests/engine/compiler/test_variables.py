"""Variables are coerced to the same values as by graphql-core, whatever is given."""

import pytest
from graphql import build_schema, parse, print_ast
from graphql.execution.values import get_variable_values
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.compiler.arguments import VariableCoercion
from engine.compiler.plan import NotCompilable
from tests.examples import examples

SCHEMA = build_schema("""
    enum Mood { GOOD BAD }
    input Both { text: String! number: Int = 3 mood: Mood = BAD }
    input One @oneOf { text: String number: Int }
    input Deep { deep: Deep both: Both one: One moods: [Mood!] = [GOOD] flag: Boolean! = true ratio: Float }
    type Query { field(id: ID, ratio: Float, mood: Mood, both: Both, one: One, deep: Deep): Int }
""")
TYPES = {"$a": "String", "$b": "ID", "$c": "Int", "$d": "Boolean"}
OTHERS = {"$e": "[Int]", "$f": "Mood", "$g": "Both", "$h": "Float", "$i": "One", "$j": "Deep"}
DEFAULTS = {"String": '"usual"', "ID": '"7"', "Int": "5", "Boolean": "true"}
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(["", "text", "7", "\ud800"]),
    st.integers(-(2**33), 2**33),
    st.sampled_from([-(2**31) - 1, -(2**31), 2**31 - 1, 2**31, 1.0, 1.5, "GOOD", "BEST"]),
    st.lists(st.integers(0, 2), max_size=2),
)
MOODS = st.sampled_from(["GOOD", "BAD", "GOOD", "BEST", None, 1, ["GOOD"]])
BOTH = st.fixed_dictionaries(
    {}, optional={"text": st.sampled_from(["a", "b", 1, None]), "number": PLAIN, "mood": MOODS, "odd": st.just(1)}
)
DEEP = st.fixed_dictionaries(
    {},
    optional={
        "deep": BOTH | st.just({"deep": {"deep": {}}}),
        "both": BOTH,
        "one": BOTH,
        "moods": MOODS,
        "flag": st.sampled_from([True, None, 0]),
        "ratio": PLAIN,
    },
)
VALUES = st.one_of(PLAIN, MOODS, BOTH, DEEP)


@st.composite
def declared(draw):
    """The variables of an operation: mostly those of plain types, required or with a default."""
    names = draw(st.sets(st.sampled_from([*TYPES, *TYPES, *OTHERS]), max_size=4))
    ends = {name: draw(st.sampled_from(["", "!", "="])) for name in sorted(names)}
    return [_declaration(name, end) for name, end in ends.items()]


def _declaration(name, end):
    type_ = (TYPES | OTHERS)[name]
    return (
        f"{name}: {type_} = {DEFAULTS[type_]}"
        if end == "=" and type_ in DEFAULTS
        else f"{name}: {type_}{end.strip('=')}"
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # coroutines left by earlier tests
@example(["$c: Int"], {"c": 2**31})
@example(["$c: Int", "$a: String!"], {"c": True})
@example(["$g: Both!"], {"g": {"text": "a"}})
@example(["$g: Both"], {"g": {"text": "a", "number": None, "mood": "GOOD"}})
@example(["$g: Both"], {"g": {"text": "a", "odd": 1}})
@example(["$j: Deep"], {"j": {"deep": {"both": {"text": "a"}}, "moods": "BAD"}})
@settings(max_examples=examples(500))
@given(declared(), st.dictionaries(st.sampled_from("abcdefghijx"), VALUES))
def test_variables_are_those_of_graphql_core(declarations, values):
    text = f"query ({', '.join(declarations)}) {{ __typename }}" if declarations else "{ __typename }"
    definitions = parse(text).definitions[0].variable_definitions or ()
    expected = get_variable_values(SCHEMA, definitions, values)

    coercion = VariableCoercion(SCHEMA, definitions)

    if isinstance(expected, list):
        with pytest.raises(NotCompilable):
            coercion.coerced(values)
    else:
        assert shown(coercion.coerced(values)) == shown(expected)


def shown(values):
    """The values and where they come from, each with its type: `1` is not `True` here."""
    sources = [
        (name, str(signature.type), signature.default and print_ast(signature.default.literal), value)
        for name, (signature, value) in values.sources.items()
    ]
    return repr((sources, values.coerced))
