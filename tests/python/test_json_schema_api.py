"""JSON Schema from Python: what a schema may come as, its options, reports and identity."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import subprocess
import sys
import time
from collections import ChainMap, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

import pytest
from typing_extensions import TypedDict

import earmark
import shared
from earmark import Grammar, GrammarError, IgnoredKeyword, LimitError, SchemaKeyword
from earmark.reports import canonical_json

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "n": {"enum": [1, 2.5, None]}},
    "required": ["name"],
}


def takes(grammar: Grammar, *texts: str) -> list[bool]:
    return [shared.is_text(grammar, text.encode()) for text in texts]


def source(schema: Any) -> Any:
    return json.loads(Grammar.from_json_schema({"const": schema}).source)["const"]


# What a schema may come as


class Row(Mapping[str, Any]):
    def __init__(self, **items: Any) -> None:
        self.items_ = items

    def __getitem__(self, name: str) -> Any:
        return self.items_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "boolean"}},
        '{"type": "array", "items": {"type": "boolean"}}',
        OrderedDict(type="array", items={"type": "boolean"}),
        MappingProxyType({"type": "array", "items": MappingProxyType({"type": "boolean"})}),
        ChainMap({"type": "array"}, {"items": Row(type="boolean")}),
        Row(type="array", items=Row(type="boolean")),
    ],
    ids=lambda schema: type(schema).__name__,
)
def test_texts_dicts_and_mappings(schema: Any) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert takes(grammar, "[]", "[true]", "[1]", "{}") == [True, True, False, False]


def test_true_and_false_are_schemas() -> None:
    assert takes(Grammar.from_json_schema(True), "[null, {}]", "nope") == [True, False]
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema(False)
    assert caught.value.kind == "empty"


class Letter(enum.StrEnum):
    A = 'a"\\\n\x01\x7fé😀'


class Number(enum.IntEnum):
    BIG = 2**70
    SMALL = -3


class Loud(float):
    def __repr__(self) -> str:
        return "LOUD"


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [[], {}, [{}]],
        {"": {"a/b~c": [1, 2]}, '"': "\\"},
        [True, False, None],
        [0, -1, 2**63 - 1, -(2**63), 2**63, 10**900, -(10**900)],
        [0.0, -0.0, 0.1, 1e16, 1.5e300, 5e-324, 1e-7, 123456789.125],
        [Letter.A, {Letter.A: Number.BIG}, Number.SMALL, Loud(2.5)],
        ['\x00\x1f\x7f\t\b\f\r\n"\\/é\u2028😀'],
        (1, (2, [3])),
    ],
)
def test_the_text_of_a_dict_is_the_json_of_it(value: Any) -> None:
    text = Grammar.from_json_schema({"default": value}).source
    assert json.loads(text) == {"default": json.loads(json.dumps(value))}
    assert list(json.loads(text)) == ["default"]


def test_properties_stay_in_their_order() -> None:
    schema = {"properties": dict.fromkeys("zya", True), "type": "object"}
    assert list(json.loads(Grammar.from_json_schema(schema).source)["properties"]) == [*"zya"]


def itself() -> dict[str, Any]:
    schema: dict[str, Any] = {"items": {"anyOf": [True]}}
    schema["items"]["anyOf"].append(schema)
    return schema


@pytest.mark.parametrize(
    ("schema", "kind", "place"),
    [
        ({"a": {"b": [1, float("nan")]}}, GrammarError, "/a/b/1"),
        ({"a~/": float("-inf")}, GrammarError, "/a~0~1"),
        ({"a": "\ud800"}, GrammarError, "/a"),
        ({"a": {1: 2}}, TypeError, "/a"),
        ({None: 2}, TypeError, ""),
        ({"a": [{1, 2}]}, TypeError, "/a/0"),
        ({"a": b"bytes"}, TypeError, "/a"),
        ({"a": object()}, TypeError, "/a"),
        ({"a": int}, TypeError, "/a"),
        (itself(), GrammarError, "/items/anyOf/1"),
    ],
)
def test_what_is_no_json_is_told_by_its_place(
    schema: Any, kind: type[Exception], place: str
) -> None:
    with pytest.raises(kind) as caught:
        Grammar.from_json_schema(schema)
    assert f'at "{place}"' in str(caught.value)
    assert getattr(caught.value, "pointer", place) == place


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def shared_parts(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"l": value, "r": value}
    return value


@pytest.mark.parametrize("make", [lambda: nested(200_000), lambda: shared_parts(60)])
def test_what_is_too_large_is_refused_in_time(make: Callable[[], Any]) -> None:
    schema = {"default": make()}
    start = time.perf_counter()
    with pytest.raises(LimitError):
        Grammar.from_json_schema(schema)
    assert time.perf_counter() - start < 10


class Shifty(Mapping[str, Any]):
    """Changes the dict that it is in while that is read."""

    def __init__(self, home: dict[str, Any]) -> None:
        self.home = home

    def __getitem__(self, name: str) -> Any:
        return name

    def __iter__(self) -> Iterator[str]:
        self.home[f"more{len(self.home)}"] = 1
        return iter(())

    def __len__(self) -> int:
        return 0


def test_a_dict_that_changes_meanwhile() -> None:
    schema: dict[str, Any] = {}
    schema |= {"a": 1, "default": Shifty(schema), "b": 2}
    with pytest.raises(GrammarError, match="changed while it was read"):
        Grammar.from_json_schema(schema)


class Unwilling(Row):
    def __iter__(self) -> Iterator[str]:
        raise KeyError("no")


def test_errors_of_mappings_are_theirs() -> None:
    with pytest.raises(KeyError, match="no"):
        Grammar.from_json_schema({"default": Unwilling()})


# Types


class Person(TypedDict):
    name: str
    age: int


@dataclass
class Point:
    x: int
    y: int = 0


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


def pydantic_annotated() -> Any:
    pydantic = pytest.importorskip("pydantic")
    return Annotated[int, pydantic.Field(ge=3, lt=10)]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (int, "1", '"x"'),
        (list[int], "[1, 2]", "[null]"),
        (dict[str, bool], '{"a": true}', '{"a": 3}'),
        (int | None, "null", '"x"'),
        (Literal["a", 1], "1", "2"),
        (tuple[int, str], '[1, "x"]', "[1]"),
        (Person, '{"name": "x", "age": 1}', '{"name": "x"}'),
        (Point, '{"x": 1}', '{"y": 1}'),
        (Color, '"red"', '"RED"'),
        (Annotated[int, "note"], "5", "null"),
        (pydantic_annotated, "9", "10"),
    ],
    ids=str,
)
def test_types(kind: Any, good: str, bad: str) -> None:
    pydantic = pytest.importorskip("pydantic")
    if kind is pydantic_annotated:
        kind = kind()
    adapter = pydantic.TypeAdapter(kind)
    adapter.validate_json(good)
    for schema in (kind, adapter):
        assert takes(Grammar.from_json_schema(schema), good, bad) == [True, False]
    with pytest.raises(pydantic.ValidationError):
        adapter.validate_json(bad)


def test_pydantic_models_by_the_names_they_read() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        model_config = pydantic.ConfigDict(extra="forbid")
        kind: Literal["inner"]
        tags: set[Literal["a", "b", 3]] = pydantic.Field(default_factory=set)

    class Model(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        model_config = pydantic.ConfigDict(extra="forbid")
        name: str = pydantic.Field(
            validation_alias="Name", serialization_alias="NAME", pattern="^[a-z]+$"
        )
        inner: list[Inner] = pydantic.Field(min_length=1)
        parent: Model | None = None

    Model.model_rebuild(_types_namespace={"Model": Model, "Inner": Inner})
    grammar = Grammar.from_json_schema(Model)
    text = '{"Name": "abc", "inner": [{"kind": "inner", "tags": [3, "a"]}], "parent": null}'
    Model.model_validate_json(text)
    assert takes(
        grammar,
        text,
        text.replace("null", text),
        text.replace("Name", "NAME"),
        text.replace('[3, "a"]', "[3, 3]"),
        text.replace("abc", "ABC"),
    ) == [True, True, False, False, False]
    with pytest.raises(TypeError, match="give the class itself"):
        Grammar.from_json_schema(Model.model_validate_json(text))


@pytest.mark.parametrize("schema", [None, 5, 1.5, [1], (), b"{}", {1}, object()], ids=str)
def test_what_is_no_schema(schema: Any) -> None:
    for make in (Grammar.from_json_schema, Grammar.schema_report):
        with pytest.raises(TypeError, match="a schema is JSON text, a dict, a bool or a type"):
            make(schema)


def test_types_without_a_schema() -> None:
    pytest.importorskip("pydantic")
    with pytest.raises(TypeError, match="pydantic has no JSON Schema for"):
        Grammar.from_json_schema(Callable[[int], int])


def test_pydantic_is_imported_for_types_only() -> None:
    code = """
