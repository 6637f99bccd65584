"""outlines-core through `Index` and `Guide`: a schema becomes one regular expression."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import outlines_core
from outlines_core.json_schema import build_regex_from_schema

from engines import RefusedError

if TYPE_CHECKING:
    from sources import Source


class OutlinesCore:
    version = version("outlines-core")

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        ids: dict[bytes, list[int]] = {}
        for number in sorted(set(range(len(tokens))) - {*eos, *special}):
            if tokens[number]:
                ids.setdefault(tokens[number], []).append(number)
        self._vocabulary = outlines_core.Vocabulary(eos[0], ids)

    def prepare(self, source: Source) -> str:  # noqa: ARG002
        raise RefusedError("it has regular expressions, no grammars")

    def compile(self, text: str, dialect: str) -> Any:  # noqa: ARG002
        raise RefusedError("it has regular expressions, no grammars")

    def compile_schema(self, schema: Any) -> Any:
        try:
            expression = build_regex_from_schema(json.dumps(schema))
            return outlines_core.Index(expression, self._vocabulary)
        except (ValueError, TypeError, OverflowError) as error:
            raise RefusedError(str(error).partition("\n")[0]) from error

    def matcher(self, grammar: Any) -> Any:
        return outlines_core.Guide(grammar)

    def ready_call(self, matcher: Any) -> Any:  # noqa: ARG002
        return None

    def mask_call(self, matcher: Any, out: Any) -> Any:
        return matcher.write_mask_into, (out.ctypes.data, out.size, out.itemsize)

    def accept_call(self, matcher: Any) -> Any:
        advance = matcher.advance

        def accept(token: int) -> bool:
            try:
                advance(token, False)
            except ValueError:
                return False
            return True

        return accept

    def reason(self, matcher: Any) -> str:  # noqa: ARG002
        return ""

    def grammar_bytes(self, grammar: Any) -> int | None:  # noqa: ARG002
        return None


ENGINES = {"outlines-core": OutlinesCore}
