"""`fill_mask`, `allocate_masks` and `apply_mask`: shapes, types, edges."""

import array
import sys
from typing import Any

import numpy as np
import pytest

from earmark import Grammar, Matcher, Vocabulary, allocate_masks, apply_mask

WIDTH = 70
WORDS = 3


@pytest.fixture
def vocabulary() -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(65)] + [b"</s>"]
    return Vocabulary(tokens, eos_token_ids=65, width=WIDTH)


@pytest.fixture
def matcher(vocabulary: Vocabulary) -> Matcher:
    return Matcher(Grammar.from_regex("[!*@]"), vocabulary)


ALLOWED = [ord(character) for character in "!*@"]


def test_allocate_masks(vocabulary: Vocabulary) -> None:
    masks = allocate_masks(4, vocabulary)
    assert masks.shape == (4, WORDS)
    assert masks.dtype == np.int32
    assert not masks.any()


def test_fill_mask_writes_one_row_and_all_of_it(vocabulary: Vocabulary, matcher: Matcher) -> None:
    masks = allocate_masks(3, vocabulary)
    masks[:] = -1
    matcher.fill_mask(masks, 1)
    assert masks[1].tolist() == matcher.next_mask().tolist()
    assert (masks[[0, 2]] == -1).all()
    matcher.fill_mask(masks, row=np.int64(2))
    assert masks[2].tolist() == masks[1].tolist()


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(WORDS, np.int32),
        np.zeros(WORDS, np.uint32),
        np.zeros((1, WORDS), np.int32),
        np.zeros((5, WORDS), np.int32)[2],
        np.zeros(WORDS, "<i4"),
        np.zeros((5, WORDS), np.int32)[2:4],
        array.array("i", [0] * WORDS),
        memoryview(bytearray(WORDS * 4)).cast("i"),
        memoryview(bytearray(WORDS * 4)).cast("I"),
    ],
    ids=lambda out: type(out).__name__,
)
def test_fill_mask_takes_any_buffer_of_words(matcher: Matcher, out: Any) -> None:
    matcher.fill_mask(out)
    words = np.asarray(out).view(np.int32).ravel()[:WORDS]
    assert words.tolist() == matcher.next_mask().tolist()