import sys
sys.modules["pydantic"] = None
import earmark
earmark.Grammar.from_json_schema({"type": "integer"})
try:
    earmark.Grammar.from_json_schema(list[int])
except ImportError as error:
    assert "pip install 'pydantic>=2'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Options


def test_white_space() -> None:
    spellings = {
        "compact": '{"a":[1,2],"b":{}}',
        "python": '{"a": [1, 2], "b": {}}',
        "lines": json.dumps({"a": [1, 2], "b": {}}, indent=2),
        "deep": json.dumps({"a": [1, 2], "b": {}}, indent=4),
        "before": '{"a" : [1, 2], "b": {}}',
        "around": ' {"a": [1, 2], "b": {}}\n',
    }
    taken: list[tuple[dict[str, Any], str]] = [
        ({}, "compact python lines deep"),
        ({"whitespace": "flexible"}, "compact python lines deep"),
        ({"whitespace": "compact"}, "compact"),
        ({"whitespace": "any"}, "compact python lines deep before around"),
        ({"separators": (",", ":")}, "compact"),
        ({"separators": (", ", ": ")}, "python"),
        ({"separators": [", ", " : "]}, ""),
        ({"separators": None, "indent": None}, "compact python lines deep"),
        ({"indent": 2}, "lines"),
        ({"indent": 4}, "deep"),
        ({"indent": 4, "separators": (",", ": ")}, "deep"),
    ]
    for options, names in taken:
        grammar = Grammar.from_json_schema({"type": "object"}, **options)
        found = [name for name, text in spellings.items() if takes(grammar, text) == [True]]
        assert found == names.split(), options


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"indent": 0},
        {"indent": 1},
        {"indent": 3, "separators": (" ,", ":")},
        {"separators": (",", " : ")},
    ],
    ids=str,
)
def test_fixed_white_space_is_as_json_dumps_has_it(options: dict[str, Any]) -> None:
    values: list[Any] = [[], {}, [[]], [{}, 1], {"a": [], "b": {"c": [1, [2, {"d": None}]]}}]
    named = options or {"separators": (", ", ": ")}
    grammar = Grammar.from_json_schema(True, **named)
    for value in values:
        assert takes(grammar, json.dumps(value, **options)) == [True], value


