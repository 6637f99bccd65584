"""A progress bar on standard error, shown only where that is a terminal and the work is long."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

WIDTH = 30

#: Seconds of work before the bar is shown, and between two looks of it.
PATIENCE = 0.5
INTERVAL = 0.1


class Progress:
    """Counts steps of a known number; `unit` is what a step makes."""

    def __init__(self, total: int, unit: str) -> None:
        self.total = total
        self.unit = unit
        self.done = 0
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next_look = self._start + PATIENCE
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clear()

    def advance(self) -> None:
        """One step is done."""
        self.done += 1
        now = time.monotonic()
        if not self._terminal or now < self._next_look:
            return
        self._next_look = now + INTERVAL
        self._shown = True
        filled = WIDTH * self.done // self.total
        left = (now - self._start) / self.done * (self.total - self.done)
        sys.stderr.write(
            f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] "
            f"{self.done} of {self.total} {self.unit}, {left:.0f} s left\x1b[K"
        )
        sys.stderr.flush()

    def print(self, line: str) -> None:
        """Prints to standard output without mixing with the bar."""
        if sys.stdout.isatty():
            self._clear()
        print(line)

    def _clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
