"""earmark through its Python classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import earmark
from engines import RefusedError

if TYPE_CHECKING:
    from sources import Source


class Earmark:
    version = earmark.__version__

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        self.vocabulary = earmark.Vocabulary(tokens, eos_token_ids=eos, special_token_ids=special)

    def prepare(self, source: Source) -> str:
        return source.text

    def compile(self, text: str, dialect: str) -> Any:
        make = {"gbnf": earmark.Grammar.from_gbnf, "lark": earmark.Grammar.from_lark}[dialect]
        try:
            return make(text)
        except earmark.GrammarError as error:
            raise RefusedError(str(error)) from error

    def compile_schema(self, schema: Any) -> Any:
        try:
            return earmark.Grammar.from_json_schema(schema)
        except earmark.GrammarError as error:
            raise RefusedError(str(error).partition("\n")[0]) from error

    def matcher(self, grammar: Any) -> Any:
        return earmark.Matcher(grammar, self.vocabulary)

    def ready_call(self, matcher: Any) -> Any:  # noqa: ARG002
        return None

    def mask_call(self, matcher: Any, out: Any) -> Any:
        return matcher.fill_mask, (out,)

    def accept_call(self, matcher: Any) -> Any:
        return matcher.try_accept

    def reason(self, matcher: Any) -> str:  # noqa: ARG002
        return ""

    def grammar_bytes(self, grammar: Any) -> int | None:
        return getattr(grammar, "memory_bytes", None)


ENGINES = {"earmark": Earmark}
