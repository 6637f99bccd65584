"""The metadata of a GGUF file, without its tensors.

GGUF (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) starts with a header and key-value
pairs. The file is mapped, so that only the pages of the metadata are read.

PERF: the reader of the `gguf` package makes a numpy array of every string and number: 11 s for
the vocabulary of Llama 3 (128,256 tokens, 280,147 merges). This takes 0.15 s.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import TYPE_CHECKING, TypeAlias

from earmark.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Container

Value: TypeAlias = "int | float | bytes | list[int] | list[float] | list[bytes]"

_STRING = 8
_ARRAY = 9
# Value type → format of `struct`.
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def read_metadata(path: str | os.PathLike[str], keys: Container[str]) -> dict[str, Value]:
    """The values of `keys` in a GGUF file; keys that it doesn't have are left out."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data, os.fspath(path)).metadata(keys)
    except ValueError as error:
        if isinstance(error, VocabularyError):
            raise
        # An empty file can't be mapped.
        raise VocabularyError(f"{os.fspath(path)!r} is no GGUF file: {error}") from error
    except OSError as error:
        raise VocabularyError(f"{os.fspath(path)!r} can't be read: {error.strerror}") from error


class _Reader:
    """Reads on from `at`; every length is checked against the end of the file."""

    def __init__(self, data: mmap.mmap, path: str) -> None:
        self.data = data
        self.path = path
        self.at = 0
        self.order = "<"

    def metadata(self, keys: Container[str]) -> dict[str, Value]:
        if self.data[:4] != b"GGUF":
            raise VocabularyError(f"{self.path!r} is no GGUF file: it does not start with 'GGUF'")
        self.at = 4
        version = self.scalar("I")
        if version & 0xFFFF == 0:  # A version is small: this is the other byte order.
            self.order = ">"
            self.at = 4
            version = self.scalar("I")
        if version not in (2, 3):
            raise VocabularyError(f"{self.path!r} has GGUF version {version}; 2 and 3 can be read")
        self.scalar("Q")  # The number of tensors.
        found: dict[str, Value] = {}
        for _ in range(self.scalar("Q")):
            key = self.string().decode(errors="replace")
            type_ = self.scalar("I")
            if key in keys:
                found[key] = self.value(type_)
            else:
                self.skip(type_)
        return found

    def value(self, type_: int) -> Value:
        if type_ == _STRING:
            return self.string()
        if type_ != _ARRAY:
            return self.numbers(type_, 1)[0]
        type_ = self.scalar("I")
        count = self.scalar("Q")
        if type_ == _STRING:
            return self.strings(count)
        return self.numbers(type_, count)

    def skip(self, type_: int) -> None:
        if type_ == _STRING:
            self.advance(self.scalar("Q"))
        elif type_ != _ARRAY:
            self.advance(struct.calcsize(self.format(type_)))
        else:
            type_ = self.scalar("I")
            count = self.scalar("Q")
            if type_ == _STRING:
                self.skip_strings(count)
            else:
                self.advance(count * struct.calcsize(self.format(type_)))

    def strings(self, count: int) -> list[bytes]:
        start = self.at
        self.skip_strings(count)
        data, at, length = self.data, start, struct.Struct(self.order + "Q").unpack_from
        strings = []
        for _ in range(count):
            end = at + 8 + length(data, at)[0]
            strings.append(data[at + 8 : end])
            at = end
        return strings

    def skip_strings(self, count: int) -> None:
        # Locals, since vocabularies have some 400,000 strings.
        data, at, length = self.data, self.at, struct.Struct(self.order + "Q").unpack_from
        last = len(data) - 8
        for _ in range(count):
            if at > last:
                raise self.cut_off()
            at += 8 + length(data, at)[0]
        self.at = at
        self.advance(0)

    def string(self) -> bytes:
        length = self.scalar("Q")
        start = self.at
        self.advance(length)
        return self.data[start : self.at]

    def numbers(self, type_: int, count: int) -> list[int]:
        format_ = self.format(type_)
        start = self.at
        self.advance(count * struct.calcsize(format_))
        return list(struct.unpack_from(f"{self.order}{count}{format_[1:]}", self.data, start))

    def scalar(self, format_: str) -> int:
        start = self.at
        self.advance(struct.calcsize(self.order + format_))
        (number,) = struct.unpack_from(self.order + format_, self.data, start)
        return int(number)

    def format(self, type_: int) -> str:
        if type_ not in _SCALARS:
            raise VocabularyError(f"{self.path!r} is damaged: there is no GGUF value type {type_}")
        return self.order + _SCALARS[type_]

    def advance(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise self.cut_off()

    def cut_off(self) -> VocabularyError:
        return VocabularyError(f"{self.path!r} is damaged: it ends within its metadata")
