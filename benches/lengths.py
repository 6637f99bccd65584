"""Whether a mask or a token costs more the longer the text is.

    python benches/lengths.py               # JSON, left- and right-recursive, words; 10,000 tokens
    python benches/lengths.py --tokens 40000

For each grammar a document of so many tokens is fed to a new grammar (*new*: masks and steps are
found as they come), and to a new matcher of the same grammar (*again*). A figure is what a token
takes in a stretch of 200 from that place on, so that all places are compared over the same kinds of
tokens: the least of several rounds, which have grammars of their own. Times are the thread's CPU
time, in µs, the loop in Python included.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable

import numpy as np
import tokenizer
from table import header, number, row, size

import earmark

WORDS = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
         "sigma tau upsilon phi chi psi omega").split()  # fmt: skip
WINDOW = 200
thread = time.thread_time_ns

RECORDS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"enum": WORDS}},
        },
        "required": ["name", "count", "tags"],
        "additionalProperties": False,
    },
}


def records(chance: random.Random) -> str:
    return json.dumps(
        [
            {
                "name": " ".join(chance.choices(WORDS, k=3)),
                "count": chance.randrange(1000),
                "tags": chance.choices(WORDS, k=2),
            }
            for _ in range(4000)
        ]
    )


def words(end: str) -> Callable[[random.Random], str]:
    return lambda chance: " ".join(chance.choices(WORDS, k=80000)) + end


def sums(chance: random.Random) -> str:
    return (
        "".join(f"{chance.choice(WORDS)} + {chance.randrange(1000)} * " for _ in range(20000)) + "1"
    )


CASES: dict[str, tuple[Callable[[], earmark.Grammar], Callable[[random.Random], str]]] = {
    "JSON Schema: array of records": (
        lambda: earmark.Grammar.from_json_schema(RECORDS),
        records,
    ),
    "any JSON": (lambda: earmark.Grammar.from_json_schema({}), records),
    "left-recursive: sums": (
        lambda: earmark.Grammar.from_lark(
            'start: sum\nsum: sum " + " product | product\nproduct: product " * " value | value\n'
            "value: NAME | NUMBER\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n"
        ),
        sums,
    ),
    "right-recursive: list": (
        lambda: earmark.Grammar.from_lark(
            'start: list\nlist: NAME | NAME " " list\nNAME: /[a-z]+/\n'
        ),
        words(""),
    ),
    "right-recursive: brackets of words": (
        lambda: earmark.Grammar.from_lark(
            'start: item\nitem: NAME " " item | "(" item ")" | NAME\nNAME: /[a-z]+/\n'
        ),
        words(""),
    ),
    "word list, words may run together": (
        lambda: earmark.Grammar.from_lark('start: (WORD " "?)+ "!"\nWORD: /[a-z]+/\n'),
        words("!"),
    ),
    "any of 24 words": (
        lambda: earmark.Grammar.from_lark(
            f'start: (WORD " ")+ "!"\nWORD: {"|".join(chr(34) + w + chr(34) for w in WORDS)}\n'
        ),
        words(" !"),
    ),
}  # fmt: skip


def feed(
    matcher: earmark.Matcher, document: list[int], windows: list[range], masks: bool
) -> list[float]:
    """µs a token in each window."""
    fill, accept = matcher.fill_mask, matcher.accept
    out = np.zeros((matcher.vocabulary.width + 31) // 32, dtype=np.int32)
    found = []
    at = 0
    for window in windows:
        for end in (window.start, window.stop):
            start = thread()
            for token in document[at:end]:
                if masks:
                    fill(out)
                accept(token)
            taken = thread() - start
            at = end
        found.append(taken / len(window) / 1000)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=10_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    options = parser.parse_args()
    tokens = tokenizer.load(tokenizer.LLAMA3)
    vocabulary = earmark.Vocabulary(
        tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special
    )
    windows = [range(at, at + WINDOW) for at in (100, options.tokens // 10, options.tokens)]
    columns = [f"at {window.start:,}" for window in windows] + ["last / first", "matcher"]
    print("\n".join(header(["grammar", "µs", ""], columns)))
    for name, (make, text) in CASES.items():
        document = tokens.encode(text(random.Random(1)))[: windows[-1].stop]
        if len(document) < windows[-1].stop:
            parser.error(f"{name}: the document has {len(document)} tokens only")
        for what, masks in (("token", False), ("mask and token", True)):
            rounds: dict[str, list[list[float]]] = {"new": [], "again": []}
            for _ in range(options.rounds):
                grammar = make()
                for figures in rounds.values():
                    matcher = earmark.Matcher(grammar, vocabulary)
                    figures.append(feed(matcher, document, windows, masks))
            memory = size(matcher.memory_bytes)
            for state, figures in rounds.items():
                at = [min(column) for column in zip(*figures, strict=True)]
                ratio = f"{at[-1] / at[0]:.2f}"
                print(row(name, what, state, *map(number, at), ratio, memory), flush=True)


if __name__ == "__main__":
    main()