def test_property_order() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "required": ["c", "a"]}
    texts = ['{"a":1,"b":1,"c":1}', '{"c":1,"a":1,"b":1}', '{"b":1}']
    assert takes(Grammar.from_json_schema(schema), *texts) == [True, False, False]
    grammar = Grammar.from_json_schema(schema, property_order="any")
    assert takes(grammar, *texts) == [True, True, False]


@pytest.mark.parametrize(
    ("schema", "option", "value", "text"),
    [
        ({"properties": {"a": {}}}, "additional_properties", False, '{"b": 1}'),
        ({"type": "integer"}, "integer_fractions", False, "1.0"),
        ({"type": "integer"}, "max_number_digits", 3, "1234"),
        ({"format": "date"}, "formats", True, '"2024-02-30"'),
        ({"type": "string"}, "escapes", "minimal", r'"\u0041"'),
    ],
)
def test_options_narrow(schema: Any, option: str, value: Any, text: str) -> None:
    others = {"escapes": "all", "formats": False}
    assert takes(Grammar.from_json_schema(schema, **others), text) == [True]
    assert takes(Grammar.from_json_schema(schema, **(others | {option: value})), text) == [False]


NAMES_A: dict[str, Any] = {"properties": {"a": True}}
NEEDS_A, NEEDS_B = {"required": ["a"]}, {"required": ["b"]}
BASE = {"$ref": "#/$defs/base"}
TWO_CLOSED = {
    "$defs": {"base": NAMES_A},
    "minProperties": 1,
    "anyOf": [BASE, {"allOf": [BASE], "properties": {"b": True}}],
}
NAMES = ["", "a", "b", "z", "ab", "az", "bz", "abz"]
OBJECTS = [json.dumps(dict.fromkeys(names, 1)) for names in NAMES]


