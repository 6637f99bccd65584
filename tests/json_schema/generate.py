"""Random schemas, and documents that are nearly valid under them.

Few names, short strings and small numbers, so that keywords meet. Numbers are `int` and `Decimal`.
Documents are made from the schema, as well as may be, and then changed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

NAMES = ["a", "b", "ab", "c", "x1", "é", ""]
PATTERNS = {
    "^a": ["a", "ab", "aé", "a1"],
    "b$": ["b", "ab", "1b"],
    "^[ab]*$": ["", "a", "abba", "b"],
    "^(ab|c)+$": ["ab", "c", "abc", "cabab"],
    "[0-9]": ["1", "a2", "30b"],
    "^[a-c]{1,3}$": ["a", "abc", "cb"],
    "^\\d+$": ["1", "20", "007"],
    "^$": [""],
    "^.$": ["a", "é", "😀", '"', "\\"],
    "é": ["é", "aéb"],
    "^[^a]": ["b", "é1", " a", '"'],
    "a|^c": ["a", "ca", "ba"],
    "^x\\w*$": ["x", "x1", "x_a"],
    "^\\s*$": ["", " ", "\n\t"],
    "^a?b?c?$": ["", "a", "ac", "abc"],
    '["\\\\/]': ['"', "\\", "a/b"],
    "(a|b){2}c*$": ["ab", "bacc", "xaa"],
    "^(?!ab)": ["a", "ba", "é"],
    "^(?:(?!b).)*$": ["a", "ac", ""],
    "^[a-z]+-[0-9]{2}$": ["a-12", "abc-00"],
    "^\\u00e9|[\\u{1F600}-\\u{1F64F}]$": ["é", "éa", "😀", "a😀"],
}
"""Patterns that mean one thing in ECMA-262 and, through `patterns`, in Python; with texts."""

STRINGS = ["", "a", "b", "ab", "abc", "c", "é", "😀", "x1", "1", '"', "a\\", "/", "\n", "aaaa", " "]
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    10,
    12,
    100,
    -7,
    -20,
    *map(Decimal, "0.5 1.5 -0.5 0.1 2.25".split()),
]
STEPS: list[int | Decimal] = [1, 2, 3, 5, 7, 10, *map(Decimal, "0.5 0.1 0.01 2.5 1.5 0.3".split())]
OTHERS: list[Any] = [None, True, False, 0, "", "a", [], {}, [1], {"a": 1}, Decimal("1.5")]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


class Schemas:
    """Random schemas from a source of random numbers."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.defs: dict[str, Any] = {}
        self.recursive = random.random() < 0.25

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def root(self) -> Any:
        schema = self.schema(self.random.choice([1, 2, 2, 3]))
        if self.defs and isinstance(schema, dict):
            # Those made while these are made are theirs too.
            for name in list(self.defs):
                self.defs[name] = self.schema(2)
            return {**schema, "$defs": self.defs}
        return schema

    def schema(self, depth: int) -> Any:
        if self.chance(0.03):
            return self.random.choice([True, False, {}])
        kinds = [self.string, self.number, self.values, self.typed]
        if depth > 0:
            kinds += [self.object, self.object, self.object, self.array, self.array]
            kinds += [self.combination, self.combination, self.reference]
        return self.random.choice(kinds)(depth - 1)

    def typed(self, depth: int) -> Any:  # noqa: ARG002
        if self.chance(0.6):
            return {"type": self.random.choice(TYPES)}
        return {"type": self.random.sample(TYPES, self.random.randint(1, 3))}

    def values(self, depth: int) -> Any:  # noqa: ARG002
        pool = [*OTHERS, *NUMBERS[:8], *STRINGS, ["a", "b"], {"b": "a"}, {"a": 1, "b": [2]}]
        if self.chance(0.4):
            return {"const": self.random.choice(pool)}
        return {"enum": self.distinct(self.random.sample(pool, self.random.randint(1, 5)))}

    def distinct(self, values: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for value in values:
            if not any(repr(value) == repr(other) for other in kept):
                kept.append(value)
        return kept

    def string(self, depth: int) -> Any:  # noqa: ARG002
        schema: dict[str, Any] = {"type": "string"} if self.chance(0.8) else {}
        if self.chance(0.4):
            schema["minLength"] = self.random.randint(0, 3)
        if self.chance(0.4):
            schema["maxLength"] = self.random.randint(schema.get("minLength", 0), 6)
        if self.chance(0.5):
            schema["pattern"] = self.random.choice(list(PATTERNS))
        return schema

    def number(self, depth: int) -> Any:  # noqa: ARG002
        schema: dict[str, Any] = {}
        if self.chance(0.8):
            schema["type"] = self.random.choice(["integer", "number"])
        low = self.random.choice(NUMBERS)
        if self.chance(0.5):
            schema[self.random.choice(["minimum", "minimum", "exclusiveMinimum"])] = low
        if self.chance(0.4):
            high = low + abs(self.random.choice(NUMBERS))
            schema[self.random.choice(["maximum", "maximum", "exclusiveMaximum"])] = high
        if self.chance(0.3):
            schema["multipleOf"] = self.random.choice(STEPS)
        return schema

    def object(self, depth: int) -> Any:
        schema: dict[str, Any] = {"type": "object"} if self.chance(0.8) else {}
        if self.chance(0.8):
            names = self.random.sample(NAMES, self.random.randint(1, 4))
            schema["properties"] = {name: self.schema(depth) for name in names}
        if self.chance(0.5):
            pool = [*schema.get("properties", []), self.random.choice(NAMES)]
            count = self.random.randint(1, min(2, len(pool)))
            schema["required"] = self.distinct(self.random.sample(pool, count))
        if self.chance(0.25):
            patterns = self.random.sample(list(PATTERNS), self.random.randint(1, 2))
            schema["patternProperties"] = {pattern: self.schema(depth) for pattern in patterns}
        if self.chance(0.4):
            more = self.random.choice([False, False, True, None])
            schema["additionalProperties"] = self.schema(depth) if more is None else more
        if self.chance(0.1):
            schema["propertyNames"] = self.random.choice([self.string, self.values])(0)
        if self.chance(0.15):
            schema["minProperties"] = self.random.randint(0, 3)
        if self.chance(0.15):
            schema["maxProperties"] = self.random.randint(schema.get("minProperties", 0), 4)
        if self.chance(0.1):
            one, *others = self.random.sample(NAMES, self.random.randint(2, 3))
            schema["dependentRequired"] = {one: others}
        if self.chance(0.08):
            schema["dependentSchemas"] = {self.random.choice(NAMES): self.schema(depth)}
        if self.chance(0.08):
            schema["unevaluatedProperties"] = self.schema(0) if self.chance(0.3) else False
        return schema

    def array(self, depth: int) -> Any:
        schema: dict[str, Any] = {"type": "array"} if self.chance(0.8) else {}
        if self.chance(0.3):
            schema["prefixItems"] = [self.schema(depth) for _ in range(self.random.randint(1, 3))]
        if self.chance(0.6):
            schema["items"] = self.schema(depth)
        if self.chance(0.2):
            schema["contains"] = self.schema(0)
            if self.chance(0.4):
                schema["minContains"] = self.random.randint(0, 2)
            if self.chance(0.4):
                schema["maxContains"] = self.random.randint(schema.get("minContains", 1), 3)
        if self.chance(0.3):
            schema["minItems"] = self.random.randint(0, 3)
        if self.chance(0.3):
            schema["maxItems"] = self.random.randint(schema.get("minItems", 0), 4)
        if self.chance(0.12):
            schema["uniqueItems"] = True
        if self.chance(0.08):
            schema["unevaluatedItems"] = self.schema(0) if self.chance(0.3) else False
        return schema

    def combination(self, depth: int) -> Any:
        kind = self.random.choice(["allOf", "anyOf", "anyOf", "oneOf", "oneOf", "not", "if"])
        base = self.schema(depth) if self.chance(0.6) else {}
        schema: dict[str, Any] = dict(base) if isinstance(base, dict) else {}
        if kind == "not":
            # What would reject everything says little.
            schema["not"] = self.schema(min(depth, 1))
        elif kind == "if":
            schema["if"] = self.schema(min(depth, 1))
            for branch in ("then", "else"):
                if self.chance(0.7):
                    schema[branch] = self.schema(depth)
        else:
            schema[kind] = [self.schema(depth) for _ in range(self.random.randint(1, 3))]
        if kind != "not" and self.chance(0.08):
            schema["unevaluatedProperties"] = False
        if kind != "not" and self.chance(0.05):
            schema["unevaluatedItems"] = False
        return schema

    def reference(self, depth: int) -> Any:  # noqa: ARG002
        if not self.defs or self.chance(0.3):
            name = f"d{len(self.defs)}"
            if len(self.defs) < 3:
                self.defs[name] = self.schema(1) if not self.recursive else True
        name = self.random.choice(list(self.defs))
        sibling = self.schema(0) if self.chance(0.15) else {}
        return {**(sibling if isinstance(sibling, dict) else {}), "$ref": f"#/$defs/{name}"}


def _merged(one: Any, other: Any) -> dict[str, Any]:
    """A schema that has the keywords of both, for making documents; not their conjunction."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one if isinstance(one, dict) else other if isinstance(other, dict) else {}
    found = {**other, **one}
    for key in ("properties", "patternProperties"):
        if key in one and key in other:
            found[key] = {**other[key], **one[key]}
    if "required" in one and "required" in other:
        found["required"] = [*one["required"], *other["required"]]
    if "type" in one and "type" in other:
        both = [t for t in _list(one["type"]) if t in _list(other["type"])]
        found["type"] = both or one["type"]
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class Documents:
    """Random documents for a schema."""

    def __init__(self, schema: Any, random: Random) -> None:
        self.schema = schema
        self.random = random
        self.fuel = 0

    def document(self) -> Any:
        self.fuel = 40
        document = self.instance(self.schema)
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            document = self.changed(document)
        return document

    def instance(self, schema: Any) -> Any:
        self.fuel -= 1
        if self.fuel < 0 or not isinstance(schema, dict) or self.random.random() < 0.04:
            return self.anything()
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.instance(_merged(rest, self.schema["$defs"].get(name, {})))
        for key in ("allOf", "anyOf", "oneOf"):
            if key in schema:
                rest = {k: value for k, value in schema.items() if k != key}
                count = len(schema[key]) if key == "allOf" else 1
                for part in self.random.sample(schema[key], count):
                    rest = _merged(rest, part)
                return self.instance(rest)
        if "if" in schema:
            kept = ("if", "then", "else")
            rest = {key: value for key, value in schema.items() if key not in kept}
            if self.random.random() < 0.6:
                parts = [schema["if"], schema.get("then")]
            else:
                parts = [schema.get("else")]
            for part in parts:
                rest = _merged(rest, part)
            return self.instance(rest)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        return self.of_type(self.type_of(schema), schema)

    def type_of(self, schema: dict[str, Any]) -> str:
        if "type" in schema:
            return str(self.random.choice(_list(schema["type"]) or TYPES))
        hints = {
            "object": ("properties", "required", "patternProperties", "propertyNames",
                       "additionalProperties", "minProperties", "unevaluatedProperties",
                       "maxProperties", "dependentRequired", "dependentSchemas"),
            "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems",
                      "unevaluatedItems"),
            "string": ("minLength", "maxLength", "pattern"),
            "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
        }  # fmt: skip
        fitting = [kind for kind, keys in hints.items() if any(key in schema for key in keys)]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        return self.random.choice(TYPES)

    def of_type(self, kind: str, schema: dict[str, Any]) -> Any:
        if kind == "null":
            return None
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("integer", "number"):
            return self.number(kind, schema)
        if kind == "string":
            return self.string(schema)
        return self.array(schema) if kind == "array" else self.object(schema)

    def number(self, kind: str, schema: dict[str, Any]) -> int | Decimal:
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        near = [schema[key] for key in bounds if key in schema] or [self.random.choice(NUMBERS)]
        value: int | Decimal = self.random.choice(near)
        steps = [0, 1, -1, 2, *map(Decimal, "0.1 -0.1 0.5 0.01".split())]
        value = value + self.random.choice(steps)
        if "multipleOf" in schema and self.random.random() < 0.8:
            value = value // schema["multipleOf"] * schema["multipleOf"]
        if kind == "integer" and self.random.random() < 0.8:
            value = int(value)
        if isinstance(value, Decimal) and value == 0:
            return 0
        return value

    def string(self, schema: dict[str, Any]) -> str:
        if "pattern" in schema and self.random.random() < 0.85:
            text = self.random.choice(PATTERNS.get(schema["pattern"], STRINGS))
        elif self.random.random() < 0.5:
            text = self.random.choice(STRINGS)
        else:
            text = "".join(self.random.choices('abc1é😀"\\/ \n', k=self.random.randint(0, 5)))
        least, most = schema.get("minLength", 0), schema.get("maxLength", 9)
        if self.random.random() < 0.7:
            text = text[:most] if len(text) > most else text
            while len(text) < least:
                text += self.random.choice(text or "ab1")
        return text

    def name(self, schema: dict[str, Any]) -> str:
        pool = [*NAMES]
        for pattern in schema.get("patternProperties", {}):
            pool += PATTERNS.get(pattern, []) * 2
        if isinstance(schema.get("propertyNames"), dict):
            found = self.instance({"type": "string", **schema["propertyNames"]})
            pool += [found] * 4 if isinstance(found, str) else []
        return self.random.choice(pool)

    def object(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        chosen = [name for name in properties if self.random.random() < 0.6]
        chosen += [name for name in schema.get("required", []) if self.random.random() < 0.95]
        more = (
            0 if schema.get("additionalProperties") is False else self.random.choice([0, 0, 1, 2])
        )
        if "patternProperties" in schema and self.random.random() < 0.6:
            more += 1
        chosen += [self.name(schema) for _ in range(more)]
        while len(set(chosen)) < schema.get("minProperties", 0) and self.random.random() < 0.8:
            chosen.append(self.name(schema))
        for name, needed in schema.get("dependentRequired", {}).items():
            if name in chosen and self.random.random() < 0.8:
                chosen += needed
        chosen = list(dict.fromkeys(chosen))
        self.random.shuffle(chosen)
        if "maxProperties" in schema and self.random.random() < 0.7:
            chosen = chosen[: schema["maxProperties"]]
        found = {}
        for name in chosen:
            subschema = properties.get(name)
            if subschema is None:
                fitting = [
                    sub for pattern, sub in schema.get("patternProperties", {}).items()
                    if name in PATTERNS.get(pattern, [])
                ]  # fmt: skip
                subschema = fitting[0] if fitting else schema.get("additionalProperties", True)
            found[name] = self.instance(subschema)
        return found

    def array(self, schema: dict[str, Any]) -> list[Any]:
        prefix = schema.get("prefixItems", [])
        items = schema.get("items", True)
        count = self.random.choice([0, 1, 2, 2, 3, len(prefix)])
        if self.random.random() < 0.85:
            count = min(max(count, schema.get("minItems", 0)), schema.get("maxItems", 9))
        if items is False:
            count = min(count, len(prefix))
        found = [self.instance(prefix[at] if at < len(prefix) else items) for at in range(count)]
        if "contains" in schema and self.random.random() < 0.8:
            wanted = self.instance(schema["contains"])
            if found and self.random.random() < 0.6:
                found[self.random.randrange(len(found))] = wanted
            else:
                found.append(wanted)
        return found

    def anything(self, depth: int = 2) -> Any:
        kind = self.random.randrange(8 if depth else 5)
        if kind < 2:
            return self.random.choice(OTHERS)
        if kind == 2:
            return self.random.choice(NUMBERS)
        if kind < 5:
            return self.random.choice(STRINGS)
        if kind < 7:
            names = self.random.sample(NAMES, self.random.randint(0, 3))
            return {name: self.anything(depth - 1) for name in names}
        return [self.anything(depth - 1) for _ in range(self.random.randint(0, 3))]

    def changed(self, value: Any) -> Any:
        """The value with one thing in it changed."""
        if isinstance(value, dict) and value and self.random.random() < 0.7:
            name = self.random.choice(list(value))
            kind = self.random.randrange(5)
            if kind == 0:
                return {key: item for key, item in value.items() if key != name}
            if kind == 1:
                return {**value, self.random.choice(NAMES): self.anything(1)}
            return {**value, name: self.changed(value[name])}
        if isinstance(value, list) and value and self.random.random() < 0.7:
            at = self.random.randrange(len(value))
            kind = self.random.randrange(6)
            if kind == 0:
                return value[:at] + value[at + 1 :]
            if kind == 1:
                return [*value, self.random.choice(value)]
            if kind == 2:
                return [*value[:at], self.anything(1), *value[at:]]
            return [*value[:at], self.changed(value[at]), *value[at + 1 :]]
        if isinstance(value, str) and self.random.random() < 0.6:
            at = self.random.randint(0, len(value))
            letter = self.random.choice(["", *'abc1é"'])
            return value[:at] + letter + value[at + self.random.randint(0, 1) :]
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            if self.random.random() < 0.6:
                return value + self.random.choice([1, -1, 2, Decimal("0.5"), Decimal("0.1")])
            return -value if value else 1
        return self.anything(1)


_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")


def is_endless(schema: Any) -> bool:
    """Whether a reference leads back to itself without a step into the document."""
    defs = schema.get("$defs", {}) if isinstance(schema, dict) else {}

    def targets(schema: Any) -> set[str]:
        if not isinstance(schema, dict):
            return set()
        found = {schema["$ref"].rpartition("/")[2]} if "$ref" in schema else set()
        for key in _IN_PLACE:
            part = schema.get(key)
            if key == "dependentSchemas" and isinstance(part, dict):
                part = list(part.values())
            for each in part if isinstance(part, list) else [part]:
                found |= targets(each)
        return found

    reached = {name: targets(body) for name, body in defs.items()}
    for _ in defs:
        for name, found in reached.items():
            reached[name] = found.union(*(reached.get(other, set()) for other in found))
    return any(name in found for name, found in reached.items())
