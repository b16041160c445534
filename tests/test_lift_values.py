"""What lifted machine code computes is what the source says: random expressions, every architecture.

NVRTC and ptxas compile a kernel that stores a few dozen expressions of its parameters; the lifted
instructions are run thread by thread (`sass_twin`) and every stored value is compared with
Python's. MUFU.RCP is known only to a unit in the last place, so each run is done with its result
moved down, not at all, and up: what division computes must not change.
"""

from __future__ import annotations

import struct
from random import Random

import pytest

from c_expressions import generate, kernel
from ptxaudit.nvrtc import compile_source
from ptxaudit.ptxas import assemble
from ptxaudit.sass.lift import lift_cubin
from sass_twin import Thread

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
EXPRESSIONS, DEPTH = 24, 3
OUT = 0x7F0000001000
LAYOUT = struct.Struct("<QiiIIqQ")
VALUES = (
    {"a": 17, "b": -5, "c": 1000, "d": 0x80000001, "e": -12345678901, "f": 0xFEDCBA9876543210},
    {"a": -(1 << 31), "b": 2147483647, "c": 0xFFFFFFFF, "d": 0, "e": 3, "f": 5},
    {"a": 0, "b": 1, "c": 7, "d": 31, "e": 1 << 62, "f": 0x100000000},
)


def check(seed: int, arch: str, nudge: int) -> None:
    rng = Random(seed)
    expressions = [generate(rng, DEPTH) for _ in range(EXPRESSIONS)]
    ptx = compile_source(kernel("k", expressions), arch=arch).ptx
    function = lift_cubin(assemble(ptx, arch).cubin, "k.cubin").functions["k"]
    for position, values in enumerate(VALUES):
        for thread in (0, 13 + position):
            params = LAYOUT.pack(OUT, *(values[name] for name in "abcdef"))
            specials = {"tid.x": thread, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0, "ntid.x": 32}
            memory = Thread(function, params, specials, nudge=nudge).run()
            env = dict(values, t=thread)
            for i, expression in enumerate(expressions):
                stored = sum(memory[OUT + 8 * i + k] << 8 * k for k in range(8))
                assert stored == expression.value(env) & (1 << 64) - 1, f"{arch} seed {seed} {env}: {expression.text}"


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("seed", range(2))
def test_expressions(arch, seed):
    check(seed, arch, nudge=0)


@pytest.mark.parametrize("nudge", (-1, 1))
def test_division_does_not_depend_on_the_last_place_of_the_reciprocal(nudge):
    check(7, "sm_90", nudge)
