"""Which launches are of which kernels: names are looked up, only patterns are compared with each kernel's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

from ptxaudit.base.demangle import split_name
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.kernel_names import is_pattern, matches, names_of
from ptxaudit.frontend.launch.launch import Launch

_SHOWN = 8  # names of kernels in an error


def match(launches: tuple[Launch, ...], kernel: str, path: str | None = None) -> list[Launch]:
    """The launches of the kernel with that mangled name, in order; each is a separate result.

    path: the kernel's file, to exclude launches of other files.
    """
    found = _index(_Same(launches)).of(kernel)
    return [launch for launch in found if path is None or launch.may_be_of(path)]


class _Index:
    """Launches by the names that they give their kernels."""

    def __init__(self, launches: tuple[Launch, ...]) -> None:
        self._launches = launches
        self._named, self._by_pattern = dict[str, list[int]](), dict[str, list[int]]()
        for at, launch in enumerate(launches):
            self._named.setdefault(launch.pattern, []).append(at)
            if is_pattern(launch.pattern):
                self._by_pattern.setdefault(launch.pattern, []).append(at)

    def of(self, kernel: str) -> list[Launch]:
        """The launches of the kernel with that mangled name, in order."""
        names = names_of(kernel)
        found = {at for name in names for at in self._named.get(name, ())}
        for pattern, places in self._by_pattern.items():
            if matches(pattern, names):
                found.update(places)
        return [self._launches[at] for at in sorted(found)]


class _Same:
    """Launches as the key of a cache: by identity, so that their buffers are not compared."""

    def __init__(self, launches: tuple[Launch, ...]) -> None:
        self.launches = launches

    def __hash__(self) -> int:
        return id(self.launches)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.launches is other.launches


@lru_cache(maxsize=4)
def _index(same: _Same) -> _Index:
    return _Index(same.launches)


class KernelNames:
    """Kernels by all spellings of their mangled names."""

    def __init__(self, kernels: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(kernels))

    @cached_property
    def _spellings(self) -> set[str]:
        return {spelling for name in self.names for spelling in names_of(name)}

    def has(self, launch: Launch) -> bool:
        """Whether the launch is of one of these kernels."""
        pattern = launch.pattern
        return pattern in self._spellings or is_pattern(pattern) and matches(pattern, self._spellings)


def without_kernel(launch: Launch, kernels: Iterable[KernelNames]) -> InputError | None:
    """The error for a launch that is of none of these kernels; None if it is of one."""
    kernels = list(kernels)
    if any(some.has(launch) for some in kernels):
        return None
    from difflib import get_close_matches

    known = list(dict.fromkeys(split_name(name)[0] for some in kernels for name in some.names))
    close = get_close_matches(launch.kernel, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "its kernels are " + (", ".join(known[:_SHOWN]) or "none")
    return launch.error(f"there is no kernel {launch.kernel!r}", hint)
