"""The tokenizer's own encoder: the check of the vocabulary's table, and the hook that is kept.

Both start from an encoder `Callable[[str], list[int]]` that adds no special tokens by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from earmark.adapters._parts import Encode

PLAIN = "the quick brown fox"
"""A text that every tokenizer must give back as it is, but for one space in front."""

SAMPLES = (
    PLAIN,
    "Hello, World!",
    " leading and trailing ",
    "  two  and   three    spaces",
    "line\nbreak\n\nparagraph\r\n\tindented\n    code\n",
    "0123456789 3.14 -1e10 1,000,000",
    '{"key": [true, null, "va\\"lue"], "n": 0}',
    "for (i = 0; i < n; i++) { x[i] *= 2; } // <p>&amp;</p> <|no|>",
    "naïve café ÀÈÖ ñ ß ü ÿ Ġ Ċ",
    "Привет, мир! Ελληνικά שלום مرحبا",
    "日本語テキスト 한국어 中文。",
    "😀👍🏽 👩‍👩‍👧 𝔘𝔫𝔦 🇩🇪",
    "\x00\x01\x07\x1b\x7f\x80\x9f",
    "zero\u200bwidth\u00a0nbsp\ufeff",
)

_MARKER = "\n"


def joined(ids: Sequence[int], tokens: Sequence[bytes], special: Collection[int]) -> bytes | None:
    """The bytes of a sequence of text tokens; `None` if one of them is special or unknown."""
    if any(token in special or not 0 <= token < len(tokens) for token in ids):
        return None
    return b"".join([tokens[token] for token in ids])


def dummy_prefix(
    encode: Callable[[str], list[int]], tokens: Sequence[bytes], special: Collection[int]
) -> bytes:
    """What the encoder puts before every text: a space, or nothing."""
    return b" " if joined(encode("a"), tokens, special) == b" a" else b""


def check_table(
    tokens: Sequence[bytes],
    special: Collection[int],
    encode: Callable[[str], list[int]],
    *,
    seen: Callable[[str], bytes],
    unknown: Collection[int] = (),
    samples: Iterable[str] = SAMPLES,
) -> None:
    """Check that the sample texts, encoded, are the bytes that the table says.

    Tokenizers may change a text before they look at their vocabulary: SentencePiece puts a space
    in front of it ("dummy prefix"), T5 joins white space, some compose characters. `seen` gives
    the text after that, dummy prefix included, and the tokens must spell either that or the text
    itself. `PLAIN` is held to more: nothing but one space in front may be added to it. A text
    that needs one of the `unknown` tokens can't be written with this vocabulary and says nothing.
    """
    for text in samples:
        ids = encode(text)
        if any(token in unknown for token in ids):
            continue
        want = text.encode()
        got = joined(ids, tokens, special)
        if got == want or (got == seen(text) and (text != PLAIN or got == b" " + want)):
            continue
        shown = [tokens[token] if 0 <= token < len(tokens) else None for token in ids]
        raise VocabularyError(
            f"the tokenizer encodes {text!r} as the tokens {ids}, which the vocabulary's table "
            f"has as {shown}: that is not the text; the tokenizer's files may be damaged, or it "
            "writes its tokens in a way that is not supported"
        )


def continuation(
    encode: Callable[[str], list[int]], tokens: Sequence[bytes], special: Collection[int]
) -> Encode:
    """Make the hook `encode` of `VocabularyParts` from an encoder of whole texts.

    In the middle of a text there is no dummy prefix. Where the encoder adds one, the text is
    encoded behind a line break, which no piece of the vocabulary joins with what follows, and the
    line break's tokens are cut off. Either way the tokens' bytes must be the text.
    """

    def hook(text: bytes | str) -> list[int] | None:
        try:
            want = text if isinstance(text, bytes) else text.encode()
            text = want.decode()
        except UnicodeError:
            return None
        ids = encode(text)
        if joined(ids, tokens, special) == want:
            return ids
        marker = encode(_MARKER)
        ids = encode(_MARKER + text)
        if ids[: len(marker)] != marker:
            return None
        ids = ids[len(marker) :]
        return ids if joined(ids, tokens, special) == want else None

    return hook
