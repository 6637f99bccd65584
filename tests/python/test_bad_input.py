"""Bad and extreme input: a typed error or a right answer, in about a second."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from earmark import (
    Grammar,
    GrammarError,
    LimitError,
    Matcher,
    MatchError,
    Vocabulary,
    VocabularyError,
)

#: For a grammar's compilation and its first mask, in seconds of processor time: a second, and as
#: much again for slow and busy machines.
SECONDS = 2.0

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos_token_ids=256)


@pytest.fixture
def within_a_second() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < SECONDS


def accepts(grammar: Grammar, text: bytes) -> bool:
    matcher = Matcher(grammar, BYTES)
    matcher.next_mask()
    try:
        matcher.accept_bytes(text)
    except MatchError:
        return False
    matcher.next_mask()
    return matcher.is_accepting


REGEX, GBNF, LARK = Grammar.from_regex, Grammar.from_gbnf, Grammar.from_lark


@pytest.mark.parametrize(
    ("build", "text", "kind"),
    [
        # Regular expressions.
        (REGEX, "a(", "syntax"),
        (REGEX, "a)", "syntax"),
        (REGEX, "[a", "syntax"),
        (REGEX, "[z-a]", "syntax"),
        (REGEX, "*a", "syntax"),
        (REGEX, "a{2,1}", "syntax"),
        (REGEX, "\\", "syntax"),
        (REGEX, r"\p{Nope}", "syntax"),
        (REGEX, "(?=a)b", "unsupported"),
        (REGEX, "(?<!a)b", "unsupported"),
        (REGEX, r"(a)\1", "unsupported"),
        (REGEX, r"a\b", "unsupported"),
        (REGEX, "[^\\x00-\\x{10FFFF}]", "empty"),
        # GBNF.
        (GBNF, "", "syntax"),
        (GBNF, "root", "syntax"),
        (GBNF, "root ::=", "syntax"),
        (GBNF, 'root ::= "a', "syntax"),
        (GBNF, "root ::= [a", "syntax"),
        (GBNF, 'root ::= ("a"', "syntax"),
        (GBNF, 'root ::= "a")', "syntax"),
        (GBNF, "root ::= | *", "syntax"),
        (GBNF, 'root ::= "a"{2,1}', "syntax"),
        (GBNF, 'root ::= "\\q"', "syntax"),
        (GBNF, "root ::= other", "undefined"),
        (GBNF, 'other ::= "a"', "undefined"),
        (GBNF, 'root ::= "a"\nroot ::= "b"', "duplicate"),
        (GBNF, "root ::= root", "empty"),
        (GBNF, 'root ::= "a" root', "empty"),
        (GBNF, "root ::= <[99999999999]>", "limit"),
        # Lark.
        (LARK, "", "empty"),
        (LARK, "start", "syntax"),
        (LARK, 'start: "a', "syntax"),
        (LARK, 'start: ("a"', "syntax"),
        (LARK, "start: /a(/", "syntax"),
        (LARK, 'start: "a"~2..1', "syntax"),
        (LARK, "start: other", "undefined"),
        (LARK, "start: OTHER", "undefined"),
        (LARK, 'start: "a"\nstart: "b"', "duplicate"),
        (LARK, "start: start", "empty"),
        (LARK, "%import common.NOPE\nstart: NOPE", "undefined"),
        (LARK, "%import nothing.NOPE\nstart: NOPE", "undefined"),
        (LARK, "start: A\nA: B\nB: A", None),
        (LARK, "%nope\nstart: A", "syntax"),
    ],
)
@pytest.mark.usefixtures("within_a_second")
def test_malformed_grammars(build: Callable[[str], Grammar], text: str, kind: str | None) -> None:
    with pytest.raises(GrammarError) as caught:
        build(text)
    assert kind in (None, caught.value.kind), str(caught.value)
    message = str(caught.value).splitlines()[0]
    assert message[0] == message[0].lower()
    assert not message.endswith(".")


@pytest.mark.parametrize("build", [REGEX, GBNF, LARK])
@pytest.mark.parametrize("text", [None, b"a", 1, ["a"], object()])
def test_a_grammar_is_a_str(build: Callable[[Any], Grammar], text: object) -> None:
    with pytest.raises(TypeError, match="is a str, not"):
        build(text)


@pytest.mark.parametrize("build", [GBNF, LARK])
def test_the_start_rule_is_a_str(build: Callable[..., Grammar]) -> None:
    with pytest.raises(TypeError, match="is a str, not int"):
        build("", 1)


@pytest.mark.parametrize(
    ("build", "text"),
    [(REGEX, "a\ud800"), (GBNF, 'root ::= "\udcff"'), (LARK, 'start: "\udfff"')],
)
def test_lone_surrogates_are_no_text(build: Callable[[str], Grammar], text: str) -> None:
    with pytest.raises(GrammarError, match="lone surrogate"):
        build(text)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (REGEX, "a\0b"),
        (REGEX, r"a\x00b"),
        (GBNF, 'root ::= "a\\x00b"'),
        (LARK, r'start: "a\x00b"'),
        (LARK, r"start: /a\x00b/"),
    ],
)
def test_nul_is_a_character(build: Callable[[str], Grammar], text: str) -> None:
    grammar = build(text)
    assert accepts(grammar, b"a\0b")
    assert not accepts(grammar, b"ab")


def nested(depth: int) -> str:
    return "(" * depth + '"a"' + ")" * depth


def chain(rules: int, first: str, arrow: str) -> str:
    lines = [f"{first} {arrow} r0"]
    lines += [f'r{i} {arrow} "a" r{i + 1}' for i in range(rules)]
    return "\n".join([*lines, f'r{rules} {arrow} "b"'])


def fan(rules: int, first: str, arrow: str) -> str:
    lines = [f"{first} {arrow} " + " | ".join(f"r{i}" for i in range(rules))]
    return "\n".join(lines + [f'r{i} {arrow} "{i};"' for i in range(rules)])


@pytest.mark.parametrize(
    ("build", "text", "good", "bad"),
    [
        (REGEX, "(((a*)*)*)*", b"aaaa", b"aab"),
        (REGEX, "(((a|b)+)?)*c", b"abbac", b"ab"),
        (REGEX, "(a?){500}a{500}", b"a" * 700, b"a" * 499),
        (REGEX, "[a-z]{0,1000000}x", b"abcx", b"abc"),
        (REGEX, "(?:.|\\n){5,100000}", b"12345", b"1234"),
        (REGEX, r"[\w\d\s\p{L}\p{N}]+", "añ字".encode(), b"-"),
        (REGEX, r"[^\x00-\x1f]*", "añ字".encode(), b"\x01"),
        (
            REGEX,
            "[" + "".join(map(chr, range(0x4E00, 0x9000, 2))) + "]",
            "一".encode(),
            "丁".encode(),
        ),
        (REGEX, "(" * 10_000 + "a" + ")" * 10_000, b"a", b"b"),
        (REGEX, "(a" * 5_000 + ")?" * 5_000, b"aaa", b"b"),
        (REGEX, "|".join(f"word{i}" for i in range(20_000)), b"word19999", b"word20000"),
        (REGEX, "", b"", b"a"),
        (GBNF, f"root ::= {nested(10_000)}", b"a", b"b"),
        (GBNF, f"root ::= {nested(60_000)}", b"a", b"b"),
        (GBNF, "root ::= [" + "a-z" * 30_000 + "]", b"q", b"A"),
        (GBNF, 'root ::= ("a"{0,1000}){0,1000} "b"', b"aab", b"aa"),
        (GBNF, chain(20_000, "root", "::="), b"a" * 20_000 + b"b", b"a" * 100),
        (GBNF, fan(20_000, "root", "::="), b"19999;", b"20000;"),
        (GBNF, 'root ::= "("* root ")"* | "x"', b"((x))", b"(("),
        (GBNF, 'root ::= root root | "a" | ""', b"a" * 100, b"b"),
        (GBNF, 'root ::= x*\nx ::= y*\ny ::= ("a"*)*', b"aaa", b"b"),
        (LARK, f"start: {nested(10_000)}", b"a", b"b"),
        (LARK, "start: /" + "(" * 10_000 + "a" + ")" * 10_000 + "/", b"a", b"b"),
        (LARK, chain(20_000, "start", ":"), b"a" * 20_000 + b"b", b"a" * 100),
        (LARK, fan(20_000, "start", ":"), b"19999;", b"20000;"),
        (LARK, 'start: A\nA: ("a"*)*', b"aaa", b"b"),
    ],
    ids=lambda value: (value if isinstance(value, str) else "")[:30],
)
def test_extreme_grammars_are_right_or_refused(
    build: Callable[[str], Grammar], text: str, good: bytes, bad: bytes
) -> None:
    start = time.process_time()
    grammar = None
    with contextlib.suppress(LimitError):
        grammar = build(text)
        Matcher(grammar, BYTES).next_mask()
    assert time.process_time() - start < SECONDS
    if grammar is not None:
        assert accepts(grammar, good)
        assert not accepts(grammar, bad)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (REGEX, "a{1000000}"),
        (REGEX, "(a{1000}){1000}"),
        (REGEX, "(((a{30}){30}){30}){30}"),
        (REGEX, "a" * 1_000_000),
        (GBNF, 'root ::= "a"{1000000}'),
        (GBNF, 'root ::= "' + "a" * 1_000_000 + '"'),
        (LARK, 'start: "a"~1000000'),
        (LARK, 'start: "' + "a" * 1_000_000 + '"'),
    ],
    ids=lambda value: (value if isinstance(value, str) else "")[:30],
)
def test_a_million_times_the_same_letter(build: Callable[[str], Grammar], text: str) -> None:
    start = time.process_time()
    matcher = Matcher(build(text), BYTES)
    assert matcher.allowed_tokens().tolist() == [ord("a")]
    matcher.accept_bytes(b"a" * 10_000)
    assert matcher.allowed_tokens().tolist() == [ord("a")]
    # A literal of a megabyte takes as long as the slowest machines are allowed, and a bit more.
    assert time.process_time() - start < 2 * SECONDS


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (GBNF, chain(100_000, "root", "::=")),
        (GBNF, fan(100_000, "root", "::=")),
        (LARK, chain(100_000, "start", ":")),
        (LARK, fan(100_000, "start", ":")),
        (GBNF, "root ::= " + "(" * 500_000),
        (LARK, "start: " + "[" * 500_000),
        (REGEX, "(" * 1_000_000),
        (REGEX, "[" * 1_000_000),
        (REGEX, "(?:a{1000000}){1000000}"),
        (REGEX, "a{4294967295}"),
        (REGEX, "a{99999999999999999999}"),
        (REGEX, r"\p{L}" * 50_000),
        (REGEX, r"(?i)" + "ſK" * 20_000),
        (GBNF, 'root ::= "a"{99999999999999999999}'),
        (GBNF, "# comment\n" * 100_000 + 'root ::= "a"'),
        (LARK, "// comment\n" * 100_000 + 'start: "a"'),
        (LARK, 'start: "a"' + ' | "a"' * 150_000),
        (LARK, "start: " + "a b c? " * 100_000 + '\na: "a"\nb: "b"\nc: "c"'),
    ],
    ids=lambda value: (value if isinstance(value, str) else "")[:30],
)
@pytest.mark.usefixtures("within_a_second")
def test_large_grammars_are_taken_or_refused_in_time(
    build: Callable[[str], Grammar], text: str
) -> None:
    message = ""
    try:
        Matcher(build(text), BYTES).next_mask()
    except GrammarError as error:
        message = str(error)
    assert len(message) < 2000


@pytest.mark.parametrize(
    ("tokens", "options", "error", "message"),
    [
        ([], {"eos_token_ids": ()}, VocabularyError, None),
        ([b"a"], {"eos_token_ids": ()}, VocabularyError, None),
        ([b"a"], {"eos_token_ids": 1}, VocabularyError, "1"),
        ([b"a"], {"eos_token_ids": -1}, VocabularyError, "-1"),
        ([b"a"], {"eos_token_ids": 2**40}, VocabularyError, str(2**40)),
        ([b"a"], {"eos_token_ids": [0, 7]}, VocabularyError, "7"),
        ([b"a"], {"eos_token_ids": True}, TypeError, "bool"),
        ([b"a"], {"eos_token_ids": 0.0}, TypeError, "float"),
        ([b"a"], {"eos_token_ids": None}, TypeError, None),
        ([b"a"], {"eos_token_ids": "0"}, TypeError, "str"),
        ([b"a"], {"eos_token_ids": [[0]]}, TypeError, "list"),
        ([b"a", b"b"], {"eos_token_ids": 1, "special_token_ids": [2]}, VocabularyError, "2"),
        ([b"a", b"b"], {"eos_token_ids": 1, "special_token_ids": [-2]}, VocabularyError, "-2"),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": 1}, VocabularyError, "1"),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": -5}, VocabularyError, "-5"),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": 2**40}, VocabularyError, str(2**40)),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": 2**70}, VocabularyError, str(2**70)),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": 2.0}, TypeError, "float"),
        ([b"a", b"b"], {"eos_token_ids": 1, "width": True}, TypeError, "bool"),
        ([b"a", b"b"], {"eos_token_ids": 1, "encode": 3}, TypeError, "encode"),
        (["a", "b"], {"eos_token_ids": 1}, TypeError, r"tokens\[0\] is str, not bytes"),
        ([b"a", None], {"eos_token_ids": 1}, TypeError, r"tokens\[1\] is NoneType"),
        (b"ab", {"eos_token_ids": 1}, TypeError, "not bytes"),
        (3, {"eos_token_ids": 1}, TypeError, None),
    ],
)
def test_bad_vocabularies(
    tokens: Any, options: dict[str, Any], error: type[Exception], message: str | None
) -> None:
    with pytest.raises(error, match=message):
        Vocabulary(tokens, **options)


def test_options_of_vocabularies_have_names() -> None:
    with pytest.raises(TypeError):
        Vocabulary([b"a"], 0)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Vocabulary([b"a"])  # type: ignore[call-arg]


@pytest.mark.parametrize("token", [-1, 257, 2**40])
def test_token_bytes_of_no_token(token: int) -> None:
    with pytest.raises(IndexError, match=str(token)):
        BYTES.token_bytes(token)


@pytest.mark.parametrize("token", [True, 1.0, "a", None, b"a", np.float32(1), np.array([1]), [1]])
def test_token_ids_are_integers(token: Any) -> None:
    matcher = Matcher(REGEX("[a-z]+"), BYTES)
    for call in (matcher.accept, matcher.try_accept, matcher.explain, BYTES.token_bytes):
        with pytest.raises(TypeError, match="a token id is an int, not"):
            call(token)
    with pytest.raises(TypeError):
        matcher.validate([97, token])


@pytest.mark.parametrize("text", ["a", None, 1, [97]])
def test_accept_bytes_takes_bytes(text: Any) -> None:
    with pytest.raises(TypeError, match="takes bytes, not"):
        Matcher(REGEX("a"), BYTES).accept_bytes(text)


@pytest.mark.parametrize(
    ("grammar", "vocabulary"), [(None, BYTES), (BYTES, BYTES), (REGEX("a"), REGEX("a"))]
)
def test_matchers_are_made_of_grammar_and_vocabulary(grammar: Any, vocabulary: Any) -> None:
    with pytest.raises(TypeError):
        Matcher(grammar, vocabulary)


def test_a_vocabulary_that_can_not_write_the_grammar() -> None:
    matcher = Matcher(REGEX("z"), Vocabulary([b"a", b"</s>"], eos_token_ids=1))
    assert matcher.allowed_tokens().tolist() == []
    matcher = Matcher(REGEX("z?"), Vocabulary([b"a", b"</s>"], eos_token_ids=1))
    assert matcher.allowed_tokens().tolist() == [1]


def test_masks_of_another_vocabulary_do_not_fit() -> None:
    small = Vocabulary([b"a", b"</s>"], eos_token_ids=1)
    out = np.zeros(9, np.int32)
    Matcher(REGEX("a"), BYTES).fill_mask(out)
    with pytest.raises(ValueError, match="shape"):
        Matcher(REGEX("a"), small).fill_mask(out)
