"""The native sampler, called through its table of functions as llama.cpp calls it.

The structures are those of `llama.h`; `llama_sampler_init` is a Python function here. What
llama.cpp itself makes of the sampler is in `test_llama_cpp.py`.
"""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Iterator
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_void_p,
    cast,
    pointer,
    sizeof,
)
from threading import Thread
from typing import Any

import pytest

import earmark
from earmark._earmark import NativeSampler, SamplerInterface
from shared import BYTE_EOS, allowed, byte_vocabulary, load


class Candidate(Structure):
    _fields_ = [("id", c_int32), ("logit", c_float), ("p", c_float)]


class Candidates(Structure):
    _fields_ = [
        ("data", POINTER(Candidate)),
        ("size", c_size_t),
        ("selected", c_int64),
        ("sorted", c_bool),
    ]


class Sampler(Structure):
    _fields_ = [("iface", c_void_p), ("ctx", c_void_p)]


class Table(Structure):
    """With functions that the sampler doesn't know, before and behind."""

    _fields_ = [
        ("first", c_void_p),
        ("name", CFUNCTYPE(c_char_p, POINTER(Sampler))),
        ("accept", CFUNCTYPE(None, POINTER(Sampler), c_int32)),
        ("apply", CFUNCTYPE(None, POINTER(Sampler), POINTER(Candidates))),
        ("reset", CFUNCTYPE(None, POINTER(Sampler))),
        ("clone", CFUNCTYPE(c_void_p, POINTER(Sampler))),
        ("middle", c_void_p),
        ("free", CFUNCTYPE(None, POINTER(Sampler))),
        ("last", c_void_p),
    ]


# `llama_sampler_init` keeps what it allocates here, and llama_sampler_free takes it out.
LIVE: dict[int, Sampler] = {}


@pytest.fixture(autouse=True)
def _all_are_freed() -> Iterator[None]:
    yield
    left = len(LIVE)
    LIVE.clear()
    assert left == 0


@CFUNCTYPE(c_void_p, c_void_p, c_void_p)
def init(iface: int, ctx: int) -> int:
    sampler = Sampler(iface, ctx)
    LIVE[ctypes.addressof(sampler)] = sampler
    return ctypes.addressof(sampler)


FUNCTIONS = ("name", "accept", "apply", "reset", "clone", "free")
LAYOUT = {name: getattr(Table, name).offset for name in FUNCTIONS} | {
    "size": sizeof(Table),
    "init": cast(init, c_void_p).value or 0,
}
INTERFACE = SamplerInterface(LAYOUT)


class Native:
    """A sampler as C code sees it."""

    def __init__(self, handle: NativeSampler) -> None:
        self.handle = handle
        self.pointer = pointer(LIVE[handle.address])
        self.table = cast(self.pointer.contents.iface, POINTER(Table)).contents

    def candidates(self, ids: Any) -> list[int]:
        """The ids that are left of some candidates, whose logits must be what they were."""
        array = (Candidate * len(ids))(*((token, token * 0.5, 0) for token in ids))
        candidates = Candidates(array, len(ids), 7, True)
        self.table.apply(self.pointer, pointer(candidates))
        left = [array[index] for index in range(candidates.size)]
        possible = [it for it in left if it.logit != -math.inf]
        assert all(it.logit == it.id * 0.5 for it in possible)
        # Impossible ones stay only where they are few.
        assert len(possible) == len(left) or len(possible) * 4 >= len(left) * 3
        assert len(possible) == len(left) or not candidates.sorted
        return [it.id for it in possible]

    def apply(self) -> set[int]:
        left = self.candidates(range(257))
        assert left == sorted(left)
        return set(left)

    def accept(self, token: int) -> None:
        self.table.accept(self.pointer, token)

    def clone(self) -> Native:
        address = self.table.clone(self.pointer)
        found = INTERFACE.find(address, self.handle)
        assert found is not None
        return Native(found)

    def free(self) -> None:
        self.table.free(self.pointer)
        assert self.pointer.contents.ctx is None
        del LIVE[self.handle.address]


def make(grammar: earmark.Grammar) -> Native:
    matcher = earmark.Matcher(grammar, byte_vocabulary())
    return Native(INTERFACE.sampler(matcher))


YES_NO = earmark.Grammar.from_regex("yes|no|nono")


