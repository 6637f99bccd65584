"""`earmark.llama_cpp` with a real llama-cpp-python and a real model: what a caller sees."""

from __future__ import annotations

import ctypes
import gc
import json
import re
import weakref
from functools import partial
from inspect import signature
from itertools import takewhile
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import earmark
import llama_model as models

llama_cpp = pytest.importorskip("llama_cpp")

from earmark.llama_cpp import (  # noqa: E402
    GrammarLogitsProcessor,
    LlamaGrammar,
    UnsupportedLlamaCppError,
    generate,
    vocabulary,
)
from earmark.llama_cpp._layout import sampler_layout  # noqa: E402
from earmark.llama_cpp._sampler import add_matcher, native_sampler  # noqa: E402

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
PROMPT = "A person as JSON: "


@pytest.fixture
def llama() -> Any:
    return models.load()


def person(text: str) -> dict[str, Any]:
    value = json.loads(text)
    assert list(value) == ["name", "age"]
    assert len(value["name"]) <= 12
    assert 0 <= value["age"] <= 150
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("temperature", [0.0, 0.8, 2.0, -1.0])
def test_completions(llama: Any, temperature: float) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    result = llama.create_completion(
        PROMPT, grammar=grammar, max_tokens=200, temperature=temperature, seed=3
    )
    (choice,) = result["choices"]
    person(choice["text"])
    assert choice["finish_reason"] == "stop"
    assert choice["earmark"] == {"complete": True, "finished": True}
    # `Llama.__call__` is the same, and so is another turn.
    again = llama(PROMPT, grammar=grammar, max_tokens=200, temperature=temperature, seed=3)
    assert again["choices"] == result["choices"]


@pytest.mark.parametrize("mode", [1, 2])
def test_mirostat(llama: Any, mode: int) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    result = llama(PROMPT, grammar=grammar, max_tokens=200, mirostat_mode=mode, seed=5)
    person(result["choices"][0]["text"])


def test_penalties_and_other_samplers(llama: Any) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    options = {
        "repeat_penalty": 1.3,
        "frequency_penalty": 0.5,
        "presence_penalty": 0.5,
        "top_k": 0,
        "top_p": 0.9,
        "min_p": 0.01,
        "typical_p": 0.8,
        "logit_bias": {"30": 5.0},
    }
    result = llama(PROMPT, grammar=grammar, max_tokens=200, seed=6, **options)
    person(result["choices"][0]["text"])


