"""`earmark check`: is a text in the grammar, and if not, where does it leave it?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from earmark import Grammar, Matcher, MatchError, Vocabulary
from earmark.cli.inputs import (
    add_grammar,
    add_tokenizer,
    read_bytes,
    read_grammar,
    read_vocabulary,
)

if TYPE_CHECKING:
    import argparse

    from earmark.cli.inputs import Commands

#: How much of a text's line is shown before and after the place of an error, in characters.
CONTEXT = 60

#: How many of the expected terminals are shown.
EXPECTED = 12

#: How many bytes are tried at once on the way to the first that fails.
STRIDE = 1024


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "check",
        help="say whether texts are in a grammar, and where they leave it",
        description="Say whether texts are in a grammar, and where they leave it. "
        "Exit status 0: all are in it; 1: some are not; 2: the grammar has errors.",
    )
    add_grammar(parser)
    parser.add_argument("texts", metavar="TEXT", nargs="+", help="a text")
    parser.add_argument(
        "--files", action="store_true", help="each TEXT is the name of a file that holds the text"
    )
    add_tokenizer(parser, "single bytes, which is enough unless the grammar names tokens")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Checks each text; gives 1 if one is not in the grammar."""
    read = read_bytes if options.files else os.fsencode
    texts = [read(text) for text in options.texts]
    grammar = read_grammar(options)
    if options.tokenizer is None:
        vocabulary = byte_vocabulary()
    else:
        vocabulary = read_vocabulary(options.tokenizer)
    verdicts = [judge(grammar, vocabulary, text) for text in texts]
    for verdict, _ in verdicts:
        print(verdict)
    return 0 if all(accepted for _, accepted in verdicts) else 1


def byte_vocabulary() -> Vocabulary:
    """The 256 bytes and an end."""
    return Vocabulary([bytes([byte]) for byte in range(256)] + [b"<end>"], eos_token_ids=256)


def judge(grammar: Grammar, vocabulary: Vocabulary, text: bytes) -> tuple[str, bool]:
    """What to print about a text, and whether it is in the grammar."""
    matcher = Matcher(grammar, vocabulary)
    end = _accept_all(matcher, text)
    if end == len(text) and matcher.is_accepting:
        shown = printable(text[:CONTEXT]) + "…" * (len(text) > CONTEXT)
        return f"accepted: {shown}", True
    if end == len(text):
        what = f"unfinished: the text may not end after byte {end}"
    else:
        what = f"rejected: byte {end} ({printable(text[end : end + 1])}) can't come here"
    expected = _expected(matcher, text[:end])
    more = f" and {len(expected) - EXPECTED} more" if len(expected) > EXPECTED else ""
    return (
        f"{what}\n{_with_caret(text, end)}\nexpected: {', '.join(expected[:EXPECTED])}{more}",
        False,
    )


def _expected(matcher: Matcher, accepted: bytes) -> list[str]:
    """What could come instead: the grammar's terminals, for a regex, which has one, its bytes."""
    if matcher.grammar.kind == "regex":
        matcher = Matcher(matcher.grammar, byte_vocabulary())
        matcher.accept_bytes(accepted)
        expected = byte_ranges(matcher.allowed_tokens().tolist())
    else:
        expected = matcher.expected()
    return expected + ["the end"] * matcher.is_accepting


def byte_ranges(values: list[int]) -> list[str]:
    """Sorted byte values as ranges such as `a-z`; the end of a vocabulary is left out."""
    ranges: list[list[int]] = []
    for value in values:
        if value > 0xFF:
            continue
        if ranges and value == ranges[-1][-1] + 1:
            ranges[-1][1:] = [value]
        else:
            ranges.append([value])
    return ["-".join(printable(bytes([end])) for end in ends) for ends in ranges]


def printable(text: bytes) -> str:
    """Bytes as text in one line: control characters and what is no UTF-8 are escaped."""
    decoded = text.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in decoded)


def _accept_all(matcher: Matcher, text: bytes) -> int:
    """Accepts as many bytes as possible and gives their number."""
    for start in range(0, len(text), STRIDE):
        try:
            matcher.accept_bytes(text[start : start + STRIDE])
        except MatchError:
            break
    else:
        return len(text)
    for end in range(start, len(text)):
        try:
            matcher.accept_bytes(text[end : end + 1])
        except MatchError:
            return end
    raise AssertionError("bytes were accepted one by one but not together")


def _with_caret(text: bytes, place: int) -> str:
    """The line around a place with a caret below it."""
    line = text.rfind(b"\n", 0, place) + 1
    start = max(line, place - CONTEXT)
    end = text.find(b"\n", place)
    end = min(len(text) if end < 0 else end, place + CONTEXT)
    before = ("…" if start > line else "") + printable(text[start:place])
    return f"  {before}{printable(text[place:end])}\n  {' ' * len(before)}^"
