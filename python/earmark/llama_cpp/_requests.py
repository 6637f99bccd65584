"""What a chat completion is asked for, checked, in llama-cpp-python's spelling.

Takes the arguments of `create_chat_completion`, or the members of the JSON that the server gets;
gives those of them that change. Chat formats rely on what is checked here, and would fail with a
`KeyError` or take no notice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from inspect import signature
from math import isfinite
from numbers import Real
from typing import Any

from earmark import Grammar
from earmark.llama_cpp._grammar import LlamaGrammar

OPTIONS = "x-earmark"
# What is the caller's to decide, not that of who writes a request.
_NOT_OPTIONS = frozenset({"limits", "resources"})
_NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}


class RequestError(ValueError):
    """A chat completion was asked for in a way that has no meaning, or can't be enforced.

    Attributes:
        param: The argument that it is about; None: all of them.
    """

    def __init__(self, text: str, param: str | None) -> None:
        super().__init__(text)
        self.param = param


def checked_request(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a chat completion that change, such as `response_format` and `tools`.

    Raises:
        RequestError: One of them, `tool_choice` or `function_call` is not what it has to be.
    """
    changed: dict[str, Any] = {}
    if isinstance(given.get("messages"), list):
        changed["messages"] = [_message(it) for it in given["messages"]]
    if given.get("response_format") is not None:
        changed["response_format"] = _response_format(given["response_format"])
    if given.get("functions") is not None:
        changed["functions"] = [
            _function(it, "functions") for it in _list(given["functions"], "functions")
        ]
    tools = given.get("tools")
    if tools is not None:
        changed["tools"] = tools = [_tool(it) for it in _list(tools, "tools")]
    if given.get("tool_choice") == "required" and not tools:
        raise RequestError("tool_choice is 'required', but there are no tools", "tool_choice")
    functions = [tool["function"] for tool in tools or ()] or changed.get("functions") or []
    for param in _CHOICES:
        _check_choice(given.get(param), param, [function["name"] for function in functions])
    return changed


_FUNCTIONARY = frozenset({"functionary-v1", "functionary-v2"})


def check_grammar_kept(llama: Any, given: Mapping[str, Any]) -> None:
    """Raise if a chat format would forget a chat's grammar for its tools.

    Args:
        llama: The `llama_cpp.Llama`.
        given: The arguments of `create_chat_completion`, with a grammar among them.

    Raises:
        RequestError: So it is.
    """
    tools, functions = given.get("tools"), given.get("functions")
    choice = given.get("tool_choice")
    choice = given.get("function_call") if choice is None else choice
    chat_format = llama.chat_format if llama.chat_handler is None else None
    if chat_format == "functionary":
        # It takes any choice for one of a call, "none" too.
        forgets = bool(tools or functions) or choice is not None
    elif chat_format in _FUNCTIONARY:
        forgets = bool(tools or functions) and choice != "none"
    elif chat_format == "chatml-function-calling":
        forgets = bool(tools or functions) and choice not in (None, "none")
    else:
        forgets = bool(tools or functions) and isinstance(choice, Mapping)
    if forgets:
        of_format = "" if chat_format is None else f" of the chat format {chat_format!r}"
        raise RequestError(
            f"tools and their choice{of_format} leave the grammar without effect; leave out either "
            "the grammar, or the tools and the choice",
            "grammar",
        )


def check_penalties(given: Mapping[str, Any]) -> None:
    """Raise for penalties that make logits no numbers, or those of forbidden tokens possible.

    Args:
        given: What a constrained text is sampled by.

    Raises:
        RequestError: So they do.
    """
    for param in ("repeat_penalty", "frequency_penalty", "presence_penalty"):
        value = given.get(param)
        if not isinstance(value, Real):
            continue  # None is there; of other types llama.cpp tells.
        if not isfinite(value) or (param == "repeat_penalty" and value <= 0):
            wanted = "a number above 0, 1 for none" if param == "repeat_penalty" else "a number"
            raise RequestError(f"{param} is {wanted}, not {value!r}", param)


def grammar_of_schema(text: str) -> LlamaGrammar:
    """The grammar of a schema, which may say how it is to be read.

    Args:
        text: JSON text.

    Raises:
        GrammarError: The schema is malformed or can't be enforced.
        RequestError: The options that it has are none.
    """
    return LlamaGrammar.from_json_schema(text, **own_options(text))


def own_options(text: str) -> dict[str, Any]:
    """The options that a schema's text has for `earmark.Grammar.from_json_schema`.

    Raises:
        RequestError: They are none.
    """
    if OPTIONS not in text:
        return {}
    try:
        schema = json.loads(text)
    except ValueError:
        return {}  # Who reads the schema says where it is malformed.
    if (place := _options_inside(schema)) is not None:
        raise RequestError(
            f"{OPTIONS} is for a schema as a whole, but stands at {place}; put it at the root",
            OPTIONS,
        )
    options = schema.get(OPTIONS, {}) if isinstance(schema, dict) else {}
    if not isinstance(options, dict):
        raise RequestError(f"{OPTIONS} is an object of options, not {options!r}", OPTIONS)
    if refused := sorted(_NOT_OPTIONS & options.keys()):
        raise RequestError(f"{OPTIONS} can't have {', '.join(refused)}", OPTIONS)
    known = signature(Grammar.from_json_schema).parameters.keys() - _NOT_OPTIONS - {"schema"}
    if unknown := sorted(options.keys() - known):
        raise RequestError(
            f"{OPTIONS} has no option {', '.join(unknown)}; there are {', '.join(sorted(known))}",
            OPTIONS,
        )
    if isinstance(options.get("separators"), list):
        options["separators"] = tuple(options["separators"])
    try:
        Grammar.from_json_schema("true", **options)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{OPTIONS}: {error}", OPTIONS) from error
    return options


