"""The official JSON Schema Test Suite, draft 2020-12, and a file of its results.

    python tests/json_schema/suite.py            # run it; say what differs from the file
    python tests/json_schema/suite.py --write    # write the file again
    python tests/json_schema/suite.py --only unevaluatedItems optional/format/uri
                                                 # run some; say what became of each test

It runs where the folder `shared` lies beside the repository. Each test's document is written as
`json.dumps(data, ensure_ascii=False)` does, with the numbers as they stand in the suite, and asked
for byte by byte under the widest options, which are those that mean validation. `format` only
constrains in the tests that are about that. The remote documents are given as `resources`.

`results/suite.json` has for each file of the suite: how many tests are right; which are refused,
and why; which valid documents grammars leave out under any options; which are wrong. `narrowed` are
the right ones that the default options turn into rejections, with the option that does it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import exact
import workers
from languages import WIDEST, Language, Nothing, RefusedError, build

HERE = Path(__file__).resolve().parent
SUITE = HERE.parents[2] / "shared" / "json-schema-test-suite"
RESULTS = HERE / "results" / "suite.json"

WIDE = {**WIDEST, "escapes": "minimal"}
"""The widest options. The suite's documents spell a character in one way; with all escapes
`format: regex` is more than a terminal may be."""

NARROWING = {
    "property_order": {"property_order": "any"},
    "whitespace": {"whitespace": "any"},
    "max_number_digits": {"max_number_digits": None},
    "formats": {"formats": False},
}
"""What each option whose default is narrower than validation is at its widest."""

LEFT_OUT = (
    ("optional/format/hostname", "xn--", "hostnames with labels in punycode (xn--…)"),
    ("optional/format/idn-hostname", "xn--", "hostnames with labels in punycode (xn--…)"),
    ("optional/format/ecmascript-regex", "\\\\k<", "patterns with named backreferences"),
    ("optional/float-overflow", "1e308", "numbers with an exponent where `multipleOf` is not 1"),
)
"""What grammars leave out under any options, as the documentation says: file, what a document
holds, what it is. Such a document is not a wrong rejection, and not right either."""


def left_out(name: str, text: str) -> str | None:
    found = (what for file, sign, what in LEFT_OUT if file == name and sign in text)
    return next(found, None)


def files() -> list[str]:
    """The suite's files, without their ending, in order: `allOf`, …, `optional/format/uri`."""
    base = SUITE / "draft2020-12"
    found = [path.relative_to(base).with_suffix("").as_posix() for path in base.rglob("*.json")]
    return sorted(found, key=lambda name: (name.count("/"), name.lower()))


def formats_matter(name: str) -> bool:
    return name.startswith("optional/format")


def remotes() -> dict[str, str]:
    """The remote documents by the URI that the suite gives them."""
    base = SUITE / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(base).as_posix()}": path.read_text("utf-8")
        for path in sorted(base.rglob("*.json"))
    }


def _language(schema: str, options: dict[str, Any]) -> Language | Nothing | str:
    """The language, or the reason of a refusal."""
    try:
        return build(schema, options, remotes() if "localhost:1234" in schema else None)
    except RefusedError as error:
        return str(error)


def _why_narrowed(schema: str, formats: bool, text: bytes) -> str:
    """The options that make the default reject a text which the widest accept."""
    causes = []
    for name, widest in NARROWING.items():
        if name == "formats" and formats:
            continue
        language = _language(schema, widest)
        if not isinstance(language, str) and language.accepts(text):
            causes.append(name)
    return " or ".join(causes) or "several options"


