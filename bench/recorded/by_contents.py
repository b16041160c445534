"""Writes a launch file of a recording in which each array is specified as the content of its parameter.

    python -m bench.recorded.by_contents FOLDER PATTERN      FOLDER/by_contents.toml: the kernels whose name has PATTERN

A recording has the addresses of a program's arrays. Where the place of a store is unknown, arrays of one allocation that
touch are not told apart by the engine: the end of one is the beginning of the next. As contents of parameters, each is
a buffer of its own, from its pointer up to the next pointer of the launch. Pointers within structures stay addresses,
without their data.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

POINTER = re.compile(r"^(    )(0x[0-9a-f]{9,})(?=,)", re.MULTILINE)
LAUNCH, MEMORY = (
    re.compile(r"(?=^\[\[launch\]\])", re.MULTILINE),
    re.compile(r"^memory = \[.*?^\]\n", re.MULTILINE | re.S),
)


def by_contents(folder: Path, pattern: str) -> str:
    _, *launches = LAUNCH.split((folder / "recorded.toml").read_text())
    return "".join(text for launch in launches for text in _rewritten(folder, launch, pattern))


def _rewritten(folder: Path, text: str, pattern: str) -> list[str]:
    (launch,) = tomllib.loads(text)["launch"]
    if pattern not in launch["kernel"]:
        return []
    arrays = [(entry["address"], np.load(folder / entry["file"])) for entry in launch.get("memory", ())]
    pointers = sorted(value for value in launch["params"] if isinstance(value, int))

    def content(match: re.Match[str]) -> str:
        found = _behind(int(match[2], 16), arrays, pointers)
        return match[0] if found is None else f'{match[1]}{{file = "{_kept(folder, found)}"}}'

    return [POINTER.sub(content, MEMORY.sub("", text))]


def _behind(pointer: int, arrays: Sequence[tuple[int, np.ndarray]], pointers: Sequence[int]) -> np.ndarray | None:
    """The bytes from a pointer up to the next one."""
    for begin, data in arrays:
        if begin <= pointer < begin + len(data):
            end = min([begin + len(data), *(other for other in pointers if other > pointer)])
            return data[pointer - begin : end - begin]
    return None


def _kept(folder: Path, data: np.ndarray) -> str:
    name = f"arrays/{hashlib.sha256(data.tobytes()).hexdigest()[:12]}.npy"
    np.save(folder / name, data)
    return name


if __name__ == "__main__":
    recording = Path(sys.argv[1])
    (recording / "by_contents.toml").write_text(by_contents(recording, sys.argv[2]))
