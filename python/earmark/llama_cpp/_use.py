"""Whether a `Llama` has been used for something else between two tokens of a text."""

from __future__ import annotations

from typing import Any

import numpy as np


class Use:
    """One text's use of a `Llama`, which holds one context: that of its last use.

    Args:
        llama: A `llama_cpp.Llama`, as the text has just left it.
    """

    def __init__(self, llama: Any) -> None:
        self._llama = llama
        self.goes_on()

    def goes_on(self) -> None:
        """Take the `Llama`'s context as it is now for this text's."""
        self._tokens = np.array(self._context())

    def is_last(self) -> bool:
        """Whether the context is still the tokens of this text."""
        return bool(np.array_equal(self._tokens, self._context()))

    def _context(self) -> Any:
        return self._llama.input_ids[: self._llama.n_tokens]
