"""The JSON Schema of a type, by pydantic, which is imported here and nowhere else."""

from __future__ import annotations

from typing import Any, get_origin

#: Modules whose objects are annotations although they are no classes, such as `int | None`.
ANNOTATIONS = ("typing", "typing_extensions", "types", "pydantic.type_adapter")


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of what pydantic reads as `kind`: what it takes, by its names in JSON.

    Args:
        kind: A model's class, a dataclass, a TypedDict, an Enum, any annotation, or a
            `pydantic.TypeAdapter`.

    Raises:
        TypeError: It is no type, or pydantic has no schema for it.
        ImportError: There is no pydantic.
    """
    if not (isinstance(kind, type) or get_origin(kind) or _module(kind) in ANNOTATIONS):
        hint = "; give the class itself" if hasattr(kind, "model_json_schema") else ""
        raise TypeError(
            "a schema is JSON text, a dict, a bool or a type "
            f"(a pydantic model, a dataclass, list[int]), not {_described(kind)}{hint}"
        )
    try:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
    except ImportError as error:
        raise ImportError(
            "the JSON Schema of a type needs pydantic: pip install 'pydantic>=2'"
        ) from error
    try:
        adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        # "validation": of what may be read, not of what would be written.
        return adapter.json_schema(mode="validation")
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise TypeError(f"pydantic has no JSON Schema for {kind!r}: {error.message}") from error


def _module(thing: Any) -> str:
    return type(thing).__module__


def _described(thing: Any) -> str:
    return "None" if thing is None else f"an object of type {type(thing).__name__}"
