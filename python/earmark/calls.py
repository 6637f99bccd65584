"""Which call of transformers' `generate()` runs.

A logits processor sees ids and scores, from which a new prompt can't be told from a step: both may
begin like what came before. So `GenerationMixin` is taught to tell. A `Follower` among the logits
processors of a call hears when that begins, before its first step, and when it ends. A call inside
of one that the follower is in already, as an assistant's, is a part of that.

Takes transformers' `GenerationMixin`; knows nothing of grammars.
"""

from __future__ import annotations

from functools import wraps
from threading import local
from typing import Any

__all__ = ["Follower", "join", "teach"]

_TAUGHT = "_earmark_taught"
_IDS = ("inputs", "input_ids", "decoder_input_ids")


class Follower:
    """A logits processor that hears of the calls of `generate()` that it is in."""

    def _call_begins(self, call: Call) -> None:
        """A call begins, whose next step is the first."""
        raise NotImplementedError

    def _call_ends(self, output: Any) -> None:
        """It ends.

        Args:
            output: Its sequences, a tensor; None if it has failed.
        """
        raise NotImplementedError


class Call:
    """A call of `generate()`.

    Attributes:
        given: The tensors of ids that the caller gave.
        config: Its generation config, once the logits processors are made.
        followers: Those in it, but not in a call around it.
    """

    def __init__(self, given: list[Any]) -> None:
        self.given = given
        self.config: Any = None
        self.followers: list[Follower] = []


class _Running(local):
    """The calls that run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[Call] = []


_running = _Running()


def teach(mixin: Any) -> None:
    """Make a `GenerationMixin` tell the followers of its calls. A second call does nothing.

    Args:
        mixin: The class.

    Raises:
        ImportError: It has not the methods that are needed.
    """
    if _TAUGHT in vars(mixin):
        return
    if not hasattr(mixin, "generate") or not hasattr(mixin, "_get_logits_processor"):
        raise ImportError(
            "earmark.transformers can't follow this version's generate(), which has no "
            "_get_logits_processor(); install another version of transformers, or a newer earmark"
        )
    generate, processors = mixin.generate, mixin._get_logits_processor

    @wraps(generate)
    def generate_(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = [*args[:1], *map(kwargs.get, _IDS)]
        call = Call([each for each in given if hasattr(each, "untyped_storage")])
        _running.calls.append(call)
        output = None
        try:
            output = generate(self, *args, **kwargs)
        finally:
            _running.calls.pop()
            for follower in call.followers:
                follower._call_ends(getattr(output, "sequences", output))
        return output

    @wraps(processors)
    def processors_(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = processors(self, *args, **kwargs)
        config = kwargs.get("generation_config", args[0] if args else None)
        if _running.calls:
            _running.calls[-1].config = config
        for each in made:
            if isinstance(each, Follower):
                _begin(each, config)
        return made

    mixin.generate = generate_
    mixin._get_logits_processor = processors_
    setattr(mixin, _TAUGHT, True)


def _begin(follower: Follower, config: Any) -> None:
    if any(follower in call.followers for call in _running.calls):
        return
    # A model whose generate() is all its own makes its processors outside of any call.
    call = _running.calls[-1] if _running.calls else Call([])
    call.config = config
    follower._call_begins(call)
    if _running.calls:
        call.followers.append(follower)
    else:
        follower._call_ends(None)


def join(follower: Follower) -> None:
    """Let a follower into the outermost call that runs in this thread, if it is in none.

    For one that the call does not know: another logits processor, which is in the call's list, asks
    it.
    """
    if _running.calls and not any(follower in call.followers for call in _running.calls):
        outermost = _running.calls[0]
        follower._call_begins(outermost)
        outermost.followers.append(follower)
