"""Fixtures: real vocabularies, skipped where the shared data is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import llama_model
import shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import earmark


@pytest.fixture(params=["gpt2", "llama3", "gemma3"])
def model(request: pytest.FixtureRequest) -> str:
    """The name of a real vocabulary."""
    name: str = request.param
    shared.tokenizer_text(name)
    return name


@pytest.fixture
def byte_vocabulary() -> earmark.Vocabulary:
    """One token a byte, and an end of sequence."""
    return shared.byte_vocabulary()


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The address of llama-cpp-python's server with earmark."""
    pytest.importorskip("llama_cpp")
    with llama_model.serve() as address:
        yield address
