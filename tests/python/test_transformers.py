"""`earmark.transformers` in transformers' own `generate()`, with tiny random models.

The models know nothing, and a processor before ours adds noise to their logits, so that only the
grammar keeps the text together. The vocabularies are real.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import jsonschema
import numpy as np
import pytest

import shared
from earmark import Grammar, Matcher, MatchError, Vocabulary, VocabularyError, apply_mask

torch = pytest.importorskip("torch", reason="torch is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
transformers = pytest.importorskip("transformers", reason="transformers and torch are missing")

from earmark.transformers import GrammarLogitsProcessor, vocabulary_of  # noqa: E402

# The models are so small that threads only wait for each other.
torch.set_num_threads(1)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.timeout(600),
    # transformers' own, about how it is called here.
    pytest.mark.filterwarnings("ignore::UserWarning:transformers"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

EOS = shared.EOS["gpt2"][0]
PADDED = 50304
"""More logits than GPT-2's tokenizer has tokens."""

DATE = Grammar.from_regex("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
YES_NO = Grammar.from_lark('start: "yes" | "no"')
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "bb", "ccc"]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
JSON = Grammar.from_json_schema(SCHEMA, whitespace="compact", integer_fractions=False)
NESTED = Grammar.from_gbnf('root ::= "(" root ")" | [a-z]{1,5} | root "+" root')
WORDS = Grammar.from_lark('start: (WORD " ")~1..3 WORD "."\nWORD: /[a-z]{1,6}/')


def is_valid_json(text: str) -> bool:
    jsonschema.validate(json.loads(text), SCHEMA)
    return True


ORACLES: list[tuple[Grammar, Callable[[str], object]]] = [
    (DATE, lambda text: re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", text)),
    (YES_NO, lambda text: text in {"yes", "no"}),
    (JSON, is_valid_json),
    (NESTED, lambda text: shared.is_text(NESTED, text.encode())),
    (WORDS, lambda text: re.fullmatch(r"([a-z]{1,6} ){1,3}[a-z]{1,6}\.", text)),
]


def tiny(seed: int, width: int = PADDED, end: int = EOS, pad: int | None = None) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=width,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end if pad is None else pad,
        initializer_range=1.0,
    )
    return transformers.LlamaForCausalLM(config).eval()


@cache
def model() -> Any:
    return tiny(1)


@cache
def tokenizer() -> Any:
    fast = shared.tokenizer("gpt2")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, eos_token="<|endoftext|>", pad_token="<|endoftext|>"
    )


@cache
def vocabulary() -> Vocabulary:
    return vocabulary_of(tokenizer(), model())


class Noise(transformers.LogitsProcessor):
    """A model that is against us: its logits are random, and new at every step."""

    def __init__(self, seed: int, end: float = 0.0) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.end = end

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002
        noise = torch.randn(scores.shape, generator=self.generator) * 5
        noise[:, EOS] += self.end
        return scores + noise


class ByReplay(transformers.LogitsProcessor):
    """The processor by its definition: reads each row anew at each step. Knows the prompt."""

    def __init__(self, grammars: list[Grammar], prompt: int) -> None:
        self.grammars, self.prompt = grammars, prompt

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        scores = scores.clone()
        each = len(input_ids) // len(self.grammars)
        for row, ids in enumerate(input_ids.tolist()):
            matcher = Matcher(self.grammars[row // each], vocabulary())
            whole = all(map(matcher.try_accept, ids[self.prompt :]))
            if whole and not matcher.is_finished:
                apply_mask(scores[row], matcher.next_mask())
            else:
                # Ended; or refused, which beam search with sampling may have taken.
                scores[row] = float("-inf")
                scores[row, EOS] = 0.0
        return scores


PROMPTS = ["When was it?", "Tell me all that you know about it:", "And?", "Is it?"]


def encode(prompts: list[str], side: str = "left") -> dict[str, Any]:
    found = tokenizer()(prompts, return_tensors="pt", padding=True, padding_side=side)
    return {"input_ids": found["input_ids"], "attention_mask": found["attention_mask"]}


def generate(processor: Any, inputs: dict[str, Any], *before: Any, **options: Any) -> Any:
    options = {"max_new_tokens": 60, "do_sample": False, **options}
    return model().generate(**inputs, logits_processor=[*before, processor], **options)


def answers(ids: Any, inputs: dict[str, Any]) -> list[str]:
    """The texts behind the prompts, up to the end."""
    found = []
    for row in ids[:, inputs["input_ids"].shape[1] :].tolist():
        tokens = row[: row.index(EOS)] if EOS in row else row
        found.append(b"".join(map(vocabulary().token_bytes, tokens)).decode("utf-8", "replace"))
    return found


FINISHED = {"complete": True, "finished": True}
CUT = {"complete": False, "finished": False}
MAY_END = {"complete": True, "finished": False}


def check(grammar: Grammar, text: str, status: Any) -> None:
    """A finished text is one by the oracle, another one the beginning of one."""
    if status["finished"]:
        assert status["complete"]
        assert dict(ORACLES)[grammar](text), text
    else:
        assert shared.is_alive(grammar, text.encode()), text
        assert status["complete"] == shared.is_text(grammar, text.encode())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"do_sample": True},
        {"do_sample": True, "temperature": 2.0, "top_k": 5, "top_p": 0.9},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 3},
        {"num_beams": 4, "num_return_sequences": 2, "length_penalty": 0.5},
        {"num_beams": 2, "do_sample": True},
        {"repetition_penalty": 1.3},
        {"use_cache": False},
    ],
    ids=str,
)
def test_a_batch_with_a_grammar_each(side: str, options: dict[str, Any]) -> None:
    grammars = [DATE, JSON, NESTED, YES_NO]
    inputs = encode(PROMPTS, side)
    processor = GrammarLogitsProcessor(grammars, vocabulary())
    for seed in range(3 if shared.SLOW else 1):
        torch.manual_seed(seed)
        ids = generate(processor, inputs, Noise(seed, end=8), **options)
        statuses = processor.statuses(ids)
        texts = answers(ids, inputs)
        each = options.get("num_return_sequences", 1)
        assert len(texts) == len(statuses) == 4 * each
        for row, (text, status) in enumerate(zip(texts, statuses, strict=True)):
            check(grammars[row // each], text, status)
        assert FINISHED in statuses


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_beams": 3, "num_return_sequences": 3},
        {"num_beams": 4, "early_stopping": True},
        {"do_sample": True, "num_return_sequences": 2},
        {"do_sample": True, "num_beams": 3},
    ],
    ids=str,
)
def test_as_if_every_row_were_read_anew(options: dict[str, Any]) -> None:
    grammars = [JSON, NESTED]
    inputs = encode(PROMPTS[:2])
    prompt = inputs["input_ids"].shape[1]
    found = []
    for processor in (GrammarLogitsProcessor(grammars, vocabulary()), ByReplay(grammars, prompt)):
        torch.manual_seed(7)
        found.append(generate(processor, inputs, Noise(3), **options))
    assert found[0].tolist() == found[1].tolist()


