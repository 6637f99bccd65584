"""llama-cpp-python's own names, from now on by earmark.

What changes, until `uninstall()`:

- `llama_cpp.LlamaGrammar`'s `from_string`, `from_file` and `from_json_schema` give earmark's.
  Grammars that were made before are read again, as GBNF, when they are used.
- `response_format` and `tools` of chat completions are enforced by earmark. A schema that can't
  be enforced is an error; llama-cpp-python would silently take any JSON instead.
- `response_format={"type": "json_schema", …}`, as OpenAI spells it, is understood too.
- `tool_choice="required"` means the only tool; with several it is an error, since nothing would
  enforce it.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

from earmark import GrammarError
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library

if TYPE_CHECKING:
    from collections.abc import Iterator

# (object, attribute, what it was) of all that was replaced.
_replaced: list[tuple[Any, str, Any]] = []


def install() -> None:
    """Make llama-cpp-python's own grammars and chat formats use earmark. Twice is once."""
    if _replaced:
        return
    theirs = library("llama_cpp.llama_grammar").LlamaGrammar
    for name in ("from_string", "from_file", "from_json_schema"):
        _replace(theirs, name, classmethod(_by_earmark(name)))
    sampler = library("llama_cpp._internals").LlamaSampler
    _replace(sampler, "add_grammar", _reading_theirs(sampler.add_grammar))
    chat_format = library("llama_cpp.llama_chat_format")
    _replace(chat_format, "_grammar_for_json_schema", _grammar_for_json_schema)
    _replace(chat_format, "llama_grammar", _chat_grammars(chat_format.llama_grammar))
    llama = library("llama_cpp.llama").Llama
    _replace(llama, "create_chat_completion", _chat_completion(llama.create_chat_completion))


def uninstall() -> None:
    """Give llama-cpp-python its own engine back. Without `install()` it does nothing."""
    while _replaced:
        owner, name, before = _replaced.pop()
        setattr(owner, name, before)


@contextmanager
def installed() -> Iterator[None]:
    """`install()` for the length of a `with` block; inside another one it changes nothing."""
    before = bool(_replaced)
    install()
    try:
        yield
    finally:
        if not before:
            uninstall()


def _replace(owner: Any, name: str, new: Any) -> None:
    _replaced.append((owner, name, vars(owner)[name]))
    setattr(owner, name, new)


def _by_earmark(name: str) -> Any:
    ours = getattr(LlamaGrammar, name)

    @wraps(ours)
    def make(_cls: type, *args: Any, **kwargs: Any) -> LlamaGrammar:
        made: LlamaGrammar = ours(*args, **kwargs)
        return made

    return make


def _reading_theirs(add_grammar: Any) -> Any:
    theirs = library("llama_cpp.llama_grammar").LlamaGrammar

    @wraps(add_grammar)
    def add(self: Any, model: Any, grammar: Any) -> None:
        if isinstance(grammar, theirs) and not isinstance(grammar, LlamaGrammar):
            grammar = LlamaGrammar.from_string(grammar._grammar)
        add_grammar(self, model, grammar)

    return add


def _grammar_for_json_schema(
    schema: str,
    verbose: bool = False,  # noqa: ARG001
    fallback_to_json: bool = True,  # noqa: ARG001
) -> LlamaGrammar:
    return LlamaGrammar.from_json_schema(schema)


class _Refused(LlamaGrammar):
    """A grammar that could not be made. Using it raises why.

    Chat formats catch every exception of a tool's schema and go on with any JSON.
    """

    def __init__(self, error: GrammarError) -> None:
        self._error = error

    @property
    def grammar(self) -> Any:  # type: ignore[override]
        raise self._error


class _GrammarOfChat(LlamaGrammar):
    """`LlamaGrammar` as chat formats see it."""

    @classmethod
    def from_string(cls, grammar: str, verbose: bool = True) -> LlamaGrammar:
        if isinstance(grammar, _SchemaText):
            return cls.from_json_schema(grammar)
        return LlamaGrammar.from_string(grammar, verbose)

    @classmethod
    def from_json_schema(
        cls, json_schema: Any, verbose: bool = True, **options: Any
    ) -> LlamaGrammar:
        try:
            return LlamaGrammar.from_json_schema(str(json_schema), verbose, **options)
        except GrammarError as error:
            return _Refused(error)


class _SchemaText(str):
    """A JSON Schema's text where GBNF is expected: chat formats only pass it on."""


def _chat_grammars(theirs: ModuleType) -> ModuleType:
    """The module `llama_grammar` as chat formats see it."""
    module = ModuleType(theirs.__name__, theirs.__doc__)
    vars(module).update(vars(theirs))
    vars(module).update(LlamaGrammar=_GrammarOfChat, json_schema_to_gbnf=_SchemaText)
    return module


def _chat_completion(chat: Any) -> Any:
    parameters = signature(chat)

    @wraps(chat)
    def complete(*args: Any, **kwargs: Any) -> Any:
        call = parameters.bind(*args, **kwargs)
        given = call.arguments
        if given.get("response_format") is not None:
            given["response_format"] = response_format_of_llama_cpp(given["response_format"])
        if given.get("tool_choice") == "required":
            given["tool_choice"] = _required_tool(given.get("tools") or [])
        return chat(*call.args, **call.kwargs)

    return complete


def response_format_of_llama_cpp(asked: Any) -> Any:
    """OpenAI's `json_schema` as llama-cpp-python's `json_object` with a schema."""
    if asked.get("type") != "json_schema":
        return asked
    named = asked.get("json_schema")
    if not isinstance(named, dict):
        raise ValueError(
            'response_format of type "json_schema" needs {"json_schema": {"schema": …}}, '
            f"not {asked!r}"
        )
    schema = named.get("schema")
    return {"type": "json_object"} | ({} if schema is None else {"schema": schema})


def _required_tool(tools: list[Any]) -> Any:
    names = [tool["function"]["name"] for tool in tools]
    if len(names) != 1:
        raise ValueError(
            f"tool_choice 'required' can be enforced for one tool, not for {names}; name the tool: "
            '{"type": "function", "function": {"name": …}}'
        )
    return {"type": "function", "function": {"name": names[0]}}
