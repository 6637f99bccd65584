"""Instructions of the hot paths, counted by valgrind: the same number in every run.

    python benches/instructions.py             # print them
    python benches/instructions.py --against   # and fail past 5 % more than in instructions.json
    python benches/instructions.py --write     # and write instructions.json

Needs valgrind and cargo. What runs is `hot.rs`; "first" is with nothing known, "again" with
everything. Compilers differ: counts are only held against those of the same one.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "benches" / "instructions.json"
CASES = ("json", "expressions", "c_subset", "words")
TOLERANCE = 1.05


def build() -> Path:
    """The benchmark's binary."""
    command = ["cargo", "bench", "--no-default-features", "--bench", "hot", "--no-run",
               "--message-format=json"]  # fmt: skip
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    found = [a for a in artifacts if a.get("executable") and a["target"]["name"] == "hot"]
    return Path(found[-1]["executable"])


def count(binary: Path, case: str) -> dict[str, float]:
    """Instructions for each call of each hot function."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(binary),
                   case]  # fmt: skip
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        annotate = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile)]
        report = subprocess.run(annotate, check=True, capture_output=True, text=True).stdout
    calls = dict(re.findall(r"(hot_\w+)=(\d+)", run.stdout))
    costs = dict.fromkeys(calls, 0)
    for line in report.splitlines():
        found = re.match(r"\s*([\d,]+)\b.*?\bhot::(hot_\w+)", line)
        if found and found[2] in costs:
            costs[found[2]] = max(costs[found[2]], int(found[1].replace(",", "")))
    return {name: costs[name] / int(calls[name]) for name in calls}


def compiler() -> str:
    """The compiler's version."""
    command = ["rustc", "--version"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def grown(counts: dict[str, dict[str, float]]) -> list[str]:
    """What takes more than the counts that are written down say."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    if known["compiler"] != compiler():
        print(f"{KNOWN.name} is of {known['compiler']}, this is {compiler()}: not compared")
        return []
    return [
        f"{case}, {name}: {cost:,.0f} instructions, {known['counts'][case][name]:,.0f} before"
        for case, costs in counts.items()
        for name, cost in costs.items()
        if cost > known["counts"][case][name] * TOLERANCE
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {KNOWN.name}")
    parser.add_argument("--against", action="store_true", help=f"fail if more than {KNOWN.name}")
    arguments = parser.parse_args()
    binary = build()
    counts = {case: count(binary, case) for case in CASES}
    names = list(counts[CASES[0]])
    print("| case | " + " | ".join(n.removeprefix("hot_").replace("_", " ") for n in names) + " |")
    print("|---|" + "--:|" * len(names))
    for case, costs in counts.items():
        print(f"| {case} | " + " | ".join(f"{costs[name]:,.0f}" for name in names) + " |")
    if arguments.write:
        known = {"compiler": compiler(), "counts": counts}
        KNOWN.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    more = grown(counts) if arguments.against else []
    print("\n".join(more))
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
