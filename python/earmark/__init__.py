"""Exact constrained decoding for language models.

Given a grammar and a model's vocabulary, earmark says before each sample exactly which tokens
keep the output inside the grammar::

    grammar = earmark.Grammar.from_lark('start: "yes" | "no"')
    vocabulary = earmark.Vocabulary.from_huggingface("tokenizer.json")
    matcher = earmark.Matcher(grammar, vocabulary)
    while not matcher.is_finished:
        logits = model(...)
        earmark.apply_mask(logits, matcher.next_mask())
        matcher.accept(sample(logits))
"""

from earmark._earmark import (
    Grammar,
    Matcher,
    Vocabulary,
    __version__,
    accept_all,
    fill_masks,
)
from earmark.errors import GrammarError, LimitError, MatchError, VocabularyError
from earmark.masks import allocate_masks, apply_mask
from earmark.reports import GrammarInfo, IgnoredKeyword, SchemaKeyword, SchemaReport

__all__ = [
    "Grammar",
    "GrammarError",
    "GrammarInfo",
    "IgnoredKeyword",
    "LimitError",
    "MatchError",
    "Matcher",
    "SchemaKeyword",
    "SchemaReport",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "accept_all",
    "allocate_masks",
    "apply_mask",
    "fill_masks",
]
