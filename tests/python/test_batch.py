"""`fill_masks` and `accept_all`: what each matcher says by itself, from any number of threads."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import earmark
import shared
from earmark import Grammar, Matcher, Vocabulary, accept_all, allocate_masks, fill_masks

if TYPE_CHECKING:
    from collections.abc import Callable

GRAMMARS = [
    Grammar.from_regex("[a-c]{2,30}"),
    Grammar.from_regex("(ab|ba)+"),
    Grammar.from_gbnf('root ::= "(" root ")" | [a-z]+ root?'),
    Grammar.from_lark('start: (WORD " ")* WORD "."\nWORD: /[a-z]+/'),
    Grammar.from_json_schema({"type": "array", "items": {"enum": ["a", "bb", 3]}}),
    Grammar.from_json_schema({"properties": {"a": {"type": "integer"}}, "required": ["a"]}),
]
BYTES = shared.byte_vocabulary()
WORDS = 9
EOS = shared.BYTE_EOS


def batch(count: int) -> list[Matcher]:
    return [Matcher(GRAMMARS[at % len(GRAMMARS)], BYTES) for at in range(count)]


def one_by_one(matchers: list[Matcher]) -> Any:
    return np.stack([matcher.next_mask() for matcher in matchers])


@pytest.mark.parametrize("threads", [None, 1, 2, 3, 200])
def test_a_batch_says_what_each_says(threads: int | None) -> None:
    random.seed(threads or 0)
    ours, theirs = batch(100), batch(100)
    masks = allocate_masks(100, BYTES)
    for _ in range(20):
        fill_masks(ours, masks, threads=threads)
        assert (masks == one_by_one(theirs)).all()
        tokens = []
        for mask in masks:
            allowed = sorted(shared.bits(mask)) or [EOS]
            # Now and then one that may be refused.
            any_byte = random.random() < 0.1
            tokens.append(random.randrange(256) if any_byte else random.choice(allowed))
        accepted = accept_all(ours, tokens, threads=threads)
        expected = [one.try_accept(token) for one, token in zip(theirs, tokens, strict=True)]
        assert accepted.dtype == np.bool_
        assert accepted.tolist() == expected
        assert not all(expected)
        assert [one.accepted() for one in ours] == [one.accepted() for one in theirs]


def test_rows_are_whose_the_caller_says() -> None:
    matchers = batch(3)
    masks = allocate_masks(6, BYTES)
    masks[:] = 7
    fill_masks(matchers, masks, rows=[4, 0, 2])
    assert (masks[[4, 0, 2]] == one_by_one(matchers)).all()
    assert (masks[[1, 3, 5]] == 7).all()
    masks[:] = 7
    fill_masks(iter(matchers), masks.view(np.uint32), rows=np.array([5, 1, 3]), threads=2)
    assert (masks[[5, 1, 3]] == one_by_one(matchers)).all()
    assert (masks[[0, 2, 4]] == 7).all()


def test_rows_past_the_matchers_stay() -> None:
    matchers = batch(2)
    masks = allocate_masks(3, BYTES)
    masks[:] = 7
    fill_masks(matchers, masks)
    assert (masks[:2] == one_by_one(matchers)).all()
    assert (masks[2] == 7).all()


def test_no_matchers_are_a_batch() -> None:
    masks = allocate_masks(2, BYTES)
    fill_masks([], masks)
    assert accept_all([], []).shape == (0,)
    one = Matcher(GRAMMARS[0], BYTES)
    fill_masks([one], masks[0])
    assert (masks[0] == one.next_mask()).all()


def test_finished_matchers_allow_nothing_and_accept_nothing() -> None:
    matchers = batch(2)
    assert accept_all(matchers, [ord("a"), ord("a")]).tolist() == [True, True]
    assert accept_all(matchers, [ord("b"), ord("b")]).all()
    assert accept_all(matchers, [EOS, EOS]).all()
    masks = allocate_masks(2, BYTES)
    masks[:] = -1
    fill_masks(matchers, masks, threads=2)
    assert not masks.any()
    assert accept_all(matchers, [EOS, ord("a")]).tolist() == [False, False]
    assert matchers[0].accepted() == [ord("a"), ord("b"), EOS]


def test_token_ids_of_all_kinds() -> None:
    for tokens in (
        np.array([97, 98], np.uint8),
        np.array([97, 98]),
        (97, np.int64(98)),
        iter([97, 98]),
    ):
        matchers = [Matcher(GRAMMARS[0], BYTES) for _ in range(2)]
        assert accept_all(matchers, tokens).all()
        assert [matcher.accepted() for matcher in matchers] == [[97], [98]]


def test_ids_that_no_vocabulary_has_are_refused_alone() -> None:
    matchers = [Matcher(GRAMMARS[0], BYTES) for _ in range(5)]
    accepted = accept_all(matchers, [-1, 97, 257, 2**40, 2**70])
    assert accepted.tolist() == [False, True, False, False, False]
    assert [len(matcher.accepted()) for matcher in matchers] == [0, 1, 0, 0, 0]


SAME = Matcher(GRAMMARS[0], BYTES)
NARROW = Matcher(GRAMMARS[0], Vocabulary([b"a", b"b", b""], eos_token_ids=2))


def read_only() -> Any:
    out = allocate_masks(2, BYTES)
    out.flags.writeable = False
    return out


def masks(rows: int = 2) -> Any:
    return allocate_masks(rows, BYTES)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda _: fill_masks(5, masks()), TypeError, "iterable"),
        (lambda m: fill_masks(m[0], masks()), TypeError, "iterable"),
        (lambda m: fill_masks([m[0], "x"], masks()), TypeError, r"matchers\[1\] is no Matcher"),
        (lambda m: fill_masks([m[0], None], masks()), TypeError, "NoneType"),
        (lambda m: fill_masks([SAME, m[0], SAME], masks(3)), ValueError, r"\[0\].*\[2\].*the same"),
        (lambda m: fill_masks([m[0], NARROW], masks()), ValueError, r"matchers\[1\].* 1 words"),
        (lambda m: fill_masks(m, masks(1)), IndexError, "row 1 is out of range: out has 1 rows"),
        (lambda m: fill_masks(m, masks()[0]), IndexError, "row 1 is out of range"),
        (lambda m: fill_masks(m, masks().astype(np.int64)), TypeError, "8 bytes"),
        (lambda m: fill_masks(m, masks().astype(np.float32)), TypeError, "'f'"),
        (lambda m: fill_masks(m, masks()[:, :-1]), ValueError, "shape"),
        (lambda m: fill_masks(m, np.zeros((2, 2 * WORDS), np.int32)[:, ::2]), ValueError, "contig"),
        (lambda m: fill_masks(m, masks().reshape(2, WORDS, 1)), ValueError, "shape"),
        (lambda m: fill_masks(m, read_only()), ValueError, "read-only"),
        (lambda m: fill_masks(m, [[0] * WORDS] * 2), TypeError, "list"),
        (lambda m: fill_masks(m, masks(), rows=[0]), ValueError, "1 rows for 2 matchers"),
        (lambda m: fill_masks(m, masks(), rows=[0, 0]), ValueError, "row 0 is given twice"),
        (lambda m: fill_masks(m, masks(), rows=[0, 2]), IndexError, "row 2 is out of range"),
        (lambda m: fill_masks(m, masks(), rows=[0, -1]), IndexError, "out of range"),
        (
            lambda m: fill_masks(m, masks(), rows=[0, 1.0]),
            TypeError,
            r"rows\[1\] is an int, not float",
        ),
        (lambda m: fill_masks(m, masks(), rows=1), TypeError, "iterable"),
        (lambda m: fill_masks(m, masks(), threads=0), ValueError, "threads is 0"),
        (lambda m: fill_masks(m, masks(), threads=-(2**70)), ValueError, "threads is -1180"),
        (lambda m: fill_masks(m, masks(), threads="2"), TypeError, "threads is an int, not str"),
        (lambda m: fill_masks(m, masks(), threads=True), TypeError, "threads is an int, not bool"),
        (lambda _: accept_all([SAME, SAME], [97, 97]), ValueError, "the same"),
        (lambda m: accept_all(m, [97]), ValueError, "1 token ids for 2 matchers"),
        (lambda m: accept_all(m, [97, 97, 97]), ValueError, "3 token ids for 2 matchers"),
        (lambda m: accept_all(m, [97, "a"]), TypeError, r"token_ids\[1\] is an int, not str"),
        (lambda m: accept_all(m, [97, True]), TypeError, r"token_ids\[1\] is an int, not bool"),
        (
            lambda m: accept_all(m, np.array([97.0, 98.0])),
            TypeError,
            r"token_ids\[0\] is an int, not float",
        ),
        (
            lambda m: accept_all(m, np.array([[97], [98]])),
            TypeError,
            r"token_ids\[0\] is an int, not list",
        ),
        (lambda m: accept_all(m, 97), TypeError, "iterable"),
        (lambda m: accept_all(m, np.array(97)), TypeError, "iterable"),
        (lambda m: accept_all(m, [97, 97], threads=0), ValueError, "threads is 0"),
    ],
)
def test_bad_arguments_change_nothing(
    call: Callable[[list[Matcher]], object], error: type[Exception], message: str
) -> None:
    matchers = [Matcher(GRAMMARS[0], BYTES) for _ in range(2)]
    with pytest.raises(error, match=message):
        call(matchers)
    assert [matcher.accepted() for matcher in [*matchers, SAME]] == [[], [], []]


def test_more_threads_than_there_are_numbers_for() -> None:
    matchers = batch(3)
    out = masks(3)
    fill_masks(matchers, out, threads=2**70)
    assert (out == one_by_one(matchers)).all()


def test_other_threads_run_meanwhile_and_share_grammars() -> None:
    """Several batches at once, over the same grammars, each with matchers of its own."""
    expected = batch(40)
    for token in b"ab":
        accept_all(expected, [token] * 40)
    reference = one_by_one(expected)
    failures: list[str] = []

    def run() -> None:
        out = masks(40)
        for _ in range(30):
            matchers = batch(40)
            for token in b"ab":
                fill_masks(matchers, out, threads=2)
                accept_all(matchers, [token] * 40, threads=2)
            fill_masks(matchers, out, threads=2)
            if not (out == reference).all():
                failures.append("a mask differs")

    workers = [threading.Thread(target=run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_the_same_matchers_in_two_batches_at_once() -> None:
    """Calls on one matcher come one after the other, in whatever order its batches hold it."""
    matchers = batch(60)
    expected = one_by_one(matchers)
    failures: list[str] = []

    def run(order: list[int]) -> None:
        out = masks(60)
        for _ in range(200):
            fill_masks([matchers[at] for at in order], out, threads=2)
            if not (out == expected[order]).all():
                failures.append("a mask differs")

    forwards = list(range(60))
    workers = [threading.Thread(target=run, args=[order]) for order in (forwards, forwards[::-1])]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on() -> None:
    matchers = batch(64)
    out = masks(64)
    fill_masks(matchers, out, threads=4)
    assert accept_all(matchers, [ord("a")] * 64, threads=4).any()
    child = os.fork()
    if child == 0:
        # No pytest in the child: only its exit status says how it went.
        try:
            fill_masks(matchers, out, threads=4)
            good = bool((out == one_by_one(matchers)).all())
            good &= bool(accept_all(matchers, [ord("b")] * 64, threads=4).any())
            fresh = batch(64)
            fill_masks(fresh, out, threads=4)
            good &= bool((out == one_by_one(fresh)).all())
        except BaseException:
            os._exit(2)
        os._exit(0 if good else 1)
    deadline = time.monotonic() + 60
    while (status := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the forked process hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(status[1]) == 0
    # The parent goes on as if nothing had been.
    fill_masks(matchers, out, threads=4)
    assert (out == one_by_one(matchers)).all()


def test_a_real_vocabulary() -> None:
    vocabulary = shared.vocabulary("llama3")
    grammars = [shared.load(name) for name in ("json.gbnf", "arithmetic.lark", "japanese.gbnf")]
    ours = [Matcher(grammars[at % 3], vocabulary) for at in range(24)]
    theirs = [Matcher(grammar, vocabulary) for grammar in grammars]
    out = allocate_masks(24, vocabulary)
    for _ in range(5):
        fill_masks(ours, out, threads=2)
        expected = one_by_one(theirs)
        assert (out.reshape(8, 3, -1) == expected).all()
        tokens = [min(shared.bits(mask)) for mask in expected]
        assert accept_all(ours, tokens * 8).all()
        assert accept_all(theirs, tokens).all()


def test_they_are_public() -> None:
    assert earmark.fill_masks is fill_masks
    assert {"fill_masks", "accept_all"} <= set(earmark.__all__)
