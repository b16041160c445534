"""Assembles the kernels and makes edits that PTX cannot express.

ptxas multiplies the argument of sin and cos by 1/2π before MUFU, which takes revolutions: that factor is replaced by
1. It emits FCHK only at the beginning of a division, whose fast path is changed to return a number that distinguishes
it from the slow path.
"""

from __future__ import annotations

import io
import json
import shutil
import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile

from bench.special_functions import indices, operations
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble

HERE = Path(__file__).parent
INSTRUCTION = 16  # bytes per instruction
FMUL_LITERAL, FFMA, FCHK, MOV_LITERAL = 0x820, 0x223, 0x302, 0x7802  # the opcode's low bits, on sm_70 and later
BRANCH = 0x947
HALF_TURN, ONE = 0x3E22F983, 0x3F800000  # 1 / 2π and 1 as floats
QUICK = 0x12345678  # as in functions.cu
CONTROL = (
    ((1 << 58) - 1) >> 41 << 41
)  # bits of an instruction's upper half: stalls and barriers, without the operands' reuse


def build(folder: Path, arch: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    functions = compile_source(HERE / "functions.cu", arch=arch).ptx
    (folder / "functions.cubin").write_bytes(edited(assemble(functions, arch).cubin))
    every = operations.every()
    (folder / "operations.cubin").write_bytes(assemble(operations.module(every, arch), arch).cubin)
    for name, (of_nvrtc, of_ptxas) in indices.VARIANTS.items():
        ptx = compile_source(indices.source(), arch=arch, options=of_nvrtc, name="indices.cu").ptx
        (folder / f"indices_{name}.cubin").write_bytes(assemble(ptx, arch, of_ptxas).cubin)
    manifest = {
        "arch": arch,
        "operations": [[o.ptx, o.sources, o.result] for o in every],
        "operands": operations.COUNT,
        "indices": list(indices.kernels()),
        "variants": list(indices.VARIANTS),
        "x": indices.COUNT,
        "block": indices.BLOCK,
        "a": indices.A,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    import numpy as np

    np.savez(folder / "operands.npz", **operations.operands())
    shutil.copy(HERE / "measure.py", folder)
    print(f"{folder}: {len(every)} operations, {len(manifest['indices'])} indices {len(indices.VARIANTS)} times")


def edited(cubin: bytes) -> bytes:
    """The machine code of functions.cu with the two edits."""
    data, turns, checks = bytearray(cubin), 0, 0
    for section in ELFFile(io.BytesIO(cubin)).iter_sections():
        places = range(section["sh_offset"], section["sh_offset"] + section["sh_size"], INSTRUCTION)
        if section.name.startswith(".text.") and section.name.endswith(("_sin", "_cos")):
            for at in places:
                (low,) = struct.unpack_from("<Q", data, at)
                if low & 0xFFF == FMUL_LITERAL and low >> 32 == HALF_TURN:
                    struct.pack_into("<I", data, at + 4, ONE)
                    turns += 1
        if section.name == ".text.fchk":
            checks += _mark_quick_path(data, list(places))
    if not turns or checks != 1:
        raise SystemExit("the machine code is not as expected: nothing to edit")
    return bytes(data)


def _mark_quick_path(data: bytearray, places: list[int]) -> int:
    """Replaces the last FFMA before the branch after FCHK by a MOV of QUICK."""
    opcode = lambda at: struct.unpack_from("<Q", data, at)[0] & 0xFFF
    check = next(k for k, at in enumerate(places) if opcode(at) == FCHK)
    branch = next(k for k in range(check, len(places)) if opcode(places[k]) == BRANCH)
    at = next(places[k] for k in range(branch - 1, check, -1) if opcode(places[k]) == FFMA)
    low, high = struct.unpack_from("<QQ", data, at)
    register = low >> 16 & 0xFF
    struct.pack_into("<QQ", data, at, QUICK << 32 | register << 16 | MOV_LITERAL, high & CONTROL | 0xF00)
    return 1
