"""Bad and big schemas: an error that says what and where, or a right answer, in about a second."""

from __future__ import annotations

import json
import pickle
import resource
import time
from collections.abc import Callable
from typing import Any

import pytest

import shared
from earmark import Grammar, GrammarError, LimitError, Matcher, Vocabulary

#: For a grammar and its first mask, in seconds of processor time: a second, and as much again for
#: slow and busy machines.
SECONDS = 2.0

#: What the process may grow by, in bytes; an input may be 16 MiB long.
MEMORY = 400 << 20

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos_token_ids=256)

MEGABYTE = 1 << 20


def fault(schema: Any, **options: Any) -> GrammarError:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema(schema, **options)
    message = str(caught.value).splitlines()[0]
    assert message[0] == message[0].lower()
    assert not message.endswith(".")
    return caught.value


# What is wrong, and where


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"then": 5}, "/then"),
        ({"$anchor": 5}, "/$anchor"),
        ({"minContains": "x"}, "/minContains"),
        ({"additionalItems": []}, "/additionalItems"),
        ({"contentEncoding": None}, "/contentEncoding"),
        ({"title": 1}, "/title"),
        ({"$defs": {"unused": {"items": {"type": 1}}}}, "/$defs/unused/items/type"),
        ({"properties": {"a/b~": {"minLength": -1}}}, "/properties/a~1b~0/minLength"),
        ({"allOf": [{}, {"required": "a"}]}, "/allOf/1/required"),
        ({"prefixItems": [{}, 1]}, "/prefixItems/1"),
        ({"dependentSchemas": {"a": 1}}, "/dependentSchemas/a"),
        ({"dependentRequired": {"a": ["b", 1]}}, "/dependentRequired/a/1"),
        ({"required": ["a", 1]}, "/required/1"),
        ({"type": ["string", "strin"]}, "/type/1"),
        ({"enum": [1, {"a": [0, json.loads("1e1000")]}]}, "/enum/1/a/1"),
        ({"patternProperties": {"a": {}, "/x(": {}}}, "/patternProperties/~1x("),
        ({"patternProperties": {"(": {}}, "additionalProperties": False}, "/patternProperties/("),
        ({"propertyNames": {"pattern": "("}}, "/propertyNames/pattern"),
        ({"anyOf": [{"type": "string", "pattern": "("}]}, "/anyOf/0/pattern"),
        ({"items": {"$ref": "#/$defs/b"}}, "/items/$ref"),
    ],
    ids=str,
)
def test_faults_have_places(schema: Any, pointer: str) -> None:
    assert fault(schema).pointer == pointer
    with pytest.raises(GrammarError) as caught:
        Grammar.schema_report(schema)
    assert caught.value.pointer == pointer


def test_drafts_are_kept_apart() -> None:
    draft = {"$schema": "http://json-schema.org/draft-06/schema#"}
    grammar = Grammar.from_json_schema(draft | {"then": 5, "type": "null"})
    assert shared.is_text(grammar, b"null")
    report = Grammar.schema_report(draft | {"then": 5})
    assert ("/then", "annotation") in [(word.pointer, word.status) for word in report]
    assert fault(draft | {"contains": 5}).pointer == "/contains"


def test_all_faults_are_told() -> None:
    schema = {"then": 5, "properties": {"a": {"type": "strin"}}, "minLength": -1}
    error = fault(schema)
    assert error.pointer == "/then"
    for pointer in ("/then: ", "/properties/a/type: ", "/minLength: "):
        assert f"\n  {pointer}" in str(error)
    many = str(fault({"properties": {f"p{i}": {"minLength": "x"} for i in range(100_000)}}))
    assert "and 99980 more" in many
    assert len(many) < 5_000


