"""`earmark mask`: which tokens may come after a prefix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from earmark import Matcher, MatchError
from earmark.cli.check import printable
from earmark.cli.inputs import (
    InputError,
    add_grammar,
    add_tokenizer,
    natural,
    read_grammar,
    read_vocabulary,
)

if TYPE_CHECKING:
    import argparse

    from earmark.cli.inputs import Commands


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "mask",
        help="list the tokens that may come after a prefix",
        description="List the tokens that may come after a prefix: a line with their number, "
        "then id and text of each.",
    )
    add_grammar(parser)
    add_tokenizer(parser, "a small built-in vocabulary")
    parser.add_argument("--prefix", default="", metavar="TEXT", help="the text so far")
    parser.add_argument(
        "--limit", type=natural, default=40, metavar="N", help="list N tokens at most (default 40)"
    )
    parser.add_argument("--all", action="store_true", help="list all tokens")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the mask; gives 1 if the prefix is not in the grammar."""
    grammar = read_grammar(options)
    vocabulary = read_vocabulary(options.tokenizer)
    matcher = Matcher(grammar, vocabulary)
    try:
        matcher.accept_bytes(os.fsencode(options.prefix))
    except MatchError as error:
        raise InputError(f"the prefix can't come: {error}; 'earmark check' shows where") from None
    ids = matcher.allowed_tokens().tolist()
    shown = ids if options.all else ids[: options.limit]
    print(f"{len(ids)} of {len(vocabulary)} tokens are allowed")
    for token_id in shown:
        end = "  (ends the text)" if token_id in vocabulary.eos_token_ids else ""
        print(f"{token_id:>8}  {printable(vocabulary.token_bytes(token_id))!r}{end}")
    if len(shown) < len(ids):
        print(f"       …  {len(ids) - len(shown)} more; --all lists them")
    return 0
