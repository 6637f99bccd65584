"""`LlamaGrammar`: an earmark grammar where llama-cpp-python wants one of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark import Grammar
from earmark.llama_cpp._library import library

if TYPE_CHECKING:
    from os import PathLike

_Theirs: Any = library("llama_cpp.llama_grammar").LlamaGrammar


class LlamaGrammar(_Theirs):  # type: ignore[misc]
    """A grammar for `grammar=` of llama-cpp-python's calls.

    It never changes and may be used by any number of calls, models and threads. Made by one of
    the `from_…` methods; `verbose` is there because llama-cpp-python has it, and says nothing.

    Args:
        grammar: An `earmark.Grammar`.
        _grammar: Or a text in GBNF, as llama-cpp-python has it.

    Attributes:
        grammar: The `earmark.Grammar`.

    Raises:
        TypeError: It is none.
        GrammarError: The text is malformed or holds what can't be enforced.
    """

    grammar: Grammar

    def __init__(self, grammar: Grammar | None = None, *, _grammar: str | None = None) -> None:
        if grammar is None and _grammar is not None:
            grammar = Grammar.from_gbnf(_grammar)
        if not isinstance(grammar, Grammar):
            raise TypeError(
                f"LlamaGrammar() takes an earmark.Grammar, not {type(grammar).__qualname__}; "
                "for a grammar's text there are from_string(), from_json_schema(), …"
            )
        self.grammar = grammar

    @classmethod
    def from_grammar(cls, grammar: Grammar) -> LlamaGrammar:
        """A grammar that was made with earmark.

        Args:
            grammar: Any `earmark.Grammar`.

        Raises:
            TypeError: It is none.
        """
        return cls(grammar)

    @classmethod
    def from_string(cls, grammar: str, verbose: bool = True) -> LlamaGrammar:  # noqa: ARG003
        """A grammar in GBNF; its start is the rule `root`.

        Args:
            grammar: The text.
            verbose: Without effect.

        Raises:
            GrammarError: The grammar is malformed or holds what can't be enforced.
        """
        return cls(Grammar.from_gbnf(grammar))

    @classmethod
    def from_file(cls, file: str | PathLike[str], verbose: bool = True) -> LlamaGrammar:  # noqa: ARG003
        """A grammar in GBNF, or in Lark's language if the file's name ends in `.lark`.

        Args:
            file: The path of the file, UTF-8.
            verbose: Without effect.

        Raises:
            OSError: The file can't be read.
            GrammarError: As for `from_string`.
        """
        path = Path(file)
        text = path.read_text(encoding="utf-8")
        return cls.from_lark(text) if path.suffix == ".lark" else cls.from_string(text)

    @classmethod
    def from_json_schema(
        cls,
        json_schema: Any,
        verbose: bool = True,  # noqa: ARG003
        **options: Any,
    ) -> LlamaGrammar:
        """The JSON texts of the values that are valid under a schema.

        Args:
            json_schema: JSON text, a dict, or a type: all that `earmark.Grammar.from_json_schema`
                takes.
            verbose: Without effect.
            options: Those of `earmark.Grammar.from_json_schema`.

        Raises:
            GrammarError: The schema is malformed, or has a keyword that can't be enforced.
        """
        return cls(Grammar.from_json_schema(json_schema, **options))

    @classmethod
    def from_lark(cls, text: str, start: str = "start") -> LlamaGrammar:
        """A grammar in Lark's language.

        Args:
            text: The grammar.
            start: The rule to start with.

        Raises:
            GrammarError: As for `from_string`.
        """
        return cls(Grammar.from_lark(text, start))

    @classmethod
    def from_regex(cls, pattern: str) -> LlamaGrammar:
        """The texts that match a regular expression as a whole.

        Args:
            pattern: As for `earmark.Grammar.from_regex`.

        Raises:
            GrammarError: As for `from_string`.
        """
        return cls(Grammar.from_regex(pattern))

    @property
    def _grammar(self) -> str:
        # llama-cpp-python hands this text to llama.cpp's own engine.
        raise NotImplementedError(
            "this call of llama-cpp-python runs a grammar by llama.cpp's own engine, which can't "
            "take earmark's; give it llama_cpp.LlamaGrammar without earmark.llama_cpp.install()"
        )

    def __repr__(self) -> str:
        return f"LlamaGrammar({self.grammar!r})"
