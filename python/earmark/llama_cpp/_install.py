"""llama-cpp-python's own names, from now on by earmark.

What changes, until `uninstall()`:

- `llama_cpp.LlamaGrammar`'s `from_string`, `from_file` and `from_json_schema` give earmark's.
  Grammars that were made before are read again, as GBNF, when they are used.
- `response_format` and `tools` of chat completions are enforced by earmark. A schema that can't
  be enforced is an error; llama-cpp-python would silently take any JSON instead.
- `response_format={"type": "json_schema", …}`, as OpenAI spells it, is understood too.
- `tool_choice="required"` is a call of one of the tools.
- A schema may have `"x-earmark": {…}`, options of `earmark.Grammar.from_json_schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from earmark import GrammarError
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._requests import (
    RequestError,
    check_grammar_kept,
    checked_request,
    grammar_of_schema,
)
from earmark.llama_cpp._sampler import Taken
from earmark.llama_cpp._tools import call_one_of, named_once, only_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

# (object, attribute, what it was) of all that was replaced.
_replaced: list[tuple[Any, str, Any]] = []
# Who wants it so: `install()`, and the `with` blocks that have not ended. They change under the
# lock, and so does what is replaced.
_for_good = False
_blocks = 0
_lock = Lock()


def install() -> None:
    """Make llama-cpp-python's own grammars and chat formats use earmark. Twice is once."""
    global _for_good
    with _lock:
        _for_good = True
        _set()


def uninstall() -> None:
    """Give llama-cpp-python its own engine back, once no `with installed()` block is left.

    Without `install()` it does nothing.
    """
    global _for_good
    with _lock:
        _for_good = False
        _set()


@contextmanager
def installed() -> Iterator[None]:
    """`install()` for the length of a `with` block, in all threads.

    Blocks may overlap: the last one to end, of any thread, gives llama-cpp-python its own engine
    back, unless `install()` was called.
    """
    global _blocks
    with _lock:
        _blocks += 1
        _set()
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            _set()


def _set() -> None:
    wanted = _for_good or _blocks > 0
    if wanted and not _replaced:
        _replace_all()
    while _replaced and not wanted:
        owner, name, before = _replaced.pop()
        setattr(owner, name, before)


def _replace_all() -> None:
    theirs = library("llama_cpp.llama_grammar").LlamaGrammar
    chat_format = library("llama_cpp.llama_chat_format")
    llama = library("llama_cpp.llama").Llama
    for name in ("from_string", "from_file", "from_json_schema"):
        replace(theirs, name, classmethod(_by_earmark(name)))
    replace(Taken, "types", (*Taken.types, theirs))
    replace(Taken, "formats", True)
    replace(chat_format, "_grammar_for_json_schema", _grammar_for_json_schema)
    replace(chat_format, "llama_grammar", _chat_grammars(chat_format.llama_grammar))
    replace(llama, "create_chat_completion", _chat_completion(llama.create_chat_completion))


def replace(owner: Any, name: str, new: Any) -> None:
    """Set an attribute, until `uninstall()`."""
    _replaced.append((owner, name, vars(owner)[name]))
    setattr(owner, name, new)


def _by_earmark(name: str) -> Any:
    ours = getattr(LlamaGrammar, name)

    @wraps(ours)
    def make(_cls: type, *args: Any, **kwargs: Any) -> LlamaGrammar:
        made: LlamaGrammar = ours(*args, **kwargs)
        return made

    return make


def _grammar_for_json_schema(
    schema: str,
    verbose: bool = False,  # noqa: ARG001
    fallback_to_json: bool = True,  # noqa: ARG001
) -> LlamaGrammar:
    return grammar_of_schema(schema)


class _Refused(LlamaGrammar):
    """A grammar that could not be made. Using it raises why.

    Chat formats catch every exception of a tool's schema and go on with any JSON.
    """

    def __init__(self, error: Exception) -> None:
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
        cls,
        json_schema: Any,
        verbose: bool = True,  # noqa: ARG003
        **options: Any,  # noqa: ARG003
    ) -> LlamaGrammar:
        try:
            return grammar_of_schema(str(json_schema))
        except (GrammarError, RequestError) as error:
            return _Refused(error)


class _SchemaText(str):
    """A JSON Schema's text where GBNF is expected: chat formats only pass it on."""


def _chat_grammars(theirs: ModuleType) -> ModuleType:
    """The module `llama_grammar` as chat formats see it."""
    module = ModuleType(theirs.__name__, theirs.__doc__)
    vars(module).update(vars(theirs))
    vars(module).update(LlamaGrammar=_GrammarOfChat, json_schema_to_gbnf=_SchemaText)
    return module


def _check_one_text(given: dict[str, Any]) -> None:
    """Raise if a call is asked for beside another text, of which there would be nothing left.

    Raises:
        RequestError: So it is.
    """
    format_ = given.get("response_format")
    others = {
        "grammar": given.get("grammar") is not None,
        "response_format": format_ is not None and format_["type"] != "text",
    }
    for param in ("tool_choice", "function_call"):
        choice = given.get(param)
        if choice != "required" and not isinstance(choice, Mapping):
            continue
        for other, is_given in others.items():
            if is_given:
                raise RequestError(
                    f"{param} asks for a call and {other} for another text; give one", other
                )


# Chat formats that take no notice of `response_format`, and one that doesn't beside tools.
_WITHOUT_FORMAT = frozenset({"functionary", "functionary-v1", "functionary-v2"})
_WITH_TOOLS_OR_FORMAT = "chatml-function-calling"


def _format_as_grammar(given: dict[str, Any]) -> None:
    """Hands a chat format that only knows grammars the `response_format` as one.

    Raises:
        RequestError: There is a grammar or there are tools beside it.
    """
    asked = given.get("response_format")
    if asked is None or asked["type"] == "text":
        return
    if given.get("grammar") is not None:
        raise RequestError(
            "response_format and grammar are both given, of which llama-cpp-python would forget "
            "the grammar; give one",
            "response_format",
        )
    llama = given["self"]
    if llama.chat_handler is not None:
        return
    tools = given.get("tools") or given.get("functions")
    if llama.chat_format == _WITH_TOOLS_OR_FORMAT:
        choices = given.get("tool_choice"), given.get("function_call")
        tools = tools and any(it not in (None, "none") for it in choices)
    elif llama.chat_format not in _WITHOUT_FORMAT:
        return
    if tools:
        raise RequestError(
            f"the chat format {llama.chat_format!r} takes no response_format beside tools; leave "
            "one of them out",
            "response_format",
        )
    if llama.chat_format == _WITH_TOOLS_OR_FORMAT:
        return
    chat_format = library("llama_cpp.llama_chat_format")
    given["grammar"] = chat_format._grammar_for_response_format(asked)
    given["response_format"] = None


def _chat_completion(chat: Any) -> Any:
    parameters = signature(chat)

    @wraps(chat)
    def complete(*args: Any, **kwargs: Any) -> Any:
        call = parameters.bind(*args, **kwargs)
        given = call.arguments
        given.update(checked_request(given))
        _check_one_text(given)
        if given.get("grammar") is not None:
            check_grammar_kept(given["self"], given)
        _format_as_grammar(given)
        if given.get("tool_choice") == "required":
            tools = given["tools"]
            if len(tools) > 1:
                return call_one_of(tools, chat, call)
            given["tool_choice"] = only_tool(tools)
        response = chat(*call.args, **call.kwargs)
        asked = given.get("tools") or given.get("functions")
        return named_once(response) if asked and given.get("stream") else response

    return complete
