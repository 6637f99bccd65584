"""Which tokens end a generation.

A tokenizer names one end-of-sequence token at best, but chat models have more: Llama 3 ends a
text with `<|end_of_text|>` and a turn with `<|eot_id|>`. So the well-known names count too,
though only for special tokens: Gemma has a `</s>` that is an HTML tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

from earmark.errors import VocabularyError

KNOWN_NAMES = frozenset(
    {
        "</s>",  # SentencePiece models: Llama 2, Mistral, T5
        "<eos>",  # Gemma
        "<end_of_turn>",  # Gemma 1-3
        "<turn|>",  # Gemma 4
        "<|endoftext|>",  # GPT-2 and OpenAI's encodings, Qwen, Phi
        "<|end_of_text|>",  # Llama 3 and 4, Granite
        "<|eot_id|>",  # Llama 3, end of a turn
        "<|eom_id|>",  # Llama 3.1, end of a message that calls a tool
        "<|eot|>",  # Llama 4
        "<|eom|>",  # Llama 4
        "<|im_end|>",  # ChatML: Qwen, SmolLM
        "<|end|>",  # Phi 3; not in Harmony, see below
        "<|return|>",  # Harmony (gpt-oss)
        "<|call|>",  # Harmony (gpt-oss)
        "<｜end▁of▁sentence｜>",  # DeepSeek
        "<|END_OF_TURN_TOKEN|>",  # Command R
        "<|end_of_turn|>",  # OpenChat
        "<end_of_utterance>",  # SmolVLM, Idefics
        "[EOS]",  # Kimi
        "[EOT]",  # Kimi
    }
)

# In Harmony `<|end|>` ends a message, and the model goes on with the next one.
_HARMONY = frozenset({"<|return|>", "<|call|>"})


def known_eos(special: Mapping[int, str]) -> set[int]:
    """The special tokens (id → name) whose names are known to end a generation."""
    names = KNOWN_NAMES
    if set(special.values()) >= _HARMONY:
        names -= {"<|end|>"}
    return {token for token, name in special.items() if name in names}


def choose_eos(
    asked: int | Iterable[int] | None, found: Iterable[int], *, size: int, source: str
) -> tuple[int, ...]:
    """What the caller asked for, else what was found in the tokenizer; at least one token.

    `size` is the number of tokens; `source` says where the search was, for the error.
    """
    if asked is None:
        ids = sorted(set(found))
        if not ids:
            raise VocabularyError(
                f"no end-of-sequence token is known for {source}; pass eos_token_ids=…, "
                "for example the eos_token_id of the model's generation_config.json"
            )
    else:
        ids = [index(token) for token in (asked if isinstance(asked, Iterable) else [asked])]
        if not ids:
            raise VocabularyError("eos_token_ids is empty; without it no output could ever end")
    for token in ids:
        if not 0 <= token < size:
            raise VocabularyError(
                f"end-of-sequence token {token} is out of range: {source} has the ids "
                f"0 to {size - 1}"
            )
    return tuple(ids)
