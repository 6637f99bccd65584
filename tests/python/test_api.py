"""The three classes: what each method gives, keeps and refuses."""

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import pytest

import earmark
from earmark import Grammar, Matcher, MatchError, Vocabulary, VocabularyError

TOKENS = [b"a", b"b", b"ab", b"", b"x", b"ba", b"<|call|>", b"</s>"]
A, B, AB, HOLE, X, BA, CALL, EOS = range(8)


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(TOKENS, eos_token_ids=EOS, special_token_ids=[CALL], width=40)


@pytest.fixture
def matcher(vocabulary: Vocabulary) -> Matcher:
    return Matcher(Grammar.from_regex("(ab)+|b"), vocabulary)


def allowed(matcher: Matcher) -> list[int]:
    return matcher.allowed_tokens().tolist()


def test_vocabulary_tells_what_it_was_given(vocabulary: Vocabulary) -> None:
    assert len(vocabulary) == 8
    assert vocabulary.width == 40
    assert vocabulary.eos_token_ids == (EOS,)
    assert vocabulary.special_token_ids == (CALL, EOS)
    assert [vocabulary.token_bytes(token) for token in range(8)] == TOKENS
    assert vocabulary.memory_bytes > 0
    assert vocabulary.encode is None
    assert repr(vocabulary) == "Vocabulary(8 tokens, width=40, eos_token_ids=[7], 2 special)"


def test_vocabulary_takes_any_iterables_and_numpy_integers() -> None:
    vocabulary = Vocabulary(
        iter(TOKENS), eos_token_ids={np.int64(EOS)}, special_token_ids=np.array([CALL])
    )
    assert vocabulary.special_token_ids == (CALL, EOS)
    assert vocabulary.width == len(TOKENS)


def test_vocabulary_survives_pickling(vocabulary: Vocabulary) -> None:
    again = pickle.loads(pickle.dumps(vocabulary))
    assert repr(again) == repr(vocabulary)
    assert [again.token_bytes(token) for token in range(8)] == TOKENS


def encode(text: bytes) -> list[int]:
    return list(text)


def test_pickling_keeps_encode_where_that_can_be_pickled() -> None:
    kept = Vocabulary([b"a", b"</s>"], eos_token_ids=1, encode=encode)
    assert pickle.loads(pickle.dumps(kept)).encode is encode
    dropped = Vocabulary([b"a", b"</s>"], eos_token_ids=1, encode=lambda text: list(text))
    assert pickle.loads(pickle.dumps(dropped)).encode is None


def test_copies_of_what_never_changes_are_the_object_itself(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_regex("a")
    for thing in (vocabulary, grammar):
        assert copy.copy(thing) is thing
        assert copy.deepcopy(thing) is thing


def look_up(holder: dict[str, Vocabulary], text: bytes) -> list[int]:
    return [len(holder), len(text)]


def test_a_cycle_through_encode_is_collected() -> None:
    holder: dict[str, Vocabulary] = {}
    vocabulary = Vocabulary([b"a", b"</s>"], eos_token_ids=1, encode=partial(look_up, holder))
    holder["vocabulary"] = vocabulary
    alive = weakref.ref(vocabulary)
    del vocabulary, holder
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: Grammar.from_regex("a'b"), 'Grammar.from_regex("a\'b")'),
        (
            lambda: Grammar.from_gbnf('root ::= "a"'),
            "Grammar.from_gbnf('root ::= \"a\"', root='root')",
        ),
        (
            lambda: Grammar.from_lark('s: "a"', start="s"),
            "Grammar.from_lark('s: \"a\"', start='s')",
        ),
        (lambda: Grammar.from_regex("a" * 1000), f"Grammar.from_regex('{'a' * 60}…')"),
    ],
)
def test_grammar_repr_is_how_to_make_it(make: Callable[[], Grammar], shown: str) -> None:
    assert repr(make()) == shown


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grammar.from_regex("a+"),
        lambda: Grammar.from_gbnf('other ::= "a"+', "other"),
        lambda: Grammar.from_lark('other: "a"+', "other"),
    ],
)
def test_grammar_survives_pickling(make: Callable[[], Grammar], vocabulary: Vocabulary) -> None:
    grammar = make()
    again = pickle.loads(pickle.dumps(grammar))
    assert (again.kind, again.source) == (grammar.kind, grammar.source)
    assert allowed(Matcher(again, vocabulary)) == [A]