def test_beams_are_finite_where_the_grammar_has_fewer_texts() -> None:
    """All beams get texts of the grammar, the same ones if there are no others."""
    inputs = encode(PROMPTS[:2])
    processor = GrammarLogitsProcessor(YES_NO, vocabulary())
    ids = generate(processor, inputs, num_beams=5, num_return_sequences=5, max_new_tokens=8)
    assert set(answers(ids, inputs)) <= {"yes", "no"}
    assert processor.statuses(ids) == [FINISHED] * 10


ASSISTED: list[dict[str, Any]] = [
    {"assistant_model": tiny},
    {"assistant_model": tiny, "do_sample": True},
    {"prompt_lookup_num_tokens": 4},
    {"prompt_lookup_num_tokens": 4, "do_sample": True},
]


@pytest.mark.parametrize("options", ASSISTED, ids=str)
@pytest.mark.parametrize("grammar", [JSON, NESTED, WORDS, DATE])
def test_assisted_generation(grammar: Grammar, options: dict[str, Any]) -> None:
    options = dict(options)
    if "assistant_model" in options:
        options["assistant_model"] = options["assistant_model"](2)
    inputs = encode(['{"name":"ab","age":12} a b c a b c ((a)+b) 1999-12-31 1999-12-31 {"name":"'])
    processor = GrammarLogitsProcessor(grammar, vocabulary())
    for seed in range(3 if shared.SLOW else 1):
        torch.manual_seed(seed)
        ids = generate(processor, inputs, **options)
        (status,), (text,) = processor.statuses(ids), answers(ids, inputs)
        check(grammar, text, status)
        if not options.get("do_sample"):
            # Drafts make it faster, nothing else.
            assert answers(generate(processor, inputs), inputs) == [text]