@pytest.mark.parametrize(
    "schema",
    [
        {"dependentRequired": {"a": ["b"]}},
        {"dependentSchemas": {"a": NEEDS_B}},
        {"if": NEEDS_A, "then": NEEDS_B},
        {"if": {"properties": {"a": {"const": 1}}}, "then": NEEDS_B},
        {"not": NEEDS_A},
        {"not": {"required": ["a", "b"]}},
        {"not": {"anyOf": [NEEDS_A, NEEDS_B]}},
        {"oneOf": [NEEDS_A, NEEDS_B]},
        {**NEEDS_A, "oneOf": [NEEDS_B, {"not": NEEDS_B}]},
        {"not": {"properties": {"a": {"type": "string"}}}},
        {"not": {"not": NAMES_A}},
        {"not": {**NAMES_A, "unevaluatedProperties": False}},
        {"not": {"oneOf": [NAMES_A, {"properties": {"b": True}}]}},
        {"not": {"enum": [{"a": 1}, {"b": 1, "z": 1}]}},
    ],
)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_only_properties_close_objects(schema: Any, order: Any) -> None:
    open_, closed = (
        Grammar.from_json_schema(schema, additional_properties=value, property_order=order)
        for value in (True, False)
    )
    assert takes(closed, *OBJECTS) == takes(open_, *OBJECTS)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (NAMES_A, ["", "a"]),
        (NAMES_A | NEEDS_B, ["b", "ab"]),
        (NAMES_A | {"allOf": [NEEDS_B]}, ["b", "ab"]),
        (NAMES_A | {"not": NEEDS_B}, ["", "a"]),
        (NAMES_A | {"dependentRequired": {"a": ["b"]}}, ["", "ab"]),
        (NAMES_A | {"if": NEEDS_A, "then": {"properties": {"b": True}}}, ["", "a", "ab"]),
        ({"allOf": [NAMES_A, {"properties": {"b": True}}]}, ["", "a", "b", "ab"]),
        (TWO_CLOSED, ["a", "b", "ab"]),
        ({"dependentSchemas": {"b": NAMES_A}}, ["", "a", "b", "z", "ab", "az"]),
        ({"oneOf": [{"properties": {"a": False}}, NEEDS_A]}, ["", "a", "ab", "az", "abz"]),
    ],
)
def test_properties_close_objects(schema: Any, expected: list[str]) -> None:
    grammar = Grammar.from_json_schema(schema, additional_properties=False, property_order="any")
    taken = zip(NAMES, takes(grammar, *OBJECTS), strict=True)
    assert [names for names, is_taken in taken if is_taken] == expected


