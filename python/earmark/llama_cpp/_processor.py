"""A logits processor for those who have one in their calls rather than a grammar.

It runs in Python for each token; `grammar=` does not.

llama-cpp-python runs processors where their errors are lost, and takes what the sampler has made of
the logits. So `Llama` and `LlamaSampler` are taught, where a `GrammarLogitsProcessor` is among a
call's processors, to run them as one that loses nothing, and to look at the token that was sampled.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark import Grammar, Matcher, MatchError, apply_mask
from earmark.llama_cpp._arguments import Arguments
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._vocabulary import vocabulary

_TAUGHT = "_earmark_processors"
_PROCESSORS = "_earmark_asked"

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Logits = npt.NDArray[np.single]


class GrammarLogitsProcessor:
    """Sets the logits of forbidden tokens to minus infinity, for `logits_processor=`.

    It may be used for one generation after the other: a call whose ids are not those of the call
    before and one more starts a new text. `reset()` says so where that can't be told, which is
    where a prompt is the whole last text and one more token.

    Calls of a `Llama` raise what goes wrong, before the token is given to the caller: a token that
    the grammar refuses, no allowed token that the other processors have left, an error of any of
    the processors, a model with other tokens.

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
        self._error: BaseException | None = None
        self._seen: npt.NDArray[np.intc] | None = None
        self._asked = 0

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
        """Raise what went wrong in the last text.

        Calls of a `Llama` have raised it already; elsewhere it is to be called after a text.

        Raises:
            MatchError: A token that the grammar refuses was forced in, or none was left that it
                allows, or a prompt was the whole last text and one more token, without `reset()`.
            ValueError: The logits are those of another model.
        """
        if self._error is not None:
            raise self._error

    def __call__(self, input_ids: npt.NDArray[np.intc], scores: Logits) -> Logits:
        """The scores, forbidden ones minus infinity.

        Args:
            input_ids: All tokens so far, prompt included, of shape `(n,)`.
            scores: The logits of all tokens of the vocabulary, float32 of shape `(n_vocab,)`.

        Returns:
            A new array of the same shape and type. Of allowed ones, those that are no numbers are
            minus infinity too, and infinite ones as large as can be. After an error only the tokens
            that end the text are left.
        """
        self._asked += 1
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
        return self._masked(scores)

    def _masked(self, scores: Logits) -> Logits:
        if np.shape(scores) != (self._width,):
            shape = np.shape(scores)
            what = f"{shape[0]} logits" if len(shape) == 1 else f"logits of shape {shape}"
            self._fail(
                ValueError(
                    f"{what} for a model of {self._width} tokens; the processor is another model's"
                )
            )
        if self._error is None and not self._matcher.is_finished:
            masked: Logits = np.array(scores, np.single)
            apply_mask(masked, self._matcher.next_mask())
            # What samplers make of other values is not known to be an allowed token.
            masked[np.isnan(masked)] = -np.inf
            np.minimum(masked, np.finfo(np.single).max, out=masked)
            if np.isfinite(masked).any():
                return masked
            self._fail(MatchError(nothing_left(self._matcher)))
        # The text has ended, and stays so.
        masked = np.full(np.shape(scores), -np.inf, np.single)
        masked[[it for it in self._matcher.vocabulary.eos_token_ids if it < len(masked)]] = 0.0
        return masked

    def _fail(self, error: BaseException) -> None:
        """End the text; the first error is the one to be raised."""
        self._error = self._error or error

    def _took(self, token: int) -> None:
        """Raise what went wrong, or that this token was sampled behind the last call."""
        self.check()
        if self._matcher.is_finished:
            return  # Only an end was left.
        try:
            self._matcher.fork().accept(token)
        except MatchError as error:
            self._fail(MatchError(f"{error}; {FORBIDDEN}"))
        self.check()


FORBIDDEN = (
    "it was sampled all the same: no allowed token was left that was possible. A logits processor, "
    "logit_bias or the sampler's settings have made them impossible; take those out or change them"
)


def nothing_left(matcher: Matcher) -> str:
    """Why no token is left that a matcher allows."""
    allowed = len(matcher.allowed_tokens())
    if allowed == 0:
        expected = " or ".join(matcher.expected()) or "nothing"
        return (
            f"the text can't go on: the grammar expects {expected}, which no token of the model's "
            "vocabulary can write; take it out of the grammar, or use another model"
        )
    return (
        f"none of the {allowed} allowed tokens is left: the other logits processors or logit_bias "
        "have made them impossible; let them leave one"
    )


