"""One engine that goes through MaskBench's schemas as `maskbench.py` hands them over, one by one.

Reads pickled jobs from the standard input, first the vocabulary, then `(schema, documents, measure
memory)`; writes a pickled result for each to the standard output. Times are nanoseconds of the
thread's CPU, minus what measuring nothing takes.
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
from typing import Any

import engines
import numpy as np

thread = time.thread_time_ns


class Earmark:
    """Schemas for earmark, with default options."""

    def __init__(self, engine: Any) -> None:
        import earmark

        self.engine, self.earmark = engine, earmark

    def compile(self, schema: Any) -> Any:
        try:
            return self.earmark.Grammar.from_json_schema(schema)
        except self.earmark.GrammarError as error:
            raise engines.RefusedError(str(error).partition("\n")[0]) from error

    def matcher(self, grammar: Any) -> Any:
        return self.engine.matcher(grammar)


class LLGuidance:
    """Schemas for llguidance, with default options and its slices for JSON."""

    def __init__(self, engine: Any) -> None:
        import llguidance

        self.llguidance = llguidance
        self.engine = engine
        slices = llguidance.LLTokenizer.json_slices()
        self.tokenizer = engine._tokenizer.with_slices(slices)

    def compile(self, schema: Any) -> Any:
        try:
            grammar = self.llguidance.LLMatcher.grammar_from_json_schema(schema)
        except ValueError as error:
            raise engines.RefusedError(str(error).partition("\n")[0]) from error
        matcher = self.llguidance.LLMatcher(self.tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise engines.RefusedError(matcher.get_error().partition("\n")[0])
        return matcher

    def matcher(self, grammar: Any) -> Any:
        return self.engine.matcher(grammar)


FRONT_ENDS = {"earmark": Earmark, "llguidance": LLGuidance}


def empty_measurement() -> int:
    return sorted(-thread() + thread() for _ in range(2001))[1000]


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
        self.front = FRONT_ENDS[job["engine"]](self.engine)
        self.out = np.zeros((len(job["tokens"]) + 31) // 32, dtype=np.int32)
        self.offset = empty_measurement()
        # What all schemas share is made before the first of them is measured.
        for schema in ({"type": "object", "additionalProperties": {"type": "string"}}, {}):
            self.run(schema, [job["warm"]], False)

    def feed(
        self, matcher: Any, document: list[int], masks: array[int], accepts: array[int]
    ) -> int:
        """How many tokens were taken. The masks of all positions that were reached are timed."""
        fill, arguments = self.engine.mask_call(matcher, self.out)
        accept = self.engine.accept_call(matcher)
        offset = self.offset
        for at, token in enumerate(document):
            start = thread()
            fill(*arguments)
            masks.append(thread() - start - offset)
            start = thread()
            allowed = accept(token)
            accepts.append(thread() - start - offset)
            if not allowed:
                return at
        start = thread()
        fill(*arguments)
        masks.append(thread() - start - offset)
        return len(document)

    def run(self, schema: Any, documents: list[list[int]], memory: bool) -> dict[str, Any]:
        """One schema: from the Python object to the first mask, then all documents."""
        if memory:
            forget()
            before = status("VmRSS")
        start = thread()
        try:
            grammar = self.front.compile(schema)
            matcher = self.front.matcher(grammar)
            fill, arguments = self.engine.mask_call(matcher, self.out)
            fill(*arguments)
        except engines.RefusedError as error:
            return {"refused": str(error)}
        found: dict[str, Any] = {"first": thread() - start - self.offset, "documents": []}
        for document in documents:
            masks, accepts = array("q"), array("q")
            taken = self.feed(self.front.matcher(grammar), document, masks, accepts)
            found["documents"].append((taken, masks, accepts))
        found["own"] = self.engine.grammar_bytes(grammar)
        if memory:
            found["growth"] = status("VmHWM") - before
        return found


def main() -> None:
    results = sys.stdout.buffer
    sys.stdout = sys.stderr
    worker = Worker(pickle.load(sys.stdin.buffer))
    gc.collect()
    gc.disable()
    pickle.dump({"version": worker.engine.version}, results)
    results.flush()
    while (job := pickle.load(sys.stdin.buffer)) is not None:
        try:
            found = worker.run(*job)
        except Exception as error:
            found = {"refused": f"{type(error).__name__}: {error}"}
        gc.collect(1)
        pickle.dump(found, results)
        results.flush()


if __name__ == "__main__":
    main()
