"""Which matcher has read which row of a generation.

Takes the ids of all rows at each step, prompts included, as an array; gives for each row a
`Sequence`, whose matcher has read exactly the tokens behind the prompt. Knows neither torch nor
transformers.

Between two steps transformers may take other rows as they were (beam search), or go back to a
beginning of a row (a draft of assisted generation that was not taken), how far, the caller knows.
What is certain is that a row is, but for its last token, the beginning of a row of the step before,
and one token longer than that if there was no draft. So a matcher is taken back by as many
tokens as are too many, forked if several rows go on from one, and given what is new: nothing is
read twice. Where that is not so, a new call of `generate()` has begun, and what there is now is its
prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from earmark._earmark import Grammar, Matcher, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]

__all__ = ["Sequence", "Sequences"]


class Sequence:
    """A row: its matcher (None where there is no grammar), and how many tokens that has read."""

    __slots__ = ("ended", "length", "matcher", "read")

    def __init__(self, matcher: Matcher | None) -> None:
        self.matcher = matcher
        self.read = 0
        self.ended = False
        self.length = 0
        """How many tokens there are; those not read are padding, or refused."""

    def fork(self) -> Sequence:
        """Another row that goes on from here."""
        copy = Sequence(None if self.matcher is None else self.matcher.fork())
        copy.read, copy.ended, copy.length = self.read, self.ended, self.length
        return copy

    def follow(self, tokens: Ids, kept: int) -> None:
        """Reads the row's tokens behind the prompt; the first `kept` are as they were."""
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
        self.prompt_length = 0

    def reset(self) -> None:
        """The next step is the first one of a new call."""
        self.rows = []
        self._ids = None

    def follow(self, ids: Ids, *, least: int | None = None, whole: bool = False) -> list[Sequence]:
        """The rows of this step.

        Args:
            ids: Integers of shape `(rows, length)`. Not changed, and not kept.
            least: As short as this the rows may be without being new prompts, since a draft may
                have been taken back. Default: None, they are one token longer than before.
            whole: Whether rows that are no longer than before also have their last token from
                there. Default: False, the last token may be another one.

        Raises:
            ValueError: The grammars can't be spread over that many rows.
        """
        parents = self._parents(ids, least, whole)
        if parents is None:
            self.rows = [Sequence(self._matcher(grammar)) for grammar in self._by_row(len(ids))]
            self.prompt_length = ids.shape[1]
        else:
            self._descend(parents)
        self._ids = ids.copy()
        kept = max(0, ids.shape[1] - 1 - self.prompt_length)
        for row, sequence in enumerate(self.rows):
            sequence.follow(ids[row, self.prompt_length :], kept)
        return self.rows

    def outputs(self, ids: Ids) -> list[Sequence]:
        """What `generate()` gave in the end: the same prompts, perhaps fewer rows a prompt.

        Raises:
            ValueError: These are not the sequences of the last call.
        """
        before, start = self._ids, self.prompt_length
        if before is None or ids.ndim != 2 or len(ids) % len(self.grammars):
            raise ValueError(_OTHER_CALL)
        known = set(self._prompts(before))
        if ids.shape[1] < start or not known.issuperset(self._prompts(ids)):
            raise ValueError(_OTHER_CALL)
        found = [Sequence(self._matcher(grammar)) for grammar in self._by_row(len(ids))]
        for row, sequence in enumerate(found):
            sequence.follow(ids[row, start:], 0)
        return found

    def have_twins(self) -> bool:
        """Whether rows have a prompt and a grammar in common, as those of beams have."""
        return self._ids is not None and len(set(self._prompts(self._ids))) < len(self._ids)

    def _parents(self, ids: Ids, least: int | None, whole: bool) -> list[int] | None:
        """For each row one of the step before that it goes on from; None: a new call."""
        before, start, shared = self._ids, self.prompt_length, max(0, ids.shape[1] - 1)
        if before is None or len(before) != len(ids):
            return None
        longest = before.shape[1] + 1
        if whole and ids.shape[1] < longest:
            shared = ids.shape[1]
        if not max(start, longest if least is None else least) <= ids.shape[1] <= longest:
            return None
        if (ids[:, :start] != before[:, :start]).any():
            return None
        itself = (ids[:, :shared] == before[:, :shared]).all(axis=1)
        if itself.all():
            return list(range(len(ids)))
        by_tokens = {key: number for number, key in enumerate(self._beginnings(before, shared))}
        parents = []
        for number, key in enumerate(self._beginnings(ids, shared)):
            parent = number if itself[number] else by_tokens.get(key)
            if parent is None:
                return None
            parents.append(parent)
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

    def _matcher(self, grammar: Grammar | None) -> Matcher | None:
        return None if grammar is None else Matcher(grammar, self.vocabulary)


_OTHER_CALL = (
    "these are not the sequences that generate() gave last with this processor; "
    "pass them as they came, before its next call"
)
