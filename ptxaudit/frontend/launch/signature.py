"""Reads the parameter names of a kernel from its CUDA source, as compilers only number them.

    __global__ void gemm(const float *a, float *__restrict__ c, int n = 8)  ->  ["a", "c", "n"]
    gemm_param_2 of a module compiled from it                               ->  n

This matches text and does not parse C++. If the source is not clear, the result is [].
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from ptxaudit.base.demangle import split_name
from ptxaudit.ir import nodes as ir

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPENING, _CLOSING = "([{<", ")]}>"


def numbered_name(kernel: str, position: int) -> str:
    """The name that compilers give a parameter of a kernel, by the kernel's mangled name."""
    return f"{kernel}_param_{position}"


def short_name(kernel: str, parameter: str, position: int) -> str:
    """A parameter's name in a formula; "param_2" if compilers left only a number, prefixed by the kernel's name."""
    return f"param_{position}" if parameter == numbered_name(kernel, position) else parameter


def with_source_names(module: ir.Module, source: str) -> ir.Module:
    """The module with its kernels' parameters named as in the source, if the source is clear."""
    return replace(module, functions={name: _renamed(function, source) for name, function in module.functions.items()})


def _renamed(function: ir.Function, source: str) -> ir.Function:
    names = parameter_names(source, function.name, len(function.parameters)) if function.parameters else []
    if not names or len(set(names)) < len(names):
        return function
    return replace(function, parameters=tuple(replace(p, name=name) for p, name in zip(function.parameters, names)))


def parameter_names(source: str, kernel: str, count: int) -> list[str]:
    """The names of the `count` parameters of the kernel with that mangled name.

    [] if they are not found, or if kernels of this name (in other namespaces, or overloads) name them differently.
    """
    head, _ = split_name(kernel)
    plain = _NAME.search(re.split(r"::", head.split("<")[0])[-1])
    if not plain:
        return []
    text = _code(source)
    found = [
        [_name_of(part) for part in _split(text, match.end())]
        for match in re.finditer(rf"\b__global__\b[^;{{}}]*?\b{plain[0]}\s*\(", text)
    ]
    fitting = [names for names in found if len(names) == count and all(names)]
    return fitting[0] if fitting and fitting.count(fitting[0]) == len(fitting) else []


@lru_cache(maxsize=4)
def _code(source: str) -> str:
    return _NOT_CODE.sub(" ", source)


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