def other_tokenizer(*words: str) -> Any:
    """One of bytes and a few words, whose tokens have other ids than GPT-2's."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet
    )
    made.train_from_iterator(words, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|endoftext|>", pad_token="<|endoftext|>"
    )


@pytest.mark.parametrize("options", [{}, {"do_sample": True}], ids=str)
@pytest.mark.parametrize("word", ["one: abc def 012 345", "☃ snow ☃"])
def test_an_assistant_of_another_tokenizer(word: str, options: dict[str, Any]) -> None:
    """It drafts freely."""
    known = other_tokenizer(word)
    assistant = tiny(5, width=len(known), end=0)
    inputs = encode(PROMPTS[:1])
    for grammar in (DATE, JSON):
        processor = GrammarLogitsProcessor(grammar, vocabulary())
        for each in (processor, Asks(processor)):
            torch.manual_seed(1)
            ids = generate(
                each,
                inputs,
                assistant_model=assistant,
                tokenizer=tokenizer(),
                assistant_tokenizer=known,
                **options,
            )
            (status,), (text,) = processor.statuses(ids), answers(ids, inputs)
            check(grammar, text, status)
            if not options:
                assert answers(generate(processor, inputs), inputs) == [text]


def test_a_draft_that_knows_no_grammar() -> None:
    """What it proposes may be refused, at any place of the draft."""
    inputs = encode(PROMPTS[:1])["input_ids"]
    plain = generate(GrammarLogitsProcessor(DATE, vocabulary()), {"input_ids": inputs})
    right = plain[0, inputs.shape[1] :].tolist()
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    processor.reset()
    ids, scores = inputs, torch.zeros(1, PADDED)
    matcher = Matcher(DATE, vocabulary())
    for at, token in enumerate(right[:-1]):
        draft = torch.cat([ids, torch.tensor([[*right[at : at + 1 + at % 3], 13, 13]])], dim=-1)
        for length in range(ids.shape[1], draft.shape[1] + 1):
            found = processor(draft[:, :length], scores)
            assert found.isfinite().any()
        # One token more is sure.
        ids = torch.cat([ids, torch.tensor([[token]])], dim=-1)
        matcher.accept(token)
        expected = torch.zeros(1, PADDED)
        apply_mask(expected, matcher.next_mask())
        assert (processor(ids, scores) == expected).all()


QUOTED = Grammar.from_regex(r'\{"[a-c]{1,5}":(true|12{1,3})\}')
QUOTES = [b'{"a":12} {"b":122} {"', b'{"abc":true} {"ab', b"abcabcaabbc", b'"ab":true {"cab":12}: ']


def in_bytes() -> tuple[Any, Vocabulary]:
    """A model that writes bytes and knows no word, so that drafts are refused all the time."""
    small = tiny(1, width=257, end=256)
    return small, Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos_token_ids=256)


@pytest.mark.parametrize("drafts", [2, 4, 6])
def test_matches_of_prompt_lookup_that_are_refused(drafts: int) -> None:
    """It asks for the same ids again then, and for fewer behind a draft than it has asked for."""
    small, known = in_bytes()
    for seed in range(40 if shared.SLOW else 12):
        prompt = QUOTES[seed % 4]
        ids = torch.tensor([list(prompt)])
        processor = GrammarLogitsProcessor(QUOTED, known)
        torch.manual_seed(seed)
        found = small.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            logits_processor=[processor],
            prompt_lookup_num_tokens=drafts,
            max_new_tokens=25,
            do_sample=True,
        )
        text = bytes(token for token in found[0, len(prompt) :].tolist() if token < 256)
        assert shared.is_text(QUOTED, text), text
        assert processor.statuses(found) == [FINISHED]


@pytest.mark.parametrize("options", [{}, {"do_sample": True}, {"prompt_lookup_num_tokens": 2}])
def test_prompts_that_extend_each_other_after_one_token(options: dict[str, Any]) -> None:
    small, known = in_bytes()
    either = Grammar.from_regex("yes|no")
    whole = torch.tensor([list(b"hello there again")])
    slices = [whole[:, :length] for length in (5, 6, 7, 12)]
    for prompts in (slices, [it.clone() for it in slices]):
        processor = GrammarLogitsProcessor(either, known)
        for prompt in prompts:
            found = small.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                logits_processor=[processor],
                max_new_tokens=1,
                **options,
            )
            assert found[0, -1] in list(b"yn")
            assert processor.statuses(found) == [CUT]


def test_a_prompt_that_is_the_last_text_by_chance() -> None:
    small, known = in_bytes()
    processor = GrammarLogitsProcessor(Grammar.from_regex("yes|no"), known)

    def one(prompt: Any, count: int = 1) -> bytes:
        mask = torch.ones_like(prompt)
        found = small.generate(
            prompt, attention_mask=mask, logits_processor=[processor], max_new_tokens=count
        )
        return bytes(found[0, prompt.shape[1] :].tolist())

    first = one(torch.tensor([list(b"is it ")]))
    again = torch.tensor([list(b"is it " + first)])
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"the 1 last tokens .*call reset\(\) before"):
            one(again)
    processor.reset()
    assert one(again) in {b"y", b"n"}


def test_a_processor_in_two_calls_at_once() -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    inputs = encode(PROMPTS[:1])

    class Thread(threading.Thread):
        raised: ClassVar[list[BaseException]] = []

        def run(self) -> None:
            try:
                generate(processor, inputs)
            except RuntimeError as error:
                self.raised.append(error)

    class Other(transformers.LogitsProcessor):
        def __call__(self, ids: Any, scores: Any) -> Any:  # noqa: ARG002
            if not Thread.raised:
                (other := Thread()).start()
                other.join()
            return scores

    ids = generate(processor, inputs, Other())
    assert "still runs" in str(Thread.raised[0])
    assert ORACLES[0][1](answers(ids, inputs)[0])


def test_a_loop_of_ones_own() -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    scores = torch.zeros(1, PADDED)
    for prompt in ([5, 6], [5, 6, 7]):
        ids = torch.tensor([prompt])
        processor.reset()
        while (token := int(processor(ids, scores).argmax())) != EOS:
            ids = torch.cat([ids, torch.tensor([[token]])], dim=-1)
        assert processor.statuses(ids) == [MAY_END]
    # Without it, a beginning may be a step that is taken back or a new prompt.
    other = GrammarLogitsProcessor(DATE, vocabulary())
    for length in (3, 4, 5):
        other(ids[:, :length], scores)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before each text"):
        other(ids[:, :4], scores)
    assert other(ids[:, :6], scores).isfinite().any()


def test_one_processor_for_call_after_call() -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    for prompts in (PROMPTS[:1], PROMPTS[:1], PROMPTS[1:2], PROMPTS, PROMPTS[:2], PROMPTS[:1]):
        inputs = encode(prompts)
        ids = generate(processor, inputs, Noise(1), do_sample=True)
        assert all(ORACLES[0][1](text) for text in answers(ids, inputs))
    # The next turn of a conversation.
    inputs = encode(PROMPTS[:1])
    for _ in range(3):
        ids = generate(processor, inputs)
        assert all(ORACLES[0][1](text) for text in answers(ids, inputs))
        turn = tokenizer()("\n\nNext?", return_tensors="pt")["input_ids"]
        longer = torch.cat([ids, turn], dim=-1)
        inputs = {"input_ids": longer, "attention_mask": torch.ones_like(longer)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_beams": 3},
        {"do_sample": True, "num_return_sequences": 2},
        {"prompt_lookup_num_tokens": 2},
    ],
)
def test_a_prompt_one_token_longer_is_a_new_one(options: dict[str, Any]) -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    inputs = encode(PROMPTS[:1])
    for _ in range(3):
        found = []
        for each in (processor, GrammarLogitsProcessor(DATE, vocabulary())):
            torch.manual_seed(3)
            found.append(generate(each, inputs, **options).tolist())
            assert each.statuses(torch.tensor(found[-1])) == [FINISHED] * len(found[-1])
        assert found[0] == found[1]
        one = tokenizer()("1", return_tensors="pt")["input_ids"][:, -1:]
        longer = torch.cat([inputs["input_ids"], one], dim=-1)
        inputs = {"input_ids": longer, "attention_mask": torch.ones_like(longer)}


def test_prompts_that_are_slices_of_one_tensor() -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    ids = tokenizer()("one two three four five six", return_tensors="pt")["input_ids"]
    for length in range(3, ids.shape[1] + 1):
        for prompt in (ids[:, :length], ids[:, :length].clone()):
            inputs = {"input_ids": prompt, "attention_mask": torch.ones_like(prompt)}
            (text,) = answers(generate(processor, inputs), inputs)
            assert ORACLES[0][1](text)


DIGITS = Grammar.from_regex("[0-9]{3,12}")
PADS = {"the end": EOS, "text of the grammar": 15, "no text": 0}
STOPPED: list[dict[str, Any]] = [
    {},
    {"do_sample": True, "num_return_sequences": 3},
    {"num_beams": 3},
    {"num_beams": 3, "num_return_sequences": 3, "do_sample": True},
]


class EndsRows(transformers.StoppingCriteria):
    """Ends some rows at a length, whatever they hold."""

    def __init__(self, rows: slice, length: int) -> None:
        self.rows, self.length = rows, length

    def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        done = torch.zeros(len(ids), dtype=torch.bool)
        done[self.rows] = ids.shape[1] >= self.length
        return done


class Asks(transformers.LogitsProcessor):
    """Asks another processor, of which `generate()` does not know."""

    def __init__(self, other: Any) -> None:
        self.other = other

    def __call__(self, ids: Any, scores: Any) -> Any:
        return self.other(ids, scores)


@pytest.mark.parametrize("options", [{}, {"prompt_lookup_num_tokens": 2}])
def test_a_processor_that_another_asks_knows_calls_too(options: dict[str, Any]) -> None:
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    inputs = encode(PROMPTS[:1])
    generate(Asks(processor), inputs, max_new_tokens=1)
    for _ in range(2):
        one = tokenizer()("1", return_tensors="pt")["input_ids"][:, -1:]
        longer = torch.cat([inputs["input_ids"], one], dim=-1)
        inputs = {"input_ids": longer, "attention_mask": torch.ones_like(longer)}
        ids = generate(Asks(processor), inputs, **options)
        assert ORACLES[0][1](answers(ids, inputs)[0])


class Thinks(transformers.LogitsProcessor):
    """Leaves a few tokens free before it asks another processor."""

    def __init__(self, other: Any, length: int, *, may_end: bool = False) -> None:
        self.other, self.length, self.may_end = other, length, may_end

    def __call__(self, ids: Any, scores: Any) -> Any:
        if ids.shape[1] >= self.length:
            return self.other(ids, scores)
        if not self.may_end:
            scores = scores.clone()
            scores[:, EOS] = float("-inf")
        return scores


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 3, "num_return_sequences": 3},
        {"num_beams": 3, "do_sample": True},
        {"prompt_lookup_num_tokens": 3},
        {"assistant_model": 2},
        {"assistant_model": 2, "do_sample": True},
    ],
    ids=str,
)
def test_a_text_begins_behind_what_the_model_thinks(options: dict[str, Any]) -> None:
    is_drafted = "assistant_model" in options or "prompt_lookup_num_tokens" in options
    prompts = encode(['{"name":"ab 12 {"name":"ab 12'] if is_drafted else PROMPTS[:2])
    start = prompts["input_ids"].shape[1]
    grammars = [JSON] if is_drafted else [DATE, JSON]
    processor = GrammarLogitsProcessor(grammars, vocabulary())
    if "assistant_model" in options:
        options = {**options, "assistant_model": tiny(options["assistant_model"])}
    for free in (3, 7, 1):
        torch.manual_seed(free)
        before = [] if is_drafted else [Noise(free)]
        ids = generate(Thinks(processor, start + free), prompts, *before, **options)
        statuses = processor.statuses(ids)
        texts = answers(ids, {"input_ids": ids[:, : start + free]})
        for row, (text, status) in enumerate(zip(texts, statuses, strict=True)):
            check(grammars[row * len(grammars) // len(ids)], text, status)
        assert FINISHED in statuses


class ThinksUntil(transformers.LogitsProcessor):
    """Leaves the text free up to a token, for one row."""

    def __init__(self, other: Any, start: int, token: int) -> None:
        self.other, self.start, self.token = other, start, token

    def __call__(self, ids: Any, scores: Any) -> Any:
        if self.token in ids[0, self.start :].tolist():
            return self.other(ids, scores)
        scores = scores.clone()
        scores[:, 256] = float("-inf")
        scores[:, self.token] += 2.0
        return scores


@pytest.mark.parametrize("drafts", [{"prompt_lookup_num_tokens": 4}, {"assistant_model": 7}])
def test_a_draft_in_which_the_text_begins_is_refused(drafts: dict[str, Any]) -> None:
    """Then the text begins elsewhere, or earlier, and nothing of the draft is of it."""
    small, known = in_bytes()
    if "assistant_model" in drafts:
        drafts = {"assistant_model": tiny(drafts["assistant_model"], width=257, end=256)}
    lengths = set()
    for seed in range(60 if shared.SLOW else 20):
        prompt = b"ab|{" + QUOTES[seed % 4] + b"|{" + bytes([97 + seed])
        ids = torch.tensor([list(prompt)])
        processor = GrammarLogitsProcessor(QUOTED, known)
        thinks = ThinksUntil(processor, len(prompt), ord("|"))
        options = {"logits_processor": [thinks], "attention_mask": torch.ones_like(ids)}
        for do_sample in (True, False):
            torch.manual_seed(seed)
            found = small.generate(ids, max_new_tokens=70, do_sample=do_sample, **options, **drafts)
            written = found[0, len(prompt) :].tolist()
            if ord("|") not in written:
                continue
            begun = written.index(ord("|")) + 1
            text = bytes(token for token in written[begun:] if token < 256)
            lengths.add(begun)
            (status,) = processor.statuses(found)
            assert status == {
                "complete": shared.is_text(QUOTED, text),
                "finished": written[-1] == 256,
            }
            assert shared.is_alive(QUOTED, text), text
    assert len(lengths) > 5


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("options", [{}, {"num_beams": 3, "num_return_sequences": 3}], ids=str)
def test_a_row_that_ends_before_its_text_begins(pad: str, options: dict[str, Any]) -> None:
    padded = tiny(1, pad=PADS[pad])
    inputs = encode(PROMPTS[:2])
    start = inputs["input_ids"].shape[1]
    processor = GrammarLogitsProcessor(Grammar.from_regex("[0-9]{0,9}"), vocabulary())
    found = []
    for seed in range(4):
        torch.manual_seed(seed)
        ids = padded.generate(
            **inputs,
            logits_processor=[
                Noise(seed, end=13 if options else 0),
                Thinks(processor, start + 4, may_end=True),
            ],
            stopping_criteria=[] if options else [EndsRows(slice(0, 1), start + 2)],
            max_new_tokens=20,
            **options,
        )
        statuses = processor.statuses(ids)
        for row, status in zip(ids[:, start:].tolist(), statuses, strict=True):
            if EOS in row[:4]:
                assert status == CUT
                found.append(status)
        # Though nothing is a text of the grammar, it has none.
        assert options or statuses[0] == CUT
    assert found or not options


def test_a_call_goes_on_after_one_that_failed() -> None:
    class Raises(transformers.LogitsProcessor):
        steps = 0

        def __call__(self, ids: Any, scores: Any) -> Any:  # noqa: ARG002
            self.steps += 1
            if self.steps == 3:
                raise MemoryError
            return scores

    inputs = encode(PROMPTS[:1])
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    ids = generate(processor, inputs, max_new_tokens=3)
    rest = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with pytest.raises(MemoryError):
        generate(processor, rest, Raises())
    assert ORACLES[0][1](answers(generate(processor, rest), inputs)[0])


def cut(processor: Any, inputs: dict[str, Any], **options: Any) -> Any:
    return generate(processor, inputs, Noise(1, end=-50), max_new_tokens=5, **options)


@pytest.mark.parametrize(
    "part",
    [
        lambda ids, _: ids[:, 1:],
        lambda ids, start: ids[:, start - 1 :],
        lambda ids, start: ids[:, start:],
        lambda ids, _: ids[:, 2:-1],
        lambda ids, _: ids[:, 1:].clone(),
        lambda ids, start: ids[:, start - 1 :].clone(),
        lambda ids, _: ids.flip(0)[:, 1:],
    ],
)
def test_a_part_that_does_not_begin_where_the_last_call_began(part: Any) -> None:
    """As where a text that grows too long is cut from the left."""
    inputs = encode(PROMPTS[:2])
    processor = GrammarLogitsProcessor(JSON, vocabulary())
    rest = part(cut(processor, inputs), inputs["input_ids"].shape[1])
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"does not begin where .* call reset\(\) before"):
            generate(processor, {"input_ids": rest, "attention_mask": torch.ones_like(rest)})
    processor.reset()
    ids = generate(processor, {"input_ids": rest, "attention_mask": torch.ones_like(rest)})
    assert processor.statuses(ids) == [FINISHED] * 2


@pytest.mark.parametrize("part", [slice(None, 3), slice(1, 5), slice(2, 4)])
def test_a_part_of_the_prompt_is_a_new_prompt(part: slice) -> None:
    inputs = encode(PROMPTS[1:2])
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    rest = cut(processor, inputs)[:, part]
    ids = generate(processor, {"input_ids": rest, "attention_mask": torch.ones_like(rest)})
    assert processor.statuses(ids) == [FINISHED]


def test_rows_in_another_order_are_of_other_grammars() -> None:
    inputs = encode(PROMPTS[:2])
    processor = GrammarLogitsProcessor([DATE, JSON], vocabulary())
    ids = cut(processor, inputs)
    for rest in (ids.flip(0), ids.flip(0)[:, :-1]):
        with pytest.raises(RuntimeError, match=r"not in the order .* call reset\(\) before"):
            generate(processor, {"input_ids": rest, "attention_mask": torch.ones_like(rest)})
    ids = generate(processor, {"input_ids": ids, "attention_mask": torch.ones_like(ids)})
    assert processor.statuses(ids) == [FINISHED] * 2


def test_a_generate_taken_before_it_was_taught() -> None:
    """What it gave is not known, so that it can't be gone on with, but a new text can begin."""
    taken = transformers.GenerationMixin.generate.__wrapped__
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    inputs = encode(PROMPTS[:1])

    def run(ids: Any, count: int, **options: Any) -> Any:
        mask = torch.ones_like(ids)
        options = {"logits_processor": [processor], "max_new_tokens": count, **options}
        return taken(model(), ids, attention_mask=mask, do_sample=False, **options)

    for _ in range(2):
        ids = run(inputs["input_ids"], 30)
        assert processor.statuses(ids) == [FINISHED]
    ids = run(inputs["input_ids"], 3)
    for rest in (ids, ids[:, :-1], ids[:, :-2], ids.clone()):
        for call in (run, lambda ids, _: generate(processor, {"input_ids": ids})):
            with pytest.raises(RuntimeError, match=r"not known what became .* call reset\(\)"):
                call(rest, 30)
    processor.reset()
    assert processor.statuses(run(ids, 30)) == [FINISHED]
    # But what another call gave is known.
    ids = generate(processor, inputs, max_new_tokens=2)
    ids = run(ids, 30)
    assert ORACLES[0][1](answers(ids, inputs)[0])


