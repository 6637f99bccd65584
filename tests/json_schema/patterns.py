"""Patterns of JSON Schema (ECMA-262, Unicode mode) → patterns of Python's `re`, for the oracle.

Python differs in what `$`, `\\d`, `\\w`, `\\s` and `.` mean and in some spellings. What is not
known to mean the same in both raises `ValueError`.
"""

from __future__ import annotations

import re
from functools import cache

_SPACE = "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE}
_SAME = set("nrtfv0123456789") | set(r".*+?^$()[]{}|\/-")


@cache
def to_python(pattern: str) -> str:
    """The same pattern for `re.search`."""
    out: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "\\":
            piece, at = _escape(pattern, at, inside)
            out.append(piece)
        elif inside:
            # What Python reserves for set operations is spelled out.
            out.append("\\" + char if char in "[&~|" else char)
            inside = char != "]"
        elif char == "[":
            inside = True
            out.append("[")
            if pattern.startswith("^]", at):
                out[-1], at, inside = "[\\s\\S]", at + 2, False
            elif pattern.startswith("]", at):
                out[-1], at, inside = "(?!)", at + 1, False
            elif pattern.startswith("^", at):
                out.append("^")
                at += 1
        elif char == "$":
            out.append("\\Z")
        elif char == ".":
            out.append("[^\\n\\r\\u2028\\u2029]")
        elif pattern.startswith("(?<", at - 1) and pattern[at + 1 : at + 3][1:] not in ("=", "!"):
            out.append("(?P")
            at += 1
        else:
            out.append(char)
    if inside:
        raise ValueError("a class is not closed")
    result = "".join(out)
    try:
        re.compile(result)
    except re.error as error:
        raise ValueError(f"{pattern}: {error}") from error
    return result


def _escape(pattern: str, at: int, inside: bool) -> tuple[str, int]:
    """What stands behind a backslash, and where it ends."""
    char = pattern[at : at + 1]
    at += 1
    if char in _CLASSES:
        return (_CLASSES[char] if inside else f"[{_CLASSES[char]}]"), at
    if char and char in "DWS" and not inside:
        return f"[^{_CLASSES[char.lower()]}]", at
    if char and char in "bB" and not inside:
        # ASCII words, unlike Python's own.
        word, edge = "[A-Za-z0-9_]", "" if char == "b" else "!"
        both = f"(?<={word})(?!{word})|(?<!{word})(?={word})"
        none = f"(?<={word})(?={word})|(?<!{word})(?!{word})"
        return f"(?:{none if edge else both})", at
    if char == "u":
        if found := re.match(r"\{([0-9a-fA-F]{1,6})\}", pattern[at:]):
            return f"\\U{int(found[1], 16):08x}", at + found.end()
        pair = re.match(r"([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)", pattern[at:])
        if pair:
            code = 0x10000 + ((int(pair[1], 16) & 0x3FF) << 10 | int(pair[2], 16) & 0x3FF)
            return f"\\U{code:08x}", at + pair.end()
        return "\\u" + pattern[at : at + 4], at + 4
    if char == "x":
        return "\\x" + pattern[at : at + 2], at + 2
    if char == "c":
        return f"\\x{ord(pattern[at]) % 32:02x}", at + 1
    if char in _SAME:
        return "\\" + char, at
    if char and not char.isalnum():
        return re.escape(char), at
    raise ValueError(f"\\{char} in {pattern}")
