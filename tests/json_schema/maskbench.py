"""MaskBench's schemas and documents through earmark, and a file of the verdicts.

    python tests/json_schema/maskbench.py            # run it; say what differs from the file
    python tests/json_schema/maskbench.py --write    # write the file again
    python tests/json_schema/maskbench.py --only ID… # some; say what became of each document
    python tests/json_schema/maskbench.py --every 20 # each twentieth schema

It runs where the folder `shared` lies beside the repository. Documents are written as
`json.dumps(data, ensure_ascii=False)` does and cut by Llama 3's tokenizer. Before each token the
mask is made and the token's bit read; the token is then given to the matcher, which must say the
same. A document is accepted if the end is allowed behind it.

The verdict on a schema, under the default options:

- *pass*: every valid document is accepted, every invalid one refused somewhere;
- *order*: it passes with `property_order="any"`; *options*: only with the widest options;
- *refused*: earmark doesn't take the schema; the file says why;
- *wrong_accept*, *wrong_reject*: documents get the wrong verdict, also under the widest options.

`labels` are the documents of which the `jsonschema` package (numbers exact, formats checked) does
not think what MaskBench says.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import earmark
import exact
import workers
from languages import WIDEST, Nothing, RefusedError, build
from oracle import Oracle, UndecidedError

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
DATA = SHARED / "maskbench" / "dev.jsonl.gz"
RESULTS = HERE / "results" / "maskbench.json"
EOS = [128001, 128008, 128009]

ATTEMPTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("pass", {}),
    ("order", {"property_order": "any"}),
    ("options", WIDEST),
)


class InconsistentError(Exception):
    """A mask and the matcher say different things of a token."""


@cache
def schemas() -> tuple[str, ...]:
    """The data's lines."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        return tuple(file)


@cache
def model() -> tuple[Any, earmark.Vocabulary]:
    """Llama 3's tokenizer and vocabulary."""
    import tokenizers

    path = SHARED / "tokenizers" / "llama3.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        tokenizer = tokenizers.Tokenizer.from_str(file.read())
    return tokenizer, earmark.Vocabulary.from_huggingface(tokenizer, eos_token_ids=EOS)