def test_a_call_that_was_cut_goes_on() -> None:
    inputs = encode(PROMPTS[:1])
    whole = generate(GrammarLogitsProcessor(JSON, vocabulary()), inputs)
    processor = GrammarLogitsProcessor(JSON, vocabulary())
    ids = inputs["input_ids"]
    for _ in range(60):
        if int(ids[0, -1]) == EOS:
            break
        mask = torch.ones_like(ids)
        ids = generate(processor, {"input_ids": ids, "attention_mask": mask}, max_new_tokens=1)
    assert ids.tolist() == whole.tolist()
    # Unless it is said that it does not.
    processor.reset()
    inputs = {"input_ids": ids[:, :-4], "attention_mask": torch.ones_like(ids[:, :-4])}
    ids = generate(processor, inputs, Noise(1, end=10))
    check(JSON, answers(ids, inputs)[0], processor.statuses(ids)[0])
    assert answers(ids, inputs)[0].startswith("{")


def test_prompts_without_a_grammar_are_free() -> None:
    inputs = encode(PROMPTS[:3])
    processor = GrammarLogitsProcessor([None, DATE, None], vocabulary())
    free = generate(Noise(5), inputs, max_new_tokens=12)
    ids = generate(processor, inputs, Noise(5), max_new_tokens=12)
    assert ids[[0, 2]].tolist() == free[[0, 2]].tolist()
    assert shared.is_alive(DATE, answers(ids, inputs)[1].encode())
    assert processor.statuses(ids)[0] is None


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_scores(in_place: bool, dtype: Any) -> None:
    processor = GrammarLogitsProcessor(YES_NO, vocabulary(), in_place=in_place)
    before = torch.randn(2, PADDED).to(dtype)
    scores = before.clone()
    found = processor(torch.tensor([[1], [2]]), scores)
    assert (found is scores) == in_place
    assert (scores is found) or torch.equal(scores, before)
    allowed = Matcher(YES_NO, vocabulary()).allowed_tokens()
    assert found.isfinite().nonzero()[:, 1].tolist() == allowed.tolist() * 2
    assert torch.equal(found[:, allowed], before[:, allowed])


