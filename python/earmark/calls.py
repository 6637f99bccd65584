"""Which call of transformers' `generate()` runs.

A logits processor sees ids and scores, from which a new prompt can't be told from a step: both may
begin like what came before. So `GenerationMixin` is taught to tell. A `Follower` among the logits
processors of a call hears when that begins, before its first step, and when it ends. A call inside
of one that the follower is in already, as an assistant's, is a part of that. What the call's
stopping criteria say is kept (`earmark.stops`), for the rows that they end are padded.

Takes transformers' `GenerationMixin`; knows nothing of grammars.
"""

from __future__ import annotations

from functools import wraps
from threading import local
from typing import Any

from earmark.stops import Stops

__all__ = ["Call", "Follower", "drafts_in_other_tokens", "join", "teach"]

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
        prompt_length: How many tokens its rows have then. None: not known.
        followers: Those in it, but not in a call around it.
        stops: Where its rows end.
        has_translator: Whether its assistant has another tokenizer.
    """

    def __init__(self, given: list[Any], *, has_translator: bool = False) -> None:
        self.given = given
        self.has_translator = has_translator
        self.config: Any = None
        self.prompt_length: int | None = None
        self.followers: list[Follower] = []
        self.stops = Stops()


class _Running(local):
    """The calls that run in this thread, the innermost last.

    Attributes:
        made: The call that has its logits processors, the caller's among them, and gets its
            stopping criteria next.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.made: Call | None = None


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
    for name in ("generate", "_get_logits_processor", "_get_stopping_criteria"):
        if not hasattr(mixin, name):
            raise ImportError(
                f"earmark.transformers can't follow this version's generate(), which has no {name}"
                "(); install another version of transformers, or a newer earmark"
            )
    generate, processors = mixin.generate, mixin._get_logits_processor
    criteria = mixin._get_stopping_criteria

    @wraps(generate)
    def generate_(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = [*args[:1], *map(kwargs.get, _IDS)]
        call = Call(
            _tensors(given),
            # As transformers decides it.
            has_translator=None not in (kwargs.get("tokenizer"), kwargs.get("assistant_tokenizer")),
        )
        _running.calls.append(call)
        output = None
        try:
            output = generate(self, *args, **kwargs)
        finally:
            _running.calls.pop()
            _running.made = None
            for follower in call.followers:
                follower._call_ends(getattr(output, "sequences", output))
        return output

    @wraps(processors)
    def processors_(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = processors(self, *args, **kwargs)
        # A model whose generate() is all its own makes its processors outside of any call.
        call = (
            _running.calls[-1]
            if _running.calls
            else Call(_tensors([kwargs.get("encoder_input_ids")]))
        )
        call.config = kwargs.get("generation_config", args[0] if args else None)
        call.prompt_length = kwargs.get("input_ids_seq_length")
        for each in made:
            if isinstance(each, Follower):
                _begin(each, call)
        # One of the caller's processors may ask a follower later.
        _running.made = call if kwargs.get("logits_processor") else None
        return made

    @wraps(criteria)
    def criteria_(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = criteria(self, *args, **kwargs)
        call, _running.made = _running.made, None
        return made if call is None else _watched(made, call)

    mixin.generate = generate_
    mixin._get_logits_processor = processors_
    mixin._get_stopping_criteria = criteria_
    setattr(mixin, _TAUGHT, True)


def _tensors(given: list[Any]) -> list[Any]:
    return [each for each in given if hasattr(each, "untyped_storage")]


def _begin(follower: Follower, call: Call) -> None:
    if any(follower in each.followers for each in _running.calls):
        return
    follower._call_begins(call)
    if _running.calls:
        call.followers.append(follower)
    else:
        follower._call_ends(None)


def _watched(criteria: Any, call: Call) -> Any:
    """The same stopping criteria, whose answers the call keeps."""
    stops, config = call.stops, call.config
    stops.begin(
        _padding(config),
        beams=(getattr(config, "num_beams", None) or 1) > 1,
        # The very condition by which transformers pads.
        pads=any(hasattr(each, "eos_token_id") for each in criteria),
    )

    class Watched(type(criteria)):  # type: ignore[misc]
        def __call__(self, input_ids: Any, *args: Any, **kwargs: Any) -> Any:
            done = super().__call__(input_ids, *args, **kwargs)
            stops.see(input_ids, done)
            return done

    return Watched(criteria)


def _padding(config: Any) -> set[int]:
    """The tokens with which `generate()` pads: beams also by the end token, or by -1."""
    found = {-1}
    for name in ("pad", "eos"):
        tokens = getattr(config, f"_{name}_token_tensor", None)
        if tokens is None:
            tokens = getattr(config, f"{name}_token_id", None)
        if tokens is not None:
            tokens = tokens.tolist() if hasattr(tokens, "tolist") else tokens
            found.update(tokens if isinstance(tokens, list) else [tokens])
    return found


def join(follower: Follower) -> None:
    """Let a follower into the outermost call that generates in this thread, if it is in none.

    For one that the call does not know: another logits processor, which is in the call's list, asks
    it. A call that only leads to another one has no processors of its own.
    """
    if _running.calls and not any(follower in call.followers for call in _running.calls):
        generating = (call for call in _running.calls if call.config is not None)
        outermost = next(generating, _running.calls[0])
        follower._call_begins(outermost)
        outermost.followers.append(follower)


def drafts_in_other_tokens(call: Call) -> bool:
    """Whether what runs is not a call itself, but its assistant, which has another tokenizer."""
    return call.has_translator and _running.calls[-1] is not call
