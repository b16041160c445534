"""The kernels into which random programs are put, with a warp that ends launches whose lanes wait forever.

    frame = Frame.build()            compiles (anywhere); Frame.load(path) reads what `save` wrote (no compiler needed)
    cubin = frame.with_programs([code, …])         kernel p0 runs the first, p1 the second …

A lane that waits forever at a convergence barrier cannot be woken by others. The first warp of the block therefore
counts the lanes that have exited, and traps if some have not after a while: the launch then fails instead of hanging.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .programs import LANES, MOST_WORDS, WARPS
from .words import WORD, nop

KERNELS = 64
THREADS = LANES * (WARPS + 1)
PATIENCE = 8_000_000  # cycles

_SOURCE = """
extern "C" __global__ void __launch_bounds__({threads}) p{number}(uint4 *records, const uint2 *lanes, unsigned *done, unsigned *keep) {{
    if (threadIdx.x < 32) {{
        if (threadIdx.x) return;
        unsigned begin = clock();
        while (*(volatile unsigned *)done < {lanes}u) {{
            if ((unsigned)clock() - begin > {patience}u) __trap();
            __nanosleep(500);
        }}
        return;
    }}
    unsigned kept[40];
    #pragma unroll
    for (int i = 0; i < 40; i++) kept[i] = ((volatile unsigned *)keep)[i];
    {room}
    #pragma unroll
    for (int i = 0; i < 40; i++) ((volatile unsigned *)keep)[i + 64] = kept[i];
}}
"""
_FILLER = 'asm volatile("nanosleep.u32 77;");'


@dataclass(frozen=True)
class Frame:
    """data: the cubin. rooms: byte offset of each kernel's room in it."""

    data: bytes
    rooms: tuple[int, ...]

    @classmethod
    def build(cls) -> Frame:
        source = "".join(
            _SOURCE.format(
                number=k,
                threads=THREADS,
                lanes=LANES * WARPS,
                patience=PATIENCE,
                room=(_FILLER + "\n    ") * (MOST_WORDS + 1),
            )
            for k in range(KERNELS)
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "frame.cu"
            path.write_text(source, encoding="utf-8")
            subprocess.run(["nvcc", "-arch=sm_90", "-cubin", "-o", path.with_suffix(".cubin"), path], check=True)
            data = path.with_suffix(".cubin").read_bytes()
        from elftools.elf.elffile import ELFFile

        filler = re.compile(rb"(?:\x5d\x79\x00\x00\x4d.{11}){%d,}" % MOST_WORDS, re.DOTALL)
        found = [match.start() for match in filler.finditer(data)]
        sections = {
            s.name: range(s["sh_offset"], s["sh_offset"] + s["sh_size"])
            for s in ELFFile(io.BytesIO(data)).iter_sections()
        }
        return cls(data, tuple(next(at for at in found if at in sections[f".text.p{k}"]) for k in range(KERNELS)))

    def save(self, path: Path) -> None:
        path.with_suffix(".cubin").write_bytes(self.data)
        path.with_suffix(".json").write_text(json.dumps(self.rooms))

    @classmethod
    def load(cls, path: Path) -> Frame:
        return cls(path.with_suffix(".cubin").read_bytes(), tuple(json.loads(path.with_suffix(".json").read_text())))

    def with_programs(self, programs: list[bytes]) -> bytes:
        """The cubin with these programs in its first kernels."""
        out = bytearray(self.data)
        for room, code in zip(self.rooms, programs, strict=False):
            code += nop() * (MOST_WORDS - len(code) // WORD)
            out[room : room + len(code)] = code
        return bytes(out)
