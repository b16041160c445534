"""The names of kernels: in which spellings a launch may name one, and patterns with wildcards."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from ptxaudit.base.demangle import demangle, split_name

_WILDCARDS = frozenset("*?[")  # of fnmatch


def squeeze(name: str) -> str:
    """The name without blanks: the demangler writes `gemm<float, 8>`, people `gemm<float,8>`."""
    return "".join(name.split())


@lru_cache(maxsize=1 << 12)
def names_of(kernel: str) -> tuple[str, ...]:
    """The spellings of a kernel's name, without blanks.

    These are the mangled name, and the demangled one in full, without parameters, and without template arguments.
    """
    head, _ = split_name(kernel)
    bare = head[: _template_start(head)]
    return tuple(dict.fromkeys(squeeze(name) for name in (kernel, demangle(kernel), head, bare)))


def _template_start(head: str) -> int:
    """The index at which the template arguments of the last name begin: 10 for "ns::A<1>::k<float>"."""
    depth = 0
    if not head.endswith(">"):
        return len(head)
    for index in range(len(head) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(head[index], 0)
        if depth == 0:
            return index
    return len(head)


def same_name(name: str, key: str) -> bool:
    """Whether `key` names the variable with that mangled name."""
    return squeeze(key) in (name, squeeze(demangle(name)))


def is_pattern(text: str) -> bool:
    """Whether a name has wildcards, so that it may match several kernels."""
    return not _WILDCARDS.isdisjoint(text)


def matches(pattern: str, spellings: Iterable[str]) -> bool:
    """Whether one of the spellings of a name is this pattern, or matches its wildcards."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in spellings)
