"""A logits processor for those who have one in their calls rather than a grammar.

It runs in Python for each token; `grammar=` does not.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark import Grammar, Matcher, MatchError, apply_mask
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._vocabulary import vocabulary

_TAUGHT = "_earmark_processors"

if TYPE_CHECKING:
    import numpy.typing as npt


class GrammarLogitsProcessor:
    """Sets the logits of forbidden tokens to minus infinity, for `logits_processor=`.

    It may be used for one generation after the other: a call whose ids are not those of the call
    before and one more starts a new text. `reset()` says so where that can't be told, which is
    where a prompt is the whole last text and one more token.

    llama-cpp-python calls processors where errors are lost. After one, nothing unconstrained gets
    through: the text ends at once, and `check()` raises the error. A call of a model with other
    tokens raises a `ValueError` before it begins.

    Args:
        llama: The `llama_cpp.Llama` that the processor is for. Not one with a draft model: it
            doesn't tell processors which of its tokens are drafts.
        grammar: A `LlamaGrammar` or an `earmark.Grammar`.

    Raises:
        ValueError: `llama` has a draft model.
        VocabularyError: Its tokens have no bytes that can be told.
        GrammarError: The grammar names a token that the model does not have.
    """

    def __init__(self, llama: Any, grammar: LlamaGrammar | Grammar) -> None:
        if getattr(llama, "draft_model", None) is not None:
            raise ValueError(
                "a logits processor can't tell a draft model's tokens from the text; "
                "pass grammar= instead"
            )
        if isinstance(grammar, LlamaGrammar):
            grammar = grammar.grammar
        self._matcher = Matcher(grammar, vocabulary(llama))
        self._width = llama.n_vocab()
        self._error: MatchError | ValueError | None = None
        self._seen: npt.NDArray[np.intc] | None = None

    def check_model(self, llama: Any) -> None:
        """Raise if a model's tokens are not those that the processor is for.

        Args:
            llama: A `llama_cpp.Llama`.

        Raises:
            ValueError: It has another number of tokens, or others.
            VocabularyError: Its tokens have no bytes that can be told.
        """
        if llama.n_vocab() != self._width:
            raise ValueError(
                f"a GrammarLogitsProcessor for a model of {self._width} tokens was given to one of "
                f"{llama.n_vocab()}; make one for each model"
            )
        own, other = self._matcher.vocabulary, vocabulary(llama)
        if own is not other and own._fingerprint() != other._fingerprint():
            raise ValueError(
                "a GrammarLogitsProcessor was given to a model with other tokens than those it was "
                "made for; make one for each model"
            )

    @property
    def matcher(self) -> Matcher:
        """A matcher in the state after the tokens seen so far; the last sampled one is not yet."""
        return self._matcher.fork()

    def reset(self) -> None:
        """Start a new text at the next call."""
        self._seen = self._error = None

    def check(self) -> None:
        """Raise what went wrong in the last text; to be called after a completion.

        Raises:
            MatchError: A token that the grammar refuses was forced in, or a prompt was the whole
                last text and one more token, without `reset()`.
            ValueError: The logits are those of another model.
        """
        if self._error is not None:
            raise self._error

    def __call__(
        self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]
    ) -> npt.NDArray[np.single]:
        """The scores, forbidden ones minus infinity.

        Args:
            input_ids: All tokens so far, prompt included, of shape `(n,)`.
            scores: The logits of all tokens of the vocabulary, float32 of shape `(n_vocab,)`.

        Returns:
            A new array of the same shape and type. After an error only the tokens that end the
            text are left.
        """
        seen = self._seen
        if seen is None or not _is_next(seen, input_ids):
            self._matcher.reset()
            self._error = None
        elif self._error is None and not self._matcher.is_finished:
            try:
                self._matcher.accept(int(input_ids[-1]))
            except MatchError as error:
                self._error = error
        self._seen = np.array(input_ids)
        if len(scores) != self._width:
            self._error = ValueError(
                f"{len(scores)} logits for a model of {self._width} tokens; "
                "the processor is another model's"
            )
        if self._error is not None or self._matcher.is_finished:
            # The text has ended, and stays so.
            masked = np.full_like(scores, -np.inf)
            ends = [it for it in self._matcher.vocabulary.eos_token_ids if it < len(scores)]
            masked[ends] = scores[ends]
            return masked
        masked = np.array(scores)
        apply_mask(masked, self._matcher.next_mask())
        return masked


def _is_next(seen: npt.NDArray[np.intc], ids: npt.NDArray[np.intc]) -> bool:
    return len(ids) == len(seen) + 1 and bool(np.array_equal(ids[:-1], seen))


def teach() -> None:
    """Make `Llama` refuse processors of other models. A second call does nothing."""
    theirs = library("llama_cpp.llama").Llama
    if getattr(theirs, _TAUGHT, False):
        return
    init = theirs._init_sampler

    @wraps(init)
    def init_(self: Any, *args: Any, **kwargs: Any) -> Any:
        for processor in kwargs.get("logits_processor") or ():
            if isinstance(processor, GrammarLogitsProcessor):
                processor.check_model(self)
        return init(self, *args, **kwargs)

    theirs._init_sampler = init_
    setattr(theirs, _TAUGHT, True)
