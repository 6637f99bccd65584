"""llama-cpp-python's OpenAI-compatible server, with earmark.

`python -m earmark.llama_cpp.server …` takes the arguments of `python -m llama_cpp.server …`. All
that `earmark.llama_cpp.install()` says holds; besides, `response_format` may be OpenAI's
`json_schema`, and a schema or grammar that can't be enforced is answered by status 400.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from functools import wraps
from typing import Any

from earmark import GrammarError
from earmark.llama_cpp import UnsupportedLlamaCppError, install
from earmark.llama_cpp._install import _replace, response_format_of_llama_cpp

Message = MutableMapping[str, Any]


class ResponseFormats:
    """ASGI middleware: OpenAI's `response_format`, which the server's own types don't know.

    It reads the body of a chat completion's request, as the server will, and hands on one with
    llama-cpp-python's spelling. Anything else it leaves as it is.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not scope["path"].endswith("/chat/completions"):
            return await self._app(scope, receive, send)
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None  # The client has gone.
            body += message.get("body", b"")
            more = message.get("more_body", False)
        body = _translated(body)
        headers = [it for it in scope["headers"] if it[0] != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        first = True

        async def again() -> Message:
            nonlocal first
            if not first:
                return await receive()
            first = False
            return {"type": "http.request", "body": body, "more_body": False}

        return await self._app({**scope, "headers": headers}, again, send)


def _translated(body: bytes) -> bytes:
    try:
        request = json.loads(body)
        format_ = request["response_format"]
        request["response_format"] = response_format_of_llama_cpp(format_)
    except (ValueError, TypeError, KeyError, AttributeError):
        return body  # The server says what is wrong with it.
    return json.dumps(request).encode()


def main() -> None:
    """Start the server, as `llama_cpp.server.__main__.main()` does."""
    try:
        import llama_cpp.server.__main__ as theirs
        from llama_cpp.server.errors import RouteErrorHandler
    except ImportError as error:
        raise UnsupportedLlamaCppError(
            f"the server can't be started: {error}; pip install 'llama-cpp-python[server]'"
        ) from error
    install()
    create_app, word = theirs.create_app, RouteErrorHandler.error_message_wrapper

    @wraps(create_app)
    def create(*args: Any, **kwargs: Any) -> Any:
        app = create_app(*args, **kwargs)
        app.add_middleware(ResponseFormats)
        return app

    @wraps(word)
    def answer(self: Any, error: Exception, *args: Any, **kwargs: Any) -> Any:
        if isinstance(error, GrammarError):
            return 400, {
                "message": str(error),
                "type": "invalid_request_error",
                "param": error.pointer,
                "code": error.kind,
            }
        return word(self, error, *args, **kwargs)

    _replace(theirs, "create_app", create)
    _replace(RouteErrorHandler, "error_message_wrapper", answer)
    theirs.main()


if __name__ == "__main__":
    main()
