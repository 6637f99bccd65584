"""A `tokenizer.json` → the bytes of its tokens, for every engine alike."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sources import SHARED

import earmark

if TYPE_CHECKING:
    from pathlib import Path

LLAMA3 = SHARED / "tokenizers" / "llama3.json.gz"

# What the models' own configurations say; other tokenizers say it themselves.
EOS = {
    "llama3.json.gz": [128001, 128008, 128009],
    "gemma3.json.gz": [1, 106],
    "gpt2.json.gz": [50256],
}


@dataclass(frozen=True)
class Tokens:
    """A vocabulary that knows no engine, and its encoder."""

    tokens: list[bytes]
    eos: list[int]
    special: list[int]
    encoder: Any

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.encoder.encode(text, add_special_tokens=False).ids
        return ids


def load(path: Path) -> Tokens:
    """Reads a tokenizer file, gzipped or not."""
    import tokenizers

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        encoder = tokenizers.Tokenizer.from_str(file.read())
    vocabulary = earmark.Vocabulary.from_huggingface(encoder, eos_token_ids=EOS.get(path.name))
    tokens = [vocabulary.token_bytes(number) for number in range(len(vocabulary))]
    special = list(vocabulary.special_token_ids)
    return Tokens(tokens, list(vocabulary.eos_token_ids), special, encoder)
