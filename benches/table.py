"""Figures → Markdown, and what stands out in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summary import MODES

if TYPE_CHECKING:
    from sources import Case
    from summary import Result

Results = dict[str, dict[str, "Result"]]
"""By case and engine."""


def number(value: float | None) -> str:
    """Three significant digits at most, thousands apart."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def size(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1e6:.1f} MB" if value >= 1e6 else f"{value / 1e3:.0f} kB"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def header(left: list[str], right: list[str]) -> list[str]:
    return [row(*left, *right), "|" + "---|" * len(left) + "--:|" * len(right)]


def times(other: float | None, own: float | None) -> str:
    """How many times longer the other takes."""
    return f"{other / own:,.1f}×" if other and own else "–"


def ratio(results: dict[str, Result], peer: str, mode: str) -> str:
    """Mean masks compared over the part of the document that both took."""
    ours, theirs = results.get("earmark"), results.get(peer)
    if ours is None or theirs is None:
        return "–"
    runs = theirs.runs(mode)
    if not runs:
        return "–"
    upto = min(len(run["mask_cpu"]) for run in runs)
    return times(theirs.mean(mode, "mask_cpu", upto), ours.mean(mode, "mask_cpu", upto))


def masks(cases: list[Case], results: Results, engines: list[str], mode: str) -> list[str]:
    """One mode's table: a line for each case and engine."""
    columns = ["mean", "p50", "p90", "p99", "p99.9", "max", "at", "accept", "first mask"]
    peers = [engine for engine in engines if engine != "earmark"]
    lines = header(["case", "engine"], [*columns, *(["mean, times earmark's"] if peers else [])])
    for case in cases:
        for engine in engines:
            result = results[case.name].get(engine)
            if result is None:
                continue
            found = result.summary()
            trouble = found["trouble"]
            figures = found.get(mode)
            if figures is None:
                cells = [trouble or "–", *[""] * (len(columns) - 1)]
            else:
                cells = [
                    number(figures["mask_mean"]),
                    *(number(figures[name]) for name in columns[1:6]),
                    str(figures["worst_position"]),
                    number(figures["accept_mean"]),
                    number(figures["first"]) if mode != "warm" else "",
                ]
            name = f"{engine} ({trouble})" if trouble and figures else engine
            if peers:
                cells.append(ratio(results[case.name], engine, mode) if engine in peers else "")
            lines.append(row(case.title, name, *cells))
    return lines


def memory(cases: list[Case], results: Results, engines: list[str]) -> list[str]:
    lines = header(
        ["case"], [f"{engine}: {what}" for engine in engines for what in ("grammar", "matcher")]
    )
    for case in cases:
        cells = []
        for engine in engines:
            result = results[case.name].get(engine)
            found: dict[str, Any] = result.summary() if result else {}
            own = found.get("grammars", {}).get("own")
            grammar = size(found.get("grammars", {}).get("memory"))
            cells.append(f"{grammar} ({size(own)})" if own else grammar)
            cells.append(size(found.get("matchers", {}).get("memory")))
        lines.append(row(case.title, *cells))
    return lines


def vocabularies(results: Results, engines: list[str]) -> list[str]:
    lines = header(["engine"], ["build, ms", "memory"])
    for engine in engines:
        for by_engine in results.values():
            found = by_engine[engine].summary().get("vocabulary") if engine in by_engine else None
            if found:
                lines.append(row(engine, f"{found['cpu'] / 1e6:.0f}", size(found["memory"])))
                break
    return lines


def differences(cases: list[Case], results: Results, engines: list[str]) -> list[str]:
    """Where another engine allows another number of tokens."""
    lines = []
    for case in cases:
        ours = results[case.name]["earmark"].summary().get("counts", [])
        for engine in engines:
            result = results[case.name].get(engine)
            theirs = result.summary().get("counts", []) if result else []
            pairs = list(zip(ours, theirs, strict=False))
            other = [at for at, (a, b) in enumerate(pairs) if a != b]
            if other and engine != "earmark":
                at = other[0]
                lines.append(
                    f"- {case.title}, {engine}: {len(other)} of {len(pairs)} masks; first after "
                    f"{at} tokens: {theirs[at]:,} allowed, by earmark {ours[at]:,}"
                )
    return lines


def findings(cases: list[Case], results: Results) -> list[str]:
    """What earmark has to be better at: slower than the faster peer, under ten times faster than
    llguidance where that needs over 100 µs, or a mask over 3 ms."""
    lines = []
    for case in cases:
        by_engine = results[case.name]
        ours = by_engine["earmark"]
        found = ours.summary()
        for mode in MODES:
            if mode not in found:
                continue
            own = found[mode]["mask_mean"]
            for peer, result in by_engine.items():
                runs = result.runs(mode)
                if peer == "earmark" or not runs:
                    continue
                upto = min(len(run["mask_cpu"]) for run in runs)
                their, same = result.mean(mode, "mask_cpu", upto), ours.mean(mode, "mask_cpu", upto)
                if their is None or same is None:
                    continue
                text = f"mean mask {number(same)} µs, {peer} {number(their)} µs"
                if their < same:
                    lines.append(f"- {case.title}, {mode}: slower than a peer: {text}")
                elif peer == "llguidance" and their > 100 and same > their / 10:
                    lines.append(f"- {case.title}, {mode}: less than ten times faster: {text}")
            if found[mode]["max"] > 3000:
                slow = [at for at, mask in enumerate(found[mode]["masks"]) if mask > 3000]
                lines.append(
                    f"- {case.title}, {mode}: {len(slow)} masks over 3 ms (mean {number(own)} µs), "
                    f"the longest {number(found[mode]['max'])} µs after "
                    f"{found[mode]['worst_position']} tokens"
                )
    return lines


def report(cases: list[Case], results: Results, engines: list[str]) -> str:
    """Everything, as Markdown."""
    titles = {
        "cold": "Cold: a fresh process, the first document",
        "fresh": "Fresh: a grammar never seen before, in a process that has seen such a document",
        "warm": "Warm: grammar and masks seen before",
    }
    lines = []
    for mode in MODES:
        lines += [f"### {titles[mode]} (µs of CPU)", "", *masks(cases, results, engines, mode), ""]
    lines += ["### Memory, per grammar in use and per matcher", ""]
    lines += [*memory(cases, results, engines), "", "### Vocabulary", ""]
    lines += [*vocabularies(results, engines), ""]
    if "earmark" in engines:
        other = differences(cases, results, engines)
        lines += ["### Masks that differ from earmark's", "", *(other or ["None."]), ""]
        lines += ["### To be improved", "", *(findings(cases, results) or ["Nothing."]), ""]
    lines += ["### What the cases are for", ""]
    lines += [f"- **{case.title}**: {case.analysis.strip()}" for case in cases]
    return "\n".join(lines)
