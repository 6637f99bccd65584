"""JSON whose numbers stay as they are.

`load` gives Python values with `int` and `Decimal`, never `float`; `load_spelled` keeps each
number's spelling, so that `dump` writes what was read. `dump` writes documents as models do and as
`json.dumps(…, ensure_ascii=False)` does; `dump_any` picks among all of JSON's spellings.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

# Numbers of any length may come out of a grammar that sets no bound on their digits.
sys.set_int_max_str_digits(0)


@dataclass(frozen=True)
class Number:
    """A number as it is spelled."""

    spelling: str


class DuplicateKeyError(ValueError):
    """An object has a name twice."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name!r} occurs twice")
        self.name = name


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise DuplicateKeyError(name)
        found[name] = value
    return found


def load(text: str | bytes, *, unique: bool = False) -> Any:
    """A value with exact numbers; with `unique`, names that occur twice are an error."""
    return json.loads(
        text,
        parse_float=Decimal,
        parse_constant=_refuse,
        object_pairs_hook=_unique if unique else None,
    )


def load_spelled(text: str | bytes) -> Any:
    """A value whose numbers are `Number`."""
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)


def spelling(number: Number | Decimal | int) -> str:
    return number.spelling if isinstance(number, Number) else str(number)


def dump(
    value: Any,
    separators: tuple[str, str] = (", ", ": "),
    indent: int | None = None,
    depth: int = 1,
) -> str:
    """What `json.dumps(value, ensure_ascii=False, …)` writes, numbers exact."""
    if isinstance(value, (Number, Decimal)):
        return spelling(value)
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    parts = [dump(part, separators, indent, depth + 1) for part in _parts(value)]
    brackets = "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        parts = [f"{dump(k)}{separators[1]}{part}" for k, part in zip(value, parts, strict=True)]
    if indent is None or not parts:
        return brackets[0] + separators[0].join(parts) + brackets[1]
    line, last = ("\n" + " " * (indent * level) for level in (depth, depth - 1))
    return brackets[0] + line + (separators[0].rstrip() + line).join(parts) + last + brackets[1]


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def orders(value: Any) -> Iterator[Any]:
    """The value with the names of its objects in all orders."""
    if isinstance(value, dict):
        for names in permutations(value):
            for parts in product(*(list(orders(value[name])) for name in names)):
                yield dict(zip(names, parts, strict=True))
    elif isinstance(value, list):
        for parts in product(*(list(orders(part)) for part in value)):
            yield list(parts)
    else:
        yield value


def count_orders(value: Any) -> int:
    """How many there are of those."""
    if not isinstance(value, (dict, list)):
        return 1
    own = factorial(len(value)) if isinstance(value, dict) else 1
    return own * prod(map(count_orders, _parts(value)))


def dump_any(value: Any, random: Random, *, exponents: bool) -> str:
    """One of JSON's spellings of a value: white space, escapes and numbers at random."""

    def blank() -> str:
        return "".join(random.choices(" \n\t\r", k=random.choice([0, 0, 0, 0, 1, 2])))

    def string(text: str) -> str:
        if random.random() < 0.5:
            return json.dumps(text, ensure_ascii=random.random() < 0.2)
        return '"' + "".join(character(c) for c in text) + '"'

    def character(c: str) -> str:
        if random.random() < 0.7:
            return json.dumps(c, ensure_ascii=False)[1:-1]
        if c == "/" and random.random() < 0.5:
            return "\\/"
        if ord(c) > 0xFFFF:
            return json.dumps(c)[1:-1]
        hexadecimal = f"{ord(c):04x}"
        return "\\u" + (hexadecimal.upper() if random.random() < 0.5 else hexadecimal)

    def number(value: Decimal | int) -> str:
        text = str(value)
        if random.random() < 0.7 or "E" in text:
            return text
        if not value:
            return random.choice(["0", "-0", "0.0", "-0.00", *(["0e5"] if exponents else [])])
        if random.random() < 0.5 or not exponents:
            return text + ("0" if "." in text else ".0")
        sign, digits, exponent = Decimal(value).as_tuple()
        assert isinstance(exponent, int)
        moved = "".join(map(str, digits)).lstrip("0")
        exponent += len(moved) - 1
        mantissa = moved[0] + ("." + moved[1:] if len(moved) > 1 else "")
        e = random.choice("eE") + (random.choice(["", "+"]) if exponent >= 0 else "")
        return f"{'-' if sign else ''}{mantissa}{e}{exponent}"

    def write(value: Any) -> str:
        if isinstance(value, dict):
            members = [
                f"{blank()}{string(k)}{blank()}:{blank()}{write(v)}{blank()}"
                for k, v in value.items()
            ]
            return "{" + (",".join(members) or blank()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(blank() + write(v) + blank() for v in value) or blank()) + "]"
        if isinstance(value, str):
            return string(value)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            return number(value)
        return json.dumps(value)

    return blank() + write(value) + blank()