def test_digits_without_a_bound() -> None:
    text = "1" * 1000
    assert takes(Grammar.from_json_schema({"type": "integer"}), text[:40], text[:41]) == [
        True,
        False,
    ]
    unbounded = Grammar.from_json_schema({"type": "integer"}, max_number_digits=None)
    assert takes(unbounded, text) == [True]


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"exclusiveMinimum": 5e-324}, "5e-323 1e-9 1", "5e-324 0 0.0 -1"),
        ({"minimum": 2.2250738585072014e-308}, "2.2250738585072014e-308 1", "2.2e-308 0"),
        ({"maximum": 5e-324}, "5e-324 0 0.0 -3", "6e-324 0.1"),
        ({"minimum": -1e-300, "maximum": 1e-300}, "0 1e-300 -1e-300 1e-301", "1e-299 -1"),
        ({"type": "integer", "minimum": 1e250}, f"1e250 1{'0' * 250}", "9" * 250),
        ({"not": {"maximum": 1e300}}, f"1.5e300 1{'0' * 299}1", "1e300 5"),
    ],
)
def test_bounds_of_any_size(schema: dict[str, Any], valid: str, invalid: str) -> None:
    grammar = Grammar.from_json_schema({"type": "number"} | schema)
    assert takes(grammar, *valid.split()) == [True] * len(valid.split())
    assert takes(grammar, *invalid.split()) == [False] * len(invalid.split())


def test_resources() -> None:
    resources = {
        "https://example.org/int": {"type": "integer"},
        "https://example.org/text": '{"$ref": "int"}',
        "https://example.org/any": True,
    }
    schema = {"prefixItems": [{"$ref": uri} for uri in resources], "type": "array"}
    grammar = Grammar.from_json_schema(schema, resources=resources)
    assert takes(grammar, '[1, 2, "x"]', '[1, "x"]') == [True, False]
    assert takes(Grammar.from_json_schema(schema, resources=Row(**resources)), "[1]") == [True]
    with pytest.raises(GrammarError, match=r"example\.org/int"):
        Grammar.from_json_schema(schema)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"whitespace": "none"}, ValueError, '"flexible" or "compact" or "any", not \'none\''),
        ({"whitespace": None}, TypeError, '"flexible"'),
        ({"property_order": "alphabetical"}, ValueError, '"schema" or "any"'),
        ({"escapes": True}, TypeError, '"minimal" or "all", not True'),
        ({"unsupported": "warn"}, ValueError, '"reject" or "ignore"'),
        ({"separators": ","}, TypeError, "two str"),
        ({"separators": ",:"}, TypeError, "two str"),
        ({"separators": (",", ":", ".")}, ValueError, "separators are two"),
        ({"separators": (",",)}, ValueError, "separators are two"),
        ({"separators": (",", 1)}, TypeError, "two str"),
        ({"separators": (";", ":")}, ValueError, '","'),
        ({"separators": (",", "\u00a0:")}, ValueError, "white space"),
        ({"indent": -1}, ValueError, "0 to 64"),
        ({"indent": 65}, ValueError, "0 to 64"),
        ({"indent": 2**100}, ValueError, "0 to 64"),
        ({"indent": "\t"}, TypeError, "an int"),
        ({"indent": True}, TypeError, "an int"),
        ({"whitespace": "any", "indent": 2}, ValueError, "leave whitespace out"),
        ({"whitespace": "compact", "separators": (",", ":")}, ValueError, "leave whitespace out"),
        ({"whitespace": "flexible", "separators": (",", ":")}, ValueError, "leave whitespace out"),
        ({"whitespace": "flexible", "indent": 2}, ValueError, "leave whitespace out"),
        ({"max_number_digits": 0}, ValueError, "1 to"),
        ({"max_number_digits": 2**32}, ValueError, "1 to"),
        ({"max_number_digits": "3"}, TypeError, "an int"),
        ({"additional_properties": None}, TypeError, "True or False"),
        ({"integer_fractions": 1}, TypeError, "True or False"),
        ({"formats": "assert"}, TypeError, "True or False"),
        ({"resources": ["a"]}, TypeError, "map URIs to schemas"),
        ({"resources": {1: {}}}, TypeError, "a str"),
        ({"resources": {"https://example.org/": 1}}, TypeError, "a schema is"),
        ({"white_space": "any"}, TypeError, "did you mean whitespace"),
        ({"strict": True}, TypeError, "there are whitespace, "),
    ],
    ids=str,
)
def test_options_that_there_are_not(
    options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    for make in (Grammar.from_json_schema, Grammar.schema_report):
        with pytest.raises(kind) as caught:
            make({}, **options)
        assert type(caught.value) is kind
        assert message in str(caught.value)


def test_options_go_by_name() -> None:
    with pytest.raises(TypeError):
        Grammar.from_json_schema({}, "compact")  # type: ignore[misc]


# What can't be enforced

HARD = {
    "title": "t",
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "(a)\\1"}},
    "x-note": [1],
}


