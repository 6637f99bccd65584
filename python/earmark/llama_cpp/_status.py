"""Whether a completion's text is complete, said in llama-cpp-python's results.

A completion with an earmark grammar gets `choice["earmark"]`, a dict of two bools:

- `complete`: the text, as it was returned, is a text of the grammar. False where `max_tokens`, a
  stop string, a stopping criterion or the end of the context came first.
- `finished`: the model ended the text itself. False and `complete`: more could have followed.

In a stream it is in the chunk that has the finish reason. A chat completion has it if one
completion was all it took; formats that ask the model several times (`chatml-function-calling`)
say nothing. There, llama-cpp-python's finish reason of a tool call is `"tool_calls"` even where its
arguments were cut off; it becomes that of the cut then, `"length"` or `"stop"`, as OpenAI has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypedDict

from earmark import Matcher, MatchError
from earmark.llama_cpp._arguments import Arguments
from earmark.llama_cpp._library import library
from earmark.llama_cpp._processor import ours
from earmark.llama_cpp._requests import RequestError, check_grammar_kept
from earmark.llama_cpp._sampler import Taken, is_constrained, is_ours, native_sampler
from earmark.llama_cpp._use import Use
from earmark.llama_cpp._vocabulary import check_open

KEY = "earmark"
_TAUGHT = "_earmark_taught"


class Status(TypedDict):
    """What became of a constrained text."""

    complete: bool
    finished: bool


# None: that of a completion without a grammar.
Endings = list[tuple[Status | None, str]]

# What has become of the completions of the chat that runs: their statuses and finish reasons.
_endings: ContextVar[Endings | None] = ContextVar("earmark_endings", default=None)


def status(matcher: Matcher) -> Status:
    """The status of all that a matcher has accepted."""
    if matcher.is_finished:
        return {"complete": True, "finished": True}
    complete = matcher.is_accepting
    # The token that ends a text may be one of the grammar's own.
    last = matcher.accepted()[-1:]
    ended = bool(last) and last[0] in matcher.vocabulary.eos_token_ids
    return {"complete": complete, "finished": complete and ended}


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
    of_complete, of_chat = Arguments(complete), Arguments(chat)

    @wraps(complete)
    def complete_(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        check_open(self)
        asked = of_complete.of((self, *args), kwargs)
        # A stream runs later than its chat's call, maybe after other chats'.
        return _marked(self, complete(self, *args, **kwargs), asked, _endings.get())

    @wraps(chat)
    def chat_(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_open(self)
        asked = of_chat.of((self, *args), kwargs)
        if is_ours(asked.get("grammar")):
            check_grammar_kept(self, asked)
        endings: Endings = []
        needed = _Needed(self, asked)
        with _chat(endings):
            response = chat(self, *args, **kwargs)
        if isinstance(response, Iterator):
            return _marked_chunks(response, endings, needed)
        needed.check()
        return _mark(response, endings) if isinstance(response, dict) else response

    theirs._create_completion = complete_
    theirs.create_chat_completion = chat_
    setattr(theirs, _TAUGHT, True)


def _marked(
    llama: Any, responses: Iterator[Any], asked: dict[str, Any], endings: Endings | None
) -> Iterator[Any]:
    """A completion's responses with the status in the one that has the finish reason."""
    shown = ""
    sampler = native = None
    use = Use(llama)
    while True:
        check_open(llama)
        if is_constrained(sampler) and (llama._sampler is not sampler or not use.is_last()):
            raise RuntimeError(
                "this stream can't go on: its Llama has been used for something else since; "
                "read a stream to its end before the next call, or load the model twice"
            )
        response = _next(responses, is_ours(asked.get("grammar")))
        if response is None:
            return
        sampler = llama._sampler
        native = native_sampler(sampler)
        if is_constrained(sampler):
            use.goes_on()
        choice = response["choices"][0]
        shown += choice["text"]
        reason = choice["finish_reason"]
        if reason is not None and native is not None:
            prompt = asked.get("prompt")
            # A stream has no echo.
            if asked.get("echo") and not asked.get("stream") and isinstance(prompt, str):
                shown = shown.removeprefix(prompt)
            choice[KEY] = status_of_text(native.matcher(), shown.encode())
        # A second one says that a chat took several.
        if reason is not None and endings is not None and len(endings) < 2:
            endings.append((choice.get(KEY), reason))
        yield response


def _next(responses: Iterator[Any], constrained: bool) -> Any:
    try:
        return next(responses, None)
    except ValueError as error:
        # The library says how long they are; its server looks for these words.
        if not constrained or "exceed context window" not in str(error):
            raise
        raise ValueError(
            f"{error}; shorten the prompt or load the model with a larger n_ctx"
        ) from error


@contextmanager
def _chat(endings: Endings) -> Iterator[None]:
    """Completions that are asked for in this block are those of one chat."""
    before = _endings.set(endings)
    try:
        yield
    finally:
        _endings.reset(before)


class _Needed:
    """The grammar that a chat was given, of which its handler may take no notice.

    Args:
        llama: A `llama_cpp.Llama`, before the handler has used it.
        asked: The arguments of `create_chat_completion`.
    """

    def __init__(self, llama: Any, asked: dict[str, Any]) -> None:
        self._llama = llama
        self._param = _constraint(asked)
        self.begin()

    def begin(self) -> None:
        """Take what the `Llama` has sampled by so far for others'."""
        self._before = self._llama._sampler

    def check(self) -> None:
        """Raise if the text that there is now was sampled without a grammar.

        Raises:
            RequestError: So it was.
        """
        sampler = self._llama._sampler
        if self._param is None or (sampler is not self._before and is_constrained(sampler)):
            return
        raise RequestError(
            f"the model's chat handler takes no notice of {self._param}, and its answer can be any "
            "text; leave that out, or take another chat handler",
            self._param,
        )


def _constraint(asked: dict[str, Any]) -> str | None:
    """The argument of a chat that constrains its text by a grammar of earmark's."""
    if is_ours(asked.get("grammar")):
        # The grammar of a call that is required is nothing that the caller has given.
        return "tool_choice" if asked.get("tool_choice") == "required" else "grammar"
    if ours(asked.get("logits_processor")):
        return "logits_processor"
    if not Taken.formats:
        return None
    format_ = asked.get("response_format")
    if isinstance(format_, Mapping) and format_.get("type") != "text":
        return "response_format"
    named = (it for it in ("tool_choice", "function_call") if isinstance(asked.get(it), Mapping))
    return next(named, None)


def _marked_chunks(chunks: Iterator[Any], endings: Endings, needed: _Needed) -> Iterator[Any]:
    """A chat's stream with the status; the chat's format may ask for completions in between."""
    needed.begin()
    while True:
        with _chat(endings):
            chunk = next(chunks, None)
        if chunk is None:
            needed.check()
            return
        if any(_says(it) for it in chunk["choices"]):
            needed.check()
        yield _mark(chunk, endings)


def _says(choice: Any) -> bool:
    """Whether there is more in a chunk's choice than who speaks."""
    said = any(it for name, it in choice.get("delta", {}).items() if name != "role")
    return said or choice.get("finish_reason") is not None


def _mark(response: Any, endings: Endings) -> Any:
    """Put the status of the only completion into a chat's response or chunk."""
    if len(endings) != 1 or not response["choices"]:
        return response
    choice = response["choices"][0]
    ((ending, reason),) = endings
    if ending is not None and choice.get("finish_reason") is not None:
        choice[KEY] = ending
        if not ending["complete"]:
            choice["finish_reason"] = reason
    return response
