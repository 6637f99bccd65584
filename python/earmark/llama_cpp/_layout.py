"""The layout of llama.cpp's sampler structures, read from the library's own definitions.

`llama_sampler_i`, a table of functions, has grown over the versions and is taken as it is: the
native sampler fills in the functions that it has, and null elsewhere. The structures that it reads
and writes while sampling must begin as they have since llama.cpp has samplers (`llama.h`).
"""

from __future__ import annotations

from ctypes import Structure, c_bool, c_float, c_int32, c_int64, c_size_t, c_void_p, cast, sizeof
from typing import Any

from earmark.llama_cpp._library import UnsupportedLlamaCppError

_POINTER = sizeof(c_void_p)

# Structure → the fields it must begin with, and their sizes in bytes.
_MUST_BEGIN: dict[str, tuple[tuple[str, int], ...]] = {
    "llama_sampler": (("iface", _POINTER), ("ctx", _POINTER)),
    "llama_token_data": (("id", sizeof(c_int32)), ("logit", sizeof(c_float)), ("p", 4)),
    "llama_token_data_array": (
        ("data", _POINTER),
        ("size", sizeof(c_size_t)),
        ("selected", sizeof(c_int64)),
        ("sorted", sizeof(c_bool)),
    ),
}
# An array's items lie one after the other, so that nothing may follow the known fields.
_COMPLETE = frozenset({"llama_token_data"})

_FUNCTIONS = ("name", "accept", "apply", "reset", "clone", "free")


def sampler_layout(library: Any) -> dict[str, int]:
    """The argument of `SamplerInterface` for a library.

    Args:
        library: The module `llama_cpp.llama_cpp`: the ctypes structures and `llama_sampler_init`.

    Returns:
        The size of `llama_sampler_i` and the offsets of its functions, in bytes, and the address
        of `llama_sampler_init`.

    Raises:
        UnsupportedLlamaCppError: A structure is not laid out as the native sampler needs it.
    """
    for name, fields in _MUST_BEGIN.items():
        _check(getattr(library, name), fields, complete=name in _COMPLETE)
    table = library.llama_sampler_i
    layout = {"size": sizeof(table)}
    for function in _FUNCTIONS:
        field = getattr(table, function, None)
        if field is None or field.size != _POINTER:
            raise _unsupported(table, f"it has no function {function}")
        layout[function] = field.offset
    address = cast(library.llama_sampler_init, c_void_p).value
    if address is None:
        raise UnsupportedLlamaCppError("llama_sampler_init of the installed llama.cpp is null")
    return layout | {"init": address}


def _check(
    structure: type[Structure], fields: tuple[tuple[str, int], ...], *, complete: bool
) -> None:
    offset = 0
    for name, size in fields:
        offset = -(-offset // size) * size
        field = getattr(structure, name, None)
        if field is None or (field.offset, field.size) != (offset, size):
            raise _unsupported(structure, f"it has no field {name} of {size} bytes at {offset}")
        offset += size
    if complete and sizeof(structure) != offset:
        raise _unsupported(structure, f"it has {sizeof(structure)} bytes instead of {offset}")


def _unsupported(structure: type[Structure], why: str) -> UnsupportedLlamaCppError:
    return UnsupportedLlamaCppError(
        f"the installed llama.cpp's {structure.__name__} is not the one that earmark knows: {why}; "
        "install another version of llama-cpp-python, or a newer earmark"
    )
