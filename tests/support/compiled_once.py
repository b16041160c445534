"""Compiles each source with NVRTC once per run of the tests, for all tests and processes.

This covers only sources whose compilation cannot change: those of samples/, copies of them that are alone in a
folder, and those without includes. Tests of the compiler itself (its limits, its crashes, headers that change) use
other sources.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from paths import SAMPLES

import ptxaudit
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.nvrtc_remote import Result, Worker

UNCHANGED = (  # while tests run
    SAMPLES,
    Path(ptxaudit.__file__).parent,
    Path(sys.prefix),
    toolchains.cache_folder(),
)
NAMES = frozenset(path.name for path in SAMPLES.glob("*/*.cu"))


def shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, reads results from the folder and writes them to it. Other processes may do the same."""
    compile_anew = Worker.compile

    def compile(self: Worker, text: str, file: str, arguments: Sequence[str], instantiate: Sequence[str]) -> Result:
        if not one_result(text, file, arguments):
            return compile_anew(self, text, file, arguments, instantiate)
        named = os.path.abspath(file)  # as the result names it
        request = json.dumps([self.path, text, file, named, *arguments, "", *instantiate]).encode()
        kept = folder / hashlib.sha256(request).hexdigest()
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        result = compile_anew(self, text, file, arguments, instantiate)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as new:
            new.write(pickle.dumps(result))
        os.replace(new.name, kept)
        return result

    monkeypatch.setattr(Worker, "compile", compile)


def one_result(text: str, file: str, arguments: Sequence[str]) -> bool:
    """Whether no file that the source could include changes while tests run."""
    if "include" not in text and not any("include" in argument for argument in arguments if argument[:2] != "-I"):
        return True
    if Path(file).name not in NAMES:
        return False
    folders = [Path(argument[2:]) for argument in arguments if argument.startswith("-I")]
    return all(
        any(folder.is_relative_to(root) for root in UNCHANGED) or os.listdir(folder) == [Path(file).name]
        for folder in folders
    )
