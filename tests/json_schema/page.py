"""Writes what the results' files say into `docs/json-schema.md`.

    python tests/json_schema/page.py            # say whether the page is current
    python tests/json_schema/page.py --write    # write its tables again

`suite.py --write` and `maskbench.py --write` make the results' files; the rest of the page is
written by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "json-schema.md"
SUITE = HERE / "results" / "suite.json"
MASKBENCH = HERE / "results" / "maskbench.json"


def row(*cells: str | int) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def grouped(found: dict[str, str]) -> list[str]:
    """`reason (3 tests)` for each reason, most frequent first."""
    counts: dict[str, int] = {}
    for reason in found.values():
        counts[reason] = counts.get(reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{escaped(reason)} ({count})" for reason, count in ordered]


def suite() -> list[str]:
    results: dict[str, Any] = json.loads(SUITE.read_text("utf-8"))
    groups = {
        "all keywords": [name for name in results if "/" not in name],
        "formats (`optional/format`)": [name for name in results if name.count("/") == 2],
        "other optional tests": [name for name in results if name.count("/") == 1],
    }  # fmt: skip
    lines = [
        "Draft 2020-12, with the options that leave nothing out; `format` constrains only in its "
        "own tests. *Left out* are valid documents of which this page says that no option brings "
        "them back. *Narrowed* tests are right with those options and rejected by default, because "
        "of the option named.",
        "",
        row("", "tests", "right", "refused", "left out", "wrong"),
        "|---|--:|--:|--:|--:|--:|",
    ]
    for title, names in groups.items():
        chosen = [results[name] for name in names]
        numbers = [sum(one[key] for one in chosen) for key in ("tests", "right")]
        refused = sum(len(one.get("refused", ())) for one in chosen)
        left_out = sum(len(one.get("left_out", ())) for one in chosen)
        wrong = sum(len(one.get(k, ())) for one in chosen for k in ("wrong_accept", "wrong_reject"))
        lines.append(row(title, *numbers, refused, left_out, wrong))
    lines += ["", "All tests of a file are right where it is not in this table:", ""]
    lines += [row("file", "tests", "right", "the others"), "|---|--:|--:|---|"]
    for name, one in results.items():
        rest = [f"refused: {reason}" for reason in grouped(one.get("refused", {}))]
        rest += [f"left out: {what}" for what in grouped(one.get("left_out", {}))]
        rest += [one["failed"]] if "failed" in one else []
        rest += [f"accepts `{escaped(text)}`: {escaped(title)}"
                 for title, text in one.get("wrong_accept", {}).items()]  # fmt: skip
        rest += [f"rejects `{escaped(text)}`: {escaped(title)}"
                 for title, text in one.get("wrong_reject", {}).items()]  # fmt: skip
        if rest:
            lines.append(row(f"`{name}`", one["tests"], one["right"], "<br>".join(rest)))
    lines += ["", "Narrowed by default:", "", row("file", "tests", "option"), "|---|--:|---|"]
    for name, one in results.items():
        causes = [f"`{cause}`" for cause in grouped(one.get("narrowed", {}))]
        if causes:
            count = len(one["narrowed"])
            options = ", ".join(cause.rpartition(" (")[0] + "`" for cause in causes)
            lines.append(row(f"`{name}`", count, options))
    return lines


def maskbench() -> list[str]:
    data: dict[str, Any] = json.loads(MASKBENCH.read_text("utf-8"))
    verdicts = data["verdicts"]
    lines = [
        f"{data['schemas']:,} real schemas with valid and invalid documents, Llama 3's tokens, "
        f"default options: {data['pass_percent']} % pass, which means that every document gets its "
        f'verdict; {data["pass_or_order_percent"]} % with `property_order="any"`, because '
        "documents need not follow the schema's order.",
        "",
        row("", "schemas"),
        "|---|--:|",
    ]
    titles = {
        "pass": "pass",
        "order": "pass with any order of properties",
        "options": "pass with the options that leave nothing out",
        "refused": "refused",
        "wrong_accept": "an invalid document is accepted",
        "wrong_reject": "a valid document is rejected",
        "failed": "failed",
    }
    lines += [row(title, verdicts[key]) for key, title in titles.items() if key in verdicts]
    if data["refused"]:
        from maskbench import grouped as general

        reasons: dict[str, int] = {}
        for reason in data["refused"].values():
            reasons[general(reason)] = reasons.get(general(reason), 0) + 1
        lines += ["", row("refused because", "schemas"), "|---|--:|"]
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        lines += [row(escaped(reason), count) for reason, count in ordered]
    return lines


def filled(text: str) -> str:
    """The page with its tables written again."""
    for name, lines in (("suite", suite()), ("maskbench", maskbench())):
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, rest = text.split(start)
        _, after = rest.split(end)
        text = before + start + "\n".join(lines) + "\n" + end + after
    return text


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    text = PAGE.read_text("utf-8")
    new = filled(text)
    if options.write:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    print(f"{PAGE.name} is {'current' if new == text else 'not current'}")
    return 0 if new == text else 1


if __name__ == "__main__":
    sys.exit(main())
