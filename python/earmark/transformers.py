"""Grammars for `generate()` of Hugging Face's transformers.

::

    import earmark.transformers

    vocabulary = earmark.transformers.vocabulary_of(tokenizer, model)
    grammar = earmark.Grammar.from_json_schema(schema)
    processor = earmark.transformers.GrammarLogitsProcessor(grammar, vocabulary)
    model.generate(**inputs, logits_processor=[processor], max_new_tokens=200)

It works in greedy search, sampling, beam search and assisted generation, with batches, in which
each prompt may have a grammar of its own, and with `num_return_sequences`. `docs/transformers.md`
says more. Importing this module imports transformers; `import earmark` does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from earmark._earmark import Grammar, Vocabulary, fill_masks
from earmark.errors import MatchError
from earmark.masks import allocate_masks, apply_mask
from earmark.sequences import Sequence, Sequences

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    # What transformers' own class is, for type checkers, which may not have it.
    class LogitsProcessor:
        """Something that `generate()` calls with the logits of each step."""

else:
    try:
        from transformers import LogitsProcessor, __version__
    except ImportError as error:
        raise ImportError(
            "earmark.transformers needs transformers and torch: pip install 'transformers>=5' torch"
        ) from error
    # Up to 4 there is diverse beam search, which shows a processor its groups one by one: they
    # can't be told from new calls.
    if int(__version__.partition(".")[0]) < 5:
        raise ImportError(
            f"earmark.transformers needs transformers 5 or later, not {__version__}: "
            "pip install --upgrade transformers"
        )

__all__ = ["GrammarLogitsProcessor", "Status", "vocabulary_of"]


class Status(TypedDict):
    """What became of a sequence.

    Attributes:
        complete: What was written is a text of the grammar. False where `max_new_tokens` or
            another limit came first.
        finished: A token that ends the text was written. False and `complete`: more could have
            followed.
    """

    complete: bool
    finished: bool


def vocabulary_of(
    tokenizer: Any,
    model: Any = None,
    *,
    eos_token_ids: int | Iterable[int] | None = None,
) -> Vocabulary:
    """The tokens of a model as `generate()` uses them. Make it once a model.

    Args:
        tokenizer: The model's fast tokenizer, or what `Vocabulary.from_huggingface` takes else.
        model: The model. It gives the number of logits, which may differ from the tokenizer's
            number of tokens, and the tokens that end a generation, one or a list:
            `model.generation_config.eos_token_id`. Default: None, the tokenizer says both.
        eos_token_ids: The tokens that end a generation; for calls of `generate()` that are
            given an `eos_token_id` of their own.

    Raises:
        TypeError: `model` is no model.
        VocabularyError: The tokenizer's tokens have no bytes that can be told, or what ends the
            text is not known or not among its tokens; or the model has no logits for some text.
    """
    width = None
    if model is not None:
        if not hasattr(getattr(model, "config", None), "get_text_config"):
            raise TypeError(f"model is a model of transformers, not {type(model).__qualname__}")
        if eos_token_ids is None:
            eos_token_ids = getattr(model.generation_config, "eos_token_id", None)
        width = model.config.get_text_config(decoder=True).vocab_size
    return Vocabulary.from_huggingface(tokenizer, width=width, eos_token_ids=eos_token_ids)


class GrammarLogitsProcessor(LogitsProcessor):
    """Lets `generate()` write nothing but texts of a grammar: forbidden logits become -inf.

    Goes into `generate(logits_processor=[…])`, best as the last of the list. It may serve one
    call after the other, not two at once. A call whose input is what the last one gave, token for
    token (or another last token), goes on with its text; `reset()` before it makes it start anew.

    Args:
        grammar: One for all prompts of a batch, or a list with one for each; None in the list
            leaves that prompt free. The text that is constrained begins behind the prompt.
        vocabulary: The model's tokens, as `earmark.transformers.vocabulary_of` gives.
        in_place: Whether the logits that come in are changed themselves, which saves a copy of
            them. Default: False; `generate()` with `output_logits` or `prompt_lookup_num_tokens`
            needs them as they were.

    Raises:
        TypeError: A grammar is no `Grammar`, or the vocabulary no `Vocabulary`.
        ValueError: The list is empty.
    """

    def __init__(
        self,
        grammar: Grammar | Iterable[Grammar | None],
        vocabulary: Vocabulary,
        *,
        in_place: bool = False,
    ) -> None:
        if not isinstance(grammar, Grammar | Iterable):
            raise TypeError(
                f"grammar is a Grammar or a list with one for each prompt, not {grammar!r}"
            )
        grammars = [grammar] if isinstance(grammar, Grammar) else list(grammar)
        for each in grammars:
            if each is not None and not isinstance(each, Grammar):
                raise TypeError(f"a grammar is a Grammar, not {type(each).__name__}")
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}; "
                "earmark.transformers.vocabulary_of(tokenizer, model) makes one"
            )
        if not grammars:
            raise ValueError("no grammars; give one, or one for each prompt")
        self.vocabulary = vocabulary
        self.in_place = in_place
        self._sequences = Sequences(grammars, vocabulary)
        self._masks: npt.NDArray[np.int32] | None = None
        self._previous: torch.Tensor | None = None
        self._drafting = False
        self._begun = 0
        """How many tokens there were at the first step of the draft, or of what is none."""

    def reset(self) -> None:
        """Takes the next input for a new prompt, whatever came before."""
        self._sequences.reset()
        self._previous = None
        self._drafting = False

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """One step of `generate()`.

        Args:
            input_ids: The tokens of each row so far, prompt included: integers of shape
                `(rows, length)`.
            scores: Of shape `(rows, vocabulary.width)`, any floating type, on any device.

        Returns:
            The scores, minus infinity where the grammar does not allow the token. A row that has
            ended may only end.

        Raises:
            MatchError: A token that the grammar does not allow was put into a row, or none of
                those that it allows is left in the scores, since another processor forbids them.
            ValueError: The grammars don't fit the number of rows, or the vocabulary's width the
                scores: it is not the model's.
        """
        if input_ids.ndim != 2 or scores.ndim != 2 or len(input_ids) != len(scores):
            raise ValueError(
                f"input_ids of shape {tuple(input_ids.shape)} and scores of shape "
                f"{tuple(scores.shape)} don't fit: they are (rows, length) and (rows, columns)"
            )
        columns, width = scores.shape[1], self.vocabulary.width
        if columns != width:
            raise ValueError(
                f"the scores have {columns} columns, but the vocabulary {width} tokens: it is "
                "another model's, or does not know the model's width; make it by "
                "vocabulary_of(tokenizer, model)"
            )
        was_draft = self._drafting
        drafting, least = self._is_draft(input_ids)
        ids = input_ids.detach().cpu().numpy()
        # Only behind a draft there is a token that was not in it.
        rows = self._sequences.follow(ids, least=least, whole=not was_draft)
        going: list[int] = []
        ended: list[int] = []
        for number, row in enumerate(rows):
            if row.is_refused and not drafting and not self._sequences.have_twins():
                raise MatchError(_refusal(number, row, input_ids, self.vocabulary))
            if row.matcher is not None:
                (ended if row.is_finished or row.is_refused else going).append(number)
        if not self.in_place:
            scores = scores.clone()
        if going:
            self._constrain(scores, rows, going)
        for number in ended:
            self._end(scores[number])
        return scores

    def statuses(self, sequences: torch.Tensor) -> list[Status | None]:
        """What became of each sequence that `generate()` gave in the last call.

        Args:
            sequences: Integers of shape `(n, length)`: what `generate()` returned, or its
                `sequences`.

        Returns:
            A `Status` for each; None where there is no grammar. Beam search may fill up with
            sequences that are no texts where the grammar has fewer than there are beams; they
            are not complete.

        Raises:
            TypeError: These are no tensor.
            ValueError: These are not the sequences of the last call.
        """
        if not hasattr(sequences, "detach"):
            raise TypeError(
                "sequences is the tensor that generate() returned, or its .sequences, "
                f"not {type(sequences).__qualname__}"
            )
        return [_status(row) for row in self._sequences.outputs(sequences.detach().cpu().numpy())]

    def _constrain(self, scores: torch.Tensor, rows: list[Sequence], going: list[int]) -> None:
        if self._masks is None or len(self._masks) != len(rows):
            self._masks = allocate_masks(len(rows), self.vocabulary)
        matchers = [matcher for at in going if (matcher := rows[at].matcher) is not None]
        fill_masks(matchers, self._masks, rows=going)
        if len(going) == len(rows):
            apply_mask(scores, self._masks)
        else:
            for number in going:
                apply_mask(scores[number], self._masks[number])
        best = scores.amax(dim=-1).tolist()
        for number in going:
            if best[number] == float("-inf"):
                raise MatchError(
                    f"row {number}: no token is left: another logits processor forbids all that "
                    "the grammar allows; don't use it (min_new_tokens, bad_words_ids, "
                    "no_repeat_ngram_size, suppress_tokens, forced_eos_token_id …) with this "
                    "grammar"
                )

    def _end(self, scores: torch.Tensor) -> None:
        """Leaves a row nothing but to end, at no cost: what comes behind its end is padding."""
        scores.fill_(float("-inf"))
        scores[list(self.vocabulary.eos_token_ids)] = 0.0

    def _is_draft(self, input_ids: torch.Tensor) -> tuple[bool, int | None]:
        """Whether these are tokens of a draft; and how few there may be, without a new call.

        Assisted generation looks at a draft token by token: its beginnings are views of one tensor.
        It may hold tokens that the grammar does not allow, if its author knows of none; they are
        not taken then. Its author may be a model that goes on from where the draft begins, with
        this processor, or asks it for more than one step. Behind a draft there is at least one
        token that was not before it.
        """
        before, was_draft = self._previous, self._drafting
        length = input_ids.shape[1]
        view = len(input_ids) == 1 and input_ids.stride(0) > length
        same = before is not None and before.data_ptr() == input_ids.data_ptr()
        draft = view or (same and len(input_ids) == 1)
        least = self._begun if same or view else None
        if was_draft and not same:
            least = self._begun + 1
        goes_on = same if draft else before is not None and length == before.shape[1] + 1
        if draft != was_draft or not goes_on:
            self._begun = length
        self._previous, self._drafting = input_ids, draft
        return draft, least


def _status(row: Sequence) -> Status | None:
    if row.matcher is None:
        return None
    if row.matcher.is_finished:
        return {"complete": True, "finished": True}
    # The token that ended the row may be one of the grammar's own, and not its last one.
    complete = row.matcher.is_accepting and not row.is_refused
    return {"complete": complete, "finished": complete and row.is_finished}


def _refusal(number: int, row: Sequence, input_ids: Any, vocabulary: Vocabulary) -> str:
    token = int(input_ids[number, input_ids.shape[1] - row.length + row.read])
    known = 0 <= token < len(vocabulary)
    text = f" ({vocabulary.token_bytes(token)!r})" if known else ""
    explained = "" if row.matcher is None else f": {row.matcher.explain(token)}"
    return (
        f"row {number}: token {token}{text} was put behind {row.read} tokens of the answer, where "
        f"the grammar does not allow it{explained}; place the GrammarLogitsProcessor behind the "
        "other processors, and use one for each generate() at a time"
    )
