"""Whether a completion's text is complete, said in llama-cpp-python's results.

A completion with an earmark grammar gets `choice["earmark"]`, a dict of two bools:

- `complete`: the text, as it was returned, is a text of the grammar. False where `max_tokens`, a
  stop string, a stopping criterion or the end of the context came first.
- `finished`: the model ended the text itself. False and `complete`: more could have followed.

In a stream it is in the chunk that has the finish reason. A chat completion has it if one
completion was all it took; formats that ask the model several times (`chatml-function-calling`)
say nothing. There, llama-cpp-python's finish reason of a tool call is `"tool_calls"` even where
`max_tokens` cut its arguments off; it becomes `"length"` then, as OpenAI has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any, TypedDict

from earmark import Matcher, MatchError
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._sampler import native_sampler
from earmark.llama_cpp._vocabulary import check_open

KEY = "earmark"
_TAUGHT = "_earmark_taught"
_ENDINGS = "_earmark_endings"


class Status(TypedDict):
    """What became of a constrained text."""

    complete: bool
    finished: bool


def status(matcher: Matcher) -> Status:
    """The status of all that a matcher has accepted."""
    finished = matcher.is_finished
    return {"complete": finished or matcher.is_accepting, "finished": finished}


def status_of_text(matcher: Matcher, text: bytes) -> Status:
    """The status of the beginning of what a matcher has accepted, which a stop string may end."""
    tokens = [step for step in matcher.accepted() if isinstance(step, int)]
    special = frozenset(matcher.vocabulary.special_token_ids)
    shown = [b"" if it in special else matcher.vocabulary.token_bytes(it) for it in tokens]
    whole = b"".join(shown)
    if len(text) >= len(whole) or not whole.startswith(text):
        return status(matcher)
    cut = matcher.fork()
    cut.reset()
    for token, part in zip(tokens, shown, strict=True):
        if len(part) > len(text):
            break
        cut.accept(token)
        text = text[len(part) :]
    try:
        cut.accept_bytes(text)
    except MatchError:
        return {"complete": False, "finished": False}
    return {"complete": cut.is_accepting, "finished": False}


def teach() -> None:
    """Make `Llama`'s completions carry the status. A second call does nothing."""
    theirs = library("llama_cpp.llama").Llama
    if getattr(theirs, _TAUGHT, False):
        return
    complete, chat = theirs._create_completion, theirs.create_chat_completion

    @wraps(complete)
    def complete_(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        shown = ""
        constrained = isinstance(kwargs.get("grammar"), LlamaGrammar)
        responses = complete(self, *args, **kwargs)
        while True:
            if constrained:
                check_open(self)
            response = next(responses, None)
            if response is None:
                return
            choice = response["choices"][0]
            shown += choice["text"]
            reason = choice["finish_reason"]
            if reason is not None and (native := native_sampler(self._sampler)):
                prompt = kwargs.get("prompt")
                # A stream has no echo.
                if kwargs.get("echo") and not kwargs.get("stream") and isinstance(prompt, str):
                    shown = shown.removeprefix(prompt)
                choice[KEY] = status_of_text(native.matcher(), shown.encode())
                endings = getattr(self, _ENDINGS, None)
                # A second one says that a chat took several.
                if endings is not None and len(endings) < 2:
                    endings.append((choice[KEY], reason))
            yield response

    @wraps(chat)
    def chat_(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("grammar"), LlamaGrammar):
            check_open(self)
        endings: list[tuple[Status, str]] = []
        setattr(self, _ENDINGS, endings)
        response = chat(self, *args, **kwargs)
        if isinstance(response, dict):
            return _mark(response, endings)
        if isinstance(response, Iterator):
            return (_mark(chunk, endings) for chunk in response)
        return response

    theirs._create_completion = complete_
    theirs.create_chat_completion = chat_
    setattr(theirs, _TAUGHT, True)


def _mark(response: Any, endings: list[tuple[Status, str]]) -> Any:
    """Put the status of the only completion into a chat's response or chunk."""
    if len(endings) != 1 or not response["choices"]:
        return response
    choice = response["choices"][0]
    if choice.get("finish_reason") is not None:
        ((choice[KEY], reason),) = endings
        if reason == "length" and not choice[KEY]["complete"]:
            choice["finish_reason"] = reason
    return response
