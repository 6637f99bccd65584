"""Cases made from users' reports about other engines, from the folder `shared`.

Each grammar must mean what the case says: texts accepted and rejected, masks after a script of
calls, errors where there must be errors, and budgets of time and memory, taken generously because
test machines differ (`EARMARK_TIME_SLACK`, 5 by default).
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

import earmark
import shared

SLACK = float(os.environ.get("EARMARK_TIME_SLACK", "5"))
LANGUAGES = ("lark", "gbnf", "regex", "json_schema")
# A gate in front of the grammar (free text until a mark) is no part of the matcher.
NOT_OFFERED = {"api-reasoning-gate"}


def load_cases() -> list[dict[str, Any]]:
    path = shared.SHARED / "cases" / "cases.jsonl"
    if not path.exists():
        return []
    # Not `splitlines`: texts hold other line separators.
    lines = path.read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    return [c for c in cases if language_of(c) in LANGUAGES and c["id"] not in NOT_OFFERED]


def language_of(case: dict[str, Any]) -> str:
    return str(case.get("frontend", case["kind"]))


def evaluate(expression: str) -> str:
    """A case's big values are Python expressions."""
    return str(eval(expression))


def build(case: dict[str, Any], **options: Any) -> earmark.Grammar:
    source = eval(case["grammar_py"]) if case["grammar"] is None else case["grammar"]
    if language_of(case) == "json_schema":
        return earmark.Grammar.from_json_schema(source, **schema_options(case), **options)
    return shared.build(language_of(case), source)


def schema_options(case: dict[str, Any]) -> dict[str, Any]:
    """What a case assumes, by our names."""
    options = {}
    for name, value in case.get("options", {}).items():
        if (name, value) == ("format", "assert"):
            options["formats"] = True
        elif name == "whitespace":
            # Bounded is what flexible is; the case's own bound is one of many.
            assert value == "flexible" or set(value) == {"max"}
            options["whitespace"] = "flexible"
        else:
            raise AssertionError(f"a case of an option that is not known: {name}={value}")
    return options


def texts(case: dict[str, Any], key: str) -> list[str]:
    return [*case.get(key, []), *map(evaluate, case.get(f"{key}_py", []))]


CASES = load_cases()
pytestmark = pytest.mark.skipif(not CASES, reason="no shared cases")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_texts(case: dict[str, Any]) -> None:
    if case.get("expect_error") is True:
        with pytest.raises(earmark.GrammarError):
            build(case)
        return
    try:
        grammar = build(case)
    except earmark.GrammarError:
        if case.get("expect_error") == "allowed" or "template" in case["tags"]:
            return
        raise
    for accepted in texts(case, "accept"):
        matcher = earmark.Matcher(grammar, shared.byte_vocabulary())
        data = accepted.encode()
        assert matcher.validate([*data, shared.BYTE_EOS]) == len(data) + 1, accepted[:100]
        matcher.accept_bytes(data)
        assert matcher.is_accepting
    # `may` is left to us: the documentation of the options says what is legal by default.
    rejects = ("reject", "reject_extra", "never_default")
    for rejected in (text for key in rejects for text in texts(case, key)):
        assert not shared.is_text(grammar, rejected.encode()), rejected[:100]
    for dead in case.get("prefix_reject", []):
        assert not shared.is_alive(grammar, dead.encode()), dead
    for dead_bytes in case.get("bytes_reject", []):
        assert not shared.is_alive(grammar, bytes.fromhex(dead_bytes))


def resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["kind"] == "perf"], ids=lambda case: case["id"]
)
def test_budgets(case: dict[str, Any]) -> None:
    vocabulary = shared.vocabulary("llama3")
    limits = case["limits"]
    # The first use of a vocabulary builds what all grammars share.
    earmark.Matcher(earmark.Grammar.from_regex("[a-z]+"), vocabulary).next_mask()
    memory = resident_mb()
    start = time.thread_time()
    try:
        grammar = build(case)
        matcher = earmark.Matcher(grammar, vocabulary)
    except earmark.GrammarError:
        assert case.get("expect_error") == "allowed"
        return
    compiled = time.thread_time()
    times = []
    for sample in texts(case, "accept"):
        matcher.reset()
        data = sample.encode()
        # Every mask at the beginning and at the end, one in fifty between.
        for at, byte in enumerate(data):
            if at < 100 or at > len(data) - 50 or at % 50 == 0:
                before = time.thread_time()
                matcher.next_mask()
                times.append(time.thread_time() - before)
            matcher.accept_bytes(bytes([byte]))
        assert matcher.is_accepting
    total = time.thread_time() - start
    if "compile_ms" in limits:
        assert (compiled - start) * 1000 <= limits["compile_ms"] * SLACK
    if "mask_ms_p99" in limits and times:
        assert np.percentile(times, 99) * 1000 <= limits["mask_ms_p99"] * SLACK
    if "mask_ms_growth" in limits:
        first, last = np.median(times[:100]), np.median(times[-50:])
        assert last <= first * limits["mask_ms_growth"] * SLACK
    if "total_s" in limits:
        assert total <= limits["total_s"] * SLACK
    if "mem_mb" in limits and os.path.exists("/proc/self/statm"):
        assert resident_mb() - memory <= limits["mem_mb"]


