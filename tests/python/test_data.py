"""Runs `tests/data/*.toml` and `grammars/texts/*.toml`; Rust runs the same files.

The format is described in `tests/data/README.md`.
"""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import earmark
import shared

FILES = sorted(
    [*(shared.ROOT / "tests" / "data").glob("*.toml"), *(shared.GRAMMARS / "texts").glob("*.toml")]
)
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in FILES
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
]


def vocabulary_of(case: dict[str, Any]) -> earmark.Vocabulary:
    if "tokens" not in case:
        return shared.byte_vocabulary()
    tokens = [t.encode() if isinstance(t, str) else bytes(t) for t in case["tokens"]]
    return earmark.Vocabulary(
        tokens,
        eos_token_ids=case["eos"],
        special_token_ids=case.get("special", []),
        width=case.get("width"),
    )


def matcher_of(case: dict[str, Any]) -> earmark.Matcher:
    if "file" in case:
        grammar = shared.load(case["file"])
    else:
        if "json_schema" in case:
            grammar = earmark.Grammar.from_json_schema(
                case["json_schema"], **case.get("options", {})
            )
            return earmark.Matcher(grammar, vocabulary_of(case))
        language = next(key for key in ("gbnf", "lark", "regex") if key in case)
        grammar = shared.build(language, case[language], case.get("start"))
    return earmark.Matcher(grammar, vocabulary_of(case))


def feed(case: dict[str, Any], matcher: earmark.Matcher, text: str) -> bool:
    """Byte by byte; with the vocabulary of bytes as tokens, whose bits must be right."""
    for byte in text.encode():
        if "tokens" in case:
            try:
                matcher.accept_bytes(bytes([byte]))
            except earmark.MatchError:
                return False
            continue
        allowed = byte in shared.allowed(matcher)
        assert matcher.try_accept(byte) == allowed
        if not allowed:
            return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(earmark.GrammarError) as caught:
            matcher_of(case)
        error = caught.value
        assert error.kind.replace("_", "").replace(" ", "").lower() == case["error"]
        assert case.get("says", "") in str(error)
        assert case.get("line") in (None, error.line)
        assert case.get("pointer") in (None, error.pointer)
        return
    matcher = matcher_of(case)
    for text in case.get("accept", []):
        matcher.reset()
        assert feed(case, matcher, text), text
        assert matcher.is_accepting, text
        matcher.reset()
        matcher.accept_bytes(text.encode())
    for text in case.get("reject", []):
        matcher.reset()
        assert not (feed(case, matcher, text) and matcher.is_accepting), text
    for text in case.get("dead", []):
        matcher.reset()
        assert not feed(case, matcher, text), text
    for mask in case.get("masks", []):
        matcher.reset()
        for token in mask["after"]:
            matcher.accept(token)
        assert sorted(shared.allowed(matcher)) == sorted(mask["allow"]), mask["after"]
