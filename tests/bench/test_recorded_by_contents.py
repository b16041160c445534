"""A recording's arrays as contents of parameters (bench/recorded/by_contents.py)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from bench.recorded.by_contents import by_contents

RECORDED = """
command = "./program"

[[launch]]
kernel = "kernel"
code = "code/kernel.cubin"
params = [
    0x7f0000000100, # 0 int*
    0x7f0000000180, # 1 int*
    0x7f0000100000, # 2 int*
    7,              # 3 int
]
memory = [
    {address = 0x7f0000000100, file = "arrays/all.npy"},
]

[[launch]]
kernel = "other"
code = "code/kernel.cubin"
params = []
"""


def test_pointers_into_one_allocation_become_buffers_up_to_the_next_pointer(tmp_path: Path) -> None:
    (tmp_path / "arrays").mkdir()
    data = np.arange(256, dtype=np.uint8)
    np.save(tmp_path / "arrays" / "all.npy", data)
    (tmp_path / "recorded.toml").write_text(RECORDED)
    (launch,) = tomllib.loads(by_contents(tmp_path, "kernel"))["launch"]
    first, second, unknown, number = launch["params"]
    assert (np.load(tmp_path / first["file"]) == data[:0x80]).all()
    assert (np.load(tmp_path / second["file"]) == data[0x80:]).all()
    assert (unknown, number) == (0x7F0000100000, 7)
    assert "memory" not in launch
