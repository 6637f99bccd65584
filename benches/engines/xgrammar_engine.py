"""xgrammar through `GrammarCompiler` and `GrammarMatcher`, one thread, its cache on."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

# Before the stand-ins: it looks for the real torch when it is imported.
import tvm_ffi  # noqa: F401

from engines import RefusedError, standins

standins.install()

import xgrammar  # noqa: E402

if TYPE_CHECKING:
    from sources import Source


class XGrammar:
    version = version("xgrammar")
    dynamic = False

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        # Special tokens other than stop tokens are to have no text: as empty tokens they are
        # never allowed.
        kept = list(tokens)
        for number in special:
            kept[number] = b""
        information = xgrammar.TokenizerInfo(
            kept, xgrammar.VocabType.RAW, vocab_size=len(kept), stop_token_ids=eos
        )
        self._compiler = xgrammar.GrammarCompiler(
            information, max_threads=1, enable_dynamic_compilation=self.dynamic
        )

    def prepare(self, source: Source) -> str:
        return source.text

    def compile(self, text: str, dialect: str) -> Any:
        try:
            if dialect == "lark":
                return self._compiler.compile_lark(text)
            return self._compiler.compile_grammar(text)
        except Exception as error:
            raise RefusedError(str(error)) from error

    def compile_schema(self, schema: Any) -> Any:
        # What a schema does not name it allows; by default xgrammar forbids it.
        try:
            return self._compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        except Exception as error:
            raise RefusedError(str(error).strip().partition("\n")[0]) from error

    def matcher(self, grammar: Any) -> Any:
        return xgrammar.GrammarMatcher(grammar)

    def ready_call(self, matcher: Any) -> Any:  # noqa: ARG002
        return None

    def mask_call(self, matcher: Any, out: Any) -> Any:
        return matcher.fill_next_token_bitmask, (out.reshape(1, -1),)

    def accept_call(self, matcher: Any) -> Any:
        return matcher.accept_token

    def reason(self, matcher: Any) -> str:  # noqa: ARG002
        return ""

    def grammar_bytes(self, grammar: Any) -> int | None:
        return int(grammar.memory_size_bytes)


class XGrammarDynamic(XGrammar):
    """With masks made when they are first needed instead of all when a grammar is compiled."""

    dynamic = True


ENGINES = {"xgrammar": XGrammar, "xgrammar-dynamic": XGrammarDynamic}
