"""Models loaded by `llama-cpp-python` → the parts of a `Vocabulary`.

It asks llama.cpp itself for the text and the attributes of each token (`llama.h`:
`llama_vocab_get_text`, `llama_vocab_get_attr`, `llama_vocab_is_eog`), by the addresses of the
library's functions: through ctypes that alone would take longer than all the rest.
"""

from __future__ import annotations

from ctypes import c_void_p, cast
from importlib import import_module
from typing import TYPE_CHECKING, Any

from earmark._earmark import llama_vocab_table
from earmark.adapters._encoding import PLAIN, SAMPLES, check_table, continuation, dummy_prefix
from earmark.adapters._eos import choose_eos
from earmark.adapters._ggml import TokenType, decode_vocabulary
from earmark.adapters._parts import VocabularyParts, assemble
from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable

# `enum llama_token_attr`, in the order in which llama.cpp looks at them: a token may have several.
_ATTRIBUTES = (
    (1 << 0, TokenType.UNKNOWN),
    (1 << 3, TokenType.CONTROL),
    (1 << 4, TokenType.USER_DEFINED),
    (1 << 2, TokenType.NORMAL),
    (1 << 5, TokenType.BYTE),
)

# `enum llama_vocab_type` → `tokenizer.ggml.model`.
_MODELS = {1: "llama", 2: "gpt2", 3: "bert", 4: "t5", 5: "rwkv", 6: "plamo2"}

# Control tokens of Harmony (gpt-oss), which llama.cpp turns into user-defined ones to show them.
_SHOWN = frozenset({b"<|start|>", b"<|message|>", b"<|channel|>", b"<|constrain|>", b"<|end|>"})


def parts(
    llama: Any,
    *,
    width: int | None = None,
    eos_token_ids: int | Iterable[int] | None = None,
) -> VocabularyParts:
    """Read the vocabulary of a `llama_cpp.Llama`.

    Control and unknown tokens are special. End of sequence: all tokens at which llama.cpp ends a
    generation, or `eos_token_ids`.
    """
    if not hasattr(llama, "tokenize") or not hasattr(llama, "model"):
        raise TypeError(
            "from_llama_cpp() takes a llama_cpp.Llama, "
            f"not {type(llama).__module__}.{type(llama).__qualname__}"
        )
    library = import_module("llama_cpp")
    if not hasattr(library, "llama_vocab_get_text"):
        raise VocabularyError(
            "this llama-cpp-python is too old: it lacks llama_vocab_get_text; "
            "install version 0.3.7 or later"
        )
    vocab = library.llama_model_get_vocab(llama.model)
    texts, attributes, found = llama_vocab_table(
        _address(vocab),
        library.llama_vocab_n_tokens(vocab),
        {
            "text": _address(library.llama_vocab_get_text),
            "attributes": _address(library.llama_vocab_get_attr),
            "is_end": _address(library.llama_vocab_is_eog),
        },
    )
    types = _types(texts, attributes)
    vocab_type = library.llama_vocab_type(vocab)
    model = llama.metadata.get("tokenizer.ggml.model") or _MODELS.get(vocab_type, str(vocab_type))
    tokens, special = decode_vocabulary(model, texts, types)
    eos = choose_eos(eos_token_ids, found, size=len(tokens), source="this model")

    def encode(text: str) -> list[int]:
        ids: list[int] = llama.tokenize(text.encode(), add_bos=False, special=False)
        return ids

    special_ids = frozenset(special) | frozenset(found)
    prefix = dummy_prefix(encode, tokens, special_ids)
    check_table(
        tokens,
        special_ids,
        encode,
        seen=lambda text: prefix + text.encode(),
        unknown={token for token in special if types[token] == TokenType.UNKNOWN},
        # T5 changes white space and characters before it looks at the vocabulary, and llama.cpp
        # doesn't tell how.
        samples=(PLAIN,) if model == "t5" else SAMPLES,
    )
    return assemble(
        tokens,
        eos_token_ids=eos,
        special_token_ids=special_ids,
        width=width,
        encode=continuation(encode, tokens, special_ids | frozenset(eos)),
    )


def _types(texts: list[bytes], attributes: list[int]) -> list[TokenType]:
    """The type of each token; there are few different attributes."""
    known = {bits: _type(bits) for bits in set(attributes)}
    types = [known[bits] for bits in attributes]
    shown = TokenType.USER_DEFINED
    if shown in known.values():
        for token in [token for token, type_ in enumerate(types) if type_ is shown]:
            if texts[token] in _SHOWN:
                types[token] = TokenType.CONTROL
    return types


def _type(attributes: int) -> TokenType:
    for flag, type_ in _ATTRIBUTES:
        if attributes & flag:
            return type_
    return TokenType.UNUSED


def _address(pointer: Any) -> int:
    return cast(pointer, c_void_p).value or 0
