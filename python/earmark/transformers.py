"""Grammars for `generate()` of Hugging Face's transformers.

::

    import earmark.transformers

    vocabulary = earmark.transformers.vocabulary_of(tokenizer, model)
    grammar = earmark.Grammar.from_json_schema(schema)
    processor = earmark.transformers.GrammarLogitsProcessor(grammar, vocabulary)
    model.generate(**inputs, logits_processor=[processor], max_new_tokens=200)

It works in greedy search, sampling, beam search and assisted generation, with batches, in which
each prompt may have a grammar of its own, and with `num_return_sequences`. `docs/transformers.md`
says more. Importing this module imports transformers, whose `generate()` then tells the processor
when a call of it begins and ends (`earmark.calls`); `import earmark` does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from earmark._earmark import Grammar, Vocabulary, fill_masks
from earmark.calls import Call, Follower, drafts_in_other_tokens, join, teach
from earmark.errors import MatchError
from earmark.masks import allocate_masks, apply_mask
from earmark.sequences import Sequence, Sequences, columns_of
from earmark.stops import Ends, Stops

if TYPE_CHECKING:
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
    from transformers import GenerationMixin

    teach(GenerationMixin)

__all__ = ["GrammarLogitsProcessor", "Status", "vocabulary_of"]

# Settings of `generate()` by which it forces one token, which may be token 0, or forbids some.
_FORCE = ("forced_bos_token_id", "forced_eos_token_id")
_FORBID = (
    "min_new_tokens",
    "min_length",
    "bad_words_ids",
    "no_repeat_ngram_size",
    "suppress_tokens",
    "begin_suppress_tokens",
    *_FORCE,
)


class Status(TypedDict):
    """What became of a sequence.

    Attributes:
        complete: What was written is a text of the grammar, padding apart. False where
            `max_new_tokens` or another limit came first.
        finished: The model wrote a token that ends the text. False and `complete`: more could have
            followed, but a limit, a stop string or another criterion ended it.
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


