"""A process with one NVRTC of any release in it: compile requests on stdin, answers on stdout, a JSON line each.

    python nvrtc_worker.py /…/libnvrtc.so.12
    <- {"text": "__global__ …", "file": "k.cu", "arguments": ["-lineinfo"], "instantiate": []}
    -> {"done": true, "log": "", "ptx": ".version 8.8 …", "cubin": "f0VMRg…", "lowered": {}}

NVRTC's C interface is the same since CUDA 11, so ctypes takes every release by its path; several
in one process would meet in the names of their symbols. Run as a file: it imports nothing of this package.
https://docs.nvidia.com/cuda/nvrtc/index.html
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
from typing import Any

SUCCESS = 0


class Nvrtc:
    """The functions of one libnvrtc that are needed."""

    def __init__(self, path: str) -> None:
        _load_builtins(path)
        self._library = ctypes.CDLL(path)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != SUCCESS:
            raise RuntimeError(f"{name} failed: {self._library.nvrtcGetErrorString(status).decode()}")

    def facts(self) -> dict[str, Any]:
        """{"version": "12.9", "archs": [50, …]}"""
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        archs = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", archs)
        return {"version": f"{major.value}.{minor.value}", "archs": list(archs)}

    def compile(self, text: str, file: str, arguments: list[str], instantiate: list[str]) -> dict[str, Any]:
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), os.fsencode(file), 0, None, None)
        for expression in instantiate:
            self.call("nvrtcAddNameExpression", program, expression.encode())
        options = (ctypes.c_char_p * len(arguments))(*map(os.fsencode, arguments))
        status = self._library.nvrtcCompileProgram(program, len(arguments), options)
        log = self._read(program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        if status != SUCCESS:
            return {"done": False, "log": log}
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


def _load_builtins(library: str) -> None:
    """Loads what NVRTC opens by its name alone: 13.0 has no search path in it, and finds what is loaded already."""
    folder = os.path.dirname(library)
    for name in os.listdir(folder):
        if name.startswith("libnvrtc-builtins.so."):
            ctypes.CDLL(os.path.join(folder, name))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)                    # whatever the library prints is no answer

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        nvrtc = Nvrtc(sys.argv[1])
        answer(nvrtc.facts())
    except (OSError, RuntimeError, AttributeError) as error:
        answer({"error": str(error)})
        return
    for line in sys.stdin:
        try:
            answer(nvrtc.compile(**json.loads(line)))
        except RuntimeError as error:
            answer({"error": str(error)})


if __name__ == "__main__":
    main()
