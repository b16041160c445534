"""A plan of `bench.adversary` whose kernels execute the measured instructions: what each request costs is counted."""

from __future__ import annotations

import base64
import gzip
import json
import tarfile
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.adversary import plan
from bench.adversary.program import Fill
from bench.encodings import slots
from bench.encodings.check import measured
from bench.encodings.measure import arranged
from bench.encodings.plan import INPUTS, LANES, WARPS
from bench.shared_encodings.plan import source
from ptxaudit.frontend.artifacts.cubin import read_cubin

SECTIONS = 24  # instructions in one kernel
BUILD, ARCH = "patched", "sm_90"


def write(folder: Path, results: Path, out: Path) -> int:
    """Writes the kernels of all instructions that did not fault, and returns their number.

    codes of an entry: the instruction at each place of its kernel.
    """
    out.mkdir(parents=True, exist_ok=True)
    codes = sorted({one.code for one in measured(folder, results)[1]})
    before, after = slots.before(), slots.after()
    kernel = slots.kernel(len(before) + 1 + len(after), SECTIONS, WARPS * LANES, source)
    into = arranged(np.load(folder / INPUTS), kernel.words)
    stored = base64.b64encode(zlib.compress(into.tobytes(), 9)).decode()
    buffers = {"in": asdict(Fill(stored=stored)), "out": asdict(Fill(count=into.size + SECTIONS * WARPS * LANES))}
    entries = []
    first = kernel.cubin.index(bytes(read_cubin(kernel.cubin, "k").functions[0].code))
    places = [start - first + len(before) * slots.SIZE for start in kernel.starts]
    with tarfile.open(out / plan.CUBINS, "w:xz") as cubins:
        for number, first in enumerate(range(0, len(codes), SECTIONS)):
            some = [*codes[first : first + SECTIONS]]
            some += [slots.scheduled(*slots.NOP)] * (SECTIONS - len(some))
            name = f"group{number}.{BUILD}.cubin"
            plan.add(cubins, name, kernel.with_instructions([[*before, code, *after] for code in some]))
            entries.append(_entry(number, name, buffers, {str(at): code.hex() for at, code in zip(places, some)}))
    plan.store(out, entries)
    return len(codes)


def _entry(number: int, cubin: str, buffers: dict[str, dict], codes: dict[str, str]) -> dict:
    pointers = [{"name": f"p{name}", "kind": "buffer", "size": 8, "value": name} for name in buffers]
    return {
        "seed": number,
        "build": BUILD,
        "features": ["shared_encodings"],
        "cubin": cubin,
        "kernel": "k",
        "grid": [1, 1, 1],
        "block": [WARPS * LANES, 1, 1],
        "cluster": [0, 0, 0],
        "dynamic_shared": 0,
        "parameters": pointers,
        "codes": codes,
        "buffers": buffers,
        "symbols": {},
        "compiler": "ptxas",
        "arch": ARCH,
    }


def counted(results: Path) -> dict[bytes, tuple[int, int]]:
    """(warps with an active lane, wavefronts) of each instruction, by its encoding."""
    out = {}
    for part in sorted(results.rglob("part-*.json.gz")):
        for entry in json.loads(gzip.decompress(part.read_bytes()))["launches"]:
            rows = {offset: (executed, wavefronts) for offset, _, wavefronts, _, executed, _ in entry["sites"]}
            out |= {bytes.fromhex(code): rows[int(at)] for at, code in entry["codes"].items() if int(at) in rows}
    return out
