"""Reads the parameter names of a kernel out of its CUDA source: PTX only numbers them.

    __global__ void gemm(const float *a, float *__restrict__ c, int n = 8)  ->  ["a", "c", "n"]

This is a reading of text, not of C++: names help people to write launches, and nothing is
computed from them. Where the source does not say it plainly the answer is [].
"""

from __future__ import annotations

import re

from ptxaudit.demangle import split_name

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPENING, _CLOSING = "([{<", ")]}>"


def parameter_names(source: str, kernel: str, count: int) -> list[str]:
    """The names of the `count` parameters of the kernel with that mangled name, or [] where not found."""
    head, _ = split_name(kernel)
    plain = _NAME.search(re.split(r"::", head.split("<")[0])[-1])
    if not plain:
        return []
    text = _NOT_CODE.sub(" ", source)
    for match in re.finditer(rf"\b__global__\b[^;{{}}]*?\b{plain[0]}\s*\(", text):
        names = [_name_of(part) for part in _split(text, match.end())]
        if len(names) == count and all(names):
            return names
    return []


def _split(text: str, start: int) -> list[str]:
    """The parts between commas, from just inside an opening parenthesis to its closing one."""
    parts, depth, begin = [], 0, start
    for index in range(start, len(text)):
        letter = text[index]
        if depth == 0 and letter in ",)":
            parts.append(text[begin:index])
            begin = index + 1
            if letter == ")":
                return [] if parts == [""] or parts == ["void"] else parts
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and depth:
            depth -= 1
    return []


def _name_of(declaration: str) -> str:
    """The declared name of one parameter: "n" of `const int n = 8`, "f" of `void (*f)(int)`."""
    declaration = declaration.split("=")[0]
    if function := re.search(r"\(\s*[*&]+\s*(\w+)", declaration):
        return function[1]
    names = _NAME.findall(re.sub(r"\[[^\]]*\]", " ", declaration))
    return names[-1] if len(names) > 1 else ""
