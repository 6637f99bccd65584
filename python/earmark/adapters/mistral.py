"""Tokenizers of `mistral-common` → the parts of a `Vocabulary`: Tekken and SentencePiece."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from earmark._earmark import decode_pieces
from earmark.adapters._encoding import check_table, continuation, dummy_prefix
from earmark.adapters._eos import choose_eos
from earmark.adapters._parts import VocabularyParts, assemble

if TYPE_CHECKING:
    from collections.abc import Iterable


def parts(
    tokenizer: Any,
    *,
    width: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
) -> VocabularyParts:
    """Read a `MistralTokenizer`, or the `Tekkenizer` or `SentencePieceTokenizer` inside it.

    Control tokens are special. End of sequence: the tokenizer's `eos_id` (`</s>`), or
    `eos_token_ids`.
    """
    # `MistralTokenizer` keeps an `InstructTokenizer`, and that the tokenizer.
    inner = getattr(tokenizer, "instruct_tokenizer", tokenizer)
    inner = getattr(inner, "tokenizer", inner)
    if hasattr(inner, "id_to_byte_piece"):
        tokens, special = _tekken(inner)
    elif hasattr(inner, "id_to_piece") and hasattr(inner, "n_words"):
        tokens, special = _sentencepiece(inner)
    else:
        raise TypeError(
            "from_mistral() takes a MistralTokenizer, Tekkenizer or SentencePieceTokenizer of "
            f"mistral-common, not {type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
        )
    eos = choose_eos(eos_token_ids, [inner.eos_id], size=len(tokens), source="this tokenizer")

    def encode(text: str) -> list[int]:
        ids: list[int] = inner.encode(text, bos=False, eos=False)
        return ids

    prefix = dummy_prefix(encode, tokens, special)
    check_table(tokens, special, encode, seen=lambda text: prefix + text.encode())
    return assemble(
        tokens,
        eos_token_ids=eos,
        special_token_ids=special,
        width=width,
        encode=continuation(encode, tokens, special | frozenset(eos)),
    )


def _tekken(tokenizer: Any) -> tuple[list[bytes], frozenset[int]]:
    """Tekken's table holds bytes; special tokens come first."""
    keep = import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy.KEEP
    bytes_of = tokenizer.id_to_byte_piece
    tokens = [bytes_of(token, keep) for token in range(tokenizer.n_words)]
    return tokens, frozenset(filter(tokenizer.is_special, range(tokenizer.num_special_tokens)))


def _sentencepiece(tokenizer: Any) -> tuple[list[bytes], frozenset[int]]:
    """SentencePiece's table holds pieces with `▁` for the space, and `<0xNN>` for bytes."""
    pieces: list[str | None] = list(map(tokenizer.id_to_piece, range(tokenizer.n_words)))
    # The unknown token is none of the control tokens; its text stands for anything.
    special = {token for token in range(len(pieces)) if tokenizer.is_special(token)}
    special.add(tokenizer.unk_id)
    names = {token: pieces[token] or "" for token in special}
    for token in special:
        pieces[token] = None
    tokens = [token or b"" for token in decode_pieces(pieces, "sentencepiece")]
    for token, name in names.items():
        tokens[token] = name.encode()
    return tokens, frozenset(special)
