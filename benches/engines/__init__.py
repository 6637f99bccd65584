"""The engines behind one face, as thin as Python allows: what is timed is each engine's own call.

An adapter is told the bytes of all tokens and a grammar's text in a dialect it knows; it says how
to compile, how to start a matcher, and which bound method with which arguments fills a mask. No
adapter knows the clock.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt
    from sources import Source

# Columns in this order; `xgrammar-dynamic` is xgrammar with masks made when first needed.
NAMES = ("earmark", "llguidance", "xgrammar", "xgrammar-dynamic")
# Those that take a JSON Schema.
SCHEMA_NAMES = (*NAMES, "llama.cpp", "outlines-core")
# How to get them.
INSTALL = {
    "earmark": "maturin develop --release",
    "llguidance": "pip install llguidance",
    "xgrammar": "pip install --no-deps xgrammar && pip install apache-tvm-ffi pydantic",
    "llama.cpp": "pip install llama-cpp-python gguf",
    "outlines-core": "pip install outlines-core",
}


class RefusedError(Exception):
    """The engine does not take this grammar, or not this document."""


class Engine(Protocol):
    """One engine with one vocabulary."""

    version: str

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None: ...

    def prepare(self, source: Source) -> str:
        """The text to compile: a translation that is not timed."""

    def compile(self, text: str, dialect: str) -> Any:
        """The grammar; raises `RefusedError`."""

    def compile_schema(self, schema: Any) -> Any:
        """The grammar of a JSON Schema, a Python object; raises `RefusedError`."""

    def matcher(self, grammar: Any) -> Any:
        """A generation at its start; raises `RefusedError`."""

    def ready_call(self, matcher: Any) -> Callable[[], Any] | None:
        """What has to be done before each mask and is not timed, if anything."""

    def mask_call(
        self, matcher: Any, out: npt.NDArray[np.int32]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """What fills `out` (one row of int32), and its arguments."""

    def accept_call(self, matcher: Any) -> Callable[[int], bool]:
        """What takes a token and says whether it was allowed."""

    def reason(self, matcher: Any) -> str:
        """Why it did not take the last token, in a line; empty if the engine doesn't say."""

    def grammar_bytes(self, grammar: Any) -> int | None:
        """The memory of a grammar by the engine's own account, if it keeps one."""


def base(name: str) -> str:
    """The package that a variant is of."""
    return name.removesuffix("-dynamic")


def load(name: str, tokens: list[bytes], eos: list[int], special: list[int]) -> Engine:
    """Imports an engine and gives it the vocabulary."""
    module = import_module(f"engines.{base(name).replace('.', '_').replace('-', '_')}_engine")
    engine: Engine = module.ENGINES[name](tokens, eos, special)
    return engine