def test_grammar_as_text_shows_its_rules() -> None:
    text = str(Grammar.from_gbnf('root ::= "a" other\nother ::= "b"'))
    assert "root ::=" in text
    assert "other ::=" in text


def test_memory_grows_with_what_is_learnt(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_regex("(ab)+|b")
    compiled = grammar.memory_bytes
    assert compiled > len(grammar.source)
    matcher = Matcher(grammar, vocabulary)
    fresh = matcher.memory_bytes
    learnt = grammar.memory_bytes
    assert learnt > compiled
    for _ in range(100):
        matcher.next_mask()
        matcher.accept(AB)
    assert fresh < matcher.memory_bytes < fresh + 100_000
    assert learnt < grammar.memory_bytes < learnt + 100_000


def test_mask_bits_are_the_allowed_tokens(matcher: Matcher) -> None:
    mask = matcher.next_mask()
    assert mask.dtype == np.int32
    assert mask.shape == (2,)
    assert mask.tolist() == [1 << A | 1 << B | 1 << AB, 0]
    assert matcher.allowed_tokens().dtype == np.int64
    assert allowed(matcher) == [A, B, AB]


def test_a_mask_does_not_change_when_the_matcher_goes_on(matcher: Matcher) -> None:
    first = matcher.next_mask()
    kept = first.copy()
    matcher.accept(A)
    assert not np.array_equal(matcher.next_mask(), kept)
    assert np.array_equal(first, kept)


def test_a_generation_from_start_to_end(matcher: Matcher) -> None:
    assert not matcher.is_accepting
    for token, after in [(AB, [A, AB, EOS]), (A, [B, BA]), (BA, [B, BA]), (B, [A, AB, EOS])]:
        matcher.accept(token)
        assert allowed(matcher) == after
    assert matcher.is_accepting
    assert not matcher.is_finished
    matcher.accept(EOS)
    assert matcher.is_finished
    assert allowed(matcher) == []
    assert matcher.accepted() == [AB, A, BA, B, EOS]


def test_accept_takes_all_integer_types(matcher: Matcher) -> None:
    for token in (AB, np.int32(AB), np.int64(AB), np.uint8(AB), np.array([AB])[0]):
        matcher.accept(token)
    assert matcher.accepted() == [AB] * 5


def test_a_refused_token_changes_nothing(matcher: Matcher) -> None:
    matcher.accept(A)
    for token in (A, X, HOLE, CALL, EOS, 39, 40, 2**31, 2**32, 2**70, -1):
        with pytest.raises(MatchError):
            matcher.accept(token)
        assert not matcher.try_accept(token)
        assert isinstance(matcher.explain(token), str)
    assert allowed(matcher) == [B, BA]
    assert matcher.accepted() == [A]


def test_try_accept_goes_on(matcher: Matcher) -> None:
    assert matcher.try_accept(A)
    assert matcher.accepted() == [A]


def test_accept_bytes_is_one_step(matcher: Matcher) -> None:
    matcher.accept_bytes(b"aba")
    assert matcher.accepted() == [b"aba"]
    assert allowed(matcher) == [B, BA]
    matcher.accept_bytes(bytearray(b"b"))
    matcher.rollback(2)
    assert matcher.accepted() == []
    with pytest.raises(MatchError):
        matcher.accept_bytes(b"abx")
    assert allowed(matcher) == [A, B, AB]


@pytest.mark.parametrize(
    ("tokens", "count"),
    [
        ([], 0),
        ([AB, A, B, EOS], 4),
        ([AB, X, AB], 1),
        ([AB, -1, AB], 1),
        ([AB, 2**40, AB], 1),
        ((AB, AB), 2),
        (np.array([AB, AB, X]), 2),
        (iter([AB]), 1),
    ],
)
def test_validate_counts_and_accepts_nothing(
    matcher: Matcher, tokens: Iterable[int], count: int
) -> None:
    assert matcher.validate(tokens) == count
    assert matcher.accepted() == []


def test_rollback_and_reset(matcher: Matcher) -> None:
    for token in (AB, AB, EOS):
        matcher.accept(token)
    matcher.rollback()
    assert not matcher.is_finished
    matcher.rollback(np.int64(1))
    assert matcher.accepted() == [AB]
    matcher.rollback(0)
    matcher.reset()
    assert matcher.accepted() == []
    assert allowed(matcher) == [A, B, AB]


@pytest.mark.parametrize(
    ("steps", "error"),
    [(2, MatchError), (2**70, MatchError), (-1, ValueError), (True, TypeError), (1.0, TypeError)],
)
def test_rollback_refuses(matcher: Matcher, steps: int, error: type[Exception]) -> None:
    matcher.accept(AB)
    with pytest.raises(error):
        matcher.rollback(steps)
    assert matcher.accepted() == [AB]


@pytest.mark.parametrize("fork", [Matcher.fork, copy.copy, copy.deepcopy])
def test_forks_go_their_own_way(matcher: Matcher, fork: Callable[[Matcher], Matcher]) -> None:
    matcher.accept(A)
    other = fork(matcher)
    other.accept(BA)
    matcher.accept(B)
    assert other.accepted() == [A, BA]
    assert matcher.accepted() == [A, B]
    assert other.grammar is matcher.grammar
    assert other.vocabulary is matcher.vocabulary


def test_a_matcher_says_why_it_is_not_pickled(matcher: Matcher) -> None:
    with pytest.raises(TypeError, match="accept those again"):
        pickle.dumps(matcher)


def test_matcher_repr_tells_its_state(matcher: Matcher) -> None:
    assert repr(matcher) == "Matcher(0 steps accepted, must go on)"
    matcher.accept(AB)
    assert repr(matcher) == "Matcher(1 steps accepted, may end here)"
    matcher.accept(EOS)
    assert repr(matcher) == "Matcher(2 steps accepted, finished)"


def test_forced_bytes_end_where_there_is_a_choice(vocabulary: Vocabulary) -> None:
    matcher = Matcher(Grammar.from_regex("abab(a|x)"), vocabulary)
    assert matcher.forced_bytes() == b"abab"
    matcher.accept_bytes(b"abab")
    assert matcher.forced_bytes() == b""


def test_expected_and_explain_are_readable(matcher: Matcher) -> None:
    assert matcher.expected()
    assert all(isinstance(name, str) for name in matcher.expected())
    with pytest.raises(MatchError) as error:
        matcher.accept(X)
    assert "x" in str(error.value)


def test_special_tokens_are_allowed_where_a_grammar_names_them(vocabulary: Vocabulary) -> None:
    matcher = Matcher(Grammar.from_gbnf('root ::= "a" <|call|> "b"'), vocabulary)
    matcher.accept(A)
    assert allowed(matcher) == [CALL]
    matcher.accept(CALL)
    assert allowed(matcher) == [B]


def test_a_token_name_that_the_vocabulary_lacks(vocabulary: Vocabulary) -> None:
    with pytest.raises(earmark.GrammarError) as error:
        Matcher(Grammar.from_gbnf('root ::= "a" <|nope|>'), vocabulary)
    assert error.value.kind == "unknown_token"
    assert "<|nope|>" in str(error.value)


def test_a_grammar_serves_many_vocabularies() -> None:
    grammar = Grammar.from_regex("ab")
    for size in range(2, 12):
        tokens = [b"a"] * size + [b"</s>"]
        matcher = Matcher(grammar, Vocabulary(tokens, eos_token_ids=size))
        assert allowed(matcher) == list(range(size))


def test_grammar_errors_say_what_where_and_what_to_do() -> None:
    with pytest.raises(earmark.GrammarError) as caught:
        Grammar.from_gbnf('root ::= "a"\nroot ::= other', "root")
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.kind in ("duplicate", "undefined")
    assert error.line == 2
    assert error.column is not None
    assert f"at line 2, column {error.column}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.kind, again.line) == (str(error), error.kind, error.line)


def test_vocabulary_errors_are_value_errors() -> None:
    assert issubclass(VocabularyError, ValueError)
    assert issubclass(earmark.LimitError, earmark.GrammarError)
    assert issubclass(MatchError, RuntimeError)


def test_lark_grammars_import_from_the_installed_lark_package() -> None:
    grammar = Grammar.from_lark("start: INT\n%import common.INT")
    matcher = Matcher(grammar, Vocabulary([b"7", b"x", b"</s>"], eos_token_ids=2))
    assert allowed(matcher) == [0]


def test_threads_share_grammars_vocabularies_and_matchers() -> None:
    vocabulary = Vocabulary(TOKENS, eos_token_ids=EOS)
    grammar = Grammar.from_regex("(ab)*")
    shared = Matcher(grammar, vocabulary)
    failures = []

    def work() -> None:
        try:
            for _ in range(200):
                matcher = Matcher(grammar, vocabulary)
                for token in (AB, A, B):
                    matcher.accept(token)
                    matcher.next_mask()
                shared.accept(AB)
                shared.next_mask()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert shared.accepted() == [AB] * 800
