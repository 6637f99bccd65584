"""What the Python surface promises, whatever the grammar."""

from __future__ import annotations

import threading
from random import Random

import numpy as np
import pytest

import earmark
import shared

GRAMMARS = [path.name for path in sorted(shared.GRAMMARS.iterdir()) if path.is_file()]
TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(b'{"', b'":', b'", "', b"true", b"  ", b"1.", b"+=", b"ab", b"end", b"stop", b"nd."),
    *(b"int ", b"x = ", b");\n", b"e4", b"1. ", b"Nf", b"- [", b"# ", b"()", b"[[", b"])"),
    *(b"\xe3\x81", b"\xe3\x81\x82\xe3", b"\x82\x8b", b"\xe6\x97\xa5", b". ", b" (", b"The"),
    *(b"ab", b"", b"<|end|>", b"</s>"),
]
SPECIAL = len(TOKENS) - 2
EOS = len(TOKENS) - 1
WIDTH = len(TOKENS) + 37


def small_vocabulary() -> earmark.Vocabulary:
    return earmark.Vocabulary(TOKENS, eos_token_ids=EOS, special_token_ids=[SPECIAL], width=WIDTH)


@pytest.fixture(params=GRAMMARS)
def matcher(request: pytest.FixtureRequest) -> earmark.Matcher:
    return earmark.Matcher(shared.load(request.param), small_vocabulary())


def walk(matcher: earmark.Matcher, seed: int, steps: int) -> list[tuple[int, bytes]]:
    """Random tokens, short of the end; each with the mask it was chosen from."""
    random = Random(seed)
    taken = []
    for _ in range(steps):
        mask = matcher.next_mask()
        ids = sorted(shared.bits(mask) - {EOS})
        if not ids:
            break
        token = random.choice(ids)
        matcher.accept(token)
        taken.append((token, mask.tobytes()))
    return taken


def test_a_bit_is_an_acceptance(matcher: earmark.Matcher) -> None:
    for seed in range(3):
        matcher.reset()
        walk(matcher, seed, 6)
        allowed = shared.allowed(matcher)
        assert [int(token) for token in matcher.allowed_tokens()] == sorted(allowed)
        for token in range(WIDTH):
            fork = matcher.fork()
            assert fork.try_accept(token) == (token in allowed)
            if token not in allowed:
                assert shared.allowed(fork) == allowed
                assert isinstance(fork.explain(token), str)


def test_a_refused_call_changes_nothing(matcher: earmark.Matcher) -> None:
    walk(matcher, 5, 5)
    before = matcher.next_mask()
    refused = sorted(set(range(WIDTH)) - shared.bits(before))
    for token in [*refused[::20], WIDTH, WIDTH + 100]:
        with pytest.raises(earmark.MatchError):
            matcher.accept(token)
        assert not matcher.try_accept(token)
    with pytest.raises(earmark.MatchError):
        matcher.accept_bytes(b"\xff")
    with pytest.raises(earmark.MatchError):
        matcher.rollback(100)
    assert np.array_equal(matcher.next_mask(), before)


def test_accept_and_rollback_undo_each_other(matcher: earmark.Matcher) -> None:
    taken = walk(matcher, 11, 10)
    for back in range(len(taken), 0, -1):
        matcher.rollback(1)
        assert matcher.next_mask().tobytes() == taken[back - 1][1]
    for token, mask in taken:
        assert matcher.next_mask().tobytes() == mask
        matcher.accept(token)
    matcher.rollback(len(taken))
    if taken:
        assert matcher.next_mask().tobytes() == taken[0][1]


def test_forks_are_independent(matcher: earmark.Matcher) -> None:
    walk(matcher, 1, 4)
    before = matcher.next_mask()
    fork = matcher.fork()
    walk(fork, 2, 6)
    assert np.array_equal(matcher.next_mask(), before)
    other = matcher.fork()
    matcher.reset()
    assert np.array_equal(other.next_mask(), before)


def test_validate_counts_and_changes_nothing(matcher: earmark.Matcher) -> None:
    random = Random(9)
    for seed in range(5):
        matcher.reset()
        walk(matcher, seed, 3)
        before = matcher.next_mask()
        draft = [token for token, _ in walk(matcher.fork(), seed + 1, 5)]
        draft.append(random.randrange(WIDTH))
        fork = matcher.fork()
        expected = 0
        for token in draft:
            if not fork.try_accept(token):
                break
            expected += 1
        assert matcher.validate(draft) == expected
        assert matcher.validate([]) == 0
        assert np.array_equal(matcher.next_mask(), before)


def test_forced_bytes_and_tokens_are_accepted(matcher: earmark.Matcher) -> None:
    for seed in range(100 if shared.SLOW else 4):
        matcher.reset()
        walk(matcher, seed, 5)
        forced = matcher.forced_bytes()
        tokens = matcher.forced_tokens()
        assert forced.startswith(b"".join(TOKENS[token] for token in tokens))
        fork = matcher.fork()
        for byte in forced:
            singles = {token for token in shared.allowed(fork) if len(TOKENS[token]) == 1}
            assert {TOKENS[token][0] for token in singles} == {byte}
            assert not fork.is_accepting
            fork.accept_bytes(bytes([byte]))
        assert matcher.validate(tokens) == len(tokens)
        assert all(isinstance(text, str) for text in matcher.expected())


