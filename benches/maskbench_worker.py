"""One engine that goes through JSON schemas as `maskbench.py` hands them over, one by one.

Reads pickled jobs from the standard input, first the vocabulary, then `Job`s; writes a pickled
result for each to the standard output. Times are nanoseconds of the thread's CPU, minus what
measuring nothing takes.
"""

from __future__ import annotations

import ctypes
import gc
import pickle
import re
import sys
import time
from array import array
from pathlib import Path
from typing import Any, NamedTuple

import engines
import numpy as np

thread = time.thread_time_ns


class Job(NamedTuple):
    """A schema and its documents."""

    schema: Any
    documents: list[list[int]]
    passes: int = 2
    """How often the documents are fed, each time all of them."""
    seconds: float = 1e9
    """Documents are cut where so much CPU time is over."""
    memory: bool = False
    """Whether the growth of the process is measured."""


class Fed(NamedTuple):
    """A document that was fed: how many tokens were taken, and the times of all masks and tokens
    until then, that of a refused token included."""

    taken: int
    masks: array[int]
    accepts: array[int]


def empty_measurement(times: int = 2001) -> int:
    """What measuring nothing takes: the median of an odd number of times."""
    return sorted(-thread() + thread() for _ in range(times))[times // 2]


def status(key: str) -> int:
    """A figure of this process in bytes: `VmRSS`, or `VmHWM`, its highest since `forget`."""
    text = Path("/proc/self/status").read_text()
    found = re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def forget() -> None:
    """Gives back what was freed, and takes the present size as the highest so far."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


class Worker:
    def __init__(self, job: dict[str, Any]) -> None:
        self.engine = engines.load(job["engine"], job["tokens"], job["eos"], job["special"])
        self.out = np.zeros((len(job["tokens"]) + 31) // 32, dtype=np.int32)
        self.offset = 0
        # What all schemas share is made before the first of them is measured.
        for schema in job["warm"]["schemas"]:
            self.run(Job(schema, [job["warm"]["document"]]))

    def feed(self, matcher: Any, document: list[int], end: float) -> Fed:
        """A document from its start, until a token is refused or the time is over."""
        fill, arguments = self.engine.mask_call(matcher, self.out)
        accept = self.engine.accept_call(matcher)
        ready = self.engine.ready_call(matcher)
        offset = self.offset
        masks, accepts = array("q"), array("q")
        for at, token in enumerate(document):
            if ready:
                ready()
            start = thread()
            fill(*arguments)
            masks.append(thread() - start - offset)
            if time.process_time() > end:
                return Fed(at, masks, accepts)
            start = thread()
            allowed = accept(token)
            accepts.append(thread() - start - offset)
            if not allowed:
                return Fed(at, masks, accepts)
        if ready:
            ready()
        start = thread()
        fill(*arguments)
        masks.append(thread() - start - offset)
        return Fed(len(document), masks, accepts)

    def run(self, job: Job) -> dict[str, Any]:
        """One schema: from the Python object to the first mask, then all documents."""
        if job.memory:
            forget()
            before = status("VmRSS")
        # It changes with what else the machine does.
        self.offset = empty_measurement(201)
        end = time.process_time() + job.seconds
        start = thread()
        try:
            grammar = self.engine.compile_schema(job.schema)
            matcher = self.engine.matcher(grammar)
            fill, arguments = self.engine.mask_call(matcher, self.out)
            fill(*arguments)
        except engines.RefusedError as error:
            return {"refused": str(error)}
        found: dict[str, Any] = {"first": thread() - start - self.offset, "passes": []}
        for _ in range(job.passes):
            fed = []
            for document in job.documents:
                fed.append(tuple(self.feed(self.engine.matcher(grammar), document, end)))
            found["passes"].append(fed)
        found["own"] = self.engine.grammar_bytes(grammar)
        if job.memory:
            found["growth"] = status("VmHWM") - before
        return found


def main() -> None:
    results = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        worker = Worker(pickle.load(sys.stdin.buffer))
        answer: dict[str, Any] = {"version": worker.engine.version}
    except ModuleNotFoundError as error:
        answer = {"missing": str(error)}
    gc.collect()
    gc.disable()
    while True:
        pickle.dump(answer, results)
        results.flush()
        job = pickle.load(sys.stdin.buffer)
        if job is None:
            return
        try:
            answer = worker.run(Job(*job))
        except Exception as error:
            answer = {"refused": f"{type(error).__name__}: {error}"}
        gc.collect(1)


if __name__ == "__main__":
    main()
