"""Figures that `compare.py --json` or `maskbench.py --json` wrote → a table of README's section on
performance.

    python benches/readme.py results.json            # print it
    python benches/readme.py results.json --write    # put it between README's two comments

Masks are those of fresh grammars.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import maskbench_report
from sources import BENCHES, cases
from table import header, number, row, size


def cells(found: dict[str, Any] | None) -> list[str]:
    """An engine on a case: masks, and the first of them."""
    figures = found.get("fresh") if found else None
    if found is None or figures is None:
        return [(found or {}).get("trouble") or "–", ""]
    stopped = "*" if found["trouble"] else ""
    masks = f"{number(figures['mask_mean'])} / {number(figures['p99'])}{stopped}"
    return [masks, number(figures["first"])]


def table(data: dict[str, Any]) -> str:
    """A line for each case; two columns for each engine, and one more for earmark."""
    engines = list(data["versions"])
    columns = [f"{engine}: {what}" for engine in engines for what in ("masks", "first mask")]
    lines = header(["µs of CPU"], [*columns, "earmark again", "earmark's memory"])
    stopped = False
    for case in cases():
        by_engine = data["cases"].get(case.name)
        if by_engine is None:
            continue
        ours = by_engine["earmark"]
        again = number(ours.get("warm", {}).get("mask_mean"))
        # A process grows by pages of its allocator; the own account is finer.
        memory = size(ours.get("grammars", {}).get("own"))
        figures = [cell for engine in engines for cell in cells(by_engine.get(engine))]
        stopped |= any("*" in cell for cell in figures)
        lines.append(row(case.title, *figures, again, memory))
    versions = ", ".join(f"{engine} {version}" for engine, version in data["versions"].items())
    lines += ["", f"Masks: mean / p99 over the document's positions. {versions}."]
    if stopped:
        lines[-1] += " *: stopped before the document's end, by a refused token or the time limit."
    return "\n".join(lines) + "\n"


def schemas(data: dict[str, Any]) -> str:
    """A line for each figure, a column for each engine."""
    samples = [
        f"{engine} {entry['given']}"
        for engine, entry in data["engines"].items()
        if entry["given"] < data["schemas"]
    ]
    text = f"{data['schemas']:,} schemas, {data['tokens']:,} tokens"
    if samples:
        text += f"; even samples for {', '.join(samples)}"
    text += ". In brackets: how many times as long as earmark in the same places. "
    before, after = data["load"]
    text += f"The machine's load was {before:.1f} to {after:.1f} on {data['cpus']} CPUs."
    return f"{maskbench_report.table(data, maskbench_report.SHORT)}\n\n{text}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="write README's table of benchmarks")
    parser.add_argument("results", type=Path, help="what the other command wrote")
    parser.add_argument("--write", action="store_true", help="put it into README")
    options = parser.parse_args()
    data = json.loads(options.results.read_text(encoding="utf-8"))
    name, text = ("benchmarks", table(data)) if "cases" in data else ("maskbench", schemas(data))
    if not options.write:
        print(text, end="")
        return
    readme = BENCHES.parent / "README.md"
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, rest = readme.read_text(encoding="utf-8").split(start)
    _, after = rest.split(end)
    readme.write_text(f"{before}{start}{text}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
