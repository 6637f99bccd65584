"""What the tests share: where data lies, vocabularies, and feeding texts to a matcher.

The folder `shared` beside the repository holds real tokenizers and cases; tests that need it are
skipped where it is absent.
"""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import earmark

SLOW = "EARMARK_SLOW" in os.environ
"""Whether the slow tier runs."""

ROOT = Path(__file__).resolve().parents[2]
GRAMMARS = ROOT / "grammars"
SHARED = ROOT.parent / "shared"

# The ids that end a generation, as the models' own configurations say.
EOS = {"gpt2": [50256], "llama3": [128001, 128008, 128009], "gemma3": [1, 106]}


def tokenizer_text(name: str) -> str:
    """The `tokenizer.json` of a model, or the test is skipped."""
    path = SHARED / "tokenizers" / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


@cache
def tokenizer(name: str) -> Any:
    """A tokenizer of the tokenizers package."""
    tokenizers = pytest.importorskip("tokenizers")
    return tokenizers.Tokenizer.from_str(tokenizer_text(name))


@cache
def vocabulary(name: str) -> earmark.Vocabulary:
    """A model's vocabulary through the adapter."""
    return earmark.Vocabulary.from_huggingface(tokenizer(name), eos_token_ids=EOS[name])


@cache
def token_bytes(name: str) -> tuple[tuple[bytes, ...], frozenset[int]]:
    """The bytes of a model's tokens and its special ids, read from `tokenizer.json` alone."""
    data = json.loads(tokenizer_text(name))
    vocab: dict[str, int] = data["model"]["vocab"]
    added = data["added_tokens"]
    size = max([*vocab.values(), *(token["id"] for token in added)]) + 1
    tokens = [b""] * size
    sentencepiece = data["model"]["byte_fallback"]
    for text, number in vocab.items():
        tokens[number] = _piece(text) if sentencepiece else _byte_level(text)
    for token in added:
        text = token["content"]
        # An added token that is no control token is text, with the model's sign for a space.
        plain = text.replace("▁", " ") if sentencepiece else text
        tokens[token["id"]] = (text if token["special"] else plain).encode()
    special = frozenset(token["id"] for token in added if token["special"]) | set(EOS[name])
    return tuple(tokens), frozenset(special)


def _piece(text: str) -> bytes:
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        return bytes([int(text[3:5], 16)])
    return text.replace("▁", " ").encode()


@cache
def _byte_of() -> dict[str, int]:
    """GPT-2's printable stand-ins: printable Latin-1 bytes are themselves, the rest follow 255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    table.update({chr(256 + index): byte for index, byte in enumerate(others)})
    return table


def _byte_level(text: str) -> bytes:
    return bytes(_byte_of()[char] for char in text)


BYTE_EOS = 256


@cache
def byte_vocabulary() -> earmark.Vocabulary:
    """One token a byte, and an end of sequence."""
    tokens = [bytes([byte]) for byte in range(256)] + [b""]
    return earmark.Vocabulary(tokens, eos_token_ids=BYTE_EOS)


def build(language: str, text: str, start: str | None = None) -> earmark.Grammar:
    """A grammar from a text in one of the languages."""
    if language == "regex":
        return earmark.Grammar.from_regex(text)
    options = {} if start is None else {"root" if language == "gbnf" else "start": start}
    make = {"gbnf": earmark.Grammar.from_gbnf, "lark": earmark.Grammar.from_lark}[language]
    return make(text, **options)


def load(file: str) -> earmark.Grammar:
    """A grammar of the folder `grammars`."""
    path = GRAMMARS / file
    return build(path.suffix[1:], path.read_text(encoding="utf-8"))


def is_alive(grammar: earmark.Grammar, text: bytes) -> bool:
    """Whether bytes are the beginning of a text."""
    matcher = earmark.Matcher(grammar, byte_vocabulary())
    return matcher.validate(list(text)) == len(text)


def is_text(grammar: earmark.Grammar, text: bytes) -> bool:
    """Whether bytes are a text: fed byte by byte as tokens, then the end of sequence."""
    matcher = earmark.Matcher(grammar, byte_vocabulary())
    return matcher.validate([*text, BYTE_EOS]) == len(text) + 1


def bits(mask: np.ndarray[Any, np.dtype[np.int32]]) -> set[int]:
    """The ids of a mask row, read bit by bit."""
    unpacked = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), bitorder="little")
    return {int(index) for index in unpacked.nonzero()[0]}


def allowed(matcher: earmark.Matcher) -> set[int]:
    """The ids that may come next."""
    return bits(matcher.next_mask())