def test_raw_logits_stay_as_they_were() -> None:
    inputs = encode(PROMPTS[:1])
    options = {"return_dict_in_generate": True, "output_logits": True, "output_scores": True}
    found = generate(GrammarLogitsProcessor(DATE, vocabulary()), inputs, **options)
    assert all(logits.isfinite().all() for logits in found.logits)
    assert all(scores.isfinite().sum() < 2000 for scores in found.scores)


def test_encoder_and_decoder() -> None:
    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=PADDED,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        eos_token_id=EOS,
        pad_token_id=0,
    )
    t5 = transformers.T5ForConditionalGeneration(config).eval()
    processor = GrammarLogitsProcessor([DATE, JSON], vocabulary_of(tokenizer(), t5))
    for _ in range(2):
        for beams in (1, 3):
            ids = t5.generate(
                **encode(PROMPTS[:2]),
                logits_processor=[Noise(2, end=8), processor],
                max_new_tokens=60,
                num_beams=beams,
                do_sample=False,
            )
            texts = answers(ids, {"input_ids": ids[:, :1]})
            for grammar, text, status in zip(
                [DATE, JSON], texts, processor.statuses(ids), strict=True
            ):
                check(grammar, text, status)


def test_a_model_that_gives_no_prompts() -> None:
    """Whisper takes them off, and the end tokens."""
    torch.manual_seed(3)
    config = transformers.WhisperConfig(
        vocab_size=PADDED,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_source_positions=50,
        max_target_positions=60,
        num_mel_bins=8,
        pad_token_id=EOS,
        eos_token_id=EOS,
        bos_token_id=EOS,
        decoder_start_token_id=EOS,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    whisper = transformers.WhisperForConditionalGeneration(config).eval()
    whisper.generation_config.eos_token_id = EOS
    processor = GrammarLogitsProcessor([DATE, JSON], vocabulary_of(tokenizer(), whisper))
    for count, options in ((40, {}), (3, {}), (40, {"num_beams": 2})):
        ids = whisper.generate(
            torch.randn(2, 8, 100),
            logits_processor=[Noise(2, end=8), processor],
            max_new_tokens=count,
            **options,
        )
        statuses = processor.statuses(ids)
        texts = answers(ids, {"input_ids": ids[:, :0]})
        for grammar, text, status in zip([DATE, JSON], texts, statuses, strict=True):
            check(grammar, text, status)
        assert statuses == ([CUT] * 2 if count == 3 else [FINISHED] * 2)
        for other in (ids[:1], ids.flip(0), ids[:, 1:]):
            with pytest.raises(ValueError, match="not the sequences"):
                processor.statuses(other)


def test_embeddings_instead_of_a_prompt() -> None:
    ids = encode(PROMPTS[:2])["input_ids"]
    inputs = {"inputs_embeds": model().get_input_embeddings()(ids).detach()}
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    for _ in range(2):
        found = generate(processor, inputs, Noise(1), do_sample=True)
        assert all(ORACLES[0][1](text) for text in answers(found, {"input_ids": found[:, :0]}))


@pytest.mark.parametrize("beams", [1, 3])
def test_a_grammar_that_names_the_end(beams: int) -> None:
    """A row that the grammar's own end has ended is padded while others go on."""
    named = Grammar.from_gbnf('root ::= "yes" <|endoftext|>')
    further = Grammar.from_gbnf('root ::= "no" <|endoftext|> "!"')
    processor = GrammarLogitsProcessor([named, DATE, further], vocabulary())
    inputs = encode(PROMPTS[:3])
    found = generate(processor, inputs, Noise(3), num_beams=beams, max_new_tokens=30)
    yes, date, no = answers(found, inputs)
    assert (yes, no) == ("yes", "no")
    assert ORACLES[0][1](date)
    assert processor.statuses(found) == [
        {"complete": True, "finished": True},
        {"complete": True, "finished": True},
        {"complete": False, "finished": False},
    ]


def test_the_ends_are_those_of_the_generation_config() -> None:
    other = tiny(1)
    other.generation_config.eos_token_id = [11, EOS]
    found = vocabulary_of(tokenizer(), other)
    assert sorted(found.eos_token_ids) == [11, EOS]
    assert found.width == PADDED
    assert vocabulary_of(tokenizer(), other, eos_token_ids=13).eos_token_ids == (13,)
    assert vocabulary_of(tokenizer()).eos_token_ids == (EOS,)
    assert vocabulary_of(tokenizer()).width == len(tokenizer())
    processor = GrammarLogitsProcessor(DATE, found)
    inputs = encode(PROMPTS[:2])
    options = {"max_new_tokens": 30, "do_sample": True}
    ends = set()
    for seed in range(6):
        torch.manual_seed(seed)
        ids = other.generate(**inputs, logits_processor=[Noise(seed), processor], **options)
        assert processor.statuses(ids) == [FINISHED] * 2
        for row in ids[:, inputs["input_ids"].shape[1] :].tolist():
            ends.add(next(token for token in row if token in {11, EOS}))
    assert ends == {11, EOS}


def test_what_was_cut_is_told_apart() -> None:
    inputs = encode(PROMPTS[:1])
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    assert processor.statuses(generate(processor, inputs)) == [FINISHED]
    assert processor.statuses(generate(processor, inputs, max_new_tokens=1)) == [CUT]
    digits = GrammarLogitsProcessor(Grammar.from_regex("[0-9]+"), vocabulary())
    ids = generate(digits, inputs, Noise(1, end=-100), max_new_tokens=4)
    assert digits.statuses(ids) == [MAY_END]
    other = encode(PROMPTS[1:2])["input_ids"]
    with pytest.raises(ValueError, match="not the sequences"):
        digits.statuses(other)


def status_of(tokens: list[int]) -> Any:
    """By definition, of a row without its padding."""
    ended = EOS in tokens
    text = b"".join(map(vocabulary().token_bytes, tokens[:-1] if ended else tokens))
    complete = shared.is_text(DIGITS, text)
    return {"complete": complete, "finished": complete and ended}


@pytest.mark.parametrize("options", STOPPED, ids=str)
@pytest.mark.parametrize("pad", PADS)
def test_a_stop_string_ends_one_row_of_many(pad: str, options: dict[str, Any]) -> None:
    """The row is padded, which is no text, whatever the padding is."""
    padded = tiny(1, pad=PADS[pad])
    inputs = encode(PROMPTS[:2])
    processor = GrammarLogitsProcessor(DIGITS, vocabulary())
    found = []
    for seed in range(4):
        torch.manual_seed(seed)
        ids = padded.generate(
            **inputs,
            logits_processor=[Noise(seed), processor],
            stop_strings=["5"],
            tokenizer=tokenizer(),
            max_new_tokens=9,
            **{"do_sample": False, **options},
        )
        statuses = processor.statuses(ids)
        rows = ids[:, inputs["input_ids"].shape[1] :].tolist()
        for row, status in zip(rows, statuses, strict=True):
            last = (t == EOS or b"5" in vocabulary().token_bytes(t) for t in row)
            tokens = row[: 1 + next((at for at, is_last in enumerate(last) if is_last), len(row))]
            assert status == status_of(tokens), (row, tokens)
            assert status is not None
            found.append((len(tokens) < len(row), status["complete"], status["finished"]))
        # In another order and number they are the same rows.
        assert processor.statuses(ids.flip(0)[1:]) == statuses[::-1][1:]
    assert (True, True, False) in found or "num_beams" in options


@pytest.mark.parametrize("pad", PADS)
def test_a_criterion_of_ones_own_ends_one_row_of_many(pad: str) -> None:
    padded = tiny(1, pad=PADS[pad])
    inputs = encode(PROMPTS[:3])
    start = inputs["input_ids"].shape[1]
    processor = GrammarLogitsProcessor([DIGITS, DATE, None], vocabulary())
    for length in (1, 2, 4):
        ids = padded.generate(
            **inputs,
            logits_processor=[Noise(length, end=-4), processor],
            stopping_criteria=[EndsRows(slice(0, 1), start + length)],
            max_new_tokens=20,
            do_sample=False,
        )
        assert set(ids[0, start + length :].tolist()) == {PADS[pad]}
        tokens = ids[0, start : start + length].tolist()
        assert processor.statuses(ids) == [status_of(tokens), FINISHED, None]
        assert not processor.statuses(ids)[0]["finished"]  # type: ignore[index]


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("options", [{}, {"num_beams": 2}], ids=str)
def test_a_row_that_was_padded_stays_ended(pad: str, options: dict[str, Any]) -> None:
    """Where a call goes on with the rows of another one, of which some were ended."""
    padded = tiny(1, pad=PADS[pad])
    inputs = encode(PROMPTS[:2])
    start = inputs["input_ids"].shape[1]
    processor = GrammarLogitsProcessor([DIGITS, JSON], vocabulary())
    ids = padded.generate(
        **inputs,
        logits_processor=[Noise(2, end=-8), processor],
        stopping_criteria=[EndsRows(slice(0, 1), start + 2)],
        max_new_tokens=6,
    )
    statuses = processor.statuses(ids)
    assert statuses == [status_of(ids[0, start : start + 2].tolist()), CUT]
    for seed in range(2):
        ids = padded.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            logits_processor=[Noise(seed, end=8), processor],
            max_new_tokens=30,
            **options,
        )
        assert processor.statuses(ids) == [statuses[0], FINISHED]
        (_, text) = answers(ids, inputs)
        assert is_valid_json(text)