def test_members_that_can_not_be_enforced_have_places() -> None:
    schema = {
        "type": "object",
        "patternProperties": {r"(a)\1": {"type": "null"}, "^b": {"type": "integer"}},
        "additionalProperties": False,
    }
    pointers = ["/patternProperties/(a)\\1", "/additionalProperties"]
    error = fault(schema)
    assert error.kind == "unsupported"
    assert error.pointer == pointers[0]
    grammar = Grammar.from_json_schema(schema, unsupported="ignore")
    assert [ignored.pointer for ignored in grammar.ignored_keywords] == pointers
    assert shared.is_text(grammar, b'{"c":1}')
    assert not shared.is_text(grammar, b'{"b":null}')
    report = {word.pointer: word.status for word in Grammar.schema_report(schema)}
    assert report["/patternProperties"] == "enforced"
    assert [report[pointer] for pointer in pointers] == ["refused", "refused"]


# Limits


def objects(count: int) -> list[dict[str, Any]]:
    return [{"type": "object", "required": [f"p{i}"]} for i in range(count)]


def numbers(digits: int) -> str:
    return '{"items": {"minimum": ' + "9" * digits + "}}"


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def chain(length: int) -> dict[str, Any]:
    definitions = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{length}": {"type": "null"}}}


def exceeded(name: str, value: int, schema: Any) -> str:
    """The place of the error for a schema past a limit, which it names with its value."""
    error = fault(schema, limits={name: value})
    assert isinstance(error, LimitError)
    assert str(value) in str(error).splitlines()[0]
    assert error.hint is not None
    assert f'limits={{"{name}": {value}}}' in error.hint
    assert error.pointer is not None
    return error.pointer


