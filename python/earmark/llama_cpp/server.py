"""llama-cpp-python's OpenAI-compatible server, with earmark.

`python -m earmark.llama_cpp.server …` takes the arguments of `python -m llama_cpp.server …`. All
that `earmark.llama_cpp.install()` says holds; besides, answers have `choice["earmark"]`, and what
can't be enforced is answered by status 400, also where a stream was asked for: an error before a
stream's first chunk is an answer like any other, a later one an event with `error`.
"""

from __future__ import annotations

import json
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from earmark.llama_cpp import UnsupportedLlamaCppError, install
from earmark.llama_cpp._http import Completions, Failure, malformed, refusal
from earmark.llama_cpp._install import replace


def main() -> None:
    """Start the server, as `llama_cpp.server.__main__.main()` does."""
    try:
        import llama_cpp.server.__main__ as theirs
        import llama_cpp.server.app as routes
        from fastapi import APIRouter
        from fastapi.exceptions import RequestValidationError
        from llama_cpp.server.errors import RouteErrorHandler
        from starlette.middleware import Middleware
    except ImportError as error:
        raise UnsupportedLlamaCppError(
            f"the server can't be started: {error}; pip install 'llama-cpp-python[server]'"
        ) from error
    install()
    create_app, word = theirs.create_app, RouteErrorHandler.error_message_wrapper

    @wraps(create_app)
    def create(*args: Any, **kwargs: Any) -> Any:
        app = create_app(*args, **kwargs)
        # The innermost, so that its answers get what the others add, such as CORS headers.
        app.user_middleware.append(Middleware(Completions))
        return app

    @wraps(word)
    def answer(self: Any, error: Exception, *args: Any, **kwargs: Any) -> Any:
        if isinstance(error, RequestValidationError):
            error = malformed(error.errors())
        return refusal(error) or word(self, error, *args, **kwargs)

    replace(theirs, "create_app", create)
    replace(routes, "get_event_publisher", _telling_errors(routes.get_event_publisher))
    replace(routes, "router", _whole_answers(routes.router, APIRouter))
    replace(RouteErrorHandler, "error_message_wrapper", answer)
    theirs.main()


def _telling_errors(publish: Any) -> Any:
    """The task that fills a stream, whose errors the server would write into its log alone."""

    @wraps(publish)
    async def tell(*, request: Any, inner_send_chan: Any, body: Any, **rest: Any) -> None:
        # It closes its end of the channel whatever happens; the stream ends with the last one.
        async with inner_send_chan.clone() as channel:
            try:
                await publish(request=request, inner_send_chan=inner_send_chan, body=body, **rest)
            except Exception as error:
                status, said = request.scope["route"].error_message_wrapper(error=error, body=body)
                failure = Failure.of(request.scope)
                failure.status, failure.body = status, {"error": said}
                await channel.send({"data": json.dumps(failure.body)})

    return tell


def _whole_answers(router: Any, new: Any) -> Any:
    """The server's routes without the models of completions, which know no `earmark`."""
    whole = new(route_class=router.route_class)
    for route in router.routes:
        if not route.path.endswith("/completions"):
            whole.routes.append(route)
            continue
        whole.add_api_route(
            route.path,
            _plain_answers(route.endpoint),
            response_model=None,
            methods=list(route.methods),
            dependencies=route.dependencies,
            tags=route.tags,
            summary=route.summary,
            responses=route.responses,
            include_in_schema=route.include_in_schema,
        )
    return whole


def _plain_answers(endpoint: Any) -> Any:
    """An endpoint whose answers are JSON's types alone; the models turned NumPy's into them."""

    @wraps(endpoint)
    async def answer(*args: Any, **kwargs: Any) -> Any:
        return _plain(await endpoint(*args, **kwargs))

    # FastAPI would look up names in annotations among this module's.
    vars(answer)["__signature__"] = signature(endpoint, eval_str=True)
    return answer


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(it) for key, it in value.items()}
    if isinstance(value, list):
        return [_plain(it) for it in value]
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    main()