def case_vocabulary(case: dict[str, Any]) -> earmark.Vocabulary:
    if case.get("vocab_kind") == "sentencepiece_pieces":
        return pieces_vocabulary(case["vocab_pieces"], case["eos"])
    return earmark.Vocabulary(
        [bytes.fromhex(token) for token in case["vocab_hex"]],
        eos_token_ids=case["eos"],
        special_token_ids=case.get("special", []),
        width=case.get("logits_width"),
    )


def pieces_vocabulary(pieces: list[str], eos: list[int]) -> earmark.Vocabulary:
    """A SentencePiece-like tokenizer of these pieces, through the adapter.

    The bytes that have no piece are appended, or no other text could be encoded.
    """
    tokenizers = pytest.importorskip("tokenizers")
    pieces = list(dict.fromkeys([*pieces, *(f"<0x{byte:02X}>" for byte in range(256))]))
    vocab = {piece: number for number, piece in enumerate(pieces)}
    model = tokenizers.models.BPE(vocab=vocab, merges=[], byte_fallback=True)
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    made.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.Replace("▁", " "),
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Fuse(),
        ]
    )
    made.add_special_tokens([pieces[number] for number in eos])
    return earmark.Vocabulary.from_huggingface(made, eos_token_ids=eos)


SCRIPTS = [case for case in CASES if "steps" in case and case["id"] not in NOT_OFFERED]


@pytest.mark.parametrize("case", SCRIPTS, ids=lambda case: case["id"])
def test_scripts(case: dict[str, Any]) -> None:
    vocabulary = case_vocabulary(case)
    if case.get("expect_error") is True:
        other = earmark.Matcher(earmark.Grammar.from_regex("ab"), vocabulary)
        with pytest.raises(earmark.GrammarError) as caught:
            build(case)
        for step in case["steps"]:
            if "pointer" in step:
                assert caught.value.pointer == step["pointer"]
        assert other.try_accept(0)
        return
    try:
        grammar = build(case)
    except earmark.GrammarError:
        assert case.get("expect_error") == "allowed"
        return
    matcher = earmark.Matcher(grammar, vocabulary)
    clones: dict[str, earmark.Matcher] = {}
    size = len(case.get("vocab_hex") or case["vocab_pieces"])

    def allowed(matcher: earmark.Matcher) -> list[int]:
        return [token for token in sorted(shared.allowed(matcher)) if token < size]

    for step in case["steps"]:
        if "mask" in step:
            assert allowed(matcher) == step["mask"]
        elif "accept" in step:
            matcher.accept(step["accept"])
        elif "accept_fails" in step:
            assert not matcher.try_accept(step["accept_fails"])
            with pytest.raises(earmark.MatchError):
                matcher.accept(step["accept_fails"])
        elif "mask_excludes" in step:
            assert not set(allowed(matcher)) & set(step["mask_excludes"])
        elif "validate" in step:
            assert matcher.validate(step["validate"]) == step["expect"]
        elif "masks_for" in step:
            fork = matcher.fork()
            found = [allowed(fork)]
            for token in step["masks_for"]:
                fork.accept(token)
                found.append(allowed(fork))
            assert found == step["expect"]
        elif "clone" in step:
            clones[step["clone"]] = matcher.fork()
        elif "clone_mask" in step:
            assert allowed(clones[step["clone_mask"]]) == step["expect"]
        elif "parallel_matchers" in step:
            check_parallel(grammar, vocabulary, step["parallel_matchers"])
        elif step.get("option") == "max_number_digits":
            check_max_number_digits(case, vocabulary)
        else:
            assert set(step) == {"no_crash"}


def check_parallel(grammar: earmark.Grammar, vocabulary: earmark.Vocabulary, count: int) -> None:
    """All threads see the masks that one alone sees."""

    def run() -> list[list[int]]:
        matcher = earmark.Matcher(grammar, vocabulary)
        masks = []
        for token in [0, 1, 2] * 50:
            masks.append(sorted(shared.allowed(matcher)))
            matcher.try_accept(token)
        return masks

    alone = run()
    found: list[list[list[int]]] = []
    threads = [threading.Thread(target=lambda: found.append(run())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * count


def check_max_number_digits(case: dict[str, Any], vocabulary: earmark.Vocabulary) -> None:
    """A model that never ends a number by itself is brought to the end; without the bound, not."""
    (eos,) = vocabulary.eos_token_ids
    for options, most in (({}, 100), ({"max_number_digits": 3}, 20)):
        for avoided in range(eos):
            matcher = earmark.Matcher(build(case, **options), vocabulary)
            while ids := shared.allowed(matcher) - {eos}:
                matcher.accept(min(ids, key=lambda token: (token == avoided, token)))
                assert len(matcher.accepted()) < most
            assert matcher.is_accepting
    unbounded = earmark.Matcher(build(case, max_number_digits=None), vocabulary)
    unbounded.accept_bytes(b"0." + b"0" * 1000)
    assert 0 in shared.allowed(unbounded)
