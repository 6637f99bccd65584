"""MaskBench's schemas and documents: the time and memory of earmark beside llguidance.

    python benches/maskbench.py                       # all schemas, a Markdown report
    python benches/maskbench.py --limit 200           # an even sample of 200
    python benches/maskbench.py --rounds 3 --json results.json
    python benches/maskbench.py --engines earmark --profile ID

It needs the folder `shared` beside the repository. One process for each engine; both are handed
the same schema one after the other, another first each time, so that neither runs while the other
does. For each schema: from the Python object to the first mask (*first mask*); then every document,
written as `json.dumps(data, ensure_ascii=False)` does and cut by Llama 3's tokenizer, is fed token
by token, with a mask before each and at the end, up to the first token that is refused. Times are
the thread's CPU time. With several rounds, each in fresh processes, a time is the median. One more
pass measures memory.

Ratios and figures are over the schemas that all engines take, and over the positions that all of
them reach. Memory is what the engine says itself, and the highest growth of the process (resident
size) while one schema is compiled and used.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import Any

import tokenizer
from maskbench_worker import FRONT_ENDS
from sources import BENCHES, SHARED
from summary import percentile
from table import header, number, row, size, times

DATA = SHARED / "maskbench" / "dev.jsonl.gz"
SHARES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


class Process:
    """An engine that waits for schemas."""

    def __init__(self, engine: str, tokens: tokenizer.Tokens) -> None:
        environment = {**os.environ, "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(BENCHES / "maskbench_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        job = {
            "engine": engine,
            "tokens": tokens.tokens,
            "eos": tokens.eos,
            "special": tokens.special,
            "warm": tokens.encode('{"name": "a text", "other": "é", "third": ""}'),
        }
        self.version = self.ask(job)["version"]

    def ask(self, job: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        found: dict[str, Any] = pickle.load(self._process.stdout)
        return found

    def end(self) -> None:
        assert self._process.stdin
        pickle.dump(None, self._process.stdin)
        self._process.stdin.close()
        self._process.wait(timeout=20)


class Figures:
    """All that was measured for an engine; a list has an entry for each round."""

    def __init__(self) -> None:
        self.version = ""
        self.results: list[list[dict[str, Any]]] = []

    def refused(self, schema: int) -> str | None:
        reason: str | None = self.results[0][schema].get("refused")
        return reason

    def first(self, schema: int) -> float:
        return median(results[schema]["first"] for results in self.results) / 1000

    def taken(self, schema: int, document: int) -> int:
        taken: int = self.results[0][schema]["documents"][document][0]
        return taken

    def times(self, what: int, schema: int, document: int, upto: int) -> list[float]:
        """µs of the first masks (1) or accepts (2) of a document."""
        rounds = [results[schema]["documents"][document][what][:upto] for results in self.results]
        if len(rounds) == 1:
            return [time / 1000 for time in rounds[0]]
        return [median(column) / 1000 for column in zip(*rounds, strict=True)]


def measure(
    cases: list[dict[str, Any]], engines: list[str], tokens: tokenizer.Tokens, rounds: int
) -> dict[str, Figures]:
    figures = {engine: Figures() for engine in engines}
    documents = [
        [tokens.encode(json.dumps(test["data"], ensure_ascii=False)) for test in case["tests"]]
        for case in cases
    ]
    # Memory is measured last, by itself: giving freed memory back before each schema makes its
    # first allocations slower than they are in use.
    for turn in range(rounds + 1):
        memory = turn == rounds
        processes = {engine: Process(engine, tokens) for engine in engines}
        for engine, process in processes.items():
            figures[engine].version = process.version
            if not memory:
                figures[engine].results.append([])
        for at, case in enumerate(cases):
            shift = (at + turn) % len(engines)
            for engine in engines[shift:] + engines[:shift]:
                found = processes[engine].ask((case["schema"], documents[at], memory))
                if not memory:
                    figures[engine].results[-1].append(found)
                elif "growth" in found:
                    figures[engine].results[0][at]["growth"] = found["growth"]
            if at % 100 == 99:
                name = "memory" if memory else f"round {turn + 1}"
                print(f"{name}: {at + 1} of {len(cases)}", file=sys.stderr, flush=True)
        for process in processes.values():
            process.end()
    return figures


class Comparison:
    """The figures over what all engines did."""

    def __init__(self, cases: list[dict[str, Any]], figures: dict[str, Figures]) -> None:
        self.cases, self.figures = cases, figures
        all_of = figures.values()
        self.schemas = [
            at for at in range(len(cases)) if all(one.refused(at) is None for one in all_of)
        ]
        self.first = {
            engine: [one.first(at) for at in self.schemas] for engine, one in figures.items()
        }
        self.masks: dict[str, list[float]] = {engine: [] for engine in figures}
        self.accepts: dict[str, list[float]] = {engine: [] for engine in figures}
        self.places: list[tuple[int, int, int]] = []
        """Schema, document and number of tokens before each mask."""
        for at in self.schemas:
            for number_ in range(len(cases[at]["tests"])):
                upto = min(one.taken(at, number_) for one in all_of)
                self.places += [(at, number_, step) for step in range(upto + 1)]
                for engine, one in figures.items():
                    self.masks[engine] += one.times(1, at, number_, upto + 1)
                    self.accepts[engine] += one.times(2, at, number_, upto)

    def line(self, engine: str) -> dict[str, Any]:
        """One engine's figures."""
        kinds = {"first": self.first, "mask": self.masks, "accept": self.accepts}
        found: dict[str, Any] = {}
        for kind, by_engine in kinds.items():
            values = by_engine[engine] or [0.0]
            found[kind] = {"mean": fmean(values)}
            found[kind] |= {name: percentile(values, share) for name, share in SHARES.items()}
        results = self.figures[engine].results[0]
        own = [results[at]["own"] for at in self.schemas if results[at]["own"] is not None]
        growth = [results[at]["growth"] for at in self.schemas]
        for kind, sizes in (("own memory", own), ("growth", growth)):
            if sizes:
                found[kind] = {"mean": fmean(sizes)}
                found[kind] |= {name: percentile(sizes, share) for name, share in SHARES.items()}
        return found

    def slowest(self, engine: str, count: int) -> list[str]:
        masks, first = self.masks[engine], self.first[engine]
        order = sorted(range(len(masks)), key=masks.__getitem__)[::-1][:count]
        lines = [
            f"- mask of {number(masks[at])} µs: {self.cases[self.places[at][0]]['id']}, document "
            f"{self.places[at][1]} behind {self.places[at][2]} tokens"
            for at in order
        ]
        order = sorted(range(len(first)), key=first.__getitem__)[::-1][:count]
        lines += [
            f"- first mask of {number(first[at])} µs: {self.cases[self.schemas[at]]['id']}"
            for at in order
        ]
        results = self.figures[engine].results[0]
        order = sorted(self.schemas, key=lambda at: results[at]["growth"])[::-1][:count]
        return lines + [
            f"- growth of {size(results[at]['growth'])}: {self.cases[at]['id']}" for at in order
        ]


