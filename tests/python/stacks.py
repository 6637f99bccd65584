"""An independent recogniser: sets of stacks, byte by byte.

It shares nothing with the engine: a text is read by expanding the top of each stack until a set
of bytes lies there, and keeping the stacks whose set has the next byte. Left recursion would not
end, so grammars are written with loops. States are shared, and steps are remembered, which makes
a walk over a whole vocabulary affordable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias


class Node:
    """An expression; equal only to itself."""

    def __init__(self, kind: str, parts: Sequence[Node] = (), values: Iterable[int] = ()) -> None:
        self.kind = kind
        self.parts = tuple(parts)
        self.values = frozenset(values)


Part: TypeAlias = "Node | str"


def _node(part: Part) -> Node:
    if isinstance(part, Node):
        return part
    return seq(*(one_of(byte) for byte in part.encode()))


def one_of(*values: int) -> Node:
    """One of these bytes."""
    return Node("bytes", values=values)


def seq(*parts: Part) -> Node:
    """One after the other."""
    return Node("seq", [_node(part) for part in parts])


def alt(*parts: Part) -> Node:
    """One of these."""
    return Node("alt", [_node(part) for part in parts])


def star(*parts: Part) -> Node:
    """Any number of times."""
    return Node("star", [seq(*parts)])


def plus(*parts: Part) -> Node:
    """At least once."""
    return seq(*parts, star(*parts))


def opt(*parts: Part) -> Node:
    """Once or not at all."""
    return alt(seq(*parts), seq())


def later() -> Node:
    """A reference, to be bound by `bind`."""
    return Node("alt")


def bind(reference: Node, part: Part) -> None:
    """Gives a reference its meaning."""
    reference.parts = (_node(part),)


def chars(*ranges: str | tuple[int, int]) -> Node:
    """One character of ranges such as "a-z" or (low, high), as UTF-8."""
    choices: list[Node] = []
    for item in ranges:
        low, high = (ord(item[0]), ord(item[-1])) if isinstance(item, str) else item
        for part in _without_surrogates(low, high):
            choices += [seq(*map(_byte_range, way)) for way in _ways(*part)]
    return alt(*choices)


def _byte_range(bounds: tuple[int, int]) -> Node:
    return one_of(*range(bounds[0], bounds[1] + 1))


def _without_surrogates(low: int, high: int) -> Iterable[tuple[int, int]]:
    for first, last in ((0, 0xD7FF), (0xE000, 0x10FFFF)):
        if max(low, first) <= min(high, last):
            yield max(low, first), min(high, last)


def _ways(low: int, high: int) -> Iterable[list[tuple[int, int]]]:
    """Ranges of bytes, one list for each way to write the characters from low to high."""
    for limit in (0x7F, 0x7FF, 0xFFFF):
        if low <= limit < high:
            yield from _ways(low, limit)
            yield from _ways(limit + 1, high)
            return
    first, last = chr(low).encode(), chr(high).encode()
    for place in range(1, len(first)):
        # All bytes from here on must run through their whole range, or those before be equal.
        block = 1 << 6 * place
        if low // block != high // block:
            if low % block:
                split = low // block * block + block
            elif (high + 1) % block:
                split = high // block * block
            else:
                continue
            yield from _ways(low, split - 1)
            yield from _ways(split, high)
            return
    yield list(zip(first, last, strict=True))


# A stack is its top and the rest; the empty stack is None.
Stack: TypeAlias = "tuple[Node, Stack] | None"


class Recogniser:
    """Reads bytes. A state is a number; 0 is the dead state."""

    def __init__(self, root: Node) -> None:
        self._stacks: dict[tuple[Node, int], tuple[Node, Stack]] = {}
        self._states: dict[frozenset[int], int] = {frozenset(): 0}
        self._members: list[tuple[list[tuple[Node, Stack]], bool]] = [([], False)]
        self._steps: dict[tuple[int, int], int] = {}
        self.start = self._state([self._push(root, None)])

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        key = state, byte
        if key not in self._steps:
            tops = [rest for top, rest in self._members[state][0] if byte in top.values]
            self._steps[key] = self._state(tops)
        return self._steps[key]

    def read(self, text: bytes, state: int | None = None) -> int:
        """The state after bytes."""
        state = self.start if state is None else state
        for byte in text:
            state = self.step(state, byte)
        return state

    def is_text(self, state: int) -> bool:
        """Whether the text may end here."""
        return self._members[state][1]

    def mask(self, state: int, tokens: Sequence[tuple[bytes, int]]) -> set[int]:
        """The ids of the tokens, sorted by their bytes, that may come next."""
        found = set()
        before = b""
        path = [state]
        for token, number in tokens:
            common = 0
            shortest = min(len(before), len(token), len(path) - 1)
            while common < shortest and before[common] == token[common]:
                common += 1
            del path[common + 1 :]
            for byte in token[common:]:
                path.append(self.step(path[-1], byte))
                if not path[-1]:
                    break
            if path[-1] and len(path) == len(token) + 1:
                found.add(number)
            before = token
        return found

    def _push(self, top: Node, rest: Stack) -> tuple[Node, Stack]:
        # Equal stacks are one object, so that they can be compared by identity.
        return self._stacks.setdefault((top, id(rest)), (top, rest))

    def _state(self, stacks: Iterable[Stack]) -> int:
        todo = list(stacks)
        seen = {id(stack) for stack in todo}
        leaves = []
        ends = False
        while todo:
            stack = todo.pop()
            if stack is None:
                ends = True
                continue
            top, rest = stack
            if top.kind == "bytes":
                leaves.append(stack)
                continue
            for following in self._expand(top, rest, stack):
                if id(following) not in seen:
                    seen.add(id(following))
                    todo.append(following)
        key = frozenset(id(stack) for stack in leaves) | ({-1} if ends else frozenset())
        if key not in self._states:
            self._states[key] = len(self._members)
            self._members.append((leaves, ends))
        return self._states[key]

    def _expand(self, top: Node, rest: Stack, stack: Stack) -> Iterable[Stack]:
        if top.kind == "seq":
            for part in reversed(top.parts):
                rest = self._push(part, rest)
            yield rest
        elif top.kind == "alt":
            for part in top.parts:
                yield self._push(part, rest)
        else:
            yield rest
            yield self._push(top.parts[0], stack)
