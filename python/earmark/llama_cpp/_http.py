"""ASGI middleware around the server's completions.

In: a completion's request as OpenAI has it, which the server's own types don't know all of; it
reads the body, as the server will, and hands on one that they know, or answers what can't be met.
Out: a stream that failed before its first chunk, as an answer with the status of the failure. All
else it leaves as it is.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from earmark import GrammarError, MatchError
from earmark.llama_cpp._requests import RequestError, checked_request

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Said = dict[str, str | None]
_KEY = "earmark.failure"
# What constrains a chat; the server takes no notice of it elsewhere.
_OF_CHATS = ("response_format", "tools", "tool_choice", "functions", "function_call")


class Failure:
    """What a stream failed with: the answer's status and body; a status of 0 while it has not."""

    def __init__(self) -> None:
        self.status = 0
        self.body: dict[str, Any] = {}

    @classmethod
    def of(cls, scope: MutableMapping[str, Any]) -> Failure:
        """That of the connection with this scope."""
        failure: Failure = scope[_KEY]
        return failure


class Completions:
    """See the module."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not scope["path"].endswith("/completions"):
            return await self._app(scope, receive, send)
        failure = Failure()
        scope = {**scope, _KEY: failure}
        body = await _body(receive)
        if body is None:
            return None  # The client has gone.
        if body or scope["method"] == "POST":
            try:
                body = _translated(body, scope["path"].endswith("/chat/completions"))
            except RequestError as error:
                return await _answer(send, 400, {"error": _said(error, error.param)})
            except RecursionError:
                said = _said(
                    RequestError("the request is nested too deeply; make it flatter", None)
                )
                return await _answer(send, 400, {"error": said})
            headers = [it for it in scope["headers"] if it[0] != b"content-length"]
            headers.append((b"content-length", str(len(body)).encode()))
            scope["headers"] = headers
        receive = _again(body, receive)
        return await self._app(scope, receive, _holding_back(send, failure))


def refusal(error: Exception) -> tuple[int, Said] | None:
    """Status and text of the answer to a request that can't be met; None for other errors."""
    if isinstance(error, GrammarError):
        return 400, _said(error, error.pointer, error.kind)
    if isinstance(error, RequestError):
        return 400, _said(error, error.param)
    return (400, _said(error)) if isinstance(error, MatchError) else None


def malformed(errors: Sequence[Mapping[str, Any]]) -> RequestError:
    """What FastAPI has found wrong with a request's members, as an error to be said."""
    # Its places begin with "body".
    said = (
        f"{'.'.join(map(str, error['loc'][1:]))}: {error['msg']}, not {error['input']!r:.80}"
        for error in errors
    )
    param = next((str(error["loc"][1]) for error in errors if len(error["loc"]) > 1), None)
    return RequestError("; ".join(said), param)


def _said(error: Exception, param: str | None = None, code: str = "invalid_request") -> Said:
    return {"message": str(error), "type": "invalid_request_error", "param": param, "code": code}


async def _body(receive: Receive) -> bytes | None:
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    first = True

    async def again() -> Message:
        nonlocal first
        if not first:
            return await receive()
        first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _translated(body: bytes, chat: bool) -> bytes:
    try:
        request = json.loads(body)
    except ValueError as error:
        raise RequestError(f"the request is not JSON: {error}", None) from error
    if b"\\ud" in body.lower():
        try:
            json.dumps(request, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise RequestError(
                f"the request's text is not Unicode: it has the lone surrogate "
                f"{error.object[error.start]!r}; leave it out",
                None,
            ) from error
    if not isinstance(request, dict):
        raise RequestError(f"a request is a JSON object, not {request!r:.80}", None)
    if request.get("n") not in (None, 1):
        raise RequestError(
            f"the server gives one choice a request, not n={request['n']!r}; send one request for "
            "each, with another seed",
            "n",
        )
    if chat:
        request |= checked_request(request)
    else:
        _check_prompt(request.get("prompt"))
        for param in _OF_CHATS:
            if request.get(param) is not None:
                raise RequestError(
                    f"{param} is for chats, at /chat/completions; a completion takes grammar", param
                )
    return json.dumps(request).encode()


def _check_prompt(prompt: Any) -> None:
    if not isinstance(prompt, list):
        return
    if any(isinstance(it, int | list) for it in prompt):
        raise RequestError(
            "the server takes a prompt as text, not as tokens; send the text of the tokens",
            "prompt",
        )
    if len(prompt) > 1:
        raise RequestError(
            f"the server takes one prompt a request, not {len(prompt)}; send one request for each",
            "prompt",
        )


def _holding_back(send: Send, failure: Failure) -> Send:
    """`send` that keeps the beginning of a stream until its first chunk is there."""
    start: Message | None = None
    answered = False

    async def held(message: Message) -> None:
        nonlocal start, answered
        if answered:
            return None
        if message["type"] == "http.response.start" and _is_stream(message):
            start = message
            return None
        if start is not None:
            begun, start = start, None
            if failure.status:
                answered = True
                return await _answer(send, failure.status, failure.body)
            await send(begun)
        return await send(message)

    return held


def _is_stream(start: Message) -> bool:
    headers = dict(start["headers"])
    return bool(headers.get(b"content-type", b"").startswith(b"text/event-stream"))


async def _answer(send: Send, status: int, said: dict[str, Any]) -> None:
    body = json.dumps(said).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
