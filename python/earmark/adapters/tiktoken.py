"""Encodings of OpenAI's `tiktoken` → the parts of a `Vocabulary`.

Its table holds the tokens' bytes themselves, so nothing has to be decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earmark.adapters._encoding import check_table, continuation
from earmark.adapters._eos import choose_eos, known_eos
from earmark.adapters._parts import VocabularyParts, assemble

if TYPE_CHECKING:
    from collections.abc import Iterable


def parts(
    encoding: Any,
    *,
    width: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
) -> VocabularyParts:
    """Read a `tiktoken.Encoding`.

    Its special tokens are special. End of sequence: those with a well-known name
    (`<|endoftext|>`, `<|eot_id|>`, …), or `eos_token_ids`.
    """
    if not hasattr(encoding, "decode_single_token_bytes"):
        raise TypeError(
            "from_tiktoken() takes a tiktoken.Encoding, "
            f"not {type(encoding).__module__}.{type(encoding).__qualname__}"
        )
    bytes_of = encoding.decode_single_token_bytes
    tokens: list[bytes] = []
    for token in range(encoding.max_token_value + 1):
        try:
            tokens.append(bytes_of(token))
        except KeyError:  # A hole: Qwen's and OpenAI's tables have them.
            tokens.append(b"")

    special = {encoding.encode_single_token(name): name for name in encoding.special_tokens_set}
    eos = choose_eos(
        eos_token_ids,
        known_eos(special),
        size=len(tokens),
        source=f"the encoding {encoding.name!r}",
    )
    check_table(tokens, special.keys(), encoding.encode_ordinary, seen=str.encode)
    return assemble(
        tokens,
        eos_token_ids=eos,
        special_token_ids=special,
        width=width,
        encode=continuation(encoding.encode_ordinary, tokens, frozenset(special) | frozenset(eos)),
    )
