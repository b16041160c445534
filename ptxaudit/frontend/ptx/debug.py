"""Source positions of instructions: `.file`, `.loc` and the inline stacks of a module.

    .file 1 "a.cu"   .file 2 "load.cuh"
    .loc 1 30 5                                     Source("a.cu", 30, 5)
    .loc 2 7 9, function_name $s0, inlined_at 1 30 5
        -> Source("load.cuh", 7, 9, inlined=(Frame("a.cu", 30, function="load"),))

A `.loc` specifies one level: its function, and the position at which that was inlined. The next outer level is that
of the last `.loc` at this position. The names are strings in `.section .debug_str`. "Debugging Directives":
https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.source_text import unescaped
from ptxaudit.ir import nodes as ir

DEEPEST = 64  # limit for the levels of an inline stack


class Debug:
    """The positions of one module. `source(location)` must be called in file order."""

    def __init__(self, module: s.Module):
        self.files = {item.index: unescaped(item.path) for item in module.items if isinstance(item, s.File)}
        self._strings = next(
            (item for item in module.items if isinstance(item, s.Section) and item.name == ".debug_str"), None
        )
        self._bytes: bytes | None = None
        self._labels: dict[str, int] = {}
        self._inlined: dict[tuple[int, int, int], s.Location] = {}
        self._names: dict[tuple[str | None, int], str] = {}

    def begin_function(self) -> None:
        """Starts a function: inline stacks do not extend across functions."""
        self._inlined = {}

    def source(self, location: s.Location) -> ir.Source | None:
        """The position in the CUDA source, innermost first; None if the file has no name."""
        here = (location.file, location.line, location.column)
        if location.function is None:
            self._inlined.pop(here, None)
        else:
            self._inlined[here] = location
        path = self.files.get(location.file)
        if path is None or not location.line:
            return None
        frames: list[ir.Frame] = []
        at: s.Location | None = location
        seen: set[tuple[int, int, int]] = set()
        while at is not None and at.inlined_at is not None and at.inlined_at not in seen and len(frames) < DEEPEST:
            seen.add(at.inlined_at)
            file, line, _ = at.inlined_at
            frames.append(ir.Frame(self.files.get(file, ""), line, self.name(at)))
            at = self._inlined.get(at.inlined_at)
        return ir.Source(path, location.line, location.column, tuple(frames))

    def name(self, location: s.Location) -> str:
        """The mangled name of the function that contains a location."""
        key = (location.function, location.function_offset)
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = self._string(*key)
        return name

    def _string(self, label: str | None, offset: int) -> str:
        if self._bytes is None:
            self._bytes = self._read_strings()
        start = None if label is None else self._labels.get(label)
        if start is None:
            return ""
        start += offset
        end = self._bytes.find(b"\0", start)
        return self._bytes[start : end if end >= 0 else None].decode("utf-8", "replace")

    def _read_strings(self) -> bytes:
        data = bytearray()
        for item in self._strings.data if self._strings else ():
            if isinstance(item, s.Label):
                self._labels[item.name] = len(data)
            elif item.type == ".b8":
                data += bytes(v.value & 0xFF if isinstance(v, s.Int) else 0 for v in item.values)
        return bytes(data)