def test_a_text_from_start_to_end() -> None:
    native = make(YES_NO)
    assert native.table.name(native.pointer) == b"earmark"
    assert (native.table.first, native.table.middle, native.table.last) == (None, None, None)
    assert native.apply() == set(b"yn")
    for token in b"no":
        native.accept(token)
    assert native.apply() == {ord("n"), BYTE_EOS}
    assert not native.handle.matcher().is_finished
    native.accept(BYTE_EOS)
    assert native.handle.matcher().is_finished
    # llama.cpp may go on sampling: the text stays as it is.
    assert native.apply() == {BYTE_EOS}
    native.accept(BYTE_EOS)
    native.handle.check()
    native.table.reset(native.pointer)
    assert native.apply() == set(b"yn")
    native.free()


def test_it_starts_where_its_matcher_is_and_goes_on_alone() -> None:
    matcher = earmark.Matcher(YES_NO, byte_vocabulary())
    matcher.accept_bytes(b"ye")
    native = Native(INTERFACE.sampler(matcher))
    native.accept(ord("s"))
    assert native.apply() == {BYTE_EOS}
    assert allowed(matcher) == set(b"s")
    native.free()


def test_candidates_in_any_order_keep_it() -> None:
    native = make(earmark.Grammar.from_regex("[a-y]"))
    letters = set(b"abcdefghijklmnopqrstuvwxy")
    ids = list(range(257))
    shuffle = random.Random(3).shuffle
    for _ in range(20):
        shuffle(ids)
        want = [token for token in ids if token in letters]
        assert native.candidates(ids) == want
        # Samplers before it may have dropped some.
        some = ids[: 150 + ids[0] % 100]
        want = [token for token in some if token in letters]
        assert native.candidates(some) == want
    # In order but for two, one of which is allowed.
    ids.sort()
    ids[3], ids[98] = ids[98], ids[3]
    assert native.candidates(ids)[0] == 98
    native.handle.check()
    native.free()


@pytest.mark.parametrize("file", ["json.gbnf", "expressions.gbnf", "words.lark"])
def test_it_allows_what_its_matcher_does(file: str) -> None:
    grammar = load(file)
    choose = random.Random(file)
    for _ in range(5):
        native, matcher = make(grammar), earmark.Matcher(grammar, byte_vocabulary())
        while not matcher.is_finished and len(matcher.accepted()) < 60:
            tokens = allowed(matcher)
            assert native.apply() == tokens
            token = choose.choice(sorted(tokens))
            matcher.accept(token)
            native.accept(token)
        native.handle.check()
        assert native.handle.matcher().accepted() == matcher.accepted()
        native.free()


def test_wide_vocabularies_with_full_and_empty_words() -> None:
    tokens = [b"a%d" % number for number in range(1000)] + [b"b", b""]
    vocabulary = earmark.Vocabulary(tokens, eos_token_ids=1001)
    for pattern in ("a[0-9]+", "b", "a[0-9]*7", "a[1-3].*|b"):
        matcher = earmark.Matcher(earmark.Grammar.from_regex(pattern), vocabulary)
        native = Native(INTERFACE.sampler(matcher))
        assert native.candidates(range(1002)) == sorted(allowed(matcher))
        native.free()


def test_few_forbidden_candidates_stay_and_are_impossible() -> None:
    native = make(earmark.Grammar.from_regex(r"(?s-u:[^a-cx]+)"))
    ids = list(range(257))
    want = [token for token in ids if token not in {*b"abcx", BYTE_EOS}]
    assert native.candidates(ids) == want
    # In another order they are dropped.
    ids[97], ids[100] = ids[100], ids[97]
    assert native.candidates(ids) == [token for token in ids if token in want]
    ids.reverse()
    assert native.candidates(ids) == [token for token in ids if token in want]
    native.free()


def test_masks_that_come_again() -> None:
    """In and out of two kinds of strings, whose few forbidden tokens differ."""
    grammar = earmark.Grammar.from_regex(r"""(?s-u:(?:"[^"\x00]*"[0-9]|'[^'ab]*'[0-9])+)""")
    choose = random.Random(4)
    native, matcher = make(grammar), earmark.Matcher(grammar, byte_vocabulary())
    seen = set()
    for _ in range(400):
        tokens = allowed(matcher)
        seen.add(len(tokens))
        assert native.apply() == tokens
        ids = list(range(257))
        if choose.random() < 0.1:
            choose.shuffle(ids)
            assert native.candidates(ids) == [token for token in ids if token in tokens]
            assert native.candidates(ids[:200]) == [it for it in ids[:200] if it in tokens]
        often = [token for token in b"\"'0" if token in tokens]
        token = choose.choice(often if choose.random() < 0.5 else sorted(tokens - {BYTE_EOS}))
        matcher.accept(token)
        native.accept(token)
    assert seen == {2, 3, 10, 254, 255}
    native.handle.check()
    native.free()


