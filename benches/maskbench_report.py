"""Times of all engines over MaskBench → figures that can be kept as JSON, and tables of them.

A peer is compared with earmark over what both did: the schemas that both take, and in a document
the places that both reach. Times in µs.
"""

from __future__ import annotations

from collections import Counter
from math import log10
from statistics import fmean
from typing import Any

from maskbench_run import Case, Contestant
from summary import percentile
from table import header, number, row, size, times

SHARES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
KINDS = ("mask", "accept", "first mask", "mask again", "accept again")
# The rows of the table.
ROWS = {
    "mask": ("mean", *SHARES),
    "accept": ("mean", "p99"),
    "first mask": ("mean", "p50", "p99", "max"),
    "mask again": ("mean", "p50", "p99", "max"),
    "accept again": ("mean",),
}
# And of one that is to be short.
SHORT = {
    "mask": ("mean", "p50", "p90", "p99", "p99.9", "max"),
    "accept": ("mean",),
    "first mask": ("mean", "p50", "p99", "max"),
    "mask again": ("p50", "p99"),
}
# How finely distributions are kept for plots: the shares 1 - 10^-x.
FINENESS = 40

Times = dict[str, list[float]]
"""By kind."""


def together(one: Contestant, other: Contestant, cases: list[Case]) -> tuple[Times, Times]:
    """What two engines took for the same work; all of one's if it is asked beside itself."""
    both = [at for at in one.done() if at in other.results[0] and other.refused(at) is None]
    found: tuple[Times, Times] = ({kind: [] for kind in KINDS}, {kind: [] for kind in KINDS})
    for at in both:
        for times_, who in zip(found, (one, other), strict=True):
            times_["first mask"].append(who.first(at))
        for document in range(len(cases[at]["tests"])):
            for turn, suffix in enumerate(("", " again")):
                fed = [who.fed(at, document, turn) for who in (one, other)]
                upto = min(each.taken for each in fed)
                for times_, each in zip(found, fed, strict=True):
                    times_["mask" + suffix] += [ns / 1000 for ns in each.masks[: upto + 1]]
                    times_["accept" + suffix] += [ns / 1000 for ns in each.accepts[:upto]]
    return found


def statistics(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    found = {"mean": fmean(values), "count": len(values)}
    return found | {name: percentile(ordered, share) for name, share in SHARES.items()}


def curve(values: list[float]) -> list[tuple[float, float]]:
    """(x, the time that a share of 1 - 10^-x of the values does not exceed)."""
    ordered = sorted(values)
    found, at = [], 0
    while ordered and 10 ** (at / FINENESS) < len(ordered):
        rank = int((1 - 10 ** (-at / FINENESS)) * len(ordered))
        found.append((at / FINENESS, ordered[rank]))
        at += 1
    return [*found, (log10(len(ordered)), ordered[-1])] if ordered else []


def wrong(one: Contestant, cases: list[Case]) -> int:
    """Valid documents of which a token was refused."""
    # There is a time for a token that was refused, but not for one that was not asked for.
    return sum(
        test["valid"] and fed[0] < len(fed[2])
        for at in one.done()
        for test, fed in zip(cases[at]["tests"], one.results[0][at]["passes"][0], strict=True)
    )


def figures(cases: list[Case], contestants: list[Contestant]) -> dict[str, Any]:
    """All that tables and plots are made of."""
    ours = contestants[0]
    found: dict[str, Any] = {"schemas": len(cases), "engines": {}}
    for one in contestants:
        mine, theirs = together(ours, one, cases)
        all_of, _ = together(one, one, cases)
        given = one.results[0]
        reasons = [given[at]["refused"] for at in given if "refused" in given[at]]
        ended = sum("ended" in result for result in given.values())
        entry: dict[str, Any] = {
            "version": one.version,
            "given": len(given),
            "refused": len(reasons) - ended,
            "ended": ended,
            "reasons": Counter(reasons).most_common(20),
            "refused documents": wrong(one, cases),
            "own": {kind: statistics(all_of[kind]) for kind in KINDS},
            "same": {kind: statistics(theirs[kind]) for kind in KINDS},
            "ours": {kind: statistics(mine[kind]) for kind in KINDS},
            "curves": {kind: curve(all_of[kind]) for kind in KINDS},
        }
        for key in ("own", "growth"):
            sizes = [given[at][key] for at in one.done() if given[at].get(key) is not None]
            if sizes:
                entry["memory " + key] = statistics(sizes)
        found["engines"][one.name] = entry
    return found


def table(found: dict[str, Any], rows: dict[str, tuple[str, ...]] = ROWS) -> str:
    """A column for each engine; in brackets how many times as long as earmark's it takes."""
    engines: dict[str, Any] = found["engines"]
    base, *peers = engines
    lines = header(
        ["µs of CPU", ""], [f"{name} {entry['version']}" for name, entry in engines.items()]
    )
    for kind, names in rows.items():
        for name in names:
            cells = [number(engines[base]["own"][kind].get(name))]
            for peer in peers:
                theirs = engines[peer]["same"][kind].get(name)
                ratio = times(theirs, engines[peer]["ours"][kind].get(name))
                cells.append(f"{number(theirs)} ({ratio})" if theirs else "–")
            lines.append(row(kind if name == names[0] else "", name, *cells))
    counts = {
        "schemas given": "given",
        "refused": "refused",
        "too slow or crashed": "ended",
        "valid documents refused": "refused documents",
    }
    for title, key in counts.items():
        lines.append(row(title, "", *(f"{entry[key]:,}" for entry in engines.values())))
    masks = [entry["same"]["mask"].get("count", 0) for entry in engines.values()]
    lines.append(row("masks compared", "", *(f"{count:,}" for count in masks)))
    if rows is not ROWS:
        return "\n".join(lines)
    memory = {"memory own": "memory, own account", "memory growth": "growth of the process"}
    for key, title in memory.items():
        for name in ("mean", "p50", "p99", "max"):
            if any(key in entry for entry in engines.values()):
                cells = [size(entry.get(key, {}).get(name)) for entry in engines.values()]
                lines.append(row(title if name == "mean" else "", name, *cells))
    return "\n".join(lines)


def slowest(one: Contestant, cases: list[Case], count: int) -> str:
    """An engine's slowest masks and first masks, with their places, and its largest growths."""
    masks = [
        (time / 1000, at, document, step)
        for at in one.done()
        for document in range(len(cases[at]["tests"]))
        for step, time in enumerate(one.fed(at, document, 0).masks)
    ]
    lines = [
        f"- mask of {number(time)} µs: {cases[at]['id']}, document {document} behind {step} tokens"
        for time, at, document, step in sorted(masks, reverse=True)[:count]
    ]
    first = sorted(((one.first(at), at) for at in one.done()), reverse=True)
    lines += [f"- first mask of {number(time)} µs: {cases[at]['id']}" for time, at in first[:count]]
    growth = sorted(((one.results[0][at].get("growth", 0), at) for at in one.done()), reverse=True)
    lines += [f"- growth of {size(more)}: {cases[at]['id']}" for more, at in growth[:count] if more]
    return "\n".join(lines)


def reasons(found: dict[str, Any]) -> str:
    """Why schemas were refused."""
    return "\n".join(
        f"- {engine}: {count} × {reason}"
        for engine, entry in found["engines"].items()
        for reason, count in entry["reasons"]
    )
