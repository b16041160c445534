"""Watches imports, and patches attributes so that all can be restored.

    Finder({"triton.compiler.compiler": attach})     in sys.meta_path: calls attach(module) after its import

Nothing is imported for this. An import of an unwatched module costs one dictionary lookup.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

Attach = Callable[[ModuleType], None]

_ABSENT = object()


class Finder(importlib.abc.MetaPathFinder):
    """An import hook that calls a function for each watched module after its import."""

    def __init__(self, watched: Mapping[str, Attach]) -> None:
        self._watched = dict(watched)
        self._looking: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        attach = self._watched.get(name)
        if attach is None or name in self._looking:
            return None
        self._looking.add(name)
        try:
            spec = _next_spec(self, name, path, target)
        finally:
            self._looking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, attach)
        return spec


def _next_spec(
    finder: Finder, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> importlib.machinery.ModuleSpec | None:
    """The spec that the other finders give."""
    for other in sys.meta_path:
        find = getattr(other, "find_spec", None)
        if other is finder or find is None:
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec  # type: ignore[no-any-return]
    return None


class _Loader(importlib.abc.Loader):
    """A loader that calls a function after it has executed its module."""

    def __init__(self, loader: Any, attach: Attach) -> None:
        self._loader, self._attach = loader, attach

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader  # as without this hook
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._attach(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class Patches:
    """Changed attributes, restored in reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Changes an attribute of a module or class."""
        before = vars(owner).get(name, _ABSENT)
        _set(owner, name, value)
        self._undo.append(lambda: _set(owner, name, before))

    def set_everywhere(self, module: ModuleType, name: str, value: Any) -> None:
        """Changes a function of a module, and every reference to it that other modules have imported."""
        before = getattr(module, name)
        for other in list(sys.modules.values()):
            names = [key for key, one in list(vars(other).items()) if one is before] if _has_names(other) else []
            for key in names:
                self.set(other, key, value)

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


def _has_names(module: Any) -> bool:
    return isinstance(module, ModuleType) and isinstance(getattr(module, "__dict__", None), dict)


def _set(owner: Any, name: str, value: Any) -> None:
    """Sets or deletes an attribute.

    Changes the dictionary of an immutable class, as those of extension modules are, and invalidates Python's type
    cache.
    """
    try:
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
    except TypeError:
        (names,) = gc.get_referents(vars(owner))
        if value is _ABSENT:
            del names[name]
        else:
            names[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))