def run_file(name: str) -> dict[str, Any]:
    """What became of a file's tests."""
    groups = exact.load_spelled((SUITE / "draft2020-12" / f"{name}.json").read_text("utf-8"))
    formats = formats_matter(name)
    counts: dict[str, Any] = {"tests": 0, "right": 0}
    lists: dict[str, dict[str, str]] = {
        kind: {}
        for kind in (
            "refused", "left_out", "wrong_accept", "wrong_reject", "narrowed", "default_differs"
        )
    }  # fmt: skip
    for group in groups:
        schema = exact.dump(group["schema"])
        widest = _language(schema, {**WIDE, "formats": formats})
        default = _language(schema, {})
        for test in group["tests"]:
            counts["tests"] += 1
            title = f"{group['description']}: {test['description']}"
            text = exact.dump(test["data"]).encode("utf-8", "surrogatepass")
            expected: bool = test["valid"]
            if isinstance(widest, str):
                lists["refused"][title] = widest
                continue
            accepted = widest.accepts(text)
            if expected and not accepted and (what := left_out(name, text.decode())):
                lists["left_out"][title] = what
                continue
            if accepted != expected:
                kind = "wrong_accept" if accepted else "wrong_reject"
                lists[kind][title] = text.decode("utf-8", "replace")
                continue
            counts["right"] += 1
            if isinstance(default, str):
                lists["default_differs"][title] = default
                continue
            by_default = default.accepts(text)
            if accepted and not by_default:
                lists["narrowed"][title] = _why_narrowed(schema, formats, text)
            elif by_default and not accepted:
                lists["default_differs"][title] = "accepted by default"
    return counts | {kind: found for kind, found in lists.items() if found}


def run(names: list[str]) -> dict[str, Any]:
    """All results, by file, in order."""
    found: dict[str, Any] = {}
    for number, result in workers.each(run_file, names, seconds=60):
        if isinstance(result, workers.Failed):
            result = {"tests": 0, "right": 0, "failed": result.reason}
        found[names[number]] = result
    return {name: found[name] for name in names}


def total(results: dict[str, Any], *, formats: bool | None) -> dict[str, int]:
    """Sums over the mandatory files (`formats` is None), the formats' or the other optional."""
    chosen = [
        result
        for name, result in results.items()
        if (None if "/" not in name else name.count("/") == 2) is formats
    ]
    kinds = ["refused", "left_out", "wrong_accept", "wrong_reject", "narrowed", "default_differs"]
    sums = {kind: sum(len(result.get(kind, ())) for result in chosen) for kind in kinds}
    numbers = {key: sum(result[key] for result in chosen) for key in ("tests", "right")}
    return {**numbers, **sums, "failed": sum("failed" in result for result in chosen)}


SECTIONS = {"mandatory": None, "optional/format": True, "other optional": False}


def summary(results: dict[str, Any]) -> str:
    lines = []
    for title, formats in SECTIONS.items():
        sums = total(results, formats=formats)
        if sums["tests"] or sums["failed"]:
            share = 100 * sums["right"] / max(sums["tests"], 1)
            rest = ", ".join(
                f"{count} {kind.replace('_', ' ')}"
                for kind, count in sums.items()
                if kind not in ("tests", "right") and count
            )
            lines.append(
                f"{title}: {sums['right']} of {sums['tests']} right ({share:.1f} %); {rest}"
            )
    return "\n".join(lines)


def text_of(results: dict[str, Any]) -> str:
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What the file says that is so no longer, and the other way round."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, {}), new.get(name, {})
        for kind in sorted((before.keys() | after.keys()) - {"tests", "right"}):
            was, now = before.get(kind, {}), after.get(kind, {})
            if isinstance(was, str) or isinstance(now, str):
                if was != now:
                    lines.append(f"{name}: {kind}: {now or 'no longer'}")
                continue
            lines += [f"{name}: no longer {kind}: {t}" for t in was if t not in now]
            lines += [f"{name}: {kind}: {t} ({now[t]})" for t in now if was.get(t) != now[t]]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the results' file")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="these files of the suite")
    options = parser.parse_args()
    if not SUITE.exists():
        parser.error(f"there is no {SUITE}")
    results = run(options.only or files())
    print(summary(results))
    if options.only:
        print(text_of(results), end="")
        return 0
    if options.write:
        RESULTS.write_text(text_of(results), encoding="utf-8")
        return 0
    old = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    lines = differences(old, results)
    print("\n".join(lines) if lines else f"{RESULTS.name} is current")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
