"""Fixtures: real vocabularies, skipped where the shared data is absent."""

from __future__ import annotations

import earmark
import pytest
import shared


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