def test_rows_that_no_end_token_ends_are_not_padded() -> None:
    """Then `generate()` writes on into a row that a criterion has ended, and so does the text."""
    endless = tiny(1)
    endless.generation_config.eos_token_id = None
    inputs = encode(PROMPTS[:2])
    start = inputs["input_ids"].shape[1]
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    for options in ({}, {"num_beams": 2}):
        ids = endless.generate(
            **inputs,
            logits_processor=[Noise(1), processor],
            stopping_criteria=[EndsRows(slice(0, 1), start + 2)],
            max_new_tokens=12,
            **options,
        )
        statuses = processor.statuses(ids)
        assert statuses[1] == FINISHED
        assert options or statuses[0] == FINISHED


def test_another_processor_forbids_all() -> None:
    inputs = encode(PROMPTS[:1])
    processor = GrammarLogitsProcessor(YES_NO, vocabulary())
    words = [[int(token)] for token in Matcher(YES_NO, vocabulary()).allowed_tokens()]
    with pytest.raises(MatchError, match=r"row 0: no token is left.*bad_words_ids"):
        generate(processor, inputs, bad_words_ids=words)
    with pytest.raises(MatchError, match=r"this call of .* has min_new_tokens=20"):
        generate(processor, inputs, min_new_tokens=20)
    one = {name: ids[:, -1:] for name, ids in inputs.items()}
    with pytest.raises(MatchError, match=r"this call of .* has forced_bos_token_id=0, perhaps"):
        generate(processor, one, forced_bos_token_id=0)
    # It goes on as if nothing had been.
    assert answers(generate(processor, inputs), inputs)[0] in {"yes", "no"}