def test_seeds_differ_and_repeat(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[a-z]{20}")

    def run(seed: int) -> str:
        result = llama("Letters:", grammar=grammar, max_tokens=30, temperature=1.5, seed=seed)
        text: str = result["choices"][0]["text"]
        assert re.fullmatch("[a-z]{20}", text)
        return text

    texts = [run(seed) for seed in range(4)]
    assert len(set(texts)) > 1
    assert texts == [run(seed) for seed in range(4)]


def test_streaming_gives_the_same_text_and_the_status(llama: Any) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    options: dict[str, Any] = {"grammar": grammar, "max_tokens": 200, "seed": 9}
    whole = llama.create_completion(PROMPT, **options)
    chunks = list(llama.create_completion(PROMPT, stream=True, **options))
    assert "".join(it["choices"][0]["text"] for it in chunks) == whole["choices"][0]["text"]
    ends = [it["choices"][0] for it in chunks if "earmark" in it["choices"][0]]
    assert ends == [chunks[-1]["choices"][0]]
    assert ends[0]["earmark"] == {"complete": True, "finished": True}
    assert ends[0]["finish_reason"] == "stop"


def test_cut_off_by_max_tokens(llama: Any) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    (choice,) = llama(PROMPT, grammar=grammar, max_tokens=3, seed=1)["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["earmark"] == {"complete": False, "finished": False}
    # Complete, though more could follow.
    letters = LlamaGrammar.from_regex("[a-z ]+")
    (choice,) = llama(PROMPT, grammar=letters, max_tokens=3, seed=1)["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["earmark"] == {"complete": True, "finished": False}


def test_stop_strings_cut_the_text_and_the_status_is_of_what_is_left(llama: Any) -> None:
    grammar = LlamaGrammar.from_string('root ::= "one, two, three"')
    for stop, text, complete in [
        (", three", "one, two", False),
        ("hree", "one, two, t", False),
        ("nothing", "one, two, three", True),
    ]:
        (choice,) = llama("Count: ", grammar=grammar, stop=[stop], max_tokens=50)["choices"]
        assert (choice["text"], choice["finish_reason"]) == (text, "stop")
        assert choice["earmark"]["complete"] == complete
    either = LlamaGrammar.from_string('root ::= "one, two" (", three")')
    shorter = LlamaGrammar.from_regex("one, two(, three)?")
    for grammar, complete in [(either, False), (shorter, True)]:
        for stream in (False, True):
            answer = llama(
                "one, two, three\none, two, three\n",
                grammar=grammar,
                stop=", three",
                temperature=0,
                stream=stream,
                max_tokens=50,
            )
            last = list(answer)[-1] if stream else answer
            assert last["choices"][0]["earmark"]["complete"] == complete


def test_echo_and_stopping_criteria(llama: Any) -> None:
    grammar = LlamaGrammar.from_string('root ::= "yes!"')
    (choice,) = llama("Well: ", grammar=grammar, echo=True, max_tokens=9)["choices"]
    assert choice["text"] == "Well: yes!"
    assert choice["earmark"]["complete"]
    criteria = llama_cpp.StoppingCriteriaList([lambda ids, _logits: len(ids) > 8])
    grammar = LlamaGrammar.from_regex("[a-z]{50}")
    (choice,) = llama("Letters: ", grammar=grammar, stopping_criteria=criteria)["choices"]
    assert choice["earmark"] == {"complete": False, "finished": False}


def test_chat(llama: Any) -> None:
    grammar = LlamaGrammar.from_json_schema(PERSON)
    messages = [{"role": "user", "content": PROMPT}]
    answer = llama.create_chat_completion(messages, grammar=grammar, max_tokens=200, seed=2)
    (choice,) = answer["choices"]
    person(choice["message"]["content"])
    assert choice["earmark"] == {"complete": True, "finished": True}
    chunks = list(
        llama.create_chat_completion(messages, grammar=grammar, max_tokens=200, seed=2, stream=True)
    )
    deltas = [it["choices"][0]["delta"].get("content") or "" for it in chunks]
    assert "".join(deltas) == choice["message"]["content"]
    assert chunks[-1]["choices"][0]["earmark"] == choice["earmark"]
    # A chat without a grammar is what it was.
    answer = llama.create_chat_completion(messages, max_tokens=4)
    assert "earmark" not in answer["choices"][0]


def test_chats_that_are_read_later_keep_their_status(llama: Any) -> None:
    messages = [{"role": "user", "content": PROMPT}]
    person = LlamaGrammar.from_json_schema(PERSON)
    letters = LlamaGrammar.from_regex("[a-z]{50}")
    first = llama.create_chat_completion(messages, grammar=person, max_tokens=99, stream=True)
    second = llama.create_chat_completion(messages, grammar=letters, max_tokens=3, stream=True)
    third = llama.create_chat_completion(messages, max_tokens=3, stream=True)
    plain = llama.create_chat_completion(messages, max_tokens=2)
    assert "earmark" not in plain["choices"][0]
    *_, end = third
    assert "earmark" not in end["choices"][0]
    *_, end = second
    assert end["choices"][0]["earmark"] == {"complete": False, "finished": False}
    assert end["choices"][0]["finish_reason"] == "length"
    *_, end = first
    assert end["choices"][0]["earmark"] == {"complete": True, "finished": True}
    assert end["choices"][0]["finish_reason"] == "stop"


def other_uses(llama: Any) -> list[Any]:
    """Uses of a `Llama`, some of which leave as many tokens in its context as there were."""

    def as_long() -> None:
        count = llama.n_tokens
        list(zip(range(2), llama.generate([9] * (count - 1)), strict=False))
        assert llama.n_tokens == count

    def evaluated() -> None:
        count = llama.n_tokens
        llama.reset()
        llama.eval([9] * count)

    def another() -> None:
        next(generate(llama, "Another", LlamaGrammar.from_regex("[a-z]{50}")))

    completion = partial(llama.create_completion, "Other", max_tokens=2)
    return [completion, as_long, evaluated, another, llama.reset]


@pytest.mark.parametrize("use", range(5))
def test_a_stream_whose_model_was_used_for_something_else(llama: Any, use: int) -> None:
    grammar = LlamaGrammar.from_regex("[a-z]{50}")
    messages = [{"role": "user", "content": PROMPT}]
    streamed: dict[str, Any] = {"grammar": grammar, "stream": True, "max_tokens": 40}
    for start in (
        lambda: llama.create_completion(PROMPT, **streamed),
        lambda: llama.create_chat_completion(messages, **streamed),
        lambda: generate(llama, PROMPT, grammar),
    ):
        stream = start()
        for _ in range(3):
            next(stream)
        other_uses(llama)[use]()
        with pytest.raises(RuntimeError, match="its Llama has been used for something else"):
            list(stream)


def test_generations_in_turns(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[a-z]{50}")
    first, second = (generate(llama, prompt, grammar) for prompt in ("one of", "two of"))
    next(first)
    # The other begins when it is asked, and takes the model from the first.
    begun = [next(second)]
    with pytest.raises(RuntimeError, match="its Llama has been used for something else"):
        list(first)
    assert len(begun + list(second)) > 3


def test_a_generation_that_is_not_asked_leaves_its_model_alone(llama: Any) -> None:
    tokens = llama.tokenize(b"The capital of France is Paris")
    beginning = tokens[:4]
    llama.reset()
    fresh = next(llama.generate(beginning, temp=0.0))
    llama.create_completion(tokens, max_tokens=2, temperature=0.0)
    before = (llama.n_tokens, llama.input_ids.tolist(), llama._seed)
    grammar = LlamaGrammar.from_regex("[a-z ]+")
    waiting = generate(llama, [*beginning, 11, 12], grammar, seed=5, max_tokens=4)
    assert (llama.n_tokens, llama.input_ids.tolist(), llama._seed) == before
    assert next(llama.generate(beginning, temp=0.0)) == fresh
    # It begins when it is asked, whatever the model was used for in between.
    found = list(waiting)
    assert found == list(generate(llama, [*beginning, 11, 12], grammar, seed=5, max_tokens=4))
    # And if the model fails then, its next call does not take old logits for new ones.
    llama.create_completion(tokens, max_tokens=2, temperature=0.0)
    failing = generate(llama, [*beginning, 11, 12], grammar)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(llama), "eval", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next(failing)
    assert next(llama.generate(beginning, temp=0.0)) == fresh


def test_generate_in_turns_with_one_grammar(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[a-m]{8}")
    one, two = llama.tokenize(b"one"), llama.tokenize(b"two two")
    completion = partial(llama.create_completion, "x", grammar=grammar, max_tokens=3)
    for other in (lambda: next(llama.generate(two, grammar=grammar)), completion, llama.reset):
        first = llama.generate(one, grammar=grammar, temp=2.0)
        next(first)
        other()
        with pytest.raises(RuntimeError, match=r"this Llama.generate\(\) can't go on"):
            next(first)
    alone = llama.generate(one, grammar=grammar, temp=2.0)
    tokens = list(takewhile(lambda token: not is_end(llama, token), alone))
    assert re.fullmatch("[a-m]{8}", models.text_of(llama, tokens))


def test_a_grammar_given_by_place(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("a{1,40}")
    prompt = llama.tokenize(PROMPT.encode())

    def placed(call: Any, *args: Any) -> Any:
        """The call with all its arguments by place, the grammar the last."""
        after = list(signature(call).parameters.values())[len(args) :]
        names = [it.name for it in after]
        defaults = [it.default for it in after[: names.index("grammar")]]
        return call(*args, *defaults, grammar)

    tokens = placed(llama.generate, prompt)
    assert llama.detokenize([next(tokens), next(tokens)]).strip(b"a") == b""
    list(zip(range(2), llama.generate(prompt[:3], grammar=grammar), strict=False))
    with pytest.raises(RuntimeError, match="used for something else"):
        next(tokens)
    next(llama.generate(prompt, grammar=LlamaGrammar.from_regex("b{9}")))
    with pytest.raises(RuntimeError, match="take no notice of its grammar"):
        placed(llama.sample)
    (choice,) = next(placed(llama._create_completion, PROMPT))["choices"]
    assert choice["earmark"] == {"complete": True, "finished": len(choice["text"]) == 40}
    messages = [{"role": "user", "content": "a"}]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "chat_format", "functionary-v1")
        chat = partial(placed, partial(llama.create_chat_completion, messages, [{"name": "f"}]))
        with pytest.raises(ValueError, match="leave the grammar without effect"):
            chat()


def test_a_context_that_is_full() -> None:
    llama = models.load(n_ctx=256)
    grammar = LlamaGrammar.from_regex("[a-z]+")
    room = llama.n_ctx()
    tokens = llama.generate([5] * (room - 4), grammar=grammar, temp=0.0)
    full = rf"context of {room} tokens is full, by {room - 4} of the prompt and 5 behind it"
    with pytest.raises(ValueError, match=full):
        list(tokens)
    too_long = [5] * (room + 1)
    why = f"the prompt has {room + 1} tokens and the context {room}; shorten"
    with pytest.raises(ValueError, match=why):
        next(llama.generate(too_long, grammar=grammar))
    with pytest.raises(ValueError, match=f"exceed context window of {room}; shorten the prompt"):
        llama.create_completion(too_long, grammar=grammar)


def test_a_grammar_of_earmarks_as_it_is(llama: Any) -> None:
    grammar = earmark.Grammar.from_regex("(yes|no)!")
    (choice,) = llama.create_completion("Well? ", grammar=grammar, max_tokens=9)["choices"]
    assert choice["text"] in ("yes!", "no!")
    assert choice["earmark"] == {"complete": True, "finished": True}
    messages = [{"role": "user", "content": "Well?"}]
    (choice,) = llama.create_chat_completion(messages, grammar=grammar)["choices"]
    assert choice["message"]["content"] in ("yes!", "no!")
    tokens = llama.generate(llama.tokenize(b"Well? "), grammar=grammar)
    assert next(tokens) not in vocabulary(llama).eos_token_ids


def test_a_grammar_that_names_the_end(llama: Any) -> None:
    grammar = LlamaGrammar.from_string('root ::= "a" "b"? <|im_end|>')
    (choice,) = llama("Letters: ", grammar=grammar, max_tokens=9)["choices"]
    assert choice["text"] in ("a", "ab")
    assert choice["finish_reason"] == "stop"
    assert choice["earmark"] == {"complete": True, "finished": True}
    generation = generate(llama, "Letters: ", grammar)
    assert models.text_of(llama, list(generation)) in ("a", "ab")
    assert generation.status == {"complete": True, "finished": True}
    # Where more has to follow, the model's end is not the grammar's.
    grammar = LlamaGrammar.from_string('root ::= "a" <|im_end|> "b"')
    (choice,) = llama("Letters: ", grammar=grammar, max_tokens=9)["choices"]
    assert choice["earmark"] == {"complete": False, "finished": False}


def test_generate_and_sample(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("(yes|no), [a-z]+[.]")
    tokens = []
    for token in llama.generate(llama.tokenize(b"Well? "), grammar=grammar, temp=0.5):
        if token in vocabulary(llama).eos_token_ids:
            break
        tokens.append(token)
        assert len(tokens) < 200
    assert re.fullmatch("(yes|no), [a-z]+[.]", models.text_of(llama, tokens))
    # `sample` by itself starts a text at each call, as it does with llama.cpp's grammars.
    llama._sampler = None
    assert models.text_of(llama, [llama.sample(grammar=grammar, temp=0.0)]) in "yes no"
    assert llama._sampler is None


def test_a_sample_that_would_take_no_notice_of_its_grammar(llama: Any) -> None:
    first, second = LlamaGrammar.from_regex("[a-z]{9}"), LlamaGrammar.from_regex("[0-9]{9}")
    llama.create_completion("Well? ", max_tokens=1)
    with pytest.raises(RuntimeError, match="take no notice of its grammar"):
        llama.sample(grammar=first)
    tokens = llama.tokenize(b"Well? ")
    generations = [llama.generate(tokens, grammar=it) for it in (first, second)]
    assert all(isinstance(next(it), int) for it in generations)
    with pytest.raises(RuntimeError, match="its Llama has been used for something else"):
        next(generations[0])
    # What has been kept is for the same grammar.
    assert llama.sample(grammar=second.grammar) >= 0
    assert llama.sample() >= 0


def test_all_ends_of_generation(llama: Any) -> None:
    sampler = llama._init_sampler(grammar=LlamaGrammar.from_string('root ::= "a"'), temp=1.0)
    native = native_sampler(sampler)
    assert native is not None
    (a,) = llama.tokenize(b"a", add_bos=False)
    sampler.accept(a)
    ends = {it for it in range(llama.n_vocab()) if is_end(llama, it)}
    assert set(native.matcher().allowed_tokens()) == ends
    assert len(ends) > 1


def is_end(llama: Any, token: int) -> bool:
    return bool(llama_cpp.llama_vocab_is_eog(llama._model.vocab, token))


def test_control_tokens_are_never_text(llama: Any) -> None:
    allowed = earmark.Matcher(earmark.Grammar.from_regex("(.|\n)*"), vocabulary(llama))
    ids = set(allowed.allowed_tokens().tolist())
    control = {it for it in range(llama.n_vocab()) if llama._model.token_get_attr(it) & (1 << 3)}
    assert control
    assert {it for it in ids & control if not is_end(llama, it)} == set()
    # A grammar may name them.
    start = llama.tokenize(b"<|im_start|>", add_bos=False, special=True)
    grammar = LlamaGrammar.from_string('root ::= <|im_start|> "tool"')
    made = llama.generate(llama.tokenize(b"Hi"), grammar=grammar, temp=0.0)
    assert [next(made)] == start


def test_clones_go_their_own_ways(llama: Any) -> None:
    sampler = llama._init_sampler(grammar=LlamaGrammar.from_regex("ab|cd"), temp=0.0)
    a, b, c = (llama.tokenize(it, add_bos=False)[0] for it in (b"a", b"b", b"c"))
    copy = sampler.clone()
    sampler.accept(a)
    copy.accept(c)
    with pytest.raises(earmark.MatchError):
        copy.accept(b)
    sampler.accept(b)
    third = sampler.clone()
    for it, complete in [(sampler, True), (copy, False), (third, True)]:
        native = native_sampler(it)
        assert native is not None
        assert native.matcher().is_accepting == complete
    sampler.reset()
    native = native_sampler(sampler)
    assert native is not None
    assert native.matcher().accepted() == []
    for it in (copy, sampler, third):
        it.close()


def test_a_token_forced_in_that_the_grammar_refuses(llama: Any) -> None:
    sampler = llama._init_sampler(grammar=LlamaGrammar.from_regex("ab"), temp=0.0)
    (a, x) = (llama.tokenize(it, add_bos=False)[0] for it in (b"a", b"x"))
    sampler.accept(a)
    with pytest.raises(earmark.MatchError, match='"x" can\'t come here'):
        sampler.accept(x)
    with pytest.raises(earmark.MatchError, match="out of range"):
        sampler.accept(10**6)
    native = native_sampler(sampler)
    assert native is not None
    assert native.matcher().accepted() == [a]


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_sampler_for_another_model(llama: Any, size: int) -> None:
    tokens = [b"a", b"b", *(b"b%d" % number for number in range(3, size)), b""]
    other = earmark.Vocabulary(tokens, eos_token_ids=size - 1)
    sampler = llama._init_sampler(temp=0.0)
    add_matcher(sampler, earmark.Matcher(earmark.Grammar.from_regex("ab"), other))
    llama.reset()
    llama.eval(llama.tokenize(b"Hi"))
    with pytest.raises(earmark.MatchError, match="the model that it was made for"):
        sampler.sample(llama._ctx)


def test_a_grammar_that_names_a_token_the_model_lacks(llama: Any) -> None:
    grammar = LlamaGrammar.from_string("root ::= <|no_such_token|>")
    with pytest.raises(earmark.GrammarError, match="no_such_token"):
        llama("Hi", grammar=grammar)
    person(
        llama(PROMPT, grammar=LlamaGrammar.from_json_schema(PERSON), max_tokens=99)["choices"][0][
            "text"
        ]
    )


def test_constructors(tmp_path: Any) -> None:
    assert isinstance(LlamaGrammar.from_string("root ::= [a-c]"), llama_cpp.LlamaGrammar)
    for name, text in [("g.gbnf", 'root ::= "a"'), ("g.lark", 'start: "a"')]:
        path = tmp_path / name
        path.write_text(text)
        for file in (path, str(path)):
            assert LlamaGrammar.from_file(file).grammar.source == text
    assert LlamaGrammar.from_lark('begin: "a"', start="begin").grammar.kind == "lark"
    assert LlamaGrammar.from_regex("a").grammar.kind == "regex"
    grammar = earmark.Grammar.from_regex("a")
    assert LlamaGrammar.from_grammar(grammar).grammar is grammar
    assert LlamaGrammar.from_json_schema(json.dumps(PERSON), False, indent=2).grammar
    assert LlamaGrammar(_grammar='root ::= "a"').grammar.kind == "gbnf"
    with pytest.raises(TypeError, match=r"takes an earmark.Grammar, not NoneType"):
        LlamaGrammar()
    with pytest.raises(TypeError, match=r"takes an earmark.Grammar, not str"):
        LlamaGrammar("root ::= [a]")  # type: ignore[arg-type]
    with pytest.raises(earmark.GrammarError, match="line 1"):
        LlamaGrammar.from_string("root ::= nothing")
    with pytest.raises(FileNotFoundError):
        LlamaGrammar.from_file(tmp_path / "none.gbnf")
    with pytest.raises(NotImplementedError, match=r"llama\.cpp's own engine"):
        LlamaGrammar.from_regex("a")._grammar.encode()


def test_other_grammars_are_left_alone(llama: Any) -> None:
    theirs = llama_cpp.LlamaGrammar.from_string('root ::= "yes" | "no"', verbose=False)
    assert type(theirs) is llama_cpp.LlamaGrammar
    (choice,) = llama("Well? ", grammar=theirs, max_tokens=5)["choices"]
    assert choice["text"] in ("yes", "no")
    assert "earmark" not in choice


def test_one_vocabulary_a_model_which_does_not_keep_it_alive() -> None:
    path = str(models.smollm2_path())
    llama = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    made = vocabulary(llama)
    assert vocabulary(llama) is made
    assert vocabulary(llama._model) is made
    assert made.encode is not None
    assert made.encode(b"a")
    assert vocabulary(models.load()) is not made
    model = weakref.ref(llama._model)
    del llama
    gc.collect()
    assert model() is None
    with pytest.raises(earmark.VocabularyError, match="the vocabulary's model is closed"):
        made.encode(b"a")


def test_a_text_that_the_vocabulary_can_not_write(llama: Any) -> None:
    # No token of SmolLM2 has these bytes.
    grammar = LlamaGrammar.from_regex(r"a\x04|bc")
    (letter,) = llama.tokenize(b"a", add_bos=False)
    why = "the text can't go on: the grammar expects .*no token of the model's vocabulary can write"
    options: dict[str, Any] = {"max_tokens": 9, "temperature": 0.0}
    with pytest.raises(earmark.MatchError, match=why) as caught:
        llama("A", grammar=grammar, logit_bias={letter: 1e9}, **options)
    assert "sampler before" not in str(caught.value)
    processor = GrammarLogitsProcessor(llama, grammar)
    with pytest.raises(earmark.MatchError, match=why):
        llama("A", logits_processor=[processor], logit_bias={letter: 1e9}, **options)
    with pytest.raises(earmark.MatchError, match=why):
        list(generate(llama, PROMPT, LlamaGrammar.from_regex(r"a\x04")))


def test_what_has_made_the_allowed_tokens_impossible_is_said(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[^!]{9}!")
    marks = llama.tokenize(b"!", add_bos=False)

    def only(_: Any, scores: Any) -> Any:
        left = np.full_like(scores, -np.inf)
        left[marks] = 0.0
        return left

    why = r"it was sampled all the same: .* A logits processor, logit_bias or"
    with pytest.raises(earmark.MatchError, match=why):
        llama(PROMPT, grammar=grammar, logits_processor=[only], temperature=0.0)
    processor = GrammarLogitsProcessor(llama, grammar)
    messages = [{"role": "user", "content": "a"}]
    for name, value, why in (
        ("repeat_penalty", 0.0, "repeat_penalty is a number above 0, 1 for none, not 0.0"),
        ("repeat_penalty", -1.0, "repeat_penalty is a number above 0, 1 for none, not -1.0"),
        ("frequency_penalty", np.inf, "frequency_penalty is a number, not inf"),
        ("presence_penalty", np.nan, "presence_penalty is a number, not nan"),
    ):
        for given in ({"grammar": grammar}, {"logits_processor": [processor]}):
            for call in (
                partial(llama.create_completion, PROMPT),
                partial(llama.create_chat_completion, messages),
            ):
                with pytest.raises(ValueError, match=why):
                    call(**given, **{name: value})
    # Elsewhere they are the library's matter.
    llama(PROMPT, max_tokens=1, repeat_penalty=0.0)


def test_use_after_close() -> None:
    llama = llama_cpp.Llama(str(models.smollm2_path()), n_ctx=64, verbose=False)
    model = llama._model
    llama.close()
    with pytest.raises(earmark.VocabularyError, match="the model is closed; load it again"):
        vocabulary(model)
    with pytest.raises(TypeError, match=r"takes a llama_cpp.Llama, not str"):
        vocabulary("model.gguf")


def test_a_closed_model_is_not_read() -> None:
    llama = llama_cpp.Llama(str(models.smollm2_path()), n_ctx=128, verbose=False)
    grammar = LlamaGrammar.from_regex("a{1,40}")
    tokens = generate(llama, PROMPT, grammar)
    stream = llama.create_completion(PROMPT, grammar=grammar, stream=True, max_tokens=8)
    next(stream)
    other = llama_cpp.Llama(str(models.smollm2_path()), n_ctx=128, verbose=False)
    plain = other.generate(other.tokenize(PROMPT.encode()), grammar=grammar)
    next(plain)
    other.close()
    llama.close()
    for use in (
        lambda: next(plain),
        lambda: generate(llama, PROMPT, grammar),
        lambda: list(tokens),
        lambda: list(stream),
        lambda: llama.sample(grammar=grammar),
        lambda: llama.create_completion(PROMPT, grammar=grammar),
        lambda: llama.create_chat_completion([{"role": "user", "content": "a"}], grammar=grammar),
    ):
        with pytest.raises(earmark.VocabularyError, match="model is closed"):
            use()


def test_a_stream_has_no_echo(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("a{1,40}")
    arguments = {"grammar": grammar, "max_tokens": 6, "temperature": 0.0, "echo": True}
    *_, last = llama.create_completion("a", stream=True, **arguments)
    text = llama.create_completion("a", **arguments)["choices"][0]
    assert last["choices"][0]["earmark"] == text["earmark"]


def test_threads_with_models_of_their_own() -> None:
    path = str(models.smollm2_path())
    llamas = [llama_cpp.Llama(path, n_ctx=256, n_threads=1, verbose=False) for _ in range(2)]
    grammar = LlamaGrammar.from_json_schema(PERSON)
    texts: list[str] = []

    def run(llama: Any) -> None:
        for seed in range(3):
            result = llama(PROMPT, grammar=grammar, max_tokens=100, temperature=1.5, seed=seed)
            texts.append(result["choices"][0]["text"])

    threads = [Thread(target=run, args=(llama,)) for llama in llamas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 6
    for text in texts:
        person(text)
    for llama in llamas:
        llama.close()


def test_speculative_decoding_gives_the_same_text() -> None:
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    schema = {
        "type": "array",
        "items": {"enum": ["alpha beta", "gamma"]},
        "maxItems": 6,
        "minItems": 3,
    }
    grammar = LlamaGrammar.from_json_schema(schema, separators=(", ", ": "))
    prompt = '["alpha beta", "gamma", "alpha beta", "gamma"]\n' * 2
    drafting = models.load(draft_model=LlamaPromptLookupDecoding(num_pred_tokens=6), n_ctx=512)
    results = [
        llama(prompt, grammar=grammar, max_tokens=100, temperature=0)["choices"][0]
        for llama in (models.load(), drafting, models.load(logits_all=True, n_ctx=512))
    ]
    json.loads(results[0]["text"])
    assert results[0]["earmark"]["complete"]
    for other in results[1:]:
        assert other["text"] == results[0]["text"]
        assert other["earmark"] == results[0]["earmark"]


def test_logprobs() -> None:
    llama = models.load(logits_all=True, n_ctx=512)
    grammar = LlamaGrammar.from_regex("[0-9]{3}")
    (choice,) = llama("Number: ", grammar=grammar, logprobs=2, max_tokens=9)["choices"]
    assert len(choice["text"]) == 3
    assert len(choice["logprobs"]["tokens"]) >= 1


def test_logits_processor(llama: Any) -> None:
    processor = GrammarLogitsProcessor(llama, earmark.Grammar.from_regex("(yes|no), [a-z]{1,5}[.]"))
    processors = llama_cpp.LogitsProcessorList([processor])
    # One object for several generations, the same prompt again among them.
    for seed, prompt in [(1, "Well? "), (2, "Well? "), (3, "So what? ")]:
        result = llama(prompt, logits_processor=processors, max_tokens=30, seed=seed)
        assert re.fullmatch("(yes|no), [a-z]{1,5}[.]", result["choices"][0]["text"])
        assert processor.matcher.is_accepting
    scores = np.zeros(llama.n_vocab(), dtype=np.single)
    processor.reset()
    masked = processor(np.array([1, 2], dtype=np.intc), scores)
    assert np.isfinite(masked).sum() == len(processor.matcher.allowed_tokens())
    assert not scores.any()
    processor.check()
    # After an error only the end may come, until there is another text.
    ends = set(vocabulary(llama).eos_token_ids)
    for ids in ([1, 2, 3], [1, 2, 3, 4]):
        masked = processor(np.array(ids, dtype=np.intc), scores)
        assert set(np.flatnonzero(np.isfinite(masked))) == ends
        with pytest.raises(earmark.MatchError):
            processor.check()
    assert np.isfinite(processor(np.array([5], dtype=np.intc), scores)).sum() > len(ends)
    processor.check()
    assert (
        set(np.flatnonzero(np.isfinite(processor(np.array([1], dtype=np.intc), scores[:-1]))))
        == ends
    )
    with pytest.raises(ValueError, match="another model's"):
        processor.check()
    # After the end only the end may come.
    short = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("a"))
    ids = [1, *llama.tokenize(b"a", add_bos=False), *vocabulary(llama).eos_token_ids[:1] * 2]
    for length in range(1, len(ids) + 1):
        masked = short(np.array(ids[:length], dtype=np.intc), scores)
    assert set(np.flatnonzero(np.isfinite(masked))) == set(vocabulary(llama).eos_token_ids)
    with pytest.raises(ValueError, match="a draft model's tokens"):
        GrammarLogitsProcessor(SimpleNamespace(draft_model=object()), LlamaGrammar.from_regex("a"))


def test_errors_of_a_logits_processor_let_nothing_through(llama: Any) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{3}"))
    processors = llama_cpp.LogitsProcessorList([processor])
    tokens = llama.tokenize(b"Answer:")
    arguments = {"logits_processor": processors, "temperature": 0.0}
    llama.create_completion(tokens, max_tokens=1, **arguments)
    # The whole last text and one more token.
    tokens += llama.tokenize(b"!", add_bos=False)
    for call in (partial(llama.create_completion, tokens, **arguments), processor.check):
        with pytest.raises(earmark.MatchError, match="can't come here"):
            call()
    processor.reset()
    text = llama.create_completion(tokens, max_tokens=9, **arguments)["choices"][0]["text"]
    assert re.fullmatch("[a-z]{3}", text)
    processor.check()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("bias", [-1.0, 1e9, float("inf"), float("nan")])
def test_a_logits_processor_beside_a_logit_bias(llama: Any, bias: float, stream: bool) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{3}[0-9]{3}"))
    processors = llama_cpp.LogitsProcessorList([processor])
    options: dict[str, Any] = {"logits_processor": processors, "logit_bias": {20: bias, 5: bias}}
    options |= {"max_tokens": 12, "temperature": 0.0, "stream": stream}
    answer = llama.create_completion("Ada: ", **options)
    text = "".join(it["choices"][0]["text"] for it in (answer if stream else [answer]))
    assert re.fullmatch("[a-z]{3}[0-9]{3}", text)
    answer = llama.create_chat_completion([{"role": "user", "content": "Ada"}], **options)
    if not stream:
        assert re.fullmatch("[a-z]{3}[0-9]{3}", answer["choices"][0]["message"]["content"])
    # The caller's list is as it was, and the bias has its effect where it may.
    assert processors == [processor]
    chosen = llama.tokenize(b"q", add_bos=False)
    options |= {"logit_bias": {chosen[0]: 1e9}, "stream": False}
    assert llama.create_completion("Ada: ", **options)["choices"][0]["text"][:3] == "qqq"


def test_texts_of_a_logits_processor_in_turns(llama: Any) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{20}"))
    given = {"logits_processor": [processor]}
    tokens = llama.generate(llama.tokenize(b"Letters:"), **given)
    next(tokens)
    stream = llama.create_completion("Other letters:", stream=True, max_tokens=9, **given)
    next(stream)
    with pytest.raises(RuntimeError, match=r"this Llama.generate\(\) can't go on"):
        next(tokens)
    llama("Something else", max_tokens=1)
    with pytest.raises(RuntimeError, match="this stream can't go on"):
        list(stream)


def test_a_logits_processor_that_is_lost(llama: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{3}"))
    init = type(llama)._init_sampler

    def loses(self: Any, **asked: Any) -> Any:
        return init(self, **(asked | {"logits_processor": None}))

    monkeypatch.setattr(type(llama), "_init_sampler", loses)
    with pytest.raises(RuntimeError, match="has lost the GrammarLogitsProcessor"):
        llama.create_completion("Ada: ", logits_processor=[processor], max_tokens=3)
    with pytest.raises(TypeError, match="not the GrammarLogitsProcessor itself"):
        llama.create_completion("Ada: ", logits_processor=processor, max_tokens=3)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 1e-30])
@pytest.mark.parametrize("first", [False, True])
def test_a_logits_processor_beside_another(llama: Any, first: bool, temperature: float) -> None:
    grammar = LlamaGrammar.from_regex("[a-z]{3}[0-9]{3}")
    processor = GrammarLogitsProcessor(llama, grammar)
    pieces = [llama.detokenize([token]) for token in range(llama.n_vocab())]
    digits = [token for token, piece in enumerate(pieces) if re.search(rb"[0-9]", piece)]
    (end,) = vocabulary(llama).eos_token_ids[:1]
    made: Any = None

    def other(_: Any, scores: Any) -> Any:
        changed = np.array(scores)
        if isinstance(made, Exception):
            raise made
        changed[digits if made is None else slice(None)] = -np.inf if made is None else made
        changed[end] = 1e9
        return changed

    asked = [processor, other] if first else [other, processor]
    options = {"logits_processor": llama_cpp.LogitsProcessorList(asked)}
    options |= {"max_tokens": 12, "temperature": temperature}
    for call in (partial(llama.create_completion, "Ada: ", **options), processor.check):
        with pytest.raises(earmark.MatchError, match=r"none of the .* tokens is left"):
            call()
    # All are impossible, or none can be told from another.
    for value in (-np.inf, np.nan):
        made = value
        with pytest.raises(earmark.MatchError, match=r"none of the .* tokens is left"):
            llama.create_completion("Ada: ", **options)
    # All are as likely as the end, or likelier than can be.
    for value in (0.0, np.inf):
        made = value
        (choice,) = llama.create_completion("Ada: ", **options)["choices"]
        assert re.fullmatch("[a-z]{3}[0-9]{3}", choice["text"])
        processor.check()
    made = KeyError("lost")
    for call in (partial(llama.create_completion, "Ada: ", **options), processor.check):
        with pytest.raises(KeyError, match="lost"):
            call()


def test_two_logits_processors(llama: Any) -> None:
    def both(*patterns: str) -> str:
        processors = [GrammarLogitsProcessor(llama, LlamaGrammar.from_regex(it)) for it in patterns]
        given = {"logits_processor": processors, "max_tokens": 9}
        text: str = llama.create_completion("Ada: ", **given)["choices"][0]["text"]
        return text

    assert re.fullmatch("[m-p]{2}[0-9]", both("[a-p]{2}[0-9]", "[m-z0-9]{3}"))
    with pytest.raises(earmark.MatchError, match="tokens is left"):
        both("[a-p]{2}[0-9]", "[m-z]{3}")


def test_a_sampler_that_takes_what_a_logits_processor_forbids(
    llama: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[0-9]{9}"))
    prompt = llama.tokenize(b"Ada: ")
    (letter,) = llama.tokenize(b"q", add_bos=False)
    tokens = llama.generate(prompt, logits_processor=[processor])
    next(tokens)
    monkeypatch.setattr(llama_cpp.llama_cpp, "llama_sampler_sample", lambda *_: letter)
    with pytest.raises(earmark.MatchError, match=r"can't come here.*it was sampled all the same"):
        next(tokens)


def test_a_logits_processor_of_another_model_is_refused_at_once(
    llama: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{3}"))
    processors = llama_cpp.LogitsProcessorList([processor])
    llama.create_completion("Answer:", logits_processor=processors, max_tokens=1)
    llama._sampler = None
    monkeypatch.setattr(llama, "n_vocab", lambda: 100)
    for call in (
        partial(llama.create_completion, "Answer:"),
        lambda **given: next(llama.generate([1, 2], **given)),
        llama.sample,
    ):
        with pytest.raises(ValueError, match="a model of 49152 tokens was given to one of 100"):
            call(logits_processor=processors)


def test_a_logits_processor_of_a_model_with_as_many_tokens(
    llama: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = GrammarLogitsProcessor(llama, LlamaGrammar.from_regex("[a-z]{3}"))
    own = vocabulary(llama)
    tokens = [own.token_bytes(token) for token in range(len(own))]

    def other() -> earmark.Vocabulary:
        ends, special = own.eos_token_ids, own.special_token_ids
        return earmark.Vocabulary(tokens, eos_token_ids=ends, special_token_ids=special)

    monkeypatch.setattr("earmark.llama_cpp._processor.vocabulary", lambda _: other())
    processor.check_model(llama)  # The same model, loaded again.
    tokens[1000], tokens[2000] = tokens[2000], tokens[1000]
    with pytest.raises(ValueError, match="a model with other tokens than those it was made for"):
        processor.check_model(llama)


def test_jump_forward(llama: Any) -> None:
    schema = {
        "type": "object",
        "properties": {
            "first_name": {"type": "string", "pattern": "^[A-Z][a-z]{1,8}$"},
            "favourite_colour": {"enum": ["yellow", "purple"]},
        },
        "required": ["first_name", "favourite_colour"],
        "additionalProperties": False,
    }
    grammar = earmark.Grammar.from_json_schema(schema, separators=(", ", ": "))
    for temp in (0.0, 1.0):
        generation = generate(llama, PROMPT, grammar, temp=temp)
        tokens = list(generation)
        value = json.loads(models.text_of(llama, tokens))
        assert list(value) == ["first_name", "favourite_colour"]
        assert generation.status == {"complete": True, "finished": True}
        assert generation.forced > 4
        # The prompt's pass samples too, and what ends the text is not asked for.
        assert generation.forward_passes == len(tokens) - generation.forced
        assert next(generation, None) is None
        if temp == 0.0:
            # Forced tokens are those that the tokenizer would write; the model's likeliest too.
            text = models.text_of(llama, tokens)
            assert llama.tokenize(text.encode(), add_bos=False) == tokens


def test_jump_forward_tells_of_what_was_given(llama: Any) -> None:
    grammar = LlamaGrammar.from_string('root ::= "first, second, third" [a-z]')
    generation = generate(llama, PROMPT, grammar, temp=0.0)
    given: list[int] = []
    assert generation.status == {"complete": False, "finished": False}
    counts = []
    for token in generation:
        given.append(token)
        assert generation.matcher.accepted() == given
        counts.append(generation.forced)
    # The beginning is forced, which is ready as a whole when its first token is given.
    forced, sampled = counts[-1], len(given) - counts[-1]
    assert forced >= 3
    assert counts == [*range(1, forced + 1), *[forced] * sampled]
    assert generation.forward_passes == sampled
    assert generation.matcher.accepted()[:-1] == given
    assert generation.status == {"complete": True, "finished": True}


def test_jump_forward_by_a_seed(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[a-z]{20}")

    def run(seed: int | None) -> str:
        return models.text_of(llama, list(generate(llama, PROMPT, grammar, seed=seed, temp=1.5)))

    texts = [run(seed) for seed in (1, 2, 3)]
    assert len(set(texts)) > 1
    assert [run(seed) for seed in (1, 2, 3)] == texts
    # The model keeps the last one.
    assert run(None) == texts[2]


def test_jump_forward_stops_in_time(llama: Any) -> None:
    grammar = LlamaGrammar.from_string('root ::= "a long text without any choice in it"')
    generation = generate(llama, PROMPT, grammar, max_tokens=3)
    assert len(list(generation)) == 3
    assert generation.status == {"complete": False, "finished": False}
    assert generation.forward_passes == 0
    small = models.load(n_ctx=256)
    assert small.n_ctx() == 256
    letters = LlamaGrammar.from_regex("[a-z]{500}")
    generation = generate(small, [5] * 250, letters)
    assert len(list(generation)) == 6
    assert not generation.status["complete"]
    with pytest.raises(ValueError, match="the prompt has 256 tokens and the context 256"):
        generate(small, [5] * 256, letters)
    with pytest.raises(ValueError, match="the prompt is empty"):
        generate(small, "", letters)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"max_tokens is {wrong}; give 1 or more"):
            generate(small, [5], letters, max_tokens=wrong)


@pytest.mark.parametrize("grammar", ["root ::= [a]", 5, {}, object()])
def test_what_is_no_grammar(llama: Any, grammar: Any) -> None:
    for call in (
        partial(llama.create_completion, "a", max_tokens=1),
        partial(llama.create_chat_completion, [{"role": "user", "content": "a"}], max_tokens=1),
        partial(generate, llama, "a"),
    ):
        with pytest.raises(TypeError, match=f"not {type(grammar).__name__}; .*reads GBNF"):
            call(grammar=grammar)


def test_arguments_of_generate(llama: Any) -> None:
    letters = LlamaGrammar.from_regex("[a-z]{5}")
    with pytest.raises(TypeError, match=r"takes a llama_cpp\.Llama, not NoneType"):
        generate(None, PROMPT, letters)
    prompt: Any
    for prompt in (None, 5):
        with pytest.raises(TypeError, match=f"text or a list of tokens, not {prompt}"):
            generate(llama, prompt, letters)
    for wrong in ("a", 1.5):
        with pytest.raises(TypeError, match=f"a prompt's token is an integer, not {wrong!r}"):
            generate(llama, [5, wrong], letters)  # type: ignore[list-item]
        for name in ("seed", "max_tokens"):
            with pytest.raises(TypeError, match=f"{name} is an integer, not {wrong!r}"):
                generate(llama, PROMPT, letters, **{name: wrong})  # type: ignore[arg-type]
    for token in (-1, llama.n_vocab(), None):
        with pytest.raises(ValueError, match=f"a prompt's token is 0 to 49151, not {token}"):
            generate(llama, [5, token], letters)  # type: ignore[list-item]
    for name, why in (
        ("temperature", "has no temperature; it is temp here"),
        ("stop", "has no stop; look for it in the text"),
        ("stopping_criteria", "has no stopping_criteria; look at"),
        ("top", "has no top; for sampling there are top_k, top_p, (?!.*grammar).*mirostat_tau"),
    ):
        with pytest.raises(TypeError, match=why):
            generate(llama, PROMPT, letters, **{name: 1})  # type: ignore[arg-type]
    # None of them has left anything behind.
    text = models.text_of(llama, list(generate(llama, PROMPT, letters, seed=np.int64(3))))
    assert re.fullmatch("[a-z]{5}", text)


def test_the_layout_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    c = llama_cpp.llama_cpp
    layout = sampler_layout(c)
    assert layout["size"] == ctypes.sizeof(c.llama_sampler_i)
    pairs = [(name, type_) for name, type_ in c.llama_sampler_i._fields_]

    def structure(fields: list[tuple[str, Any]]) -> Any:
        return type("changed", (ctypes.Structure,), {"_fields_": fields})

    monkeypatch.setattr(c, "llama_sampler_i", structure([("new", ctypes.c_void_p), *pairs]))
    assert sampler_layout(c)["name"] == layout["name"] + 8
    fewer = [pair for pair in pairs if pair[0] != "clone"]
    monkeypatch.setattr(c, "llama_sampler_i", structure(fewer))
    with pytest.raises(UnsupportedLlamaCppError, match="it has no function clone"):
        sampler_layout(c)
    monkeypatch.setattr(c, "llama_sampler_i", structure(pairs))
    data = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]
    monkeypatch.setattr(c, "llama_token_data", structure([*data, ("more", ctypes.c_float)]))
    with pytest.raises(UnsupportedLlamaCppError, match="16 bytes instead of 12"):
        sampler_layout(c)
    monkeypatch.setattr(c, "llama_token_data", structure([data[1], data[0], data[2]]))
    with pytest.raises(UnsupportedLlamaCppError, match="no field id of 4 bytes at 0"):
        sampler_layout(c)
