"""`earmark sample`: random texts of a grammar, sampled token by token as a model would."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

from earmark import Matcher
from earmark.cli.inputs import add_grammar, add_tokenizer, natural, read_grammar, read_vocabulary
from earmark.cli.progress import Progress

if TYPE_CHECKING:
    import argparse

    from earmark.cli.inputs import Commands

#: How likely a text ends where it may, so that loops of a grammar come to an end.
END = 0.3


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "sample",
        help="print random texts of a grammar",
        description="Print random texts of a grammar, a line each: tokens are drawn with equal "
        "chances from those that the mask allows. Texts that are not finished after --max-tokens "
        "are counted, not printed. Exit status 1: there was none to print.",
    )
    add_grammar(parser)
    add_tokenizer(parser, "a small built-in vocabulary")
    parser.add_argument("-n", type=natural, default=1, metavar="N", help="texts (default 1)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="the same texts for the same seed")
    parser.add_argument(
        "--max-tokens", type=natural, default=200, metavar="N", help="a text (default 200)"
    )
    parser.add_argument("--json", action="store_true", help="print each text as a JSON string")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the texts; gives 1 if none was finished."""
    matcher = Matcher(read_grammar(options), read_vocabulary(options.tokenizer))
    chance = random.Random(options.seed)
    finished = 0
    with Progress(options.n, "texts") as progress:
        for _ in range(options.n):
            text = sample(matcher, chance, options.max_tokens)
            if text is not None:
                finished += 1
                shown = text.decode("utf-8", "backslashreplace")
                progress.print(json.dumps(shown, ensure_ascii=False) if options.json else shown)
            progress.advance()
    if finished < options.n:
        print(
            f"earmark: {options.n - finished} of {options.n} texts were not finished after "
            f"{options.max_tokens} tokens; --max-tokens allows more",
            file=sys.stderr,
        )
    return 0 if finished else 1


def sample(matcher: Matcher, chance: random.Random, max_tokens: int) -> bytes | None:
    """A random text, or None where `max_tokens` tokens were not enough to end it."""
    vocabulary = matcher.vocabulary
    matcher.reset()
    text = bytearray()
    for _ in range(max_tokens):
        allowed = matcher.allowed_tokens()
        if matcher.is_accepting:
            going_on = [t for t in allowed.tolist() if t not in vocabulary.eos_token_ids]
            if not going_on or chance.random() < END:
                return bytes(text)
            token_id = chance.choice(going_on)
        else:
            token_id = int(allowed[chance.randrange(len(allowed))])
        matcher.accept(token_id)
        text += vocabulary.token_bytes(token_id)
    return bytes(text) if matcher.is_accepting else None
