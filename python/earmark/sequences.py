"""Which matcher has read which row of a generation.

Takes the ids of all rows at each step, prompts included, as an array; gives for each row a
`Sequence`, whose matcher has read exactly the tokens behind the prompt. Knows neither torch nor
transformers.

Within a call of `generate()`, whose rows all begin with their prompts, any ids may come after any:
other rows as they were (beam search), a beginning of a row (a draft of assisted generation that was
not taken), another draft. Each row goes on from the row of the step before with which it has most
in common: its matcher is taken back to there, forked if several rows go on from it, and given what
is new, so that nothing is read twice. Where a row was ended, what comes behind is padding, which is
not read, whatever it is.

Where nobody says which call the ids are of, they are taken for the next step if they are one token
longer, for a new call if they don't begin with the prompts or are nothing but them, and refused
otherwise: they may be a draft or a new prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from earmark._earmark import Grammar, Matcher, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from earmark.stops import Ends

    Ids = npt.NDArray[np.int64]

__all__ = ["Sequence", "Sequences", "columns_of"]


class Sequence:
    """A row: its matcher (None where there is no grammar), and how many tokens that has read."""

    __slots__ = ("begun", "ended", "length", "matcher", "read", "stopped")

    def __init__(self, matcher: Matcher | None) -> None:
        self.matcher = matcher
        self.read = 0
        self.ended = self.stopped = False
        self.begun = True
        """Whether the row got as far as its text; if not, all that there is is padding."""
        self.length = 0
        """How many tokens there are; those not read are padding, or refused."""

    def fork(self) -> Sequence:
        """Another row that goes on from here."""
        copy = Sequence(None if self.matcher is None else self.matcher.fork())
        copy.read, copy.length = self.read, self.length
        copy.begun, copy.ended, copy.stopped = self.begun, self.ended, self.stopped
        return copy

    def follow(self, tokens: Ids, kept: int, end: int | None = None) -> None:
        """Reads the row's tokens behind the prompt.

        Args:
            tokens: All of them.
            kept: How many of the first ones are as they were.
            end: How many there were when the row was ended, those behind are padding; negative
                if that was before its text began. Default: None, the row goes on.
        """
        self.stopped = end is not None
        self.begun = end is None or end >= 0
        if end is not None:
            tokens = tokens[: max(end, 0)]
        self.length = len(tokens)
        if self.matcher is None:
            return
        if self.read > kept:
            self.matcher.rollback(self.read - kept)
            self.read = kept
        ends = self.matcher.vocabulary.eos_token_ids
        self.ended = self.read > 0 and int(tokens[self.read - 1]) in ends
        while self.read < len(tokens) and not self.ended:
            token = int(tokens[self.read])
            if not self.matcher.try_accept(token):
                break
            self.read += 1
            # Also one that the grammar names ends the row for `generate()`.
            self.ended = token in ends

    @property
    def is_finished(self) -> bool:
        """Whether a token that ends the text came; tokens behind it are padding."""
        return self.ended

    @property
    def is_over(self) -> bool:
        """Whether nothing more is written into this row: it ended, or was ended."""
        return self.ended or self.stopped

    @property
    def is_refused(self) -> bool:
        """Whether a token came that the grammar does not allow."""
        return self.matcher is not None and self.read < self.length and not self.is_finished


class Sequences:
    """The rows of a call of `generate()`, from step to step.

    Args:
        grammars: One for all rows, or as many as there are prompts; None: no grammar.
        vocabulary: The model's tokens.
    """

    def __init__(self, grammars: Iterable[Grammar | None], vocabulary: Vocabulary) -> None:
        self.grammars = list(grammars)
        self.vocabulary = vocabulary
        self.rows: list[Sequence] = []
        self._ids: Ids | None = None
        self._begun: set[tuple[int, bytes]] = set()
        self.prompt_length = 0

    def reset(self) -> None:
        """The next step is the first one of a new call."""
        self.rows = []
        self._ids = None

    @property
    def are_begun(self) -> bool:
        """Whether there was a step since the last `reset()`."""
        return self._ids is not None

    def begin(self, ids: Ids, prompt_length: int, ends: list[int] | None = None) -> list[Sequence]:
        """The rows of a new call.

        Args:
            ids: Integers of shape `(rows, length)`. Not changed, and not kept.
            prompt_length: How many of them are the prompt; those behind it are read.
            ends: The length at which each row was ended, what is behind it is padding; 0: it
                goes on. Default: None, all of them go on.

        Raises:
            ValueError: The grammars can't be spread over that many rows.
        """
        rows = [Sequence(self._matcher(grammar)) for grammar in self._by_row(len(ids))]
        self.rows, self.prompt_length, self._ids = rows, prompt_length, ids.copy()
        self._begun = set(self._prompts(ids))
        for row, sequence in enumerate(rows):
            sequence.follow(ids[row, prompt_length:], 0, self._end(ends, row))
        return rows

    def follow(
        self, ids: Ids, ends: list[int] | None = None, *, sure: bool = False
    ) -> list[Sequence]:
        """The rows of this step.

        Args:
            ids: Integers of shape `(rows, length)`. Not changed, and not kept.
            ends: As `begin` takes them.
            sure: Whether they are certainly rows of this call. Default: False, they are so if each
                is one token longer than a row was, and those of another prompt are a new call.
                Prompts of one grammar may change places then, as those of beams do that have
                written something before their texts began.

        Raises:
            RuntimeError: They are sure and don't begin with the prompts, or it can't be told
                whether they are a new call's.
            ValueError: The grammars can't be spread over that many rows.
        """
        before, start = self._ids, self.prompt_length
        if before is None:
            return self.begin(ids, ids.shape[1])
        if not self.have_prompts(ids):
            if not sure:
                return self.begin(ids, ids.shape[1])
            if not self._are_heirs(ids, before):
                raise RuntimeError(_OTHER_PROMPT)
        parents = self._parents(ids, before)
        if not sure and ids.shape[1] > start:
            last = ids.shape[1] - 1
            if last != before.shape[1] or any(common < last for _, common in parents):
                raise RuntimeError(_UNSURE)
        self._descend([parent for parent, _ in parents])
        self._ids = ids.copy()
        for row, (sequence, (_, common)) in enumerate(zip(self.rows, parents, strict=True)):
            sequence.follow(ids[row, start:], max(0, common - start), self._end(ends, row))
        return self.rows

    @property
    def ids(self) -> Ids | None:
        """Those of the last step; None if there was none."""
        return self._ids

    def have_prompts(self, ids: Ids, length: int | None = None) -> bool:
        """Whether these rows begin with this call's prompts, or as many tokens of them."""
        before, start = self._ids, self.prompt_length if length is None else length
        if before is None or len(before) != len(ids) or ids.shape[1] < start:
            return False
        return bool((ids[:, :start] == before[:, :start]).all())

    def _are_heirs(self, ids: Ids, before: Ids) -> bool:
        """Whether each row begins with the prompt of one that there was."""
        if len(before) != len(ids) or ids.shape[1] < self.prompt_length:
            return False
        return set(self._prompts(before)).issuperset(self._prompts(ids))

    def are_beginnings(self, ids: Ids, output: Ids) -> bool:
        """Whether these rows are all beginnings of what `generate()` gave, of the same grammars."""
        length = ids.shape[1]
        if length > output.shape[1]:
            return False
        return set(self._beginnings(output, length)).issuperset(self._beginnings(ids, length))

    def outputs(
        self, ids: Ids, ends: Ends, given_length: int | None = None
    ) -> list[list[Sequence]]:
        """What `generate()` gave in the end: the same prompts, perhaps fewer rows a prompt.

        Args:
            ids: Integers of shape `(n, length)`.
            ends: Where it ended rows.
            given_length: How many tokens of a prompt `generate()` was given, where texts began
                later; a row may end before. Default: None, the whole prompt.

        Returns:
            For each row what it may be, which is more than one thing only where rows with the same
            tokens ended at different places.

        Raises:
            ValueError: These are not the sequences of the last call.
        """
        before, start = self._ids, self.prompt_length
        if before is None or ids.ndim != 2 or len(ids) % len(self.grammars):
            raise ValueError(_OTHER_CALL)
        given = start if given_length is None else min(start, given_length)
        known = set(self._beginnings(before, given))
        if ids.shape[1] < given or not known.issuperset(self._beginnings(ids, given)):
            raise ValueError(_OTHER_CALL)
        found: list[list[Sequence]] = []
        for row, prompt, grammar in zip(
            ids, self._prompts(ids), self._by_row(len(ids)), strict=True
        ):
            lengths: list[int | None] = [length - start for length in ends.of(row)]
            if prompt not in self._begun:
                lengths = [-1]
            found.append([])
            for end in lengths or [None]:
                sequence = Sequence(self._matcher(grammar))
                sequence.follow(row[start:], 0, end)
                found[-1].append(sequence)
        return found

    def have_twins(self) -> bool:
        """Whether rows have a prompt and a grammar in common, as those of beams have."""
        return self._ids is not None and len(set(self._prompts(self._ids))) < len(self._ids)

    def _parents(self, ids: Ids, before: Ids) -> list[tuple[int, int]]:
        """For each row one of the step before, and how many tokens they have in common."""
        both = min(ids.shape[1], before.shape[1])
        same = ids[:, :both] == before[:, :both]
        common = [
            both if whole else int(row.argmin())
            for row, whole in zip(same, same.all(axis=1), strict=True)
        ]
        shared = min(ids.shape[1] - 1, both)
        parents = list(enumerate(common))
        if len(ids) == 1 or all(each >= shared for each in common):
            return parents
        by_tokens = {key: number for number, key in enumerate(self._beginnings(before, shared))}
        for number, key in enumerate(self._beginnings(ids, shared)):
            if common[number] < shared and key in by_tokens:
                parents[number] = by_tokens[key], shared
        return parents

    def _descend(self, parents: list[int]) -> None:
        """Hands each row its parent's matcher: the first child takes it, others fork it."""
        heirs: dict[int, int] = {}
        for row, parent in enumerate(parents):
            heirs.setdefault(parent, row)
        self.rows = [
            self.rows[parent] if heirs[parent] == row else self.rows[parent].fork()
            for row, parent in enumerate(parents)
        ]

    def _prompts(self, ids: Ids) -> list[tuple[int, bytes]]:
        return self._beginnings(ids, self.prompt_length)

    def _beginnings(self, ids: Ids, length: int) -> list[tuple[int, bytes]]:
        """What makes rows interchangeable up to a length: their grammar and their tokens."""
        grammars = self._by_row(len(ids))
        return [(id(g), row[:length].tobytes()) for g, row in zip(grammars, ids, strict=True)]

    def _by_row(self, rows: int) -> list[Grammar | None]:
        """The grammar of each row: the rows of a prompt lie together."""
        each, rest = divmod(rows, len(self.grammars))
        if rest or not each:
            raise ValueError(
                f"{len(self.grammars)} grammars for {rows} rows; give one, or one for each prompt"
            )
        return [grammar for grammar in self.grammars for _ in range(each)]

    def _end(self, ends: list[int] | None, row: int) -> int | None:
        """How many tokens there are behind the prompt when a row has ended."""
        return ends[row] - self.prompt_length if ends and ends[row] else None

    def _matcher(self, grammar: Grammar | None) -> Matcher | None:
        return None if grammar is None else Matcher(grammar, self.vocabulary)


def columns_of(ids: Ids, rows: Ids) -> list[int]:
    """The columns from which on all of `ids` are found in `rows`, in any order of rows."""
    length = ids.shape[1]
    starts = list(range(rows.shape[1] - length + 1))
    if length and len(ids):
        first = (rows == ids[0, 0]).any(axis=0)
        starts = [start for start in starts if first[start]]
    wanted = {row.tobytes() for row in ids}
    return [
        start
        for start in starts
        if wanted <= {row.tobytes() for row in rows[:, start : start + length]}
    ]


_OTHER_PROMPT = (
    "the rows don't begin with the prompts that this generate() began with; use a "
    "GrammarLogitsProcessor for one generate() at a time, and if another processor asks it, with "
    "all rows at each step of their texts"
)
_UNSURE = (
    "it can't be told whether these ids are a step of the last text or a new prompt that begins "
    "like it; outside of generate(), call reset() before each text"
)
_OTHER_CALL = (
    "these are not the sequences that generate() gave last with this processor; "
    "pass them as they came, before its next call; of a model whose generate() puts several calls "
    "together, as Whisper's does for long audio, only the last call's are known"
)
