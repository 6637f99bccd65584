"""Empty stand-ins for torch and transformers.

xgrammar imports both when it is imported, 3 GB of them, but needs neither to compile grammars and
fill masks: any array that speaks DLPack will do. Where they are installed, the real ones are used.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Anything(ModuleType):
    """A module whose every public attribute is a class without contents."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


def install() -> list[str]:
    """Puts stand-ins where torch and transformers are not installed.

    Returns:
        The names of the modules that are stand-ins.
    """
    missing = [n for n in ("torch", "transformers") if importlib.util.find_spec(n) is None]
    for name in missing:
        module = _Anything(name)
        module.__spec__ = importlib.util.spec_from_loader(name, None)
        sys.modules[name] = module
    if "torch" in missing:
        sys.modules["torch"].tensor = lambda value, **_: value  # type: ignore[attr-defined]
    return missing
