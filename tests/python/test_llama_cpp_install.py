"""`earmark.llama_cpp.install()`: llama-cpp-python's own names, its chat formats and its server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import earmark
import llama_model as models

llama_cpp = pytest.importorskip("llama_cpp")

from earmark.llama_cpp import LlamaGrammar, install, installed, uninstall  # noqa: E402

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
        install()
        made = llama_cpp.LlamaGrammar.from_string('root ::= "a"', verbose=False)
        assert isinstance(made, LlamaGrammar)
        assert isinstance(made, llama_cpp.LlamaGrammar)
        with installed():
            pass
        assert isinstance(llama_cpp.LlamaGrammar.from_json_schema("{}"), LlamaGrammar)
    assert {name: vars(llama_cpp.LlamaGrammar)[name] for name in before} == before
    assert llama_cpp.Llama.create_chat_completion is chat
    assert type(llama_cpp.LlamaGrammar.from_string("root ::= [a]")) is llama_cpp.LlamaGrammar


@pytest.mark.usefixtures("llama")
def test_all_of_the_librarys_grammars_can_be_read() -> None:
    from llama_cpp import llama_grammar

    texts = {name: text for name, text in vars(llama_grammar).items() if name.endswith("_GBNF")}
    assert len(texts) >= 6
    for text in texts.values():
        assert isinstance(llama_cpp.LlamaGrammar.from_string(text), LlamaGrammar)


def test_grammars_from_before(llama: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        uninstall()
        theirs = llama_cpp.LlamaGrammar.from_string('root ::= root "b" | "a"')
        install()
        patch.undo()
    assert not isinstance(theirs, LlamaGrammar)
    # Left recursion, which llama.cpp's engine does not take.
    (choice,) = llama("a", grammar=theirs, max_tokens=5)["choices"]
    assert re.fullmatch("ab*", choice["text"])
    assert "earmark" in choice


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
    options: dict[str, Any] = {"tools": [TOOL], "tool_choice": CHOICE, "max_tokens": 4}
    (choice,) = llama.create_chat_completion(MESSAGES, **options)["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["earmark"] == {"complete": False, "finished": False}
    chunks = list(llama.create_chat_completion(MESSAGES, stream=True, **options))
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


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
    draw = {"type": "function", "function": {"name": "draw", "parameters": SCHEMA}}
    with pytest.raises(ValueError, match=r"for one tool, not for \['paint', 'draw'\]"):
        llama.create_chat_completion(MESSAGES, tools=[TOOL, draw], tool_choice="required")
    with pytest.raises(ValueError, match=r'needs \{"json_schema"'):
        llama.create_chat_completion(MESSAGES, response_format={"type": "json_schema"})
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
def client(llama_server: str) -> Any:
    openai = pytest.importorskip("openai")
    return openai.OpenAI(base_url=llama_server, api_key="none", timeout=300)


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


def test_server_streams(client: Any) -> None:
    stream = client.chat.completions.create(
        model="any",
        messages=MESSAGES,
        max_tokens=100,
        stream=True,
        response_format={"type": "json_schema", "json_schema": {"name": "p", "schema": SCHEMA}},
    )
    painted("".join(it.choices[0].delta.content or "" for it in stream))


def test_server_grammar_and_errors(client: Any) -> None:
    openai = pytest.importorskip("openai")
    answer = client.completions.create(
        model="any",
        prompt="a",
        max_tokens=8,
        # Left recursion, which llama.cpp's engine does not take.
        extra_body={"grammar": 'root ::= root "b" | "a"'},
    )
    assert re.fullmatch("ab*", answer.choices[0].text)
    schema = {"type": "json_schema", "json_schema": {"name": "p", "schema": REFUSED}}
    with pytest.raises(openai.BadRequestError, match="pattern") as caught:
        client.chat.completions.create(
            model="any", messages=MESSAGES, max_tokens=9, response_format=schema
        )
    assert caught.value.param == "/pattern"
    # The process lives.
    test_server_response_format(client)
