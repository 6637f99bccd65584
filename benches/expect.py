"""Finds the counts that `cases.toml` expects, and checks them the slow way.

    python benches/expect.py            # check what is written down
    python benches/expect.py --write    # write it down again
    python benches/expect.py --slow     # check a few positions by trying every token

The slow way knows neither masks nor tries nor the vocabulary: each token's bytes are fed to a
matcher whose vocabulary is the 256 bytes, one by one.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from sources import BENCHES, Case, cases
from tokenizer import LLAMA3, Tokens, load

import earmark

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITIONS = 8


def grammar(case: Case) -> earmark.Grammar:
    source = case.source("earmark")
    make = {"gbnf": earmark.Grammar.from_gbnf, "lark": earmark.Grammar.from_lark}
    return make[source.dialect](source.text)


def counts(
    case: Case, vocabulary: earmark.Vocabulary, document: list[int], positions: Sequence[int]
) -> list[tuple[int, int]]:
    """How many tokens are allowed at some positions, by the masks."""
    matcher = earmark.Matcher(grammar(case), vocabulary)
    found = []
    for at in range(len(document) + 1):
        if at in positions:
            found.append((at, len(matcher.allowed_tokens())))
        if at < len(document):
            matcher.accept(document[at])
    return found


def slow_count(case: Case, tokens: Tokens, document: list[int], position: int) -> int:
    """How many tokens are allowed at a position, by feeding every token's bytes."""
    alphabet = [bytes([byte]) for byte in range(256)]
    single = earmark.Vocabulary([*alphabet, b""], eos_token_ids=256)
    matcher = earmark.Matcher(grammar(case), single)
    for token in document[:position]:
        matcher.accept_bytes(tokens.tokens[token])
    special = set(tokens.special)
    found = len(tokens.eos) if matcher.is_accepting else 0
    for number, text in enumerate(tokens.tokens):
        if text and number not in special:
            found += matcher.validate(list(text)) == len(text)
    return found


def written(case: Case, length: int, allowed: list[tuple[int, int]], text: str) -> str:
    """The text of `cases.toml` with a case's counts put in."""
    rows = ", ".join(f"[{at}, {count}]" for at, count in allowed)
    block = re.compile(
        rf'(name = "{case.name}"\n(?:.*\n)*?)tokens = .*\nallowed = .*\n', re.MULTILINE
    )
    return block.sub(lambda m: f"{m[1]}tokens = {length}\nallowed = [{rows}]\n", text, count=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the counts into cases.toml")
    parser.add_argument("--slow", action="store_true", help="try every token at some positions")
    arguments = parser.parse_args()
    tokens = load(LLAMA3)
    vocabulary = earmark.Vocabulary(
        tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special
    )
    file = BENCHES / "cases.toml"
    text = file.read_text(encoding="utf-8")
    wrong = 0
    for case in cases():
        document = tokens.encode(case.text())
        length = len(document)
        positions = [at for at, _ in case.allowed]
        if arguments.write:
            positions = [length * step // (POSITIONS - 1) for step in range(POSITIONS)]
        found = counts(case, vocabulary, document, positions)
        if arguments.write:
            text = written(case, length, found, text)
        elif (case.tokens, list(case.allowed)) != (length, found):
            wrong += 1
            print(f"{case.name}: expected {case.allowed}, found {found}")
        if arguments.slow:
            for at, count in found[1::3]:
                slow = slow_count(case, tokens, document, at)
                wrong += slow != count
                verdict = "as by the mask" if slow == count else f"but {count} by the mask"
                print(f"{case.name} after {at} tokens: {slow} allowed, {verdict}", flush=True)
    if arguments.write:
        file.write_text(text, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
