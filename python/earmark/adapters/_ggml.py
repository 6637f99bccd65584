"""llama.cpp's vocabularies, which `gguf` reads from a file and `llama_cpp` from a loaded model.

Both give a text and a type for each token, and the name of the tokenizer model. The types are
those of the GGUF specification (`tokenizer.ggml.token_type`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from earmark._earmark import decode_pieces
from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Sequence


class TokenType(IntEnum):
    """`tokenizer.ggml.token_type`."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_KINDS = {
    "gpt2": "byte_level",
    "llama": "metaspace",  # SentencePiece BPE; the type says which tokens are bytes
    "gemma4": "metaspace",
    "t5": "metaspace",  # SentencePiece Unigram
}

_SPECIAL = (TokenType.CONTROL, TokenType.UNKNOWN)


def decode_vocabulary(
    model: str, texts: Sequence[bytes], types: Sequence[int]
) -> tuple[list[bytes], dict[int, str]]:
    """The tokens' bytes, and the special tokens' names by id.

    User-defined tokens are text as it stands. Unused and undefined tokens have no bytes, and
    neither has a byte-level token with a character outside the byte alphabet: llama.cpp shows
    such tokens as nothing or as `[UNK_BYTE_…]`, never as their text.
    """
    kind = _KINDS.get(model)
    if kind is None:
        known = ", ".join(map(repr, _KINDS))
        raise VocabularyError(
            f"the tokenizer model {model!r} can't be used: it is not known how to get the exact "
            f"bytes of its tokens; the models that can be used are {known}"
        )
    if len(types) != len(texts):
        raise VocabularyError(
            f"the vocabulary has {len(texts)} tokens but {len(types)} token types: "
            "the file is damaged"
        )
    pieces: list[bytes | None] = list(texts)
    fixed: dict[int, bytes] = {}  # What `decode_pieces` is not asked for.
    special: dict[int, str] = {}
    normal = int(TokenType.NORMAL)
    for token in [token for token, type_ in enumerate(types) if type_ != normal]:
        text, type_ = texts[token], types[token]
        pieces[token] = None
        if type_ in _SPECIAL:
            fixed[token] = text
            special[token] = _utf8(token, text)
        elif type_ == TokenType.USER_DEFINED:
            fixed[token] = text
        elif type_ == TokenType.BYTE:
            (byte,) = decode_pieces([_utf8(token, text)], "sentencepiece")
            if byte is None or len(byte) != 1:
                raise VocabularyError(
                    f"token {token} is of type BYTE, but its text is {text!r}, not <0xNN>"
                )
            fixed[token] = byte
    decoded = decode_pieces(pieces, kind)
    odd = decoded.count(None)
    if odd * 2 > len(pieces) - pieces.count(None):
        raise VocabularyError(
            f"{odd} of {len(texts)} tokens are not written in the byte alphabet that the tokenizer "
            f"model {model!r} uses: the vocabulary's file is wrong about its tokenizer model"
        )
    tokens = [token or b"" for token in decoded]
    for token, text in fixed.items():
        tokens[token] = text
    return tokens, special


def _utf8(token: int, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise VocabularyError(f"token {token} is no UTF-8 text: {text!r}") from error
