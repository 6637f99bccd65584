"""A GGUF vocabulary → a tiny model of it with random weights, which llama.cpp can run.

    python benches/random_model.py ggml-vocab-llama-bpe.gguf random.gguf

It has one layer; what it says means nothing. It needs `pip install gguf`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gguf
import numpy as np

WIDTH = 32
HEADS = 2
FEED_FORWARD = 64


def write(vocabulary: Path, target: Path) -> None:
    reader = gguf.GGUFReader(vocabulary)
    writer = gguf.GGUFWriter(target, "llama")
    for name, field in reader.fields.items():
        if not name.startswith("tokenizer."):
            continue
        value = field.contents()
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(name, value)
        else:
            writer.add_key_value(name, value, field.types[0])
    tokens = len(reader.fields["tokenizer.ggml.tokens"].data)
    writer.add_vocab_size(tokens)
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    random = np.random.default_rng(1)

    def tensor(name: str, *shape: int) -> None:
        weights = random.normal(0, 0.3, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(name, weights.astype(np.float32))

    tensor("token_embd.weight", tokens, WIDTH)
    tensor("output_norm.weight", WIDTH)
    tensor("blk.0.attn_norm.weight", WIDTH)
    tensor("blk.0.ffn_norm.weight", WIDTH)
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor(f"blk.0.{part}.weight", WIDTH, WIDTH)
    tensor("blk.0.ffn_gate.weight", FEED_FORWARD, WIDTH)
    tensor("blk.0.ffn_up.weight", FEED_FORWARD, WIDTH)
    tensor("blk.0.ffn_down.weight", WIDTH, FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