def test_what_can_not_be_enforced_is_refused() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema(HARD)
    assert caught.value.kind == "unsupported"
    assert caught.value.pointer == "/properties/a/pattern"
    assert pickle.loads(pickle.dumps(caught.value)).pointer == "/properties/a/pattern"


def test_what_can_not_be_enforced_is_ignored_and_listed() -> None:
    grammar = Grammar.from_json_schema(HARD, unsupported="ignore")
    (ignored,) = grammar.ignored_keywords
    assert isinstance(ignored, IgnoredKeyword)
    assert ignored[:2] == ("/properties/a/pattern", "pattern")
    assert ignored.reason
    assert takes(grammar, '{"a": "b"}', '{"a": 1}') == [True, False]
    assert grammar.ignored_keywords is not grammar.ignored_keywords
    for other in (Grammar.from_json_schema({}), Grammar.from_regex("a")):
        assert other.ignored_keywords == []


def test_report() -> None:
    report = Grammar.schema_report(HARD)
    statuses = {each.pointer: each.status for each in report}
    assert statuses["/title"] == "annotation"
    assert statuses["/type"] == "enforced"
    assert statuses["/properties/a/type"] == "enforced"
    assert statuses["/properties/a/pattern"] == "refused"
    assert statuses["/x-note"] == "annotation"
    assert all(isinstance(each, SchemaKeyword) for each in report)
    assert [each.keyword for each in report.refused] == ["pattern"]
    assert report.ignored == []
    assert {each.keyword for each in report.annotations} == {"title", "x-note"}
    assert set(report.keywords) == {
        *report.enforced,
        *report.annotations,
        *report.refused,
        *report.ignored,
    }
    assert all(each.reason for each in report.refused)
    assert not any(each.reason for each in report.enforced)
    assert report == Grammar.schema_report(json.dumps(HARD))
    assert "1 refused" in repr(report)
    assert "'/properties/a/pattern'" in repr(report)
    assert len(str(report).splitlines()) == len(report.keywords)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(report)


def test_report_of_what_is_ignored() -> None:
    report = Grammar.schema_report(HARD, unsupported="ignore")
    assert [each.pointer for each in report.ignored] == ["/properties/a/pattern"]
    assert report.refused == []
    assert str(Grammar.schema_report(True)) == "no keywords"


def test_report_of_formats() -> None:
    schema = {"format": "date"}
    assert Grammar.schema_report(schema).enforced
    assert Grammar.schema_report(schema, formats=False).annotations


def test_malformed_schemas_have_no_report() -> None:
    for make in (Grammar.schema_report, Grammar.from_json_schema):
        with pytest.raises(GrammarError) as caught:
            make('{"type": "object",}')
        assert (caught.value.line, caught.value.column) == (1, 18)
        with pytest.raises(GrammarError) as caught:
            make({"properties": {"a/b": {"type": "nothing"}}})
        assert caught.value.pointer == "/properties/a~1b/type"


