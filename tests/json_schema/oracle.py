"""The `jsonschema` package as the oracle of what is valid, made exact.

Numbers are `int` and `Decimal` (`exact.load`): `multipleOf`, `uniqueItems` and the type `integer`
are computed without rounding. Patterns mean what they mean in ECMA-262. What the oracle can't
decide raises `UndecidedError`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
from jsonschema import ValidationError, validators
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from patterns import to_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class UndecidedError(Exception):
    """The package can't say: an endless reference, a pattern it doesn't know."""


def is_integer(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def _parts(number: Decimal | int) -> tuple[int, int]:
    """coefficient · 10 ^ exponent; the coefficient does not end in 0."""
    if isinstance(number, int):
        return number, 0
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    coefficient = int("".join(map(str, digits)))
    return (-coefficient if sign else coefficient), exponent


def is_multiple(value: Decimal | int, of: Decimal | int) -> bool:
    """Exact also where the exponents are too large for the number to be written out."""
    (top, up), (bottom, down) = _parts(value), _parts(of)
    shift = up - down
    if top == 0:
        return True
    if shift >= 0:
        return top * pow(10, shift, bottom) % bottom == 0
    # The value has fewer zeros at its end than it has digits.
    return -shift <= len(str(abs(top))) + 1 and top % (bottom * 10**-shift) == 0


def canonical(value: Any) -> Any:
    """A hashable value; equal for what JSON Schema calls equal."""
    if isinstance(value, dict):
        return ("object", frozenset((name, canonical(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(canonical, value)))
    return (type(value) if isinstance(value, (bool, str)) or value is None else "number", value)


def _multiple_of(validator: Any, of: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "number") and not is_multiple(value, of):
        yield ValidationError(f"{value} is not a multiple of {of}")


def _unique(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(value, "array"):
        items = [canonical(item) for item in value]
        if len(set(items)) < len(items):
            yield ValidationError("the items are not unique")


def _enum(_: Any, values: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    if canonical(value) not in {canonical(item) for item in values}:
        yield ValidationError(f"{value!r} is none of the values")


def _const(_: Any, expected: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    if canonical(value) != canonical(expected):
        yield ValidationError(f"{value!r} is another value")


@cache
def _exact(draft: type) -> Any:
    """A draft's validator with exact numbers."""
    keywords = {"multipleOf": _multiple_of, "uniqueItems": _unique, "enum": _enum}
    if "const" in draft.VALIDATORS:  # type: ignore[attr-defined]
        keywords["const"] = _const
    types = draft.TYPE_CHECKER  # type: ignore[attr-defined]
    # Before draft 6, an integer is a number written without fraction and exponent.
    if types.is_type(1.0, "integer"):
        types = types.redefine("integer", lambda _, value: is_integer(value))
    return validators.extend(draft, keywords, type_checker=types)


# Those of the newest draft for all: older drafts know fewer, but may use others.
_FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER

_MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_VALUES = {"enum", "const", "default", "examples", "example"}


def for_python(schema: Any) -> Any:
    """The schema with Python's patterns, and without `$schema`, which would bring back the
    package's own classes."""
    if isinstance(schema, list):
        return [for_python(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            found[key] = to_python(value)
        elif key == "patternProperties" and isinstance(value, dict):
            found[key] = {to_python(name): for_python(item) for name, item in value.items()}
        elif key in _MAPS and isinstance(value, dict):
            found[key] = {name: for_python(item) for name, item in value.items()}
        elif key in _VALUES:
            found[key] = value
        elif key != "$schema" or not isinstance(value, str):
            found[key] = for_python(value)
    return found


class Oracle:
    """Whether documents are valid under a schema (with exact numbers, as its documents).

    Args:
        schema: The schema.
        formats: Whether `format` constrains, as far as the package can check it.
        resources: Documents that references may lead to, by URI.
    """

    def __init__(
        self, schema: Any, *, formats: bool = False, resources: Mapping[str, Any] | None = None
    ) -> None:
        draft = jsonschema.Draft202012Validator
        if isinstance(schema, dict):
            draft = validators.validator_for(schema, default=draft)
        self.draft = draft.__name__
        # Nothing but these and the metaschemas: nothing is fetched.
        registry = REGISTRY.with_resources(
            (uri, Resource.from_contents(content, default_specification=DRAFT202012))
            for uri, content in (resources or {}).items()
        )
        try:
            self._validator = _exact(draft)(
                for_python(schema),
                registry=registry,
                format_checker=_FORMATS if formats else None,
            )
        except (ValueError, RecursionError) as error:
            raise UndecidedError(str(error)) from None

    def is_valid(self, document: Any) -> bool:
        try:
            return bool(self._validator.is_valid(document))
        except (RecursionError, Unresolvable, re.error, ArithmeticError) as error:
            raise UndecidedError(f"{type(error).__name__}: {error}"[:200]) from None

    def why(self, document: Any) -> str:
        """The first reason why a document is not valid; empty if it is."""
        error = next(self._validator.iter_errors(document), None)
        return "" if error is None else f"{error.json_path}: {error.message[:200]}"
