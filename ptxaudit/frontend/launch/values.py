"""Parses parameter values from a command line: 1024, 0x40, 0.5, true, @idx.npy, [1, 2]."""

from __future__ import annotations

from typing import Any

from ptxaudit.base.limits import whole
from ptxaudit.frontend.launch.buffers import TYPES


def value_of(text: str) -> Any:
    if text.startswith("@"):
        file, colon, type = text[1:].rpartition(":")
        if file.startswith("zeros:") and (count := whole(file[6:])) is not None and type in TYPES:
            return {"zeros": count, "type": type}
        return {"file": file, "type": type} if colon and type in TYPES else {"file": text[1:]}
    if text.startswith("[") and text.endswith("]"):
        return tuple(value_of(part.strip()) for part in text[1:-1].split(",") if part.strip())
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (lambda t: int(t, 0), int, float):  # 0x40 and 1_000; 010, which is no octal number; 0.5
        try:
            return read(text)
        except ValueError:
            continue
    return text
