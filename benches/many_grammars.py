"""What a process holds while ever new grammars come: memory must not grow with their number.

    python benches/many_grammars.py                     # 10,000 grammars on one vocabulary
    python benches/many_grammars.py --grammars 2000 --keep 100

The grammars are MaskBench's schemas, each time with other names of properties, and each goes
through one document with the same new names. `--keep` are alive at a time. A line for each tenth:
the process' resident size, what the vocabulary's shared caches and the grammars that are alive
hold by their own account, and the mean time of the masks and of the way to the first mask
meanwhile: what caches drop has to be found again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import tokenizer
from maskbench_run import DATA, cases_of
from maskbench_worker import empty_measurement, forget, status
from table import header, number, row, size

import earmark

thread = time.thread_time_ns
NAMED = ("properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies")
LONGEST = 400


def renamed_schema(schema: Any, end: str) -> Any:
    """The schema with `end` behind each name of a property."""
    if isinstance(schema, list):
        return [renamed_schema(part, end) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key in ("enum", "const", "default", "examples"):
            found[key] = value
        elif key == "required" and isinstance(value, list):
            found[key] = [f"{name}{end}" for name in value]
        elif key in NAMED and key != "patternProperties" and isinstance(value, dict):
            found[key] = {
                f"{name}{end}": [f"{other}{end}" for other in part]
                if isinstance(part, list)
                else renamed_schema(part, end)
                for name, part in value.items()
            }
        else:
            found[key] = renamed_schema(value, end)
    return found


def renamed_data(data: Any, end: str) -> Any:
    """The document with `end` behind each key."""
    if isinstance(data, list):
        return [renamed_data(part, end) for part in data]
    if isinstance(data, dict):
        return {f"{key}{end}": renamed_data(part, end) for key, part in data.items()}
    return data


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="as in maskbench.py")
    parser.add_argument("--grammars", type=int, default=10_000, metavar="N")
    parser.add_argument("--keep", type=int, default=1, metavar="N", help="grammars alive at a time")
    options = parser.parse_args()
    cases = [case for case in cases_of(options.data) if case["tests"]]
    tokens = tokenizer.load(tokenizer.LLAMA3)
    vocabulary = earmark.Vocabulary(
        tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special
    )
    out = np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
    offset = empty_measurement()
    alive: deque[earmark.Grammar] = deque(maxlen=options.keep)
    columns = ["resident", "of it not free", "vocabulary", "grammars alive", "first mask, µs",
               "mask, µs", "slowest mask, µs"]  # fmt: skip
    print("\n".join(header(["grammars"], columns)), flush=True)
    first: list[float] = []
    masks: list[float] = []
    made = at = 0
    while made < options.grammars:
        case, end = cases[at % len(cases)], f"_{at}"
        at += 1
        schema = renamed_schema(case["schema"], end)
        text = json.dumps(renamed_data(case["tests"][0]["data"], end), ensure_ascii=False)
        document = tokens.encode(text)[:LONGEST]
        start = thread()
        try:
            grammar = earmark.Grammar.from_json_schema(schema)
        except earmark.GrammarError:
            continue
        matcher = earmark.Matcher(grammar, vocabulary)
        matcher.fill_mask(out)
        first.append((thread() - start - offset) / 1000)
        alive.append(grammar)
        made += 1
        for token in document:
            start = thread()
            matcher.fill_mask(out)
            masks.append((thread() - start - offset) / 1000)
            if not matcher.try_accept(token):
                break
        if made % (options.grammars // 10) == 0:
            resident = status("VmRSS")
            forget()
            own = sum(grammar.memory_bytes for grammar in alive)
            sizes = map(size, (resident, status("VmRSS"), vocabulary.memory_bytes, own))
            times = map(number, (fmean(first), fmean(masks), max(masks)))
            print(row(f"{made:,}", *sizes, *times), flush=True)
            first, masks = [], []


if __name__ == "__main__":
    main()