def test_a_refused_token_is_told_and_changes_nothing() -> None:
    native = make(YES_NO)
    native.accept(ord("y"))
    native.accept(ord("x"))
    native.accept(ord("z"))  # The first error is the one that counts.
    with pytest.raises(earmark.MatchError, match=r'"x" can.t come here.*expected .e.$'):
        native.handle.check()
    native.handle.check()
    assert native.apply() == set(b"e")
    native.accept(-1)
    with pytest.raises(earmark.MatchError, match=r"token id -1 is out of range.* ids 0 to 256"):
        native.handle.check()
    for token in (ord("e"), ord("s"), BYTE_EOS, ord("s")):
        native.accept(token)
    with pytest.raises(earmark.MatchError, match="finished"):
        native.handle.check()
    native.free()


def test_a_candidate_always_stays() -> None:
    """llama.cpp ends the process when it has none to choose from."""
    native = make(YES_NO)
    assert native.candidates([1, 2, 3]) == [1, 2, 3]
    with pytest.raises(earmark.MatchError, match=r"none of the 3 candidates .* 2 allowed tokens"):
        native.handle.check()
    wide = range(300)
    assert native.candidates(wide) == list(wide)
    with pytest.raises(earmark.MatchError, match=r"token id 299 .* the model that it was made for"):
        native.handle.check()
    # Another model's tokens, though some of them would be allowed; and not if they are cut.
    assert native.candidates(range(256)) == list(range(256))
    with pytest.raises(earmark.MatchError, match=r"256 tokens of another model.* has 257"):
        native.handle.check()
    assert native.candidates(range(1, 257)) == [ord("n"), ord("y")]
    assert native.candidates(range(200)) == [ord("n"), ord("y")]
    native.handle.check()
    assert native.candidates([]) == []
    nothing = Candidates(None, 0, -1, False)
    native.table.apply(native.pointer, pointer(nothing))
    native.handle.check()
    native.free()


def test_clones_are_independent() -> None:
    native = make(YES_NO)
    native.accept(ord("n"))
    copy = native.clone()
    copy.accept(ord("o"))
    native.accept(ord("x"))
    copy.handle.check()
    with pytest.raises(earmark.MatchError):
        native.handle.check()
    assert native.apply() == set(b"o")
    assert copy.apply() == {ord("n"), BYTE_EOS}
    native.free()
    # The table is shared, and outlives the first of them.
    again = copy.clone()
    copy.free()
    assert again.apply() == {ord("n"), BYTE_EOS}
    # A handle outlives its sampler.
    again.free()
    assert again.handle.matcher().accepted() == list(b"no")
    with pytest.raises(MemoryError, match="gave no sampler"):
        SamplerInterface(LAYOUT | {"init": cast(no_memory, c_void_p).value or 0}).sampler(
            earmark.Matcher(YES_NO, byte_vocabulary())
        )


@CFUNCTYPE(c_void_p, c_void_p, c_void_p)
def no_memory(_iface: int, _ctx: int) -> None:
    return None


def test_other_samplers_are_not_taken_for_ours() -> None:
    native = make(YES_NO)
    other = Sampler(LAYOUT["init"], 1)
    assert INTERFACE.find(ctypes.addressof(other), native.handle) is None
    assert INTERFACE.find(0, native.handle) is None
    native.free()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"free": LAYOUT["name"]}, "no room for the function free"),
        ({"apply": sizeof(Table)}, "no room for the function apply"),
        ({"clone": 3}, "no room for the function clone"),
        ({"init": 0}, "the address of llama_sampler_init is null"),
    ],
)
def test_layouts_that_do_not_fit(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SamplerInterface(LAYOUT | change)


def test_threads() -> None:
    grammar = load("json.gbnf")
    text = b'{"a": [1, 2, {"b": null}], "c": "some text"}'
    failures: list[object] = []

    def run() -> None:
        for _ in range(20):
            native = make(grammar)
            for token in text:
                if token not in native.apply():
                    failures.append(native)
                native.accept(token)
            if BYTE_EOS not in native.apply():
                failures.append(native)
            native.handle.check()
            native.free()

    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
