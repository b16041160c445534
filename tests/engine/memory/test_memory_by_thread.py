"""Exact sectors of global and local memory, compared with an execution of single threads.

`sass_twin` runs each thread of a launch separately. The k-th executions of an instruction by the lanes of a warp are
one request.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from functools import lru_cache

import pytest
from paths import INPUTS
from sass_twin import Thread

from ptxaudit.base.status import Status
from ptxaudit.engine import evaluate as engine
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.hardware.memory import opcodes
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.pipeline.memory_sites import with_sites

SOURCE = INPUTS / "memory_edges.cu"
IN, OUT, IDX = 0x7F00_0000_0000, 0x7F00_0080_0000, 0x7F00_0100_0000
NUMBERS = {
    "wide_shift": (0, 0),
    "byte_index": (37, 0),
    "short_index": (4099, 0),
    "wrapping_product": (7, 0),
    "negative_step": (0, 3),
    "negative_64": (0, 7),
    "wraps_within": (13, 0),
    "wraps_in_warp": (5, 0),
    "divided": (5, 8),
    "divided_64": (24, 33),
    "reversed_bits": (0, 0),
    "counted_bits": (0, 5),
    "square": (3, 0),
    "least": (9, 7),
    "through_float": (0, 0),
    "leaves_early": (17, 3),
    "trips_by_lane": (0, 40),
    "triangle": (77, 9),
    "breaks": (9, 0),
    "chosen": (17, 3),
    "either_side": (3, 2),
    "halves_of_blocks": (0, 2),
    "odd_blocks": (1, 3),
    "guarded_vector": (67, 0),
    "three_floats": (0, 0),
    "mixed": (1, 0),
    "aligned_twelve": (0, 3),
    "bytes_of": (0, 0),
    "local_mixed": (2, 5),
    "local_vectors": (8, 0),
    "local_some": (5, 3),
    "local_bytes": (3, 4),
    "frames": (2, 5),
    "frames_some": (2, 0),
    "across_rows": (35, 40),
    "columns": (35, 40),
}
ROWS = ("across_rows", "columns")


class Cells(dict):
    """Memory in which unwritten locations hold zero."""

    def __missing__(self, place: int) -> int:
        return 0


class Noting(Thread):
    """A thread that reports the address of each access: `noted(place, times, address)`."""

    def __init__(self, function, params, specials, noted) -> None:
        super().__init__(function, params, specials)
        self.memory = {space: Cells() for space in ("global", "shared", "local")}
        self.registers = Cells()  # the stack begins at 0
        self.noted, self.times = noted, Counter()

    def run(self):
        place: int | None = 0
        while place is not None:
            instruction = self.function.instructions[place]
            for op in instruction.ops:
                if op.name in ("load", "store") and instruction.site is not None:
                    self.note(place, instruction.site)
                if self.holds(op.guard):
                    self.execute(op)
            place = self.transfer(instruction, place)
        return {}

    def note(self, place: int, site: ir.Site) -> None:
        if self.holds(site.guard):
            self.noted(place, self.times[place], self.read(site.address) + site.offset)
        self.times[place] += 1


@lru_cache
def module() -> ir.Module:
    cubin = read_cubin(compile_source(SOURCE, "sm_90").cubin, "memory_edges.cubin")
    return lift_module(cubin, next(iter(disassemble([cubin]))))


def by_thread(function: ir.Function, grid: int, block: tuple[int, int], params: list[int]) -> dict[int, int]:
    """{place: sectors of the launch} of every access."""
    data = struct.pack("<QQQii", *params)
    touched: dict[tuple, set] = defaultdict(set)
    for index in range(grid):
        for thread in range(block[0] * block[1]):
            warp, lane = divmod(thread, 32)

            def noted(place: int, times: int, address: int, index=index, warp=warp, lane=lane) -> None:
                site = function.instructions[place].site
                width = opcodes.classify(site.opcode, site.of).width
                for byte in range(address, address + width):
                    at = byte if site.of == "global" else 128 * (byte // 4) + 4 * lane + byte % 4
                    touched[place, index, warp, times].add((at & (1 << 64) - 1) // 32)

            specials = Cells(
                {"tid.x": thread % block[0], "tid.y": thread // block[0], "ctaid.x": index, "ntid.x": block[0]}
            )
            Noting(function, data, specials, noted).run()
    found: Counter = Counter()
    for (place, *_), sectors in touched.items():
        found[place] += len(sectors)
    return found


@pytest.mark.parametrize("kernel", NUMBERS)
def test_sectors_equal_those_of_single_thread_execution(kernel):
    function = with_sites(link(module(), module().functions[kernel]), ("global", "local"))
    shapes = [(1, (33, 3)), (1, (20, 12))] if kernel in ROWS else [(2, (96, 1)), (1, (45, 1))]
    settled = 0
    for at, (grid, block) in enumerate(shapes):
        params = [IN + 16 * at, OUT + 48 * at, IDX, *NUMBERS[kernel]]
        launch = Launch(kernel, grid=grid, block=block, params=params)
        result = engine.evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90"))
        counted = by_thread(function, grid, block, params)
        for site in result.sites:
            if site.status in (Status.EXACT, Status.UNREACHED):
                settled += 1
                assert site.wavefronts == counted.get(site.index, 0), (launch, function.instructions[site.index])
            elif site.bounds is not None:
                assert site.bounds[0] <= counted.get(site.index, 0) <= site.bounds[1]
    assert settled >= 2
