"""Rows of a generation, followed step by step, against reading each row anew."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import shared
from earmark import Grammar, Matcher
from earmark.sequences import Sequence, Sequences
from earmark.stops import Ends, Stops

BYTES = shared.byte_vocabulary()
EOS = shared.BYTE_EOS
PAD = 0
WORDS = Grammar.from_regex("[ab]{1,9}(c|dd)*")
PAIRS = Grammar.from_gbnf('root ::= "(" root ")" | "a"')


def anew(grammar: Grammar | None, tokens: Any) -> tuple[Any, ...]:
    """What a row is, by its definition."""
    if grammar is None:
        return (None,)
    matcher = Matcher(grammar, BYTES)
    read = next((at for at, token in enumerate(tokens) if not matcher.try_accept(token)), None)
    refused = read is not None and not matcher.is_finished
    return (matcher.next_mask().tolist(), matcher.is_finished, refused, matcher.accepted())


def seen(row: Sequence) -> tuple[Any, ...]:
    if row.matcher is None:
        return (None,)
    matcher = row.matcher
    return (matcher.next_mask().tolist(), row.is_finished, row.is_refused, matcher.accepted())


def array(*rows: Any) -> Any:
    return np.array(rows, np.int64)


def text(*texts: bytes) -> Any:
    return array(*(list(text) for text in texts))


@pytest.mark.parametrize("seed", range(40))
def test_random_searches(seed: int) -> None:
    """Beams that change places, drafts that are taken back, refused tokens, ends and padding."""
    choose = random.Random(seed)
    beams = choose.choice([1, 2, 3])
    grammars = [choose.choice([WORDS, PAIRS, None]) for _ in range(choose.choice([1, 2]))]
    prompts = [choose.choices(b"xyz", k=3) for _ in grammars]
    rows = [list(prompt) for prompt in prompts for _ in range(beams)]
    by_row = [grammar for grammar in grammars for _ in range(beams)]
    sequences = Sequences(grammars, BYTES)
    for _ in range(60):
        found = sequences.follow(array(*rows), sure=True)
        assert [seen(row) for row in found] == [
            anew(grammar, row[3:]) for grammar, row in zip(by_row, rows, strict=True)
        ]
        length = len(rows[0])
        if choose.random() < 0.2:
            # A draft was not taken: back to a beginning, and on by another token or none.
            length = choose.randrange(3, length + 1)
            rows = [row[:length] for row in rows]
            if choose.random() < 0.5:
                continue
        parents = [
            row // beams * beams + choose.randrange(beams) if choose.random() < 0.5 else row
            for row in range(len(rows))
        ]
        before, rows = rows, []
        for row, parent in enumerate(parents):
            tokens = before[parent]
            mask = anew(by_row[row], tokens[3:])[0]
            allowed = shared.bits(np.array(mask, np.int32)) if mask is not None else set()
            token = choose.choice(sorted(allowed)) if allowed else PAD
            if choose.random() < 0.05:
                token = choose.choice([*b"abcd()", EOS])
            rows.append([*tokens, token])


def test_nothing_is_read_twice() -> None:
    sequences = Sequences([WORDS], BYTES)
    first = sequences.follow(text(b"p", b"p"))
    matchers = [row.matcher for row in first]
    second = sequences.follow(text(b"pa", b"pb"))
    assert [row.matcher for row in second] == matchers
    assert [row.read for row in second] == [1, 1]
    # Both rows go on from the second: one takes its matcher, the other a fork of it.
    third = sequences.follow(text(b"pba", b"pbb"))
    assert third[0].matcher is matchers[1]
    assert third[1].matcher not in matchers
    assert [row.read for row in third] == [2, 2]
    # And they change places.
    before = [row.matcher for row in third]
    fourth = sequences.follow(text(b"pbba", b"pbaa"))
    assert [row.matcher for row in fourth] == before[::-1]


def test_a_draft_is_taken_back() -> None:
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p"))
    matcher = sequences.rows[0].matcher
    assert matcher is not None
    for tokens in (b"pa", b"pab", b"pabc", b"pabce", b"pabcef"):
        sequences.follow(text(tokens))
    assert sequences.rows[0].is_refused
    assert sequences.follow(text(b"pabb"), sure=True)[0].matcher is matcher
    assert not sequences.rows[0].is_refused
    assert matcher.accepted() == list(b"abb")
    assert sequences.prompt_length == 1


@pytest.mark.parametrize(
    "step", [b"p", b"pb", b"pa", b"paa", b"pab", b"paba", b"pabb", b"pabbbb", b"paccc"]
)
def test_any_step_of_a_call_may_follow(step: bytes) -> None:
    sequences = Sequences([WORDS], BYTES)
    for tokens in (b"p", b"pa", b"paba"):
        sequences.follow(text(tokens), sure=True)
    (row,) = sequences.follow(text(step), sure=True)
    assert seen(row) == anew(WORDS, step[1:])
    assert sequences.prompt_length == 1


@pytest.mark.parametrize("ids", [text(b"q"), text(b"qaa"), array([]), text(b"pa", b"pa")])
def test_a_call_has_one_prompt(ids: Any) -> None:
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p"))
    sequences.follow(text(b"pa"))
    with pytest.raises(RuntimeError, match="don't begin with the prompts"):
        sequences.follow(ids, sure=True)
    assert sequences.follow(text(b"paa"), sure=True)[0].read == 2


@pytest.mark.parametrize(
    "step", [b"pa", b"pb", b"pab", b"paa", b"pba", b"pbaa", b"paaaa", b"pabcx"]
)
def test_what_may_be_a_step_or_a_prompt_is_refused(step: bytes) -> None:
    sequences = Sequences([WORDS], BYTES)
    for tokens in (b"p", b"pa", b"paa"):
        sequences.follow(text(tokens))
    with pytest.raises(RuntimeError, match=r"call reset\(\) before each text"):
        sequences.follow(text(step))
    # Nothing has changed.
    assert sequences.follow(text(b"paab"))[0].read == 3


@pytest.mark.parametrize(
    "ids",
    [
        text(b"q"),
        text(b"p"),
        text(b"qaab"),
        text(b"pb", b"pb"),
        array([]),
    ],
)
def test_what_does_not_go_on_is_a_new_prompt(ids: Any) -> None:
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p"))
    sequences.follow(text(b"pa"))
    sequences.follow(text(b"paa"))
    found = sequences.follow(ids)
    assert sequences.prompt_length == ids.shape[1]
    assert all(row.read == 0 and not row.is_refused for row in found)
    start = Matcher(WORDS, BYTES).next_mask()
    assert all((row.matcher.next_mask() == start).all() for row in found if row.matcher)


def test_reset_makes_a_continuation_a_new_prompt() -> None:
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p"))
    sequences.follow(text(b"pa"))
    assert sequences.follow(text(b"pab"))[0].read == 2
    sequences.reset()
    assert sequences.follow(text(b"pab"))[0].read == 0
    assert sequences.prompt_length == 3


def test_equal_prompts_with_other_grammars_stay_apart() -> None:
    sequences = Sequences([WORDS, PAIRS], BYTES)
    sequences.follow(text(b"p", b"p"))
    assert not sequences.have_twins()
    sequences.follow(text(b"pa", b"pa"))
    found = sequences.follow(text(b"pac", b"pac"))
    assert [row.is_refused for row in found] == [False, True]
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p", b"p"))
    assert sequences.have_twins()


def test_grammars_and_rows() -> None:
    sequences = Sequences([WORDS, None, PAIRS], BYTES)
    found = sequences.follow(text(*[b"p"] * 6))
    grammars = [row.matcher.grammar if row.matcher else None for row in found]
    assert grammars == [WORDS, WORDS, None, None, PAIRS, PAIRS]
    for rows in (1, 2, 4, 7):
        with pytest.raises(ValueError, match=f"3 grammars for {rows} rows"):
            Sequences([WORDS, None, PAIRS], BYTES).follow(text(*[b"p"] * rows))


def test_the_ids_may_be_overwritten() -> None:
    sequences = Sequences([WORDS], BYTES)
    ids = text(b"pab")
    sequences.follow(ids[:, :1])
    sequences.follow(ids[:, :2])
    ids[:] = text(b"xyz")
    # It goes on from what it was given.
    assert sequences.follow(text(b"paa"))[0].read == 2


def test_outputs() -> None:
    sequences = Sequences([WORDS], BYTES)
    with pytest.raises(ValueError, match="not the sequences"):
        sequences.outputs(text(b"pa"), Ends())
    sequences.follow(text(b"pp", b"pp", b"qq", b"qq"))
    sequences.follow(text(b"ppa", b"ppb", b"qqa", b"qqa"))
    found = sequences.outputs(array([*b"ppac", EOS, PAD], [*b"qqaddc"]), Ends())
    assert [row.is_finished for (row,) in found] == [True, False]
    assert [row.is_refused for (row,) in found] == [False, False]
    assert sequences.outputs(text(b"ppx"), Ends())[0][0].is_refused
    # What comes next is as if nobody had asked.
    follow = sequences.follow(text(b"ppaa", b"ppbb", b"qqaa", b"qqab"))
    assert [row.read for row in follow] == [2] * 4
    for other in (text(b"pqa"), text(b"p"), array(1)[0], text()):
        with pytest.raises(ValueError, match="not the sequences"):
            sequences.outputs(other, Ends())


@pytest.mark.parametrize("pad", [EOS, *b"ac"])
def test_padding_is_not_read(pad: int) -> None:
    """Whether it would be text or not; and what was ended stays so."""
    sequences = Sequences([WORDS], BYTES)
    sequences.follow(text(b"p", b"q"))
    sequences.follow(text(b"pa", b"qa"), [2, 0])
    for length in range(1, 4):
        rows = array([*b"pa", *[pad] * length], [*b"qa", *b"b" * length])
        first, second = sequences.follow(rows, [2, 0])
        assert seen(first)[1:] == (False, False, [*b"a"])
        assert (first.is_over, second.is_over, second.read) == (True, False, length + 1)
    ends = Ends([pad, EOS])
    ends.add(text(b"pa")[0])
    ((row,),) = sequences.outputs(array([*b"pa", *[pad] * 3]), ends)
    assert (row.is_over, row.is_finished, row.read) == (True, False, 1)


def test_ends_are_found_behind_padding() -> None:
    ends = Ends([PAD, EOS, ord("c")])
    for row in (b"pa", b"pac", b"qb"):
        ends.add(text(row)[0])
    assert ends.of(array([*b"pa", PAD, EOS])[0]) == [2]
    # Rows of the same tokens that ended at different places.
    assert ends.of(text(b"pacc")[0]) == [2, 3]
    assert ends.of(text(b"pa")[0]) == [2]
    assert ends.of(text(b"pax")[0]) == []
    assert ends.of(text(b"ccc")[0]) == []
    assert Ends().of(text(b"pa")[0]) == []


def test_a_row_ends_once() -> None:
    stops = Stops()
    stops.begin({PAD}, beams=False, pads=True)
    whole = array([1, 2, PAD, PAD], [3, 4, 5, 6])
    steps = [whole[:, :2], whole[:, :3], whole]
    assert stops.lengths(steps[0]) == []
    stops.see(steps[0], np.array([True, False]))
    assert stops.lengths(steps[0].copy()) == [2, 0]
    # Its padding may end it again; rows that the criteria did not see are of a draft.
    stops.see(steps[1], np.array([True, False]))
    assert stops.lengths(steps[1]) == [2, 0]
    assert stops.lengths(steps[2]) == stops.lengths(steps[1] + 1) == []
    stops.see(steps[2], np.array([True, True]))
    assert stops.lengths(steps[2]) == [2, 4]
    ends = stops.ends(steps[2])
    assert [ends.of(row) for row in steps[2]] == [[2], [4]]
    # Another loop with the same criteria begins anew.
    stops.see(steps[0], np.array([False, True]))
    assert stops.lengths(steps[0]) == [0, 2]


def test_rows_that_nothing_pads_go_on() -> None:
    stops = Stops()
    stops.begin({PAD}, beams=False, pads=False)
    stops.see(text(b"pa"), np.array([True]))
    assert stops.lengths(text(b"pa")) == []
