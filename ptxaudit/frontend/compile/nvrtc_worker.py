"""A process with one NVRTC: compile requests on stdin, answers on stdout, one JSON line each.

    python nvrtc_worker.py                            the one that cuda-bindings loads
    python nvrtc_worker.py /…/libnvrtc.so.12          any other, by its path
    <- {"text": "__global__ …", "file": "k.cu", "arguments": ["-lineinfo"], "instantiate": [], "folder": "/…"}
    -> {"done": true, "log": "", "ptx": ".version 8.8 …", "cubin": "f0VMRg…", "lowered": {}}

A separate process, because a source can make the compiler use unlimited time and memory, and crash. NVRTC's C
interface has not changed since CUDA 11, so ctypes loads every release by its path; several in one process would clash
in their symbol names. Run as a file: it imports nothing from this package.
https://docs.nvidia.com/cuda/nvrtc/index.html
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
import threading
import time
from typing import Any

SUCCESS = 0


class Bound:
    """NVRTC as loaded by cuda-bindings."""

    def __init__(self) -> None:
        from cuda.bindings import nvrtc
        from cuda.pathfinder import load_nvidia_dynamic_lib

        self.path = load_nvidia_dynamic_lib("nvrtc").abs_path
        self._nvrtc = nvrtc

    def call(self, name: str, *arguments: Any) -> Any:
        status, *values = getattr(self._nvrtc, name)(*arguments)
        if status != self._nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"{name} failed: {self._nvrtc.nvrtcGetErrorString(status)[1].decode()}")
        return values[0] if len(values) == 1 else values

    def facts(self) -> dict[str, Any]:
        """{"version": "13.0", "archs": [75, …], "path": "/…/libnvrtc.so.13"}"""
        return {
            "version": "{}.{}".format(*self.call("nvrtcVersion")),
            "archs": list(self.call("nvrtcGetSupportedArchs")),
            "path": self.path,
        }

    def compile(self, text: str, file: str, arguments: list[str], instantiate: list[str]) -> dict[str, Any]:
        program = self.call("nvrtcCreateProgram", text.encode(), os.fsencode(file), 0, [], [])
        for expression in instantiate:
            self.call("nvrtcAddNameExpression", program, expression.encode())
        options = [os.fsencode(argument) for argument in arguments]
        (status,) = self._nvrtc.nvrtcCompileProgram(program, len(options), options)
        log = self._read(program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        if status != self._nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return {"done": False, "log": log or status.name}
        lowered = {
            expression: self.call("nvrtcGetLoweredName", program, expression.encode()).decode()
            for expression in instantiate
        }
        ptx = self._read(program, "PTX").rstrip(b"\0").decode(errors="replace")
        cubin = base64.b64encode(self._read(program, "CUBIN")).decode()
        self._nvrtc.nvrtcDestroyProgram(program)
        return {"done": True, "log": log, "ptx": ptx, "cubin": cubin, "lowered": lowered}

    def _read(self, program: Any, what: str) -> bytes:
        buffer: bytes = b" " * self.call(f"nvrtcGet{what}Size", program)  # cuda.bindings writes into it
        self.call(f"nvrtcGet{what}", program, buffer)
        return buffer


class Nvrtc:
    """The required functions of one libnvrtc, loaded by its path."""

    def __init__(self, path: str) -> None:
        self._path = path
        _load_builtins(path)
        self._library = ctypes.CDLL(path)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != SUCCESS:
            raise RuntimeError(f"{name} failed: {self._library.nvrtcGetErrorString(status).decode()}")

    def facts(self) -> dict[str, Any]:
        """{"version": "12.9", "archs": [50, …], "path": "/…/libnvrtc.so.12"}"""
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        archs = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", archs)
        return {"version": f"{major.value}.{minor.value}", "archs": list(archs), "path": self._path}

    def compile(self, text: str, file: str, arguments: list[str], instantiate: list[str]) -> dict[str, Any]:
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), os.fsencode(file), 0, None, None)
        for expression in instantiate:
            self.call("nvrtcAddNameExpression", program, expression.encode())
        options = (ctypes.c_char_p * len(arguments))(*map(os.fsencode, arguments))
        status = self._library.nvrtcCompileProgram(program, len(arguments), options)
        log = self._read(program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        if status != SUCCESS:
            return {"done": False, "log": log or f"NVRTC gave no reason (status {status})"}
        lowered = {expression: self._lowered(program, expression) for expression in instantiate}
        ptx = self._read(program, "PTX").rstrip(b"\0").decode(errors="replace")
        cubin = base64.b64encode(self._read(program, "CUBIN")).decode()
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return {"done": True, "log": log, "ptx": ptx, "cubin": cubin, "lowered": lowered}

    def _read(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        if size.value:
            self.call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def _lowered(self, program: ctypes.c_void_p, expression: str) -> str:
        name = ctypes.c_char_p()
        self.call("nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(name))
        return (name.value or b"").decode()


def _end_with_parent() -> None:
    """Ends this process with its parent, as a compile whose result nobody awaits could use unlimited resources."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _load_builtins(library: str) -> None:
    """Preloads the library that NVRTC opens by name alone: 13.0 has no search path, but finds loaded libraries."""
    folder = os.path.dirname(library)
    for name in os.listdir(folder):
        if name.startswith("libnvrtc-builtins.so."):
            ctypes.CDLL(os.path.join(folder, name))


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of the library itself is no answer

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        nvrtc = Nvrtc(sys.argv[1]) if sys.argv[1:] else Bound()
        answer(nvrtc.facts())
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        answer({"error": str(error), "lacks": "bindings" if isinstance(error, ImportError) else "library"})
        return
    for line in sys.stdin:
        request = json.loads(line)
        try:
            os.chdir(request.pop("folder"))
            answer(nvrtc.compile(**request))
        except (OSError, RuntimeError, UnicodeError) as error:
            answer({"error": str(error)})


if __name__ == "__main__":
    main()
