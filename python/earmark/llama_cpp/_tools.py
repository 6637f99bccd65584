"""`tool_choice="required"`: a call of one of several tools.

The model writes `{"name": "…", "arguments": {…}}`, as most models' templates ask it to, by a
grammar in which each name has its own arguments. What it has written becomes a tool call in the
chat's response, or in the chunks of its stream.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._requests import OPTIONS, RequestError, own_options
from earmark.llama_cpp._status import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from inspect import BoundArguments

# They have their own way to write calls, for the tool that they are told or that the model wants.
_OWN_WAY = frozenset({"functionary", "functionary-v1", "functionary-v2", "chatml-function-calling"})


def only_tool(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The `tool_choice` of the first tool."""
    return {"type": "function", "function": {"name": tools[0]["function"]["name"]}}


def call_one_of(tools: list[dict[str, Any]], chat: Any, call: BoundArguments) -> Any:
    """A chat completion that calls one of the tools.

    Args:
        tools: With names and parameters.
        chat: `Llama.create_chat_completion`.
        call: Its arguments; changed.

    Returns:
        What it returns: a response, or an iterator of chunks.

    Raises:
        RequestError: The model's chat format has its own way to call tools.
        GrammarError: A tool's schema can't be enforced.
    """
    llama = call.arguments["self"]
    if llama.chat_handler is None and llama.chat_format in _OWN_WAY:
        raise RequestError(
            f"the chat format {llama.chat_format!r} can call only a tool that is named: "
            f"tool_choice={json.dumps(only_tool(tools))}",
            "tool_choice",
        )
    call.arguments["grammar"] = _grammar(tools)
    call.arguments["response_format"] = None
    response = chat(*call.args, **call.kwargs)
    return _call(response) if isinstance(response, dict) else _chunks(response)


def _grammar(tools: list[dict[str, Any]]) -> LlamaGrammar:
    """The texts of a call of one of the tools."""
    # Each schema is a document of its own, so that references in it are found in it.
    documents: dict[str, Any] = {}
    calls = []
    options = own_options(json.dumps(tools[0]["function"]["parameters"]))
    for tool in tools:
        name, parameters = tool["function"]["name"], tool["function"]["parameters"]
        document = f"tool:{quote(name, safe='')}"
        if document in documents:
            raise RequestError(f"two tools have the name {name!r}", "tools")
        documents[document] = parameters
        if own_options(json.dumps(parameters)) != options:
            raise RequestError(
                f"{OPTIONS} must be the same for all tools, of which the model chooses one, but "
                f"{name!r} has other options than {tools[0]['function']['name']!r}; give them to "
                "each, or name one tool",
                "tools",
            )
        calls.append(
            {
                "type": "object",
                "properties": {"name": {"const": name}, "arguments": {"$ref": document}},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    if options.keys() & {"whitespace", "separators", "indent"}:
        raise RequestError(
            f"{OPTIONS} can't say how several tools' calls are spaced; name one tool", "tools"
        )
    return LlamaGrammar.from_json_schema(
        {"anyOf": calls}, resources=documents, separators=(", ", ": "), **options
    )


def named_once(chunks: Iterator[Any]) -> Iterator[Any]:
    """A stream in which only a call's first chunk says which it is, as OpenAI's clients want."""
    named: set[Any] = set()
    for chunk in chunks:
        function = chunk["choices"][0]["delta"].get("function_call")
        if function is not None:
            if "function" in named:
                function.pop("name", None)
            named.add("function")
        for call in chunk["choices"][0]["delta"].get("tool_calls") or ():
            key = call.get("index"), call.get("id")
            if key not in named:
                named.add(key)
                continue
            call.pop("id", None)
            call.pop("type", None)
            call["function"].pop("name", None)
        yield chunk


class _Arguments:
    """Reads a call as it comes: the tool's name, and the text of its arguments.

    The members of the call come in any order and in any of JSON's spellings, as the options of the
    tools' schemas allow them.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self._arguments = ""
        # Where we are: in how many brackets, in a string, in which member of the call.
        self._depth = 0
        self._string = ""
        self._escaped = False
        self._member: str | None = None
        self._in_value = False

    def read(self, text: str) -> str:
        """What more there is of the arguments, once it is known whose they are."""
        for character in text:
            self._step(character)
        if self.name is None:
            return ""
        new, self._arguments = self._arguments, ""
        return new

    def _step(self, character: str) -> None:
        outside = not self._string
        inside = not outside or self._depth > 1 or character not in ",} "
        if inside and self._in_value and self._member == "arguments":
            self._arguments += character
        if not outside or character == '"':
            self._in_string(character)
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
        elif self._depth == 1 and character == ":":
            self._in_value = True
        elif self._depth == 1 and character == ",":
            self._in_value, self._member = False, None

    def _in_string(self, character: str) -> None:
        ends = bool(self._string) and character == '"' and not self._escaped
        self._escaped = character == "\\" and not self._escaped
        # Only the call's own strings are kept whole.
        kept = self._string if self._depth == 1 else ""
        self._string = kept + character or character
        if not ends:
            return
        if self._depth == 1 and not self._in_value:
            self._member = json.loads(self._string)
        elif self._depth == 1 and self._member == "name":
            self.name = json.loads(self._string)
        self._string = ""


def _call(response: Any) -> Any:
    """A response whose text is a call, as one with `tool_calls`."""
    choice = response["choices"][0]
    arguments = _Arguments()
    text = arguments.read(choice["message"]["content"] or "")
    _tell_the_reason(choice)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if arguments.name is not None:
        function = {"name": arguments.name, "arguments": text}
        identity = _identity(response, arguments.name)
        message["tool_calls"] = [{"id": identity, "type": "function", "function": function}]
    choice["message"] = message
    return response


def _chunks(chunks: Iterator[Any]) -> Iterator[Any]:
    """A stream of a text that is a call, as one with `tool_calls`."""
    arguments = _Arguments()
    for chunk in chunks:
        choice = chunk["choices"][0]
        delta = choice["delta"]
        named = arguments.name is not None
        text = arguments.read(delta.pop("content", None) or "")
        if choice["finish_reason"] is not None:
            _tell_the_reason(choice)
        if arguments.name is not None and (text or not named):
            # Only the first chunk of a call says which it is.
            call: dict[str, Any] = {"index": 0, "function": {"arguments": text}}
            if not named:
                call |= {"id": _identity(chunk, arguments.name), "type": "function"}
                call["function"] = {"name": arguments.name, "arguments": text}
            delta["tool_calls"] = [call]
        yield chunk


def _tell_the_reason(choice: Any) -> None:
    """Say that a call is the reason to finish, if it is whole."""
    if KEY not in choice:
        raise RequestError(
            "the model's chat handler takes no grammar for a choice of tools; name one tool",
            "tool_choice",
        )
    if choice[KEY]["complete"]:
        choice["finish_reason"] = "tool_calls"


def _identity(response: Any, name: str) -> str:
    return f"call__0_{name}_{response['id']}"
