"""Texts that masks let through: random tokens of a real vocabulary, with a liking for the end."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import earmark

if TYPE_CHECKING:
    from random import Random

CLOSERS = frozenset(b'"]}')
"""What ends a value, as a token's last byte."""


@cache
def _lengths(vocabulary: earmark.Vocabulary) -> tuple[Any, Any]:
    """The length of each token, and which short ones end with what closes something."""
    texts = [vocabulary.token_bytes(number) for number in range(len(vocabulary))]
    lengths = np.array([len(text) for text in texts])
    closing = np.array([0 < len(text) < 4 and text[-1] in CLOSERS for text in texts])
    return lengths, closing


def walk(
    grammar: earmark.Grammar,
    vocabulary: earmark.Vocabulary,
    random: Random,
    *,
    free: int,
    most: int = 250,
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
    lengths, closing = _lengths(vocabulary)
    text = b""
    for step in range(most):
        if matcher.is_accepting and (step >= free or random.random() < 0.1):
            return text
        allowed = matcher.allowed_tokens()
        allowed = allowed[~np.isin(allowed, vocabulary.eos_token_ids)]
        if not len(allowed):
            if not matcher.is_accepting:
                raise AssertionError(f"a dead end behind {text!r}")
            return text
        if step >= free and random.random() < 0.85:
            pool = allowed[closing[allowed]]
            if not len(pool):
                pool = allowed[lengths[allowed] == lengths[allowed].min()]
        elif random.random() < 0.3:
            # Long tokens outnumber the short ones, which are most of what a model writes.
            pool = allowed[lengths[allowed] == 1]
        else:
            pool = allowed
        token = int(random.choice(pool if len(pool) else allowed))
        matcher.accept(token)
        text += vocabulary.token_bytes(token)
    return None
