"""Forced tokens: what the model's tokenizer would write there, whatever text follows."""

import gzip
import random
import re
from pathlib import Path

import pytest

from earmark import Grammar, Matcher, Vocabulary
from earmark.cli.default_vocabulary import default_vocabulary

TOKENIZERS = Path(__file__).parents[3] / "shared" / "tokenizers"

WORDS = [b"a", b"b", b"c", b"ab", b"abc", b"bc", b"</s>"]
A, B, C, AB, ABC, BC, EOS = range(7)


def encode(text: bytes) -> list[int]:
    """The longest token first."""
    ids = []
    while text:
        token = max((t for t in WORDS[:EOS] if text.startswith(t)), key=len)
        ids.append(WORDS.index(token))
        text = text[len(token) :]
    return ids


VOCABULARY = Vocabulary(WORDS, eos_token_ids=EOS, encode=encode)


@pytest.mark.parametrize(
    ("pattern", "accepted", "forced"),
    [
        ("abc", [], [ABC]),  # Nothing can follow.
        ("abc[abc]*", [], [ABC]),  # No token goes on past it.
        ("c(a|b)", [], [C]),
        ("ab(a|c)", [], []),  # `ab` or `abc`.
        ("ca(a|b)", [], [C]),  # `a`, `ab` or `abc`.
        ("abcabc", [ABC], [ABC]),
        ("abcabc", [AB], []),  # Not what the tokenizer would have written so far, ...
        ("abcabc", [A], []),  # ... so nothing is known about what it would write next.
        ("[ab]c", [], []),  # A choice at once.
    ],
)
def test_only_what_no_later_text_changes(
    pattern: str, accepted: list[int], forced: list[int]
) -> None:
    matcher = Matcher(Grammar.from_regex(pattern), VOCABULARY)
    for token in accepted:
        matcher.accept(token)
    assert matcher.forced_tokens() == forced


def test_nothing_is_known_without_an_encoder_or_tokens() -> None:
    grammar = Grammar.from_regex("abcc(a|b)")
    assert Matcher(grammar, Vocabulary(WORDS, eos_token_ids=EOS)).forced_tokens() == []
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.forced_tokens() == [ABC, C]
    matcher.accept_bytes(b"a")
    assert matcher.forced_tokens() == []


def test_an_encoder_that_gives_up() -> None:
    vocabulary = Vocabulary(WORDS, eos_token_ids=EOS, encode=lambda _: None)
    assert Matcher(Grammar.from_regex("abc"), vocabulary).forced_tokens() == []


def test_special_tokens_cut_the_text() -> None:
    tokens = [*WORDS, b"<|sep|>"]
    vocabulary = Vocabulary(tokens, eos_token_ids=EOS, special_token_ids=[7], encode=encode)
    matcher = Matcher(Grammar.from_gbnf('root ::= "ab" <|sep|> "cab"'), vocabulary)
    for token in (A, B, 7):
        matcher.accept(token)
    assert matcher.forced_tokens() == [C, AB]


def check_on_texts(vocabulary: Vocabulary, texts: list[str], seed: int) -> int:
    """Cuts texts into what came, what is forced, and what may follow; counts forced tokens."""
    encode = vocabulary.encode
    assert encode is not None
    chance = random.Random(seed)
    count = 0
    for text in texts:
        raw = text.encode()
        cut = chance.randrange(len(raw))
        grammar = Grammar.from_regex(
            "(?s-u:" + "".join(rf"\x{byte:02x}" for byte in raw[:cut]) + ".*)"
        )
        matcher = Matcher(grammar, vocabulary)
        forced = matcher.forced_tokens()
        count += len(forced)
        for follow in (raw[cut:], b"", b"s", b" ", b"\n", b"1", b'"', b"'ll", " ü😀".encode()):
            whole = encode(raw[:cut] + follow)
            if whole is not None:
                assert list(whole)[: len(forced)] == forced, (raw[:cut], follow)
    return count


TEXTS = [
    '{"name": "Ada Lovelace", "age": 36, "tags": ["admin", "editor"]}',
    "def main(arguments: list[str]) -> int:\n    return 0  # done\n\n\n",
    "It's what they'll say: 'naïve' cafés cost 1,234,567.89 €!",
    "    indented\n\t\ttabs   and   spaces   \r\n  end  ",
    "日本語テキスト 한국어 中文。😀👍🏽 mixed Ünïcödé",
    '<div class="a"><p>Hello, World!</p></div>\n<!-- comment -->',
]


def test_the_built_in_vocabulary() -> None:
    assert check_on_texts(default_vocabulary(), TEXTS * 10, seed=1) > 100


@pytest.mark.parametrize("name", ["gpt2", "llama3", "gemma3"])
def test_real_tokenizers(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = TOKENIZERS / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    text = gzip.decompress(path.read_bytes()).decode()
    tokenizer = tokenizers.Tokenizer.from_str(text)
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    assert check_on_texts(vocabulary, TEXTS * 10, seed=2) > 100


def test_forced_tokens_lead_through_a_schema() -> None:
    vocabulary = default_vocabulary()
    grammar = Grammar.from_regex(re.escape('{"name": "') + "[a-z]+" + re.escape('", "age": 3}'))
    matcher = Matcher(grammar, vocabulary)
    forced = matcher.forced_tokens()
    assert b"".join(map(vocabulary.token_bytes, forced)).startswith(b'{"name')
    for token in forced:
        matcher.accept(token)
