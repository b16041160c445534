"""Measures one atomic of one warp, by its addresses: `l1tex__t_sectors_pipe_lsu_mem_global_op_red`.

    python -m bench.memory.turns build FOLDER                 anywhere: the cubin and the plan
    python -m bench.memory.turns measure FOLDER -o FILE       on a GPU, with ncu on the PATH; a minute

FILE is one JSON document: device, and launches: [[kernel, [byte offset of each lane, -1 if inactive], sectors that L1
counts, requests that L2 counts], …]. tests/data/atomics_sm90.json.gz is one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.profiled import Gpu, device_line, import_ncu_report

LANES, BATCH, SEED = 32, 350, 5
MEMORY_BYTES = (1 << 25) + (1 << 20)
COUNTERS = {
    "red": ("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "lts__t_requests_srcunit_tex_op_red.sum"),
    "atom": ("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "lts__t_requests_srcunit_tex_op_atom.sum"),
}


def planned() -> Iterator[tuple[str, list[int]]]:
    """(kernel, byte offsets): three lanes of which two share a sector, random words, tiles read by columns."""
    of = lambda words, width=4: [word * width for word in words] + [-1] * (LANES - len(words))
    for kernel, width, count in (("red_u32", 4, 512), ("red_u64", 8, 256), ("atom_u32", 4, 100)):
        yield from ((kernel, of((0, 2 * k, 2 * k + 1), width)) for k in range(1, count))
    for k in range(1, 200, 5):
        apart = {3: 0, 16: 8 * k, 31: 8 * k + 4}
        yield "red_u32", [apart.get(lane, -1) for lane in range(LANES)]
    for high in range(9, 21):
        yield "red_u32", of((0, 1 << high, (1 << high) + 1))
        yield from (("red_u32", of((0, far := 1 << high ^ 1 << low, far ^ 1))) for low in range(1, high))
    chosen = random.Random(SEED)
    for words in (64, 128, 256, 512, 1024, 4096, 65536, 1 << 20):
        yield from (("red_u32", of([chosen.randrange(words) for _ in range(LANES)])) for _ in range(16))
    for pitch in (31, 33, 34, 36, 40, 65, 66, 129, 257, 1025):
        for wide in (4, 8, 16):
            yield from [("red_u32", of([lane % wide * pitch + lane // wide for lane in range(LANES)]))] * 2
    for first in range(0, 40, 4):
        yield from [("red_f32", of([33 * (lane % 8) + first + lane // 8 for lane in range(LANES)]))] * 2


def build(folder: Path) -> None:
    from ptxaudit.frontend.compile.nvrtc import compile_source

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "turns.cubin").write_bytes(compile_source(Path(__file__).with_suffix(".cu"), "sm_90").cubin)
    (folder / "turns.json").write_text(json.dumps(list(planned())))


def launch(folder: Path, first: int, last: int) -> None:
    """Launches a part of the plan, one launch after the other."""
    import numpy

    plan, gpu = json.loads((folder / "turns.json").read_text()), Gpu()
    out = int(gpu.call(gpu.driver.cuMemAlloc, MEMORY_BYTES))
    gpu.call(gpu.driver.cuMemsetD8, out, 0, MEMORY_BYTES)
    table = numpy.array([offsets for _, offsets in plan], "<i4")
    places = int(gpu.call(gpu.driver.cuMemAlloc, table.nbytes))
    gpu.write(places, table)
    kernels = gpu.kernels(folder / "turns.cubin")
    for at in range(first, last):
        gpu.launch(kernels[plan[at][0]], [1, 1, 1], [LANES, 1, 1], None, 0, struct.pack("<QQi", out, places, at))


def measure(folder: Path, output: Path) -> None:
    plan, found, reader = json.loads((folder / "turns.json").read_text()), [], import_ncu_report()
    metrics = ",".join(name for names in COUNTERS.values() for name in names)
    for first in range(0, len(plan), BATCH):
        last = min(len(plan), first + BATCH)
        with tempfile.TemporaryDirectory() as work:
            report = f"{work}/report.ncu-rep"
            options = ["--clock-control", "none", "--cache-control", "none", "--metrics", metrics, "--export", report]
            itself = [sys.executable, "-m", "bench.memory.turns", "launch", str(folder), str(first), str(last)]
            subprocess.run(["ncu", *options, *itself], check=True, capture_output=True)
            context = reader.load_report(report)
            actions = [
                context.range_by_idx(r).action_by_idx(a)
                for r in range(context.num_ranges())
                for a in range(context.range_by_idx(r).num_actions())
            ]
        for (kernel, offsets), action in zip(plan[first:last], actions, strict=True):
            names = COUNTERS[kernel.partition("_")[0]]
            found.append([kernel, offsets, *(round(action.metric_by_name(name).as_double()) for name in names)])
    document = {"device": device_line(Gpu().name()), "launches": found}
    output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("build", "launch", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "launch":
            command.add_argument("first", type=int)
            command.add_argument("last", type=int)
        if name == "measure":
            command.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    if chosen.command == "build":
        build(chosen.folder)
    elif chosen.command == "launch":
        launch(chosen.folder, chosen.first, chosen.last)
    else:
        measure(chosen.folder, chosen.output)


if __name__ == "__main__":
    main()
