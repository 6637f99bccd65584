"""Mask arrays, and how they are applied to a model's logits.

A mask is a row of int32 words: token id i is allowed where bit i % 32 of word i // 32 is 1. numpy
and torch are imported when they are needed first: torch only if a torch tensor comes in.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from earmark import Vocabulary

    Logits: TypeAlias = npt.NDArray[np.floating[Any]] | torch.Tensor
    Masks: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.uint32] | torch.Tensor

__all__ = ["allocate_masks", "apply_mask"]

WORD_BITS = 32


def allocate_masks(batch: int, vocabulary: Vocabulary) -> npt.NDArray[np.int32]:
    """An array for the masks of a batch, for `Matcher.fill_mask(out, row)`.

    Args:
        batch: The number of rows.
        vocabulary: Gives the number of words a row: `ceil(vocabulary.width / 32)`.

    Returns:
        int32 of shape `(batch, words)`. All bits are 0: a row allows nothing until a matcher
        fills it. Set a row to -1 to leave that sequence unconstrained.
    """
    import numpy as np

    width = getattr(vocabulary, "width", None)
    if not isinstance(width, int):
        msg = f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}"
        raise TypeError(msg)
    if batch < 0:
        msg = f"batch {batch} is no number of rows"
        raise ValueError(msg)
    return np.zeros((batch, -(-width // WORD_BITS)), np.int32)


def apply_mask(logits: Logits, mask: Masks) -> None:
    """Sets the logits of forbidden tokens to minus infinity, in place.

    Columns past the mask's bits are forbidden too. Logits may have fewer columns than the
    vocabulary has ids (some tokenizers know more tokens than their model) as long as the mask
    allows none of the ids that have no column.

    Args:
        logits: float16, float32 or float64 in numpy, any floating type in torch, on any device;
            of shape `(n,)` or `(batch, n)`.
        mask: int32 or uint32 of shape `(words,)`, which holds for every row of logits, or
            `(batch, words)`; a numpy array or a torch tensor.

    Raises:
        TypeError: Logits or mask have another type.
        ValueError: The shapes don't fit, the logits are read-only, or the mask allows an id that
            has no column.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(logits, torch.Tensor):
        _apply_to_torch(logits, mask)
    else:
        _apply_to_numpy(logits, mask)


def _apply_to_numpy(logits: Any, mask: Any) -> None:
    import numpy as np

    if not isinstance(logits, np.ndarray) or logits.dtype.kind != "f":
        raise TypeError(f"logits are a numpy array or torch tensor of floats, not {_kind(logits)}")
    if not logits.flags.writeable:
        raise ValueError("logits are read-only; apply_mask() changes them in place")
    np.copyto(logits, -np.inf, where=_forbidden(_mask_words(mask), logits.shape))


def _apply_to_torch(logits: Any, mask: Any) -> None:
    import torch

    if not logits.is_floating_point():
        raise TypeError(f"logits are a numpy array or torch tensor of floats, not {_kind(logits)}")
    on_cpu = logits.device.type == "cpu"
    known_to_numpy = logits.dtype in (torch.float16, torch.float32, torch.float64)
    if on_cpu and known_to_numpy and not logits.requires_grad:
        # PERF: 128,256 float32 logits, 2 busy cores: 67 µs, against 900 to 5,200 µs with
        # torch's masked_fill_ and its threads.
        _apply_to_numpy(logits.numpy(), mask)
        return
    if on_cpu:
        forbidden = torch.from_numpy(_forbidden(_mask_words(mask), tuple(logits.shape)))
    else:
        # The packed words are 32 times smaller than what they unpack to: unpack on the device.
        words = mask if isinstance(mask, torch.Tensor) else torch.from_numpy(_mask_words(mask))
        forbidden = _forbidden_on_device(words.to(logits.device), tuple(logits.shape))
    logits.masked_fill_(forbidden, float("-inf"))


def _mask_words(mask: Any) -> npt.NDArray[np.int32]:
    """The mask as an int32 numpy array; a torch tensor on another device is copied."""
    import numpy as np

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(mask, torch.Tensor):
        mask = mask.cpu().numpy()
    if not isinstance(mask, np.ndarray) or mask.dtype not in (np.int32, np.uint32):
        raise TypeError(f"a mask is an array of int32 or uint32, not {_kind(mask)}")
    return np.require(mask, requirements="C").view(np.int32)


def _forbidden(words: npt.NDArray[np.int32], shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Which logits are forbidden, in a shape that broadcasts to the logits' shape."""
    import numpy as np

    columns, rows = _check_shapes(shape, words.shape)
    octets = words.astype("<i4", copy=False).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    if bits[..., columns:].any():
        raise ValueError(_without_column(int(bits[..., columns:].nonzero()[-1].min()), columns))
    forbidden = np.ones((*rows, columns), np.bool_)
    known = bits[..., :columns].view(np.bool_)
    np.logical_not(known, out=forbidden[..., : known.shape[-1]])
    return forbidden


def _forbidden_on_device(words: Any, shape: tuple[int, ...]) -> Any:
    """What `_forbidden` does, on the device that the words are on."""
    import torch

    if words.dtype not in (torch.int32, getattr(torch, "uint32", torch.int32)):
        raise TypeError(f"a mask is an array of int32 or uint32, not {_kind(words)}")
    columns, rows = _check_shapes(shape, tuple(words.shape))
    shifts = torch.arange(WORD_BITS, dtype=torch.int32, device=words.device)
    bits = ((words.view(torch.int32).unsqueeze(-1) >> shifts) & 1).flatten(-2).bool()
    beyond = bits[..., columns:]
    if beyond.numel() and bool(beyond.any()):
        raise ValueError(_without_column(int(beyond.nonzero()[:, -1].min()), columns))
    known = bits[..., :columns]
    forbidden = torch.ones((*rows, columns), dtype=torch.bool, device=words.device)
    forbidden[..., : known.shape[-1]] = ~known
    return forbidden


def _check_shapes(logits: tuple[int, ...], mask: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """The number of columns, and the mask's rows as they broadcast to the logits."""
    match logits, mask:
        case (((columns,) | (_, columns)), (_,)):
            return columns, ()
        case (batch, columns), (rows, _) if rows == batch:
            return columns, (batch,)
    raise ValueError(
        f"logits of shape {logits} and a mask of shape {mask} don't fit: "
        "logits are (n,) or (batch, n), the mask is (words,) or (batch, words)"
    )


def _without_column(past: int, columns: int) -> str:
    return (
        f"the mask allows token id {columns + past}, but the logits have {columns} columns: "
        "is this the vocabulary of the model?"
    )


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return type(value).__name__ if dtype is None else f"{type(value).__name__} of {dtype}"
