"""A real model and a hostile one: what is finished is valid; logits are left as they are.

Each test is a proof that runs alone, such as

    EARMARK_SLOW=1 pytest tests/python/test_llama_cpp_proofs.py -k maskbench

Without EARMARK_SLOW they run on a few grammars.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

import earmark
import llama_model as models
from exact import load as load_exact
from oracle import Oracle, UndecidedError
from shared import GRAMMARS, SHARED, SLOW

llama_cpp = pytest.importorskip("llama_cpp")

from earmark.llama_cpp import LlamaGrammar, generate, vocabulary  # noqa: E402
from earmark.llama_cpp._sampler import native_sampler  # noqa: E402

DATA = SHARED / "maskbench" / "dev.jsonl.gz"


@cache
def maskbench() -> list[tuple[str, Any, Any]]:
    """Schemas with a valid document: (id, schema, document)."""
    if not DATA.exists():
        pytest.skip(f"no {DATA}")
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    found = []
    for line in lines:
        valid = [test["data"] for test in line["tests"] if test["valid"]]
        if valid:
            found.append((line["id"], line["schema"], valid[0]))
    return found


def judge(schema: Any, text: str) -> bool | None:
    """Whether a text parses and is valid; None if the oracle can't say."""
    value = load_exact(text)
    try:
        return Oracle(load_exact(json.dumps(schema))).is_valid(value)
    except UndecidedError:
        return None


