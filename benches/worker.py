"""One engine, one case, one process: `compare.py` starts it and reads a JSON object a line.

Takes a pickled job on the standard input. Writes `{"event": …}` lines as soon as each part is
done, so that what was measured before a time limit is kept. Times are nanoseconds, with the cost
of an empty measurement taken off the CPU times.
"""

from __future__ import annotations

import ctypes
import gc
import json
import pickle
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engines
import numpy as np

if TYPE_CHECKING:
    from sources import Source

perf, thread, process = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns


def say(event: str, **values: Any) -> None:
    print(json.dumps({"event": event, **values}), flush=True)


def resident() -> int:
    """Bytes of this process in memory, without what was freed but is kept for later."""
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def empty_measurement(clock: Any) -> int:
    """What a measurement of nothing takes, by its own clock."""
    return sorted(-clock() + clock() for _ in range(2001))[1000]


class Run:
    """A document fed once: each step's mask and accept, by the wall and by the CPU."""

    def __init__(self, steps: int) -> None:
        self.mask_wall = [0] * (steps + 1)
        self.mask_cpu = [0] * (steps + 1)
        self.accept_wall = [0] * steps
        self.accept_cpu = [0] * steps
        self.first_wall = 0
        self.first_cpu = 0
        self.refused: int | None = None
        self.reason = ""

    def cut(self, steps: int, reason: str) -> Run:
        """Only what came before a token that the engine did not take."""
        for times in (self.mask_wall, self.mask_cpu):
            del times[steps + 1 :]
        for times in (self.accept_wall, self.accept_cpu):
            del times[steps:]
        self.refused, self.reason = steps, reason
        return self


class Worker:
    def __init__(self, job: dict[str, Any]) -> None:
        self.document: list[int] = job["document"]
        self.source: Source = job["source"]
        self.offset = empty_measurement(thread)
        before = resident()
        wall, cpu = perf(), process()
        self.engine = engines.load(job["engine"], job["tokens"], job["eos"], job["special"])
        wall, cpu = perf() - wall, process() - cpu
        say("vocabulary", wall=wall, cpu=cpu, memory=resident() - before,
            version=self.engine.version)  # fmt: skip
        text = self.engine.prepare(self.source)
        dialect = self.source.dialect
        # An engine may have translated the text to its own language.
        if text != self.source.text:
            dialect = "lark"
        self.source = type(self.source)(text, dialect)
        self.words = (len(job["tokens"]) + 31) // 32
        self.out = np.zeros(self.words, dtype=np.int32)

    def build(self, number: int) -> tuple[Any, Any, int, int]:
        """A grammar as a text never seen, compiled, and a matcher; what both took."""
        text = self.source.renamed(number)
        wall, cpu = perf(), process()
        grammar = self.engine.compile(text, self.source.dialect)
        matcher = self.engine.matcher(grammar)
        return grammar, matcher, perf() - wall, process() - cpu

    def feed(self, matcher: Any) -> Run:
        """The whole document, through a matcher at its start."""
        fill, arguments = self.engine.mask_call(matcher, self.out)
        accept = self.engine.accept_call(matcher)
        run = Run(len(self.document))
        offset = self.offset
        for at, token in enumerate(self.document):
            cpu = thread()
            wall = perf()
            fill(*arguments)
            run.mask_wall[at] = perf() - wall
            run.mask_cpu[at] = thread() - cpu - offset
            cpu = thread()
            wall = perf()
            allowed = accept(token)
            run.accept_wall[at] = perf() - wall
            run.accept_cpu[at] = thread() - cpu - offset
            if not allowed:
                return run.cut(at, self.engine.reason(matcher))
        cpu = thread()
        wall = perf()
        fill(*arguments)
        run.mask_wall[-1] = perf() - wall
        run.mask_cpu[-1] = thread() - cpu - offset
        return run

    def counts(self, grammar: Any) -> list[int]:
        """How many tokens are allowed before each token and at the end."""
        matcher = self.engine.matcher(grammar)
        fill, arguments = self.engine.mask_call(matcher, self.out)
        accept = self.engine.accept_call(matcher)
        found = []
        for token in [*self.document, None]:
            fill(*arguments)
            found.append(int(np.bitwise_count(self.out.view(np.uint32)).sum()))
            if token is None or not accept(token):
                break
        return found

    def time(self, repeats: int, seconds: float) -> None:
        """Cold, then fresh grammars, then everything known; each at least once."""
        end = perf() + int(seconds * 1e9)
        for number in range(repeats + 1):
            grammar, matcher, wall, cpu = self.build(number)
            if number == 0:
                say("compiled", wall=wall, cpu=cpu)
            run = self.feed(matcher)
            # Grammar text → first mask: what a user waits for.
            run.first_wall = wall + run.mask_wall[0]
            run.first_cpu = cpu + run.mask_cpu[0]
            say("run", mode="fresh" if number else "cold", **vars(run))
            if number and perf() > end:
                break
        for _ in range(repeats):
            say("run", mode="warm", **vars(self.feed(self.engine.matcher(grammar))))
            if perf() > end + int(seconds * 1e9):
                break
        say("counts", counts=self.counts(grammar))

    def memory(self, seconds: float) -> None:
        """Many grammars kept alive, then many matchers of one: the process' growth for each."""
        end = perf() + int(seconds * 1e9)
        kept = []
        grammar, matcher, *_ = self.build(0)
        self.feed(matcher)
        before = resident()
        for number in range(1, 17):
            grammar, matcher, *_ = self.build(number)
            self.feed(matcher)
            kept.append(grammar)
            if perf() > end:
                break
        say("grammars", memory=(resident() - before) // len(kept),
            own=self.engine.grammar_bytes(grammar))  # fmt: skip
        matchers = []
        before = resident()
        for _ in range(64):
            matcher = self.engine.matcher(grammar)
            self.feed(matcher)
            matchers.append(matcher)
            if perf() > end + int(seconds * 1e9):
                break
        say("matchers", memory=(resident() - before) // len(matchers))


def main() -> None:
    job = pickle.load(sys.stdin.buffer)
    job["tokens"], job["eos"], job["special"] = pickle.loads(Path(job["vocabulary"]).read_bytes())
    gc.collect()
    gc.disable()
    try:
        worker = Worker(job)
        if job["mode"] == "time":
            worker.time(job["repeats"], job["seconds"])
        else:
            worker.memory(job["seconds"])
    except engines.RefusedError as error:
        say("refused", reason=str(error))
    else:
        say("done")


if __name__ == "__main__":
    main()
