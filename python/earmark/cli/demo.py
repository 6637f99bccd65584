"""`earmark demo`: the decoding loop, step by step, with a stand-in for the model."""

from __future__ import annotations

import json
import statistics
import time
from typing import TYPE_CHECKING

from earmark import Grammar, Matcher, apply_mask
from earmark.cli.check import printable
from earmark.cli.inputs import add_tokenizer, read_vocabulary

if TYPE_CHECKING:
    import argparse

    from earmark.cli.inputs import Commands

GRAMMAR = r"""
start: "{\"name\": " name ", \"age\": " age ", \"tags\": [" [tag (", " tag)~0..2] "]}"
name: /"[A-Z][a-z]{2,8} [A-Z][a-z]{2,8}"/
age: /[1-9][0-9]?/
tag: "\"admin\"" | "\"editor\"" | "\"reader\"" | "\"guest\""
"""

#: Steps are cut here; the grammar's texts are much shorter.
MAX_STEPS = 200


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "demo",
        help="show the decoding loop at work; needs no files",
        description="Show the decoding loop at work: a stand-in for a model (random logits) "
        "writes a JSON record under a grammar. Each line is a sample: how many tokens the "
        "grammar allowed, how long the mask took, and what was drawn.",
    )
    add_tokenizer(parser, "a small built-in vocabulary")
    parser.add_argument("--seed", type=int, default=7, metavar="SEED", help="of the random logits")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the loop and prints each step."""
    import numpy as np

    clock = time.perf_counter
    vocabulary = read_vocabulary(options.tokenizer)
    start = clock()
    grammar = Grammar.from_lark(GRAMMAR)
    matcher = Matcher(grammar, vocabulary)
    built = clock() - start
    print(f"grammar (Lark):\n{GRAMMAR}")
    print(f"{vocabulary}\nbuilt in {built * 1e3:.2f} ms\n")
    print(f"{'step':>4}  {'allowed':>8}  {'mask':>9}  token")

    random = np.random.default_rng(options.seed)
    text = bytearray()
    times = []
    for step in range(1, MAX_STEPS):
        logits = random.standard_normal(vocabulary.width, np.float32)
        start = clock()
        mask = matcher.next_mask()
        times.append(clock() - start)
        apply_mask(logits, mask)
        token = int(logits.argmax())
        matcher.accept(token)
        _print_step(step, int(np.isfinite(logits).sum()), times[-1], vocabulary.token_bytes(token))
        if matcher.is_finished:
            break
        text += vocabulary.token_bytes(token)

    print(f"\nthe text: {text.decode()}")
    print(f"as Python reads it: {json.loads(text)}")
    print(
        f"masks: median {statistics.median(times) * 1e6:.1f} µs, longest {max(times) * 1e6:.1f} µs"
    )
    return 0


def _print_step(step: int, allowed: int, seconds: float, token: bytes) -> None:
    print(f"{step:>4}  {allowed:>8}  {seconds * 1e6:>6.1f} µs  {printable(token)!r}")
