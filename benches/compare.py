"""earmark beside llguidance and xgrammar: the same grammars, documents, tokens, one thread.

    python benches/compare.py                                    # everything installed
    python benches/compare.py --engines earmark llguidance --cases json chess
    python benches/compare.py --quick                            # a smoke run
    python benches/compare.py --tokenizer path/to/tokenizer.json --json results.json

Markdown goes to the standard output, progress to the standard error. See `README.md` beside this
file for what is measured and how.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import table
import tokenizer
from engines import NAMES
from sources import Case, cases
from summary import Result

HERE = Path(__file__).resolve().parent


def installed(engine: str) -> bool:
    return find_spec(engine.split("-")[0]) is not None


def work(job: dict[str, Any], limit: float) -> tuple[list[dict[str, Any]], bool]:
    """Runs one process; what it said, and whether it was stopped at the time limit."""
    # One thread everywhere, also in libraries that the engines load.
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "worker.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    timer = threading.Timer(limit, process.kill)
    timer.start()
    output, errors = process.communicate(pickle.dumps(job))
    stopped = not timer.is_alive()
    timer.cancel()
    lines = output.decode().splitlines()
    events = [json.loads(line) for line in lines if line.endswith("}")]
    if process.returncode != 0 and not stopped:
        reason = errors.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        events.append({"event": "crashed", "reason": reason[0]})
    return events, stopped


class Progress:
    """A bar on the standard error, if that is a terminal; else a line for each step."""

    def __init__(self, total: int, stream: IO[str] = sys.stderr) -> None:
        self._total = total
        self._done = 0
        self._stream = stream

    def show(self, what: str) -> None:
        width = 30
        full = width * self._done // self._total
        bar = "█" * full + "·" * (width - full)
        line = f"{bar} {self._done}/{self._total} {what}"
        end = "" if self._stream.isatty() else "\n"
        start = "\r\x1b[K" if self._stream.isatty() else ""
        print(start + line, end=end, file=self._stream, flush=True)
        self._done += 1

    def end(self) -> None:
        if self._stream.isatty():
            print("\r\x1b[K", end="", file=self._stream, flush=True)


def measure(
    chosen: list[Case],
    engines: list[str],
    tokens: tokenizer.Tokens,
    options: argparse.Namespace,
) -> table.Results:
    """All rounds, the engines one after the other within each round and case."""
    results: table.Results = {case.name: {e: Result() for e in engines} for case in chosen}
    rounds = [("time", number) for number in range(options.rounds)]
    if not options.no_memory:
        rounds.append(("memory", 0))
    progress = Progress(len(rounds) * len(chosen) * len(engines))
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "vocabulary.pickle"
        vocabulary.write_bytes(pickle.dumps((tokens.tokens, tokens.eos, tokens.special)))
        for mode, number in rounds:
            for case in chosen:
                document = tokens.encode(case.text())
                # Another engine is first in each round.
                shift = number % len(engines)
                for engine in engines[shift:] + engines[:shift]:
                    progress.show(f"{mode} {number + 1}: {case.name}, {engine}")
                    result = results[case.name][engine]
                    if result.timed_out or result.named("refused"):
                        continue
                    job = {
                        "engine": engine,
                        "mode": mode,
                        "vocabulary": str(vocabulary),
                        "document": document,
                        "source": case.source(engine),
                        "repeats": options.repeats,
                        "seconds": options.seconds,
                    }
                    events, stopped = work(job, options.limit)
                    result.timed_out |= stopped and mode == "time"
                    result.events += [{**event, "round": number} for event in events]
    progress.end()
    return results


def arguments() -> argparse.Namespace:
    names = [case.name for case in cases()]
    parser = argparse.ArgumentParser(
        description="Compare earmark with its peers.",
        epilog="The method is described in benches/README.md.",
    )
    parser.add_argument("--engines", nargs="+", choices=NAMES, help="default: all installed")
    parser.add_argument("--cases", nargs="+", choices=names, metavar="CASE", default=names,
                        help=f"of {', '.join(names)}")  # fmt: skip
    parser.add_argument("--tokenizer", type=Path, default=tokenizer.LLAMA3,
                        help="a tokenizer.json, gzipped or not (default: Llama 3's)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3, help="processes for each engine and case")
    parser.add_argument("--repeats", type=int, default=3, help="fresh and warm runs in each")
    parser.add_argument("--seconds", type=float, default=10,
                        help="after this, no more than one repeat")  # fmt: skip
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds until a process is stopped"
    )
    parser.add_argument("--no-memory", action="store_true", help="leave out the memory round")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--quick", action="store_true", help="one short round, no memory")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.repeats, options.no_memory = 1, 1, True
        options.seconds = 1
    if options.engines is None:
        options.engines = [engine for engine in NAMES if installed(engine)]
    for engine in options.engines:
        if not installed(engine):
            parser.error(f"{engine} is not installed")
    if not options.tokenizer.exists():
        parser.error(f"there is no {options.tokenizer}; give another with --tokenizer")
    return options


def main() -> None:
    options = arguments()
    chosen = [case for case in cases() if case.name in options.cases]
    tokens = tokenizer.load(options.tokenizer)
    results = measure(chosen, options.engines, tokens, options)
    versions = {
        engine: event["version"]
        for by_engine in results.values()
        for engine, result in by_engine.items()
        for event in result.named("vocabulary")
    }
    print(", ".join(f"{engine} {version}" for engine, version in versions.items()))
    print(f"{options.tokenizer.name}: {len(tokens.tokens):,} tokens; "
          f"{options.rounds} rounds of {options.repeats} repeats\n")  # fmt: skip
    print(table.report(chosen, results, options.engines))
    if options.json:
        figures = {
            case: {engine: result.summary() for engine, result in by_engine.items()}
            for case, by_engine in results.items()
        }
        data = {"versions": versions, "tokenizer": options.tokenizer.name, "cases": figures}
        options.json.write_text(json.dumps(data, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
