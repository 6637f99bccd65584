"""Where the rows of a call of `generate()` end.

`generate()` asks its stopping criteria after each token. A row that they end, by a stop string, a
criterion of the caller's own, the end token or the length, is padded while the others go on. What
pads it is no text, whichever token that is: it may be the one that ends texts, or one that the
grammar allows in a text. So the criteria's answers say where a row ends, not its tokens.

`Stops` takes these answers, in the order in which they come, and gives the end of each row while
the call runs. `Ends` keeps rows as they were when they ended, and finds them again in what
`generate()` gave, padded and in any order. Knows neither torch nor transformers.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]

__all__ = ["Ends", "Stops"]


class Ends:
    """Rows that have ended, to be found again behind which padding has come.

    Args:
        padding: The tokens that rows may be padded with.
    """

    def __init__(self, padding: Iterable[int] = ()) -> None:
        self._padding = np.array(sorted(padding), np.int64)
        self._rows: set[bytes] = set()

    def add(self, row: Ids) -> None:
        """A row has ended here."""
        self._rows.add(_hash(row).digest())

    def bare(self, row: Ids) -> Ids:
        """The row without any padding at its end, and without an end token."""
        text = np.flatnonzero(~np.isin(row, self._padding))
        return row[: int(text[-1]) + 1 if len(text) else 0]

    def of(self, row: Ids) -> list[int]:
        """The lengths at which a row may have ended, in order: behind each is but padding.

        There are several only where rows with the same tokens ended at different places.
        """
        if not self._rows:
            return []
        length = len(self.bare(row))
        beginning = _hash(row[:length])
        found = []
        while True:
            if beginning.digest() in self._rows:
                found.append(length)
            if length == len(row):
                return found
            beginning.update(row[length : length + 1].astype(np.int64).tobytes())
            length += 1


def _hash(tokens: Ids) -> blake2b:
    return blake2b(tokens.astype(np.int64).tobytes(), digest_size=16)


class Stops:
    """What the stopping criteria of a call have said.

    Attributes:
        are_followed: Whether somebody wants to know where beams end, which costs more.
    """

    def __init__(self) -> None:
        self.are_followed = False
        self._beams = self._pads = False
        self._lengths: Any = None
        """The length at which each row has ended, 0: not yet. On the device of the ids."""
        self._ids: Any = None
        self._before: list[int] = []
        self._ends = Ends()

    def begin(self, padding: set[int], *, beams: bool, pads: bool) -> None:
        """The criteria are made.

        Args:
            padding: The tokens that the call pads with.
            beams: Whether rows are beams, of which those that end are put aside.
            pads: Whether rows that have ended are padded while others go on. They are not where
                nothing but criteria other than the end token's may end a row: they go on then.
        """
        self._beams, self._pads = beams, pads
        self._lengths = self._ids = None
        self._before = []
        self._ends = Ends(padding)

    def go_on(self, ids: Ids, ends: Ends) -> None:
        """The call goes on with rows of another one: what was padded there stays ended.

        Args:
            ids: Of shape `(rows, length)`.
            ends: Where the other call ended rows.
        """
        for row in ids:
            length = min(ends.of(row), default=len(row))
            self._before.append(length if length < len(row) else 0)
            if self._before[-1]:
                self._ends.add(row[:length])

    def see(self, ids: Any, done: Any) -> None:
        """The criteria were asked.

        Args:
            ids: A tensor of shape `(rows, length)`.
            done: A tensor of booleans of shape `(rows,)`.
        """
        if self._beams:
            if self.are_followed:
                self._see_beams(ids, done.tolist())
            return
        if not self._pads:
            return
        before, seen = self._lengths, self._ids
        goes_on = seen is not None and len(seen) == len(ids) and seen.shape[1] < ids.shape[1]
        if not goes_on:
            # The first step, or that of another loop with the same criteria.
            before = done * 0
        # A row ends once: a criterion may be true of its padding as well.
        self._lengths = before + (before == 0) * done * ids.shape[1]
        self._ids = ids

    def _see_beams(self, ids: Any, done: list[bool]) -> None:
        rows = ids.detach().cpu().numpy() if any(done) else ()
        for number, row in enumerate(rows):
            # There are more rows here than beams that go on, but as many of each prompt.
            beam = number * len(self._before) // len(rows)
            if done[number] and not (self._before and self._before[beam]):
                self._ends.add(row)

    def lengths(self, ids: Any) -> list[int]:
        """For each row of this step the length at which it has ended, 0 if it goes on.

        Args:
            ids: The tensor that a logits processor got.

        Returns:
            Nothing if no row has ended. So it is with beams, of which those that have ended are
            not shown any more, and with rows that the criteria were not asked of, as of a draft.
        """
        before = self._before if len(self._before) == len(ids) else []
        seen = self._ids
        if seen is None:
            return before
        if seen is not ids and (seen.shape != ids.shape or not bool((seen == ids).all())):
            return before
        return self._all(before)

    def ends(self, output: Ids | None) -> Ends:
        """The rows that have ended, once the call is over.

        Args:
            output: What it gave, of shape `(rows, length)`; None if that is not known.
        """
        if output is not None and self._lengths is not None and len(output) == len(self._lengths):
            for row, length in zip(output, self._all(self._before), strict=True):
                self._ends.add(row[:length] if length else row)
        self._ids = None
        return self._ends

    def _all(self, before: list[int]) -> list[int]:
        lengths = [int(length) for length in self._lengths.tolist()]
        return [a or b for a, b in zip(before, lengths, strict=True)] if before else lengths
