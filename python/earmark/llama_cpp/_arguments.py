"""What a call of one of llama-cpp-python's functions is given, by place or by name."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Arguments:
    """The names of a function's parameters.

    Args:
        function: With `self` among its parameters, if it is a method.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._names = list(signature(function).parameters)

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, by name; what is too much is for the function to refuse."""
        return {**dict(zip(self._names, args, strict=False)), **kwargs}

    def changed(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], **new: Any
    ) -> tuple[list[Any], dict[str, Any]]:
        """A call's `args` and `kwargs` with other values for some arguments."""
        placed = [new.pop(name, it) for name, it in zip(self._names, args, strict=False)]
        return [*placed, *args[len(placed) :]], {**kwargs, **new}
