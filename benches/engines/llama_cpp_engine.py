"""llama.cpp's own grammar sampler, through llama-cpp-python and its converter of JSON Schemas.

It has no masks: where a model's logits are, the sampler writes minus infinity at each token that
is not allowed. That is what is timed as a mask, over all tokens; the logits are put back before,
which is not.
"""

from __future__ import annotations

import ctypes
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gguf
import llama_cpp
import numpy as np
from llama_cpp.llama_grammar import json_schema_to_gbnf

from engines import RefusedError

if TYPE_CHECKING:
    from sources import Source

CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def letters() -> list[str]:
    """The character that stands for each byte in byte-level BPE, as GPT-2's encoder has it."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in shown]
    return [chr(byte if byte in shown else 256 + others.index(byte)) for byte in range(256)]


def write(path: Path, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
    """The vocabulary as a GGUF file without a model."""
    letter = letters()
    kept = {*eos, *special}
    texts = [
        token.decode(errors="replace") if at in kept else "".join(letter[byte] for byte in token)
        for at, token in enumerate(tokens)
    ]
    kinds = [gguf.TokenType.NORMAL] * len(tokens)
    for at in kept:
        kinds[at] = gguf.TokenType.CONTROL
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    # It must have some; nothing is encoded here.
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(eos[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


class Sampler:
    """A grammar sampler that is freed with its owner."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        llama_cpp.llama_sampler_free(self.pointer)


class LlamaCpp:
    version = llama_cpp.__version__

    def __init__(self, tokens: list[bytes], eos: list[int], special: list[int]) -> None:
        # What it prints about files and grammars.
        self._quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self._quiet, ctypes.c_void_p(0))
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vocabulary.gguf"
            write(path, tokens, eos, special)
            model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        if not model:
            raise RuntimeError("llama.cpp does not take the vocabulary")
        self._vocabulary = llama_cpp.llama_model_get_vocab(model)
        for at in range(0, len(tokens), 997):
            buffer = ctypes.create_string_buffer(512)
            size = llama_cpp.llama_token_to_piece(self._vocabulary, at, buffer, 512, 0, True)
            if at not in {*eos, *special} and buffer.raw[: max(size, 0)] != tokens[at]:
                raise RuntimeError(f"llama.cpp has other bytes for token {at}")
        self._fresh = np.zeros(len(tokens), dtype=CANDIDATE)
        self._fresh["id"] = np.arange(len(tokens))
        self._candidates = self._fresh.copy()
        data = self._candidates.ctypes.data_as(ctypes.POINTER(llama_cpp.llama_token_data))
        self._array = llama_cpp.llama_token_data_array(data, len(tokens), -1, False)

    def prepare(self, source: Source) -> str:
        return source.text

    def compile(self, text: str, dialect: str) -> Any:
        if dialect != "gbnf":
            raise RefusedError("it takes GBNF only")
        pointer = llama_cpp.llama_sampler_init_grammar(self._vocabulary, text.encode(), b"root")
        if not pointer:
            raise RefusedError("llama.cpp does not take the grammar")
        return Sampler(pointer)

    def compile_schema(self, schema: Any) -> Any:
        try:
            text = json_schema_to_gbnf(json.dumps(schema))
        except Exception as error:
            raise RefusedError(f"{type(error).__name__}: {error}".partition("\n")[0]) from error
        return self.compile(text, "gbnf")

    def matcher(self, grammar: Any) -> Any:
        return Sampler(llama_cpp.llama_sampler_clone(grammar.pointer))

    def ready_call(self, matcher: Any) -> Any:  # noqa: ARG002
        return lambda: np.copyto(self._candidates, self._fresh)

    def mask_call(self, matcher: Any, out: Any) -> Any:  # noqa: ARG002
        return llama_cpp.llama_sampler_apply, (matcher.pointer, ctypes.byref(self._array))

    def accept_call(self, matcher: Any) -> Any:
        logits, accept_token = self._candidates["logit"], llama_cpp.llama_sampler_accept

        def accept(token: int) -> bool:
            # It ends the process where a token is accepted that is not allowed.
            if logits[token] != 0:
                return False
            accept_token(matcher.pointer, token)
            return True

        return accept

    def reason(self, matcher: Any) -> str:  # noqa: ARG002
        return ""

    def grammar_bytes(self, grammar: Any) -> int | None:  # noqa: ARG002
        return None


ENGINES = {"llama.cpp": LlamaCpp}
