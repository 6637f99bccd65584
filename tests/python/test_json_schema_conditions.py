"""Conditions on which properties there are, and items that differ.

`EARMARK_SLOW=1` tries more schemas, `EARMARK_SEED=n` starts elsewhere.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import pytest

import earmark
import shared
from conditions import differences, documents
from languages import RefusedError, build
from oracle import Oracle

BLOCKS = 4
SCHEMAS = 500 if shared.SLOW else 12
FIRST = int(os.environ.get("EARMARK_SEED", "0"))
NAMES = "abcdefghij"
COMPACT = {"whitespace": "compact"}


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_documents_of_random_conditions(block: int) -> None:
    every = documents()
    some = refused = 0
    first = FIRST + block * SCHEMAS
    for seed in range(first, first + SCHEMAS):
        try:
            found, valid = differences(seed, every)
        except RefusedError:
            refused += 1
            continue
        assert not found, found[0]
        some += valid
    assert some > SCHEMAS / 2
    assert refused < SCHEMAS / 20


def text(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def check(schema: dict[str, Any], documents: list[Any], options: dict[str, Any]) -> int:
    """How many of the documents are valid; each gets the verdict of the package `jsonschema`."""
    oracle = Oracle(schema)
    language = build(json.dumps(schema), options)
    valid = 0
    for document in documents:
        expected = oracle.is_valid(document)
        assert language.accepts(text(document)) == expected, document
        valid += expected
    return valid


def some_of(names: str, most: int) -> list[str]:
    counts = range(most + 1)
    return ["".join(some) for count in counts for some in itertools.combinations(names, count)]


def test_exactly_one_of_many_open_objects() -> None:
    schema = {
        "properties": {name: {} for name in NAMES},
        "oneOf": [
            {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
            for name in NAMES
        ],
    }
    values = [
        dict(zip(some, kinds, strict=True))
        for some in some_of(NAMES, 2)
        for kinds in itertools.product(("x", 1), repeat=len(some))
    ]
    values += [dict.fromkeys(NAMES, 1), {**dict.fromkeys(NAMES, 1), "j": "x"}]
    # One string alone, or beside others that are none.
    assert check(schema, values, COMPACT) == 10 + 45 * 2 + 1


def test_many_independent_conditions() -> None:
    pairs = range(13)
    names = [f"{kind}{number}" for number in pairs for kind in "cd"]
    by_kind = sorted(names)
    for order in (names, by_kind):
        schema = {
            "properties": {name: {} for name in order},
            "dependentRequired": {f"c{number}": [f"d{number}"] for number in pairs},
        }
        full = dict.fromkeys(order, 1)
        without = [{name: 1 for name in order if name != left} for left in order]
        assert check(schema, [{}, full, *without], COMPACT) == 2 + 13
        del schema["dependentRequired"]
        schema["allOf"] = [
            {
                "if": {"required": [f"c{number}"], "properties": {f"c{number}": {"const": 1}}},
                "then": {"required": [f"d{number}"]},
            }
            for number in pairs
        ]
        other = [{name: 2 if name[0] == "c" else 1 for name in order if name != "d3"}]
        assert check(schema, [{}, full, *without, *other], COMPACT) == 2 + 13 + 1


@pytest.mark.parametrize("branch", ["then", "else"])
@pytest.mark.parametrize(
    "whole",
    [
        {"additionalProperties": True},
        {"maxProperties": 3},
        {"minProperties": 1},
        {"patternProperties": {"^x": {"type": "integer"}}},
        {"propertyNames": {"maxLength": 3}},
        {"required": ["c"]},
        {"dependentRequired": {"c": []}},
    ],
)
def test_own_properties_keep_their_order_beside_conditions(
    branch: str, whole: dict[str, Any]
) -> None:
    condition = {
        "if": {"properties": {"c": {"const": 1}, "a": {"const": 1}}, "required": ["c", "a"]},
        branch: whole,
    }
    values = [
        dict(zip(names, kinds, strict=True))
        for names in some_of("abc", 3)
        for kinds in itertools.product((1, 2), repeat=len(names))
    ]
    for needed in ({"a": []}, {"b": ["a"]}, {"b": [], "d": ["a"]}):
        own = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}
        own["dependentRequired"] = needed
        for schema in (
            {**own, **condition},
            {**own, "allOf": [condition]},
            {"dependentRequired": needed, **condition, **own},
        ):
            check(schema, values, COMPACT)
            language = build(json.dumps(schema), COMPACT)
            for value in values:
                _, *others = itertools.permutations(value.items())
                assert not any(language.accepts(text(dict(other))) for other in others), value


def test_many_cases_of_one_property() -> None:
    cases = range(40)
    schema = {
        "properties": {"kind": {"type": "string"}, **{f"p{case}": {} for case in cases}},
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": f"k{case}"}}, "required": ["kind"]},
                "then": {"required": [f"p{case}"]},
                "else": {"not": {"required": [f"p{case}"]}},
            }
            for case in cases
        ],
    }
    documents = [
        {"kind": f"k{case}", **{f"p{other}": 1 for other in others}}
        for case in cases
        for others in ([case], [], [(case + 1) % 40], sorted({case, (case + 1) % 40}))
    ]
    documents += [{}, {"kind": "none"}, {"kind": "none", "p3": 1}, {"p3": 1}]
    assert check(schema, documents, COMPACT) == 40 + 2


def test_counts_and_conditions() -> None:
    for bounds in (
        {"minProperties": 3},
        {"maxProperties": 3},
        {"minProperties": 2, "maxProperties": 4},
    ):
        for closed in ({}, {"additionalProperties": False}):
            schema = {
                "properties": {name: {} for name in "abcdef"},
                "allOf": [
                    {"oneOf": [{"required": [name]} for name in "abc"]},
                    {"anyOf": [{"required": [name]} for name in "def"]},
                    {"dependentRequired": {"a": ["d"], "b": ["e"], "c": ["f"]}},
                    {"dependentRequired": {"d": ["f"]}},
                ],
                **bounds,
                **closed,
            }
            documents = [dict.fromkeys(some, 1) for some in some_of("abcdef", 6)]
            documents += [{**document, "z": 1} for document in documents]
            assert check(schema, documents, COMPACT) > 0


def test_a_limit_is_named() -> None:
    # Which of the first ones there are has to be remembered for the last.
    first, last = ([f"{kind}{number}" for number in range(12)] for kind in "ab")
    schema = {
        "properties": {name: {} for name in [*first, *last, "end"]},
        "allOf": [
            {"anyOf": [{"required": [one, other]}, {"not": {"required": [one, "end"]}}]}
            for one, other in zip(first, last, strict=True)
        ],
    }
    with pytest.raises(earmark.LimitError, match="condition_steps"):
        earmark.Grammar.from_json_schema(schema, limits={"condition_steps": 1000})
    assert earmark.Grammar.from_json_schema(schema).ignored_keywords == []


@pytest.mark.parametrize("options", [COMPACT, {**COMPACT, "property_order": "any"}])
def test_unique_arrays_and_objects(options: dict[str, Any]) -> None:
    flag = {"type": "boolean"}
    point = {
        "type": "object",
        "properties": {"x": flag, "y": {"enum": [1, 1.0, "1"]}},
        "required": ["x"],
        "additionalProperties": False,
    }
    pair = {"type": "array", "items": flag, "minItems": 1, "maxItems": 2}
    for items, values in (
        ({"enum": [[1], [2], {"a": 1}]}, [[1], [2], {"a": 1}, [3], {}]),
        (point, [{"x": x, **y} for x in (True, False) for y in ({}, {"y": 1}, {"y": "1"})]),
        (pair, [[True], [False], [True, True], [True, False], []]),
        ({"anyOf": [flag, {"const": [[True]]}]}, [True, False, [[True]], [[False]]]),
    ):
        schema = {"type": "array", "items": items, "uniqueItems": True}
        arrays = [
            list(some) for count in range(4) for some in itertools.product(values, repeat=count)
        ]
        assert check(schema, arrays, options) > len(values)


def test_unique_items_are_compared_as_values() -> None:
    schema = json.dumps(
        {
            "uniqueItems": True,
            "type": "array",
            "items": {"enum": [{"a": 1, "b": [2]}, {"b": [2], "a": 1}, [1]]},
        }
    )
    language = build(schema, COMPACT)
    for array, expected in (
        ('[{"a":1,"b":[2]},[1]]', True),
        ('[{"b":[2],"a":1},[1]]', True),
        ('[{"a":1,"b":[2]},{"b":[2],"a":1}]', False),
        ('[{"a":1,"b":[2]},{"a":1.0,"b":[2.0]}]', False),
        ("[[1],[1.0]]", False),
        ("[[1.0]]", True),
    ):
        assert language.accepts(array.encode()) == expected, array


def test_unique_items_without_end_are_refused() -> None:
    for items in (
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "boolean"}}},
        {"type": "array", "items": {"type": "boolean"}},
        {"$ref": "#/$defs/tree"},
        {
            "type": "object",
            "patternProperties": {"^x": {"const": 1}},
            "additionalProperties": False,
        },
    ):
        tree = {
            "type": "object",
            "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}},
            "additionalProperties": False,
        }
        schema = {"$defs": {"tree": tree}, "type": "array", "items": items, "uniqueItems": True}
        with pytest.raises(earmark.GrammarError, match="items differ"):
            earmark.Grammar.from_json_schema(schema)