def report(comparison: Comparison) -> str:
    figures = comparison.figures
    engines = list(figures)
    lines = [", ".join(f"{engine} {one.version}" for engine, one in figures.items()) + "\n"]
    total = len(comparison.cases)
    refusals = ", ".join(
        f"{engine} refuses {sum(one.refused(at) is not None for at in range(total))}"
        for engine, one in figures.items()
    )
    lines.append(
        f"{total} schemas; {refusals}. Below: {len(comparison.schemas)} schemas that all take, "
        f"{len(comparison.places):,} masks. µs of the thread's CPU.\n"
    )
    found = {engine: comparison.line(engine) for engine in engines}
    lines += header(["", "engine"], ["mean", *SHARES])
    titles = {"first": "first mask", "mask": "mask", "accept": "accept"}
    for kind, title in titles.items():
        for engine in engines:
            values = found[engine][kind]
            lines.append(row(title, engine, *(number(values[k]) for k in ("mean", *SHARES))))
        for engine in engines[1:]:
            ours = found[engines[0]][kind]
            ratios = [times(found[engine][kind][k], ours[k]) for k in ("mean", *SHARES)]
            lines.append(row(title, f"{engine} / {engines[0]}", *ratios))
    for kind, title in {"own memory": "memory, own account", "growth": "growth of process"}.items():
        for engine in engines:
            if kind in found[engine]:
                values = found[engine][kind]
                lines.append(row(title, engine, *(size(values[k]) for k in ("mean", *SHARES))))
    for engine in engines:
        lines += ["", f"Slowest and largest of {engine}:", "", *comparison.slowest(engine, 5)]
    return "\n".join(lines)


def refusals(comparison: Comparison) -> str:
    lines = []
    for engine, one in comparison.figures.items():
        reasons = Counter(one.refused(at) for at in range(len(comparison.cases)))
        del reasons[None]
        lines += [f"{engine}: {count} × {reason}" for reason, count in reasons.most_common(20)]
    return "\n".join(lines)


def profile(comparison: Comparison) -> str:
    """Every position's mask of one schema."""
    lines = [f"first: {comparison.first}"]
    for at, place in enumerate(comparison.places):
        masks = [number(values[at]) for values in comparison.masks.values()]
        lines.append(f"{place[1:]}: {' '.join(masks)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", nargs="+", choices=list(FRONT_ENDS), default=list(FRONT_ENDS))
    parser.add_argument("--limit", type=int, metavar="N", help="an even sample of N schemas")
    parser.add_argument("--rounds", type=int, default=1, help="times that all is measured")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--refusals", action="store_true", help="say also why schemas are refused")
    parser.add_argument("--profile", metavar="ID", help="each mask of this schema")
    options = parser.parse_args()
    if not DATA.exists():
        parser.error(f"there is no {DATA}")
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    if options.profile:
        cases = [case for case in cases if case["id"] == options.profile]
    elif options.limit:
        count = min(options.limit, len(cases))
        cases = [cases[at * len(cases) // count] for at in range(count)]
    figures = measure(cases, options.engines, tokenizer.load(tokenizer.LLAMA3), options.rounds)
    comparison = Comparison(cases, figures)
    if options.profile:
        print(profile(comparison))
        return
    print(report(comparison))
    if options.refusals:
        print("\n" + refusals(comparison))
    if options.json:
        data = {engine: comparison.line(engine) for engine in figures}
        options.json.write_text(json.dumps(data, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
