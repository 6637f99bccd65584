"""A schema as the set of texts that earmark lets through, and what the options narrow.

Everything here is about whole texts: which of them are accepted, and which schemas are refused.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import earmark

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDEST: dict[str, Any] = {
    "property_order": "any",
    "whitespace": "any",
    "escapes": "all",
    "max_number_digits": None,
}
"""The options under which a grammar is what validation says, but for names that occur twice."""

EOS = 256


class RefusedError(Exception):
    """earmark refuses the schema. The text is the reason, in a line."""


class Nothing:
    """The language of a schema that no document satisfies: earmark refuses those by name."""

    def accepts(self, text: bytes) -> bool:  # noqa: ARG002
        return False


class Language:
    """The texts of a grammar, asked byte by byte."""

    def __init__(self, grammar: earmark.Grammar) -> None:
        self.grammar = grammar

    def accepts(self, text: bytes) -> bool:
        matcher = earmark.Matcher(self.grammar, byte_vocabulary())
        return matcher.validate([*text, EOS]) == len(text) + 1

    def stops_at(self, text: bytes) -> int:
        """How many bytes are accepted."""
        matcher = earmark.Matcher(self.grammar, byte_vocabulary())
        return matcher.validate([*text, EOS])


@cache
def byte_vocabulary() -> earmark.Vocabulary:
    """One token a byte, and an end of the text."""
    return earmark.Vocabulary([*(bytes([b]) for b in range(256)), b""], eos_token_ids=EOS)


def reason(error: earmark.GrammarError) -> str:
    """An error's text in a line, without places and hint."""
    first, *lines = str(error).split("\n")
    listed = [line.partition(": ")[2] for line in lines if line.startswith("  ")]
    return "; ".join(dict.fromkeys(listed)) or first


def build(
    schema: str, options: Mapping[str, Any], resources: Mapping[str, Any] | None = None
) -> Language | Nothing:
    """The language of a schema's JSON text; raises `RefusedError`."""
    more = {"resources": dict(resources)} if resources else {}
    try:
        return Language(earmark.Grammar.from_json_schema(schema, **options, **more))
    except earmark.GrammarError as error:
        if error.kind == "empty":
            return Nothing()
        raise RefusedError(reason(error)) from error
