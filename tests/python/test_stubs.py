"""`_earmark.pyi`, the reference, says what the extension module has."""

import subprocess
import sys
from pathlib import Path

import pytest

import earmark._earmark

ROOT = Path(__file__).parents[2]


def test_the_stub_agrees_with_the_module() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "earmark._earmark"]
    command += ["--mypy-config-file", str(ROOT / "pyproject.toml")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "tests")
    assert result.returncode == 0, result.stdout + result.stderr


def test_everything_is_documented() -> None:
    stub = (Path(earmark._earmark.__file__).parent / "_earmark.pyi").read_text()
    for name in earmark._earmark.__all__:
        thing = getattr(earmark._earmark, name)
        for member in vars(thing) if isinstance(thing, type) else ():
            if not member.startswith("_"):
                place = stub.index(f"def {member}(", stub.index(f"class {name}"))
                assert '"""' in stub[place : place + 900], f"{name}.{member}"
