"""A batch of sequences a step, as a server has it: `fill_masks` beside llguidance's parallel fill.

    python benches/batch.py                        # 256 sequences of 64 schemas, 1 and 2 threads
    python benches/batch.py --sequences 64 --schemas 16 --steps 50 --json results.json

It needs the folder `shared` beside the repository. The schemas are an even sample of MaskBench's
whose documents both engines take; every schema has as many sequences, which go through its
documents in turn and start anew at their ends. Each step is a mask for every sequence, then a
token for every sequence. One process for each engine and number of threads, which take steps by
turns, so that neither runs while another does. *New*: the first steps of grammars that nobody has
used. *Known*: the same documents once more.

Times are those on the clock, which is what a server waits, and those of the CPU, all threads
together, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import tokenizer
from batch_worker import CALLS
from maskbench_run import DATA, cases_of
from processes import Process
from sources import BENCHES
from summary import percentile
from table import header, number, row, times

COLUMNS = ("mean", "p50", "p99", "max")
KINDS = ("masks, clock", "masks, CPU", "tokens, clock", "tokens, CPU")


class Engine(Process):
    """An engine that waits for jobs."""

    def __init__(self, engine: str, threads: int, tokens: tokenizer.Tokens) -> None:
        super().__init__(BENCHES / "batch_worker.py")
        self.version: str = self.ask(
            {
                "engine": engine,
                "threads": threads,
                "tokens": tokens.tokens,
                "eos": tokens.eos,
                "special": tokens.special,
            }
        )


def choose(
    engines: list[str], tokens: tokenizer.Tokens, count: int
) -> tuple[list[Any], list[list[list[int]]]]:
    """Schemas, and of each the documents that all engines take."""
    cases = cases_of(DATA)
    processes = [Engine(engine, 1, tokens) for engine in engines]
    schemas: list[Any] = []
    documents: list[list[list[int]]] = []
    # More than are needed, evenly: some are refused.
    stride = max(1, len(cases) // (2 * count))
    for case in [cases[at] for first in range(stride) for at in range(first, len(cases), stride)]:
        texts = [json.dumps(test["data"], ensure_ascii=False) for test in case["tests"]]
        found = [tokens.encode(text) for text in texts]
        taken = [process.ask(("check", case["schema"], found)) for process in processes]
        whole = [found[at] for at in range(len(found)) if all(of[at] for of in taken)]
        if any(len(document) >= 10 for document in whole):
            schemas.append(case["schema"])
            documents.append([document for document in whole if document])
        if len(schemas) == count:
            break
    for process in processes:
        process.end()
    return schemas, documents


def measure(
    engines: list[str],
    threads: list[int],
    tokens: tokenizer.Tokens,
    schemas: list[Any],
    sequences: list[tuple[int, list[list[int]]]],
    steps: int,
) -> dict[tuple[str, int, str], list[tuple[int, ...]]]:
    """Each step's times, by engine, number of threads and state."""
    found: dict[tuple[str, int, str], list[tuple[int, ...]]] = {}
    for of in threads:
        processes = {engine: Engine(engine, of, tokens) for engine in engines}
        for engine, process in processes.items():
            process.ask(("start", schemas, sequences))
            found |= {(engine, of, state): [] for state in ("new", "known")}
        for state in ("new", "known"):
            for step in range(steps):
                shift = step % len(engines)
                for engine in engines[shift:] + engines[:shift]:
                    found[engine, of, state].append(processes[engine].ask(("step",)))
            if state == "new":
                for process in processes.values():
                    process.ask(("again",))
        for process in processes.values():
            process.end()
        print(f"{of} threads: done", file=sys.stderr, flush=True)
    return found


def figures(steps: list[tuple[int, ...]], kind: int) -> dict[str, float]:
    """µs a step."""
    values = [step[kind] / 1000 for step in steps]
    shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {"mean": fmean(values)} | {name: percentile(values, at) for name, at in shares.items()}


def report(found: dict[tuple[str, int, str], list[tuple[int, ...]]]) -> str:
    lines = header(["µs a step", "grammars", "threads", "engine"], list(COLUMNS))
    engines = list(dict.fromkeys(engine for engine, _, _ in found))
    pairs = list(dict.fromkeys((of, state) for _, of, state in found))
    for kind, title in enumerate(KINDS):
        for of, state in pairs:
            by_engine = {engine: figures(found[engine, of, state], kind) for engine in engines}
            left = (title, state, str(of))
            for engine, values in by_engine.items():
                lines.append(row(*left, engine, *(number(values[name]) for name in COLUMNS)))
            for engine in engines[1:]:
                both = [(by_engine[engine][name], by_engine[engines[0]][name]) for name in COLUMNS]
                ratios = [times(theirs, ours) for theirs, ours in both]
                lines.append(row(*left, f"{engine} / {engines[0]}", *ratios))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", nargs="+", choices=list(CALLS), default=list(CALLS))
    parser.add_argument("--sequences", type=int, default=256, metavar="N")
    parser.add_argument("--schemas", type=int, default=64, metavar="N")
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="new, and again known")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N")
    parser.add_argument("--json", type=Path, help="write each step's times there")
    options = parser.parse_args()
    if not DATA.exists():
        parser.error(f"there is no {DATA}")
    tokens = tokenizer.load(tokenizer.LLAMA3)
    schemas, documents = choose(options.engines, tokens, options.schemas)
    sequences = []
    for at in range(options.sequences):
        schema, turn = at % len(schemas), at // len(schemas)
        # Every sequence starts with another document of its schema.
        of = documents[schema]
        sequences.append((schema, of[turn % len(of) :] + of[: turn % len(of)]))
    print(f"{len(sequences)} sequences of {len(schemas)} schemas, {options.steps} steps\n")
    found = measure(options.engines, options.threads, tokens, schemas, sequences, options.steps)
    print(report(found))
    if options.json:
        data = {" ".join(map(str, key)): steps for key, steps in found.items()}
        options.json.write_text(json.dumps(data), encoding="utf-8")


if __name__ == "__main__":
    main()