def _is_next(seen: npt.NDArray[np.intc], ids: npt.NDArray[np.intc]) -> bool:
    return len(ids) == len(seen) + 1 and bool(np.array_equal(ids[:-1], seen))


class _AsOne:
    """A call's processors as one, with the grammars' at the end once more.

    Those behind them may have taken away what was allowed, or have failed: its errors are lost.
    """

    def __init__(self, processors: Sequence[Any]) -> None:
        self._processors = processors
        self._grammars = ours(processors)

    def __call__(self, input_ids: npt.NDArray[np.intc], scores: Logits) -> Logits:
        masked = scores
        try:
            for processor in self._processors:
                masked = processor(input_ids, masked)
        except BaseException as error:  # Whatever it is, nobody else hears of it.
            masked = scores
            for grammar in self._grammars:
                grammar._error, grammar._seen = error, None
        for grammar in self._grammars:
            masked = grammar._masked(masked)
        return masked if len(masked) == len(scores) else np.full_like(scores, -np.inf)


class _Kept(list[Any]):
    """Processors that `extend()` gives, for who takes its result for the longer list."""

    def extend(self, others: Any) -> _Kept:  # type: ignore[override]
        # In front, so that the grammars have the last word.
        self[:0] = others
        return self


def ours(processors: Any) -> list[GrammarLogitsProcessor]:
    """Those of a call's logits processors that are grammars.

    Raises:
        TypeError: The processors are one instead of a list.
    """
    if isinstance(processors, GrammarLogitsProcessor):
        raise TypeError(
            "logits_processor is a list: llama_cpp.LogitsProcessorList([processor]), "
            "not the GrammarLogitsProcessor itself"
        )
    return [it for it in processors or () if isinstance(it, GrammarLogitsProcessor)]


def processors_of(sampler: Any) -> list[GrammarLogitsProcessor]:
    """The processors that a `LlamaSampler` asks."""
    found: list[GrammarLogitsProcessor] = getattr(sampler, _PROCESSORS, [])
    return found


def teach() -> None:
    """Make `Llama` run processors as the module says. A second call does nothing."""
    theirs = library("llama_cpp.llama").Llama
    if getattr(theirs, _TAUGHT, False):
        return
    new = library("llama_cpp.llama").LogitsProcessorList
    of_sampler = library("llama_cpp._internals").LlamaSampler
    init, complete, sample = theirs._init_sampler, theirs._create_completion, of_sampler.sample
    of_init, of_complete = Arguments(init), Arguments(complete)

    @wraps(init)
    def init_(self: Any, *args: Any, **kwargs: Any) -> Any:
        args = (self, *args)
        processors = of_init.of(args, kwargs).get("logits_processor")
        grammars = ours(processors)
        if not grammars:
            return init(*args, **kwargs)
        for processor in grammars:
            processor.check_model(self)
        one = new([_AsOne(list(processors or ()))])
        placed, named = of_init.changed(args, kwargs, logits_processor=one)
        sampler = init(*placed, **named)
        setattr(sampler, _PROCESSORS, grammars)
        return sampler

    @wraps(complete)
    def complete_(self: Any, *args: Any, **kwargs: Any) -> Any:
        args = (self, *args)
        processors = of_complete.of(args, kwargs).get("logits_processor")
        grammars = ours(processors)
        if not grammars:
            return complete(*args, **kwargs)
        kept = _Kept(processors or ())
        placed, named = of_complete.changed(args, kwargs, logits_processor=kept)
        return _asking(grammars, complete(*placed, **named))

    @wraps(sample)
    def sample_(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = sample(self, *args, **kwargs)
        for processor in processors_of(self):
            processor._took(token)
        return token

    theirs._init_sampler = init_
    theirs._create_completion = complete_
    of_sampler.sample = sample_
    setattr(theirs, _TAUGHT, True)


def _asking(grammars: list[GrammarLogitsProcessor], responses: Iterator[Any]) -> Iterator[Any]:
    """A completion's responses, if the processors were asked about the tokens."""
    before = [it._asked for it in grammars]
    for response in responses:
        if any(it._asked == count for it, count in zip(grammars, before, strict=True)):
            raise RuntimeError(
                "llama-cpp-python has lost the GrammarLogitsProcessor, and the text is not the "
                "grammar's; pass grammar= instead"
            )
        yield response
