"""Tokenizers of Hugging Face's `tokenizers` and `transformers` → the parts of a `Vocabulary`.

Byte-level BPE (GPT-2, Llama 3, Qwen, DeepSeek) and SentencePiece-style BPE and Unigram with `▁`
for the space (Llama 2, Gemma, Mistral, T5). What can't be read exactly is refused.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark._earmark import decode_pieces
from earmark.adapters._components import piece_kind
from earmark.adapters._encoding import check_table, continuation
from earmark.adapters._eos import choose_eos, known_eos
from earmark.adapters._parts import VocabularyParts, assemble
from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Unicode has no such character, so no vocabulary has a piece for it.
_NONCHARACTER = "\U0010ffff"


def parts(
    tokenizer: Any,
    *,
    width: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
) -> VocabularyParts:
    """Read a `tokenizers.Tokenizer`, a fast `transformers` tokenizer or a `tokenizer.json`.

    A `str` or path is a `tokenizer.json`, or a folder that holds one; a `str` that starts with
    `{` is the file's text.

    Added tokens that are marked special are special. The others are text: literally their
    content, but for what the tokenizer's decoder does to all its tokens (`▁` to a space in Gemma).

    End of sequence: the `eos_token_id` of a `transformers` tokenizer and all special tokens with
    a well-known name; `eos_token_ids` replaces both.
    """
    fast = _open(tokenizer)
    kind = piece_kind(fast)
    pieces = _pieces(fast)

    added = fast.get_added_tokens_decoder()
    special = {token: entry.content for token, entry in added.items() if entry.special}
    unknown = _unknown(fast)
    for token in unknown - special.keys():
        special[token] = pieces[token] or ""

    literal = (
        {token: entry.content for token, entry in added.items()} if kind == "byte_level" else {}
    )
    literal |= special
    for token in literal:
        pieces[token] = None
    tokens = _decode(pieces, kind)
    for token, content in literal.items():
        tokens[token] = content.encode()

    found = known_eos(special)
    own = getattr(tokenizer, "eos_token_id", None)
    if own is not None:
        found |= {own} if isinstance(own, int) else set(own)
    eos = choose_eos(eos_token_ids, found, size=len(tokens), source="this tokenizer")

    encode = _encoder(fast)
    check_table(
        tokens, special.keys(), encode, seen=lambda text: _seen(fast, kind, text), unknown=unknown
    )
    return assemble(
        tokens,
        eos_token_ids=eos,
        special_token_ids=special,
        width=width,
        encode=continuation(encode, tokens, frozenset(special) | frozenset(eos)),
    )


def _open(source: Any) -> Any:
    """The `tokenizers.Tokenizer` of what the caller gave."""
    if isinstance(source, (str, os.PathLike)):
        tokenizer = import_module("tokenizers").Tokenizer
        if isinstance(source, str) and source.lstrip()[:1] == "{":
            return _load(tokenizer.from_str, source, "this text")
        path = Path(source)
        if path.is_dir():
            path /= "tokenizer.json"
        if not path.is_file():
            raise VocabularyError(
                f"there is no file {str(path)!r}; give the path of a tokenizer.json or a loaded "
                "tokenizer (nothing is downloaded)"
            )
        return _load(tokenizer.from_file, str(path), repr(str(path)))
    # `transformers` keeps its fast tokenizer as `backend_tokenizer`, the ready-made classes of
    # `tokenizers.implementations` as `_tokenizer`.
    for candidate in (
        source,
        getattr(source, "backend_tokenizer", None),
        getattr(source, "_tokenizer", None),
    ):
        if hasattr(candidate, "get_added_tokens_decoder") and hasattr(candidate, "decoder"):
            return candidate
    raise TypeError(
        "from_huggingface() takes a tokenizers.Tokenizer, a fast transformers tokenizer "
        "(use_fast=True) or the path of a tokenizer.json, "
        f"not {type(source).__module__}.{type(source).__qualname__}"
    )


def _load(load: Callable[[str], Any], argument: str, name: str) -> Any:
    try:
        return load(argument)
    except Exception as error:  # `tokenizers` raises nothing more precise.
        raise VocabularyError(f"{name} is not a tokenizer.json: {error}") from error


def _pieces(fast: Any) -> list[str | None]:
    """The text of each token by id; `None` for ids without a token or with several.

    PERF: asking for one id after the other takes 59 ms for Llama 3's 128,256 tokens and 135 ms
    for Gemma 3's 262,145; `get_vocab()` takes 80 and 210 ms before its result is even sorted.
    """
    pieces: list[str | None] = list(map(fast.id_to_token, range(fast.get_vocab_size())))
    if None not in pieces:
        return pieces
    # As many texts as ids, but some id below has none: there are holes, or ids that two texts
    # claim. Only the whole table tells.
    vocabulary = fast.get_vocab(with_added_tokens=False)
    added = fast.get_added_tokens_decoder()
    pieces = [None] * (1 + max([*vocabulary.values(), *added.keys()]))
    claimed: set[int] = set()
    for piece, token in vocabulary.items():
        pieces[token] = None if token in claimed else piece
        claimed.add(token)
    for token, entry in added.items():
        pieces[token] = entry.content
    return pieces


def _decode(pieces: list[str | None], kind: str) -> list[bytes]:
    """The bytes of each piece.

    A byte-level piece with a character outside the byte alphabet is its own text: so decodes
    `tokenizers`' `ByteLevel`. Command R has 1,403 of them, all emoji.
    """
    tokens = decode_pieces(pieces, kind)
    if None in tokens:
        return [
            (piece or "").encode() if token is None else token
            for piece, token in zip(pieces, tokens, strict=True)
        ]
    return tokens  # type: ignore[return-value]


def _unknown(fast: Any) -> set[int]:
    """The token for what can't be written, if the model has one."""
    name = getattr(fast.model, "unk_token", None)
    if name is not None:
        token = fast.token_to_id(name)
        return set() if token is None else {token}
    # A Unigram model doesn't tell, but shows it. With byte fallback it shows the pieces of bytes.
    try:
        shown = fast.model.tokenize(_NONCHARACTER)
    except Exception:  # So says a model without such a token.
        return set()
    return {token.id for token in shown if fast.id_to_token(token.id) != token.value}


def _encoder(fast: Any) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        encoding = fast.encode(text, add_special_tokens=False)
        ids: list[int] = encoding.ids
        if fast.padding is not None:
            ids = [token for token, real in zip(ids, encoding.attention_mask, strict=True) if real]
        return ids

    return encode


def _seen(fast: Any, kind: str, text: str) -> bytes:
    """What the model sees of a text, after normalizer and pre-tokenizer."""
    if fast.normalizer is not None:
        text = fast.normalizer.normalize_str(text)
    if fast.pre_tokenizer is not None:
        text = "".join(piece for piece, _ in fast.pre_tokenizer.pre_tokenize_str(text))
    return _decode([text], kind)[0]
