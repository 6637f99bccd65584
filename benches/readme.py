"""Figures that `compare.py --json` wrote → the table of README's section on performance.

    python benches/readme.py results.json            # print it
    python benches/readme.py results.json --write    # put it between README's two comments

Masks are those of fresh grammars.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sources import BENCHES, cases
from table import header, number, row, size

START, END = "<!-- benchmarks -->\n", "<!-- /benchmarks -->"


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
        memory = size(ours.get("grammars", {}).get("memory"))
        figures = [cell for engine in engines for cell in cells(by_engine.get(engine))]
        stopped |= any("*" in cell for cell in figures)
        lines.append(row(case.title, *figures, again, memory))
    versions = ", ".join(f"{engine} {version}" for engine, version in data["versions"].items())
    lines += ["", f"Masks: mean / p99 over the document's positions. {versions}."]
    if stopped:
        lines[-1] += " *: stopped before the document's end, by a refused token or the time limit."
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="write README's table of benchmarks")
    parser.add_argument("results", type=Path, help="what compare.py --json wrote")
    parser.add_argument("--write", action="store_true", help="put it into README")
    options = parser.parse_args()
    text = table(json.loads(options.results.read_text(encoding="utf-8")))
    if not options.write:
        print(text, end="")
        return
    readme = BENCHES.parent / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(START)
    _, after = rest.split(END)
    readme.write_text(f"{before}{START}{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
