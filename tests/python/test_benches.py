"""The benchmarks as tests: their documents, their counts, and a short run of the comparison."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import earmark
import shared

if TYPE_CHECKING:
    from pathlib import Path

BENCHES = shared.ROOT / "benches"
CASES: list[dict[str, Any]] = tomllib.loads((BENCHES / "cases.toml").read_text("utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_counts(case: dict[str, Any]) -> None:
    vocabulary = shared.vocabulary("llama3")
    text = (BENCHES / "documents" / case["document"]).read_text(encoding="utf-8")
    document = shared.tokenizer("llama3").encode(text, add_special_tokens=False).ids
    assert len(document) == case["tokens"]
    matcher = earmark.Matcher(shared.load(case["grammar"]), vocabulary)
    expected = dict(case["allowed"])
    found = {}
    for at in range(len(document) + 1):
        if at in expected:
            found[at] = len(matcher.allowed_tokens())
        if at < len(document):
            matcher.accept(document[at])
    assert found == expected
    assert matcher.is_accepting


def test_comparison_runs(tmp_path: Path) -> None:
    shared.tokenizer_text("gpt2")
    pytest.importorskip("tokenizers")
    results = tmp_path / "results.json"
    command = [sys.executable, str(BENCHES / "compare.py"), "--quick", "--engines", "earmark"]
    command += ["--cases", "json", "words", "--json", str(results)]
    command += ["--tokenizer", str(shared.SHARED / "tokenizers" / "gpt2.json.gz")]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    assert "JSON, white space anywhere" in run.stdout
    figures = json.loads(results.read_text("utf-8"))["cases"]["json"]["earmark"]
    assert figures["trouble"] is None
    for mode in ("cold", "fresh", "warm"):
        assert 0 < figures[mode]["mask_mean"] < 1e5
        assert len(figures[mode]["masks"]) == figures[mode]["positions"]
    command = [sys.executable, str(BENCHES / "readme.py"), str(results)]
    table = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    assert "earmark: masks" in table
    assert "| JSON, white space anywhere |" in table


def test_schemas_are_measured(tmp_path: Path) -> None:
    shared.tokenizer_text("gpt2")
    pytest.importorskip("tokenizers")
    document = {"name": "Ada", "tags": ["mathematics"]}
    strings = {"type": "array", "items": {"type": "string"}}
    schema = {"properties": {"name": {"type": "string"}, "tags": strings}}
    tests = [{"valid": True, "data": document}, {"valid": False, "data": {"name": 1}}]
    (tmp_path / "one.json").write_text(json.dumps({"schema": schema, "tests": tests}))
    (tmp_path / "two.json").write_text(json.dumps({"schema": {"minimum": "1"}, "tests": tests}))
    results = tmp_path / "results"
    command = [sys.executable, str(BENCHES / "maskbench.py"), "--data", str(tmp_path)]
    command += ["--engines", "earmark", "--json", str(results), "--rounds", "2", "--slowest", "1"]
    command += ["--tokenizer", str(shared.SHARED / "tokenizers" / "gpt2.json.gz")]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    assert "| first mask | mean |" in run.stdout
    assert "- mask of " in run.stdout
    figures = json.loads(results.read_text("utf-8"))["engines"]["earmark"]
    assert (figures["given"], figures["refused"], figures["refused documents"]) == (2, 1, 0)
    tokenizer = shared.tokenizer("gpt2")
    tokens = tokenizer.encode(json.dumps(document), add_special_tokens=False).ids
    # All of the first document, and the second up to the number; a mask more for each.
    assert figures["own"]["accept"]["count"] == figures["own"]["mask"]["count"] - 2
    assert figures["own"]["mask"]["count"] > len(tokens) + 2
    for kind in ("mask", "accept", "first mask", "mask again", "accept again"):
        assert 0 < figures["own"][kind]["p50"] <= figures["own"][kind]["max"] < 1e6
        assert figures["own"][kind] == figures["same"][kind] == figures["ours"][kind]
    command = [sys.executable, str(BENCHES / "readme.py"), str(results)]
    table = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    assert "2 schemas, 50,257 tokens." in table


def test_engines_that_are_missing_or_stop_are_told(tmp_path: Path) -> None:
    shared.tokenizer_text("gpt2")
    pytest.importorskip("tokenizers")
    case = {"schema": {"type": "string"}, "tests": [{"valid": True, "data": "text"}]}
    (tmp_path / "one.json").write_text(json.dumps(case))
    # An interpreter that has no packages at all, and one that ends at once.
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    command = [sys.executable, str(BENCHES / "maskbench.py"), "--data", str(tmp_path)]
    command += ["--tokenizer", str(shared.SHARED / "tokenizers" / "gpt2.json.gz")]
    command += ["--engines", "llguidance", "xgrammar"]
    command += ["--python", f"llguidance={bare}", "xgrammar=/bin/false"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    assert "skipped: llguidance:" in run.stdout
    assert "pip install llguidance" in run.stdout
    assert "skipped: xgrammar: crashed" in run.stdout
    assert "| mask | mean |" in run.stdout


SPINNER = """
import pickle, sys
while (job := pickle.load(sys.stdin.buffer)) != "spin":
    pickle.dump(job, sys.stdout.buffer)
    sys.stdout.buffer.flush()
while True:
    pass
"""
ASKER = """
import sys
from pathlib import Path
import processes
process = processes.Process(Path(sys.argv[1]))
print(process.ask("back", 20))
try:
    process.ask("spin", 1)
except processes.EndedError as error:
    print(error)
process.end()
"""


def test_a_worker_that_never_comes_back_is_ended(tmp_path: Path) -> None:
    worker = tmp_path / "spinner.py"
    worker.write_text(SPINNER)
    command = [sys.executable, "-c", ASKER, str(worker)]
    run = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=100, cwd=BENCHES
    )
    assert run.stdout == "back\n> 1 s\n"


def test_batches_run() -> None:
    shared.tokenizer_text("llama3")
    pytest.importorskip("tokenizers")
    if not (shared.SHARED / "maskbench").exists():
        pytest.skip("no shared/maskbench")
    command = [sys.executable, str(BENCHES / "batch.py"), "--engines", "earmark"]
    command += ["--sequences", "8", "--schemas", "2", "--steps", "3", "--threads", "1", "2"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    assert "8 sequences of 2 schemas" in run.stdout
    for kind in ("masks, clock", "masks, CPU", "tokens, clock", "tokens, CPU"):
        for threads in (1, 2):
            assert f"| {kind} | new | {threads} | earmark |" in run.stdout
            assert f"| {kind} | known | {threads} | earmark |" in run.stdout


def test_vocabularies_are_measured() -> None:
    shared.tokenizer_text("gpt2")
    command = [sys.executable, str(BENCHES / "vocabularies.py"), "gpt2"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert "| gpt2 | 50,257 |" in run.stdout
