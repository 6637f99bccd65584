"""Figures that `maskbench.py --json` wrote → plots, a line for each engine.

    python benches/plots.py results.json docs/plots

Both axes are logarithmic: upwards the time, to the right how rare it is that a mask takes longer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TITLES = {
    "mask": "Time to mask: a new schema, its first documents",
    "first mask": "Time to the first mask: a schema → what may come first",
}
COLOURS = {
    "earmark": "#c1272d",
    "llguidance": "#0071a4",
    "xgrammar": "#008176",
    "xgrammar-dynamic": "#74b8ad",
    "llama.cpp": "#eaa024",
    "outlines-core": "#7a5195",
}
MARKS = ("half", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %")


def scale(value: float, _: int) -> str:
    """µs in the unit that reads best."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} µs"


def draw(found: dict[str, Any], folder: Path, kinds: Iterable[str] = TITLES) -> None:
    """Writes a PNG for each kind of time."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        figure, axes = plt.subplots(figsize=(9, 4), dpi=110)
        for engine, entry in found["engines"].items():
            points = entry["curves"][kind]
            if not points:
                continue
            label = f"{engine} {entry['version']}"
            if entry["given"] < found["schemas"]:
                label += f" ({entry['given']} schemas)"
            axes.plot(*zip(*points, strict=True), label=label, color=COLOURS.get(engine), lw=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(scale))
        right = axes.get_xlim()[1]
        places = [0.30103, *range(1, len(MARKS))]
        shown = [(at, mark) for at, mark in zip(places, MARKS, strict=True) if at < right]
        axes.set_xticks(*zip(*shown, strict=True))
        axes.set_xlim(0, right)
        axes.set_title(TITLES[kind])
        axes.set_xlabel("share of masks that take no longer" if kind == "mask"
                        else "share of schemas that take no longer")  # fmt: skip
        axes.grid(alpha=0.3, which="major")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8, frameon=False)
        figure.tight_layout()
        figure.savefig(folder / f"{kind.replace(' ', '-')}.png", metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))
