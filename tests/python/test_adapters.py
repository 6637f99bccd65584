"""What the adapters share: end of sequence, width, the check against the encoder, the hook.

The functions without `test_` are for the other test files of the adapters.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from earmark import VocabularyError
from earmark.adapters._encoding import PLAIN, check_table, continuation, dummy_prefix
from earmark.adapters._eos import choose_eos, known_eos
from earmark.adapters._parts import assemble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from earmark.adapters._parts import VocabularyParts

_RANGES = ((0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x5FF), (0x4E00, 0x9FFF), (0x1F300, 0x1FAFF))


def random_texts(count: int = 60) -> Iterator[str]:
    """Texts of characters of one to four bytes, with white space among them."""
    chance = random.Random(20)
    for _ in range(count):
        ranges = chance.choices(_RANGES, k=2)
        yield "".join(
            chance.choice(" \n\t")
            if chance.random() < 0.2
            else chr(chance.randint(*chance.choice(ranges)))
            for _ in range(chance.randint(1, 40))
        ).replace("\u00ad", "")


def assert_spells(
    parts: VocabularyParts, encode: Callable[[str], list[int]], prefix: str = ""
) -> None:
    """The tokens of a text, put together, are the text; so are those of the hook.

    The encoder may put `prefix` in front, the hook may not.
    """
    assert parts.encode is not None
    for text in random_texts():
        spelt = b"".join(parts.tokens[token] for token in encode(text))
        assert spelt in {text.encode(), (prefix + text).encode()}
        ids = parts.encode(text.encode())
        assert ids is not None
        assert b"".join(parts.tokens[token] for token in ids) == text.encode()


def letters(text: str) -> list[int]:
    """An encoder with a token for each ASCII character."""
    return list(text.encode())


TOKENS = [bytes([byte]) for byte in range(256)]


def test_well_known_names_end_a_generation() -> None:
    special = {7: "<|end_of_text|>", 9: "<|eot_id|>", 3: "<|start_header_id|>", 4: "</S>"}
    assert known_eos(special) == {7, 9}


def test_end_of_a_harmony_message_is_not_end_of_sequence() -> None:
    assert known_eos({1: "<|end|>", 2: "<|endoftext|>"}) == {1, 2}
    assert known_eos({1: "<|end|>", 2: "<|return|>", 3: "<|call|>"}) == {2, 3}


@pytest.mark.parametrize(("asked", "chosen"), [(None, (1, 4)), (3, (3,)), ([2, 0], (2, 0))])
def test_asked_end_of_sequence_wins(asked: int | list[int] | None, chosen: tuple[int]) -> None:
    assert choose_eos(asked, {4, 1}, size=5, source="it") == chosen


@pytest.mark.parametrize(
    ("asked", "found", "message"),
    [
        (None, [], r"no end-of-sequence token is known for it; pass eos_token_ids="),
        ([], [1], r"eos_token_ids is empty"),
        (5, [1], r"token 5 is out of range: it has the ids 0 to 4"),
        ([-1], [1], r"token -1 is out of range"),
    ],
)
def test_bad_end_of_sequence(asked: int | list[int] | None, found: list[int], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        choose_eos(asked, found, size=5, source="it")


def fit(width: int | None, special: tuple[int, ...] = (2, 3)) -> VocabularyParts:
    return assemble(
        [b"a", b"b", b"<eos>", b"<image>"],
        eos_token_ids=[2],
        special_token_ids=special,
        width=width,
        encode=None,
    )


@pytest.mark.parametrize(("width", "tokens"), [(None, 4), (4, 4), (10, 4), (3, 3)])
def test_width(width: int | None, tokens: int) -> None:
    parts = fit(width)
    assert len(parts.tokens) == tokens
    assert parts.width == (width or 4)
    assert parts.special_token_ids == tuple(range(2, tokens))


def test_width_must_not_cut_text_or_the_last_end_of_sequence() -> None:
    with pytest.raises(VocabularyError, match=r"width 3 is too small: token 3 is the text b'<im"):
        fit(3, special=(2,))
    with pytest.raises(VocabularyError, match="no end-of-sequence token is below width 2"):
        fit(2)


def test_mismatch_names_text_and_tokens() -> None:
    tokens = [*TOKENS]
    tokens[ord("q")] = b"?"
    with pytest.raises(VocabularyError, match=r"'the quick brown fox' as the tokens \[116.*b'\?'"):
        check_table(tokens, (), letters, seen=str.encode)


def test_special_tokens_do_not_spell_text() -> None:
    with pytest.raises(VocabularyError, match="encodes 'the quick brown fox'"):
        check_table(TOKENS, {ord("q")}, letters, seen=str.encode)


def test_texts_that_cannot_be_written_say_nothing() -> None:
    tokens = [*TOKENS[:128], *[b"?"] * 128]
    check_table(tokens, (), letters, seen=str.encode, unknown=range(128, 256))
    with pytest.raises(VocabularyError, match="naïve"):
        check_table(tokens, (), letters, seen=str.encode)


def test_plain_text_may_get_one_space_in_front_and_nothing_else() -> None:
    check_table(
        TOKENS, (), lambda text: letters(" " + text), seen=lambda text: b" " + text.encode()
    )
    with pytest.raises(VocabularyError, match=PLAIN):
        check_table(
            TOKENS, (), lambda text: letters(text.upper()), seen=lambda text: text.upper().encode()
        )


def test_hook_cuts_the_dummy_prefix_off() -> None:
    def encode(text: str) -> list[int]:
        return letters(" " + text)

    assert dummy_prefix(letters, TOKENS, ()) == b""
    assert dummy_prefix(encode, TOKENS, ()) == b" "
    hook = continuation(encode, TOKENS, ())
    assert hook(b"ab") == letters("ab")
    assert hook("\n é") == letters("\n é")
    assert hook(b"") == []


def test_hook_gives_nothing_for_what_has_no_tokens() -> None:
    hook = continuation(letters, TOKENS, {ord("<")})
    assert hook(b"\xff") is None
    assert hook("é".encode()[:1]) is None
    assert hook("\ud800") is None
    assert hook("a<b") is None
