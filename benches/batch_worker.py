"""One engine that takes a batch of sequences through their documents, a step at a time.

Reads pickled jobs from the standard input and writes a pickled result for each to the standard
output, as `batch.py` hands them over: first the vocabulary and the number of threads, then

- `("check", schema, documents)`: which documents the engine takes whole;
- `("start", schemas, sequences)`: compiles the schemas and puts a matcher at the start of each
  sequence, which is (number of the schema, the documents that it goes through in turn);
- `("step",)`: all masks, then the next token of each sequence; one that is at a document's end
  goes on with the next, by a new matcher;
- `("again",)`: puts all sequences at their start once more.

A step's times are nanoseconds on the clock and of the process's CPU, all threads together.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from typing import Any

import engines
import numpy as np


class Earmark:
    """The two calls of earmark for a batch."""

    def __init__(self, threads: int) -> None:
        import earmark

        self.earmark, self.threads = earmark, threads

    def fill(self, matchers: list[Any], out: Any) -> None:
        self.earmark.fill_masks(matchers, out, threads=self.threads)

    def accept(self, matchers: list[Any], tokens: list[int]) -> bool:
        return bool(self.earmark.accept_all(matchers, tokens, threads=self.threads).all())


class LLGuidance:
    """llguidance's own pool of threads and its calls for a batch."""

    def __init__(self, threads: int) -> None:
        import llguidance.numpy

        self.numpy = llguidance.numpy
        self.executor = llguidance.LLExecutor(num_threads=threads)

    def fill(self, matchers: list[Any], out: Any) -> None:
        rows = [(matcher, row) for row, matcher in enumerate(matchers)]
        self.numpy.fill_next_token_bitmask_par(self.executor, rows, out)

    def accept(self, matchers: list[Any], tokens: list[int]) -> bool:
        pairs = list(zip(matchers, tokens, strict=True))
        return all(self.numpy.consume_token_par(self.executor, pairs))


CALLS: dict[str, type[Any]] = {"earmark": Earmark, "llguidance": LLGuidance}


class Worker:
    def __init__(self, job: dict[str, Any]) -> None:
        self.engine = engines.load(job["engine"], job["tokens"], job["eos"], job["special"])
        self.calls = CALLS[job["engine"]](job["threads"])
        self.words = (len(job["tokens"]) + 31) // 32

    def check(self, schema: Any, documents: list[list[int]]) -> list[bool]:
        try:
            grammar = self.engine.compile_schema(schema)
        except engines.RefusedError:
            return [False] * len(documents)
        taken = []
        for document in documents:
            accept = self.engine.accept_call(self.engine.matcher(grammar))
            taken.append(all(accept(token) for token in document))
        return taken

    def start(self, schemas: list[Any], sequences: list[tuple[int, list[list[int]]]]) -> None:
        self.grammars = [self.engine.compile_schema(schema) for schema in schemas]
        self.sequences = sequences
        self.out = np.zeros((len(sequences), self.words), dtype=np.int32)
        self.again()
        gc.collect()
        gc.freeze()

    def again(self) -> None:
        self.matchers = [self.engine.matcher(self.grammars[schema]) for schema, _ in self.sequences]
        self.places = [(0, 0)] * len(self.sequences)
        """Of each sequence the document that it is in, and the place there."""

    def step(self) -> tuple[int, int, int, int]:
        """Clock and CPU of the masks, then of the tokens."""
        tokens = []
        for row, (schema, documents) in enumerate(self.sequences):
            document, at = self.places[row]
            if at == len(documents[document]):
                self.matchers[row] = self.engine.matcher(self.grammars[schema])
                document, at = (document + 1) % len(documents), 0
            tokens.append(documents[document][at])
            self.places[row] = document, at + 1
        cpu, clock = time.process_time_ns(), time.perf_counter_ns()
        self.calls.fill(self.matchers, self.out)
        fill_clock, fill_cpu = time.perf_counter_ns() - clock, time.process_time_ns() - cpu
        cpu, clock = time.process_time_ns(), time.perf_counter_ns()
        taken = self.calls.accept(self.matchers, tokens)
        accept_clock, accept_cpu = time.perf_counter_ns() - clock, time.process_time_ns() - cpu
        if not taken:
            raise RuntimeError("a token was refused that was taken before")
        return fill_clock, fill_cpu, accept_clock, accept_cpu


def main() -> None:
    worker = Worker(pickle.load(sys.stdin.buffer))
    answer: Any = worker.engine.version
    gc.disable()
    while True:
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        job = pickle.load(sys.stdin.buffer)
        if job is None:
            return
        answer = getattr(worker, job[0])(*job[1:])


if __name__ == "__main__":
    main()