@pytest.mark.timeout(3600)
def test_maskbench_with_a_real_model() -> None:
    """Schemas evenly from MaskBench; at each temperature what is complete is valid."""
    llama = models.load()
    wanted = 60 if SLOW else 4
    every = maskbench()
    schemas = every[:: max(1, len(every) // (wanted + 20))]
    finished: Counter[float] = Counter()
    used = 0
    for name, schema, document in schemas:
        if used == wanted:
            break
        try:
            grammar = LlamaGrammar.from_json_schema(schema)
        except earmark.GrammarError:
            continue
        shown = json.dumps(document)[:400]
        messages = [{"role": "user", "content": f"Write JSON like this, but shorter: {shown}"}]
        used += 1
        for temperature in (0.0, 0.8, 2.0):
            answer = llama.create_chat_completion(
                messages, grammar=grammar, temperature=temperature, max_tokens=250, seed=used
            )
            (choice,) = answer["choices"]
            text = choice["message"]["content"]
            if choice["earmark"]["complete"]:
                assert judge(schema, text) in (True, None), (name, temperature, text)
                finished[temperature] += 1
            else:
                assert choice["finish_reason"] == "length", (name, temperature, text)
                matcher = earmark.Matcher(grammar.grammar, vocabulary(llama))
                matcher.accept_bytes(text.removesuffix("\ufffd").encode())
    assert used == wanted
    print(f"{used} schemas; finished within 250 tokens: {dict(finished)}")
    assert all(finished[temperature] > used // 3 for temperature in (0.0, 0.8, 2.0))


def hostile_cases() -> list[tuple[str, LlamaGrammar, Any]]:
    """Grammars, each with a judge of its texts that is not earmark."""
    lark = pytest.importorskip("lark")
    sql = """
        start: "SELECT " columns " FROM " NAME (" WHERE " condition)?
        columns: "*" | NAME ("," NAME)~0..4
        condition: NAME ("=" | "<") NUMBER | "(" condition " AND " condition ")"
        NAME: /[a-z]{1,8}/
        NUMBER: /[0-9]{1,4}/
    """
    schemas = [
        {
            "type": "object",
            "properties": {
                "id": {"type": "integer", "minimum": -5, "maximum": 9999},
                "tags": {"type": "array", "items": {"enum": ["x", "yy", 3, None]}, "maxItems": 4},
                "name": {"type": "string", "minLength": 1, "maxLength": 9},
            },
            "required": ["id", "name"],
            "additionalProperties": False,
        },
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": "^([A-Z]{2}|[0-9]{3})-[a-f]{0,4}$"},
        {"anyOf": [{"type": "number", "multipleOf": 0.25, "maximum": 100}, {"const": [1, "a"]}]},
        {
            "$ref": "#/$defs/tree",
            "$defs": {
                "tree": {
                    "type": "object",
                    "properties": {"left": {"$ref": "#/$defs/tree"}, "value": {"type": "boolean"}},
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
        },
    ]

    def by_schema(schema: Any) -> Any:
        return lambda text: judge(schema, text) is True

    def by_regex(pattern: str) -> Any:
        return lambda text: re.fullmatch(pattern, text) is not None

    def by_lark(text: str) -> bool:
        parser = lark.Lark(sql, parser="earley", lexer="dynamic_complete")
        return parser.parse(text) is not None

    cases = [
        (f"schema {number}", LlamaGrammar.from_json_schema(it, whitespace="compact"), by_schema(it))
        for number, it in enumerate(schemas)
    ]
    for pattern in (r"[a-c]{1,5}(é|日|😀){1,3}", r"([0-9]{1,3}\.){3}[0-9]{1,3}"):
        cases.append((pattern, LlamaGrammar.from_regex(pattern), by_regex(pattern)))
    cases.append(("sql", LlamaGrammar.from_lark(sql), by_lark))
    gbnf = 'root ::= node\nnode ::= "." | "(" node node ")"'
    balanced = LlamaGrammar.from_string(gbnf)
    cases.append(("tree", balanced, lambda text: is_tree(text)))
    return cases


def is_tree(text: str) -> bool:
    while "(..)" in text:
        text = text.replace("(..)", ".")
    return text == "."


def sample(sampler: Any, logits: np.ndarray[Any, Any], buffer: np.ndarray[Any, Any]) -> int:
    """What `llama_sampler_sample` does, with logits that no model gave."""
    buffer["id"] = np.arange(len(logits))
    buffer["logit"] = logits
    buffer["p"] = 0
    data = buffer.ctypes.data_as(llama_cpp.llama_cpp.llama_token_data_p)
    array = llama_cpp.llama_token_data_array(data=data, size=len(logits), selected=-1, sorted=False)
    llama_cpp.llama_sampler_apply(sampler.sampler, array)
    assert 0 <= array.selected < array.size
    token = int(array.data[array.selected].id)
    sampler.accept(token)
    return token


CANDIDATE = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


@pytest.mark.timeout(3600)
def test_hostile_model() -> None:
    """Random logits over the real vocabulary: every generation ends in a valid text."""
    llama = models.load()
    cases = hostile_cases()
    rounds = -(-1000 // len(cases)) if SLOW else 3
    random = np.random.default_rng(7)
    buffer = np.zeros(llama.n_vocab(), dtype=CANDIDATE)
    ends = vocabulary(llama).eos_token_ids
    # After a while the model wants to end: some grammars' texts have no longest one.
    tired = np.zeros(llama.n_vocab(), dtype=np.single)
    tired[list(ends)] = 40
    for text in (b"}", b'"', b"]", b".", b")", b"value", b"true"):
        tired[llama.tokenize(text, add_bos=False)] = 20
    temperatures = (0.0, 0.7, 1.0, 2.0, -1.0)
    generations = tokens = 0
    for round_ in range(rounds):
        for name, grammar, valid in cases:
            llama.set_seed(generations)
            temp = temperatures[generations % len(temperatures)]
            options = {"temp": temp, "top_k": 0 if round_ % 2 else 40, "repeat_penalty": 1.1}
            sampler = llama._init_sampler(grammar=grammar, **options)
            text: list[int] = []
            while True:
                logits = random.normal(0, 3, llama.n_vocab()).astype(np.single)
                token = sample(sampler, logits + (tired if len(text) > 40 else 0), buffer)
                if token in ends:
                    break
                text.append(token)
                assert len(text) < 2000, name
            said = models.text_of(llama, text)
            assert valid(said), (name, said)
            sampler.close()
            generations += 1
            tokens += len(text)
    print(f"{generations} generations, {tokens} tokens, all valid")
    assert generations >= (1000 if SLOW else 27)


def leveller(llama: Any) -> Any:
    """A logits processor that forbids the tokens about which the two engines differ."""
    known = vocabulary(llama)
    forbidden = set(known.special_token_ids) - set(known.eos_token_ids)
    for token in range(llama.n_vocab()):
        text = known.token_bytes(token)
        if text.startswith(b"\0") or text.decode(errors="ignore").encode() != text:
            forbidden.add(token)
    ids = sorted(forbidden)

    def forbid(_ids: Any, scores: Any) -> Any:
        scores[ids] = -np.inf
        return scores

    return forbid


EXAMPLES = ("JSON_GBNF", "JSON_ARR_GBNF", "LIST_GBNF", "ARITHMETIC_GBNF", "CHESS_GBNF")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [*EXAMPLES, "JAPANESE_GBNF", "C_GBNF"])
def test_same_tokens_as_llama_cpps_own_grammar(name: str) -> None:
    """Where both accept the same texts, allowed candidates keep their logits and their order.

    llama.cpp's engine takes control tokens for text, no token that begins with a zero byte, and
    not all that a part of a character may become: such tokens are impossible for both here.
    """
    from llama_cpp import llama_grammar

    llama = models.load()
    level = llama_cpp.LogitsProcessorList([leveller(llama)])
    text = getattr(llama_grammar, name)
    theirs = llama_cpp.LlamaGrammar.from_string(text, verbose=False)
    ours = LlamaGrammar.from_string(text)
    prompt = llama.tokenize(b"Here is an example:\n")
    for temp in (0.0, 0.8, 2.0) if SLOW else (0.8,):
        for seed in (1, 2) if SLOW else (1,):
            for options in ({}, {"top_k": 0, "top_p": 1.0, "min_p": 0.0}):
                said = []
                for grammar in (theirs, ours):
                    llama.set_seed(seed)
                    stream = llama.generate(
                        prompt, grammar=grammar, temp=temp, logits_processor=level, **options
                    )
                    tokens: list[int] = []
                    for token in stream:
                        tokens.append(token)
                        if token in vocabulary(llama).eos_token_ids or len(tokens) == 48:
                            break
                    said.append(tokens)
                assert said[0] == said[1], models.text_of(llama, said[0][:-1])


@pytest.mark.timeout(3600)
def test_jump_forward_saves_passes() -> None:
    """The share of forward passes saved, on documents and in runs of the model."""
    llama = models.load()
    wanted = 40 if SLOW else 3
    every = maskbench()
    tokens = forced = 0
    run = {"tokens": 0, "passes": 0}
    for _, schema, document in every[:: len(every) // wanted]:
        try:
            grammar = earmark.Grammar.from_json_schema(schema, whitespace="compact")
        except earmark.GrammarError:
            continue
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        matcher = earmark.Matcher(grammar, vocabulary(llama))
        ids = llama.tokenize(text.encode(), add_bos=False)
        if matcher.validate(ids) == len(ids):
            counted = count_forced(matcher, ids)
            tokens, forced = tokens + len(ids), forced + counted
        generation = generate(llama, f"JSON like {text[:300]}: ", grammar, temp=0.8, max_tokens=150)
        made = list(generation)
        if generation.status["complete"]:
            assert judge(schema, models.text_of(llama, made)) in (True, None)
        run["tokens"] += len(made)
        run["passes"] += generation.forward_passes
    print(f"documents: {forced} of {tokens} tokens are forced ({forced / tokens:.0%})")
    print(f"runs: {run['passes']} forward passes for {run['tokens']} tokens")
    assert forced > 0
    assert run["passes"] < run["tokens"]


def count_forced(matcher: earmark.Matcher, ids: list[int]) -> int:
    forced = at = 0
    while at < len(ids):
        sure = matcher.forced_tokens()
        same = 0
        for want, token in zip(sure, ids[at:], strict=False):
            if want != token:
                break
            same += 1
        forced += same
        for token in ids[at : at + max(same, 1)]:
            matcher.accept(token)
        at += max(same, 1)
    return forced


def test_a_vocabulary_without_weights() -> None:
    llama = models.load(vocab_only=True)
    assert len(vocabulary(llama)) == llama.n_vocab() == 49152


def test_grammars_of_the_repository() -> None:
    """Each sample grammar is followed with the real model."""
    llama = models.load()
    for path in sorted(GRAMMARS.glob("*.*")):
        grammar = LlamaGrammar.from_file(path)
        sampler = llama._init_sampler(grammar=grammar, temp=0.0)
        assert native_sampler(sampler) is not None
        (choice,) = llama("Example:\n", grammar=grammar, max_tokens=12, temperature=0.7)["choices"]
        matcher = earmark.Matcher(grammar.grammar, vocabulary(llama))
        matcher.accept_bytes(choice["text"].encode())
