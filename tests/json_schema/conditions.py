"""Schemas with many conditions on the same few properties, and all documents of these.

    python tests/json_schema/conditions.py --schemas 500
    python tests/json_schema/conditions.py --seed 17 --schemas 1    # one again

Each property of a schema is absent or one of a few values, so that all documents can be tried:
each is accepted exactly if the `jsonschema` package finds it valid. Walks of random bytes along
the masks end, without a dead end, in texts that are valid or have a name twice.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from random import Random
from typing import Any

import exact
from languages import Nothing, RefusedError, build, byte_vocabulary
from oracle import Oracle
from walks import walk

NAMES = "abcde"
VALUES = ("x", "y", 1)
OPTIONS = {"whitespace": "compact"}


def value(random: Random) -> Any:
    return random.choice(
        (
            {"const": random.choice(VALUES)},
            {"enum": random.sample(VALUES, 2)},
            {"type": "string"},
            {"type": "integer"},
            {"not": {"const": random.choice(VALUES)}},
        )
    )


def simple(random: Random) -> dict[str, Any]:
    """Something of one or two properties."""
    names = random.sample(NAMES, random.choice((1, 1, 2)))
    schema: dict[str, Any] = {}
    if random.random() < 0.7:
        schema["required"] = names
    if random.random() < 0.6 or not schema:
        schema["properties"] = {name: value(random) for name in names}
    return {"not": schema} if random.random() < 0.15 else schema


def condition(random: Random) -> dict[str, Any]:
    kind = random.random()
    if kind < 0.3:
        name, *others = random.sample(NAMES, random.choice((2, 3)))
        return {"dependentRequired": {name: others}}
    if kind < 0.4:
        return {"dependentSchemas": {random.choice(NAMES): simple(random)}}
    if kind < 0.65:
        schema = {"if": simple(random)}
        for branch in random.choice((("then",), ("else",), ("then", "else"))):
            schema[branch] = simple(random)
        return schema
    keyword = random.choice(("anyOf", "oneOf", "oneOf", "allOf"))
    schema = {keyword: [simple(random) for _ in range(random.choice((2, 3, 4)))]}
    return {"not": schema} if random.random() < 0.1 else schema


def schema(seed: int) -> dict[str, Any]:
    random = Random(f"conditions {seed}")
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"enum": [*VALUES]} for name in NAMES},
        "allOf": [condition(random) for _ in range(random.randint(1, 8))],
    }
    if random.random() < 0.5:
        made["additionalProperties"] = False
    if random.random() < 0.2:
        made["minProperties"] = random.randint(1, 4)
    if random.random() < 0.2:
        made["maxProperties"] = random.randint(2, 4)
    if random.random() < 0.3:
        # Names that only conditions evaluate. That all come in one order is said without that.
        made.pop("additionalProperties", None)
        named = made["properties"]
        made["not"] = {"not": {"properties": named}}
        made["properties"] = {name: named[name] for name in NAMES[: random.randint(1, 4)]}
        made["unevaluatedProperties"] = random.choice((False, False, {"type": "integer"}))
        made["allOf"] = made.pop("allOf")
    return made


def documents() -> list[dict[str, Any]]:
    """All documents, each with its properties in order."""
    absent = object()
    return [
        {name: value for name, value in zip(NAMES, values, strict=True) if value is not absent}
        for values in itertools.product((absent, *VALUES), repeat=len(NAMES))
    ]


def has_a_name_twice(text: bytes) -> bool:
    """Whether an object has; grammars prevent that only of names that they know."""
    found = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        found.append(len({name for name, _ in pairs}) < len(pairs))

    json.loads(text, object_pairs_hook=members)
    return any(found)


def differences(seed: int, documents: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """What is wrong with a schema, and whether any document is valid."""
    made = schema(seed)
    oracle = Oracle(made)
    text = json.dumps(made)
    language = build(text, OPTIONS)
    valid = [oracle.is_valid(document) for document in documents]
    found = []
    for document, expected in zip(documents, valid, strict=True):
        text = json.dumps(document, separators=(",", ":"))
        accepted = not isinstance(language, Nothing) and language.accepts(text.encode())
        if accepted != expected:
            found.append(f"seed {seed}: {text} is {'' if expected else 'in'}valid: {made}")
    random = Random(f"walks {seed}")
    for _ in range(0 if isinstance(language, Nothing) else 5):
        walked = walk(language.grammar, byte_vocabulary(), random, free=30, most=600)
        if walked is None or has_a_name_twice(walked):
            continue
        if not oracle.is_valid(exact.load(walked.decode())):
            found.append(f"seed {seed}: {walked!r} is invalid: {made}")
    return found, any(valid)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schemas", type=int, default=200)
    options = parser.parse_args()
    every = documents()
    found, refused, some = [], 0, 0
    for seed in range(options.seed, options.seed + options.schemas):
        try:
            wrong, valid = differences(seed, every)
        except RefusedError as error:
            print(f"seed {seed} is refused: {error}")
            refused += 1
            continue
        found += wrong
        some += valid
    print(f"{options.schemas} schemas, {some} with valid documents, {refused} refused")
    print(f"{len(found)} differences", *found[:10], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
