"""Limits of caches: memory stays within them, and masks are what they are without."""

import json
from typing import Any

import numpy as np
import pytest

import earmark
import shared

DOCUMENT = '{"name": "one, two", "list": [1, 22, 333], "open": {"a": "b c"}}'


def schema(at: int) -> dict[str, Any]:
    """Schemas that differ in names and bounds, so that each has lexer states of its own."""
    names = {f"name_{at}": {"type": "string", "maxLength": 40 + at}}
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20 + at},
            "list": {"type": "array", "items": {"type": "integer", "maximum": 1000 + at}},
            "open": {"type": "object", "properties": names},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def vocabulary(tokens: list[bytes]) -> earmark.Vocabulary:
    return earmark.Vocabulary(tokens, eos_token_ids=[50256])


def masks(
    grammar: earmark.Grammar, vocabulary: earmark.Vocabulary, document: list[int]
) -> list[bytes]:
    """All masks of a document, and whether all of it was taken."""
    matcher = earmark.Matcher(grammar, vocabulary)
    found = []
    for token in document:
        found.append(matcher.next_mask().tobytes())
        matcher.accept(token)
    return [*found, matcher.next_mask().tobytes()]


def test_shared_caches_stay_within_their_limit() -> None:
    loaded = shared.vocabulary("gpt2")
    tokens = [loaded.token_bytes(token) for token in range(len(loaded))]
    document = shared.tokenizer("gpt2").encode(DOCUMENT).ids
    free, bound = vocabulary(tokens), vocabulary(tokens)
    assert free.cache_limit == 24 << 20
    empty = bound.memory_bytes
    bound.cache_limit = np.int64(200_000)
    assert bound.cache_limit == 200_000
    most = 0
    for at in range(30):
        grammar = earmark.Grammar.from_json_schema(schema(at))
        assert masks(grammar, bound, document) == masks(grammar, free, document)
        most = max(most, bound.memory_bytes - empty)
    # What a split has come to hold is counted when it is found, beyond the limit if it must be.
    assert most < 400_000
    assert free.memory_bytes - empty > 2 * most


def test_a_grammar_keeps_masks_within_its_limit() -> None:
    loaded = shared.vocabulary("gpt2")
    encode = shared.tokenizer("gpt2").encode
    text = json.dumps([{"key": "value " * (at % 7), f"k{at}": [at, -at]} for at in range(40)])
    document = encode(text).ids
    free, bound = (earmark.Grammar.from_json_schema({}) for _ in range(2))
    assert bound.cache_limit == 64 << 20
    # Where a matcher has to find its place again, and where masks alone have to go.
    empty = bound.memory_bytes
    expected = masks(free, loaded, document)
    for limit in (0, (free.memory_bytes - empty) // 2):
        bound.cache_limit = limit
        for _ in range(3):
            assert masks(bound, loaded, document) == expected
    assert bound.memory_bytes - empty < free.memory_bytes - empty


@pytest.mark.parametrize("holder", ["grammar", "vocabulary"])
def test_limits_are_numbers_of_bytes(holder: str) -> None:
    of: Any = {
        "grammar": earmark.Grammar.from_regex("a"),
        "vocabulary": earmark.Vocabulary([b"a", b""], eos_token_ids=[1]),
    }[holder]
    before = of.cache_limit
    with pytest.raises(ValueError, match="cache_limit is -1; give a number of bytes, 0 or more"):
        of.cache_limit = -1
    with pytest.raises(TypeError, match="cache_limit is an int, not str"):
        of.cache_limit = "1"
    assert of.cache_limit == before
    of.cache_limit = 0
    assert of.cache_limit == 0