@pytest.mark.parametrize(
    ("name", "value", "schema", "pointer"),
    [
        ("text_bytes", 20, {"title": "a", "type": "string"}, "/type"),
        ("text_bytes", 20, '{"title": "a", "type": "string"}', ""),
        ("nesting", 5, nested(5), "/items/items/items/items/items"),
        ("nesting", 5, json.dumps(nested(5)), "/items/items/items/items/items"),
        ("number_digits", 9, numbers(10), "/items/minimum"),
        ("number_digits", 9, {"minimum": 1e10}, "/minimum"),
        ("number_digits", 9, {"enum": [1, [1e-10]]}, "/enum/1/0"),
        ("literal_bytes", 30, {"properties": {"a": {"const": "x" * 30}}}, "/properties/a/const"),
        ("literal_bytes", 30, {"items": {"required": ["a" * 30]}}, "/items/required"),
        ("pattern_bytes", 5, {"items": {"pattern": "abcdef"}}, "/items/pattern"),
        ("depth", 10, chain(20), "/$defs/d19"),
        ("alternatives", 3, {"items": {"anyOf": objects(4)}}, "/items/anyOf"),
        ("alternatives", 3, {"enum": [[1], [2], [3], [4]]}, "/enum"),
        ("combinations", 3, {"allOf": [{"anyOf": objects(2)}] * 2}, "/allOf"),
        ("work", 9, {"allOf": [{"anyOf": objects(2)}] * 2}, "/allOf"),
        ("one_of", 3, {"items": {"oneOf": objects(4)}}, "/items/oneOf"),
        ("name_patterns", 1, {"items": {"patternProperties": {"^a": {}, "^b": {}}}}, "/items"),
        (
            "unnamed_properties",
            1,
            {
                "items": {
                    "allOf": [
                        {"not": {"additionalProperties": {"not": {"const": 1}}}},
                        {"not": {"additionalProperties": {"not": {"const": 2}}}},
                    ]
                }
            },
            "/items",
        ),
        ("item_places", 2, {"items": {"prefixItems": [{"const": i} for i in range(3)]}}, "/items"),
        (
            "item_kinds",
            1,
            {"items": {"allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]}},
            "/items",
        ),
        ("item_states", 9, {"items": {"contains": {"const": 1}, "minContains": 20}}, "/items"),
        (
            "multiples",
            1,
            {"items": {"multipleOf": 2, "allOf": [{"multipleOf": 3}], "type": "number"}},
            "/items",
        ),
        ("multiple_states", 99, {"items": {"multipleOf": 1003}}, "/items"),
        ("symbols", 30, {"properties": {f"p{i}": {} for i in range(40)}}, ""),
        ("grammar_parts", 500, {"properties": {f"p{i}": {} for i in range(400)}}, ""),
    ],
)
def test_limits_tell_name_value_and_place(name: str, value: int, schema: Any, pointer: str) -> None:
    assert exceeded(name, value, schema).startswith(pointer)
    with pytest.raises(LimitError):
        Grammar.schema_report(schema, limits={name: value})
    Grammar.from_json_schema(schema)


@pytest.mark.parametrize(
    ("name", "value", "schema"),
    [
        (
            "search_steps",
            40,
            {"items": {"allOf": [{"pattern": "^(?:a{7})+$"}, {"pattern": "^(?:a{11})+$"}]}},
        ),
        ("terminal_parts", 50, {"items": {"pattern": "(?:[ab][cd][ef]?){1,9}(g|h)" * 9}}),
    ],
)
def test_limits_of_compiling_are_options(name: str, value: int, schema: Any) -> None:
    exceeded(name, value, schema)
    Grammar.from_json_schema(schema)


def test_ignored_keywords_come_in_the_order_of_the_document() -> None:
    unsupported = {"pattern": r"(a)\1"}
    schema = {
        "properties": dict.fromkeys("zebra", unsupported),
        "patternProperties": {"^x": unsupported},
        "additionalProperties": unsupported,
    }
    grammar = Grammar.from_json_schema(schema, unsupported="ignore")
    pointers = [ignored.pointer for ignored in grammar.ignored_keywords]
    assert pointers == [
        *(f"/properties/{name}/pattern" for name in "zebra"),
        "/patternProperties/^x/pattern",
        "/additionalProperties/pattern",
    ]


def test_limits_can_be_raised() -> None:
    schema = {"anyOf": objects(5_000)}
    error = fault(schema)
    assert error.pointer == "/anyOf"
    assert error.hint is not None
    assert 'limits={"alternatives": 4096}' in error.hint
    grammar = Grammar.from_json_schema(schema, limits={"alternatives": 5_000})
    assert shared.is_text(grammar, b'{"p4999":1}')
    copied = pickle.loads(pickle.dumps(grammar))
    assert copied.info == grammar.info
    assert copied.info.options["limits"] == {"alternatives": 5_000}
    assert "limits={'alternatives': 5000}" in repr(grammar)
    assert "limits" not in repr(Grammar.from_json_schema(True, limits={"depth": 400}))


@pytest.mark.parametrize(
    ("limits", "kind", "message"),
    [
        ({"alternative": 1}, ValueError, 'did you mean "alternatives"'),
        ({"something": 1}, ValueError, "there are text_bytes, "),
        ({"nesting": 0}, ValueError, 'the limit "nesting" is 1 to 1000, not 0'),
        ({"nesting": 1001}, ValueError, "not 1001"),
        ({"nesting": -1}, ValueError, "not -1"),
        ({"nesting": 2**70}, ValueError, "1 to 1000"),
        ({"nesting": "5"}, TypeError, "is an int, not str"),
        ({"nesting": True}, TypeError, "is an int, not bool"),
        ({1: 1}, TypeError, "the name of a limit is a str, not int"),
        (5, TypeError, "limits map names to numbers, which int does not"),
    ],
)
def test_limits_that_there_are_not(limits: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Grammar.from_json_schema(True, limits=limits)


def test_deep_schemas_do_not_overflow() -> None:
    limits = {"nesting": 1_000, "depth": 1_000}
    grammar = Grammar.from_json_schema(nested(900), limits=limits)
    assert shared.is_text(grammar, b"[[[]]]")
    negated: dict[str, Any] = {"type": "null"}
    for _ in range(400):
        negated = {"not": {"not": negated}}
    assert shared.is_text(Grammar.from_json_schema(negated, limits=limits), b"null")
    constant: list[Any] = []
    for _ in range(900):
        constant = [constant]
    text = json.dumps(constant).encode()
    assert shared.is_text(Grammar.from_json_schema({"const": constant}, limits=limits), text)


# Big schemas


def doubling(keyword: str, depth: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{depth}": {"type": "object", "required": ["a"]}}
    for i in range(depth):
        deeper = [{"$ref": f"#/$defs/d{i + 1}"}]
        definitions[f"d{i}"] = {
            keyword: [
                {"properties": {f"p{i}": {"type": "string"}}, "allOf": deeper},
                {"required": [f"q{i}"], "allOf": deeper},
            ]
        }
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def names(count: int) -> list[str]:
    return [f"p{i}" for i in range(count)]


def tools(count: int) -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "properties": {
                "name": {"const": f"t{i}"},
                "arguments": {"type": "object", "properties": {f"a{i}": {"type": "string"}}},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for i in range(count)
    ]


BIG: dict[str, tuple[Callable[[], Any], str | None]] = {
    # With a text of the grammar, where there must be one.
    "const, 10 MB": (lambda: {"const": "x" * 10 * MEGABYTE}, None),
    "const, 100 kB": (lambda: {"const": "x" * 100_000}, f'"{"x" * 100_000}"'),
    "const, values": (lambda: {"const": [[[[[1]]]]] * 900_000}, None),
    "description": (lambda: {"description": "x" * 10 * MEGABYTE, "type": "null"}, "null"),
    "examples": (lambda: {"examples": [[1, {"a": [[]]}]] * 600_000, "type": "null"}, "null"),
    "definitions": (
        lambda: {"$defs": {name: {"items": {"type": "null"}} for name in names(100_000)}},
        "null",
    ),
    "property name": (lambda: {"properties": {"x" * MEGABYTE: {}}}, None),
    "properties, 10,000": (
        lambda: {
            "properties": {name: {"type": "string"} for name in names(10_000)},
            "required": names(10_000)[::100],
            "additionalProperties": False,
        },
        None,
    ),
    "properties, 90,000": (
        lambda: {"properties": {name: {"minimum": 1} for name in names(90_000)}},
        None,
    ),
    "objects, 50,000": (
        lambda: {"properties": {n: {"properties": {n: {"const": n}}} for n in names(50_000)}},
        None,
    ),
    "required, 100,000": (lambda: {"required": names(100_000)}, None),
    "clique": (lambda: {"dependentRequired": dict.fromkeys(names(300), names(300))}, None),
    "implications": (
        lambda: {"dependentRequired": {f"p{i}": [f"p{i + 1}"] for i in range(1_000)}},
        None,
    ),
    "allOf, properties": (
        lambda: {"allOf": [{"properties": {name: {}}} for name in names(50_000)]},
        None,
    ),
    "allOf, bounds": (
        lambda: {"type": "integer", "allOf": [{"minimum": i} for i in range(50_000)]},
        "50000",
    ),
    "allOf, not const": (
        lambda: {"type": "string", "allOf": [{"not": {"const": n}} for n in names(30_000)]},
        '"p30000"',
    ),
    "allOf, items": (
        lambda: {"type": "array", "allOf": [{"items": {"minimum": i}} for i in range(20_000)]},
        "[20000]",
    ),
    "allOf, patterns": (
        lambda: {"type": "string", "allOf": [{"pattern": name} for name in names(5_000)]},
        None,
    ),
    "allOf, multiples": (
        lambda: {"type": "integer", "allOf": [{"multipleOf": i + 1} for i in range(20_000)]},
        None,
    ),
    "anyOf, constants": (lambda: {"anyOf": [{"const": n} for n in names(30_000)]}, '"p29999"'),
    "anyOf, ranges": (
        lambda: {
            "anyOf": [
                {"type": "integer", "minimum": 3 * i, "maximum": 3 * i + 1} for i in range(4_000)
            ]
        },
        "11998",
    ),
    "anyOf, objects": (lambda: {"anyOf": objects(4_000)}, '{"p3999":0}'),
    "anyOf, too many objects": (lambda: {"anyOf": objects(50_000)}, None),
    "oneOf, tools": (lambda: {"oneOf": tools(2_000)}, '{"name":"t1999","arguments":{}}'),
    "oneOf, constants": (lambda: {"oneOf": [{"const": n} for n in names(20_000)]}, '"p1"'),
    "oneOf, numbers": (lambda: {"oneOf": [{"const": i} for i in range(5_000)]}, "4999"),
    "oneOf, objects": (lambda: {"oneOf": objects(200)}, None),
    "anyOf, doubling": (lambda: doubling("anyOf", 60), None),
    "oneOf, doubling": (lambda: doubling("oneOf", 60), None),
    "allOf, doubling": (
        lambda: doubling("allOf", 60),
        json.dumps({"a": 0} | {f"q{59 - i}": 0 for i in range(60)}),
    ),
    "enum, 10,000": (lambda: {"enum": names(10_000)}, '"p9999"'),
    "enum, 1,000,000": (lambda: {"enum": names(1_000_000)}, None),
    "enum, arrays": (lambda: {"enum": [[i] for i in range(80_000)]}, None),
    "enum, names": (lambda: {"propertyNames": {"enum": names(50_000)}}, None),
    "enum, unique": (
        lambda: {"type": "array", "uniqueItems": True, "items": {"enum": names(500)}},
        '["p1","p499"]',
    ),
    "arrays, 10 MB": (lambda: '{"const":' + "[" * 5 * MEGABYTE + "]" * 5 * MEGABYTE + "}", None),
    "depth, 1,000,000": (lambda: '{"not":' * 1_000_000 + "{}" + "}" * 1_000_000, None),
    "depth, dict": (lambda: nested(10_000), None),
    "references": (lambda: chain(10_000), None),
    "references in properties": (
        lambda: {
            "$ref": "#/$defs/d0",
            "$defs": {f"d{i}": {"items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(100_000)},
        },
        None,
    ),
    "patternProperties": (
        lambda: {"patternProperties": {f"^{n}": {"minLength": 1} for n in names(5_000)}},
        None,
    ),
    "pattern, 1 MB": (lambda: {"pattern": "a" * MEGABYTE}, None),
    "pattern, parentheses": (lambda: {"pattern": "(" * 10 * MEGABYTE}, None),
    "patterns, complements": (
        lambda: {
            "type": "string",
            "allOf": [{"not": {"pattern": f"{c}[abc]{{25}}$"}} for c in "abc"],
            "minLength": 30,
        },
        '"' + "d" * 30 + '"',
    ),
    "number, digits": (lambda: numbers(10_000), None),
    "number, exponent": (lambda: '{"minimum": 1e999999999}', None),
    "numbers, exponents": (
        lambda: '{"enum": [' + ", ".join(f"{i}e999" for i in range(1, 9_000)) + "]}",
        None,
    ),
    "maxItems": (lambda: {"type": "array", "maxItems": 10**18}, "[1,2]"),
    "minItems": (lambda: {"type": "array", "minItems": 10**18}, None),
    "minContains": (lambda: {"contains": {"type": "null"}, "minContains": 10**18}, None),
    "prefixItems": (lambda: {"prefixItems": [{"minimum": i} for i in range(50_000)]}, None),
    "unevaluated": (lambda: {"anyOf": objects(5_000), "unevaluatedProperties": False}, None),
    "reference, 10 MB": (lambda: {"$ref": "#/" + "x/" * 5 * MEGABYTE}, None),
    "type, 10 MB": (lambda: {"type": "x" * 10 * MEGABYTE}, None),
    "format, 10 MB": (lambda: {"type": "string", "format": "x" * 10 * MEGABYTE}, '"a"'),
    "unsupported": (
        lambda: {
            "properties": {
                n: {"type": "array", "uniqueItems": True, "items": {"pattern": n}}
                for n in names(3_000)
            }
        },
        None,
    ),
    "wrong": (lambda: {"properties": {n: {"type": "strin"} for n in names(200_000)}}, None),
}


@pytest.mark.parametrize("name", BIG)
def test_big_schemas_are_taken_or_refused_in_time(name: str) -> None:
    make, text = BIG[name]
    schema = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    message = ""
    grammar = None
    try:
        grammar = Grammar.from_json_schema(schema)
        Matcher(grammar, BYTES).next_mask()
    except GrammarError as error:
        message = str(error)
        assert error.pointer is not None
    assert time.process_time() - start < SECONDS
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < MEMORY
    assert len(message) < 30_000
    if text is not None:
        assert grammar is not None, message
        assert shared.is_text(grammar, text.encode())


def test_fewer_names_than_properties_is_a_contradiction() -> None:
    error = fault({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3})
    assert error.kind == "empty"
    assert "`propertyNames` and `minProperties` can't be satisfied together" in str(error)