# Keywords whose members are schemas by other names, and those whose value is no schema.
_OF_SCHEMAS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_OF_VALUES = frozenset({"const", "enum", "default", "example", "examples", OPTIONS})


def _options_inside(root: Any) -> str | None:
    """Where a schema has options that are not at its root, as a JSON pointer."""
    left: list[tuple[str, Any]] = [("", root)]
    while left:
        place, schema = left.pop()
        if isinstance(schema, list):
            left += ((f"{place}/{at}", it) for at, it in enumerate(schema))
        elif isinstance(schema, dict):
            if place and OPTIONS in schema:
                return f"{place}/{OPTIONS}"
            for key, value in schema.items():
                below = f"{place}/{_step(key)}"
                if key in _OF_SCHEMAS and isinstance(value, dict):
                    left += ((f"{below}/{_step(name)}", it) for name, it in value.items())
                elif key not in _OF_VALUES:
                    left.append((below, value))
    return None


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _message(message: Any) -> Any:
    """A message as OpenAI has it, in what the server's types and chat templates know.

    Members that are null say nothing. An assistant's message that only calls tools has an empty
    content, without which templates fail. Parts that are all text are one text.
    """
    if not isinstance(message, dict):
        return message
    said = {key: it for key, it in message.items() if it is not None}
    content = said.get("content")
    if content is None and ("content" in message or said.get("role") == "assistant"):
        said["content"] = ""
    elif isinstance(content, list):
        texts = [it["text"] for it in content if isinstance(it, dict) and "text" in it]
        if len(texts) == len(content) and all(isinstance(it, str) for it in texts):
            said["content"] = "".join(texts)
    return said


def _response_format(asked: Any) -> Any:
    """OpenAI's `json_schema` as llama-cpp-python's `json_object` with a schema."""
    kind = asked.get("type") if isinstance(asked, Mapping) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise RequestError(
            'response_format is {"type": "text"}, {"type": "json_object", "schema": …} or '
            f'{{"type": "json_schema", "json_schema": {{"schema": …}}}}, not {asked!r}',
            "response_format",
        )
    if kind != "json_schema":
        if asked.get("schema") is not None:
            _check_schema(asked["schema"], "response_format's schema is", "response_format")
        return asked
    named = asked.get("json_schema")
    if not isinstance(named, Mapping):
        raise RequestError(
            'response_format of type "json_schema" needs {"json_schema": {"schema": …}}, '
            f"not {asked!r}",
            "response_format",
        )
    schema = named.get("schema")
    if schema is None:
        return {"type": "json_object"}
    _check_schema(schema, "response_format's schema is", "response_format")
    return {"type": "json_object", "schema": schema}


# What a choice says in a word, and how it names a tool.
_CHOICES = {
    "tool_choice": (
        ("none", "auto", "required"),
        '{"type": "function", "function": {"name": …}}',
    ),
    "function_call": (("none", "auto"), '{"name": …}'),
}


def _check_choice(choice: Any, param: str, names: list[str]) -> None:
    """Check `tool_choice`, or `function_call`, as OpenAI called it before there were tools."""
    words, named = _CHOICES[param]
    if choice is None or (isinstance(choice, str) and choice in words):
        return
    function = choice
    if isinstance(choice, Mapping) and param == "tool_choice":
        function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    if name is None:
        raise RequestError(f"{param} is {', '.join(words)} or {named}, not {choice!r}", param)
    if name not in names:
        raise RequestError(f"{param} names {name!r}, but the tools are {names}", param)


def _tool(tool: Any) -> dict[str, Any]:
    if not isinstance(tool, Mapping):
        raise RequestError(f"a tool is a dict, not {tool!r}", "tools")
    return {**tool, "function": _function(tool.get("function"), "tools")}


def _function(function: Any, param: str) -> dict[str, Any]:
    """A function with `parameters`; OpenAI takes none for a function without any."""
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise RequestError(
            f'a function is {{"name": …, "parameters": …}} in {param}, not {function!r}', param
        )
    whole = dict(function)
    name = whole["name"]
    if _has_surrogates(name):
        raise RequestError(
            f"a function's name is Unicode, but {name!r} has a lone surrogate; leave it out", param
        )
    if whole.get("parameters") is None:
        whole["parameters"] = _NO_PARAMETERS
    _check_schema(whole["parameters"], f"the parameters of {name!r} are", param)
    return whole


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= it <= "\udfff" for it in text)


def _check_schema(schema: Any, what: str, param: str) -> None:
    """Raise for a schema that is none, before chat formats write it as JSON."""
    if not isinstance(schema, Mapping | bool):
        raise RequestError(f"{what} a JSON Schema: an object, not {schema!r:.80}", param)
    try:
        json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"{what} not JSON: {error}", param) from error


def _list(value: Any, param: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise RequestError(f"{param} is a list, not {value!r}", param)
    return list(value)
