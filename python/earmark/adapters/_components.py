"""How a `tokenizers.Tokenizer` writes its tokens, read from its components.

The components (model, normalizer, pre-tokenizer, decoder) give their JSON by `__getstate__()`.
The whole tokenizer is never serialised: with its vocabulary and merges that takes longer than
everything else here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED_MODELS = {
    "WordPiece": "it drops the white space between words, so no sequence of its tokens says "
    "exactly which text it stands for",
    "WordLevel": "it drops the white space between words and has no tokens for unknown words",
}


def piece_kind(tokenizer: Any) -> str:
    """The kind of the vocabulary's pieces, as `decode_pieces` names them."""
    model = type(tokenizer.model).__name__
    if model not in ("BPE", "Unigram"):
        reason = _REFUSED_MODELS.get(model, "only BPE and Unigram models are known here")
        raise VocabularyError(f"a {model} tokenizer can't be used: {reason}")
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if value := getattr(tokenizer.model, affix, None):
            raise VocabularyError(
                f"a BPE tokenizer with {affix} {value!r} can't be used: what a token stands for "
                "depends on the tokens around it"
            )
    if tokenizer.decoder is None:
        return _kind_without_decoder(tokenizer)
    return _kind_of_decoder(list(_steps(tokenizer.decoder)))


def _kind_of_decoder(steps: list[dict[str, Any]]) -> str:
    """The kind that a chain of decoders reads.

    `Fuse` joins the tokens; a `Strip` after it takes the dummy prefix from the whole text, which
    no token's bytes know of. A `Strip` before it would cut each token.
    """
    kinds: set[str] = set()
    fused = False
    for step in steps:
        match step:
            case {"type": "ByteLevel"}:
                kinds.add("byte_level")
            case {"type": "ByteFallback"}:
                kinds.add("byte_fallback")
            case {"type": "Metaspace", "replacement": "▁"}:
                kinds.add("metaspace")
            case {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}:
                kinds.add("metaspace")
            case {"type": "Fuse"}:
                fused = True
            case {"type": "Strip", "content": " ", "stop": 0} if fused:
                pass
            case _:
                raise VocabularyError(
                    f"a tokenizer whose decoder has the step {json.dumps(step)} can't be used: "
                    "it is not known what its tokens stand for"
                )
    if kinds == {"byte_level"}:
        return "byte_level"
    if kinds == {"metaspace", "byte_fallback"}:
        return "sentencepiece"
    if kinds == {"metaspace"}:
        return "metaspace"
    if not kinds and fused:
        return "raw"
    names = " and ".join(str(step.get("type")) for step in steps)
    raise VocabularyError(
        f"a tokenizer with the decoder {names or 'Sequence without steps'} can't be used: "
        "it is not known what its tokens stand for"
    )


def _kind_without_decoder(tokenizer: Any) -> str:
    """The kind that normalizer and pre-tokenizer write, for tokenizers that can only encode."""
    for component in (tokenizer.normalizer, tokenizer.pre_tokenizer):
        for step in _steps(component):
            match step:
                case {"type": "ByteLevel"}:
                    return "byte_level"
                case {"type": "Metaspace", "replacement": "▁"} | {
                    "type": "Replace",
                    "pattern": {"String": " "},
                    "content": "▁",
                }:
                    fallback = getattr(tokenizer.model, "byte_fallback", False)
                    return "sentencepiece" if fallback else "metaspace"
    raise VocabularyError(
        "a tokenizer without a decoder, a byte-level or a metaspace step can't be used: "
        "it is not known what its tokens stand for; set its decoder"
    )


def _steps(component: Any) -> Iterator[dict[str, Any]]:
    """A component's JSON, sequences taken apart."""
    if component is None:
        return
    pending = [json.loads(component.__getstate__())]
    while pending:
        step = pending.pop()
        if step.get("type") == "Sequence":
            # Each kind of component calls its list differently.
            inner = [value for key, value in step.items() if key != "type"]
            pending.extend(reversed(inner[0] if inner else []))
        else:
            yield step
