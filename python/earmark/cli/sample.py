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

    import numpy as np
    import numpy.typing as npt

    from earmark import Vocabulary
    from earmark.cli.inputs import Commands

#: How likely a text ends where it may, so that loops of a grammar come to an end.
END = 0.3


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "sample",
        help="print random texts of a grammar",
        description="Print random texts of a grammar, a line each, drawn token by token from "
        "what the masks allow. Texts that are not finished after --max-tokens "
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
    draw = Draw(matcher.vocabulary)
    chance = random.Random(options.seed)
    finished = 0
    with Progress(options.n, "texts") as progress:
        for _ in range(options.n):
            text = sample(matcher, draw, chance, options.max_tokens)
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


def sample(matcher: Matcher, draw: Draw, chance: random.Random, max_tokens: int) -> bytes | None:
    """A random text, or None where `max_tokens` tokens were not enough to end it."""
    matcher.reset()
    text = bytearray()
    for _ in range(max_tokens):
        token_id = draw(matcher.allowed_tokens(), chance)
        if token_id is None or (matcher.is_accepting and chance.random() < END):
            return bytes(text)
        matcher.accept(token_id)
        text += matcher.vocabulary.token_bytes(token_id)
    return bytes(text) if matcher.is_accepting else None


class Draw:
    """Draws one of the allowed tokens, but none that ends the text.

    First the byte it starts with, then the token: a quote has the same chance to come as each of
    the letters, although hundreds of tokens start with a letter and few with a quote.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        import numpy as np

        texts = map(vocabulary.token_bytes, range(len(vocabulary)))
        self._first = np.array([text[0] if text else 0 for text in texts], np.uint8)
        self._ends = np.array(vocabulary.eos_token_ids)

    def __call__(self, allowed: npt.NDArray[np.int64], chance: random.Random) -> int | None:
        """One of `allowed`, or None where only the end is."""
        import numpy as np

        allowed = allowed[~np.isin(allowed, self._ends)]
        if not len(allowed):
            return None
        first = self._first[allowed]
        byte = chance.choice(np.bincount(first).nonzero()[0])
        return int(chance.choice(allowed[first == byte]))
