"""A worker in a process of its own, which is handed pickled jobs one by one.

It reads jobs from its standard input and writes a pickled result for each to its standard output;
`None` ends it. Whoever asks may set a time of CPU, past which the process is killed: a peer that
never comes back, or crashes, ends its own process only.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


# How much more time on the clock than of CPU a process gets: the machine may be busy.
PATIENCE = 50


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
            EndedError: the process took more than `seconds` of CPU, or `PATIENCE` times that on
                the clock, or it ended without a result.
        """
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(job, self._process.stdin)
            self._process.stdin.flush()
            start, used = time.monotonic(), self._cpu()
            while not select.select([self._process.stdout], [], [], 0.5)[0]:
                cpu, clock = self._cpu() - used, time.monotonic() - start
                if seconds is not None and (cpu > seconds or clock > PATIENCE * seconds):
                    raise EndedError(f"> {seconds:.0f} s")
            return pickle.load(self._process.stdout)
        except EndedError:
            self._process.kill()
            self._process.wait()
            raise
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise EndedError(f"crashed: status {self._process.wait()}") from error

    def _cpu(self) -> float:
        """Seconds of CPU, all threads together."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text()
        except FileNotFoundError:
            return 0.0
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Lets it end, after it has answered all jobs."""
        assert self._process.stdin
        if self._process.poll() is None:
            pickle.dump(None, self._process.stdin)
            self._process.stdin.close()
            self._process.wait(timeout=20)
