"""The folder `examples` runs, with a real model."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import llama_model as models
from shared import ROOT

pytest.importorskip("llama_cpp")


def run(name: str, argument: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), argument]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_extract_pydantic() -> None:
    order = json.loads(run("extract_pydantic", str(models.smollm2_path())))
    assert set(order) == {"product", "cups", "name"}
    assert 1 <= order["cups"] <= 20


def test_sql_lark() -> None:
    query, rows = run("sql_lark", str(models.smollm2_path())).splitlines()
    assert query.startswith("SELECT ")
    assert rows.startswith("[")


def test_tool_call() -> None:
    room, _, degrees = run("tool_call", str(models.smollm2_path())).strip().partition(": ")
    assert room in ("kitchen", "bedroom", "bath")
    assert 5 <= float(degrees.removesuffix(" °C")) <= 30


def test_openai_client(llama_server: Any) -> None:
    said = run("openai_client", llama_server)
    assert said.startswith("feeling=<Feeling.")
    assert " stars=" in said
