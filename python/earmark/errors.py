"""The exceptions that earmark raises beside Python's own `TypeError` and `IndexError`."""

from typing import Literal, TypeAlias

GrammarErrorKind: TypeAlias = Literal[
    "syntax", "undefined", "duplicate", "unsupported", "empty", "unknown_token", "limit"
]


class GrammarError(ValueError):
    """A grammar that can't be used: what is wrong, where, and what to do.

    The text says it all: the message, then line, column and a caret where the place is known,
    then the hint.

    Attributes:
        kind: What is wrong. `"syntax"`: the text does not follow the grammar language;
            `"undefined"` and `"duplicate"`: a name that is not defined, or twice;
            `"unsupported"`: a construct that can't be enforced; `"empty"`: no text at all belongs
            to the grammar; `"unknown_token"`: a token that the vocabulary does not have;
            `"limit"`: the grammar is too large (then the class is `LimitError`).
        line: The line in the grammar's text, from 1; None where no place is known.
        column: The column in that line, in characters, from 1; None where no place is known.
        pointer: The place in a schema as a JSON pointer (RFC 6901), such as
            `"/properties/name/pattern"`, empty for the whole; None where no place is known, and
            for the other languages.
        hint: What to do about it, or None.
    """

    kind: GrammarErrorKind
    line: int | None
    column: int | None
    pointer: str | None
    hint: str | None

    def __init__(
        self,
        message: str,
        *,
        kind: GrammarErrorKind = "syntax",
        line: int | None = None,
        column: int | None = None,
        pointer: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.line = line
        self.column = column
        self.pointer = pointer
        self.hint = hint


class LimitError(GrammarError):
    """A grammar that is larger than a limit allows; the text names the limit."""


class MatchError(RuntimeError):
    """A call that a matcher refused. The matcher is as it was before the call."""


class VocabularyError(ValueError):
    """Tokens, ids or a width that make no vocabulary."""
