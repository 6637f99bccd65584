"""GGUF files → the parts of a `Vocabulary`. Needs no library and reads no tensor.

A file has no encoder, so its table can't be checked against one, and there is no `encode`. What
can be checked is: every token decodes, the ids are in range, the tokens and their types match.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from earmark.adapters._eos import choose_eos, known_eos
from earmark.adapters._ggml import decode_vocabulary
from earmark.adapters._gguf_file import Value, read_metadata
from earmark.adapters._parts import VocabularyParts, assemble
from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MODEL = "tokenizer.ggml.model"
_TOKENS = "tokenizer.ggml.tokens"
_TYPES = "tokenizer.ggml.token_type"
# Tokens that end a generation: of a text, a turn, a message.
_EOS = tuple(f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))


def parts(
    path: str | os.PathLike[str],
    *,
    width: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
) -> VocabularyParts:
    """Read the vocabulary of a GGUF file.

    Tokens of the types CONTROL and UNKNOWN are special. End of sequence: the tokens the file names
    (`eos`, `eot`, `eom`) and the special tokens with a well-known name, or `eos_token_ids`.
    """
    name = repr(os.fspath(path))
    metadata = read_metadata(path, {_MODEL, _TOKENS, _TYPES, *_EOS})
    tokens, special = decode_vocabulary(*_vocabulary(metadata, name))
    named = {value for key in _EOS if isinstance(value := metadata.get(key), int)}
    eos = choose_eos(eos_token_ids, known_eos(special) | named, size=len(tokens), source=name)
    return assemble(
        tokens,
        eos_token_ids=eos,
        special_token_ids=special,
        width=width,
        encode=None,
    )


def _vocabulary(metadata: dict[str, Value], name: str) -> tuple[str, list[bytes], list[int]]:
    """Model, texts and types of the tokens; the file may have anything under these keys."""
    model = metadata.get(_MODEL)
    if not isinstance(model, bytes):
        raise VocabularyError(f"{name} has no vocabulary: its metadata lacks {_MODEL}")
    texts = metadata.get(_TOKENS)
    types = metadata.get(_TYPES)
    strings = [text for text in texts if isinstance(text, bytes)] if isinstance(texts, list) else []
    numbers = (
        [type_ for type_ in types if isinstance(type_, int)] if isinstance(types, list) else []
    )
    if not strings:
        raise VocabularyError(f"{name} has no vocabulary: its metadata lacks {_TOKENS}")
    if not numbers:
        raise VocabularyError(
            f"{name} does not say which of its tokens are special: its metadata lacks {_TYPES}; "
            "convert the model again with a current converter"
        )
    return model.decode(errors="replace"), strings, numbers
