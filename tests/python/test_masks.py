"""Masks over real vocabularies, against independent recognisers that try every token."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import earmark
import models
import shared
import stacks

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def sorted_tokens(model: str) -> list[tuple[bytes, int]]:
    """The tokens that can be text, sorted."""
    tokens, special = shared.token_bytes(model)
    return sorted((t, i) for i, t in enumerate(tokens) if t and i not in special)


def by_trying(model: str, recogniser: stacks.Recogniser, state: int) -> set[int]:
    """The mask by the definition."""
    ends = set(shared.EOS[model]) if recogniser.is_text(state) else set()
    return recogniser.mask(state, sorted_tokens(model)) | ends


def test_the_adapter_reads_every_token(model: str) -> None:
    tokens, _ = shared.token_bytes(model)
    vocabulary = shared.vocabulary(model)
    wrong = [
        (number, vocabulary.token_bytes(number), token)
        for number, token in enumerate(tokens)
        if vocabulary.token_bytes(number) != token
    ]
    assert not wrong[:10]
    assert len(vocabulary) == len(tokens)
    assert sorted(vocabulary.eos_token_ids) == shared.EOS[model]


def test_true_or_false_has_seven_first_tokens() -> None:
    vocabulary = shared.vocabulary("gpt2")
    matcher = earmark.Matcher(earmark.Grammar.from_regex("true|false"), vocabulary)
    ids = matcher.allowed_tokens()
    texts = sorted(vocabulary.token_bytes(int(number)) for number in ids)
    assert texts == [b"f", b"fa", b"fal", b"false", b"t", b"tr", b"true"]


CASES: list[tuple[str, Callable[[], stacks.Node], list[bytes]]] = [
    (
        "json.gbnf",
        models.json,
        [
            b"",
            b"{",
            b'{"key": "a',
            b'{"key": "a\\',
            b'{"key": "\\u00',
            b'["\xe6\x97',
            b'["\xed',
            b"[1",
            b"[-",
            b"[0",
            b"[1.5e",
            b'{"a": [{}, []',
            b'[[[[["x"',
            b"tr",
            b"[null]",
        ],
    ),
    (
        "arithmetic.lark",
        models.arithmetic,
        [b"", b"foo", b"x = ", b"(1+", b"((a) ", b"f(x, 2.5e", b"1 *", b"- -3", b"f(a, (b"],
    ),
    ("words.lark", models.words, [b"", b"a", b"an", b"stop", b"xend", b"xsto"]),
    ("japanese.gbnf", models.japanese, [b"", "東".encode(), "「は".encode(), b"\xe3\x81", b"\xe7"]),
]


@pytest.mark.parametrize(("file", "root", "prefixes"), CASES, ids=[case[0] for case in CASES])
def test_masks_equal_trying_every_token(
    file: str, root: Callable[[], stacks.Node], prefixes: list[bytes], model: str
) -> None:
    recogniser = stacks.Recogniser(root())
    matcher = earmark.Matcher(shared.load(file), shared.vocabulary(model))
    for prefix in prefixes:
        matcher.reset()
        matcher.accept_bytes(prefix)
        state = recogniser.read(prefix)
        expected = by_trying(model, recogniser, state)
        found = shared.allowed(matcher)
        assert not sorted(found - expected)[:20], f"wrongly allowed after {prefix!r}"
        assert not sorted(expected - found)[:20], f"missing after {prefix!r}"


@pytest.mark.parametrize(("file", "root", "prefixes"), CASES, ids=[case[0] for case in CASES])
def test_a_walk_of_random_tokens(
    file: str, root: Callable[[], stacks.Node], prefixes: list[bytes], model: str
) -> None:
    del prefixes
    recogniser = stacks.Recogniser(root())
    matcher = earmark.Matcher(shared.load(file), shared.vocabulary(model))
    for seed in range(10 if shared.SLOW else 1):
        matcher.reset()
        walk(model, recogniser, matcher, np.random.default_rng(7 + seed))


def walk(
    model: str,
    recogniser: stacks.Recogniser,
    matcher: earmark.Matcher,
    random: np.random.Generator,
) -> None:
    """Some tokens, each drawn from a mask that was compared."""
    vocabulary = matcher.vocabulary
    state = recogniser.start
    for _ in range(12):
        expected = by_trying(model, recogniser, state)
        found = shared.allowed(matcher)
        assert found == expected, sorted(found ^ expected)[:20]
        ids = sorted(expected - set(shared.EOS[model]))
        if not ids:
            break
        token = int(random.choice(ids))
        matcher.accept(token)
        state = recogniser.read(vocabulary.token_bytes(token), state)


def test_each_bit_is_an_acceptance(model: str) -> None:
    vocabulary = shared.vocabulary(model)
    matcher = earmark.Matcher(shared.load("json.gbnf"), vocabulary)
    matcher.accept_bytes(b'{"a": 1')
    found = shared.allowed(matcher)
    rng = np.random.default_rng(3)
    sample = {int(i) for i in rng.integers(0, vocabulary.width, 3000)} | set(list(found)[:2000])
    for token in sample:
        fork = matcher.fork()
        assert fork.try_accept(token) == (token in found), token


def test_special_tokens_are_never_text(model: str) -> None:
    _, special = shared.token_bytes(model)
    vocabulary = shared.vocabulary(model)
    matcher = earmark.Matcher(earmark.Grammar.from_regex("(?s).*"), vocabulary)
    assert shared.allowed(matcher) & special == set(shared.EOS[model])


def test_end_of_sequence_only_where_the_text_may_end(model: str) -> None:
    matcher = earmark.Matcher(shared.load("json.gbnf"), shared.vocabulary(model))
    ends = set(shared.EOS[model])
    assert not shared.allowed(matcher) & ends
    matcher.accept_bytes(b'"')
    assert not shared.allowed(matcher) & ends
    matcher.accept_bytes(b'"')
    assert shared.allowed(matcher) >= ends
