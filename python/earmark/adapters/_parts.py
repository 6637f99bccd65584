"""What every adapter gives: the arguments of `Vocabulary`, and the tokenizer's own encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from earmark.errors import VocabularyError

Encode: TypeAlias = Callable[[bytes | str], "list[int] | None"]
"""Text → the tokens the model's own tokenizer would choose for it in the middle of a text.

The tokens' bytes are exactly the text; `None` where there are no such tokens, or where the text
is not UTF-8 or holds the name of a special token.
"""


@dataclass(frozen=True, slots=True)
class VocabularyParts:
    """The arguments of `Vocabulary`, read from a tokenizer.

    `tokens[i]` are the bytes of token `i`: `b""` where there is no such token, the name for
    special tokens. `width` is at least `len(tokens)`. `encode` is `None` where the source has no
    encoder.
    """

    tokens: Sequence[bytes]
    eos_token_ids: tuple[int, ...]
    special_token_ids: tuple[int, ...]
    width: int
    encode: Encode | None


def assemble(
    tokens: list[bytes],
    *,
    eos_token_ids: Iterable[int],
    special_token_ids: Iterable[int],
    width: int | None,
    encode: Encode | None,
) -> VocabularyParts:
    """Put the parts together and fit them to the width of the model's logits.

    Logits are often wider than the vocabulary (padding), and sometimes narrower: Gemma 3's
    tokenizer knows an image token that the text model has no logit for. Special tokens past the
    width are dropped, since the model can't emit them; text there means that the width is wrong.
    """
    special = frozenset(special_token_ids)
    if width is None:
        width = len(tokens)
    for token in range(max(width, 0), len(tokens)):
        if tokens[token] and token not in special:
            raise VocabularyError(
                f"width {width} is too small: token {token} is the text {tokens[token]!r}; "
                f"give the width of the model's logits, or none to use {len(tokens)}"
            )
    eos = tuple(sorted({token for token in eos_token_ids if token < width}))
    if not eos:
        raise VocabularyError(
            f"no end-of-sequence token is below width {width}; "
            "give the width of the model's logits and its eos_token_ids"
        )
    return VocabularyParts(
        tokens=tokens[:width],
        eos_token_ids=eos,
        special_token_ids=tuple(sorted(token for token in special if token < width)),
        width=width,
        encode=encode,
    )
