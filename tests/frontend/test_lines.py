"""Line tables as `nvdisasm -gi` and `-gp` print them: source positions with inline stacks, and lines of the PTX."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from ptxaudit.frontend.artifacts import lines
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.artifacts.lines import ptx_lines, ptx_text, source_lines
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.nvrtc import compile_source

SOURCE = """
__device__ __forceinline__ float leaf(float *s, int i) {
  return s[i ^ 1] * 2;
}
__device__ __forceinline__ float middle(float *s, int i) {
  s[i] = i;
  return leaf(s, i) + leaf(s, i + 32);
}
extern "C" __global__ void k(float *o) {
  __shared__ float s[256];
  o[threadIdx.x] = middle(s, threadIdx.x);
  __syncthreads();
  o[threadIdx.x + 64] += s[threadIdx.x * 2];
}
"""
_POSITION = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
_PTX_POSITION = re.compile(
    r"//## File \"\.nv_debug_ptx_txt\.\d+\", line (\d+)|//## \.nv_debug_ptx_txt\.\d+:(\d+)|line (\d+)"
)
_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+\S")


@pytest.fixture(scope="module", params=("sm_75", "sm_90", "sm_120"))
def cubin(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "k.cu").write_text(SOURCE)
    data = compile_source(str(folder / "k.cu"), arch=request.param).cubin
    (folder / "k.cubin").write_bytes(data)
    return folder / "k.cubin", read_cubin(data, "k.cubin")


def printed(path: Path, option: str) -> dict[int, list[str]]:
    """offset -> the position lines printed by nvdisasm before it, where they change."""
    said = subprocess.run(
        [toolchains.get("nvdisasm").path, "-c", option, str(path)], capture_output=True, text=True, check=True
    ).stdout
    found: dict[int, list[str]] = {}
    notes: list[str] = []
    for line in said.splitlines():
        if "//##" in line:
            notes.append(line.strip())
        elif match := _INSTRUCTION.search(line):
            if notes:
                found[int(match[1], 16)] = notes
            notes = []
    return found


def test_source_positions_and_inline_stacks_equal_nvdisasm(cubin):
    path, parsed = cubin
    table = source_lines(parsed)
    found = printed(path, "-gi")
    assert len(found) > 5
    deepest = 0
    for offset, notes in found.items():
        stack = []
        for note in notes:
            file, line, *outer = _POSITION.search(note).groups()
            stack += [(file, int(line))] + ([(outer[0], int(outer[1]))] if outer[0] else [])
        expected = list(dict.fromkeys(stack))
        source = table.at("k", offset)
        ours = [(source.file, source.line), *((frame.file, frame.line) for frame in source.inlined)]
        assert ours == expected, hex(offset)
        deepest = max(deepest, len(ours))
    assert deepest == 3


def test_ptx_lines_equal_nvdisasm(cubin):
    path, parsed = cubin
    table, text = ptx_lines(parsed), ptx_text(parsed).split("\n")
    found = printed(path, "-gp")
    assert len(found) > 5
    for offset, notes in found.items():
        line = int(re.search(r"line (\d+)|:(\d+)\s*$", notes[-1])[1])
        assert table.at("k", offset).line == line
    accesses = [
        text[table.at("k", offset).line - 1].split()[0]
        for offset in found
        if "shared" in text[table.at("k", offset).line - 1]
    ]
    assert {"st.shared.f32", "ld.shared.f32"} & set(accesses) or {"st.shared.b32", "ld.shared.b32"} & set(accesses)


def test_cubin_without_line_information_has_no_positions(tmp_path):
    body = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n"
    (tmp_path / "k.ptx").write_text(body)
    subprocess.run([toolchains.get("ptxas").path, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    parsed = read_cubin((tmp_path / "k.cubin").read_bytes(), "k.cubin")
    assert not source_lines(parsed) and not ptx_lines(parsed) and source_lines(parsed).at("k", 0) is None
    assert ptx_text(parsed) == ""


def test_file_defined_by_a_line_program_has_its_folder():
    """DW_LNE_define_file has the fields of an entry in the header's file table."""
    header = b"\1\1\xff\4\12" + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1)) + b"/headers\0\0" + b"k.cu\0\0\0\0" + b"\0"
    address = b"\0\x09\2" + bytes(8)
    defined = b"h.cuh\0\1\0\0"
    body = address + b"\1" + b"\0" + bytes((1 + len(defined),)) + b"\3" + defined + b"\4\2\1" + b"\0\1\1"
    unit = struct.pack("<HI", 2, len(header)) + header + body
    data = struct.pack("<I", len(unit)) + unit
    ((offsets, sources),) = lines._read(data, b"", {data.index(address) + 3: ("k", 0x10)}).values()
    assert offsets == [0x10] and sources[0].file == "/headers/h.cuh"