class GrammarLogitsProcessor(Follower, LogitsProcessor):
    """Lets `generate()` write nothing but texts of a grammar: forbidden logits become -inf.

    Goes into `generate(logits_processor=[…])`, best as the last of the list. It may serve one
    call after the other, not two at once: each writes a new text. Only the very tensor that the
    last one gave, or a slice of it, as the next one's input goes on with its text; `reset()` before
    it makes it start anew. In a loop of your own, call `reset()` before each text.

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
        self._call: Call | None = None
        """The call of `generate()` that runs."""
        self._sure = False
        """Whether what begins with the prompt is certainly a step of the text."""
        self._ended = False
        """Whether the rows are those of a call that has ended."""
        self._last: tuple[torch.Tensor, int] | None = None
        """What the last call gave, and the length of its prompt."""
        self._stops: Stops | None = None
        """Where rows of the call end."""
        self._ends = Ends()
        """Where those of the last call ended."""
        self._untold: tuple[npt.NDArray[np.int64], int] | None = None
        """Rows of which no call has said what became of them, and the length of their prompts."""
        self._given: list[torch.Tensor] = []
        """The tensors that the caller of `generate()` gave."""
        self._given_length: int | None = None
        """How many tokens its rows had at first. The texts may begin later."""
        self._previous: torch.Tensor | None = None

    def reset(self) -> None:
        """Takes the next input for a new prompt, whatever came before.

        In a loop of your own, which calls the processor itself, say so before each text; without,
        ids that may be a step of the last text as well as a new prompt are a `RuntimeError`.
        """
        self._sequences.reset()
        self._previous = self._last = self._stops = self._untold = None
        self._ends, self._given_length = Ends(), None
        self._sure, self._ended = True, False

    def _call_begins(self, call: Call) -> None:
        if self._call is not None:
            raise RuntimeError(
                "this GrammarLogitsProcessor is in a generate() that still runs; make one for each "
                "that runs at a time"
            )
        rows = self._sequences.ids
        if rows is not None and not self._ended:
            self._untold = rows, self._sequences.prompt_length
        self._sequences.reset()
        self._call, self._previous = call, None
        self._stops, self._given = call.stops, call.given
        self._given_length = call.prompt_length
        self._stops.are_followed = True
        self._sure, self._ended = True, False

    def _call_ends(self, output: Any) -> None:
        self._call = self._previous = None
        if not self._sequences.are_begun:
            return
        self._ended = True
        stops, self._stops = self._stops, None
        self._given = []
        if output is None:
            # The call has failed: what the one before gave may be gone on with.
            return
        self._untold = None
        is_tensor = hasattr(output, "untyped_storage") and output.ndim == 2
        self._last = (output, self._sequences.prompt_length) if is_tensor else None
        if stops is not None:
            self._ends = stops.ends(output.detach().cpu().numpy() if is_tensor else None)

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
            RuntimeError: It can't be told whether a text goes on or a new one begins, or the
                processor is in two calls at once; `reset()` before a new text tells.
        """
        if input_ids.ndim != 2 or scores.ndim != 2 or len(input_ids) != len(scores):
            raise ValueError(
                f"input_ids of shape {tuple(input_ids.shape)} and scores of shape "
                f"{tuple(scores.shape)} don't fit: they are (rows, length) and (rows, columns)"
            )
        join(self)
        if self._call is not None and drafts_in_other_tokens(self._call):
            # Free: the model takes of a draft what the grammar allows, once it is in its tokens.
            return scores
        columns, width = scores.shape[1], self.vocabulary.width
        if columns != width:
            raise ValueError(
                f"the scores have {columns} columns, but the vocabulary {width} tokens: it is "
                "another model's, or does not know the model's width; make it by "
                "vocabulary_of(tokenizer, model)"
            )
        rows = self._follow(input_ids)
        drafting = self._is_draft(input_ids)
        going: list[int] = []
        ended: list[int] = []
        for number, row in enumerate(rows):
            if row.is_refused and not drafting and not self._sequences.have_twins():
                raise MatchError(_refusal(number, row, input_ids, self.vocabulary))
            if row.matcher is not None:
                (ended if row.is_over or row.is_refused else going).append(number)
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
                `sequences`; of a model that takes the prompts off, as Whisper, all of them.

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
        ids = sequences.detach().cpu().numpy()
        try:
            rows = self._sequences.outputs(ids, self._ends, self._given_length)
        except ValueError:
            whole = self._with_prompts(ids)
            if whole is None:
                raise
            rows = self._sequences.outputs(whole, self._ends, self._given_length)
        return [_status(row) for row in rows]

    def _with_prompts(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
        """What the last call gave, if these are its rows in their order without their prompts.

        Some models' own `generate()` takes the prompts off, and padding, as Whisper's does.
        """
        if self._last is None or ids.ndim != 2:
            return None
        output, start = self._last
        rows: npt.NDArray[np.int64] = output.detach().cpu().numpy()
        if self._given_length is not None:
            start = min(start, self._given_length)
        bare = self._ends.bare
        are_same = len(rows) == len(ids) and all(
            np.array_equal(bare(one), bare(other[start:]))
            for one, other in zip(ids, rows, strict=True)
        )
        return rows if are_same else None

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
                    f"the grammar allows; {self._others()}"
                )

    def _others(self) -> str:
        """What to do about the processors beside this one: by the settings that made them."""
        config = None if self._call is None else self._call.config
        found = [
            f"{name}={value!r:.40}" for name in _FORBID if (value := getattr(config, name, None))
        ]
        found += [f"{name}=0" for name in _FORCE if getattr(config, name, None) == 0]
        if not found:
            return f"don't use it ({', '.join(_FORBID)} …) with this grammar"
        return (
            f"this call of generate() has {', '.join(found)}, perhaps from the model's "
            "generation_config; with this grammar set what forbids it to None"
        )

    def _end(self, scores: torch.Tensor) -> None:
        """Leaves a row nothing but to end, at no cost: what comes behind its end is padding."""
        scores.fill_(float("-inf"))
        scores[list(self.vocabulary.eos_token_ids)] = 0.0

    def _follow(self, input_ids: torch.Tensor) -> list[Sequence]:
        """The rows of this step, of the call of `generate()` that runs or of a loop."""
        ids, sequences = input_ids.detach().cpu().numpy(), self._sequences
        if self._call is None:
            if self._ended:
                sequences.reset()
                self._ends, self._given_length = Ends(), None
            if sequences.are_begun and not sequences.have_prompts(ids):
                self._sure = False
                self._stops = None
            self._sure, self._ended = self._sure and not self._ended, False
        if self._stops is None:
            return sequences.follow(ids, sure=self._sure)
        if not sequences.are_begun:
            start = self._prompt_length(ids)
            if start < ids.shape[1]:
                self._stops.go_on(ids, self._ends)
            return sequences.begin(ids, start, self._stops.lengths(input_ids))
        ends = self._stops.lengths(input_ids)
        if self._begins_anew(ids):
            return sequences.begin(ids, ids.shape[1], ends)
        return sequences.follow(ids, ends, sure=self._sure)

    def _begins_anew(self, ids: npt.NDArray[np.int64]) -> bool:
        """Whether the draft in which the text began was not taken.

        Where another processor asks only once the text begins, as behind what a model thinks.
        """
        given, sequences = self._given_length, self._sequences
        late = self._call is not None and given is not None and given < sequences.prompt_length
        if not late or len(ids) > 1 or sequences.have_prompts(ids):
            return False
        return sequences.have_prompts(ids, given)

    def _prompt_length(self, ids: npt.NDArray[np.int64]) -> int:
        """How many tokens of a call's first ids are the prompt.

        All of them, unless they go on with the last call's text. A prompt may be the same tokens
        by chance, as where a model is asked for one word after the other of a text.
        """
        asked: int = ids.shape[1]
        if self._given_length is not None:
            # What the model wrote before it was to write a text is no prompt that anyone gave.
            ids = ids[:, : self._given_length]
        length: int = ids.shape[1]
        if self._untold is not None:
            rows, start = self._untold
            both = min(length, rows.shape[1])
            if start < length <= rows.shape[1] + 1 and 0 in columns_of(ids[:, :both], rows):
                raise RuntimeError(_UNTOLD)
        if self._last is None:
            return asked
        output, start = self._last
        rows = output.detach().cpu().numpy()
        columns = columns_of(ids, rows)
        is_shared = any(_share_memory(each, output, length) for each in self._given)
        if 0 in columns:
            if length <= start:
                return asked
            if not self._sequences.are_beginnings(ids, rows):
                raise RuntimeError(_OTHER_ROWS)
            if is_shared:
                return start
            raise RuntimeError(f"the {length - start} last tokens of {_OTHER_TENSOR}")
        # A part of the prompt and of the text behind it, but not from the first column on.
        is_end = 0 < rows.shape[1] - length < start and rows.shape[1] - length in columns
        is_text = min(columns, default=0) + length > start
        if is_end or (is_shared and is_text):
            raise RuntimeError(_CUT_PROMPT)
        return asked

    def _is_draft(self, input_ids: torch.Tensor) -> bool:
        """Whether these may be tokens of a draft, which are not taken where they aren't allowed.

        Assisted generation looks at a draft token by token: its beginnings are views of one tensor,
        of which the last is the whole.
        """
        before, self._previous = self._previous, input_ids
        view = input_ids.stride(0) > input_ids.shape[1]
        same = before is not None and before.data_ptr() == input_ids.data_ptr()
        return self._sure and len(input_ids) == 1 and (view or same)