def text_of(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


@cache
def tokens_of(text: str) -> list[int]:
    return list(model()[0].encode(text, add_special_tokens=False).ids)


def accepts(grammar: earmark.Grammar, text: str) -> bool:
    """Whether a document comes through, token by token."""
    _, vocabulary = model()
    matcher = earmark.Matcher(grammar, vocabulary)
    mask = np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
    for at, token in enumerate([*tokens_of(text), EOS[0]]):
        matcher.fill_mask(mask)
        allowed = bool(mask[token // 32] >> (token % 32) & 1)
        if matcher.try_accept(token) != allowed:
            raise InconsistentError(f"token {token} at {at} of {text[:80]}: the mask has {allowed}")
        if not allowed:
            return False
    return True


def wrong(schema: str, tests: list[dict[str, Any]], options: dict[str, Any]) -> dict[int, bool]:
    """The documents whose verdict is not their label, with that verdict; raises `RefusedError`."""
    language = build(schema, options)
    found = {}
    for number, test in enumerate(tests):
        text = text_of(test["data"])
        accepted = not isinstance(language, Nothing) and accepts(language.grammar, text)
        if accepted != test["valid"]:
            found[number] = accepted
    return found


def labels(schema: Any, tests: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The documents whose label is not what the oracle says, formats checked."""
    found = {}
    try:
        oracle = Oracle(schema, formats=True)
    except UndecidedError:
        return {}
    for number, test in enumerate(tests):
        document = exact.load(text_of(test["data"]))
        try:
            valid = oracle.is_valid(document)
        except UndecidedError:
            continue
        if valid != test["valid"]:
            found[number] = {"label": test["valid"], "draft": oracle.draft}
            if not valid:
                found[number]["why"] = oracle.why(document)
    return found


def judge(line: str) -> dict[str, Any]:
    """What became of a schema."""
    case = json.loads(line)
    schema, tests = text_of(case["schema"]), case["tests"]
    found: dict[str, Any] = {"id": case["id"]}
    other = labels(exact.load(schema), tests)
    if other:
        found["labels"] = other
    started = time.process_time()
    for verdict, options in ATTEMPTS:
        try:
            mistakes = wrong(schema, tests, options)
        except RefusedError as error:
            return {**found, "verdict": "refused", "reason": str(error)}
        except InconsistentError as error:
            return {**found, "verdict": "failed", "reason": f"inconsistent: {error}"}
        finally:
            tokens_of.cache_clear()
        if verdict == "pass":
            found["seconds"] = time.process_time() - started
        # Wider options can't help against what is accepted wrongly.
        if not mistakes or any(mistakes.values()):
            break
    if not mistakes:
        return {**found, "verdict": verdict}
    verdict = "wrong_accept" if any(mistakes.values()) else "wrong_reject"
    return {**found, "verdict": verdict, "documents": mistakes}


def run(lines: list[str], *, seconds: float = 60, progress: bool = False) -> list[dict[str, Any]]:
    """The verdicts, in order."""
    found: list[dict[str, Any]] = [{} for _ in lines]
    for done, (number, result) in enumerate(workers.each(judge, lines, seconds=seconds)):
        if isinstance(result, workers.Failed):
            name = json.loads(lines[number])["id"]
            result = {"id": name, "verdict": "failed", "reason": result.reason}
        found[number] = result
        if progress and done % 100 == 99:
            print(f"{done + 1} of {len(lines)}", file=sys.stderr, flush=True)
    return found


def grouped(reason: str) -> str:
    """A reason without what differs from schema to schema."""
    reason = re.sub(r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"|'[^']*'", "…", reason)
    return re.sub(r"\d[\d,_.]*", "n", reason)


def report(found: list[dict[str, Any]]) -> dict[str, Any]:
    """What the results' file holds."""
    counts = Counter(entry["verdict"] for entry in found)
    passed = counts["pass"] + counts["order"]
    data: dict[str, Any] = {
        "schemas": len(found),
        "verdicts": dict(sorted(counts.items())),
        "pass_percent": round(100 * counts["pass"] / len(found), 2),
        "pass_or_order_percent": round(100 * passed / len(found), 2),
    }
    for verdict in ("order", "options"):
        data[verdict] = [entry["id"] for entry in found if entry["verdict"] == verdict]
    for verdict in ("refused", "failed"):
        data[verdict] = {e["id"]: e["reason"] for e in found if e["verdict"] == verdict}
    for verdict in ("wrong_accept", "wrong_reject"):
        data[verdict] = {
            entry["id"]: sorted(int(number) for number in entry["documents"])
            for entry in found
            if entry["verdict"] == verdict
        }
    data["labels"] = {
        entry["id"]: {str(number): other for number, other in entry["labels"].items()}
        for entry in found
        if "labels" in entry
    }
    return data


def summary(data: dict[str, Any]) -> str:
    lines = [
        f"{data['schemas']} schemas: {data['pass_percent']} % pass, "
        f"{data['pass_or_order_percent']} % with any order of properties; "
        + ", ".join(f"{count} {verdict}" for verdict, count in data["verdicts"].items())
    ]
    for verdict in ("refused", "failed"):
        groups: dict[str, list[str]] = {}
        for name, reason in data[verdict].items():
            groups.setdefault(grouped(reason), []).append(name)
        for reason, names in sorted(groups.items(), key=lambda item: -len(item[1])):
            lines.append(f"{len(names):5} {verdict}: {reason} ({names[0]})")
    for verdict in ("wrong_accept", "wrong_reject"):
        for name, documents in data[verdict].items():
            lines.append(f"{verdict}: {name} {documents}")
    return "\n".join(lines)


def explain(entry: dict[str, Any], line: str) -> str:
    """A schema's verdict in full."""
    case = json.loads(line)
    lines = [json.dumps(entry, ensure_ascii=False, indent=1), text_of(case["schema"])]
    for number, test in enumerate(case["tests"]):
        if number in entry.get("documents", {}):
            lines.append(f"{number}: labelled {test['valid']}: {text_of(test['data'])}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the results' file")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these schemas")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth schema")
    parser.add_argument("--seconds", type=float, default=60, help="limit for a schema")
    options = parser.parse_args()
    if not DATA.exists():
        parser.error(f"there is no {DATA}")
    lines = list(schemas())[:: options.every]
    if options.only:
        lines = [line for line in lines if json.loads(line)["id"] in options.only]
    found = run(lines, seconds=options.seconds, progress=True)
    data = report(found)
    if options.only:
        for entry, line in zip(found, lines, strict=True):
            print(explain(entry, line))
        return 0
    print(summary(data))
    slowest = sorted((entry for entry in found if "seconds" in entry), key=lambda e: -e["seconds"])
    print("slowest:", ", ".join(f"{e['id']} {e['seconds']:.2f} s" for e in slowest[:5]))
    if options.every > 1:
        return 0
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")
        return 0
    current = RESULTS.exists() and RESULTS.read_text("utf-8") == text
    print(f"{RESULTS.name} is {'current' if current else 'not current'}")
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