class Tensor:
    """What torch's CPU tensors are to `fill_mask`: no buffer, but `numpy()` shares memory."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def numpy(self) -> Any:
        return self.values


def test_fill_mask_takes_tensors(matcher: Matcher) -> None:
    tensor = Tensor(np.zeros((2, WORDS), np.int32))
    matcher.fill_mask(tensor, 1)
    assert tensor.values[1].tolist() == matcher.next_mask().tolist()


def read_only() -> Any:
    out = np.zeros(WORDS, np.int32)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (None, TypeError, "int32"),
        ([0] * WORDS, TypeError, "list"),
        (Tensor([0] * WORDS), TypeError, "int32"),
        (np.zeros(WORDS, np.int64), TypeError, "8 bytes"),
        (np.zeros(WORDS, np.float32), TypeError, "'f'"),
        (np.zeros(WORDS, ">i4"), TypeError, "'>i'"),
        (bytearray(WORDS * 4), TypeError, "1 bytes"),
        (np.zeros(WORDS * 4 + 1, np.uint8)[1:].view(np.int32), TypeError, "aligned"),
        (np.zeros(WORDS - 1, np.int32), ValueError, r"\(2,\)"),
        (np.zeros(WORDS + 1, np.int32), ValueError, r"\(batch, 3\)"),
        (np.zeros((2, 2), np.int32), ValueError, r"\(2, 2\)"),
        (np.zeros((1, 1, WORDS), np.int32), ValueError, "shape"),
        (np.zeros((), np.int32), TypeError, "int32 array"),
        (np.zeros((WORDS, 2), np.int32).T, ValueError, "contiguous"),
        (np.zeros(2 * WORDS, np.int32)[::2], ValueError, "contiguous"),
        (read_only(), ValueError, "read-only"),
        (bytes(WORDS * 4), TypeError, "1 bytes"),
    ],
)
def test_fill_mask_refuses(
    matcher: Matcher, out: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        matcher.fill_mask(out)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (2, IndexError),
        (-1, IndexError),
        (2**70, IndexError),
        (True, TypeError),
        (0.0, TypeError),
        ("0", TypeError),
    ],
)
def test_fill_mask_refuses_rows(matcher: Matcher, row: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="row"):
        matcher.fill_mask(np.zeros((2, WORDS), np.int32), row)


def test_a_single_row_has_no_second(matcher: Matcher) -> None:
    with pytest.raises(IndexError):
        matcher.fill_mask(np.zeros(WORDS, np.int32), 1)
    with pytest.raises(IndexError):
        matcher.fill_mask(np.zeros((0, WORDS), np.int32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("columns", [65, 66, WIDTH, WORDS * 32, 200])
def test_apply_mask_keeps_what_is_allowed(matcher: Matcher, dtype: Any, columns: int) -> None:
    logits = np.ones(columns, dtype)
    apply_mask(logits, matcher.next_mask())
    assert np.flatnonzero(logits == 1).tolist() == ALLOWED
    assert np.isneginf(logits[np.setdiff1d(np.arange(columns), ALLOWED)]).all()


def test_apply_mask_on_batches(vocabulary: Vocabulary, matcher: Matcher) -> None:
    masks = allocate_masks(3, vocabulary)
    matcher.fill_mask(masks, 1)
    masks[2] = -1
    logits = np.ones((3, 100), np.float32)
    apply_mask(logits, masks)
    assert [int(np.isfinite(row).sum()) for row in logits] == [0, len(ALLOWED), WORDS * 32]
    # One mask holds for every row, and uint32 means the same.
    logits = np.ones((2, WIDTH))
    apply_mask(logits, matcher.next_mask().view(np.uint32))
    assert np.isfinite(logits).sum() == 2 * len(ALLOWED)


def test_apply_mask_on_views(matcher: Matcher) -> None:
    whole = np.ones((WIDTH, 4), np.float32)
    apply_mask(whole[:, 1], matcher.next_mask())
    assert np.flatnonzero(np.isfinite(whole[:, 1])).tolist() == ALLOWED
    assert (whole[:, [0, 2, 3]] == 1).all()
    spread = np.zeros(2 * WORDS, np.int32)
    spread[::2] = matcher.next_mask()
    logits = np.ones(WIDTH)
    apply_mask(logits, spread[::2])
    assert np.flatnonzero(np.isfinite(logits)).tolist() == ALLOWED


def test_apply_mask_needs_a_column_for_each_allowed_id(matcher: Matcher) -> None:
    logits = np.ones(64)
    with pytest.raises(ValueError, match="token id 64, but the logits have 64 columns"):
        apply_mask(logits, matcher.next_mask())
    assert (logits == 1).all()


FULL = np.full(WORDS, -1, np.int32)


@pytest.mark.parametrize(
    ("logits", "mask", "error"),
    [
        ([1.0] * 96, FULL, TypeError),
        (np.ones(96, np.int32), FULL, TypeError),
        (np.ones(96, np.complex64), FULL, TypeError),
        (np.ones(96), FULL.astype(np.int64), TypeError),
        (np.ones(96), FULL.tolist(), TypeError),
        (np.ones(96), FULL.view(np.float32), TypeError),
        (np.ones((2, 96)), np.stack([FULL] * 3), ValueError),
        (np.ones(96), np.stack([FULL] * 2), ValueError),
        (np.ones((1, 1, 96)), FULL, ValueError),
        (np.ones(()), FULL, ValueError),
        (np.ones(96), np.array(1, np.int32), ValueError),
        (np.broadcast_to(np.ones(96), (2, 96)), FULL, ValueError),
    ],
)
def test_apply_mask_refuses(logits: Any, mask: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        apply_mask(logits, mask)


@pytest.mark.parametrize("shape", [(96,), (3, 96), (3, 130), (3, 70)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_torch_does_as_numpy_does(matcher: Matcher, shape: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    expected = np.ones(shape)
    apply_mask(expected, matcher.next_mask())
    for mask in (matcher.next_mask(), torch.from_numpy(matcher.next_mask())):
        logits = torch.ones(shape, dtype=getattr(torch, dtype))
        apply_mask(logits, mask)
        assert np.array_equal(logits.double().numpy(), expected)
    masks = torch.zeros((2, WORDS), dtype=torch.int32)
    matcher.fill_mask(masks, 1)
    assert masks[1].tolist() == matcher.next_mask().tolist()


def test_torch_is_not_imported(matcher: Matcher) -> None:
    if "torch" not in sys.modules:
        apply_mask(np.ones(WIDTH), matcher.next_mask())
        assert "torch" not in sys.modules