class Force(transformers.LogitsProcessor):
    """Puts a token into a place, whatever the grammar says."""

    def __init__(self, length: int, token: int) -> None:
        self.length, self.token = length, token

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if input_ids.shape[1] == self.length:
            scores = torch.full_like(scores, float("-inf"))
            scores[:, self.token] = 0.0
        return scores


def test_a_forced_token_is_an_error() -> None:
    inputs = encode(PROMPTS[:1])
    token = tokenizer().convert_tokens_to_ids("Q")
    processor = GrammarLogitsProcessor(DATE, vocabulary())
    force = Force(inputs["input_ids"].shape[1] + 1, token)
    with pytest.raises(MatchError, match=r"row 0: token 48 \(b'Q'\) was put behind 1 tokens"):
        model().generate(**inputs, logits_processor=[processor, force], max_new_tokens=9)
    ids = generate(processor, inputs)
    assert ORACLES[0][1](answers(ids, inputs)[0])
    # Before ours it leaves nothing.
    with pytest.raises(MatchError, match="no token is left"):
        generate(processor, inputs, force)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: GrammarLogitsProcessor([], vocabulary()), ValueError, "no grammars"),
        (lambda: GrammarLogitsProcessor("x", vocabulary()), TypeError, "not str"),
        (
            lambda: GrammarLogitsProcessor(None, vocabulary()),  # type: ignore[arg-type]
            TypeError,
            "a list with one for each prompt, not None",
        ),
        (
            lambda: GrammarLogitsProcessor(DATE, vocabulary()).statuses(None),  # type: ignore[arg-type]
            TypeError,
            "the tensor that .* returned, .* not NoneType",
        ),
        (lambda: vocabulary_of(tokenizer(), 5), TypeError, "model of transformers, not int"),
        (lambda: GrammarLogitsProcessor(["x"], vocabulary()), TypeError, "not str"),
        (lambda: GrammarLogitsProcessor(DATE, tokenizer()), TypeError, "vocabulary_of"),
        (
            lambda: GrammarLogitsProcessor([DATE, JSON], vocabulary())(*rows(3)),
            ValueError,
            "2 grammars",
        ),
        (lambda: GrammarLogitsProcessor(DATE, vocabulary())(*rows(1, 9)), ValueError, "columns"),
        (
            lambda: GrammarLogitsProcessor(DATE, vocabulary_of(tokenizer()))(*rows(1)),
            ValueError,
            r"50304 columns, but the vocabulary 50257 tokens: .*vocabulary_of\(tokenizer, model\)",
        ),
        (
            lambda: GrammarLogitsProcessor(DATE, vocabulary())(rows(1)[0], rows(2)[1]),
            ValueError,
            "don't fit",
        ),
        (
            lambda: vocabulary_of(tokenizer(), tiny(1, width=40000, end=1)),
            VocabularyError,
            "width 40000",
        ),
    ],
)
def test_bad_arguments(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def rows(count: int, columns: int = PADDED) -> tuple[Any, Any]:
    return torch.ones(count, 3, dtype=torch.int64), torch.zeros(count, columns)


def test_a_hostile_model() -> None:
    """Random logits, mixed grammars, all ways to generate: everything is valid."""
    choose = random.Random(0)
    count = 1000 if shared.SLOW else 60
    ways: list[dict[str, Any]] = [
        {},
        {"do_sample": True},
        {"do_sample": True, "temperature": 3.0},
        {"do_sample": True, "num_return_sequences": 2},
        {"num_beams": 2},
        {"num_beams": 3, "num_return_sequences": 3},
        {"num_beams": 2, "do_sample": True},
    ]
    done, finished, seed = 0, 0, 0
    while done < count:
        seed += 1
        grammars = [choose.choice(ORACLES)[0] for _ in range(choose.choice([1, 2, 5]))]
        each = choose.choice([1, 2])
        prompts = [choose.choice(PROMPTS) for _ in range(each * len(grammars))]
        inputs = encode(prompts, choose.choice(["left", "right"]))
        processor = GrammarLogitsProcessor(grammars, vocabulary())
        torch.manual_seed(seed)
        ids = generate(processor, inputs, Noise(seed, end=10), **choose.choice(ways))
        for row, (text, status) in enumerate(
            zip(answers(ids, inputs), processor.statuses(ids), strict=True)
        ):
            check(grammars[row * len(grammars) // len(ids)], text, status)
            finished += status == FINISHED
        done += len(ids)
    assert finished > count * 0.9


@pytest.mark.parametrize("name", ["llama3", "gemma3"])
@pytest.mark.skipif(not shared.SLOW, reason="the slow tier; needs torch")
def test_larger_vocabularies(name: str) -> None:
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=shared.tokenizer(name))
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=shared.tokenizer(name).get_vocab_size() + 64,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        eos_token_id=shared.EOS[name],
        pad_token_id=0,
        bos_token_id=None,
    )
    large = transformers.LlamaForCausalLM(config).eval()
    known = vocabulary_of(fast, large)
    processor = GrammarLogitsProcessor([DATE, JSON], known)
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    for seed in range(5):
        for options in ({"do_sample": True}, {"num_beams": 2}):
            torch.manual_seed(seed)
            found = large.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                logits_processor=[Noise(seed), processor],
                max_new_tokens=60,
                **options,
            )
            statuses = processor.statuses(found)
            for row, grammar in enumerate([DATE, JSON]):
                tokens = found[row, 3:].tolist()
                end = min(
                    (tokens.index(e) for e in known.eos_token_ids if e in tokens), default=None
                )
                text = b"".join(map(known.token_bytes, tokens[:end])).decode("utf-8", "replace")
                check(grammar, text, statuses[row])


def test_numpy_is_what_torch_shares() -> None:
    """CPU scores are written through their own memory."""
    processor = GrammarLogitsProcessor(YES_NO, vocabulary(), in_place=True)
    memory = np.zeros((1, PADDED), np.float32)
    found = processor(torch.tensor([[1]]), torch.from_numpy(memory))
    assert found.data_ptr() == memory.ctypes.data
    assert np.isfinite(memory).sum() == len(Matcher(YES_NO, vocabulary()).allowed_tokens())


def test_the_example_runs(tmp_path: Any) -> None:
    folder = tmp_path / "model"
    model().save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    command = [sys.executable, str(shared.ROOT / "examples" / "transformers_pipeline.py")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [*command, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    orders = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(orders) == 2
    assert all(set(order) == {"product", "cups", "name"} for order in orders)
    assert all(1 <= order["cups"] <= 20 for order in orders)
