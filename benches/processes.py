"""A worker in a process of its own, which is handed pickled jobs one by one.

It reads jobs from its standard input and writes a pickled result for each to its standard output;
`None` ends it. Whoever asks may set a time, past which the process is killed: a peer that never
comes back, or crashes, ends its own process only.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


class EndedError(Exception):
    """The process is no more: it took too long, or it crashed."""


class Process:
    """A worker that waits for jobs; `python` may be of another environment than ours."""

    def __init__(self, script: Path, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ENVIRONMENT},
        )

    def ask(self, job: Any, seconds: float | None = None) -> Any:
        """The result of a job.

        Raises:
            EndedError: it was not there in time, or the process ended without one.
        """
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(job, self._process.stdin)
            self._process.stdin.flush()
            ready, _, _ = select.select([self._process.stdout], [], [], seconds)
            if not ready:
                raise EndedError(f"> {seconds:.0f} s")
            return pickle.load(self._process.stdout)
        except EndedError:
            self._process.kill()
            self._process.wait()
            raise
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise EndedError(f"crashed: status {self._process.wait()}") from error

    def end(self) -> None:
        """Lets it end, after it has answered all jobs."""
        assert self._process.stdin
        if self._process.poll() is None:
            pickle.dump(None, self._process.stdin)
            self._process.stdin.close()
            self._process.wait(timeout=20)
