"""MaskBench's schemas and documents → what each engine took for them.

One process for each engine; all are handed the same schema one after the other, another first each
time, so that none runs while another does. An engine may have a sample of the schemas only.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import engines
from maskbench_worker import Fed, Job
from processes import EndedError, Process
from sources import BENCHES, SHARED
from tokenizer import Tokens

DATA = SHARED / "maskbench" / "dev.jsonl.gz"
# What is used before anything is measured.
WARM_SCHEMAS: tuple[Any, ...] = ({"type": "object", "additionalProperties": {"type": "string"}}, {})
WARM_DOCUMENT = '{"name": "a text", "other": "é", "third": ""}'

Case = dict[str, Any]
"""`{"id", "schema", "tests": [{"valid", "data"}]}`."""


class MissingError(Exception):
    """The engine is not installed."""


def cases_of(path: Path) -> list[Case]:
    """The schemas of a folder of JSON files, as MaskBench has them, or of JSON lines."""
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        found = [{"id": file.name, **json.loads(file.read_text("utf-8"))} for file in files]
        return [case for case in found if "schema" in case]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def even(count: int, total: int) -> list[int]:
    """So many numbers below `total`, at equal distances."""
    count = min(count, total)
    return [at * total // count for at in range(count)]


@dataclass
class Contestant:
    """An engine with a vocabulary, in a process that is started again if it ends."""

    name: str
    tokens: Tokens
    python: str = sys.executable
    sample: int | None = None
    """How many of the schemas it gets; all by default."""
    results: list[dict[int, dict[str, Any]]] = field(default_factory=list)
    """For each round what was found for the schemas."""
    version: str = ""
    engine: str = ""
    """The engine, if that is not its name."""
    _process: Process | None = None

    def start(self) -> None:
        if self._process is not None:
            return
        process = Process(BENCHES / "maskbench_worker.py", self.python)
        job = {
            "engine": self.engine or self.name,
            "tokens": self.tokens.tokens,
            "eos": self.tokens.eos,
            "special": self.tokens.special,
            "warm": {"schemas": WARM_SCHEMAS, "document": self.tokens.encode(WARM_DOCUMENT)},
        }
        answer = process.ask(job, 600)
        if "missing" in answer:
            process.end()
            raise MissingError(answer["missing"])
        self._process, self.version = process, answer["version"]

    def ask(self, job: Job, seconds: float) -> dict[str, Any]:
        self.start()
        assert self._process
        try:
            # Its own end comes first, if it comes back at all.
            found: dict[str, Any] = self._process.ask(tuple(job), seconds * 1.5)
        except EndedError as error:
            self._process = None
            found = {"refused": str(error), "ended": True}
        return found

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def refused(self, schema: int) -> str | None:
        reason: str | None = self.results[0][schema].get("refused")
        return reason

    def done(self) -> list[int]:
        """The schemas that it took."""
        return [at for at in self.results[0] if self.refused(at) is None]

    def first(self, schema: int) -> float:
        """µs from the schema to the first mask."""
        found = [results[schema] for results in self.results if "first" in results[schema]]
        return median(float(result["first"]) for result in found) / 1000

    def fed(self, schema: int, document: int, turn: int) -> Fed:
        """A document's times in ns: of several rounds the medians."""
        rounds = [
            Fed(*results[schema]["passes"][turn][document])
            for results in self.results
            if "passes" in results[schema]
        ]
        if len(rounds) == 1:
            return rounds[0]

        def medians(columns: list[Any]) -> Any:
            return [median(column) for column in zip(*columns, strict=False)]

        masks, accepts = ([fed[what] for fed in rounds] for what in (1, 2))
        return Fed(min(fed.taken for fed in rounds), medians(masks), medians(accepts))


def measure(
    cases: list[Case],
    contestants: list[Contestant],
    *,
    rounds: int = 1,
    seconds: float = 60,
    memory: bool = False,
) -> list[tuple[Contestant, str]]:
    """Fills in the contestants' results.

    Returns:
        Those that are not installed, and why; they are taken out of `contestants`.
    """
    missing = []
    for one in list(contestants):
        try:
            one.start()
        except (MissingError, EndedError) as error:
            contestants.remove(one)
            missing.append((one, str(error)))
    encoded: dict[tuple[int, int], list[list[int]]] = {}

    def documents(one: Contestant, at: int) -> list[list[int]]:
        key = id(one.tokens), at
        if key not in encoded:
            texts = [json.dumps(test["data"], ensure_ascii=False) for test in cases[at]["tests"]]
            encoded[key] = [one.tokens.encode(text) for text in texts]
        return encoded[key]

    # Memory is measured last, by itself: giving freed memory back before each schema makes its
    # first allocations slower than they are in use.
    for turn in range(rounds + memory):
        sizes = turn == rounds
        name = "memory" if sizes else f"round {turn + 1}"
        for one in contestants:
            one.end()
            one.start()
            if not sizes:
                one.results.append({})
        chosen = {one.name: set(even(one.sample or len(cases), len(cases))) for one in contestants}
        for at in range(len(cases)):
            shift = (at + turn) % len(contestants)
            for one in contestants[shift:] + contestants[:shift]:
                if at not in chosen[one.name]:
                    continue
                passes = 1 if sizes else 2
                job = Job(cases[at]["schema"], documents(one, at), passes, seconds, sizes)
                found = one.ask(job, seconds)
                if not sizes:
                    one.results[-1][at] = found
                elif "growth" in found:
                    one.results[0][at]["growth"] = found["growth"]
            if at % 100 == 99:
                print(f"{name}: {at + 1} of {len(cases)}", file=sys.stderr, flush=True)
    for one in contestants:
        one.end()
    return missing


def install(name: str) -> str:
    """How an engine gets here."""
    return engines.INSTALL[engines.base(name)]
