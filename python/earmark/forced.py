"""Forced tokens: what the model's own tokenizer would write where the grammar leaves no choice.

Forced *bytes* are certain, but a tokenizer may cut them in many ways, and the cut depends on the
text that follows: `{"name` is two tokens alone, while `{"names` may be cut elsewhere. Tokens that
the model would not have written itself make its later output worse, so only those are given that
stay the same whatever follows.

How that is known: let the text so far end with the forced bytes. Once more text has followed, the
last of its tokens that reaches past the end starts at some offset o, and what a tokenizer makes of
the text before a boundary does not depend on what is behind it. So the true tokens begin
with `encode(text[:o])` for one of the offsets o at which some token of the vocabulary could start
and reach past the end, or with `encode(text)`. What all of these have in common is certain. This
holds for byte-pair, unigram and longest-match tokenizers; splits by pattern that look ahead (white
space before a word) concern white space at the end, which such tokens cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from earmark import Matcher, Vocabulary


def forced_tokens(matcher: Matcher) -> list[int]:
    """See `Matcher.forced_tokens`."""
    vocabulary = matcher.vocabulary
    encode = vocabulary.encode
    accepted = _tokens_of_text(matcher)
    forced = matcher.forced_bytes()
    if encode is None or accepted is None or not forced:
        return []
    before = b"".join(map(vocabulary.token_bytes, accepted))
    text = _whole_characters(before + forced)
    whole = encode(text)
    if whole is None:
        return []
    certain = list(whole)
    if not (len(text) == len(before + forced) and _ends_after(matcher, forced)):
        for tokens in _other_beginnings(text, vocabulary, encode):
            certain = _common(certain, tokens)
    if certain[: len(accepted)] != accepted:
        return []
    new = certain[len(accepted) :]
    # A tokenizer may change the text it is given; the matcher has the last word.
    return new[: matcher.validate(new)]


def _tokens_of_text(matcher: Matcher) -> list[int] | None:
    """The accepted tokens since the last special one; None if bytes came without tokens.

    Tokenizers cut the text at special tokens first, so what is before them has no influence.
    """
    special = frozenset(matcher.vocabulary.special_token_ids)
    tokens: list[int] = []
    for step in reversed(matcher.accepted()):
        if isinstance(step, bytes):
            return None
        if step in special:
            break
        tokens.append(step)
    return tokens[::-1]


def _ends_after(matcher: Matcher, forced: bytes) -> bool:
    """Whether nothing but the end can follow the forced bytes."""
    ahead = matcher.fork()
    ahead.accept_bytes(forced)
    return set(ahead.allowed_tokens().tolist()) <= set(matcher.vocabulary.eos_token_ids)


def _other_beginnings(
    text: bytes, vocabulary: Vocabulary, encode: Callable[[bytes], Sequence[int] | None]
) -> list[list[int]]:
    """What the tokens may begin with if the last one reaches past the end of the text."""
    beginnings = []
    for start in vocabulary._starts_of_longer_tokens(text):
        whole = _whole_characters(text[:start])
        tokens = list(encode(whole) or ())
        # A boundary inside a character can't be encoded; the token before it may be another one.
        beginnings.append(tokens if len(whole) == start else tokens[:-1])
    return beginnings


def _common(left: list[int], right: list[int]) -> list[int]:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return left[:index]
    return left[: len(right)]


def _whole_characters(text: bytes) -> bytes:
    """The text without the beginning of a character at its end."""
    for length in range(1, min(4, len(text)) + 1):
        byte = text[-length]
        if byte & 0b1100_0000 != 0b1000_0000:
            needed = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return text if length >= needed else text[:-length]
    return text
