"""The grammar files of the installed lark package, for `%import common.NUMBER` and its kin."""

from importlib.util import find_spec
from pathlib import Path


def grammar_text(name: str) -> str | None:
    """The text of lark's grammar `name`, such as `"common"`; None where there is none.

    lark itself is not imported: that takes longer than compiling most grammars.
    """
    spec = find_spec("lark")
    if not name.isidentifier() or spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0], "grammars", f"{name}.lark")
    return path.read_text(encoding="utf-8") if path.is_file() else None
