"""`earmark.llama_cpp.install()`: llama-cpp-python's own names, its chat formats and its server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

import earmark
import llama_model as models

llama_cpp = pytest.importorskip("llama_cpp")

from earmark.llama_cpp import LlamaGrammar, install, installed, uninstall  # noqa: E402
from earmark.llama_cpp._tools import _Arguments  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "green"]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}
# Valid JSON Schema that no engine can enforce token by token.
REFUSED = {"type": "string", "pattern": "^(a+)\\1$"}
TOOL = {"type": "function", "function": {"name": "paint", "parameters": SCHEMA}}
CHOICE = {"type": "function", "function": {"name": "paint"}}
# A schema with a reference, and one that has a name to quote and no parameters.
NUMBERS = {
    "type": "object",
    "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/one"}, "minItems": 1}},
    "required": ["all"],
    "additionalProperties": False,
    "$defs": {"one": {"type": "integer", "minimum": 0, "maximum": 9}},
}
ADD = {"type": "function", "function": {"name": "add/up", "parameters": NUMBERS}}
WAIT = {"type": "function", "function": {"name": "wait"}}
MESSAGES = [{"role": "user", "content": "Paint two things red. Answer in JSON."}]


def painted(text: str) -> None:
    value = json.loads(text)
    assert list(value) == ["colour", "count"]
    assert value["colour"] in ("red", "green")
    # 2.0 is an integer to JSON Schema.
    assert value["count"] == int(value["count"])


@pytest.fixture
def llama() -> Iterator[Any]:
    with installed():
        yield models.load()


def test_the_names_come_and_go() -> None:
    before = {
        name: vars(llama_cpp.LlamaGrammar)[name]
        for name in ("from_string", "from_file", "from_json_schema")
    }
    chat = llama_cpp.Llama.create_chat_completion
    uninstall()
    with installed():
        made = llama_cpp.LlamaGrammar.from_string('root ::= "a"', verbose=False)
        assert isinstance(made, LlamaGrammar)
        assert isinstance(made, llama_cpp.LlamaGrammar)
        with installed():
            # A block needs it still.
            uninstall()
        assert isinstance(llama_cpp.LlamaGrammar.from_json_schema("{}"), LlamaGrammar)
    assert {name: vars(llama_cpp.LlamaGrammar)[name] for name in before} == before
    assert llama_cpp.Llama.create_chat_completion is chat
    assert type(llama_cpp.LlamaGrammar.from_string("root ::= [a]")) is llama_cpp.LlamaGrammar
    with installed():
        install()
    install()
    assert isinstance(llama_cpp.LlamaGrammar.from_string("root ::= [a]"), LlamaGrammar)
    uninstall()
    assert {name: vars(llama_cpp.LlamaGrammar)[name] for name in before} == before


def test_blocks_of_several_threads_overlap() -> None:
    before = vars(llama_cpp.LlamaGrammar)["from_string"]
    inside, leave = Event(), Event()

    def other() -> None:
        with installed():
            inside.set()
            leave.wait(60)

    thread = Thread(target=other)
    with installed():
        thread.start()
        assert inside.wait(60)
    # This block began first and has ended first.
    assert isinstance(llama_cpp.LlamaGrammar.from_string("root ::= [a]"), LlamaGrammar)
    leave.set()
    thread.join()
    assert vars(llama_cpp.LlamaGrammar)["from_string"] is before

    def often() -> None:
        for _ in range(300):
            with installed():
                made.append(llama_cpp.LlamaGrammar.from_string('root ::= "a"', verbose=False))

    made: list[Any] = []
    threads = [Thread(target=often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1200
    assert {type(it) for it in made} == {LlamaGrammar}
    assert vars(llama_cpp.LlamaGrammar)["from_string"] is before


@pytest.mark.usefixtures("llama")
def test_all_of_the_librarys_grammars_can_be_read() -> None:
    from llama_cpp import llama_grammar

    texts = {name: text for name, text in vars(llama_grammar).items() if name.endswith("_GBNF")}
    assert len(texts) >= 6
    for text in texts.values():
        assert isinstance(llama_cpp.LlamaGrammar.from_string(text), LlamaGrammar)


def test_grammars_from_before() -> None:
    theirs = llama_cpp.LlamaGrammar.from_string('root ::= root "b" | "a"')
    assert not isinstance(theirs, LlamaGrammar)
    with installed():
        # Left recursion, which llama.cpp's engine does not take.
        (choice,) = models.load()("a", grammar=theirs, max_tokens=5)["choices"]
    assert re.fullmatch("ab*", choice["text"])
    assert "earmark" in choice


def test_grammars_from_before_are_watched_as_earmarks_are(llama: Any) -> None:
    theirs = llama_cpp.LlamaGrammar(_grammar='root ::= "a"+')
    prompt = llama.tokenize(b"Letters:")
    tokens = llama.generate(prompt, grammar=theirs, temp=0.0)
    assert llama.detokenize([next(tokens), next(tokens)]).strip(b"a") == b""
    llama("Other", grammar=theirs, max_tokens=1)
    with pytest.raises(RuntimeError, match="used for something else"):
        next(tokens)


def test_a_closed_model_is_not_read() -> None:
    theirs = llama_cpp.LlamaGrammar.from_string('root ::= "a"')
    closed = llama_cpp.Llama(str(models.smollm2_path()), n_ctx=128, verbose=False)
    stream = closed.create_completion("a", stream=True, max_tokens=8)
    next(stream)
    closed.close()
    format_ = {"type": "json_object"}
    with installed():
        for use in (
            lambda: closed("a", grammar=theirs),
            lambda: closed("a"),
            lambda: next(stream),
            lambda: next(closed.generate([1, 2], grammar=theirs)),
            lambda: next(closed.generate([1, 2])),
            lambda: closed.sample(),
            lambda: closed.create_chat_completion(MESSAGES),
            lambda: closed.create_chat_completion(MESSAGES, response_format=format_),
            lambda: closed.create_chat_completion(MESSAGES, tools=[TOOL], tool_choice=CHOICE),
            lambda: closed.create_chat_completion(MESSAGES, tools=[TOOL], tool_choice="required"),
            lambda: closed.create_chat_completion(MESSAGES, tools=[TOOL, ADD], stream=True),
        ):
            with pytest.raises(earmark.VocabularyError, match="model is closed"):
                use()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "format_",
    [
        {"type": "json_object", "schema": SCHEMA},
        {"type": "json_schema", "json_schema": {"name": "paint", "schema": SCHEMA}},
    ],
)
def test_response_format(llama: Any, format_: Any, stream: bool) -> None:
    answer = llama.create_chat_completion(
        MESSAGES, response_format=format_, max_tokens=100, stream=stream
    )
    if stream:
        chunks = list(answer)
        painted("".join(it["choices"][0]["delta"].get("content") or "" for it in chunks))
        assert chunks[-1]["choices"][0]["earmark"]["complete"]
    else:
        painted(answer["choices"][0]["message"]["content"])
        assert answer["choices"][0]["earmark"]["complete"]


def test_any_json_object(llama: Any) -> None:
    for format_ in ({"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "x"}}):
        answer = llama.create_chat_completion(
            MESSAGES, response_format=format_, max_tokens=60, temperature=0.0
        )
        (choice,) = answer["choices"]
        if choice["earmark"]["complete"]:
            assert isinstance(json.loads(choice["message"]["content"]), dict)
        else:
            assert choice["finish_reason"] == "length"
    text = {"type": "text"}
    answer = llama.create_chat_completion(MESSAGES, response_format=text, max_tokens=5)
    assert "earmark" not in answer["choices"][0]


@pytest.mark.parametrize("choice", [CHOICE, "required"])
def test_tools(llama: Any, choice: Any) -> None:
    answer = llama.create_chat_completion(
        MESSAGES, tools=[TOOL], tool_choice=choice, max_tokens=100
    )
    (only,) = answer["choices"]
    (call,) = only["message"]["tool_calls"]
    assert call["function"]["name"] == "paint"
    painted(call["function"]["arguments"])
    assert only["finish_reason"] == "tool_calls"
    assert only["earmark"] == {"complete": True, "finished": True}


def test_a_tool_call_that_is_cut_off_says_so(llama: Any) -> None:
    asked: dict[str, Any] = {"tools": [TOOL], "tool_choice": CHOICE}
    for cut, reason in [({"max_tokens": 4}, "length"), ({"stop": "lour"}, "stop")]:
        options = {**asked, **cut}
        (choice,) = llama.create_chat_completion(MESSAGES, **options)["choices"]
        assert choice["finish_reason"] == reason
        assert choice["earmark"] == {"complete": False, "finished": False}
        chunks = list(llama.create_chat_completion(MESSAGES, stream=True, **options))
        assert chunks[-1]["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize("choice", [CHOICE, "required"])
def test_a_stream_names_its_tool_once(llama: Any, choice: Any) -> None:
    asked: dict[str, Any] = {"tools": [TOOL], "tool_choice": choice, "temperature": 0.0}
    chunks = list(llama.create_chat_completion(MESSAGES, stream=True, **asked))
    deltas = [it["choices"][0]["delta"] for it in chunks]
    first, *others = [it["tool_calls"][0] for it in deltas if it.get("tool_calls")]
    assert first["function"]["name"] == "paint"
    assert first["id"].startswith("call_")
    assert others
    functions = [it["function_call"] for it in deltas if it.get("function_call")]
    assert sum("name" in it for it in functions) == (1 if functions else 0)
    assert not any(it.keys() & {"id", "type"} or "name" in it["function"] for it in others)
    painted("".join(it["function"]["arguments"] for it in (first, *others)))


def test_a_stream_that_names_its_tool_once_stays_as_it_is() -> None:
    from earmark.llama_cpp._tools import named_once

    def chunks() -> list[Any]:
        calls: list[dict[str, Any]] = [
            {"index": 0, "id": "one", "type": "function", "function": {"name": "paint"}},
            *({"index": 0, "function": {"arguments": text}} for text in "{}"),
        ]
        return [{"choices": [{"delta": {"tool_calls": [call]}}]} for call in calls]

    assert list(named_once(iter(chunks()))) == chunks()


def test_one_of_several_tools_is_required(llama: Any) -> None:
    called = set()
    for seed in range(12):
        options: dict[str, Any] = {"tools": [TOOL, ADD, WAIT], "tool_choice": "required"}
        options |= {"max_tokens": 100, "seed": seed, "temperature": 2.0}
        (choice,) = llama.create_chat_completion(MESSAGES, **options)["choices"]
        (call,) = choice["message"]["tool_calls"]
        function = call["function"]
        if choice["earmark"]["complete"]:
            assert choice["finish_reason"] == "tool_calls"
            check_call(function)
            called.add(function["name"])
        else:
            assert choice["finish_reason"] == "length"
        assert choice["message"]["content"] is None
        chunks = list(llama.create_chat_completion(MESSAGES, stream=True, **options))
        assert chunks[-1]["choices"][0]["finish_reason"] == choice["finish_reason"]
        assert chunks[-1]["choices"][0]["earmark"] == choice["earmark"]
        deltas = [it["choices"][0]["delta"] for it in chunks]
        assert not any("content" in it for it in deltas)
        first, *others = [it["tool_calls"][0] for it in deltas if "tool_calls" in it]
        assert first["function"]["name"] == function["name"]
        assert first["id"].startswith("call_")
        assert all("id" not in it and "name" not in it["function"] for it in others)
        text = "".join(it["function"]["arguments"] for it in (first, *others))
        assert text == function["arguments"]
    assert len(called) > 1


@pytest.mark.parametrize(
    "options", [{"property_order": "any"}, {"escapes": "all"}], ids=lambda it: next(iter(it))
)
def test_calls_in_other_orders_and_spellings(llama: Any, options: dict[str, Any]) -> None:
    tools = []
    for tool in (TOOL, ADD):
        function = tool["function"]
        parameters = function["parameters"] | {"x-earmark": options}
        tools.append({**tool, "function": {**function, "parameters": parameters}})
    asked: dict[str, Any] = {"tools": tools, "tool_choice": "required", "temperature": 2.0}
    asked |= {"max_tokens": 150, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    for seed in range(5):
        (choice,) = llama.create_chat_completion(MESSAGES, seed=seed, **asked)["choices"]
        if not choice["earmark"]["complete"]:
            continue
        (call,) = choice["message"]["tool_calls"]
        assert choice["finish_reason"] == "tool_calls"
        assert call["function"]["name"] in {"paint", "add/up"}
        json.loads(call["function"]["arguments"])
        deltas = [
            it["choices"][0]["delta"]
            for it in llama.create_chat_completion(MESSAGES, seed=seed, stream=True, **asked)
        ]
        first, *others = [it["tool_calls"][0]["function"] for it in deltas if "tool_calls" in it]
        assert first["name"] == call["function"]["name"]
        text = "".join(it["arguments"] for it in (first, *others))
        assert text == call["function"]["arguments"]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "call",
    [
        '{"name": "g\\"e", "arguments": %s}',
        '{"arguments": %s, "name": "g\\"e"}',
        '{"\\u006eame": "g\\u0022e", "\\u0061rguments": %s}',
    ],
)
def test_a_call_is_read_as_it_comes(call: str, size: int) -> None:
    arguments = json.dumps({"a": [1, {"b": 'x\\"} ,{'}], "name": "no", "arguments": "}\\"})
    text = call % arguments
    reader = _Arguments()
    parts = [reader.read(text[at : at + size]) for at in range(0, len(text), size)]
    assert (reader.name, "".join(parts)) == ('g"e', arguments)


def check_call(function: Any) -> None:
    if function["name"] == "paint":
        return painted(function["arguments"])
    arguments = json.loads(function["arguments"])
    if function["name"] == "wait":
        assert arguments == {}
    else:
        assert function["name"] == "add/up"
        assert list(arguments) == ["all"]
        assert all(0 <= it <= 9 for it in arguments["all"])
    return None


@pytest.mark.parametrize("length", [1, 8, 14, 20])
def test_a_call_of_one_of_several_tools_that_is_cut_off(llama: Any, length: int) -> None:
    options: dict[str, Any] = {"tools": [TOOL, ADD], "tool_choice": "required", "temperature": 0.0}
    whole = llama.create_chat_completion(MESSAGES, max_tokens=200, **options)["choices"][0]
    (choice,) = llama.create_chat_completion(MESSAGES, max_tokens=length, **options)["choices"]
    assert choice["earmark"] == {"complete": False, "finished": False}
    assert choice["finish_reason"] == "length"
    chunks = list(llama.create_chat_completion(MESSAGES, max_tokens=length, stream=True, **options))
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    # A call is told of as soon as its name is written.
    calls = choice["message"].get("tool_calls", [])
    assert bool(calls) == (length >= 8)
    said = "".join(
        call["function"]["arguments"]
        for it in chunks
        for call in it["choices"][0]["delta"].get("tool_calls", [])
    )
    assert said == "".join(it["function"]["arguments"] for it in calls)
    assert whole["message"]["tool_calls"][0]["function"]["arguments"].startswith(said)


def test_tools_without_parameters(llama: Any) -> None:
    for options in (
        {"tools": [WAIT], "tool_choice": {"type": "function", "function": {"name": "wait"}}},
        {"tools": [WAIT], "tool_choice": "required"},
        {"functions": [{"name": "wait"}], "function_call": {"name": "wait"}},
    ):
        answer = llama.create_chat_completion(MESSAGES, max_tokens=90, **options)
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {}


def test_a_schema_says_how_it_is_read(llama: Any) -> None:
    compact = SCHEMA | {"x-earmark": {"whitespace": "compact", "integer_fractions": False}}
    tool = {"type": "function", "function": {"name": "paint", "parameters": compact}}
    for options in (
        {"response_format": {"type": "json_object", "schema": compact}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": compact}}},
        {"tools": [tool], "tool_choice": CHOICE},
    ):
        for seed in range(3):
            answer = llama.create_chat_completion(
                MESSAGES, max_tokens=100, temperature=2.0, seed=seed, **options
            )
            message = answer["choices"][0]["message"]
            text = message["content"] or message["tool_calls"][0]["function"]["arguments"]
            assert re.fullmatch(r'\{"colour":"(red|green)","count":-?\d+\}', text)


REFUSED_REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"response_format": {}}, r"response_format is .*, not \{\}"),
    ({"response_format": "json_object"}, "response_format is .*, not 'json_object'"),
    ({"response_format": {"type": "xml"}}, "response_format is .*, not .*xml"),
    ({"response_format": {"type": "json_schema"}}, r'needs \{"json_schema"'),
    ({"tools": {"name": "paint"}}, "tools is a list"),
    ({"tools": ["paint"]}, "a tool is a dict, not 'paint'"),
    ({"tools": [{"type": "function"}]}, 'a function is {"name"'),
    ({"functions": [{"parameters": {}}]}, "in functions"),
    *[
        (
            {"tools": [{"function": {"name": "\ud800"}}, *tools], "tool_choice": "required"},
            r"name is Unicode, but '\\ud800' has a lone surrogate",
        )
        for tools in ([], [TOOL])
    ],
    *[
        (
            {"tools": [{"function": {"name": "a", "parameters": wrong}}, *tools], **choice},
            "the parameters of 'a' are a JSON Schema: an object, not",
        )
        for wrong in ([1], "x", 5)
        for tools in ([], [TOOL])
        for choice in (
            {},
            {"tool_choice": "required"},
            {"tool_choice": {"type": "function", "function": {"name": "a"}}},
        )
    ],
    *[
        ({"functions": [{"name": "a", "parameters": {"enum": wrong}}]}, "'a' are not JSON: .*set")
        for wrong in ({1}, [{2}])
    ],
    *[
        ({"response_format": format_}, "response_format's schema is a JSON Schema: an object, not")
        for schema in ("{}", [1], 5)
        for format_ in (
            {"type": "json_object", "schema": schema},
            {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
        )
    ],
    *[
        (
            {"response_format": {"type": "json_object"}, **asked},
            "asks for a call and response_format for another text; give one",
        )
        for asked in (
            {"tools": [TOOL], "tool_choice": CHOICE},
            {"tools": [TOOL], "tool_choice": "required"},
            {"tools": [TOOL, ADD], "tool_choice": "required"},
            {"functions": [TOOL["function"]], "function_call": {"name": "paint"}},
        )
    ],
    *[
        (
            {"response_format": {"type": "json_object", "schema": schema}},
            f"x-earmark is for a schema as a whole, but stands at {place}; put it at the root",
        )
        for schema, place in (
            ({"properties": {"a": {"x-earmark": {}}}}, "/properties/a/x-earmark"),
            ({"anyOf": [True, {"items": {"x-earmark": 1}}]}, "/anyOf/1/items/x-earmark"),
            ({"$defs": {"a/b": {"not": {"x-earmark": {}}}}}, r"/\$defs/a~1b/not/x-earmark"),
        )
    ],
    (
        {"tools": [{"function": {"name": "a", "parameters": {"items": {"x-earmark": {}}}}}, TOOL]}
        | {"tool_choice": "required"},
        "stands at /items/x-earmark",
    ),
    ({"tool_choice": "required"}, "there are no tools"),
    ({"tools": [TOOL], "tool_choice": {"type": "function"}}, "tool_choice is .*, not"),
    *[
        ({"tools": [TOOL], "tool_choice": choice}, "tool_choice is none, auto, required or .*, not")
        for choice in ("foo", "any", "", 5, True, [], {}, {"name": "paint"})
    ],
    *[
        ({"functions": [TOOL["function"]], "function_call": choice}, "function_call is none, auto")
        for choice in ("foo", "required", 5, {}, {"function": {"name": "paint"}})
    ],
    (
        {"functions": [TOOL["function"]], "function_call": {"name": "draw"}},
        r"function_call names 'draw', but the tools are \['paint'\]",
    ),
    (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "draw"}}},
        r"names 'draw', but the tools are \['paint'\]",
    ),
    ({"tools": [TOOL, TOOL], "tool_choice": "required"}, "two tools have the name 'paint'"),
    (
        {"response_format": {"type": "json_object", "schema": {"x-earmark": {"indents": 2}}}},
        "x-earmark has no option indents; there are (?!.*(limits|resources)).*whitespace",
    ),
    (
        {"response_format": {"type": "json_object", "schema": {"x-earmark": {"limits": {}}}}},
        "x-earmark can't have limits",
    ),
    (
        {"response_format": {"type": "json_object", "schema": {"x-earmark": ["compact"]}}},
        "x-earmark is an object",
    ),
    (
        {
            "tools": [
                {"function": {"name": "a", "parameters": {"x-earmark": {"indent": 2}}}},
                TOOL,
            ],
            "tool_choice": "required",
        },
        "must be the same for all tools.*'paint' has other options than 'a'",
    ),
    (
        {
            "tools": [
                {"function": {"name": name, "parameters": {"x-earmark": {"indent": 2}}}}
                for name in "ab"
            ],
            "tool_choice": "required",
        },
        "how several tools' calls are spaced",
    ),
]


@pytest.mark.parametrize(("asked", "why"), REFUSED_REQUESTS)
def test_requests_that_have_no_meaning(llama: Any, asked: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        llama.create_chat_completion(MESSAGES, **asked)


def test_members_that_have_the_name_of_the_options(llama: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"x-earmark": {"const": {"x-earmark": 1}}, "a": {"enum": [{"x-earmark": 2}]}},
        "required": ["x-earmark", "a"],
        "additionalProperties": False,
        "x-earmark": {"whitespace": "compact"},
    }
    format_ = {"type": "json_object", "schema": schema}
    (choice,) = llama.create_chat_completion(MESSAGES, response_format=format_)["choices"]
    assert choice["message"]["content"] == '{"x-earmark":{"x-earmark":1},"a":{"x-earmark":2}}'


def test_a_format_beside_tools_that_a_chat_format_would_forget() -> None:
    llama = models.load()
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
    schema |= {"additionalProperties": False}
    asked: dict[str, Any] = {"response_format": {"type": "json_object", "schema": schema}}
    asked |= {"tools": [TOOL], "max_tokens": 40}
    with installed(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "chat_format", "chatml-function-calling")
        with pytest.raises(ValueError, match="no response_format beside tools"):
            llama.create_chat_completion(MESSAGES, tool_choice="auto", **asked)
        for choice in (None, "none"):
            answer = llama.create_chat_completion(MESSAGES, tool_choice=choice, **asked)
            assert json.loads(answer["choices"][0]["message"]["content"]) in ({"n": 1}, {"n": 2})


@pytest.mark.parametrize(
    "asked",
    [
        {"tools": [TOOL], "tool_choice": "none"},
        {"tools": [TOOL], "tool_choice": "auto"},
        {"tools": [TOOL], "function_call": "auto"},
        {"functions": [TOOL["function"]], "function_call": "none"},
        {"functions": [TOOL["function"]], "function_call": {"name": "paint"}},
        {"functions": [TOOL["function"]], "tool_choice": CHOICE},
        {"tools": [TOOL], "function_call": {"name": "paint"}},
    ],
)
def test_choices_that_have_a_meaning(llama: Any, asked: Any) -> None:
    assert llama.create_chat_completion(MESSAGES, max_tokens=1, **asked)["choices"]


def test_formats_that_call_tools_their_own_way_need_a_name() -> None:
    with installed():
        llama = models.load(chat_format="chatml-function-calling", n_ctx=1024)
        with pytest.raises(ValueError, match="can call only a tool that is named"):
            llama.create_chat_completion(MESSAGES, tools=[TOOL, ADD], tool_choice="required")


def test_what_can_not_be_enforced_is_refused(llama: Any) -> None:
    tool = {"type": "function", "function": {"name": "paint", "parameters": REFUSED}}
    for call in (
        {"response_format": {"type": "json_object", "schema": REFUSED}},
        {"tools": [tool], "tool_choice": CHOICE},
        {"tools": [tool], "tool_choice": CHOICE, "stream": True},
    ):
        with pytest.raises(earmark.GrammarError) as caught:
            list(llama.create_chat_completion(MESSAGES, **call))
        assert caught.value.pointer == "/pattern"
    with pytest.raises(earmark.GrammarError, match="backreference") as caught:
        llama.create_chat_completion(MESSAGES, tools=[WAIT, tool], tool_choice="required")
    assert caught.value.pointer == "tool:paint#/pattern"
    # A caller's own grammar is refused at once.
    with pytest.raises(earmark.GrammarError):
        llama_cpp.LlamaGrammar.from_json_schema(json.dumps(REFUSED))


def test_chat_formats_that_ask_several_times() -> None:
    with installed():
        llama = models.load(chat_format="chatml-function-calling", n_ctx=1024)
        answer = llama.create_chat_completion(MESSAGES, tools=[TOOL], tool_choice="auto")
        (choice,) = answer["choices"]
        if calls := choice["message"].get("tool_calls"):
            for call in calls:
                painted(call["function"]["arguments"])
        answer = llama.create_chat_completion(MESSAGES, tools=[TOOL], tool_choice=CHOICE)
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        painted(call["function"]["arguments"])
        # A format that goes through the text of a GBNF grammar.
        llama = models.load(chat_format="functionary", n_ctx=1024)
        answer = llama.create_chat_completion(
            MESSAGES, functions=[TOOL["function"]], function_call={"name": "paint"}
        )
        painted(answer["choices"][0]["message"]["function_call"]["arguments"])
        # It takes no notice of a `response_format` by itself.
        options: dict[str, Any] = {"max_tokens": 60, "temperature": 0.0}
        schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
        asked = {"type": "json_object", "schema": schema | {"additionalProperties": False}}
        answer = llama.create_chat_completion(MESSAGES, response_format=asked, **options)
        assert json.loads(answer["choices"][0]["message"]["content"]) in ({"n": 1}, {"n": 2})
        assert answer["choices"][0]["earmark"]["complete"]
        broken = {"type": "json_object", "schema": {"$ref": "#/nowhere"}}
        with pytest.raises(earmark.GrammarError, match="nowhere"):
            llama.create_chat_completion(MESSAGES, response_format=broken, **options)
        with pytest.raises(ValueError, match="no response_format beside tools"):
            llama.create_chat_completion(MESSAGES, response_format=asked, tools=[TOOL])


def test_a_format_beside_a_grammar_is_refused() -> None:
    with installed():
        llama = models.load(n_ctx=1024)
        grammar = LlamaGrammar.from_regex("[ab]")
        with pytest.raises(ValueError, match="both given"):
            llama.create_chat_completion(
                MESSAGES, response_format={"type": "json_object"}, grammar=grammar
            )
        for choice in (CHOICE, "required"):
            with pytest.raises(ValueError, match="tool_choice asks for a call and grammar"):
                llama.create_chat_completion(
                    MESSAGES, tools=[TOOL], tool_choice=choice, grammar=grammar
                )


FORGETFUL = [
    ("functionary", {"tools": [TOOL]}),
    ("functionary", {"tools": [TOOL], "tool_choice": "auto"}),
    ("functionary", {"tools": [TOOL], "tool_choice": "none"}),
    ("functionary", {"functions": [TOOL["function"]]}),
    ("functionary-v1", {"tools": [TOOL]}),
    ("functionary-v2", {"tools": [TOOL], "tool_choice": "auto"}),
    ("chatml-function-calling", {"tools": [TOOL], "tool_choice": "auto"}),
    ("chatml-function-calling", {"tools": [TOOL], "tool_choice": CHOICE}),
    ("chatml-function-calling", {"functions": [TOOL["function"]], "function_call": "auto"}),
    ("chatml", {"tools": [TOOL], "tool_choice": CHOICE}),
]


@pytest.mark.parametrize("with_install", [False, True])
@pytest.mark.parametrize(("chat_format", "asked"), FORGETFUL, ids=str)
def test_a_grammar_that_a_chat_format_would_forget(
    chat_format: str, asked: dict[str, Any], with_install: bool
) -> None:
    llama = models.load()
    grammar = LlamaGrammar.from_regex("[0-9]{3}")
    why = "leave the grammar without effect|asks for a call and grammar"
    with installed() if with_install else nullcontext(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "chat_format", chat_format)
        with pytest.raises(ValueError, match=why):
            llama.create_chat_completion(MESSAGES, grammar=grammar, max_tokens=5, **asked)


def _said(content: str, stream: bool) -> Any:
    """A chat's answer that no grammar has had an influence on."""
    key = "delta" if stream else "message"
    whole: dict[str, Any] = {"index": 0, key: {"content": content}, "finish_reason": "stop"}
    if not stream:
        return {"choices": [whole]}
    first = {"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}
    return iter([{"choices": [it]} for it in (first, whole)])


@pytest.mark.parametrize("stream", [False, True])
def test_chat_handlers_that_take_no_notice(
    llama: Any, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = LlamaGrammar.from_regex("[0-9]{3}")
    processor = earmark.llama_cpp.GrammarLogitsProcessor(llama, grammar)

    def forgetful(*, llama: Any, messages: Any, stream: bool, **_: Any) -> Any:
        text = llama.create_completion(messages[0]["content"], max_tokens=3)
        return _said("free: " + text["choices"][0]["text"], stream)

    def silent(*, stream: bool, **_: Any) -> Any:
        return _said("no", stream)

    def contents(**asked: Any) -> Iterator[str]:
        answer = llama.create_chat_completion(MESSAGES, **asked)
        for chunk in answer if asked["stream"] else [answer]:
            (choice,) = chunk["choices"]
            if content := choice.get("delta", choice.get("message")).get("content"):
                yield content

    format_: dict[str, Any] = {"type": "json_object", "schema": SCHEMA}
    for handler in (forgetful, silent):
        monkeypatch.setattr(llama, "chat_handler", handler)
        for param, asked in (
            ("grammar", {"grammar": grammar}),
            ("logits_processor", {"logits_processor": [processor]}),
            ("response_format", {"response_format": format_}),
            ("response_format", {"response_format": {"type": "json_schema", "json_schema": {}}}),
            ("tool_choice", {"tools": [TOOL], "tool_choice": CHOICE}),
            ("tool_choice", {"tools": [TOOL], "tool_choice": "required"}),
            ("tool_choice", {"tools": [TOOL, ADD], "tool_choice": "required"}),
            (
                "function_call",
                {"functions": [TOOL["function"]], "function_call": {"name": "paint"}},
            ),
        ):
            # What the model was used for before is nothing to this chat.
            llama("a", grammar=grammar, max_tokens=1)
            told: list[str] = []
            with pytest.raises(ValueError, match=f"takes no notice of {param}, and its answer"):
                told += contents(stream=stream, **asked)
            assert not told
        assert list(contents(stream=stream, tools=[TOOL]))


@pytest.mark.parametrize("several", [False, True])
def test_a_chat_handler_that_asks_by_other_ways(
    llama: Any, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def handler(*, llama: Any, grammar: Any, stream: bool, **_: Any) -> Any:
        if several:
            llama("Think: ", max_tokens=3)
            text = llama("Answer: ", grammar=grammar, max_tokens=9)["choices"][0]["text"]
        else:
            tokens = llama.generate(llama.tokenize(b"Answer: "), grammar=grammar)
            text = llama.detokenize([token for token, _ in zip(tokens, "abc", strict=False)])
        return _said(str(text), stream)

    monkeypatch.setattr(llama, "chat_handler", handler)
    answer = llama.create_chat_completion(MESSAGES, grammar=LlamaGrammar.from_regex("[0-9]{3}"))
    # Which of the texts the answer is made of is not known.
    assert "earmark" not in answer["choices"][0]
    assert re.search("[0-9]{3}", answer["choices"][0]["message"]["content"])


def test_tools_beside_a_grammar_that_is_kept(llama: Any) -> None:
    grammar = LlamaGrammar.from_regex("[0-9]{3}")
    kept: list[tuple[str, dict[str, Any]]] = [
        ("chatml", {"tool_choice": "auto"}),
        ("chatml-function-calling", {"tool_choice": "none"}),
        ("chatml-function-calling", {}),
    ]
    for chat_format, asked in kept:
        with installed(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(llama, "chat_format", chat_format)
            answer = llama.create_chat_completion(
                MESSAGES, tools=[TOOL], grammar=grammar, max_tokens=9, **asked
            )
        assert re.fullmatch("[0-9]{3}", answer["choices"][0]["message"]["content"])


def test_the_librarys_own_tests() -> None:
    """`tests/test_llama_grammar.py` of llama-cpp-python's sdist, with `install()`."""
    sdist = os.environ.get("EARMARK_LLAMA_CPP_SDIST")
    if sdist is None:
        pytest.skip("EARMARK_LLAMA_CPP_SDIST does not name the unpacked sdist of llama_cpp")
    code = (
        "import sys, pytest, llama_cpp, earmark.llama_cpp as ours; ours.install();"
        "assert isinstance(llama_cpp.LlamaGrammar.from_string('root ::= [a]'), ours.LlamaGrammar);"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-c', '/dev/null', sys.argv[1]]))"
    )
    file = Path(sdist) / "tests" / "test_llama_grammar.py"
    result = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"\b[3-9] passed", result.stdout)


@pytest.fixture
def client(llama_server: str) -> Iterator[Any]:
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=llama_server, api_key="none", timeout=300) as client:
        yield client


def test_server_response_format(client: Any) -> None:
    for format_ in (
        {"type": "json_object", "schema": SCHEMA},
        {"type": "json_schema", "json_schema": {"name": "paint", "schema": SCHEMA}},
    ):
        answer = client.chat.completions.create(
            model="any", messages=MESSAGES, max_tokens=100, response_format=format_
        )
        painted(answer.choices[0].message.content)
        assert answer.choices[0].finish_reason == "stop"


def test_server_parses_into_pydantic(client: Any) -> None:
    from typing import Literal

    from pydantic import BaseModel

    class Paint(BaseModel):
        colour: Literal["red", "green"]
        count: int

    answer = client.chat.completions.parse(
        model="any", messages=MESSAGES, max_tokens=100, response_format=Paint
    )
    assert isinstance(answer.choices[0].message.parsed, Paint)


def test_server_tools(client: Any) -> None:
    for choice in (CHOICE, "required"):
        answer = client.chat.completions.create(
            model="any", messages=MESSAGES, tools=[TOOL], tool_choice=choice, max_tokens=100
        )
        (call,) = answer.choices[0].message.tool_calls
        assert call.function.name == "paint"
        painted(call.function.arguments)
    answer = client.chat.completions.create(
        model="any", messages=MESSAGES, tools=[TOOL], tool_choice=CHOICE, max_tokens=3
    )
    assert answer.choices[0].finish_reason == "length"


def test_server_goes_on_after_a_tool_call(client: Any) -> None:
    options: dict[str, Any] = {"model": "any", "tools": [TOOL], "max_tokens": 100}
    asked = client.chat.completions.create(messages=MESSAGES, tool_choice="required", **options)
    message = asked.choices[0].message
    (call,) = message.tool_calls
    answer = {"role": "tool", "tool_call_id": call.id, "content": "done"}
    parts = answer | {"content": [{"type": "text", "text": "do"}, {"type": "text", "text": "ne"}]}
    format_ = {"type": "json_schema", "json_schema": {"name": "paint", "schema": SCHEMA}}
    asked_in_parts = MESSAGES[0] | {"content": [{"type": "text", "text": MESSAGES[0]["content"]}]}
    texts = set()
    # As the client has it, with members that are null, and without any content.
    for said in (message, message.model_dump(), message.model_dump(exclude_none=True)):
        for told in (answer, parts):
            chat = client.chat.completions.create(
                messages=[asked_in_parts, said, told], response_format=format_, seed=3, **options
            )
            painted(chat.choices[0].message.content)
            texts.add(chat.choices[0].message.content)
    assert len(texts) == 1


def test_a_chat_goes_on_after_a_tool_call(llama: Any) -> None:
    options: dict[str, Any] = {"tools": [TOOL], "max_tokens": 100}
    (choice,) = llama.create_chat_completion(MESSAGES, tool_choice="required", **options)["choices"]
    message = choice["message"]
    assert message["content"] is None
    told = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "done"}
    format_ = {"type": "json_object", "schema": SCHEMA}
    chat = llama.create_chat_completion(
        [*MESSAGES, message, told], response_format=format_, **options
    )
    painted(chat["choices"][0]["message"]["content"])


def test_server_one_of_several_tools(client: Any) -> None:
    options: dict[str, Any] = {"model": "any", "messages": MESSAGES, "max_tokens": 100}
    options |= {"tools": [TOOL, ADD, WAIT], "tool_choice": "required", "seed": 4}
    answer = client.chat.completions.create(**options)
    (call,) = answer.choices[0].message.tool_calls
    check_call({"name": call.function.name, "arguments": call.function.arguments})
    deltas = [it.choices[0].delta for it in client.chat.completions.create(stream=True, **options)]
    calls = [it.tool_calls[0] for it in deltas if it.tool_calls]
    text = "".join(it.function.arguments for it in calls)
    assert (calls[0].function.name, text) == (call.function.name, call.function.arguments)


def test_server_streams(client: Any) -> None:
    stream = client.chat.completions.create(
        model="any",
        messages=MESSAGES,
        max_tokens=100,
        stream=True,
        response_format={"type": "json_schema", "json_schema": {"name": "p", "schema": SCHEMA}},
    )
    chunks = list(stream)
    painted("".join(it.choices[0].delta.content or "" for it in chunks))
    assert chunks[-1].choices[0].earmark == {"complete": True, "finished": True}


def test_server_says_whether_a_text_is_complete(client: Any) -> None:
    schema = SCHEMA | {"x-earmark": {"whitespace": "compact"}}
    format_ = {"type": "json_object", "schema": schema}
    for length, complete in [(3, False), (100, True)]:
        answer = client.chat.completions.create(
            model="any", messages=MESSAGES, max_tokens=length, response_format=format_
        )
        assert answer.choices[0].earmark == {"complete": complete, "finished": complete}
        assert complete == (answer.choices[0].message.content[-1:] == "}")
        answer = client.completions.create(
            model="any", prompt="a", max_tokens=length, extra_body={"grammar": 'root ::= "b"{20}'}
        )
        assert answer.choices[0].earmark == {"complete": complete, "finished": complete}


@pytest.mark.parametrize("grammar", [None, 'root ::= "b"{20}'])
@pytest.mark.parametrize("stream", [False, True])
def test_server_logprobs(client: Any, grammar: str | None, stream: bool) -> None:
    asked: dict[str, Any] = {"model": "any", "max_tokens": 3, "stream": stream}
    asked["extra_body"] = {"grammar": grammar}
    answer = client.completions.create(prompt="a", logprobs=1, **asked)
    for chunk in answer if stream else [answer]:
        if chunk.choices[0].finish_reason is None or not stream:
            (first, *_) = chunk.choices[0].logprobs.token_logprobs
            assert first <= 0
    answer = client.chat.completions.create(
        messages=MESSAGES, logprobs=True, top_logprobs=1, **asked
    )
    said = [it for chunk in (answer if stream else [answer]) if (it := chunk.choices[0].logprobs)]
    assert said
    assert all(it.logprob <= 0 for logprobs in said for it in logprobs.content)


BAD_GRAMMAR = 'root ::= "a" nothing'


@pytest.mark.parametrize("stream", [False, True])
def test_server_refuses_with_a_reason(client: Any, stream: bool) -> None:
    openai = pytest.importorskip("openai")
    bad = {"type": "json_schema", "json_schema": {"name": "p", "schema": REFUSED}}
    tool = {"type": "function", "function": {"name": "paint", "parameters": REFUSED}}
    for asked, param, why in (
        ({"response_format": bad}, "/pattern", "backreference"),
        ({"tools": [tool], "tool_choice": CHOICE}, "/pattern", "backreference"),
        ({"tools": [tool, ADD], "tool_choice": "required"}, "tool:paint#/pattern", "paint"),
        ({"tool_choice": "required"}, "tool_choice", "there are no tools"),
        ({"response_format": {"type": "json_schema"}}, "response_format", "needs"),
        ({"tools": [TOOL], "tool_choice": "foo"}, "tool_choice", "not 'foo'"),
        ({"extra_body": {"grammar": 5}}, "grammar", "valid string, not 5"),
        ({"temperature": "hot"}, "temperature", "valid number.*, not 'hot'"),
        ({"extra_body": {"grammar": BAD_GRAMMAR}}, None, "nothing"),
        ({"extra_body": {"grammar": "root ::= <|no_such|>"}}, None, "no_such"),
    ):
        with pytest.raises(openai.BadRequestError, match=why) as caught:
            client.chat.completions.create(
                model="any", messages=MESSAGES, max_tokens=9, stream=stream, **asked
            )
        assert caught.value.param == param
        assert caught.value.type == "invalid_request_error"
    with pytest.raises(openai.BadRequestError, match="nothing"):
        client.completions.create(
            model="any", prompt="a", stream=stream, extra_body={"grammar": BAD_GRAMMAR}
        )
    for asked, param, why in (
        ({"prompt": ["a", "b"]}, "prompt", "one prompt a request, not 2"),
        ({"prompt": "a", "n": 2}, "n", "one choice a request, not n=2"),
        ({"prompt": [1, 2, 3]}, "prompt", "as text, not as tokens"),
        ({"prompt": [[1, 2], [3]]}, "prompt", "as text, not as tokens"),
        *[
            ({"prompt": "a", "extra_body": {param: {"type": "json_object"}}}, param, "is for chats")
            for param in ("response_format", "tools", "tool_choice")
        ],
        ({"prompt": 5}, "prompt", "valid string, not 5"),
        ({"prompt": "a", "extra_body": {"grammar": 5}}, "grammar", "valid string, not 5"),
    ):
        with pytest.raises(openai.BadRequestError, match=why) as caught:
            client.completions.create(model="any", stream=stream, **asked)
        assert caught.value.param == param
    for content, why in (
        (b'{"prompt": ', "is not JSON.*char 11"),
        (b"[5]", r"object, not \[5\]"),
        (b"", "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (rb'{"prompt": "\ud800"}', r"not Unicode: it has the lone surrogate '\\ud800'"),
        (rb'{"prompt": "a", "user": {"\uDFFF": 1}}', "not Unicode"),
    ):
        with pytest.raises(openai.BadRequestError, match=why):
            client.post("/completions", content=content, cast_to=object)
    # The library's own errors, which a stream would lose too.
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        client.completions.create(model="any", prompt="a b" * 2000, stream=stream)
    # The process lives.
    test_server_response_format(client)


def test_an_error_in_a_stream_is_an_event() -> None:
    anyio = pytest.importorskip("anyio")
    from earmark.llama_cpp._http import Completions, Failure, refusal
    from earmark.llama_cpp.server import _telling_errors

    async def fails(*, inner_send_chan: Any, chunks: int, **_: Any) -> None:
        async with inner_send_chan:
            for _ in range(chunks):
                await inner_send_chan.send({"data": "chunk"})
            raise earmark.MatchError("no such token")

    class Route:
        def error_message_wrapper(self, error: Exception, body: Any) -> Any:
            assert body is None
            return refusal(error)

    async def stream(scope: Any, _receive: Any, send: Any) -> None:
        give, take = anyio.create_memory_object_stream(0)
        fill = partial(
            _telling_errors(fails),
            request=SimpleNamespace(scope=scope),
            inner_send_chan=give,
            body=None,
            chunks=scope["chunks"],
        )
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        async with anyio.create_task_group() as tasks, take:
            tasks.start_soon(fill)
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async for event in take:
                await send({"type": "http.response.body", "body": event["data"].encode()})
            await send({"type": "http.response.body", "body": b""})
        assert Failure.of(scope).status == 400

    async def run(chunks: int) -> list[Any]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"{}"}

        scope: Any = {"type": "http", "path": "/v1/completions", "headers": [], "route": Route()}
        scope["chunks"] = chunks
        await Completions(stream)(scope, receive, send)
        return sent

    start, body = anyio.run(run, 0)
    assert start["status"] == 400
    error = json.loads(body["body"])
    assert error["error"]["message"] == "no such token"
    start, *bodies, last = (it.get("body", it.get("status")) for it in anyio.run(run, 2))
    assert (start, bodies[:2], last) == (200, [b"chunk", b"chunk"], b"")
    assert json.loads(bodies[2]) == error


def test_server_grammar(client: Any) -> None:
    answer = client.completions.create(
        model="any",
        prompt="a",
        max_tokens=8,
        # Left recursion, which llama.cpp's engine does not take.
        extra_body={"grammar": 'root ::= root "b" | "a"'},
    )
    assert re.fullmatch("ab*", answer.choices[0].text)