def test_the_end(matcher: earmark.Matcher) -> None:
    for seed in range(500 if shared.SLOW else 20):
        matcher.reset()
        walk(matcher, seed, 12)
        assert matcher.is_accepting == (EOS in shared.allowed(matcher))
        if not matcher.is_accepting:
            continue
        before = matcher.next_mask()
        matcher.accept(EOS)
        assert matcher.is_finished
        assert not shared.allowed(matcher)
        with pytest.raises(earmark.MatchError, match="finished"):
            matcher.accept(EOS)
        matcher.rollback(1)
        assert not matcher.is_finished
        assert np.array_equal(matcher.next_mask(), before)


def test_masks_of_a_batch() -> None:
    vocabulary = small_vocabulary()
    matchers = [earmark.Matcher(shared.load(name), vocabulary) for name in GRAMMARS]
    masks = earmark.allocate_masks(len(matchers) + 1, vocabulary)
    assert masks.dtype == np.int32
    assert masks.shape == (len(matchers) + 1, (WIDTH + 31) // 32)
    last = masks[-1].copy()
    for row, one in enumerate(matchers):
        one.fill_mask(masks, row)
    for row, one in enumerate(matchers):
        assert np.array_equal(masks[row], one.next_mask())
    assert np.array_equal(masks[-1], last)


def test_masks_are_applied_in_place() -> None:
    vocabulary = small_vocabulary()
    matcher = earmark.Matcher(shared.load("json.gbnf"), vocabulary)
    logits = np.random.default_rng(0).normal(size=(2, WIDTH)).astype(np.float32)
    original = logits.copy()
    masks = earmark.allocate_masks(2, vocabulary)
    matcher.fill_mask(masks, 0)
    matcher.accept_bytes(b"[")
    matcher.fill_mask(masks, 1)
    earmark.apply_mask(logits, masks)
    for row in range(2):
        kept = shared.bits(masks[row])
        for token in range(WIDTH):
            expected = original[row, token] if token in kept else -np.inf
            assert logits[row, token] == expected


def test_threads_share_grammar_and_vocabulary() -> None:
    vocabulary = small_vocabulary()
    grammars = [shared.load(name) for name in GRAMMARS]
    alone = [
        [
            walk(earmark.Matcher(shared.load(name), small_vocabulary()), seed, 25)
            for name in GRAMMARS
        ]
        for seed in range(8)
    ]
    found: list[list[list[tuple[int, bytes]]]] = [[] for _ in range(8)]
    problems: list[BaseException] = []
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        try:
            barrier.wait()
            for grammar in grammars:
                found[seed].append(walk(earmark.Matcher(grammar, vocabulary), seed, 25))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert found == alone


def test_grammar_errors_say_where_and_what() -> None:
    with pytest.raises(earmark.GrammarError) as caught:
        earmark.Grammar.from_gbnf('root ::= "a"\n  missing')
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.line, error.column) == (2, 3)
    assert "missing" in str(error)
    for text in [
        "",
        "root ::= (",
        "root ::= \x00",
        "::=",
        "root",
        'root ::= "\\',
        "root ::= [z-a]",
    ]:
        with pytest.raises(earmark.GrammarError):
            earmark.Grammar.from_gbnf(text)
    for text in ["(", "a{2,1}", "[", "\\", "(?=a)", "*", "a**{", "(?P<n", "\\xZ"]:
        with pytest.raises(earmark.GrammarError):
            earmark.Grammar.from_regex(text)
    for text in ["", "start: (", "start: A", "start: \x00", "x: /(/", "start: /[/", "%import"]:
        with pytest.raises(earmark.GrammarError):
            earmark.Grammar.from_lark(text)


def test_bad_vocabularies_are_refused() -> None:
    for options in (
        {"eos_token_ids": 5},
        {"eos_token_ids": 1, "width": 1},
        {"eos_token_ids": 1, "special_token_ids": [7]},
    ):
        with pytest.raises(earmark.VocabularyError):
            earmark.Vocabulary([b"a", b""], **options)


def test_deep_nesting_is_refused_or_right() -> None:
    depth = 60_000
    for make, text in (
        (earmark.Grammar.from_gbnf, "root ::= " + "(" * depth + '"a"' + ")" * depth),
        (earmark.Grammar.from_lark, "start: " + "(" * depth + '"a"' + ")" * depth),
        (earmark.Grammar.from_regex, "(" * depth + "a" + ")" * depth),
    ):
        try:
            grammar = make(text)
        except earmark.GrammarError:
            continue
        assert shared.is_text(grammar, b"a")
        assert not shared.is_text(grammar, b"b")


def test_deep_texts_are_read() -> None:
    depth = 20_000
    text = b"[" * depth + b"]" * depth
    matcher = earmark.Matcher(shared.load("json.gbnf"), shared.byte_vocabulary())
    matcher.accept_bytes(text)
    assert matcher.is_accepting
    matcher.rollback(1)
    assert not matcher.is_accepting


def test_the_grammar_may_be_gone() -> None:
    def make() -> earmark.Matcher:
        return earmark.Matcher(earmark.Grammar.from_regex("ab*"), small_vocabulary())

    matcher = make()
    matcher.accept_bytes(b"abb")
    assert matcher.is_accepting