def _share_memory(one: torch.Tensor, other: torch.Tensor, columns: int) -> bool:
    """Whether a tensor of so many columns is a slice of another one."""
    memory = other.untyped_storage().data_ptr()
    return bool(one.shape[-1] == columns and one.untyped_storage().data_ptr() == memory)


def _status(row: list[Sequence]) -> Status | None:
    """What became of a row, of which it may not be known where it ended."""
    complete = finished = True
    for each in row:
        if each.matcher is None:
            return None
        # The token that ended the row may be one of the grammar's own, and not its last one.
        is_text = each.matcher.is_finished or (each.matcher.is_accepting and not each.is_refused)
        is_text = is_text and each.begun
        complete = complete and is_text
        finished = finished and is_text and each.is_finished
    return {"complete": complete, "finished": finished}


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


_NEW = "for a new text, call reset() before"
_OTHER_TENSOR = (
    "this prompt are those that the last generate() gave behind its prompt, but this is not the "
    "tensor that it gave: to go on with its text, pass that tensor or a slice of it that begins "
    f"with its first column; {_NEW}"
)
_OTHER_ROWS = (
    "these rows are those that the last generate() gave, but not in the order of their grammars: "
    f"to go on with their texts, pass them in the order in which they came; {_NEW}"
)
_CUT_PROMPT = (
    "this prompt is a part of what the last generate() gave, but does not begin where that began, "
    "so that it can't be told where in it the text begins: to go on with the text, pass all of "
    f"the columns from the first one on; {_NEW}"
)
_UNTOLD = (
    "this prompt may be what was written last, but it is not known what became of that: it was "
    "written outside of generate(), or by a generate() taken from transformers before "
    f"earmark.transformers was imported, and can't be gone on with; {_NEW}"
)
