"""llguidance through `LLMatcher`, with its default slices and limits; JSON Schemas with its slices
for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llguidance
from llguidance.gbnf_to_lark import gbnf_to_lark

from engines import RefusedError

if TYPE_CHECKING:
    from sources import Source


class _Tokenizer:
    """What `TokenizerWrapper` asks for. Encoding is only used for forced tokens: unused here."""

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        self.tokens = tokens
        self.eos_token_id = eos[0]
        self.bos_token_id = None
        self.special_token_ids = special
        self._ids = {token: number for number, token in enumerate(tokens) if token}

    def __call__(self, text: bytes | str) -> list[int]:
        data = text.encode() if isinstance(text, str) else text
        return [self._ids[bytes([byte])] for byte in data]


class LLGuidance:
    version = llguidance.__version__

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        # A special token's bytes must start with 0xFF to be kept apart from text.
        kept = list(tokens)
        for number in special:
            kept[number] = b"\xff" + tokens[number]
        wrapper = llguidance.TokenizerWrapper(_Tokenizer(kept, eos, special))
        self._tokenizer = llguidance.LLTokenizer(wrapper, eos_token=eos)
        slices = llguidance.LLTokenizer.json_slices()
        self._json_tokenizer = self._tokenizer.with_slices(slices)

    def prepare(self, source: Source) -> str:
        if source.dialect == "lark":
            return source.text
        try:
            return gbnf_to_lark(source.text)
        except Exception as error:
            raise RefusedError(f"gbnf_to_lark: {error}") from error

    def compile(self, text: str, dialect: str) -> Any:  # noqa: ARG002
        # `LLMatcher` compiles; a compiled grammar to start from again is a matcher to copy.
        lark = llguidance.LLMatcher.grammar_from_lark(text)
        matcher = llguidance.LLMatcher(self._tokenizer, lark, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return matcher

    def compile_schema(self, schema: Any) -> Any:
        try:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
        except ValueError as error:
            raise RefusedError(str(error).partition("\n")[0]) from error
        matcher = llguidance.LLMatcher(self._json_tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error().partition("\n")[0])
        return matcher

    def matcher(self, grammar: Any) -> Any:
        return grammar.deep_copy()

    def ready_call(self, matcher: Any) -> Any:  # noqa: ARG002
        return None

    def mask_call(self, matcher: Any, out: Any) -> Any:
        # What `llguidance.numpy.fill_next_token_bitmask` calls, without its checks.
        return matcher.unsafe_compute_mask_ptr, (out.ctypes.data, out.nbytes)

    def accept_call(self, matcher: Any) -> Any:
        return matcher.consume_token

    def reason(self, matcher: Any) -> str:
        return matcher.get_error().partition("\n")[0]

    def grammar_bytes(self, grammar: Any) -> int | None:  # noqa: ARG002
        return None


ENGINES = {"llguidance": LLGuidance}
