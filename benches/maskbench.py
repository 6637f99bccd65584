"""Real JSON schemas and documents: the time of earmark beside its peers, as MaskBench measures it.

    python benches/maskbench.py                                # whichever engines are installed
    python benches/maskbench.py --engines earmark llguidance   # only these
    python benches/maskbench.py --data FOLDER --sample xgrammar=500 --json FILE --plots FOLDER
    python benches/maskbench.py --python llama.cpp=/other/environment/bin/python
    python benches/maskbench.py --engines earmark --profile ID

`--data` is a folder of MaskBench's JSON files or a file of JSON lines, gzipped or not; its default
is in the folder `shared` beside the repository. One process for each engine; all are handed the
same schema one after the other, another first each time. For each schema: from the Python object to
the first mask (*first mask*); then every document, written as `json.dumps(data,
ensure_ascii=False)` does and cut by the tokenizer, is fed token by token, with a mask before each
and at the end, up to the first token that is refused; and all of them once more with new matchers
of the same compiled schema (*again*). Times are the thread's CPU time. With several rounds, each in
fresh processes, a time is the median.

Slow engines get an even sample of the schemas. A peer's figures, and the ratios to earmark beside
them, are over what both did: the schemas that both take, the places of documents that both reach.
An engine that takes more CPU time than `--limit` for a schema is cut there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import tokenizer
from engines import SCHEMA_NAMES
from maskbench_report import KINDS, figures, reasons, slowest, table
from maskbench_run import DATA, Contestant, cases_of, even, install, measure
from table import number

SAMPLES = {"xgrammar": 150, "xgrammar-dynamic": 150, "llama.cpp": 60, "outlines-core": 40}
ENGINES = [name for name in SCHEMA_NAMES if not name.endswith("-dynamic")]


def pair(text: str) -> tuple[str, str]:
    """`ENGINE=VALUE`."""
    name, _, value = text.partition("=")
    if name not in SCHEMA_NAMES or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not ENGINE=VALUE")
    return name, value


def profile(one: Contestant, documents: int) -> str:
    """Every mask of one schema."""
    lines = [f"{one.name}: first mask {number(one.first(0))}"]
    for document in range(documents):
        masks = [
            " ".join(number(time / 1000) for time in one.fed(0, document, turn).masks)
            for turn in (0, 1)
        ]
        lines.append(f"document {document}: {masks[0]}\nagain: {masks[1]}")
    return "\n".join(lines)


def parse() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, default=DATA, help="a folder of JSON files, or JSON lines")
    add("--tokenizer", type=Path, default=tokenizer.LLAMA3)
    add("--engines", nargs="+", choices=SCHEMA_NAMES, default=ENGINES)
    add("--schemas", type=int, metavar="N", help="an even sample of N schemas for all")
    add("--sample", nargs="+", type=pair, default=[], metavar="ENGINE=N",
        help=f"how many schemas an engine gets, 0 for all; by default {SAMPLES}")  # fmt: skip
    add("--python", nargs="+", type=pair, default=[], metavar="ENGINE=PATH",
        help="the interpreter of an environment that has an engine")  # fmt: skip
    add("--rounds", type=int, default=1, help="times that all is measured")
    add("--limit", type=float, default=60, metavar="SECONDS", help="the most CPU time for a schema")
    add("--memory", action="store_true", help="measure the growth of processes too")
    add("--json", type=Path, help="write the figures there")
    add("--plots", type=Path, metavar="FOLDER", help="write plots there; needs matplotlib")
    add("--slowest", type=int, default=0, metavar="N", help="show earmark's N slowest")
    add("--refusals", action="store_true", help="say also why schemas are refused")
    add("--profile", metavar="ID", help="each mask of this schema")
    return parser


def main() -> None:
    parser = parse()
    options = parser.parse_args()
    if not options.data.exists():
        parser.error(f"there is no {options.data}")
    cases = cases_of(options.data)
    if options.profile:
        cases = [case for case in cases if case["id"] == options.profile]
        if not cases:
            parser.error(f"{options.data} has no schema {options.profile!r}")
    elif options.schemas:
        cases = [cases[at] for at in even(options.schemas, len(cases))]
    tokens = tokenizer.load(options.tokenizer)
    samples = SAMPLES | {name: int(count) for name, count in options.sample}
    pythons = dict(options.python)
    contestants = [
        Contestant(name, tokens, pythons.get(name, sys.executable), samples.get(name) or None)
        for name in dict.fromkeys(("earmark", *options.engines))
    ]
    load = os.getloadavg()[0]
    missing = measure(
        cases, contestants, rounds=options.rounds, seconds=options.limit, memory=options.memory
    )
    for one, why in missing:
        print(f"skipped: {one.name}: {why}; to get it: {install(one.name)}\n")
    if options.profile:
        for one in contestants:
            print(profile(one, len(cases[0]["tests"])))
        return
    found = figures(cases, contestants)
    found["tokens"] = len(tokens.tokens)
    found["cpus"] = os.cpu_count()
    found["load"] = [load, os.getloadavg()[0]]
    print(f"{len(cases):,} schemas, {len(tokens.tokens):,} tokens; in brackets how many times as "
          f"long as earmark's in the same places. Load of the machine: {load:.1f} before, "
          f"{found['load'][1]:.1f} after, {found['cpus']} CPUs.\n")  # fmt: skip
    print(table(found))
    if options.slowest:
        print("\nSlowest of earmark:\n\n" + slowest(contestants[0], cases, options.slowest))
    if options.refusals:
        print("\nRefused:\n\n" + reasons(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if options.plots:
        import plots

        plots.draw(found, options.plots, [kind for kind in KINDS if kind in plots.TITLES])


if __name__ == "__main__":
    main()
