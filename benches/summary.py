"""What the workers said → one set of figures an engine and case. Times in µs.

A percentile of masks is taken over the positions of the document, each position being the median
of its repeats: work that happens at a position happens at each repeat, noise does not. A mean is
the median of the rounds' means.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

MODES = ("cold", "fresh", "warm")
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


@dataclass
class Result:
    """An engine on a case: all events of all rounds."""

    events: list[dict[str, Any]] = field(default_factory=list)
    timed_out: bool = False

    def named(self, event: str) -> list[dict[str, Any]]:
        return [found for found in self.events if found["event"] == event]

    def runs(self, mode: str) -> list[dict[str, Any]]:
        return [run for run in self.named("run") if run["mode"] == mode]

    def trouble(self) -> str | None:
        """Why there are no figures, or not for the whole document."""
        for event in self.named("refused"):
            return f"refused: {event['reason']}"
        for run in self.named("run"):
            if run["refused"] is not None:
                return f"refused token {run['refused']} {run['reason']}".strip()
        for event in self.named("crashed"):
            return f"crashed: {event['reason']}"
        return "> time limit" if self.timed_out else None

    def positions(self, mode: str, what: str) -> list[float]:
        """µs at each position of the document: the median of the repeats."""
        columns = zip(*(run[what] for run in self.runs(mode)), strict=False)
        return [max(median(column), 0) / 1000 for column in columns]

    def mean(self, mode: str, what: str, upto: int | None = None) -> float | None:
        """The median of the rounds' means, over the first `upto` positions."""
        rounds = defaultdict(list)
        for run in self.runs(mode):
            rounds[run["round"]].append(fmean(run[what][:upto] or [0]))
        return median(fmean(means) for means in rounds.values()) / 1000 if rounds else None

    def first(self, mode: str, clock: str = "cpu") -> float | None:
        runs = self.runs(mode)
        return median(run[f"first_{clock}"] for run in runs) / 1000 if runs else None

    def summary(self) -> dict[str, Any]:
        """All figures, for the table and for `--json`."""
        found: dict[str, Any] = {"trouble": self.trouble()}
        for mode in MODES:
            masks = self.positions(mode, "mask_cpu")
            if not masks:
                continue
            worst = max(range(len(masks)), key=masks.__getitem__)
            found[mode] = {
                "runs": len(self.runs(mode)),
                "positions": len(masks),
                "mask_mean": self.mean(mode, "mask_cpu"),
                "mask_mean_wall": self.mean(mode, "mask_wall"),
                **{name: percentile(masks, share) for name, share in PERCENTILES.items()},
                "worst_position": worst,
                "accept_mean": self.mean(mode, "accept_cpu"),
                "accept_max": max(self.positions(mode, "accept_cpu"), default=0),
                "first": self.first(mode),
                "first_wall": self.first(mode, "wall"),
                "masks": [round(mask, 2) for mask in masks],
            }
        for event in ("vocabulary", "grammars", "matchers"):
            values = self.named(event)
            for key in ("cpu", "wall", "memory", "own"):
                numbers = [value[key] for value in values if value.get(key) is not None]
                if numbers:
                    found.setdefault(event, {})[key] = median(numbers)
        for event in self.named("counts"):
            found["counts"] = event["counts"]
        return found
