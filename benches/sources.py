"""The cases: grammar, document and expected counts, and each engine's dialect of the grammar."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

BENCHES = Path(__file__).resolve().parent
GRAMMARS = BENCHES.parent / "grammars"
SHARED = BENCHES.parent.parent / "shared"


@dataclass(frozen=True)
class Source:
    """A grammar's text and the language it is in: `gbnf` or `lark`."""

    text: str
    dialect: str

    def renamed(self, number: int) -> str:
        """The same grammar as a text never seen before."""
        comment = {"gbnf": "#", "lark": "//"}[self.dialect]
        return f"{self.text.rstrip()}\n{comment} {number}\n"


@dataclass(frozen=True)
class Case:
    """A benchmark, which is a test too."""

    name: str
    title: str
    grammar: str
    document: str
    tokens: int
    """Of the document, by Llama 3's tokenizer."""
    allowed: tuple[tuple[int, int], ...]
    """(tokens accepted, tokens allowed next)."""
    analysis: str

    def text(self) -> str:
        return (BENCHES / "documents" / self.document).read_text(encoding="utf-8")

    def source(self, engine: str) -> Source:
        """The grammar for an engine: one written for it, or the project's own."""
        peer = BENCHES / "peers" / engine.split("-")[0]
        stem = Path(self.grammar).stem
        written = [peer / f"{stem}.lark", peer / f"{stem}.gbnf"]
        path = next((path for path in written if path.exists()), GRAMMARS / self.grammar)
        return Source(path.read_text(encoding="utf-8"), path.suffix[1:])


def cases() -> list[Case]:
    """All cases, in order."""
    data = tomllib.loads((BENCHES / "cases.toml").read_text(encoding="utf-8"))
    return [
        Case(**{**case, "allowed": tuple((at, count) for at, count in case["allowed"])})
        for case in data["case"]
    ]
