"""The installed llama-cpp-python: found, and old or new enough."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

NEEDED = (
    "earmark.llama_cpp needs llama-cpp-python 0.3.7 or later: pip install 'llama-cpp-python>=0.3.7'"
)


class UnsupportedLlamaCppError(ImportError):
    """The installed llama-cpp-python is not one that earmark can work with; the text says why."""


@cache
def library(part: str = "llama_cpp.llama_cpp") -> Any:
    """A module of llama-cpp-python; by default the one with llama.cpp's own functions.

    Raises:
        UnsupportedLlamaCppError: It is not installed, or lacks what is used here.
    """
    try:
        module = import_module(part)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "llama_cpp":
            raise
        raise UnsupportedLlamaCppError(f"{part} is not there; {NEEDED}") from error
    for name in _USED.get(part, ()):
        thing = module
        for attribute in name.split("."):
            if not hasattr(thing, attribute):
                version = getattr(import_module("llama_cpp"), "__version__", "without a version")
                raise UnsupportedLlamaCppError(
                    f"llama-cpp-python {version} has no {part}.{name}; {NEEDED}"
                )
            thing = getattr(thing, attribute)
    return module


_USED = {
    "llama_cpp.llama_cpp": (
        "llama_sampler_init llama_sampler_free llama_sampler_name llama_sampler_chain_add "
        "llama_sampler_chain_get llama_sampler_chain_n llama_sampler_chain_remove "
        "llama_vocab_get_text llama_vocab_get_attr llama_vocab_is_eog llama_sampler "
        "llama_sampler_i llama_token_data llama_token_data_array"
    ).split(),
    "llama_cpp._internals": (
        "LlamaSampler.add_grammar LlamaSampler.sample LlamaSampler.accept LlamaSampler.clone"
    ).split(),
    "llama_cpp.llama": (
        "Llama._create_completion Llama.create_chat_completion Llama._init_sampler Llama.sample "
        "Llama.generate LogitsProcessorList"
    ).split(),
    "llama_cpp.llama_grammar": (
        "LlamaGrammar.from_string LlamaGrammar.from_file LlamaGrammar.from_json_schema"
    ).split(),
    "llama_cpp.llama_chat_format": (
        "llama_grammar _grammar_for_json_schema _grammar_for_response_format"
    ).split(),
}
