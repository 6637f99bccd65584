"""Texts that masks let through: random tokens of a real vocabulary, with a liking for the end."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import earmark

if TYPE_CHECKING:
    from random import Random

CLOSERS = frozenset(b'"]}')
"""What ends a value, as a token's last byte."""


@cache
def _closing(vocabulary: earmark.Vocabulary) -> frozenset[int]:
    """Short tokens that end with what closes something."""
    return frozenset(
        number
        for number in range(len(vocabulary))
        if (text := vocabulary.token_bytes(number)) and len(text) < 4 and text[-1] in CLOSERS
    )


def walk(
    grammar: earmark.Grammar,
    vocabulary: earmark.Vocabulary,
    random: Random,
    *,
    free: int,
    most: int = 400,
) -> bytes | None:
    """A whole text; None if there was no end within `most` tokens.

    Args:
        grammar: What the text is to be of.
        vocabulary: The tokens; those that end the text are never among what is chosen freely.
        random: Chooses.
        free: How many tokens are chosen freely; then what leads to an end is preferred.
        most: When to give up.
    """
    matcher = earmark.Matcher(grammar, vocabulary)
    ends = set(vocabulary.eos_token_ids)
    text = b""
    for step in range(most):
        if matcher.is_accepting and (step >= free or random.random() < 0.1):
            return text
        allowed = [int(token) for token in matcher.allowed_tokens() if int(token) not in ends]
        if not allowed:
            if not matcher.is_accepting:
                raise AssertionError(f"a dead end behind {text!r}")
            return text
        if step >= free and random.random() < 0.85:
            closing = _closing(vocabulary)
            pool = [token for token in allowed if token in closing]
            allowed = pool or sorted(allowed, key=lambda t: len(vocabulary.token_bytes(t)))[:12]
        elif random.random() < 0.3:
            # Long tokens outnumber the short ones, which are most of what a model writes.
            allowed = [t for t in allowed if len(vocabulary.token_bytes(t)) == 1] or allowed
        token = random.choice(allowed)
        matcher.accept(token)
        text += vocabulary.token_bytes(token)
    return None