def test_other_errors_have_no_pointer() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_regex("(")
    assert caught.value.pointer is None


def test_contradictions_are_told() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema({"type": "integer", "minimum": 3, "maximum": 2})
    assert caught.value.kind == "empty"
    assert caught.value.pointer is not None


# Identity


def test_a_grammar_tells_what_it_was_made_of() -> None:
    grammar = Grammar.from_json_schema(SCHEMA)
    assert grammar.kind == "json_schema"
    assert json.loads(grammar.source) == SCHEMA
    text = json.dumps(SCHEMA, indent=2)
    assert Grammar.from_json_schema(text).source == text


OPTIONS: list[dict[str, Any]] = [
    {},
    {"whitespace": "any"},
    {"whitespace": "compact"},
    {"separators": (", ", ": ")},
    {"indent": 2},
    {"indent": 2, "separators": (", ", ":")},
    {"property_order": "any", "additional_properties": False, "escapes": "all"},
    {"max_number_digits": None, "integer_fractions": False, "formats": False},
    {"unsupported": "ignore", "resources": {"https://example.org/": {"type": "integer"}}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_info_makes_it_again(options: dict[str, Any]) -> None:
    grammar = Grammar.from_json_schema(SCHEMA, **options)
    info = grammar.info
    assert (info.kind, info.engine_version) == ("json_schema", earmark.__version__)
    again = Grammar.from_json_schema(grammar.source, **info.options)
    pickled = pickle.loads(pickle.dumps(grammar))
    for other in (again, pickled, copy.deepcopy(grammar)):
        assert other.info == info
        assert str(other) == str(grammar)
        assert repr(other) == repr(grammar)


def test_digests_tell_grammars_apart() -> None:
    digests = {Grammar.from_json_schema(SCHEMA, **options).info.digest for options in OPTIONS}
    assert len(digests) == len(OPTIONS)
    assert all(len(digest) == 64 for digest in digests)
    others = [
        Grammar.from_regex("a"),
        Grammar.from_gbnf('root ::= "a"'),
        Grammar.from_gbnf('root ::= "a"\nx ::= "a"'),
        Grammar.from_gbnf('root ::= "a"\nx ::= "a"', root="x"),
        Grammar.from_lark('start: "a"'),
    ]
    assert len({grammar.info.digest for grammar in others}) == len(others)
    assert others[0].info.options == {}
    assert others[3].info.options == {"root": "x"}
    assert others[4].info.options == {"start": "start"}


def test_spelling_does_not_change_the_digest() -> None:
    schema = {"enum": ["é 😀 \n /", " a  b ", 'say "\\"']}
    texts = [
        json.dumps(schema, **options)
        for options in ({}, {"indent": 3}, {"ensure_ascii": False}, {"separators": (",", ":")})
    ]
    grammars = [Grammar.from_json_schema(each) for each in (schema, *texts)]
    assert len({grammar.info.digest for grammar in grammars}) == 1
    assert json.loads(canonical_json(texts[1])) == schema
    other = Grammar.from_json_schema(texts[0].replace("a  b", "a b"))
    assert other.info.digest != grammars[0].info.digest
    compact = [{"whitespace": "compact"}, {"separators": (",", ":")}]
    first, second = (Grammar.from_json_schema(schema, **options) for options in compact)
    assert first.info == second.info


def test_repr_is_how_to_make_it() -> None:
    shown = repr(Grammar.from_json_schema({"type": "integer"}))
    assert shown == """Grammar.from_json_schema('{"type":"integer"}')"""
    shown = repr(Grammar.from_json_schema(True, indent=2, formats=False))
    assert shown == (
        "Grammar.from_json_schema('true', separators=(',', ': '), indent=2, formats=False)"
    )
