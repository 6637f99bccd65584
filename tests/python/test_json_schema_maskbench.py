"""MaskBench's schemas, by `tests/json_schema/maskbench.py`, against the committed verdicts.

All of them with `EARMARK_SLOW=1`, else an even sample.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import maskbench
import shared

pytestmark = pytest.mark.skipif(not maskbench.DATA.exists(), reason=f"no {maskbench.DATA}")


def verdicts(data: dict[str, Any]) -> dict[str, Any]:
    """What a results' file says of each schema that does not simply pass."""
    found: dict[str, Any] = {
        name: verdict for verdict in ("order", "options") for name in data[verdict]
    }
    for kind in ("refused", "failed", "wrong_accept", "wrong_reject"):
        found |= {name: (kind, what) for name, what in data[kind].items()}
    return found


def test_verdicts_are_those_written_down() -> None:
    pytest.importorskip("tokenizers")
    lines = list(maskbench.schemas())[:: 1 if shared.SLOW else 30]
    ids = {json.loads(line)["id"] for line in lines}
    data = maskbench.report(maskbench.run(lines))
    written = verdicts(json.loads(maskbench.RESULTS.read_text("utf-8")))
    assert verdicts(data) == {name: what for name, what in written.items() if name in ids}
    assert not data["wrong_accept"]
    assert not data["wrong_reject"]
    assert not data["failed"]
    assert not data["labels"]
    assert data["pass_or_order_percent"] > 95


def test_times_are_measured() -> None:
    shared.tokenizer_text("llama3")
    command = [sys.executable, str(shared.ROOT / "benches" / "maskbench.py")]
    command += ["--engines", "earmark", "--sample", "earmark=4", "--slowest", "2"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    assert "| schemas given |  | 4 |" in run.stdout
    assert "| first mask |" in run.stdout
    assert "Slowest of earmark:" in run.stdout
