"""The hot paths under pytest-benchmark, on Llama 3's vocabulary.

    pytest benches/test_hot.py                                # a table
    pytest benches/test_hot.py --benchmark-autosave           # keep it
    pytest benches/test_hot.py --benchmark-compare            # beside what was kept last

It needs the folder `shared` beside the repository and `pip install pytest-benchmark`. Nothing here
fails because it is slow: times depend on the machine and what else it does. For counts that don't,
see `instructions.py`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tokenizer
from lengths import RECORDS
from sources import GRAMMARS

import earmark

pytest.importorskip("pytest_benchmark")
pytestmark = pytest.mark.skipif(not tokenizer.LLAMA3.exists(), reason="no shared/tokenizers")

DOCUMENT = json.dumps(
    [
        {"name": "Ada, Countess of Lovelace", "count": 12, "tags": ["alpha", "mu"]},
        {"name": "Charles Babbage", "count": 7, "tags": []},
        {"name": 'An "analytical" engine: é, 日本語', "count": 0, "tags": ["xi", "pi", "rho"]},
    ],
    ensure_ascii=False,
)
Benchmark = Any


class Setting:
    """A vocabulary, and a document as tokens."""

    def __init__(self) -> None:
        self.tokens = tokenizer.load(tokenizer.LLAMA3)
        self.vocabulary = self.make_vocabulary()
        self.document = self.tokens.encode(DOCUMENT)
        self.out = np.zeros((self.vocabulary.width + 31) // 32, dtype=np.int32)
        # Strings are split once in a process: not what is measured.
        self.feed(self.grammar())

    def make_vocabulary(self) -> earmark.Vocabulary:
        tokens = self.tokens
        return earmark.Vocabulary(
            tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special
        )

    def grammar(self) -> earmark.Grammar:
        return earmark.Grammar.from_json_schema(RECORDS)

    def feed(self, grammar: earmark.Grammar) -> earmark.Matcher:
        """A mask and a token at a time; the matcher at the end."""
        matcher = earmark.Matcher(grammar, self.vocabulary)
        for token in self.document:
            matcher.fill_mask(self.out)
            matcher.accept(token)
        matcher.fill_mask(self.out)
        return matcher


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting()


def test_vocabulary(benchmark: Benchmark, setting: Setting) -> None:
    made = benchmark.pedantic(setting.make_vocabulary, rounds=5)
    assert len(made) == len(setting.vocabulary)


def test_first_mask_of_a_schema(benchmark: Benchmark, setting: Setting) -> None:
    def first() -> None:
        matcher = earmark.Matcher(setting.grammar(), setting.vocabulary)
        matcher.fill_mask(setting.out)

    benchmark(first)
    assert setting.out.any()


def test_compile_c(benchmark: Benchmark) -> None:
    text = (GRAMMARS / "c_subset.gbnf").read_text("utf-8")
    assert benchmark(earmark.Grammar.from_gbnf, text).kind == "gbnf"


def test_new_grammar_through_a_document(benchmark: Benchmark, setting: Setting) -> None:
    def setup() -> tuple[tuple[earmark.Grammar], dict[str, Any]]:
        return (setting.grammar(),), {}

    matcher = benchmark.pedantic(setting.feed, setup=setup, rounds=50)
    assert matcher.is_accepting


def test_known_grammar_through_a_document(benchmark: Benchmark, setting: Setting) -> None:
    assert benchmark(setting.feed, setting.feed(setting.grammar()).grammar).is_accepting


def test_known_mask(benchmark: Benchmark, setting: Setting) -> None:
    matcher = earmark.Matcher(setting.grammar(), setting.vocabulary)
    for token in setting.document[:8]:
        matcher.accept(token)
    benchmark(matcher.fill_mask, setting.out)
    assert setting.out.any()


def test_known_tokens(benchmark: Benchmark, setting: Setting) -> None:
    matcher = earmark.Matcher(setting.grammar(), setting.vocabulary)
    count = len(setting.document)
    assert benchmark(matcher.validate, setting.document) == count


def test_known_masks_of_a_batch(benchmark: Benchmark, setting: Setting) -> None:
    grammars = [setting.grammar() for _ in range(8)]
    matchers = [earmark.Matcher(grammars[at % 8], setting.vocabulary) for at in range(64)]
    for at, matcher in enumerate(matchers):
        for token in setting.document[: at % len(setting.document)]:
            matcher.accept(token)
    out = np.zeros((64, len(setting.out)), dtype=np.int32)
    benchmark(earmark.fill_masks, matchers, out)
    assert out.any(axis=1).all()


def test_forced_bytes(benchmark: Benchmark, setting: Setting) -> None:
    matcher = earmark.Matcher(setting.grammar(), setting.vocabulary)
    matcher.accept_bytes(b'[{"n')
    assert benchmark(matcher.forced_bytes) == b"ame"
