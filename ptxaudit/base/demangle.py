"""Demangles C++ names.

    _Z4gemmIfLi128ELi8EEvPKT_S2_PT_i -> void gemm<float, 128, 8>(float const*, float const*, float*, int)

Names that are not mangled (`extern "C"`, Triton's) and names that the C++ runtime library cannot demangle stay as
they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

LIBRARIES = ("libstdc++.so.6", "libc++.1.dylib", "libc++.so.1")  # of GCC, macOS, LLVM


@cache
def demangle(name: str) -> str:
    """The demangled name, with parameter types; the name itself if it cannot be demangled."""
    demangler = _demangler() if name.startswith("_Z") else None
    return demangler(name) if demangler is not None else name


@cache
def _demangler() -> Callable[[str], str] | None:
    """The function that demangles a name, or returns it unchanged; None if the machine has no C++ runtime library.

    https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler
    """
    import ctypes

    library = _library()
    if library is None:
        return None
    convert, free = library["__cxa_demangle"], library["free"]  # `free` of the C library that the C++ library uses
    convert.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    convert.restype = ctypes.c_void_p
    free.argtypes, free.restype = (ctypes.c_void_p,), None

    def demangled(name: str) -> str:
        text = convert(name.encode(), None, None, None)
        if text is None:
            return name
        try:
            return ctypes.string_at(text).decode()
        finally:
            free(text)

    return demangled


def _library() -> CDLL | None:
    """The C++ runtime library, or None."""
    from ctypes import CDLL
    from ctypes.util import find_library

    for name in LIBRARIES:
        try:
            return CDLL(name)
        except OSError:
            continue
    found = find_library("stdc++") or find_library("c++")  # last, as it runs the linker's tools
    return CDLL(found) if found else None


def split_name(name: str) -> tuple[str, list[str]]:
    """The demangled name without its return type, and its parameter types.

    _Z4gemmIfLi8EEvPKT_i -> ("gemm<float, 8>", ["float const*", "int"])
    kernel               -> ("kernel", [])
    """
    head, types = _split_name(name)
    return head, list(types)


@cache  # a library's names are long, and asked for by several stages
def _split_name(name: str) -> tuple[str, list[str]]:
    text = demangle(name)
    if text == name or not text.endswith(")"):
        return text, []
    depths = bracket_depths(text)
    opening = next((i for i in range(len(text) - 1, -1, -1) if depths[i] == 0 and text[i] == "("), None)
    if opening is None:  # "operator->", "(lambda)(x > 3)": unbalanced brackets
        return text, []
    head, inside = text[:opening], text[opening + 1 : -1]
    blanks = [i for i, depth in enumerate(bracket_depths(head)) if depth == 0 and head[i] == " "]
    # a blank inside "operator()", "(anonymous namespace)" or "{lambda()#1}" is at depth > 0
    head = head[blanks[-1] + 1 :] if blanks else head
    types = _separated(inside)
    return head, [] if types in ([""], ["void"]) else types


def split_arguments(head: str) -> tuple[str, list[str]]:
    """The name without its trailing template arguments, and these arguments.

    gemm<float, (int)8> -> ("gemm", ["float", "(int)8"])
    kernel              -> ("kernel", [])
    """
    if not head.endswith(">"):
        return head, []
    depths = bracket_depths(head)
    opening = next((i for i in range(len(head) - 1, -1, -1) if depths[i] == 0 and head[i] == "<"), None)
    return (head, []) if opening is None else (head[:opening], _separated(head[opening + 1 : -1]))


def _separated(text: str) -> list[str]:
    """The parts between commas that are outside of brackets."""
    commas = [i for i, depth in enumerate(bracket_depths(text)) if depth == 0 and text[i] == ","]
    return [text[a + 1 : b].strip() for a, b in zip([-1, *commas], [*commas, len(text)])]


def bracket_depths(text: str) -> list[int]:
    """The bracket depth around each character; an opening bracket has the depth of its closing bracket."""
    depths, depth = [], 0
    for letter in text:
        depth -= letter in ")>}]"
        depths.append(depth)
        depth += letter in "(<{["
    return depths
