"""One `Vocabulary` a loaded model, made when it is first asked for and dropped with the model."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

from earmark import Vocabulary, VocabularyError

_known: WeakKeyDictionary[Any, Vocabulary] = WeakKeyDictionary()
_lock = Lock()


def vocabulary(model: Any) -> Vocabulary:
    """The vocabulary of a model, the same object at each call.

    Args:
        model: A `llama_cpp.Llama`, or the `LlamaModel` inside it.

    Raises:
        TypeError: It is neither.
        VocabularyError: The model is closed, or its tokens have no bytes that can be told.
    """
    model = getattr(model, "_model", model)
    if not hasattr(model, "vocab") or not hasattr(model, "tokenize"):
        raise TypeError(f"vocabulary() takes a llama_cpp.Llama, not {type(model).__qualname__}")
    check_open(model)
    with _lock:
        found = _known.get(model)
        if found is None:
            found = _known[model] = Vocabulary.from_llama_cpp(_View(model))
        return found


def check_open(model: Any) -> None:
    """Raise for a closed `Llama` or model, which llama.cpp would read all the same.

    Raises:
        VocabularyError: It is closed.
    """
    if getattr(model, "_model", model).model is None:
        raise VocabularyError("the model is closed; load it again: llama_cpp.Llama(…)")


class _View:
    """What the adapter asks a `Llama` for, without keeping its model alive."""

    def __init__(self, model: Any) -> None:
        self._model = ref(model)
        self.metadata: dict[str, str] = model.metadata()

    @property
    def model(self) -> Any:
        return self._open().model

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:
        tokens: list[int] = self._open().tokenize(text, add_bos, special)
        return tokens

    def _open(self) -> Any:
        model = self._model()
        if model is None or model.model is None:
            raise VocabularyError(
                "the vocabulary's model is closed, and so is its tokenizer; load it again: "
                "llama_cpp.Llama(…)"
            )
        return model
