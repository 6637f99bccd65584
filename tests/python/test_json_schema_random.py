"""Random schemas against the `jsonschema` package, by `tests/json_schema/random_check.py`.

`EARMARK_SLOW=1` tries more of them, `EARMARK_SEED=n` starts elsewhere.
"""

from __future__ import annotations

import os

import pytest

import shared
from random_check import Outcome, check

BLOCKS = 8
SCHEMAS = 1500 if shared.SLOW else 60
FIRST = int(os.environ.get("EARMARK_SEED", "0"))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_schemas(block: int) -> None:
    shared.tokenizer_text("gpt2")
    found = Outcome()
    first = FIRST + block * SCHEMAS
    for seed in range(first, first + SCHEMAS):
        found.add(check(seed))
    assert not found.differences, str(found)
    # Enough was compared on both sides, and little is refused.
    assert found.valid > 4 * SCHEMAS
    assert found.invalid > 4 * SCHEMAS
    assert found.walks > 4 * SCHEMAS
    assert found.refused.total() < 0.1 * SCHEMAS, str(found)
